#!/usr/bin/env python3
"""Shows how far a build or tests are: one line that moves on a terminal, else a line each half minute.

    ninja 2>&1 | progress.py --part "native build" --reads ninja >>log
    ctest ...  | progress.py --part "native tests" --reads ctest --seconds FILE --at-once 4

A filter. What the program says goes on to the standard output, and the progress to the standard error: what
is done of all, failures, the time left. It ends with its input and ignores what a terminal's keys send, so
that the program's last words get through; the exit code is the program's own (PIPESTATUS, or pipefail).

The time left: `--seconds FILE` has a line for each thing that is to be done, `SECONDS<TAB>NAME`, as once
measured (for ninja NAME is the last word of its line, an object or a program). They are added up, divided by
`--at-once`, and multiplied by what this machine has needed so far for what is done. Without a file each thing
counts the same, and the first estimate comes with the first results.

Several at once share one line: `progress.py --reads events 0<>FIFO` shows it, and each filter has `--to FIFO`
or STRATA_PROGRESS=FIFO in its environment. An event is a line with tabs: PART, DONE, ALL, FAILED, SECONDS
DONE, SECONDS IN ALL. DONE is -1 for what is yet to come; the line `end` ends it. Only Python's own library is
used, as set-up has made no environment yet.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

# What was measured counts against what was recorded as much as so many recorded seconds, or as this share of
# all of them: the first results, which may be the quickest or come after a long start, do not swing the
# estimate. Of half an hour that is three minutes.
PRIOR, PRIOR_SHARE = 20.0, 0.1
HALF_A_MINUTE = 30.0


@dataclass
class State:
    """How far one part is. `weight` is in recorded seconds on the wall; 0 in all where none were recorded."""

    part: str
    done: int = -1
    all: int = 0
    failed: int = 0
    weight: float = 0.0
    weight_all: float = 0.0

    def line(self) -> str:
        numbers = (self.done, self.all, self.failed, round(self.weight, 2), round(self.weight_all, 2))
        return "\t".join((self.part, *map(str, numbers))) + "\n"


def from_line(line: str) -> State | None:
    words = line.rstrip("\n").split("\t")
    try:
        return State(words[0], *map(int, words[1:4]), *map(float, words[4:6]))
    except (ValueError, TypeError):
        return None


class Shown:
    """All parts, and how long what is left of them takes."""

    def __init__(self, now: float) -> None:
        self.parts: dict[str, State] = {}
        self.begun: dict[str, float] = {}  # when
        self.ended: dict[str, float] = {}
        self.now = now

    def take(self, state: State) -> None:
        if state.part in self.ended and state.done < self.parts[state.part].done:
            # Another run of the same name: what the first has done, and its failures, still count.
            earlier = f"{state.part}, run {len(self.parts)}"
            for what in (self.parts, self.begun, self.ended):
                what[earlier] = what.pop(state.part)
        self.parts[state.part] = state
        if state.done >= 0:
            self.begun.setdefault(state.part, self.now)
            self.ended.pop(state.part, None)
            if state.done >= state.all:
                self.ended[state.part] = self.now

    def _running(self) -> list[State]:
        return [each for name, each in self.parts.items() if name in self.begun and name not in self.ended]

    def _pace(self, since: float) -> float:
        """Seconds here for one recorded second, by what has begun since then. Parts that run at the same time
        share the processors: what all of them have done in that time counts.
        """
        done = sum(self.parts[name].weight for name, began in self.begun.items() if began >= since)
        prior = max(PRIOR, PRIOR_SHARE * sum(each.weight_all for each in self.parts.values()))
        return (prior + self._worked(since)) / (prior + done)

    def _worked(self, since: float) -> float:
        """Seconds since then in which some part with recorded seconds ran."""
        spans = sorted(
            (began, self.ended.get(name, self.now))
            for name, began in self.begun.items()
            if began >= since and self.parts[name].weight_all > 0
        )
        worked, until = 0.0, since
        for began, ended in spans:
            worked += max(0.0, ended - max(began, until))
            until = max(until, ended)
        return worked

    def left(self) -> float | None:
        """Those that run share the processors; the others come one after another."""
        running = self._running()
        if not running:
            return None
        since = min(self.begun[each.part] for each in running)
        left = [0.0]
        for each in running:
            if each.weight_all > 0:
                left[0] += (each.weight_all - each.weight) * self._pace(since)
            elif each.done > 0:  # each thing counts the same
                took = self.now - self.begun[each.part]
                left.append((each.all - each.done) * took / each.done)
            else:
                return None
        coming = sum(each.weight_all for name, each in self.parts.items() if name not in self.begun)
        return max(left) + coming * self._pace(min(self.begun.values()))

    def text(self) -> str:
        """Nothing where nothing runs."""
        parts = [f"{each.part} {each.done} of {each.all}" for each in self._running()]
        if not parts:
            return ""
        if failed := sum(each.failed for each in self.parts.values()):
            parts.append(f"{failed} failed")
        if (left := self.left()) is not None:
            parts.append(f"about {duration(left)} left")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """To two figures, which is more than is known: 40 s, 3 min, 1 h 20 min."""
    if seconds < 55:
        return f"{max(5, 5 * round(seconds / 5))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    minutes = 5 * round(minutes / 5)
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


class Line:
    """The line on a terminal, or the lines in a file."""

    def __init__(self, out: TextIO, moves: bool) -> None:
        self.out, self.moves = out, moves
        self.pause = 0.1 if moves else HALF_A_MINUTE
        self.last = -self.pause
        self.late = False  # whether something was not shown, as the line before is too new

    def wait(self, now: float) -> float:
        """How long nothing may happen before `show` is called again: the time left changes by itself."""
        pause = 1.0 if self.moves and not self.late else self.pause
        return max(0.0, self.last + pause - now)

    def show(self, text: str, now: float) -> None:
        self.late = now - self.last < self.pause
        if self.late or not text:
            return
        self.last = now
        if self.moves:
            width = os.get_terminal_size(self.out.fileno()).columns or 80
            self._write(f"\r{text[: width - 1]}\x1b[K")
        else:
            self._write(f"strata: {text}\n")

    def clear(self) -> None:
        """Makes room for other lines."""
        if self.moves:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # nobody reads it any more
            self.out.write(text)
            self.out.flush()


@dataclass
class Said:
    """What a line of a program's says: `name`, what was done; `weight`, where it says itself how much."""

    done: int
    all: int
    failed: int
    name: str = ""
    weight: float | None = None
    weight_all: float = 0.0


def read_ninja() -> Callable[[str], tuple[Said | None, bool]]:
    """[3/120] Building CXX object core/base/...; NINJA_STATUS as it is without being set."""
    status, failed, last = re.compile(r"^\[(\d+)/(\d+)\] (.*)"), 0, (0, 0)

    def read(line: str) -> tuple[Said | None, bool]:
        nonlocal failed, last
        if line.startswith("FAILED:"):
            failed += 1
            return Said(*last, failed), True
        found = status.match(line)
        # Before anything else CMake looks whether sources have come: two steps of their own.
        if found is None or found[3].startswith(("Re-checking globbed directories", "Re-running CMake")):
            return None, True
        last = int(found[1]), int(found[2])
        return Said(*last, failed, found[3].split()[-1]), True

    return read


def read_ctest() -> Callable[[str], tuple[Said | None, bool]]:
    """3/120 Test  #7: a name ......   Passed    0.05 sec; what passed and what starts is not shown."""
    result = re.compile(r"^ *(\d+)/(\d+) Test +#\d+: (.*?) \.*\s*(Passed|\*\*\*.*)")
    failed = 0

    def read(line: str) -> tuple[Said | None, bool]:
        nonlocal failed
        if (found := result.match(line)) is None:
            return None, re.match(r"^ +Start ", line) is None
        good = found[4].startswith(("Passed", "***Skipped", "***Not Run (Disabled)"))
        failed += not good
        return Said(int(found[1]), int(found[2]), failed, found[3]), found[4] != "Passed"

    return read


def read_marks() -> Callable[[str], tuple[Said | None, bool]]:
    """@done 3 120 0 4.5 300.0 NAME, from pytest (tests/fixtures/progress_marks.py)."""

    def read(line: str) -> tuple[Said | None, bool]:
        words = line.rstrip("\n").split(" ", 6)
        if len(words) != 7 or words[0] != "@done":
            return None, True
        return Said(*map(int, words[1:4]), "", *map(float, words[4:6])), False

    return read


READERS = {"ninja": read_ninja, "ctest": read_ctest, "marks": read_marks}


class Expected:
    """The recorded seconds of what is to be done."""

    def __init__(self, file: Path | None, at_once: int) -> None:
        self.seconds: dict[str, float] = {}
        self.at_once = at_once
        for line in file.read_text().splitlines() if file is not None and file.is_file() else []:
            seconds, _, name = line.partition("\t")
            self.seconds[name] = float(seconds)
        self.in_all = sum(self.seconds.values())
        self.mean = self.in_all / len(self.seconds) if self.seconds else 0.0

    def all_of(self, count: int) -> float:
        """Where more or less is done than the file lists, each counts as the mean of those."""
        missing = count - len(self.seconds)
        return (self.in_all + missing * self.mean) / self.at_once

    def of(self, name: str) -> float:
        return self.seconds.get(name, self.mean) / self.at_once


def lines_of(descriptor: int, end: int | None, wait: Callable[[], float]) -> Iterator[str | None]:
    """The lines as they come; None when none came for as long as `wait` says; till the process `end` ends."""
    rest = b""
    ends = [] if end is None else [os.pidfd_open(end)]
    while True:
        ready, _, _ = select.select([descriptor, *ends], [], [], max(0.0, wait()))
        if not ready:
            yield None
            continue
        if descriptor not in ready:
            break
        read = os.read(descriptor, 1 << 16)
        if not read:
            break
        *whole, rest = (rest + read).split(b"\n")
        yield from (line.decode(errors="replace") + "\n" for line in whole)
        yield None
    if rest:
        yield rest.decode(errors="replace")


def pause(line: Line, shown: Shown, now: float) -> float:
    """How long nothing need be done but for what comes."""
    return line.wait(now) if shown.text() else HALF_A_MINUTE


class Forward:
    """Events for the process that shows the line."""

    def __init__(self, fifo: str) -> None:
        self.descriptor = -1
        with contextlib.suppress(OSError):  # it has gone; what the program says still gets through
            self.descriptor = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)

    def __call__(self, state: State) -> None:
        with contextlib.suppress(OSError):  # it has gone, or is behind: the next event says the same and more
            os.write(self.descriptor, state.line().encode())


def options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", default="", help="what the line calls it")
    parser.add_argument("--reads", choices=[*READERS, "events"], required=True)
    parser.add_argument("--seconds", type=Path, metavar="FILE")
    parser.add_argument("--at-once", type=int, default=1)
    to = os.environ.get("STRATA_PROGRESS")
    parser.add_argument(
        "--to", metavar="FIFO", default=to, help="of the process that shows the line; else this one does"
    )
    parser.add_argument(
        "--while", type=int, metavar="PID", dest="process", help="ends with this process at the latest"
    )
    return parser.parse_args(words)


class Filter:
    """What becomes of a program's lines."""

    def __init__(self, given: argparse.Namespace, take: Callable[[State], None]) -> None:
        self.read, self.take = READERS[given.reads](), take
        self.expected = Expected(given.seconds, given.at_once)
        count = len(self.expected.seconds)
        self.state = State(given.part, 0, count, 0, 0.0, self.expected.all_of(count))
        if count:
            take(self.state)

    def __call__(self, line: str) -> bool:
        """Whether it goes on to the standard output."""
        said, passes = self.read(line)
        if said is not None:
            state = self.state
            state.done, state.all, state.failed = said.done, said.all, said.failed
            if said.weight is not None:
                state.weight = said.weight / self.expected.at_once
                state.weight_all = said.weight_all / self.expected.at_once
            else:
                state.weight_all = self.expected.all_of(state.all)
                more = self.expected.of(said.name) if said.name else 0.0
                state.weight = min(state.weight + more, state.weight_all)
            self.take(state)
        return passes

    def end(self) -> None:
        """The program has ended, whatever it has left undone."""
        self.state.all = self.state.done
        self.take(self.state)


class Events:
    """The same for what filters tell."""

    def __init__(self, take: Callable[[State], None]) -> None:
        self.take = take

    def __call__(self, line: str) -> bool:
        if (state := from_line(line)) is not None:
            self.take(state)
        return False

    def end(self) -> None:
        pass


def main(words: list[str]) -> int:
    given = options(words)
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    moves = os.isatty(2) and os.environ.get("TERM", "dumb") != "dumb"
    line, shown = Line(sys.stderr, moves), Shown(time.monotonic())
    take = Forward(given.to) if given.to else shown.take
    each = Events(take) if given.reads == "events" else Filter(given, take)
    line.show(shown.text(), shown.now)
    for text in lines_of(0, given.process, lambda: pause(line, shown, time.monotonic())):
        shown.now = time.monotonic()
        if text == "end\n" and given.reads == "events":
            break
        if text is None:
            line.show(shown.text(), shown.now)
        elif each(text):
            if sys.stdout.isatty():
                line.clear()
            sys.stdout.write(text)
            sys.stdout.flush()
    each.end()
    line.clear()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:  # nobody reads what the program says: it is to learn so, as without this filter
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
