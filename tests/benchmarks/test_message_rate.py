"""The message rate: pairs near and far, the sizes asked for, and what cannot be paired."""

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
TINY = ["--repeats", "1", "--quick"]

pytestmark = pytest.mark.skipif(
    PROGRAM is None or MPIRUN is None,
    reason="strata-bench-mpi was not built (no MPI), or STRATA_BIN does not say where it is",
)


def rate(processes: int, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*mpirun(), "-n", str(processes), str(PROGRAM), "message-rate", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def result_of(file: Path, processes: int, *words: str) -> dict[str, Any]:
    done = rate(processes, *words, *TINY, "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads(file.read_text()))


@pytest.mark.parametrize(("processes", "which"), [(4, "near"), (6, "far")])
def test_all_pairs_at_once_are_one_verified_result(processes: int, which: str, tmp_path: Path) -> None:
    result = result_of(tmp_path / "result.json", processes, "--pairs", which, "--bytes", "1,100,10KiB")
    assert result["verified"] is True
    assert result["verification"] | {"value": 0} == result["verification"]
    given = result["parameters"]
    assert (given["pairs"], given["number of pairs"], given["window"]) == (which, processes // 2, 64)
    figures = {f["name"]: f for f in result["figures"]}
    assert {n: (f["unit"], f["better"]) for n, f in figures.items()} == {
        "message rate": ("Mmsg/s", "higher"),
        "message rate, a pair": ("Mmsg/s", "higher"),
        "bandwidth": ("GB/s", "higher"),
    }
    of_pair = figures["message rate, a pair"]["value"]
    assert figures["message rate"]["value"] == pytest.approx(of_pair * processes / 2)
    rates, bandwidths = result["curves"]
    assert [x for x, _ in rates["points"]] == [1, 100, 10240]
    for (size, messages), (_, gigabytes) in zip(rates["points"], bandwidths["points"], strict=True):
        assert gigabytes == pytest.approx(messages * size * 1e-3)


def test_one_size_is_the_largest_of_the_powers_of_two(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    done = rate(2, "--repeats", "1", "--bytes", "8", "--window", "3", "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(file.read_text())
    assert [x for x, _ in result["curves"][0]["points"]] == [1, 2, 4, 8]
    assert result["parameters"]["window"] == 3


@pytest.mark.parametrize("fault", ["skip", "perturb"])
def test_messages_that_do_not_arrive_as_sent_get_no_figure(fault: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    done = rate(2, *TINY, "--bytes", "8,16", "--break", fault, "--json", str(file))
    assert done.returncode == 1
    assert "NOT VERIFIED" in done.stdout
    result = json.loads(file.read_text())
    assert result["verified"] is False
    assert result["figures"] == result["curves"] == []


@pytest.mark.parametrize(
    ("processes", "words", "said"),
    [
        (1, [], "needs at least 2 processes"),
        (3, [], "--layout 4x1"),
        (2, ["--bytes", "0"], "64 MiB"),
        (2, ["--bytes", "8,1GiB"], "1GiB"),
        (2, ["--bytes", ""], "no size"),
        (2, ["--window", "1000"], "128"),
    ],
)
def test_what_cannot_be_is_refused_once(processes: int, words: list[str], said: str) -> None:
    done = rate(processes, *words)
    assert done.returncode == 2
    assert done.stderr.count("strata: error:") == 1
    assert said in done.stderr


def test_help_is_said_once_for_all_processes() -> None:
    done = rate(2, "--help")
    assert done.returncode == 0
    assert done.stdout.count("usage:") == 1
    assert "--pairs" in done.stdout
    assert "--break" not in done.stdout
