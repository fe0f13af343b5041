"""`strata study uncertainty`: which runs are made, and what is said from their numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from strata.errors import StrataError
from strata.flow import command, uncertainty
from strata.flow.uncertainty import Asked, lines, study, with_uncertainty
from strata.run.case import text_of

CASE = """solver = "flow"
[grid]
kind = "airfoil"
cells = [128, 32, 64]
[time]
iterations = 100
sequence = [10, 20]
multigrid = 3
[verify]
drag = [0.01, 0.02]
"""


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Cases that were run, by a solver whose drag is 0.012 + 0.0004 h2, with 1e-5 more where the case says
    where the far field is and 2e-5 where an overlap is moved, and whose lift is 1 - 0.01 h.
    """
    cases: list[dict[str, Any]] = []

    def run_case(case: Mapping[str, Any], folder: Path, layout: str, **_: Any) -> None:
        cases.append(dict(case))
        folder.mkdir(parents=True)
        (folder / "case.toml").write_text(text_of(case))
        (folder / "result.json").write_text(json.dumps({"figures": []}))
        grids = list(case["mesh"].values()) if "mesh" in case else [case["grid"]]
        h = 2.0 ** grids[0].get("coarsen", 0)
        drag = 0.012 + 0.0004 * h**2 + (1e-5 if grids[0].get("farfield") else 0)
        drag += 2e-5 if case.get("overset", {}).get("lean", 1.0) != 1.0 else 0
        rows = [f"{n},{n},{1 - 0.01 * h},{drag + 0.01 * 0.8**n},0" for n in range(100)]
        (folder / "series.csv").write_text(
            "step,time [iterations],lift,drag,moment\n" + "\n".join(rows) + "\n"
        )

    monkeypatch.setattr(uncertainty, "run_case", run_case)
    return cases


def case_file(folder: Path, text: str = CASE) -> Path:
    path = folder / "naca.toml"
    path.write_text(text)
    return path


def test_a_study_runs_coarser_grids_and_says_what_each_part_adds(
    tmp_path: Path, ran: list[dict[str, Any]]
) -> None:
    found = study(Asked(case_file(tmp_path), 3, "1x1", tmp_path / "out", say=lambda _: None))
    assert [case["grid"]["coarsen"] for case in ran] == [2, 1, 0, 1]
    # A grid that is coarser has fewer coarser ones to begin on; what a case verifies is about its own grid.
    assert [case["time"]["sequence"] for case in ran] == [[], [10], [10, 20], [10]]
    assert [case["time"]["multigrid"] for case in ran] == [1, 2, 3, 2]
    assert ["verify" in case for case in ran] == [False, False, True, False]
    assert ran[3]["grid"]["farfield"] == 1000
    lift, drag = found.coefficients
    assert drag.refined.order == pytest.approx(2, abs=1e-3)
    assert drag.refined.limit == pytest.approx(0.012, abs=1e-7)
    assert drag.grid == pytest.approx(1.25 * 0.0004, rel=1e-3)
    assert drag.far_field == pytest.approx(1e-5)
    assert 0 < drag.iteration < 1e-8
    assert lift.refined.order == pytest.approx(1, abs=1e-3)
    text = lines(found)
    assert "Cd = 0.0124 +- 0.0005" in text
    assert json.loads((tmp_path / "out" / "uncertainty.json").read_text())["coefficients"]["drag"]["settled"]


def test_meshes_that_overlap_are_a_family_and_where_they_do_so_counts(
    tmp_path: Path, ran: list[dict[str, Any]]
) -> None:
    meshes = '[mesh.box]\nkind = "brick"\n[mesh.wing]\nkind = "airfoil"\ncoarsen = 1\n[overset]\nfringe = 3\n'
    text = CASE.replace('[grid]\nkind = "airfoil"\ncells = [128, 32, 64]\n', meshes)
    found = study(Asked(case_file(tmp_path, text), 3, "1x1", tmp_path / "out", say=lambda _: None))
    assert [[mesh["coarsen"] for mesh in case["mesh"].values()] for case in ran] == [
        [2, 3],
        [1, 2],
        [0, 1],
        [1, 2],
    ]
    assert all("grid" not in case for case in ran)
    assert [case["overset"] for case in ran] == 3 * [{"fringe": 3}] + [{"fringe": 4, "lean": 1.2}]
    lift, drag = found.coefficients
    assert drag.overlap == pytest.approx(2e-5) and drag.far_field is None
    assert lift.overlap == 0
    assert drag.uncertainty == pytest.approx(((drag.grid + drag.iteration) ** 2 + 2e-5**2) ** 0.5)
    text_of_study = "\n".join(lines(found))
    assert "overlap     2.0e-05" in text_of_study and "joined point by point" not in text_of_study
    assert "far field: not tried" in text_of_study
    kept = json.loads((tmp_path / "out" / "uncertainty.json").read_text())
    assert kept["coefficients"]["drag"]["overlap"] == pytest.approx(2e-5)


def test_runs_that_are_there_are_taken(tmp_path: Path, ran: list[dict[str, Any]]) -> None:
    asked = Asked(case_file(tmp_path), 3, "1x1", tmp_path / "out", say=lambda _: None)
    study(asked)
    count = len(ran)
    study(asked)
    assert len(ran) == count
    case_file(tmp_path, CASE.replace("100", "200"))
    with pytest.raises(StrataError, match="something else"):
        study(asked)


def test_the_report_has_a_plot_of_each_coefficient(
    tmp_path: Path, ran: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(case_file(tmp_path), far_field=False, say=lambda _: None)
    assert command.study(asked, tmp_path / "out", "strata study uncertainty naca.toml") == 0
    assert "Cd = 0.0124 +- 0.0005" in capsys.readouterr().out
    assert len(ran) == 3
    page = (tmp_path / "out" / "report" / "report.html").read_text()
    assert "grids-drag" in page and "grids-lift" in page


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("flow", "md"), "not a case of compressible flow"),
        (("[time]", '[time]\nkind = "unsteady"'), "steady flow alone"),
    ],
)
def test_other_cases_are_refused(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    path = case_file(tmp_path, CASE.replace(*change, 1))
    with pytest.raises(StrataError, match=said):
        study(Asked(path, out=tmp_path / "out"))


def test_two_grids_are_too_few(tmp_path: Path) -> None:
    with pytest.raises(StrataError, match="three or more"):
        study(Asked(case_file(tmp_path), grids=2, out=tmp_path / "out"))


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.0122713, 0.0000382, "0.01227 +- 0.00004"),
        (1.0909, 0.0123, "1.091 +- 0.012"),
        (1.0909, 0.0196, "1.09 +- 0.02"),
        (123.4, 25.0, "123 +- 25"),
        (0.5, 0.0, "0.5 +- 0"),
    ],
)
def test_numbers_are_written_as_far_as_they_are_known(value: float, error: float, text: str) -> None:
    assert with_uncertainty(value, error) == text
