"""How long a system was up before each interrupt: from the end of one interrupt to the start of the next.

Time in which other outages (maintenance, say) had it down meanwhile is no time up. So each system has a clock
that stands while it is down, and a time up is what this clock shows from one interrupt to the next. The time
before the first interrupt is left out, since nobody knows how long the system was up before observation
began; that after the last is censored.

Where the log names the nodes that interrupts were of, a time up is a node's: each has a clock of its own, and
outages of the whole system stop all clocks. Interrupts of the whole of such a system are none of a node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from strata.centre.outages.categories import Categories
from strata.centre.outages.history import DAY, System

SYSTEM = "up times of the system, from the end of an interrupt to the start of the next"
NODE = "up times of each node, from the end of an interrupt to the start of its next"
BETWEEN = "times between interrupts of the system, from start to start"


@dataclass(frozen=True)
class Times:
    """Days. `complete`: ended by an interrupt; `censored`: not ended when observation did. `of`: of what, and
    from when to when, in words.
    """

    of: str
    complete: np.ndarray
    censored: np.ndarray


def between(starts: np.ndarray, period: float) -> Times:
    """Start to start, outages included: interrupts begin at `starts` (days, ascending) in `period` days."""
    last = period - starts[-1:]
    return Times(BETWEEN, np.diff(starts), last)


def up_times(system: System, categories: Categories) -> Times:
    """End to start, less other outages between."""
    counts = np.array([c.interrupt for c in categories.every])
    down = np.array([c.outage for c in categories.every])
    if not len(system.category):
        return Times(SYSTEM, np.zeros(0), np.zeros(0))
    ends = system.event & counts[system.category]  # a time up
    named = system.node != ""
    by_node = bool((ends & named).any())
    keep = (down[system.category] | ends) & (named if by_node else True)
    order = np.flatnonzero(keep)
    node = np.unique(system.node[order], return_inverse=True)[1]
    sort = np.lexsort((system.start[order], node))
    order, node = order[sort], node[sort]
    clock, stopped = _clocks(system, order, node, down, by_node)
    at = ends[order]
    clock, node = clock[at], node[at]
    same = node[1:] == node[:-1]
    newest = np.r_[node[1:] != node[:-1], True] if len(node) else np.zeros(0, bool)
    end = (system.end - system.begin) - stopped
    return Times(
        NODE if by_node else SYSTEM,
        (clock[1:] - clock[:-1])[same] / DAY,
        np.maximum(0.0, end[node[newest]] - clock[newest]) / DAY,
    )


def _clocks(
    system: System, order: np.ndarray, node: np.ndarray, down: np.ndarray, by_node: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Seconds up since observation began, at the start of each row of `order` (by node, then start); and for
    how many seconds each node was down in all.
    """
    # What is this row's alone lies at its end; the time before it is an earlier row's.
    of_system = system.node[order] == ""
    own = system.own[order] * np.where(of_system, 1, system.units) * down[system.category[order]]
    low = np.maximum(system.start[order], system.begin) - system.begin
    high = system.stop[order] - system.begin
    whole = _whole(system, down) if by_node else lambda when: np.zeros(len(when))
    lost = own - (whole(high) - whole(high - own))  # of the node alone, when the whole was not down
    first = np.flatnonzero(np.r_[True, node[1:] != node[:-1]])
    before = np.r_[0.0, np.cumsum(lost)[:-1]]
    before -= before[first][node]
    stopped = np.add.reduceat(lost, first) if len(first) else np.zeros(0)
    return low - before - whole(low), stopped + whole(np.full(len(first), system.end - system.begin))


def _whole(system: System, down: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """How many seconds the whole system was down until `when`, in seconds since observation began."""
    rows = np.flatnonzero((system.node == "") & down[system.category] & (system.own > 0))
    rows = rows[np.argsort(system.start[rows], kind="stable")]
    stops = system.stop[rows] - system.begin
    starts = stops - system.own[rows]
    total = np.r_[0.0, np.cumsum(system.own[rows])]

    def until(when: np.ndarray) -> np.ndarray:
        k = np.searchsorted(starts, when, side="right")
        beyond = np.maximum(0.0, stops[np.maximum(k - 1, 0)] - when) if len(rows) else 0.0
        return total[k] - np.where(k > 0, beyond, 0.0)

    return until
