"""What a pass shows while it runs: one line that is redrawn on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import shutil
import time
from typing import TextIO

from strata.advice.words import count
from strata.centre.integrity.history import Event
from strata.measure.progress import duration

_PLAIN_EVERY_S = 60.0


class Shown:
    """The line of a pass: how far it is, on what, and what was found."""

    def __init__(self, stream: TextIO, wanted_s: float | None) -> None:
        self._stream = stream
        self._wanted = wanted_s
        self._live = stream.isatty()
        self._drawn = time.monotonic()
        self._open = False

    def event(self, event: Event) -> None:
        if event["event"] == "start":
            cores = [c["core"] for c in event["cores"]]
            self.say(
                f"testing {count(len(cores), 'core')} ({_ranges(cores)}) by "
                f"{', '.join(map(kernel_name, event['kernels']))}; "
                f"{event['memory'] / (1 << 20):.0f} MiB of memory, seed {event['seed']}, {event['mode']}"
            )
            for one in event.get("left_out", []):
                self.say(f"left out: {one['kernel']}: {one['why']}")
        elif event["event"] == "progress":
            now = time.monotonic()
            if self._live or now - self._drawn >= _PLAIN_EVERY_S:
                self._drawn = now
                self._draw(line(event, self._wanted))
        elif event["event"] in ("killed", "given up"):
            self.say(f"core {event['core']}: its worker was {event['event']}")

    def say(self, text: str) -> None:
        self.end()
        print(text, file=self._stream, flush=True)

    def end(self) -> None:
        """Leaves what stands there alone."""
        if self._open:
            self._stream.write("\n")
            self._open = False

    def _draw(self, text: str) -> None:
        if self._live:
            self._stream.write("\r\033[K" + text[: shutil.get_terminal_size().columns - 1])
            self._open = True
        else:
            self._stream.write(text + "\n")
        self._stream.flush()


def line(event: Event, wanted_s: float | None) -> str:
    """'2 min 0 s, 3 min 0 s left: 1234 rounds of tests, 3 min 10 s of cores, no wrong answer'"""
    passed = event["seconds"]
    tested = sum(row["seconds"] for row in event["sums"])
    yielded = sum(row["seconds"] for row in event["yielded"])
    when = duration(passed)
    if wanted_s is not None:
        when += f", {duration(wanted_s - passed)} left"
    left = f", {duration(yielded)} left to others" if yielded >= 1 else ""
    return (
        f"{when}: {event['rounds']} rounds of tests, {duration(tested)} of cores{left}, "
        f"{count(event['findings'], 'wrong answer') if event['findings'] else 'no wrong answer'}"
    )


def kernel_name(kernel: str | Event) -> str:
    return kernel if isinstance(kernel, str) else str(kernel["name"])


def _ranges(cores: list[int]) -> str:
    """'0-3,8'"""
    found: list[list[int]] = []
    for core in sorted(cores):
        if found and core == found[-1][-1] + 1:
            found[-1][1:] = [core]
        else:
            found.append([core])
    return ",".join("-".join(map(str, each)) for each in found)
