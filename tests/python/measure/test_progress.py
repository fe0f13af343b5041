"""Claims about progress: plain lines where nobody watches live, one line on a terminal, and never more than
it may cost. Disturbed launches are one line that counts.
"""

from __future__ import annotations

import io
from typing import Any

import pytest
from fakes import busy_record, record, task

from strata.measure import progress
from strata.measure.progress import Progress, Step, duration
from strata.measure.store import Sample
from strata.measure.taint import Limits, judge


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(progress.time, "monotonic", lambda: self.now)


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever these tests are started from."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")


def step(n: int, of: int, left: float) -> Step:
    return Step("measuring", f"{n} of {of}, round 1 of 6", left)


def sample(launch: dict[str, Any], block: int = 1) -> Sample:
    reasons = tuple(r.to_dict() for r in judge(launch, Limits()))
    return Sample("t", block, 0, "", launch, None, reasons, None, {})


def screen(drawn: str) -> list[str]:
    """The lines that a terminal shows after it was sent this."""
    rows, at = [""], 0
    for part in drawn.replace("\x1b[J", "\0").replace("\x1b[A", "\1"):
        if part == "\0":
            rows = [*rows[:at], ""]
        elif part == "\1":
            at -= 1
        elif part == "\n":
            at += 1
            rows += [""] if at == len(rows) else []
        elif part != "\r":
            rows[at] += part
    return rows


def test_elsewhere_a_plain_line_each_half_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, out = Clock(monkeypatch), io.StringIO()
    shown = Progress(out)
    for n in range(20):
        shown.begin(task("stream"), step(n + 1, 20, 100.0 - 5 * n))
        shown.tick()
        clock.now += 5.0
    lines = out.getvalue().splitlines()
    assert len(lines) == 4 and "\r" not in out.getvalue()
    assert lines[0] == "measuring stream/1x1/core/s1 (1 of 20, round 1 of 6); about 1 min 40 s left"
    assert lines[3] == "measuring stream/1x1/core/s1 (19 of 20, round 1 of 6); about 10 s left"


def test_a_task_is_said_in_the_words_that_are_given() -> None:
    out = io.StringIO()
    shown = Progress(out, words=lambda t: f"memory bandwidth, {t.layout}")
    shown.begin(task("stream"), step(4, 33, 60.0))
    shown.ended(task("stream"), Sample("t", 1, 0, "", None, None, (), "exit code 1: lost", {}))
    assert out.getvalue().splitlines() == [
        "measuring memory bandwidth, 1x1 (4 of 33, round 1 of 6); about 1 min 0 s left",
        "failed: memory bandwidth, 1x1: exit code 1: lost",
    ]


def test_on_a_terminal_one_line_is_redrawn_and_keeps_the_time_left_within_the_width(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    clock, out = Clock(monkeypatch), Terminal()
    shown = Progress(out)
    shown.begin(task("stream"), step(3, 20, 100.0))
    clock.now += 10.0
    shown.tick()
    assert "\n" not in out.getvalue()
    (line,) = screen(out.getvalue())
    assert len(line) <= 39 and line.startswith("measuring") and line.endswith("...; about 1 min 30 s left")
    shown.close()
    assert screen(out.getvalue()) == [""]


def test_disturbed_launches_are_one_line_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, out = Clock(monkeypatch), io.StringIO()
    shown = Progress(out)
    for n in range(100):  # one of each second, for 200 s
        shown.ended(task("stream"), sample(busy_record() if n % 2 == 0 else record()))
        clock.now += 2.0
    lines = out.getvalue().splitlines()
    assert lines[0] == "disturbed so far: 1 of 1 launches: other programs took 50.0 % of its CPUs"
    counted = [int(line.split()[3]) for line in lines]
    assert len(lines) == 7 and counted == sorted(set(counted)), "each half minute, and only what grew"
    assert lines[-1].startswith("disturbed so far: 46 of 91 launches")


def test_a_count_that_did_not_grow_is_not_said_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, out = Clock(monkeypatch), io.StringIO()
    shown = Progress(out)
    shown.ended(task("stream"), sample(busy_record()))
    for _ in range(10):
        clock.now += 60.0
        shown.ended(task("stream"), sample(record()))
    assert len(out.getvalue().splitlines()) == 1


def test_on_a_terminal_the_count_of_disturbed_launches_moves_below_the_line() -> None:
    out = Terminal()
    shown = Progress(out)
    shown.begin(task("stream"), step(1, 20, 9.0))
    for n in range(5):
        shown.ended(task("stream"), sample(busy_record()))
        shown.begin(task("stream"), step(n + 2, 20, 9.0))
    assert screen(out.getvalue()) == [
        "measuring stream/1x1/core/s1 (6 of 20, round 1 of 6); about 9 s left",
        "disturbed so far: 5 of 5 launches: other programs took 50.0 % of its CPUs",
    ]
    shown.say("done")
    assert screen(out.getvalue())[:1] == ["done"]


def test_a_warm_up_is_never_counted_as_disturbed() -> None:
    out = io.StringIO()
    Progress(out).ended(task("stream"), sample(busy_record(), block=0))
    assert out.getvalue() == ""


def test_a_terminal_that_knows_no_cursor_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    out = Terminal()
    Progress(out).begin(task("stream"), step(1, 20, 9.0))
    assert out.getvalue() == "measuring stream/1x1/core/s1 (1 of 20, round 1 of 6); about 9 s left\n"


def test_a_failure_is_said_in_one_line() -> None:
    out = io.StringIO()
    Progress(out).ended(
        task("stream"), Sample("t", 1, 0, "", None, None, (), "exit code 1: lost\nmore\nmore", {})
    )
    assert out.getvalue() == "failed: stream/1x1/core/s1: exit code 1: lost\n"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (-3, "0 s")]
)
def test_durations_read_well(seconds: float, text: str) -> None:
    assert duration(seconds) == text
