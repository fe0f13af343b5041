"""`strata md analyse` on a run that was made up: what it must find is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import lfilter

from strata import cli
from strata.errors import StrataError
from strata.md.analysis import Asked, analyse
from strata.md.page import with_error

TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")
EDGE, D, DT = 9.0, 0.06, 0.01


def process(rng: np.random.Generator, count: int, tau: float) -> np.ndarray:
    phi = np.exp(-1 / tau)
    return lfilter([1], [1, -phi], rng.normal(size=count) * np.sqrt(1 - phi**2))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """4000 rows, of which the first 400 relax; 401 frames of atoms that walk at random."""
    rng = np.random.default_rng(11)
    folder, rows = tmp_path_factory.mktemp("made-up"), 4000
    step = np.arange(rows) * 2
    late = np.exp(-np.arange(rows) / 100)
    columns = {
        "temperature [epsilon/k]": 0.85 + 0.02 * process(rng, rows, 10) + late,
        "potential energy [epsilon]": -600 + process(rng, rows, 10) - 40 * late,
        "total energy [epsilon]": -300 + 1e-3 * rng.normal(size=rows) + 0.02 * step * DT,
        **{f"pressure {ij} [epsilon/sigma3]": 0.3 * process(rng, rows, 12) for ij in TENSOR},
    }
    head = "step,time [tau]," + ",".join(columns)
    table = np.column_stack([step, step * DT, *columns.values()])
    lines = [",".join([str(int(r[0])), *map(repr, r[1:].tolist())]) for r in table]
    (folder / "series.csv").write_text("\n".join([head, *lines]) + "\n")
    at = rng.uniform(0, EDGE, (60, 3))
    with (folder / "atoms.xyz").open("w") as file:
        for frame in range(401):
            file.write(
                f'60\nLattice="{EDGE} 0 0 0 {EDGE} 0 0 0 {EDGE}" Properties=species:S:1:pos:R:3:id:I:1 '
                f'pbc="T T T" step={20 * frame} time={20 * frame * DT}\n'
            )
            for i in rng.permutation(60):
                x, y, z = np.mod(at[i], EDGE)
                file.write(f"A {x:.9e} {y:.9e} {z:.9e} {i + 1}\n")
            at += rng.normal(scale=np.sqrt(2 * D * 20 * DT), size=at.shape)
    return folder


def test_what_was_put_in_is_found(run: Path) -> None:
    found = analyse(Asked(run))
    assert 300 < found.begin < 3000  # 100 rows, two steps each: 50 times the noise takes 4 relaxations
    assert found.averages["temperature"].mean == pytest.approx(
        0.85, abs=4 * found.averages["temperature"].error
    )
    assert found.averages["temperature"].error < 0.004
    assert found.drift is not None and found.drift[0] == pytest.approx(0.02, abs=4 * found.drift[1])
    d = found.diffusion["all"]
    assert d.value == pytest.approx(D, abs=4 * d.error) and d.error < 0.15 * D
    assert found.radial["all"].g[20:].mean() == pytest.approx(1, abs=0.02)
    eta = found.viscosity
    assert eta is not None
    # Each component alike and independent, so the traceless part has 2/3 of the diagonal's variance:
    # (2 + 6) / 10 of a component's integral, which is tau / tanh's limit of it
    share = (3 * 2 / 3 + 2 * 3) / 10
    exact = EDGE**3 / found.averages["temperature"].mean * share * 0.09 / (2 * np.tanh(1 / 24)) * 2 * DT
    assert eta.value == pytest.approx(exact, abs=4 * eta.error) and eta.error < 0.25 * exact


def test_steps_before_the_given_one_do_not_count(run: Path) -> None:
    assert analyse(Asked(run, begin=4000)).begin == 4000
    with pytest.raises(StrataError, match="fewer than 8 rows"):
        analyse(Asked(run, begin=7999))


def test_the_command_writes_a_report_with_its_plots(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run / "report"
    assert cli.main(["md", "analyse", str(run), "--out", str(out), "--slab", "z"]) == 0
    said = capsys.readouterr().out
    assert "diffusion: 0.0" in said and "viscosity: " in said and str(out / "report.html") in said
    page = (out / "report.html").read_text()
    for title in ("g(r)", "Mean squared displacement", "Green-Kubo", "Density across the slab"):
        assert title in page
    assert {path.stem for path in (out / "figures").glob("*.svg")} >= {"radial", "green-kubo", "blocks"}
    kept = json.loads((out / "analysis.json").read_text())
    assert kept["schema"] == "strata.md-analysis/1"
    assert kept["diffusion"]["all"]["value"] == pytest.approx(D, rel=0.5)


def test_json_writes_nothing(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(run.iterdir())
    assert cli.main(["md", "analyse", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["averages"]["temperature"]["unit"] == "epsilon/k"
    assert sorted(run.iterdir()) == before


def test_without_a_trajectory_the_series_alone_is_read(run: Path, tmp_path: Path) -> None:
    (tmp_path / "series.csv").write_text((run / "series.csv").read_text())
    found = analyse(Asked(tmp_path))
    assert found.viscosity is None and not found.radial
    assert any("--volume" in line for line in found.said)
    assert analyse(Asked(tmp_path, volume=EDGE**3)).viscosity is not None


def test_of_one_atom_of_a_kind_there_is_no_g_but_all_else(run: Path, tmp_path: Path) -> None:
    (tmp_path / "series.csv").write_bytes((run / "series.csv").read_bytes())
    lines = (run / "atoms.xyz").read_text().splitlines()[: 62 * 230]
    first = [f"B{line[1:]}" if line.startswith("A ") and line.endswith(" 1") else line for line in lines]
    (tmp_path / "atoms.xyz").write_text("\n".join(first) + "\n")
    found = analyse(Asked(tmp_path))
    assert set(found.radial) == {"all", "A-A", "A-B"}
    assert "No g(r) of B-B: there is one atom of B." in found.said


def test_a_folder_without_a_series_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["md", "analyse", str(tmp_path)]) == 1
    assert "strata run CASE --out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.8123, 0.0042, "0.812(4)"),
        (0.8123, 0.0012, "0.8123(12)"),
        (-5.51214, 0.00046, "-5.5121(5)"),
        (1234.5, 36.0, "1230(40)"),
        (2.5, 0.0, "2.5"),
    ],
)
def test_a_value_is_shown_with_its_error(value: float, error: float, text: str) -> None:
    assert with_error(value, error) == text


def test_a_run_of_another_solver_is_refused(tmp_path: Path) -> None:
    rows = [f"{n},{n / 10},{1 / (n + 1)}" for n in range(20)]
    (tmp_path / "series.csv").write_text("\n".join(["step,time [s],largest [K]", *rows]) + "\n")
    with pytest.raises(StrataError, match="not a run of molecular dynamics") as caught:
        analyse(Asked(tmp_path))
    assert caught.value.given == "a series of largest" and "temperature" in caught.value.allowed
