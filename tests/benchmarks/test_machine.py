"""What curves, matrices and figures of the measurements of the machine say to each other."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from typing import Any

import pytest
from built import program

TINY = {
    "latency": ["--largest", "256KiB"],
    "lines": ["--rounds", "100"],
    "domains": ["--array", "4MiB"],
    "noise": ["--duration", "50ms", "--work", "10000"],
    "pages": ["--array", "4MiB", "--duration", "10ms"],
    "cycles": ["--repeats", "200", "--work", "20000"],
}


PROGRAM = program("strata-bench")

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="strata-bench was not built, or STRATA_BIN does not say where it is"
)


def bench(name: str, *more: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "STRATA_CPUS"))}
    words = [str(PROGRAM), name, "--quick", *TINY[name], *more, "--json", "-"]
    return subprocess.run(
        words, capture_output=True, text=True, timeout=60, env={**environment, "OMP_NUM_THREADS": "1"}
    )


@functools.cache
def result(name: str) -> dict[str, Any]:
    done = bench(name)
    if name == "lines" and "two cores" in done.stderr:
        pytest.skip("a cache line needs two cores to pass between")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def figures(name: str) -> dict[str, dict[str, Any]]:
    return {figure["name"]: figure for figure in result(name)["figures"]}


def test_the_staircase_has_rising_sizes_up_to_the_largest_and_no_latency_below_a_cycle() -> None:
    for curve in result("latency")["curves"]:
        sizes = [x for x, _ in curve["points"]]
        assert sizes == sorted(set(sizes))
        assert (sizes[0], sizes[-1]) == (16 << 10, 256 << 10)
        assert all(0.1 < ns < 1e5 for _, ns in curve["points"])


def test_a_cache_s_latency_is_a_point_of_the_staircase() -> None:
    measured = [ns for curve in result("latency")["curves"] for _, ns in curve["points"]]
    levels = {name: f for name, f in figures("latency").items() if name.startswith("load latency, L")}
    for figure in levels.values():
        assert (figure["unit"], figure["better"]) == ("ns", "lower")
        assert figure["value"] in measured


def test_huge_pages_that_were_not_granted_leave_a_note_instead_of_a_curve() -> None:
    names = [curve["name"] for curve in result("latency")["curves"]]
    said = any("were granted" in note for note in result("latency").get("notes", []))
    assert "latency, 4 KiB pages" in names
    assert ("latency, huge pages" in names) != said


def test_the_matrix_of_round_trips_is_symmetric_and_its_diagonal_empty() -> None:
    (matrix,) = result("lines")["matrices"]
    values = matrix["values"]
    assert matrix["rows"] == matrix["columns"]
    for i, row in enumerate(values):
        assert row[i] is None
        assert [values[j][i] for j in range(len(row))] == row
    assert any(value is not None for row in values for value in row)


def test_domains_give_a_matrix_only_where_the_place_of_pages_is_known() -> None:
    document = result("domains")
    matrices = {matrix["name"]: matrix for matrix in document["matrices"]}
    if document["parameters"]["placement"] != "verified" and not matrices:
        assert any("placement unverified" in note for note in document["notes"])
        return
    assert set(matrices) == {"latency", "bandwidth"}
    for matrix in matrices.values():
        assert len(matrix["values"]) == len(matrix["rows"])
        assert all(len(row) == len(matrix["columns"]) for row in matrix["values"])
    assert {"latency", "bandwidth"} <= set(figures("domains"))


def test_noise_speaks_of_each_core_and_the_worst_loses_no_less_than_the_mean() -> None:
    found = figures("noise")
    assert found["largest loss"]["value"] >= found["mean loss"]["value"]
    curves = {curve["name"]: curve["points"] for curve in result("noise")["curves"]}
    losses = [loss for _, loss in curves["lost to other work"]]
    assert len(losses) == result("noise")["parameters"]["cores"]
    assert max(losses) == pytest.approx(found["largest loss"]["value"])
    tail = [rate for _, rate in curves["delays longer than"]]
    assert tail == sorted(tail, reverse=True)


@pytest.mark.parametrize("mode", ["one", "threads", "interleave", "bind"])
def test_pages_are_all_accounted_for_and_one_memory_is_said_in_one_line(mode: str) -> None:
    done = bench("pages", "--mode", mode)
    if "cannot be bound" in done.stderr:
        pytest.skip("mbind is forbidden here")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    found = {figure["name"]: figure["value"] for figure in document["figures"]}
    assert found["fastest sweep"] <= found["sweep"] <= found["slowest sweep"]
    spread = 100 * (found["slowest sweep"] - found["fastest sweep"]) / found["sweep"]
    assert found["spread of sweeps"] == pytest.approx(spread)
    said = [note for note in document["notes"] if note.startswith("one memory")]
    assert len(said) == (document["parameters"]["memories"] == 1)
    if document["parameters"]["placement"] != "verified":
        return
    (matrix,) = document["matrices"]
    assert sum(map(sum, matrix["values"])) == document["parameters"]["pages_asked"] == 3 * (4 << 20) // 4096
    assert 0 <= found["local pages"] <= 100
    if len(matrix["columns"]) == 1:
        assert found["local pages"] == 100


def test_pages_that_nobody_can_place_or_that_are_too_few_are_refused() -> None:
    for words, said in ((["--mode", "both"], "interleave"), (["--array", "1KiB"], "64 KiB or more")):
        done = bench("pages", *words)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("strata: error:") == 1


def test_the_tail_of_the_repetitions_falls_with_their_share_and_ends_at_the_longest() -> None:
    found = figures("cycles")
    curves = {curve["name"]: curve["points"] for curve in result("cycles")["curves"]}
    points = curves["over the shortest"]
    shares, excess = [x for x, _ in points], [y for _, y in points]
    assert shares == sorted(shares, reverse=True) and shares[-1] == 1 / 200
    assert excess == sorted(excess) and excess[0] >= 0
    assert excess[-1] == pytest.approx(found["longest over shortest"]["value"])
    assert found["interquartile range"]["value"] <= found["longest over shortest"]["value"]
    assert found["resolution"]["value"] > 0
    said = result("cycles")["parameters"]
    assert said["counter"] and said["counter_ghz"] > 0
    assert said["cycle_counter"] == any(name.endswith(", cycles") for name in found)
    assert said["cycle_counter"] or any(
        note.startswith("no cycle counter") for note in result("cycles")["notes"]
    )
