"""Claims about a whole characterization: it answers, it notices disturbance, and two of them never measure at
once.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from as_typed import NOTHING, TINY, TOLERANT, Strata


def summary(folder: Path) -> dict:
    return json.loads((folder / "summary.json").read_text())


def samples(folder: Path) -> list[dict]:
    lines = [
        line
        for path in sorted(folder.glob("journal/*.jsonl"))
        for line in path.read_text().rpartition("\n")[0].splitlines()  # the last may still be half-written
    ]
    return [entry for line in lines if (entry := json.loads(line))["schema"] == "strata.sample/1"]


def wait_for_samples(folder_of: Strata, count: int, timeout: float = 60) -> Path:
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        for folder in folder_of.folders():
            if (
                sum(path.read_bytes().count(b'"strata.sample/1"') for path in folder.glob("journal/*"))
                >= count
            ):
                return folder
        time.sleep(0.02)
    raise AssertionError(f"no {count} samples within {timeout} s")


def test_a_tiny_characterization_ends_with_intervals_and_a_report(strata: Strata, tolerant: Path) -> None:
    done = strata.run(*strata.characterize(case=tolerant))
    assert done.returncode == 0, done.stderr + done.stdout
    (folder,) = strata.folders()
    whole = summary(folder)
    assert whole["mode"] == "tiny" and whole["tasks"]
    for task in whole["tasks"]:
        assert task["undisturbed"] and task["verification"] is not None, task["id"]
        for figure in task["figures"]:
            assert figure["n"] == 6 and figure["min"] == figure["low"] <= figure["median"] <= figure["high"]
            assert figure["confidence"] == 0.96875 and len(figure["samples"]) == 6
    page = folder / "report" / "report.html"
    assert str(page) in done.stdout
    assert re.fullmatch(r"in all (\d+ min )?\d+ s", done.stderr.splitlines()[-1])
    text = page.read_text()
    assert "<svg" in text and not re.search(r'(src|href)="https?://[^"]*\.(js|css|png)', text)
    assert (folder / "report" / "report.md").read_text().startswith("#")
    assert not list(folder.rglob("*.tmp")) and not (folder / "work").exists()
    assert strata.left_behind() == NOTHING


BY_A_NEIGHBOUR = {"others", "elsewhere", "switches", "pressure"}


def by_a_neighbour(sample: dict) -> bool:
    return sample["block"] > 0 and not BY_A_NEIGHBOUR.isdisjoint(r["code"] for r in sample["tainted"])


@pytest.fixture
def busy():
    """Starts neighbours that keep every CPU busy; ends them at the latest with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> list[subprocess.Popen[bytes]]:
        for cpu in os.sched_getaffinity(0):
            code = f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nwhile True: pass"
            started.append(subprocess.Popen([sys.executable, "-c", code], start_new_session=True))
        return started[-len(os.sched_getaffinity(0)) :]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_neighbour_that_goes_away_is_shown_repeated_and_the_answer_is_undisturbed(
    strata: Strata, quiet_machine: None, busy
) -> None:
    running = strata.start(*strata.characterize())
    folder = wait_for_samples(strata, 6)
    # One that comes between two launches is waited for and disturbs none, so it comes until it met one.
    while running.poll() is None and not any(by_a_neighbour(s) for s in samples(folder)):
        neighbours = busy()
        time.sleep(1.0)
        for neighbour in neighbours:
            neighbour.send_signal(signal.SIGKILL)
            neighbour.wait()
        time.sleep(1.0)
    said, complained = running.communicate(timeout=120)
    assert running.returncode == 0, complained
    whole = summary(folder)
    assert whole["counts"]["tainted"] >= 1
    assert BY_A_NEIGHBOUR & set(whole["counts"]["reasons"])
    assert re.search(r"^disturbed:  [1-9]\d* of \d+ launches: ", said, re.M)
    assert re.search(r"^disturbed so far: [1-9]\d* of \d+ launches", complained, re.M)
    # Nothing dropped in silence: the disturbed launches are in the journal, and beside the figures.
    kept = samples(folder)
    assert sum(bool(s["tainted"]) for s in kept if s["block"] > 0) == whole["counts"]["tainted"]
    assert sum(len(t["figures"][0]["tainted_samples"]) for t in whole["tasks"] if t["figures"]) >= 1
    # Whatever else came by: launches were repeated until six needed no repeat, or the repeats (six as well)
    # were spent; and an answer is undisturbed exactly where six launches were.
    for task in whole["tasks"]:
        counted = [s for s in kept if s["task"] == task["id"] and s["block"] > 0]
        repeated = sum(bool(s.get("exceeds", s["tainted"])) for s in counted)
        assert len(counted) == 6 + repeated or repeated >= 6, task["id"]
        assert task["undisturbed"] == (sum(not s["tainted"] for s in counted) >= 6), task["id"]
        assert all(f["n"] >= 6 for f in task["figures"]), task["id"]
    assert "isturbed" in (folder / "report" / "report.md").read_text()


# (tests/python/measure has the rules of --strict, and its exit status.)
@pytest.mark.parametrize("strict", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_beside_a_neighbour_that_never_leaves_answers_are_graded_and_strict_ones_are_none(
    strata: Strata, busy, tmp_path: Path, strict: bool
) -> None:
    case = tmp_path / "one.toml"
    first = TINY.read_text().split("[[task]]")
    text = (
        "[[task]]".join(first[:2])
        .replace("repeats = 6", "repeats = 1")
        .replace("patience_s = 30", "patience_s = 1")
    )
    case.write_text(text)
    busy()
    done = strata.run(*strata.characterize(*["--strict"] * strict, case=case))
    (folder,) = strata.folders()
    (task,) = summary(folder)["tasks"]
    assert (folder / "report" / "report.html").exists()
    assert done.stdout.splitlines()[-1] == f"report:     {folder / 'report' / 'report.html'}"
    assert "other programs took" in summary(folder)["background"]["told"]
    if strict:
        assert done.returncode == 1 and "measured:   0 of 1 setting; not: " in done.stdout
        assert all(f["low"] is None for f in task["figures"])
    else:
        assert done.returncode == 0 and "1 of 1 answer marked disturbed" in done.stdout
        assert task["grade"] == "disturbed" and task["disturbed_by"]
        assert all(f["n"] >= 6 and f["low"] is not None for f in task["figures"])


def test_a_second_one_waits_and_launches_never_overlap(strata: Strata, tmp_path: Path) -> None:
    case = tmp_path / "one.toml"
    case.write_text("[[task]]".join(TINY.read_text().split("[[task]]")[:2]) + TOLERANT)
    first = strata.start(*strata.characterize("--new", case=case))
    wait_for_samples(strata, 1)
    second = strata.start(*strata.characterize("--new", case=case))
    for process in (first, second):
        _, complained = process.communicate(timeout=120)
        assert process.returncode == 0, complained
    assert "waiting: another strata measures here" in complained
    spans = []
    for folder in strata.folders():
        times = [s["time"] for s in samples(folder)]
        spans.append((min(times), max(times)))
    assert len(spans) == 2
    (a, b) = sorted(spans)
    assert a[1] < b[0]


def test_two_threads_pinned_to_one_core_by_hand_are_seen_in_the_read_back(strata: Strata) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    from strata import paths
    from strata.measure.plan import Task
    from strata.measure.runner import LaunchRunner
    from strata.measure.taint import Limits, judge

    front = Path(os.environ["STRATA_PREFIX"], "bin", "strata") if "STRATA_PREFIX" in os.environ else None
    native = paths.native({"STRATA_BIN": str(front)} if front else os.environ)
    cpu = min(os.sched_getaffinity(0))
    words = TINY_STREAM.split()
    strata.results.mkdir()
    runner = LaunchRunner([str(native.front)], native.programs, strata.results)
    by_hand = Task("x", "stream", ("/usr/bin/taskset", "-c", str(cpu), *words), "1x2", figures=("triad",))
    record = runner.run(by_hand, lambda: None).record
    assert record is not None and record["agrees"] is False and record["disagreement"]
    assert "placement" in {reason.code for reason in judge(record, Limits())}
    proper = Task("y", "stream", tuple(words), "1x2", figures=("triad",))
    # On a busy machine a launch may end before its threads were read at work.
    records = (runner.run(proper, lambda: None).record for _ in range(5))
    assert any(record is not None and record["agrees"] is True for record in records)


TINY_STREAM = "{strata-bench} stream --json {result}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["characterize", "--ful"], "--ful"),
        (["characterize", "--here", "--case", "/nonexistent.toml"], "/nonexistent.toml"),
        (["characterize", "--here", "--case", str(TINY), "--only", "strem"], "stream"),
        (["report", "/nonexistent"], "no such folder"),
        (["results", "/nonexistent"], "no such folder"),
    ],
)
def test_bad_input_gets_one_message_and_exit_2(strata: Strata, words: list[str], said: str) -> None:
    done = strata.run(*words)
    assert done.returncode == 2
    assert done.stderr.count("strata: error:") == 1 and said in done.stderr and "Traceback" not in done.stderr


def test_python_commands_explain_themselves_quickly(strata: Strata) -> None:
    done = strata.run("characterize", "--help")
    assert done.returncode == 0 and "examples:" in done.stdout
