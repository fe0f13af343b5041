"""Case files of `strata characterize`: TOML checked against one declared schema.

The schema below makes the check, the error messages and the table in docs/measuring.md; an unknown key is an
error, so a misspelt one can never be a silent default.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from strata.errors import StrataError
from strata.measure import stats
from strata.measure.taint import Limits

SCHEMA = "strata.characterize/1"
BINDS = ("core", "none")
PROGRAMS = ("auto", "strata-bench", "strata-bench-mpi")


@dataclass(frozen=True)
class Key:
    """One key of a case file."""

    kind: str
    good: Callable[[Any], bool]
    allowed: str
    default: Any
    meaning: str


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(check(v) for v in value)


def _some(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A list with at least one entry, all of them good."""
    return lambda value: isinstance(value, list) and len(value) > 0 and all(check(v) for v in value)


_LAYOUT = re.compile(r"^(\d+|[NDH])(\.\.(\d+|[NDH]))?x(\d+|[NDH])(\.\.(\d+|[NDH]))?$")
_REQUIRED = object()

TOP: dict[str, Key] = {
    "schema": Key("text", lambda v: v == SCHEMA, SCHEMA, _REQUIRED, "which schema this file follows"),
    "mode": Key("text", _is_text, "a word", _REQUIRED, "name of the plan, shown in the report"),
    "launches": Key(
        "integer",
        lambda v: _is_whole(v) and v >= stats.LEAST,
        f"an integer >= {stats.LEAST}",
        stats.LEAST,
        "undisturbed launches per task",
    ),
    "repeats": Key(
        "integer",
        lambda v: _is_whole(v) and v >= 0,
        "an integer >= 0",
        6,
        "further launches in place of disturbed ones",
    ),
    "budget_s": Key(
        "number",
        lambda v: _is_number(v) and v > 0,
        "seconds > 0",
        None,
        "tasks with `drop` are left out when the estimate exceeds it",
    ),
    "patience_s": Key(
        "number",
        lambda v: _is_number(v) and v >= 0,
        "seconds >= 0",
        60.0,
        "in all, waiting for a quiet machine before repeats",
    ),
    "limits": Key(
        "table", lambda v: isinstance(v, dict), "a table of taint limits", {}, "overrides of the taint limits"
    ),
    "task": Key(
        "array of tables",
        lambda v: isinstance(v, list) and len(v) > 0,
        "one [[task]] or more",
        _REQUIRED,
        "what to measure",
    ),
}

TASK: dict[str, Key] = {
    "benchmark": Key("text", _is_text, "a name from `strata bench --list`", _REQUIRED, "which benchmark"),
    "name": Key(
        "text",
        lambda v: _is_text(v) and "/" not in v,
        "text without '/'",
        None,
        "first part of the task's id; the benchmark's name if left out",
    ),
    "program": Key(
        "text",
        lambda v: v in PROGRAMS,
        " | ".join(PROGRAMS),
        "auto",
        "auto: the MPI program for more than one process",
    ),
    "arguments": Key(
        "list of text",
        _list_of(lambda v: isinstance(v, str)),
        "a list of text",
        [],
        "options for the benchmark",
    ),
    "layouts": Key(
        "list of layouts",
        _some(lambda w: isinstance(w, str) and bool(_LAYOUT.match(w))),
        "PxT with numbers, N (all cores), D (cores of a domain), H (half of the cores), or 1x1..D",
        ["1x1"],
        "layouts to run under",
    ),
    "bind": Key(
        "list of text", _some(lambda w: w in BINDS), "a list of core, none", ["core"], "bindings to run under"
    ),
    "stride": Key(
        "list of integers",
        _some(lambda w: _is_whole(w) and w >= 1),
        "a list of integers >= 1",
        [1],
        "distances between the cores used",
    ),
    "figures": Key("list of text", _list_of(_is_text), "a list of figure names", [], "the headline figures"),
    "least_processes": Key(
        "integer",
        lambda v: _is_whole(v) and v >= 1,
        "an integer >= 1",
        1,
        "layouts with fewer processes are left out",
    ),
    "least_threads": Key(
        "integer",
        lambda v: _is_whole(v) and v >= 1,
        "an integer >= 1",
        1,
        "layouts with fewer threads in all are left out",
    ),
    "timeout_s": Key(
        "number", lambda v: _is_number(v) and v > 0, "seconds > 0", 60.0, "a launch is ended after this"
    ),
    "expected_s": Key(
        "number",
        lambda v: _is_number(v) and v > 0,
        "seconds > 0",
        1.0,
        "estimate of one launch before any ran",
    ),
    "drop": Key(
        "integer",
        lambda v: _is_whole(v) and v >= 0,
        "an integer >= 0",
        0,
        "0: never left out; the largest goes first",
    ),
}


@dataclass(frozen=True)
class Case:
    """A checked case file."""

    path: Path
    mode: str
    launches: int
    repeats: int
    budget_s: float | None
    patience_s: float
    limits: Limits
    tasks: tuple[dict[str, Any], ...]


def read(path: Path) -> Case:
    """The case in this file, every key checked."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StrataError(
            "cannot read the case file",
            at=str(path),
            given=str(error),
            remedy="give --case an existing TOML file",
        ) from None
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        where = f"{path}:{line.group(1)}" if line else str(path)
        raise StrataError(
            "not TOML",
            at=where,
            given=str(error),
            remedy="see https://toml.io, or start from cases/characterize/quick.toml",
        ) from None
    finder = _Lines(path, text)
    top = _checked(value, TOP, finder.at)
    tasks = tuple(
        _checked(task, TASK, partial(finder.at, task=n)) for n, task in enumerate(top["task"], start=1)
    )
    return Case(
        path=path,
        mode=top["mode"],
        launches=top["launches"],
        repeats=top["repeats"],
        budget_s=top["budget_s"],
        patience_s=float(top["patience_s"]),
        limits=Limits.from_dict(top["limits"], finder.at("limits")),
        tasks=tasks,
    )


def _checked(value: Any, schema: Mapping[str, Key], at: Callable[[str], str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise StrataError("not a table", at=at("task"), given=repr(value), allowed="[[task]] with keys")
    for key in value:
        if key not in schema:
            raise StrataError(
                "unknown key", at=at(key), given=key, allowed=", ".join(schema), remedy=_nearest(key, schema)
            )
    result = {}
    for name, key in schema.items():
        if name not in value:
            if key.default is _REQUIRED:
                raise StrataError(
                    "a key is missing", at=at(name), given="nothing", allowed=f"{name}: {key.allowed}"
                )
            result[name] = key.default
        elif not key.good(value[name]):
            raise StrataError(
                f"wrong value for `{name}`", at=at(name), given=repr(value[name]), allowed=key.allowed
            )
        else:
            result[name] = value[name]
    return result


def _nearest(key: str, schema: Mapping[str, Key]) -> str | None:
    import difflib

    close = difflib.get_close_matches(key, list(schema), n=1)
    return f"did you mean `{close[0]}`?" if close else None


class _Lines:
    """Finds the line of a key: tomllib does not keep them."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()

    def at(self, key: str, task: int = 0) -> str:
        """'FILE:LINE KEY' for a key of the top level (task 0) or of the n-th [[task]]; the table's own line
        when the key is absent.
        """
        current, header = 0, 1
        for number, line in enumerate(self._lines, start=1):
            stripped = line.strip()
            if re.match(r"^\[\[\s*task\s*\]\]", stripped):
                current += 1
                header = number if current == task else header
            if current == task and re.match(
                rf'^"?{re.escape(key)}"?\s*=|^\[+\s*{re.escape(key)}\s*\]+', stripped
            ):
                return f"{self._path}:{number} {key}"
        return f"{self._path}:{header} {key}"
