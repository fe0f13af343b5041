"""strata-bench as a program: each benchmark verifies, notices a broken kernel, and says what it cannot do."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from built import OPENBLAS, front, needs_solvers, program

TINY: dict[str, list[str]] = {
    "stream": ["--array", "1MiB", "--trials", "2"],
    "dgemm": ["--n", "120", "--repeats", "2", "--blas", OPENBLAS or ""],
    "hpl": ["--n", "100", "--nb", "16", "--blas", OPENBLAS or ""],
    "peak": ["--quick"],
    "cache-bandwidth": ["--quick", "--largest", "256KiB"],
    "latency": ["--quick", "--largest", "2MiB", "--pages", "small"],
    "lines": ["--quick", "--rounds", "100"],
    "domains": ["--quick", "--array", "4MiB"],
    "noise": ["--duration", "50ms", "--work", "20000"],
    "pages": ["--array", "4MiB", "--duration", "10ms"],
    "cycles": ["--repeats", "50", "--work", "20000"],
    "clock": ["--seconds", "60ms"],
    "stencil": ["--n", "30", "--steps", "5", "--repeats", "3"],
    "team-barrier": ["--quick", "--members", "3"],
    "team-flag": ["--quick"],
    "team-read": ["--quick", "--size", "64KiB"],
    "team-switch": ["--changes", "50"],
    "team-death": ["--members", "3", "--deaths", "2"],
    "graph-tasks": ["--quick"],
    "graph-compile": ["--quick"],
    "graph-sweep": ["--quick"],
    "graph-balance": ["--quick"],
    "graph-overset": ["--quick"],
    "transport-update": ["--quick"],
}
STAR = ("stream", "dgemm", "hpl", "peak", "clock")
FIGURES = {
    "stream": {"copy": "GB/s", "scale": "GB/s", "add": "GB/s", "triad": "GB/s"},
    "dgemm": {"dgemm": "GF/s"},
    "hpl": {"hpl": "GF/s", "dgemm": "GF/s"},
    "peak": {"peak": "GF/s"},
    "cache-bandwidth": {"L1 load": "GB/s"},
    "latency": {"memory latency, 4 KiB pages": "ns"},
    "lines": {"round trip": "ns"},
    "domains": {"latency": "ns", "bandwidth": "GB/s"},
    "noise": {"largest loss": "%", "longest interruption": "us"},
    "pages": {"sweep": "ms", "bandwidth": "GB/s"},
    "cycles": {"longest over shortest": "ppm", "median run": "us"},
    "clock": {"sustained clock": "GHz", "clock at the start": "GHz", "arithmetic": "GF/s"},
    "stencil": {"cell updates": "Mcell/s", "time a step": "ms"},
    "team-barrier": {"barrier": "ns"},
    "team-flag": {"flag": "ns"},
    "team-read": {"read": "GB/s"},
    "team-switch": {"switch": "us"},
    "team-death": {"told": "us", "all told": "us", "all told, at worst": "us"},
    "graph-tasks": {"empty task": "ns", "task": "ns", "declared, empty task": "ns", "declared, task": "ns"},
    "graph-compile": {"compile": "ms", "each (task, patch)": "us"},
    "graph-sweep": {"cells": "Mcell/s", "cells, one thread": "Mcell/s", "efficiency": "% of ideal"},
    "graph-balance": {
        "ideal / step, patches at rest": "% of ideal",
        "ideal / step, patches moved": "% of ideal",
        "step": "ms",
        "all even, with looks at costs": "% of without",
    },
    # What following adds is a difference: noise may hide it here.
    "graph-overset": {"step": "ms", "cell and stage": "ns", "arithmetic": "GF/s"},
    "transport-update": {
        "update": "GB/s",
        "triad": "GB/s",
        "plain loop": "GB/s",
        "cells": "Mcell/s",
        "runtime share": "%",
    },
}


ALONE, RANKS, MPIRUN = program("strata-bench"), program("strata-bench-mpi"), shutil.which("mpirun")
GRAPH = program("strata-bench-graph")
CORES = len(os.sched_getaffinity(0))

pytestmark = pytest.mark.skipif(ALONE is None, reason="no strata-bench: STRATA_BIN does not say where it is")


def bench(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(GRAPH if words[0].startswith(("team-", "graph-", "transport-")) else ALONE), *words],
        capture_output=True,
        text=True,
        timeout=170,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )


def possible(name: str) -> None:
    if name in ("lines", "team-flag", "team-read", "team-switch") and CORES < 2:
        pytest.skip("one core")
    if name in ("dgemm", "hpl") and OPENBLAS is None:
        pytest.skip("no OpenBLAS")
    needs_solvers(name)


def result_of(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text()))


def test_without_a_systems_openblas_its_own_choice_is_that_of_stratas(tmp_path: Path) -> None:
    possible("dgemm")
    file = tmp_path / "result.json"
    done = bench("dgemm", *TINY["dgemm"][:4], "--own-choice", "--json", str(file), OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    assert "openblas" in result_of(file)["provenance"]["blas"]["path"]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", list(TINY))
def test_it_verifies_and_its_result_is_that_of_the_schema(name: str, threads: int, tmp_path: Path) -> None:
    possible(name)
    if threads > CORES:
        pytest.skip("one core")
    file = tmp_path / "result.json"
    done = bench(name, *TINY[name], "--json", str(file), OMP_NUM_THREADS=str(threads))
    assert done.returncode == 0, done.stdout + done.stderr
    result = result_of(file)
    assert (result["schema"], result["benchmark"]) == ("strata.result/1", name)
    assert (result["processes"], result["threads"]) == (1, threads)
    assert result["verified"] is True
    assert result["verification"]["value"] <= result["verification"]["limit"]
    assert result["wall_s"] > 0
    assert result["provenance"]["compiler"]
    assert result["provenance"]["isa"]
    figures = {f["name"]: f for f in result["figures"]}
    for figure, unit in FIGURES[name].items():
        assert figures[figure]["unit"] == unit
        assert figures[figure]["value"] > 0
        assert figures[figure]["better"] == ("lower" if unit in ("ns", "us", "ms", "%", "ppm") else "higher")
        assert figure in done.stdout
    for curve in result["curves"]:
        assert all(y >= 0 for _, y in curve["points"])
    for matrix in result["matrices"]:
        assert len(matrix["values"]) == len(matrix["rows"])
        assert all(len(row) == len(matrix["columns"]) for row in matrix["values"])
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("fault", ["skip", "perturb"])
@pytest.mark.parametrize("name", list(TINY))
def test_a_broken_kernel_gets_no_figure(name: str, fault: str, tmp_path: Path) -> None:
    possible(name)
    file = tmp_path / "result.json"
    done = bench(name, *TINY[name], "--break", fault, "--json", str(file))
    assert done.returncode == 1
    assert "NOT VERIFIED" in done.stdout
    result = result_of(file)
    assert result["verified"] is False
    assert result["figures"] == result["curves"] == result["matrices"] == []


@pytest.mark.skipif(RANKS is None or MPIRUN is None, reason="no MPI")
@pytest.mark.parametrize("processes", [2, 4])
@pytest.mark.parametrize("name", STAR)
def test_all_processes_at_once_are_one_result(name: str, processes: int, tmp_path: Path) -> None:
    possible(name)
    version = subprocess.run([str(MPIRUN), "--version"], capture_output=True, text=True).stdout
    more = ["--allow-run-as-root", "--oversubscribe"] if "Open MPI" in version else []
    file = tmp_path / "result.json"
    start = [str(MPIRUN), *more, "-n", str(processes), str(RANKS)]
    done = subprocess.run(
        [*start, name, *TINY[name], "--json", str(file)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = result_of(file)
    assert result["verified"] is True
    assert result["processes"] == processes
    assert done.stdout.count("verified") == 1  # one of them speaks for all


@pytest.mark.skipif(RANKS is None or MPIRUN is None, reason="no MPI")
@pytest.mark.parametrize("name", ["latency", "lines", "noise"])
def test_what_one_process_measures_refuses_several(name: str) -> None:
    version = subprocess.run([str(MPIRUN), "--version"], capture_output=True, text=True).stdout
    more = ["--allow-run-as-root", "--oversubscribe"] if "Open MPI" in version else []
    done = subprocess.run(
        [str(MPIRUN), *more, "-n", "2", str(RANKS), name, *TINY[name]],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.count("strata: error:") == 1
    assert "one process" in done.stderr


@pytest.mark.parametrize("name", list(TINY))
def test_every_benchmark_is_listed_and_has_a_help_page(name: str) -> None:
    needs_solvers(name)
    assert name in {line.split()[0] for line in bench("--list").stdout.splitlines()}
    shown = bench(name, "--help")
    assert shown.returncode == 0
    assert "--json" in shown.stdout
    assert "--quick" in shown.stdout
    assert "--break" not in shown.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["streem"], "strata bench stream"),
        (["stream", "--aray", "1MiB"], "--array"),
        (["stream", "--array", "lots"], "lots"),
        (["stream", "--array", "100TiB"], "memory"),
        (["stream", "--hpcc-size", "--quick"], "one of them"),
        (["stream", "--stores", "cached,best"], "copy,scale,add,triad"),
        (["stream", "--stores", "cached,cached,cached,cached,cached"], "copy,scale,add,triad"),
        (["dgemm", "--n", "0"], "0"),
        (["dgemm", "--blas", "/nowhere/libblas.so"], "/nowhere/libblas.so"),
        (["latency", "--pages", "enormous"], "small"),
        (["latency", "--largest", "1KiB"], "16 KiB"),
        (["noise", "--duration", "0"], "duration"),
        (["domains", "--array", "1KiB"], "2 MiB"),
        (["lines", "--rounds", "1"], "--rounds"),
        (["clock", "--load", "heavy"], "scalar"),
        (["clock", "--seconds", "0"], "50ms"),
        (["stencil", "--n", "0"], "1"),
        (["stencil", "--n", "8", "--cells-per-core", "8"], "--cells-per-core"),
        (["stencil", "--n", "8000"], "memory"),
        (["stencil", "--steps", "0"], "--steps"),
        (["team-barrier", "--members", "1"], "--members"),
        (["team-barrier", "--kind", "mpi"], "pthread"),
        (["team-read", "--size", "100"], "4 KiB"),
    ],
)
def test_bad_input_gets_one_message_that_says_what_to_do(words: list[str], said: str) -> None:
    done = bench(*words)
    assert done.returncode in (1, 2)
    assert done.stderr.count("strata: error:") == 1
    assert said in done.stderr
    assert "terminate" not in done.stderr
    assert done.stdout == ""


def test_a_benchmark_that_fails_late_says_how_long_it_took_and_then_the_error() -> None:
    late = ["sh", "-c", 'sleep 1.1; exec "$@"', "sh", str(ALONE), "stream"]
    done = subprocess.run([*late, "--array", "100TiB"], capture_output=True, text=True, timeout=60)
    took, error, *_ = done.stderr.splitlines()
    assert re.match(r"in all \d", took) and error.startswith("strata: error: ")
    done = subprocess.run([*late, "--array", "lots"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stderr.startswith("strata: error: ")


@pytest.mark.skipif(RANKS is None or MPIRUN is None, reason="no MPI, or no front")
def test_under_an_mpi_the_message_is_the_last_that_is_said() -> None:
    done = subprocess.run(
        [str(front()), "bench", "pingpong", "--layout", "2x1", "--bind", "none", "--window", "9"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("strata: error: unknown option") == 1
    version = subprocess.run([str(MPIRUN), "--version"], capture_output=True, text=True).stdout
    if "(Open MPI) 5" in version:
        pytest.skip("Open MPI 5's launcher cannot be told to be quiet")
    assert done.stderr.splitlines()[-1] == "  try: strata bench pingpong --help"


def test_stream_as_hpcc_sizes_it_fills_the_memory_or_is_refused(tmp_path: Path) -> None:
    def limited(limit: str, *words: str) -> subprocess.CompletedProcess[str]:
        held = [str(front()), "launch", "--memory-limit", limit, "--", str(ALONE), "stream", "--hpcc-size"]
        return subprocess.run([*held, *words], capture_output=True, text=True, timeout=60)

    file = tmp_path / "result.json"
    done = limited("256MiB", "--trials", "1", "--json", str(file))
    if done.returncode != 0 and "--memory-limit" in done.stderr:
        pytest.skip("no control group may be made here")
    assert done.returncode == 0, done.stderr
    known = json.loads(file.read_text())["parameters"]
    # sqrt(0.8 x 2^25) = 5181, and 5120 is the next multiple of 160 below.
    assert known["hpl order"] == 5120 and known["array"] == 8 * (5120**2 // 3)
    # The program itself takes more than the tenth of such a memory that would have to be left.
    refused = limited("16MiB")
    assert refused.returncode == 1 and "sized from memory" in refused.stderr
    assert "given: 12.5 MiB" in refused.stderr and "allowed:" in refused.stderr and not refused.stdout


def test_quick_stream_outsizes_the_caches_and_its_stores_can_be_chosen_once(tmp_path: Path) -> None:
    """Its three arrays together have four times the last-level cache, where STREAM's rule asks it of each."""

    def parameters(*words: str) -> dict[str, Any]:
        file = tmp_path / "result.json"
        assert bench("stream", *words, "--json", str(file)).returncode == 0
        return dict(json.loads(file.read_text())["parameters"])

    chosen = parameters("--quick", "--stores", "cached,cached,cached,cached")
    assert chosen["trials"] == 2 and chosen["stores"] == "cached,cached,cached,cached"
    given = parameters("--array", "1MiB", "--trials", "1")
    assert set(given["stores"].split(",")) <= {"cached", "streaming"} and given["trials"] == 1
    again = parameters("--array", "1MiB", "--stores", given["stores"])
    assert again["stores"] == given["stores"] and again["trials"] == 10
    described = subprocess.run([str(front()), "machine", "--json"], capture_output=True, check=True).stdout
    caches = json.loads(described)["caches"]
    last = max(c["level"] for c in caches)
    cache = sum(c["size_bytes"] for c in caches if c["level"] == last)
    assert abs(3 * chosen["array"] - 4 * cache) < 1000


def test_one_core_is_told_that_a_line_needs_two() -> None:
    done = bench("lines", STRATA_CPUS=str(min(os.sched_getaffinity(0))))
    assert done.returncode == 1
    assert "two cores" in done.stderr


def test_a_result_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    done = bench("peak", "--quick", "--json", str(tmp_path / "no" / "result.json"))
    assert done.returncode == 1
    assert "cannot be written" in done.stderr


def test_a_full_disk_leaves_no_half_written_result(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    # No file may have a byte, and its signal is not sent: as on a disk without space.
    script = 'ulimit -f 0; trap "" XFSZ; exec "$@"'
    words = ["sh", "-c", script, "sh", str(ALONE), "peak", "--quick", "--json", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=170)
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_no_result_is_written_to_where_a_link_leads(tmp_path: Path) -> None:
    """One that another user has put at a name that can be foreseen."""
    file, secret = tmp_path / "result.json", tmp_path / "secret"
    secret.write_text("secret")
    (tmp_path / "result.json.tmp").symlink_to(secret)
    assert bench("peak", "--quick", "--json", str(file)).returncode == 0
    assert secret.read_text() == "secret" and result_of(file) and not file.is_symlink()


def test_json_alone_can_go_to_standard_output() -> None:
    done = bench("peak", "--quick", "--json", "-")
    assert json.loads(done.stdout)["benchmark"] == "peak"


def test_the_latency_staircase_rises(tmp_path: Path) -> None:
    """No time is judged: a load from memory is slower than one from the first cache on any machine."""
    file = tmp_path / "result.json"
    done = bench("latency", "--quick", "--largest", "128MiB", "--pages", "small", "--json", str(file))
    assert done.returncode == 0, done.stderr
    points = result_of(file)["curves"][0]["points"]
    assert points[0][0] == 16 * 1024
    assert points[-1][0] == 128 * 1024 * 1024
    assert points[-1][1] > 2 * points[0][1]


def test_noise_is_reported_for_every_core_it_may_use(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    assert bench("noise", *TINY["noise"], "--samples", "--json", str(file)).returncode == 0
    curves = {c["name"]: c for c in result_of(file)["curves"]}
    lost = curves["lost to other work"]
    assert {int(x) for x, _ in lost["points"]} <= set(os.sched_getaffinity(0))
    assert len(lost["points"]) == result_of(file)["parameters"]["cores"]
    assert all(f"quanta over time, PU {int(x)}" in curves for x, _ in lost["points"])


@pytest.mark.parametrize("load", ["vector", "scalar", "idle"])
def test_the_clock_is_read_over_all_the_time_under_any_load(load: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    for _ in range(5):  # beside other load it may not run at all for a part of the time
        done = bench("clock", "--load", load, "--seconds", "200ms", "--json", str(file))
        assert done.returncode == 0, done.stdout + done.stderr
        result = result_of(file)
        (curve,) = result["curves"]
        times = [x for x, _ in curve["points"]]
        assert times == sorted(times)
        if times[0] < 0.03 and times[-1] > 0.17:
            break
    else:
        pytest.fail(f"never read from the start to the end: {times}")
    figures = {f["name"]: f for f in result["figures"]}
    assert set(figures) == {"sustained clock", "clock at the start", "drop"} | (
        {"arithmetic"} if load == "vector" else set()
    )
    clocks = [figures[name]["value"] for name in ("sustained clock", "clock at the start")]
    assert all(0.3 <= ghz <= 8 for ghz in clocks)
    assert (figures["drop"]["unit"], figures["drop"]["better"]) == ("%", "lower")
    assert figures["drop"]["value"] == pytest.approx(100 * (1 - clocks[0] / clocks[1]), abs=1e-6)
    assert any("addition" in note and "cycle" in note for note in result["notes"])


@pytest.mark.parametrize("fault", ["skip", "perturb"])
@pytest.mark.parametrize("load", ["scalar", "idle"])
def test_a_broken_chain_or_load_gets_no_clock(load: str, fault: str) -> None:
    done = bench("clock", "--load", load, "--seconds", "60ms", "--break", fault)
    assert done.returncode == 1
    assert "NOT VERIFIED" in done.stdout
    assert "sustained clock" not in done.stdout


def processor_ticks(pid: int) -> int:
    """How long it has computed, in hundredths of a second."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


@pytest.mark.skipif(CORES < 2, reason="one core")
def test_a_busy_neighbour_is_seen_as_noise(tmp_path: Path) -> None:
    """The core that it shares with a neighbour loses at least a tenth; fair shares would be a half."""
    core = max(os.sched_getaffinity(0))
    neighbour = subprocess.Popen(["taskset", "-c", str(core), "sh", "-c", "while :; do :; done"])
    try:
        while processor_ticks(neighbour.pid) < 1:
            time.sleep(0.01)
        file = tmp_path / "result.json"
        assert bench("noise", "--duration", "500ms", "--json", str(file)).returncode == 0
        lost = dict(result_of(file)["curves"][0]["points"])
        assert lost[core] > 10
    finally:
        neighbour.kill()
        neighbour.wait()


@pytest.mark.skipif(RANKS is None or MPIRUN is None, reason="no MPI")
def test_ranks_die_with_what_started_them() -> None:
    """Also when it is killed without a chance to say so."""
    parent = subprocess.Popen(
        ["sh", "-c", f'"{RANKS}" noise --duration 60s & echo $!; wait'], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    rank = int(parent.stdout.readline())
    while processor_ticks(rank) < 10:  # it measures
        time.sleep(0.05)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    for _ in range(100):
        if not Path(f"/proc/{rank}").exists() or Path(f"/proc/{rank}/stat").read_text().split()[2] == "Z":
            return
        time.sleep(0.05)
    os.kill(rank, signal.SIGKILL)
    pytest.fail("the rank outlived its parent")
