"""The benchmarks that exchange messages run over 1, 2 or 4 processes, verify, and notice a broken kernel."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from built import mpirun, program

TINY = {
    "pingpong": ["--repeats", "1", "--budget", "20ms", "--largest", "1KiB"],
    "rings": ["--repeats", "1", "--rings", "1"],
    "ptrans": ["--repeats", "1", "--n", "101"],
    "mpifft": ["--repeats", "1", "--n", "4096"],
    "allreduce": ["--repeats", "1", "--largest", "256"],
    "alltoall": ["--repeats", "1", "--largest", "256"],
}
NEED_TWO = ("pingpong", "rings")
FIGURES = {
    "pingpong": {"latency": "us", "bandwidth": "GB/s"},
    "rings": {
        "natural ring latency": "us",
        "natural ring bandwidth": "GB/s",
        "random ring latency": "us",
        "random ring bandwidth": "GB/s",
    },
    "ptrans": {"ptrans": "GB/s"},
    "mpifft": {"mpifft": "GF/s"},
    "allreduce": {"8 B": "us"},
    "alltoall": {"8 B": "us"},
}
KEYS = {
    "schema",
    "benchmark",
    "parameters",
    "processes",
    "threads",
    "wall_s",
    "verified",
    "verification",
    "figures",
    "curves",
    "matrices",
    "provenance",
}


PROGRAM = program("strata-bench-mpi")
MPIRUN = shutil.which("mpirun")

pytestmark = pytest.mark.skipif(
    PROGRAM is None or MPIRUN is None,
    reason="strata-bench-mpi was not built (no MPI), or STRATA_BIN does not say where it is",
)


def bench(name: str, processes: int, *options: str) -> subprocess.CompletedProcess[str]:
    start = [*mpirun(), "-n", str(processes)] if processes > 1 else []
    return subprocess.run(
        [*start, str(PROGRAM), name, *TINY[name], *options],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


@functools.cache
def names() -> str:
    return subprocess.run([str(PROGRAM), "--list"], capture_output=True, text=True).stdout


def built(name: str) -> None:
    if name == "mpifft" and name not in names():
        pytest.skip("mpifft was not built (no FFTW)")


def runs() -> list[tuple[str, int]]:
    return [(name, p) for name in TINY for p in ((2, 4) if name in NEED_TWO else (1, 4))]


@pytest.mark.parametrize(("name", "processes"), runs())
def test_it_verifies_and_its_figures_are_those_of_the_schema(
    name: str, processes: int, tmp_path: Path
) -> None:
    built(name)
    file = tmp_path / "result.json"
    done = bench(name, processes, "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(file.read_text())
    assert result.keys() >= KEYS
    assert result["schema"] == "strata.result/1"
    assert (result["benchmark"], result["processes"], result["threads"]) == (name, processes, 1)
    assert result["verified"] is True
    assert result["verification"]["value"] <= result["verification"]["limit"]
    assert result["provenance"]["mpi"]
    figures = {f["name"]: f for f in result["figures"]}
    for figure, unit in FIGURES[name].items():
        assert figures[figure]["unit"] == unit
        assert figures[figure]["value"] > 0
        assert figures[figure]["better"] == ("lower" if unit == "us" else "higher")
    for curve in result["curves"]:
        sizes = [x for x, _ in curve["points"]]
        assert sizes == sorted(sizes)
        assert all(y > 0 for _, y in curve["points"])


@pytest.mark.parametrize("fault", ["skip", "perturb"])
@pytest.mark.parametrize("name", list(TINY))
def test_a_broken_kernel_gets_no_figure(name: str, fault: str, tmp_path: Path) -> None:
    built(name)
    file = tmp_path / "result.json"
    done = bench(name, 2 if name in NEED_TWO else 1, "--break", fault, "--json", str(file))
    assert done.returncode == 1
    for figure, unit in FIGURES[name].items():
        assert not any(figure in line and unit in line for line in done.stdout.splitlines())
    if file.exists():
        result = json.loads(file.read_text())
        assert result["verified"] is False
        assert result["figures"] == result["curves"] == result["matrices"] == []


@pytest.mark.parametrize("name", NEED_TWO)
def test_one_process_alone_is_told_which_layout_to_take(name: str) -> None:
    done = bench(name, 1)
    assert done.returncode == 2
    assert "needs at least 2 processes" in done.stderr
    assert "--layout 2x1" in done.stderr


@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_a_matrix_that_the_grid_does_not_divide_is_transposed_right(n: int) -> None:
    done = bench("ptrans", 4, "--n", str(n))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "verified" in done.stdout


def test_three_processes_transform_a_number_of_points_that_they_divide(tmp_path: Path) -> None:
    built("mpifft")
    file = tmp_path / "result.json"
    assert bench("mpifft", 3, "--json", str(file)).returncode == 0
    assert json.loads(file.read_text())["parameters"]["n"] == 9 * 256


def test_every_pair_is_in_the_matrix_when_there_is_time(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    assert bench("pingpong", 3, "--budget", "60s", "--json", str(file)).returncode == 0
    for matrix in json.loads(file.read_text())["matrices"]:
        for i, row in enumerate(matrix["values"]):
            assert [value is None for value in row] == [i == j for j in range(3)]
