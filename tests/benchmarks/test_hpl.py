"""Linpack as a program: verified under every model and layout, and refused where it is wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest
from built import OPENBLAS, front, program

# --model, and the program that it starts.
MODELS = {"mpi": "strata-bench-mpi", "team": "strata-bench-team"}

pytestmark = pytest.mark.skipif(
    front() is None or program("strata-bench") is None or OPENBLAS is None, reason="no front, or no OpenBLAS"
)


def hpl(layout: str, *words: str, model: str = "") -> subprocess.CompletedProcess[str]:
    if model and (program(MODELS[model]) is None or (model == "mpi" and shutil.which("mpirun") is None)):
        pytest.skip(f"{MODELS[model]} is not built")
    command = [str(front()), "bench", "hpl", "--layout", layout, "--bind", "none", "--blas", str(OPENBLAS)]
    if model:
        command += ["--model", model]
    return subprocess.run([*command, *words], capture_output=True, text=True, timeout=60)


def result_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads(done.stdout))


RUNS = [
    ("1x1", "", [], "1x1"),
    ("1x2", "", [], "1x1"),
    ("2x1", "mpi", [], "1x2"),
    ("2x1", "mpi", ["--grid", "2x1"], "2x1"),
    ("4x1", "mpi", [], "2x2"),
    ("2x2", "mpi", [], "1x2"),
    ("2x1", "team", [], "1x2"),
    ("2x1", "team", ["--grid", "2x1"], "2x1"),
    ("2x2", "team", [], "1x2"),
    ("6x1", "team", ["--grid", "3x2"], "3x2"),
]


@pytest.mark.parametrize(("layout", "model", "words", "grid"), RUNS)
def test_it_is_verified_on_every_layout(layout: str, model: str, words: list[str], grid: str) -> None:
    """The order is no multiple of the block, and the last block is of one column."""
    result = result_of(hpl(layout, "--n", "145", "--nb", "16", *words, "--json", "-", model=model))
    processes, threads = map(int, layout.split("x"))
    assert (result["benchmark"], result["processes"], result["threads"]) == ("hpl", processes, threads)
    assert result["verified"] and result["verification"]["limit"] == 16
    assert result["parameters"] == {"n": 145, "nb": 16, "grid": grid}
    assert bool(result["provenance"]["mpi"]) == (model == "mpi")
    figures = {f["name"]: f for f in result["figures"]}
    assert [(name, f["unit"]) for name, f in figures.items()] == [
        ("hpl", "GF/s"),
        ("dgemm", "GF/s"),
        ("share of DGEMM", "%"),
        ("time", "s"),
    ]
    flops = 2 / 3 * 145**3 + 3 / 2 * 145**2
    assert figures["hpl"]["flops"] == pytest.approx(flops)
    assert figures["hpl"]["value"] == pytest.approx(1e-9 * flops / figures["time"]["value"])
    share = 100 * figures["hpl"]["value"] / figures["dgemm"]["value"]
    assert figures["share of DGEMM"]["value"] == pytest.approx(share)


@pytest.mark.parametrize("fault", ["skip", "perturb"])
@pytest.mark.parametrize(("layout", "model"), [("1x2", ""), ("2x1", "mpi"), ("2x1", "team")])
def test_a_wrong_solution_has_no_rate(layout: str, model: str, fault: str) -> None:
    done = hpl(layout, "--n", "100", "--nb", "16", "--break", fault, model=model)
    assert done.returncode == 1
    assert "NOT VERIFIED" in done.stdout and "GF/s" not in done.stdout


@pytest.mark.parametrize(
    ("layout", "model", "words", "said"),
    [
        ("1x1", "", ["--n", "0"], "1"),
        ("1x1", "", ["--nb", "0"], "4096"),
        ("1x1", "", ["--n", "100", "--full"], "one of them"),
        ("1x1", "", ["--n", "3000000"], "memory"),
        ("2x1", "mpi", ["--n", "3000000"], "memory"),
        ("2x1", "team", ["--n", "3000000"], "memory"),
        ("2x1", "mpi", ["--grid", "2x2"], "P Q = 2"),
        ("2x1", "team", ["--grid", "2"], "P Q = 2"),
        ("1x1", "", ["--grid", "1x1x1"], "P Q = 1"),
        ("1x1", "", ["--model", "openmp"], "mpi, team"),
    ],
)
def test_what_cannot_be_is_refused_with_one_message(
    layout: str, model: str, words: list[str], said: str
) -> None:
    done = hpl(layout, *words, model=model)
    assert done.returncode == 2
    assert done.stderr.count("strata: error:") == 1 and said in done.stderr
    assert done.stdout == ""


def test_other_benchmarks_know_no_model() -> None:
    done = subprocess.run(
        [str(front()), "bench", "stream", "--model", "team"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and "--model" in done.stderr
