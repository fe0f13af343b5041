"""`strata run --counters`: what tasks do, simulated or measured, and how it fails."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import shutil
import struct
from pathlib import Path

import pytest
from solver_cases import changed

CELLS = 48**3  # of each step: no patch with its neighbours fits into a first-level cache


@pytest.fixture
def case(tmp_path) -> Path:
    return changed(tmp_path, "heat", cells="[48, 48, 48]")


def simulated(run, case: Path, out: Path, layout: str, *words: str) -> dict:
    done = run(
        case, "--steps", 4, "--counters", "simulated", "--out", out, *words, layout=layout, check=False
    )
    if "valgrind was not found when it was made" in done.stderr or "needs valgrind" in done.stderr:
        pytest.skip(done.stderr.splitlines()[0])
    assert done.returncode == 0, done.stderr
    assert "counts simulated by callgrind" in done.stdout
    assert done.stderr == ""  # nothing of valgrind's own
    result = json.loads((out / "result.json").read_text())
    assert result["figures"] == []  # times of a simulation are not the machine's
    assert any("times are those of the simulation" in note for note in result["notes"])
    return result["counters"]


@pytest.mark.parametrize("layout", ["1x1", "2x1", "1x2"])
def test_simulated_counts_say_what_each_task_did(run, case, tmp_path, layout):
    counters = simulated(run, case, tmp_path / "out", layout)
    assert counters["mode"] == "simulated"
    assert "D1 cache:" in counters["from"]
    tasks = {row["name"]: row for row in counters["rows"] if row["kind"] == "task"}
    most = max(tasks.values(), key=lambda row: row["events"]["instructions"])
    assert most["values"] == pytest.approx(4 * CELLS)
    per_cell = {event: value / most["values"] for event, value in most["events"].items()}
    assert 2 < per_cell["instructions"] < 200
    # One value is written for each cell, 1/8 of a line; its row and the four beside it are read, of which
    # three planes do not stay in the cache: at most 6/8, and some that others threw out.
    assert 0.8 / 8 < per_cell["D1 read misses"] + per_cell["D1 write misses"] < 1
    assert per_cell["LL write misses"] <= per_cell["D1 write misses"]
    copies = [row for row in counters["rows"] if row["kind"] == "copy"]
    assert bool(copies) == (layout == "2x1")  # from process to process, and in one process none
    assert all(row["events"]["instructions"] > 0 for row in copies)


def test_a_profile_has_the_counts_of_its_tasks(run, case, tmp_path):
    counters = simulated(run, case, tmp_path / "out", "1x1", "--profile")
    profile = json.loads((tmp_path / "out" / "profile.json").read_text())
    assert profile["counters"] == "simulated"
    assert profile["counters_from"] == counters["from"]
    counted = {row["name"]: row for row in profile["rows"] if row["kind"] == "task"}
    for row in counters["rows"]:
        if row["kind"] == "task":
            assert counted[row["name"]]["counters"] == row["events"]
            assert counted[row["name"]]["counted_calls"] == row["calls"]


def kernel_counts() -> bool:
    """Whether the kernel counts this process's instructions (perf_event_open, x86-64 and 64-bit Arm)."""
    number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
    kind, size, instructions, no_kernel_nor_hypervisor = 0, 112, 1, 0b1100000
    what = struct.pack("<IIQQQQQ", kind, size, instructions, 0, 0, 0, no_kernel_nor_hypervisor)
    libc = ctypes.CDLL(None, use_errno=True)
    event = libc.syscall(number, ctypes.create_string_buffer(what.ljust(size, b"\0")), 0, -1, -1, 0)
    if event < 0:
        return False
    try:
        return int.from_bytes(os.read(event, 8), "little") > 0
    finally:
        os.close(event)


def test_hardware_counts_what_each_task_did(run, case, tmp_path):
    if not kernel_counts():
        pytest.skip("the kernel counts no instructions here")
    run(case, "--steps", 4, "--counters", "hardware", "--out", tmp_path / "out")
    counters = json.loads((tmp_path / "out" / "result.json").read_text())["counters"]
    assert counters["mode"] == "measured"
    assert {row["kind"] for row in counters["rows"]} >= {"task"}
    assert all(row["events"]["PAPI_TOT_INS"] > 0 for row in counters["rows"])


def test_where_the_hardware_counts_nothing_one_line_says_so(run, case, tmp_path):
    if kernel_counts():
        pytest.skip("the kernel counts instructions here")
    done = run(case, "--steps", 4, "--counters", "hardware", "--out", tmp_path / "out", check=False)
    assert done.returncode == 2
    assert "hardware counters" in done.stderr.splitlines()[0]
    assert "--counters simulated" in done.stderr
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_counted_is_refused_before_anything_starts(run, case, tmp_path):
    done = run(case, "--counters", "papi", check=False)
    assert done.returncode == 2
    assert "hardware, hardware=EVENT,EVENT" in done.stderr
    folder = tmp_path / "bin"  # a PATH without valgrind
    folder.mkdir()
    environment = {**os.environ, "PATH": str(folder)}
    words = ("--counters", "simulated", "--out", tmp_path / "out")
    done = run(case, *words, check=False, env=environment)
    assert done.returncode == 127
    assert "valgrind" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind")
def test_nothing_of_callgrind_is_left_behind(run, case, tmp_path):
    before = {path.name for path in Path("/tmp").glob("vgdb-*")}
    simulated(run, case, tmp_path / "out", "1x1")
    assert not list(Path.cwd().glob("callgrind.out*"))
    assert {path.name for path in Path("/tmp").glob("vgdb-*")} <= before
