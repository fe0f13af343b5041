"""`strata overset check`: what it says of cases and of grid files, its report, its exit status."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from solver_cases import FLOW_CASES, changed, solver_program

PEERS = Path(__file__).resolve().parents[3] / "benchmarks" / "peers"


@pytest.fixture(autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-overset") is None:
        pytest.skip("the check of meshes that overlap is not built")


def check(front: str, *words: object) -> subprocess.CompletedProcess[str]:
    line = [front, "overset", "check", *(str(word) for word in words)]
    return subprocess.run(line, capture_output=True, text=True, timeout=120)


def test_a_case_without_orphans_has_a_report_and_status_0(front: str, tmp_path: Path) -> None:
    # What its files show is no matter here.
    case = changed(tmp_path, "overset-cylinder", "\n[output]\nsteps = 20\n", cases=FLOW_CASES)
    out = tmp_path / "report"
    done = check(front, case, "--out", out, "--layout", "2x1")
    assert done.returncode == 0, done.stderr
    assert "cells, 0 of them orphans; found in" in done.stdout
    found = json.loads((out / "check.json").read_text())
    assert [zone["mesh"] for zone in found["zones"]] == [0, 1]
    ring = found["zones"][1]
    assert ring["receptors"] == 2 * 128  # two layers at its end
    assert ring["computed"] + ring["receptors"] == 128 * 48
    background = found["zones"][0]
    kinds = ("computed", "receptors", "holes", "covered", "orphans")
    assert sum(background[kind] for kind in kinds) == 96 * 96
    assert background["holes"] > 0
    assert background["skew"] == pytest.approx(0, abs=1e-6)  # rectangles
    assert 1 < ring["growth"] < 2
    assert found["cutting"] == [1] and found["meshes"][1] == "ring"
    shares = list(found["ratio_percentiles"].values())
    assert shares == sorted(shares) and 0.3 < shares[2] < 3
    # To within a bin, the ends are those of all.
    assert found["least_ratio"] < 1.2 * shares[0] and shares[-1] < 1.2 * found["greatest_ratio"]
    page = (out / "report.html").read_text()
    assert "receptors" in page and "where meshes meet" in page
    assert len(list((out / "figures").glob("*.svg"))) == 3


def test_orphans_above_the_limit_are_named_and_end_with_status_1(front: str, tmp_path: Path) -> None:
    # The ring ends so close to the wall that its fringe and that of the hole meet.
    case = changed(tmp_path, "overset-cylinder", cases=FLOW_CASES, farfield="0.6", first="0.02")
    case.write_text(case.read_text().replace("cells = [128, 48]", "cells = [128, 4]"))
    out = tmp_path / "report"
    done = check(front, case, "--out", out)
    assert done.returncode == 1, done.stderr
    assert "the first orphan of zone" in done.stdout
    assert "cells have no donor; 0 may" in done.stdout
    assert "cells have no donor" in (out / "report.html").read_text()
    # The run of such a case is refused in the same words.
    program = solver_program(front, "strata-flow")
    line = [front, "launch", "--layout", "1x1", "--", str(program), str(case), "--quiet"]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=120)
    assert ran.returncode != 0
    assert "meshes overlap too little" in ran.stderr and "the first at cell (" in ran.stderr


def test_grids_from_files(front: str, tmp_path: Path) -> None:
    sys.path.insert(0, str(PEERS))
    try:
        import overset
    finally:
        sys.path.remove(str(PEERS))
    for name, grid in (
        ("outer", overset.box(12, 0.0, 1.0, 0.02, 0.0)),
        ("within", overset.box(12, 0.2, 0.8, 0.02, 0.3)),
    ):
        overset.write_plot3d(tmp_path / f"{name}.p3d", np.asarray(grid))
    out = tmp_path / "report"
    done = check(front, f"outer={tmp_path}/outer.p3d", f"within={tmp_path}/within.p3d", "--out", out)
    assert done.returncode == 0, done.stderr + done.stdout
    found = json.loads((out / "check.json").read_text())
    assert found["dimensions"] == 3
    assert sum(zone["orphans"] for zone in found["zones"]) == 0
    assert found["zones"][1]["receptors"] > 0
    # Both are cut by one plane, through the middle of the smaller one.
    page = (out / "report.html").read_text()
    places = re.findall(r"within: where meshes meet, [xyz] = (\d+\.\d+)", page)
    assert places and float(places[0]) == pytest.approx(0.5, abs=0.05)
    assert len(list((out / "figures").glob("*.svg"))) == 5


def test_bad_input_is_told(front: str, tmp_path: Path) -> None:
    done = check(front, FLOW_CASES / "cylinder.toml", "--out", tmp_path / "a")
    assert done.returncode != 0 and "the case has one grid" in done.stderr
    done = check(front, "grid.p3d", "other.p3d", "--out", tmp_path / "b")
    assert done.returncode != 0 and "a grid has no name" in done.stderr
    done = check(front, "a=grid.p3d", "--out", tmp_path / "b")
    assert done.returncode != 0 and "one grid overlaps no other" in done.stderr
    assert "NAME=FILE" in done.stderr and "mesh.a" not in done.stderr  # no keys of a case that is not there
    done = check(front, "a=grid.p3d", "a=other.p3d", "--out", tmp_path / "b")
    assert done.returncode != 0 and "two grids have one name" in done.stderr
    case = changed(tmp_path, "overset-cylinder", cases=FLOW_CASES)
    done = check(front, case, "--orphans", "5", "--out", tmp_path / "c")
    assert done.returncode != 0 and "a case says this itself" in done.stderr
    case.write_text(case.read_text().replace("[mesh.ring]", '[mesh.ring]\non = "nobody"', 1))
    done = check(front, case, "--out", tmp_path / "c")
    assert done.returncode != 0 and "mesh.ring.on" in done.stderr
