"""Claims about progress: plain lines where nobody watches live, one line on a terminal, and never more than
it may cost.
"""

from __future__ import annotations

import io

import pytest
from fakes import busy_record, task

from strata.measure import progress
from strata.measure.progress import Progress, duration
from strata.measure.store import Sample
from strata.measure.taint import Limits, judge


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(progress.time, "monotonic", lambda: self.now)


def test_elsewhere_a_plain_line_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, out = Clock(monkeypatch), io.StringIO()
    shown = Progress(out)
    for n in range(20):
        shown.begin(task("stream"), "block 1", n, 20, 20.0 - n)
        shown.tick()
        clock.now += 1.0
    lines = out.getvalue().splitlines()
    assert len(lines) == 4 and "\r" not in out.getvalue()
    assert lines[0] == "[ 0/20]   0%  block 1: stream/1x1/core/s1  (about 20 s left)"


def test_on_a_terminal_one_line_is_redrawn_and_fits_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    clock, out = Clock(monkeypatch), Terminal()
    shown = Progress(out)
    shown.begin(task("stream"), "block 1", 3, 20, 100.0)
    clock.now += 10.0
    shown.tick()
    drawn = out.getvalue().split("\r")[1:]
    assert len(drawn) == 2 and all(len(line) == 39 for line in drawn) and "\n" not in out.getvalue()


def test_a_disturbed_launch_is_said_with_its_reasons() -> None:
    out = io.StringIO()
    reasons = tuple(r.to_dict() for r in judge(busy_record(), Limits()))
    Progress(out).ended(task("stream"), Sample("t", 1, 0, "", busy_record(), None, reasons, None, {}))
    assert "disturbed: stream/1x1/core/s1: 50.0% of its CPUs used by others" in out.getvalue()
    assert "repeated" in out.getvalue()


def test_on_a_machine_that_is_never_quiet_the_list_ends() -> None:
    out = io.StringIO()
    shown = Progress(out)
    reasons = tuple(r.to_dict() for r in judge(busy_record(), Limits()))
    for _ in range(100):
        shown.ended(task("stream"), Sample("t", 1, 0, "", busy_record(), None, reasons, None, {}))
    lines = out.getvalue().splitlines()
    assert len(lines) == 13 and "further disturbed launches are counted" in lines[-1]


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
