"""Files of strangers: examples that Hypothesis damages, and what every reader owes them.

A reader gives a value or raises StrataError, with the place and what was given or allowed; within SECONDS,
and within 64 MB and eight times the file. Nothing else may leave it, numpy's warnings of nonsense included.

An ordinary run tries few files, always the same ones; a campaign (`--soak`) tries others for ten minutes
each, or for STRATA_FUZZ_SECONDS, and then at least four fifths of the reader's lines were reached.
"""

from __future__ import annotations

import inspect
import os
import signal
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import damage
import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed")

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir

from strata.errors import StrataError

# What Hypothesis keeps for its next start (tables of Unicode) lies in the build, never in the checkout.
set_hypothesis_home_dir(Path(os.environ.get("STRATA_BUILD") or tempfile.gettempdir()) / "hypothesis")

FEW = 25
SECONDS = 20  # more than any reader needs for files of this size, on a busy machine
MEMORY = 64 << 20
TIMES_THE_FILE = 8
LONGEST_ERROR = 10_000  # characters: it is read on a terminal
LEAST_REACHED = 0.8
SOAK_SECONDS = float(os.environ.get("STRATA_FUZZ_SECONDS", 600))


@dataclass(frozen=True)
class Target:
    """A reader: `read` reads a whole file, `seeds` are good files of which damaged ones are made. `code`: the
    modules, classes and functions that it consists of; `but`: names in them that are not of it.
    """

    name: str
    read: Callable[[Path], Any]
    file: str
    seeds: Sequence[bytes | str]
    code: Sequence[Any]
    but: Sequence[str] = ()
    words: Sequence[bytes | str] = ()  # that a file may have
    opens: bool = True  # whether `read` has the reader open the file, and does not itself

    def __str__(self) -> str:
        return self.name

    def files(self) -> st.SearchStrategy[bytes]:
        seeds = [each.encode() if isinstance(each, str) else each for each in self.seeds]
        words = [each.encode() if isinstance(each, str) else each for each in self.words]
        return damage.files(seeds, words, self.file.endswith((".json", ".jsonl")))


def some(target: Target, folder: Path) -> None:
    """A few files, always the same."""
    _tried(target, folder, settings(_SETTINGS, max_examples=FEW, derandomize=True), None)


def many(target: Target, folder: Path) -> None:
    """Other files for ten minutes; most lines of the reader are reached."""
    some(target, folder)  # Hypothesis makes its tables at its first start, which takes as long as a short try
    lines, count, until = Lines(target), 0, time.monotonic() + SOAK_SECONDS
    with lines:
        while time.monotonic() < until:
            # Before lines are counted nothing is known of them: a run of a few hundred files, then new ones.
            count += 1
            _tried(target, folder, settings(_SETTINGS, max_examples=300), count, until)
    print(f"{target.name}: {lines.share:.0%} of its lines reached; not: {lines.missing()}")
    assert lines.share >= LEAST_REACHED, lines.missing()


_SETTINGS = settings(
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)


def _tried(target: Target, folder: Path, how: settings, number: int | None, until: float = 0) -> None:
    if target.opens:
        _no_file(target, folder)

    @settings(how)
    @given(data=target.files())
    def each(data: bytes) -> None:
        if not until or time.monotonic() < until:
            check(target, data, folder)

    (each if number is None else seed(number)(each))()


def check(target: Target, data: bytes, folder: Path) -> None:
    """One file is read, or refused as the head of this file says."""
    file = folder / target.file
    file.write_bytes(data)
    if (
        not tracemalloc.is_tracing()
    ):  # never stopped here: beside PyArrow's threads that may crash Python 3.11
        tracemalloc.start(1)
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        with _soon(), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            target.read(file)
    except StrataError as error:
        told(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1] - before
    assert peak <= MEMORY + TIMES_THE_FILE * len(data), f"{peak >> 20} MB for a file of {len(data)} bytes"


def _no_file(target: Target, folder: Path) -> None:
    """Where none is, or a folder in its place, that is refused too, unless it counts as an empty one."""
    file = folder / target.file
    file.unlink(missing_ok=True)
    for make, undo in ((lambda: None, lambda: None), (file.mkdir, file.rmdir)):
        make()
        try:
            target.read(file)
        except StrataError as error:
            told(error)
        finally:
            undo()


def told(error: StrataError) -> None:
    """The error says where, and what was given or what is allowed, in a few printable words."""
    assert error.at, f"no place: {error.message}"
    assert error.given or error.allowed or error.remedy, f"neither given nor allowed: {error.message}"
    text = str(error)
    assert len(text) <= LONGEST_ERROR, f"an error of {len(text)} characters"
    assert all(c.isprintable() or c in "\n\t" for c in text), f"an error that moves the cursor: {text!r}"


@contextmanager
def _soon() -> Iterator[None]:
    def late(*_: Any) -> None:
        raise _Late

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    except _Late:
        raise AssertionError(f"not read within {SECONDS} s") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class _Late(BaseException):
    """No reader catches it."""


class Lines:
    """Which lines of a target's functions were reached while this is open."""

    def __init__(self, target: Target) -> None:
        self._codes = {code for part in target.code for code in _codes(part, target.but)}
        self._all = {(code.co_filename, line) for code in self._codes for *_, line in code.co_lines() if line}
        self._seen: set[tuple[str, int]] = set()

    def __enter__(self) -> Lines:
        self._before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _call(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code not in self._codes:
            return None
        self._seen.add((code.co_filename, code.co_firstlineno))
        return self._line

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        self._seen.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    @property
    def share(self) -> float:
        return len(self._seen & self._all) / len(self._all)

    def missing(self) -> str:
        """The lines that were not reached, file by file."""
        names: dict[str, list[str]] = {}
        for file, line in sorted(self._all - self._seen):
            names.setdefault(Path(file).name, []).append(str(line))
        return "; ".join(f"{name} {' '.join(lines)}" for name, lines in names.items()) or "none"


def _codes(part: Any, but: Sequence[str]) -> Iterator[CodeType]:
    """The code of a module, class or function, with all that is made in it."""
    if isinstance(part, (ModuleType, type)):
        own = part.__name__ if isinstance(part, ModuleType) else part.__module__
        for name, value in vars(part).items():
            value = getattr(value, "fget", None) or getattr(value, "__func__", value)
            if name not in but and getattr(value, "__module__", None) == own:
                yield from _codes(value, but)
    elif inspect.isfunction(part) and (code := inspect.unwrap(part).__code__).co_filename != "<string>":
        yield from _nested(code)  # what dataclasses make has no file


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _nested(each)
