"""Progress that does not disturb what it reports on.

On a terminal one line is redrawn at most twice a second with a single short write (about 20 us; a thread that
animates a bar would be a neighbour of the measured program). Elsewhere a plain line every few seconds.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from typing import TextIO

from strata.errors import StrataError
from strata.measure.plan import Task
from strata.measure.store import Sample

_PLAIN_EVERY_S = 5.0
_LISTED = 12  # disturbed launches told one by one; on a machine that is never quiet the rest is only counted


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


class Progress:
    """Watches a campaign and says where it is and how long it still takes."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._live = self._stream.isatty()
        self._line = ""
        self._ends = 0.0
        self._drawn = -_PLAIN_EVERY_S
        self._last_wait = ""
        self._disturbed = 0
        self._failures: set[str] = set()

    def begin(self, task: Task, block: str, done: int, total: int, remaining_s: float) -> None:
        share = done / total if total else 0.0
        self._ends = time.monotonic() + remaining_s
        self._line = f"[{done:>{len(str(total))}}/{total}] {share:4.0%}  {block}: {task.id}"
        self._last_wait = ""
        now = time.monotonic()
        if self._live or now - self._drawn >= _PLAIN_EVERY_S:
            self._draw()

    def tick(self) -> None:
        if self._live:
            self._draw()

    def ended(self, task: Task, sample: Sample) -> None:
        if sample.failed:
            why = f"failed: {task.id}: {sample.failed.splitlines()[0][:200]}"
            if why not in self._failures:  # each is counted; the end of the run says how often
                self._failures.add(why)
                self.say(why)
        elif sample.tainted:
            self._disturbed += 1
            if self._disturbed <= _LISTED:
                why = "; ".join(str(r["text"]) for r in sample.tainted[:2])
                after = "repeated" if not sample.steady else "no more than always"
                self.say(f"disturbed: {task.id}: {why}; kept, counted, {after}")
            if self._disturbed == _LISTED:
                self.say("further disturbed launches are counted; `strata results --samples TASK` lists them")

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

    def _draw(self) -> None:
        left = duration(self._ends - time.monotonic())
        text = f"{self._line}  (about {left} left)"
        self._drawn = time.monotonic()
        if self._live:
            self._write(text)
        else:
            self.say(text)

    def _write(self, text: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        self._stream.write("\r" + text[:width].ljust(width))
        self._stream.flush()

    def _clear(self) -> None:
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write("\r" + " " * width + "\r")
            self._stream.flush()
