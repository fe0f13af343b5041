"""The bound each figure stands beside, taken from other tasks of the same run: peak, bandwidth, the latency
of a cache line; or the reason why it has none.

A figure says little alone. 40 GF/s is good or bad only beside what this machine's units can do; the bounds
here were measured minutes before or after, in interleaved order, with the same statistics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from strata.characterize import bound_rules as rules
from strata.characterize.bound_rules import IN_CACHE, Rule, Summary, in_unit, kind_of
from strata.paths import MD_WEAK, PATCHES

UNMEASURED = "what it would stand beside was not measured in this run"
UNKNOWN = "no bound is known of this program's figure"
_LINE = rules.way_of_a_line(lambda p: 1.0, "one way of a cache line between two cores")
_TREE = rules.way_of_a_line(lambda p: math.ceil(math.log2(max(2, p))), "log2(P) ways of a cache line")
_SAME_TIME = "the same time as the headline's in other words"
_ZERO = "its floor is 0"

# Of each benchmark, or program of a ready study, each figure: the rule that finds its bound, or why there is
# none. A name stands for all that begin with it and a comma; * for every other figure.
TABLE: Mapping[tuple[str, str], Rule | str] = {
    ("stream", "triad"): rules.as_triad,
    ("stream", "*"): "one of STREAM's four: the triad is what stands beside the fastest triad of the run",
    (IN_CACHE, "*"): "arrays as long as a message: itself the bound of messages",
    ("dgemm", "*"): rules.arithmetic,
    ("hpl", "hpl"): rules.as_dgemm,
    ("hpl", "dgemm"): rules.arithmetic,
    ("hpl", "*"): _SAME_TIME,
    ("peak", "*"): "itself the bound of arithmetic",
    ("lines", "*"): "itself the floor of messages, flags and barriers",
    ("latency", "*"): "itself the floor of what waits for memory",
    ("cache-bandwidth", "*"): "itself the bound of what a cache holds",
    ("domains", "*"): "itself the bound of what lies in a memory",
    ("noise", "*"): _ZERO,
    ("stencil", "cell updates"): rules.of_stencil,
    ("stencil", "time a step"): _SAME_TIME,
    ("stencil", "exchange"): f"{_ZERO}, as with one process",
    ("pingpong", "*"): _LINE,
    ("rings", "*"): rules.of_ring,
    ("allreduce", "*"): _TREE,
    ("alltoall", "*"): _LINE,
    ("ptrans", "*"): rules.of_ptrans,
    ("mpifft", "*"): rules.of_mpifft,
    ("message-rate", "bandwidth"): rules.of_copies,
    ("message-rate", "message rate"): "the 64 messages of a window are on their way at once: the time of a "
    "cache line, which each takes, limits no rate",
    ("clock", "sustained clock"): rules.of_clock,
    ("clock", "clock at the start"): rules.of_clock,
    ("clock", "drop"): f"{_ZERO}: the sustained clock is that at the start",
    ("clock", "arithmetic"): rules.arithmetic,
    ("cycles", "median run"): "fixed work: its time is the clock's, and what is asked is how it repeats",
    ("cycles", "preemptions"): _ZERO,
    ("cycles", "moves"): _ZERO,
    ("cycles", "resolution"): "itself the floor of the spreads",
    ("cycles", "*"): rules.one_tick,
    ("pages", "sweep"): rules.of_sweep,
    ("pages", "bandwidth"): rules.as_triad,
    ("pages", "local pages"): rules.whole,
    ("pages", "fastest sweep"): "the median sweep stands beside its bound",
    ("pages", "slowest sweep"): "the median sweep stands beside its bound",
    ("pages", "*"): _ZERO,
    ("npb", "Mop/s total"): rules.ideal,
    ("npb", "Mop/s/thread"): rules.ideal,
    ("npb", "load balance"): "itself a part of the ideal, 1",
    ("npb", "*"): _SAME_TIME,
    (PATCHES, "rate of operations"): rules.as_dgemm,
    (PATCHES, "in task code alone"): rules.as_dgemm,
    (PATCHES, "time in task code"): rules.whole,
    (PATCHES, "*"): "counts the work of the rate of operations in other units",
    (MD_WEAK, "atoms updated"): rules.ideal,
    (MD_WEAK, "*"): _SAME_TIME,
    ("team-barrier", "barrier"): rules.of_barrier,
    ("team-flag", "flag"): rules.of_flag,
    ("team-read", "read"): rules.of_read,
    ("team-switch", "switch"): rules.as_line,
    # Programs of the ready studies that are built from sources.
    ("kernels", "rate"): rules.arithmetic,
    ("MPI barrier", "barrier"): rules.of_barrier,
    ("MPI", "flag"): rules.as_line,
    ("MPI read", "read"): rules.of_read,
}


def rule_of(kind: str, figure: str) -> Rule | str | None:
    """What the table says of a figure."""
    for name in (figure, figure.partition(",")[0], "*"):
        if (kind, name) in TABLE:
            return TABLE[kind, name]
    return None


def every(task: Summary, tasks: Sequence[Summary]) -> list[dict[str, Any]]:
    """For each figure of the task its bound in the figure's unit, or `why` there is none."""
    return [{"figure": f["name"], **_beside(task, f, tasks)} for f in task["figures"]]


def bound(task: Summary, tasks: Sequence[Summary]) -> dict[str, Any] | None:
    """The bound of the task's headline figure; None where it has none."""
    figure = headline(task)
    if figure is None:
        return None
    found = _beside(task, figure, tasks)
    return {"figure": figure["name"], **found} if "value" in found else None


def _beside(task: Summary, figure: Mapping[str, Any], tasks: Sequence[Summary]) -> dict[str, Any]:
    rule = rule_of(kind_of(task), figure["name"])
    if rule is None or isinstance(rule, str):
        return {"why": rule or UNKNOWN}
    if figure["median"] is None:
        return {"why": "it was not measured"}
    found = rule(task, figure, tasks)
    if found is None or isinstance(found, str):
        return {"why": found or UNMEASURED}
    value = in_unit(found, figure["unit"])
    if value is None or value <= 0:
        return {"why": UNMEASURED}
    # Of the bound, how much is reached: a rate as part of the peak, a latency as floor over reading.
    lower, median = figure["better"] != "higher", figure["median"]
    reached = (value / median if median else None) if lower else median / value
    return {
        "name": found.name,
        "value": value,
        "unit": figure["unit"],
        "reached": reached,
        "source": found.source,
    }


def headline(task: Summary) -> Mapping[str, Any] | None:
    """The figure a task is known for: the first named in the case file, else the first of the result."""
    figures: dict[str, Mapping[str, Any]] = {f["name"]: f for f in task["figures"]}
    for name in task.get("headline") or []:
        if name in figures:
            return figures[name]
    return next(iter(figures.values()), None)
