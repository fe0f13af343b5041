"""Case files of `strata characterize`: TOML checked against one declared schema.

The schema below makes the check, the error messages and the table in docs/measuring.md; an unknown key is an
error, so a misspelt one can never be a silent default.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.casefile import (
    LIMITS,
    PATIENCE,
    REQUIRED,
    CaseFile,
    Key,
    is_number,
    is_text,
    is_whole,
    list_of,
    some,
    tables,
)
from strata.measure import stats
from strata.measure.taint import Limits

SCHEMA = "strata.characterize/1"
BINDS = ("core", "none")
PROGRAMS = ("auto", "strata-bench", "strata-bench-mpi")


# Processes, threads or cores: not 0, from which powers of two would never end.
COUNT = "[1-9][0-9]{0,8}"
_OF_NODES, _OF_CORES = rf"({COUNT}|[NDHMA])", rf"({COUNT}|[NDH])"
LAYOUT = re.compile(rf"{_OF_NODES}(\.\.{_OF_NODES})?x{_OF_CORES}(\.\.{_OF_CORES})?\Z")
LAYOUT_WORDS = (
    "PxT with numbers, N (all cores), D (cores of a domain), H (half of the cores), M (nodes), "
    "A (cores of all nodes), or 1x1..D"
)

TOP: dict[str, Key] = {
    "schema": Key("text", lambda v: v == SCHEMA, SCHEMA, REQUIRED, "which schema this file follows"),
    "mode": Key("text", is_text, "a word", REQUIRED, "name of the plan, shown in the report"),
    "launches": Key(
        "integer",
        lambda v: is_whole(v) and v >= stats.LEAST,
        f"an integer >= {stats.LEAST}",
        stats.LEAST,
        "undisturbed launches per task",
    ),
    "repeats": Key(
        "integer",
        lambda v: is_whole(v) and v >= 0,
        "an integer >= 0",
        6,
        "further launches in place of disturbed ones",
    ),
    "budget_s": Key(
        "number",
        lambda v: is_number(v) and v > 0,
        "seconds > 0",
        None,
        "tasks with `drop` are left out when the estimate exceeds it",
    ),
    "patience_s": PATIENCE,
    "limits": LIMITS,
    "task": Key(
        "array of tables",
        tables,
        "one [[task]] or more",
        REQUIRED,
        "what to measure",
    ),
}

TASK: dict[str, Key] = {
    "benchmark": Key("text", is_text, "a name from `strata bench --list`", REQUIRED, "which benchmark"),
    "name": Key(
        "text",
        lambda v: is_text(v) and "/" not in v,
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
        list_of(lambda v: isinstance(v, str)),
        "a list of text",
        [],
        "options for the benchmark",
    ),
    "layouts": Key(
        "list of layouts",
        some(lambda w: isinstance(w, str) and bool(LAYOUT.match(w))),
        LAYOUT_WORDS,
        ["1x1"],
        "layouts to run under",
    ),
    "bind": Key(
        "list of text", some(lambda w: w in BINDS), "a list of core, none", ["core"], "bindings to run under"
    ),
    "stride": Key(
        "list of integers",
        some(lambda w: is_whole(w) and w >= 1),
        "a list of integers >= 1",
        [1],
        "distances between the cores used",
    ),
    "figures": Key("list of text", list_of(is_text), "a list of figure names", [], "the headline figures"),
    "least_processes": Key(
        "integer",
        lambda v: is_whole(v) and v >= 1,
        "an integer >= 1",
        1,
        "layouts with fewer processes are left out",
    ),
    "least_threads": Key(
        "integer",
        lambda v: is_whole(v) and v >= 1,
        "an integer >= 1",
        1,
        "layouts with fewer threads in all are left out",
    ),
    "launches": Key(
        "integer",
        lambda v: is_whole(v) and v >= 0,
        "an integer >= 0",
        0,
        "launches that count, without one to warm up; 0: as many as the plan has",
    ),
    "once": Key(
        "text",
        lambda v: isinstance(v, str),
        "an option's name without dashes",
        "",
        "an option that the warm-up launch chooses (a parameter of its result) and the others are given",
    ),
    "timeout_s": Key(
        "number", lambda v: is_number(v) and v > 0, "seconds > 0", 60.0, "a launch is ended after this"
    ),
    "expected_s": Key(
        "number",
        lambda v: is_number(v) and v > 0,
        "seconds > 0",
        1.0,
        "estimate of one launch before any ran",
    ),
    "expected_s_per_gib": Key(
        "number",
        lambda v: is_number(v) and v >= 0,
        "seconds >= 0",
        0.0,
        "added to it for each GiB of last-level cache: arrays are as large as caches ask",
    ),
    "drop": Key(
        "integer",
        lambda v: is_whole(v) and v >= 0,
        "an integer >= 0",
        0,
        "what is left out first when the time is too short: the largest; 0 goes last",
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
    file = CaseFile(path, "give --case an existing TOML file", "cases/characterize/quick.toml")
    top = file.checked(file.value, TOP)
    tasks = tuple(file.checked(task, TASK, (("task", n),)) for n, task in enumerate(top["task"], start=1))
    return Case(
        path=path,
        mode=top["mode"],
        launches=top["launches"],
        repeats=top["repeats"],
        budget_s=top["budget_s"],
        patience_s=float(top["patience_s"]),
        limits=Limits.from_dict(top["limits"], file.at("limits")),
        tasks=tasks,
    )
