"""The NAS Parallel Benchmarks verify under each programming model, and only when they are right."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from npb_programs import MODELS, by_front, has_no_rate, needs_mpi, needs_suite, refused, run, verified

APPLICATIONS = ("sp", "bt", "lu")
SUITE = ("ep", "mg", "cg", "ft", "is", *APPLICATIONS)

pytestmark = needs_suite


# The applications' sizes beyond S take long: they are the soak run's.
@pytest.mark.parametrize("name", SUITE)
@pytest.mark.parametrize(
    ("model", "processes", "threads", "size"),
    [("openmp", 1, 1, "S"), ("openmp", 1, 2, "S"), ("team", 3, 2, "S"),
     pytest.param("mpi", 2, 2, "S", marks=needs_mpi), pytest.param("mpi", 4, 1, "S", marks=needs_mpi),
     pytest.param("team", 2, 1, "W", marks=pytest.mark.soak),
     pytest.param("openmp", 1, 2, "W", marks=pytest.mark.soak)],
)  # fmt: skip
def test_it_verifies_under_each_model(name: str, size: str, model: str, processes: int, threads: int) -> None:
    assert verified(run(model, processes, threads, name, "--class", size), name, size) > 0


KERNELS = tuple(name for name in SUITE if name not in APPLICATIONS)


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_of_class_w_verifies_in_a_team(name: str) -> None:
    assert verified(run("team", 2, 1, name, "--class", "W"), name, "W") > 0


# Grids divided in two and in three directions; cg's two once not into the same number. The applications'
# grids of class S have too few points for 64 ranks, and those of class W take long.
MANY = [
    *((name, 16, "S") for name in SUITE),
    ("cg", 8, "S"),
    ("mg", 64, "S"),
    *((name, 4, "W") for name in KERNELS),
]
LONG = [(name, 64, "S") for name in ("ep", "cg", "ft", "is")] + [
    (name, ranks, "W") for name in APPLICATIONS for ranks in (4, 64)
]


@needs_mpi
@pytest.mark.parametrize(
    ("name", "ranks", "size"), [*MANY, *(pytest.param(*many, marks=pytest.mark.soak) for many in LONG)]
)
def test_it_verifies_on_many_ranks(name: str, ranks: int, size: str) -> None:
    assert verified(run("mpi", ranks, 1, name, "--class", size), name, size) > 0


TOO_SMALL = "too small for so many processes"


@needs_mpi
def test_too_many_ranks_for_a_grid_are_refused_once() -> None:
    done = run("mpi", 64, 1, "lu", "--class", "S")
    assert done.returncode == 2
    assert done.stderr.count(TOO_SMALL) == 1


@pytest.mark.parametrize("name", APPLICATIONS)
def test_too_many_ranks_for_a_grid_are_refused_by_a_plan(name: str) -> None:
    done = run("openmp", 1, 1, name, "--class", "S", "--dry-run", "--layout", "64x1", "--model", "mpi")
    assert done.returncode == 2
    assert done.stderr.count(TOO_SMALL) == 1


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.soak] * (n in APPLICATIONS)) for n in SUITE]
)
def test_class_a_verifies(name: str) -> None:
    assert verified(run("openmp", 1, 2, name, "--class", "A"), name, "A") > 0


@pytest.mark.parametrize("name", SUITE)
@pytest.mark.parametrize("fault", ["skip", "perturb"])
@pytest.mark.parametrize("model", MODELS)
def test_a_broken_kernel_has_no_rate(name: str, fault: str, model: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    processes = 1 if model == "openmp" else 2
    done = run(model, processes, 1, name, "--class", "S", "--break", fault, "--json", str(file))
    has_no_rate(done, file)


@pytest.mark.parametrize("name", SUITE)
def test_the_result_is_a_document(name: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    rate = verified(run("team", 2, 1, name, "--class", "S", "--json", str(file)), name, "S")
    result = json.loads(file.read_text())
    assert (result["schema"], result["benchmark"]) == ("strata.result/1", f"npb-{name}")
    assert (result["processes"], result["threads"], result["verified"]) == (2, 1, True)
    assert (result["parameters"]["class"], result["parameters"]["model"]) == ("S", "team")
    figures = {figure["name"]: figure["value"] for figure in result["figures"]}
    assert figures["Mop/s total"] == pytest.approx(rate, abs=0.01)
    assert figures["Mop/s/thread"] == pytest.approx(figures["Mop/s total"] / 2)


# Class S: 32^3 points and 4 cycles; 1400 rows, 78148 elements that are not zero (as the matrix is defined in
# section 2.2.3), 15 iterations of 25 steps; 64^3 points and 6 steps.
MUST_MOVE = {
    "mg": 4 * 8 * (3 * 32**3 + 2 * (16**3 + 8**3 + 4**3 + 2**3)),
    "cg": 15 * (26 * (10 * 78148 + 16 * 1400) + 8 * 1400 * (25 * 8 + 11)),
    "ft": 32 * 64**3 * (1.5 + 2 * 6),
}


@pytest.mark.parametrize("name", MUST_MOVE)
@pytest.mark.parametrize("model", MODELS)
def test_what_must_move_is_the_problem_s_and_no_more_than_what_does(
    name: str, model: str, tmp_path: Path
) -> None:
    file = tmp_path / "result.json"
    verified(run(model, 1, 1, name, "--class", "S", "--json", str(file)), name, "S")
    figures = {figure["name"]: figure["value"] for figure in json.loads(file.read_text())["figures"]}
    assert 1e9 * figures["compulsory bytes"] * figures["time"] == pytest.approx(MUST_MOVE[name], rel=1e-6)
    assert figures["compulsory bytes"] <= figures["bytes"]


def test_the_list_names_every_benchmark_and_class() -> None:
    listed = run("openmp", 1, 1, "--list").stdout
    assert [line.split()[0] for line in listed.splitlines() if not line.startswith(" ")] == list(SUITE)
    assert listed.count("\n  S ") == len(SUITE)


def test_a_plan_is_made_for_layouts_that_do_not_fit_here() -> None:
    done = run("openmp", 1, 1, "mg", "--class", "D", "--dry-run", "--layout", "64x2", "--model", "mpi")
    assert done.returncode == 0
    for words in ("1024x1024x1024", "64x2 (mpi)", "4 x 4 x 4 processes", "each process", "available"):
        assert words in done.stdout
    # u, v and r of 256^3 doubles each, with the layer around them and the coarser grids.
    assert 3 * 128 < float(re.search(r"each process +(\d+) MiB", done.stdout)[1]) < 1.2 * 3 * 128  # type: ignore[index]


@pytest.mark.parametrize("model", MODELS)
def test_what_does_not_fit_is_refused_once_with_need_and_supply(model: str) -> None:
    processes = 1 if model == "openmp" else 2
    refused(run(model, processes, 1, "mg", "--class", "F"))


@pytest.mark.parametrize("model", MODELS)
def test_a_result_that_could_not_be_written_is_no_run(model: str, tmp_path: Path) -> None:
    file = tmp_path / "nowhere" / "result.json"
    done = run(model, 1 if model == "openmp" else 2, 1, "mg", "--class", "S", "--json", str(file))
    assert done.returncode == 1 and "Completed" not in done.stdout
    assert done.stderr.count("the result cannot be written: No such file or directory") == 1
    assert str(file) in done.stderr


@pytest.mark.parametrize("model", MODELS)
def test_the_front_starts_the_program_of_the_model(model: str) -> None:
    verified(by_front(model, "npb", "mg"), "mg", "S")


@needs_mpi
def test_a_division_that_is_impossible_is_refused() -> None:
    done = run("mpi", 3, 1, "cg", "--class", "S")
    assert done.returncode == 2
    assert done.stderr.count("a power of two of processes") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [(["mgg"], "unknown benchmark"), (["mg", "--class", "Q"], "unknown value"), ([], "unknown benchmark")],
)  # fmt: skip
def test_bad_words_are_refused(words: list[str], message: str) -> None:
    done = run("openmp", 1, 1, *words)
    assert done.returncode == 2 and message in done.stderr
