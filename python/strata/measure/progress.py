"""Progress that does not disturb what it reports on.

On a terminal one line is redrawn at most twice a second with a single short write (about 20 us; a thread that
animates a bar would be a neighbour of the measured program), and a second one below it counts disturbed
launches. Elsewhere each is a plain line, at most every half minute.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from strata.errors import StrataError
from strata.measure.disturbances import Count
from strata.measure.plan import Task
from strata.measure.store import Sample

_PLAIN_EVERY_S = 30.0


def duration(seconds: float) -> str:
    """'45 s', '3 min 20 s', '2 h 5 min'."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def seconds(text: str, at: str = "--budget") -> float:
    """'90', '90s', '5m' or '1h' in seconds. Raises StrataError, with the option `at`, for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|)", text.strip())
    value = (
        float(match.group(1)) * {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}[match.group(2)] if match else 0
    )
    if value <= 0:
        raise StrataError("not a time", at=at, given=text, allowed="for example 90s, 5m or 1h")
    return value


@dataclass(frozen=True)
class Step:
    """Where a measurement is: what is done, its place among all that is to do, and the time that is left."""

    doing: str  # "measuring"
    place: str  # "4 of 33, round 2 of 6"
    remaining_s: float


Words = Callable[[Task], str]


def by_name(task: Task) -> str:
    """A task's words where nobody knows better ones."""
    return task.id


class Progress:
    """Watches a campaign and says where it is and how long it still takes. `words` says what a task is."""

    def __init__(self, stream: TextIO | None = None, words: Words = by_name) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._words = words
        self._live = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._line = ""
        self._ends = 0.0
        self._drawn = -_PLAIN_EVERY_S
        self._last_wait = ""
        self._count = Count()
        self._counted = 0  # disturbed launches when they were last told
        self._told = -_PLAIN_EVERY_S
        self._failures: set[str] = set()

    def begin(self, task: Task, step: Step) -> None:
        self._ends = time.monotonic() + step.remaining_s
        self._line = f"{step.doing} {self._words(task)} ({step.place})"
        self._last_wait = ""
        self._tell_disturbed()
        now = time.monotonic()
        if self._live or now - self._drawn >= _PLAIN_EVERY_S:
            self._draw()

    def tick(self) -> None:
        if self._live:
            self._draw()

    def ended(self, task: Task, sample: Sample) -> None:
        if sample.failed:
            why = f"failed: {self._words(task)}: {sample.failed.splitlines()[0][:200]}"
            if why not in self._failures:  # each is counted; the end of the run says how often
                self._failures.add(why)
                self.say(why)
        self.count(sample)

    def count(self, sample: Sample) -> None:
        """Counts a launch that has ended, and what disturbed it; a warm-up never counts."""
        if sample.block > 0:
            self._count.add(sample.tainted)
            self._tell_disturbed()

    def say(self, text: str) -> None:
        self._clear()
        self._stream.write(text + "\n")
        self._stream.flush()

    def wait(self, text: str) -> None:
        if self._live:
            self._write(text)
        elif self._last_wait == "":
            self.say(text)
        self._last_wait = text

    def close(self) -> None:
        self._clear()

    def _tell_disturbed(self) -> None:
        """Without a terminal, how many launches were disturbed, when it grew and half a minute is over."""
        now = time.monotonic()
        if self._live or self._count.disturbed == self._counted or now - self._told < _PLAIN_EVERY_S:
            return
        self._counted, self._told = self._count.disturbed, now
        self.say(self._count.text())

    def _draw(self) -> None:
        left = f"about {duration(self._ends - time.monotonic())} left"
        self._drawn = time.monotonic()
        if self._live:
            self._write(self._line, f"; {left}")
        else:
            self.say(f"{self._line}; {left}")

    def _write(self, text: str, end: str = "") -> None:
        """Draws the line, cut so that its end fits, and the count of disturbed launches below it."""
        width = shutil.get_terminal_size().columns - 1
        lines = [_cut(text, width - len(end)) + end]
        if self._count.disturbed:
            lines.append(_cut(self._count.text(), width))
        self._stream.write(_ERASE + "\n".join(lines) + _UP * (len(lines) - 1) + "\r")
        self._stream.flush()

    def _clear(self) -> None:
        if self._live:
            self._stream.write(_ERASE)
            self._stream.flush()


_ERASE = "\r\x1b[J"  # from the beginning of this line to the end of the screen
_UP = "\x1b[A"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - 3)] + "..."
