"""The stencil over processes and threads: the same figures, right for any layout, strong and weak."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from built import mpirun, program

PROGRAM = program("strata-bench-mpi")
MPIRUN = shutil.which("mpirun")
TINY = ["--steps", "5", "--repeats", "3"]

pytestmark = pytest.mark.skipif(
    PROGRAM is None or MPIRUN is None,
    reason="strata-bench-mpi was not built (no MPI), or STRATA_BIN does not say where it is",
)


def stencil(processes: int, threads: int, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*mpirun(), "-n", str(processes), str(PROGRAM), "stencil", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"},
    )


def result_of(file: Path, processes: int, threads: int, *words: str) -> dict[str, Any]:
    done = stencil(processes, threads, *words, "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads(file.read_text()))


@pytest.mark.parametrize(
    ("processes", "threads", "grid", "cuts"),
    [(1, 2, "1x1x1", 0), (2, 1, "2x1x1", 1), (2, 2, "2x1x1", 1), (3, 1, "3x1x1", 2), (4, 1, "2x2x1", 2),
     (8, 1, "2x2x2", 3)],
)  # fmt: skip
def test_it_is_right_on_any_layout(
    processes: int, threads: int, grid: str, cuts: int, tmp_path: Path
) -> None:
    result = result_of(tmp_path / "result.json", processes, threads, "--n", "25", *TINY)
    assert result["verified"] is True
    assert (result["processes"], result["threads"]) == (processes, threads)
    assert (result["parameters"]["grid"], result["parameters"]["n"]) == (grid, 25)
    assert result["parameters"]["exchanged a step"] == cuts * 2 * 8 * 25**2  # two faces for each cut
    figures = {f["name"]: f for f in result["figures"]}
    assert {n: (f["unit"], f["better"]) for n, f in figures.items()} == {
        "cell updates": ("Mcell/s", "higher"),
        "time a step": ("ms", "lower"),
        "exchange": ("%", "lower"),
    }
    assert figures["cell updates"]["bytes"] == 16 * 25**3
    assert figures["cell updates"]["flops"] == 8 * 25**3
    rate, time = figures["cell updates"]["value"], figures["time a step"]["value"]
    assert rate * time * 1e3 == pytest.approx(25**3)
    share = figures["exchange"]["value"]
    assert (share == 0) if processes == 1 else (0 < share <= 100)


def test_strong_scaling_keeps_the_cube_and_weak_scaling_the_cells_of_a_core(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    for processes, threads, n in ((2, 1, 25), (1, 2, 25), (2, 2, 32)):
        given = result_of(file, processes, threads, "--cells-per-core", "20", *TINY)["parameters"]
        assert given["n"] == n
        assert given["cells a core"] == pytest.approx(20**3, rel=0.03)
    quick = [result_of(file, p, t, "--quick")["parameters"] for p, t in ((1, 1), (2, 1))]
    assert quick[0]["n"] == quick[1]["n"]  # without a size the cube is the machine's, not the layout's


@pytest.mark.parametrize("fault", ["skip", "perturb"])
def test_a_broken_step_gets_no_figure_from_several_processes(fault: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    done = stencil(2, 1, "--n", "20", *TINY, "--break", fault, "--json", str(file))
    assert done.returncode == 1
    assert "NOT VERIFIED" in done.stdout
    result = json.loads(file.read_text())
    assert result["verified"] is False
    assert result["figures"] == []


def test_more_processes_than_cells_along_an_edge_are_refused_once() -> None:
    done = stencil(3, 1, "--n", "2", *TINY)
    assert done.returncode == 2
    assert done.stderr.count("strata: error:") == 1
    assert "3x1x1" in done.stderr
    assert "--n 3" in done.stderr
