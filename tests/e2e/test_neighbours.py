"""Claims about measuring beside real neighbours, who take part of every core from start to end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from as_typed import TINY, Strata

# Works for a part of each 20 ms, on one CPU.
DUTY = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
share, period = float(sys.argv[2]), 0.02
while True:
    end = time.monotonic() + share * period
    while time.monotonic() < end:
        pass
    time.sleep((1 - share) * period)
"""


@pytest.fixture
def neighbours() -> Iterator[Callable[[float], None]]:
    """Starts one on every CPU, in the same cgroup; ends them at the latest with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(share: float) -> None:
        for cpu in os.sched_getaffinity(0):
            started.append(subprocess.Popen([sys.executable, "-c", DUTY, str(cpu), str(share)]))
        time.sleep(0.2)

    yield start
    for process in started:
        process.kill()
        process.wait()


def summary(folder: Path) -> dict:
    return dict(json.loads((folder / "summary.json").read_text()))


def check_graded(whole: dict, said: str) -> None:
    """Everything that ran is answered, what is disturbed says so, and the last lines say it in words."""
    left_out = {e["task"] for e in whole["left_out"]}
    for task in whole["tasks"]:
        assert task["answered"] or task["id"] in left_out, task["id"]
        if task["grade"] == "disturbed":
            assert task["disturbed_by"] and all("calm" in f for f in task["figures"])
    disturbed, measured, report = said.splitlines()[-3:]
    good = sum(task["answered"] for task in whole["tasks"])
    assert disturbed.startswith("disturbed:  ") and report.startswith("report:     ")
    assert measured.startswith(f"measured:   {good} of {len(whole['tasks'])} settings")


def test_beside_neighbours_of_thirty_percent_every_answer_is_there_and_graded(
    strata: Strata, neighbours: Callable[[float], None], tmp_path: Path
) -> None:
    case = tmp_path / "tiny.toml"
    case.write_text(TINY.read_text().replace("patience_s = 30", "patience_s = 1"))
    neighbours(0.3)
    done = strata.run(*strata.characterize(case=case))
    assert done.returncode == 0, done.stderr
    (folder,) = strata.folders()
    whole = summary(folder)
    check_graded(whole, done.stdout)
    grades = [t["grade"] for t in whole["tasks"] if t["answered"]]
    # Not all need be: a run's own share of the CPUs keeps the neighbours off, and a short launch fits between
    # two turns of theirs.
    assert "disturbed" in grades
    assert all(t["figures"][0]["n"] >= 6 for t in whole["tasks"] if t["answered"])
    assert "other programs took" in whole["background"]["told"]


@pytest.mark.soak
@pytest.mark.parametrize("share", [0.05, 0.10, 0.30])
def test_the_quick_plan_ends_in_its_time_beside_neighbours(
    strata: Strata, neighbours: Callable[[float], None], share: float
) -> None:
    neighbours(share)
    began = time.monotonic()
    done = strata.run("characterize", "--here", timeout=600)
    took = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    (folder,) = strata.folders()
    whole = summary(folder)
    check_graded(whole, done.stdout)
    assert took <= 1.1 * 300, "a budget is a promise, kept to a tenth"
    six = [t for t in whole["tasks"] if t["figures"] and t["figures"][0]["n"] >= 6]
    assert len(six) >= len(whole["tasks"]) // 2
