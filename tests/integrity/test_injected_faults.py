"""Claims about detection: flipped bits in registers and memory of a worker are found, so are stuck lanes.

What the injector itself says is tried on a worker whose check is known.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from faults import PAIRS, Summary, binomial, built, inject, kernels, worker

CORE = max(os.sched_getaffinity(0)) if sys.platform == "linux" else 0
pytestmark = pytest.mark.skipif(
    built("integrity_inject") is None or built("strata-integrity") is None,
    reason="the injector is for x86-64, where it was built",
)


def at_least(found: Summary, rate: float) -> None:
    """That the sample shows the rate: of a worker that finds less, one sample in 40 has as many found. All of
    36 show nine tenths.
    """
    assert found.interval[0] >= rate, [f.line for f in found.faults if f.verdict == "missed"] or found.used


@pytest.mark.parametrize("sides", ["one", "pair"])
def test_what_is_not_checked_is_not_found(sides: str) -> None:
    by_checked = {}
    for checked in ("all", "half", "nothing"):
        words = [str(built("known_worker")), checked, *(["pair"] if sides == "pair" else [])]
        # Of 16 faults none is in one of two halves once in 30,000 runs.
        used = "16" if checked == "half" else "8"
        by_checked[checked] = inject(words, "--count", "100", "--places", "memory", "--used", used)
    # A flip in what leads the worker, not in its words, may make it hang or crash instead, or check less.
    assert by_checked["all"].count("found") >= 7 and by_checked["all"].count("found", "check") >= 6
    assert by_checked["half"].count("missed") > 0 and by_checked["half"].count("found", "check") > 0
    assert by_checked["nothing"].count("found", "check") == 0 and by_checked["nothing"].count("missed") >= 6
    for each in by_checked.values():
        assert each.count("masked", "unread") > 0  # what the worker never uses


def test_a_worker_that_misses_one_fault_in_five_is_told_from_one_that_finds_nine_in_ten() -> None:
    """All 40 are found once in 7,000 runs."""
    words = [str(built("known_worker")), "most"]
    found = inject(words, "--count", "400", "--places", "memory", "--used", "40")
    assert found.count("missed") > 0 and found.count("found", "check") > 0
    with pytest.raises(AssertionError):
        at_least(found, 0.9)


# The kernel for two cores takes longest; its sample shows less.
@pytest.mark.parametrize(
    ("kernel", "used", "rate"), [("hash", 40, 0.9), ("avx2", 40, 0.9), ("atomics", 20, 0.8)]
)
def test_a_sample_of_flips(kernel: str, used: int, rate: float) -> None:
    if kernel in PAIRS and kernel not in kernels():
        pytest.skip("there is no second core")
    found = inject(worker(kernel, CORE), "--count", str(20 * used), "--used", str(used))
    assert found.used == used
    at_least(found, rate)


def test_a_stuck_lane_is_found_within_a_round() -> None:
    found = inject(worker("avx2", CORE), "--stuck", "--count", "6", "--steps", "200")
    assert found.used >= 3
    assert found.count("missed") == 0, [f.line for f in found.faults if f.verdict == "missed"]
    assert all(f.rounds == 1 for f in found.faults)


def wait_for_worker(program: int) -> None:
    until = time.monotonic() + 30
    children = Path(f"/proc/{program}/task/{program}/children")
    while time.monotonic() < until:
        for child in children.read_text().split():
            if int(Path(f"/proc/{child}/schedstat").read_text().split()[0]) > 1e8:
                return
        time.sleep(0.05)
    raise AssertionError("no worker works")


def test_a_flip_in_memory_comes_out_as_a_finding(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with said.open("w") as file:
        program = subprocess.Popen([*worker("march", CORE, "64MiB"), "--seed", "3"], stdout=file)
    try:
        wait_for_worker(program.pid)
        inject_once = [str(built("integrity_inject")), "once", str(program.pid), "--watch", "5", "--seed"]
        for number in range(40):  # some are overwritten before they are read
            subprocess.run([*inject_once, str(number)], check=True, capture_output=True, timeout=60)
            time.sleep(0.5)
            if '"suspect"' in said.read_text():
                break
        until = time.monotonic() + 60  # the suspect is asked again before it is a finding
        while '"finding"' not in said.read_text() and time.monotonic() < until:
            time.sleep(0.1)
        program.terminate()
        assert program.wait(60) == 1
    finally:
        program.kill()
        program.wait()
    findings = [e for e in map(json.loads, said.read_text().splitlines()) if e["event"] == "finding"]
    assert findings and findings[0]["kernel"] == "march" and findings[0]["core"] == CORE
    assert findings[0]["verdict"] == "not repeated"  # the memory is sound: its next contents are right


@pytest.mark.parametrize(
    ("found", "of", "low", "high"),
    [(0, 10, 0.0, 0.3085), (10, 10, 0.6915, 1.0), (8, 10, 0.4439, 0.9748), (990, 1000, 0.9817, 0.9952)],
)
def test_intervals(found: int, of: int, low: float, high: float) -> None:
    assert binomial(found, of) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.soak
@pytest.mark.parametrize("kernel", kernels() if built("strata-integrity") else [])
def test_many_flips(kernel: str) -> None:
    """At least 99 %; a slow kernel has some hundred faults in its time, which show 97 %."""
    found = inject(worker(kernel, CORE), "--count", "2000", "--seconds", "1200", timeout=3600)
    at_least(found, 0.97)
    assert found.rate >= 0.99, [f.line for f in found.faults if f.verdict == "missed"]
