"""The measurements of the machine itself run briefly, verify, and notice a broken kernel."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

TINY = {
    "latency": ["--largest", "256KiB"],
    "lines": ["--rounds", "100"],
    "domains": ["--array", "4MiB"],
    "noise": ["--duration", "50ms", "--work", "10000"],
    "peak": [],
    "cache-bandwidth": ["--largest", "64KiB"],
}
FIGURES = {
    "latency": {"memory latency, 4 KiB pages": "ns"},
    "lines": {"round trip": "ns"},
    "noise": {"largest loss": "%", "mean loss": "%", "longest interruption": "us"},
    "peak": {"peak": "GF/s"},
    "cache-bandwidth": {"L1 load": "GB/s"},
}
KEYS = {"schema", "benchmark", "parameters", "processes", "threads", "wall_s", "verified", "verification"}
KEYS |= {"figures", "curves", "matrices", "provenance"}
CORES = sorted(os.sched_getaffinity(0))


def program() -> Path | None:
    if named := os.environ.get("STRATA_BENCH"):
        return Path(named)
    front = os.environ.get("STRATA_BIN") or shutil.which("strata")
    if not front:
        return None
    here = Path(front).resolve().parent
    near = (here.parent / "libexec" / "strata", here, here.parent / "benchmarks")
    return next((p for folder in near if (p := folder / "strata-bench").is_file()), None)


PROGRAM = program()

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="strata-bench was not built, or STRATA_BIN does not say where it is"
)


def bench(name: str, *options: str, cpus: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "STRATA_CPUS"))}
    environment["OMP_NUM_THREADS"] = "1"
    if cpus is not None:
        environment["STRATA_CPUS"] = cpus
    words = [str(PROGRAM), name, "--quick", *TINY[name], *options]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, env=environment)


def need_two_cores(name: str) -> None:
    if name == "lines" and one_core():
        pytest.skip("a cache line needs two cores to pass between")


@functools.cache
def one_core() -> bool:
    """Two PUs may be siblings of one core, which the program tells better than their number does."""
    done = bench("lines")
    return done.returncode != 0 and "two cores" in done.stderr


@functools.cache
def result(name: str) -> dict[str, Any]:
    done = bench(name, "--json", "-")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout[done.stdout.index("{") :])


def figures(name: str) -> dict[str, dict[str, Any]]:
    return {figure["name"]: figure for figure in result(name)["figures"]}


@pytest.mark.parametrize("name", TINY)
def test_each_verifies_and_says_all_that_the_format_asks(name: str) -> None:
    need_two_cores(name)
    document = result(name)
    assert set(document) >= KEYS
    assert document["schema"] == "strata.result/1"
    assert document["benchmark"] == name
    assert document["verified"] is True
    check = document["verification"]
    assert check["value"] <= check["limit"] == 0
    assert check["what"] and check["source"]


@pytest.mark.parametrize("name", FIGURES)
def test_the_figures_that_reports_look_for_are_there(name: str) -> None:
    need_two_cores(name)
    found = figures(name)
    if name == "cache-bandwidth" and not found:
        pytest.skip("the system says nothing of its caches")
    for figure, unit in FIGURES[name].items():
        assert found[figure]["unit"] == unit
        assert found[figure]["value"] >= 0
        assert found[figure]["better"] == ("higher" if unit in ("GF/s", "GB/s") else "lower")


@pytest.mark.parametrize("fault", ["skip", "perturb"])
@pytest.mark.parametrize("name", TINY)
def test_a_broken_kernel_gets_no_figure(name: str, fault: str, tmp_path: Path) -> None:
    need_two_cores(name)
    file = tmp_path / "result.json"
    done = bench(name, "--break", fault, "--json", str(file))
    assert done.returncode == 1
    assert "NOT VERIFIED" in done.stdout
    document = json.loads(file.read_text())
    assert document["verified"] is False
    assert [document[kind] for kind in ("figures", "curves", "matrices")] == [[], [], []]


def test_the_staircase_has_rising_sizes_up_to_the_largest_and_no_latency_below_a_cycle() -> None:
    for curve in result("latency")["curves"]:
        sizes = [x for x, _ in curve["points"]]
        assert sizes == sorted(set(sizes))
        assert (sizes[0], sizes[-1]) == (16 << 10, 256 << 10)
        assert all(0.1 < ns < 1e5 for _, ns in curve["points"])


def test_huge_pages_that_were_not_granted_leave_a_note_instead_of_a_curve() -> None:
    names = [curve["name"] for curve in result("latency")["curves"]]
    said = any("were granted" in note for note in result("latency").get("notes", []))
    assert "latency, 4 KiB pages" in names
    assert ("latency, huge pages" in names) != said


def test_the_matrix_of_round_trips_is_symmetric_and_its_diagonal_empty() -> None:
    need_two_cores("lines")
    (matrix,) = result("lines")["matrices"]
    values = matrix["values"]
    assert matrix["rows"] == matrix["columns"]
    for i, row in enumerate(values):
        assert row[i] is None
        assert [values[j][i] for j in range(len(row))] == row
    assert any(value is not None for row in values for value in row)


def test_one_core_cannot_pass_a_line_and_is_told_what_it_takes() -> None:
    done = bench("lines", cpus=str(CORES[0]))
    assert done.returncode == 1
    assert "two cores" in done.stderr
    assert "--layout" in done.stderr


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


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("latency", "--largest", "1KiB"),
        ("latency", "--pages", "enormous"),
        ("lines", "--rounds", "0"),
        ("noise", "--duration", "0s"),
        ("noise", "--work", "1"),
        ("domains", "--array", "1KiB"),
    ],
)
def test_a_value_out_of_range_is_refused_by_the_option_s_name(name: str, option: str, value: str) -> None:
    done = bench(name, option, value)
    assert done.returncode in (1, 2)
    assert option in done.stderr
    assert "allowed" in done.stderr
