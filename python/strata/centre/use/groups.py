"""Tables by width, by how runs ended, and by user, group, partition or program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strata.centre.jobs.rows import KINDS, WASTED, Rows
from strata.centre.use.account import HOUR, Runs
from strata.centre.use.bootstrap import Draws, interval, ratios
from strata.errors import StrataError

LISTED = 25  # of each table; all others are one row
OTHERS = "all others"
NONE = "(none)"


@dataclass(frozen=True)
class Group:
    """`hours` of processors within observation, `share` of all (%), `wasted` of its own (%); medians of those
    that waited, in hours.
    """

    name: str
    starts: int
    hours: float
    share: float
    wasted: float
    wait: float | None
    wait_90: float | None
    slowdown: float | None
    low: float | None = None  # the interval of the share, where days were enough
    high: float | None = None


def width_edges(text: str | None, widest: int) -> list[tuple[int, int]]:
    """Classes of widths, `1-31,32-1023,1024-4114` as given, else powers of two. Raises StrataError for
    classes that are none, overlap or are out of order.
    """
    if text is None:
        lows = [1 << k for k in range(max(widest, 1).bit_length())]
        return [(low, min(2 * low - 1, widest)) for low in lows]
    found: list[tuple[int, int]] = []
    for piece in text.split(","):
        low, dash, high = (p.strip() for p in piece.partition("-"))
        good = low.isdecimal() and (high.isdecimal() if dash else True)
        pair = (int(low), int(high or low)) if good else (1, 0)
        if not good or pair[0] < 1 or pair[1] < pair[0] or (found and pair[0] <= found[-1][1]):
            raise StrataError(
                "not classes of widths",
                at="--widths",
                given=piece.strip() or text,
                allowed="such as 1-31,32-1023,1024-4114",
            )
        found.append(pair)
    return found


def classes(cores: np.ndarray, edges: Sequence[tuple[int, int]]) -> np.ndarray:
    """The class of each width; those between classes are of one more, the last."""
    lows, highs = np.array(edges).T
    place = np.searchsorted(lows, cores, side="right") - 1
    inside = (place >= 0) & (cores <= highs[np.maximum(place, 0)])
    return np.where(inside, place, len(edges)).astype(np.int16)


def by_class(
    rows: Rows, jobs: Runs, code: np.ndarray, names: Sequence[str], drawn: Draws, days: np.ndarray | None
) -> list[Group]:
    """A row for each name, in their order, of which there are few. `days`: processor-seconds of each day and
    name, for intervals.
    """
    total = float(jobs.work.sum())
    size = len(names)
    work = np.bincount(code, weights=jobs.work, minlength=size)
    waste = np.isin(rows.state[jobs.index], WASTED)
    wasted = np.bincount(code[waste], weights=jobs.work[waste], minlength=size)
    starts = np.bincount(code[jobs.began], minlength=size)
    order = np.argsort(code.astype(np.int16), kind="stable")
    cuts = np.searchsorted(code[order], np.arange(size + 1))
    found = []
    for k, name in enumerate(names):
        if not work[k] and not starts[k]:
            continue
        here = order[cuts[k] : cuts[k + 1]]
        low, high = None, None
        if days is not None and drawn.any:
            share = ratios(drawn, 100 * days[:, k], days.sum(axis=1))
            low, high = interval(share, 100 * work[k] / total if total else None)
        found.append(
            Group(
                name,
                int(starts[k]),
                work[k] / HOUR,
                100 * work[k] / total if total else 0.0,
                100 * wasted[k] / work[k] if work[k] else 0.0,
                _quantile(jobs.wait[here], 0.5, HOUR),
                _quantile(jobs.wait[here], 0.9, HOUR),
                _quantile(jobs.slowdown[here], 0.5),
                low,
                high,
            )
        )
    return found


def _quantile(values: np.ndarray, q: float, scale: float = 1.0) -> float | None:
    values = values[~np.isnan(values)]
    return float(np.quantile(values, q)) / scale if len(values) else None


def by_name(rows: Rows, jobs: Runs, column: str, hide: bool) -> list[Group]:
    """The LISTED names with the most processor-hours, then all others as one. `hide`: numbers for names."""
    coded = rows.column(column)
    if coded is None:
        return []
    own = coded.codes[jobs.index]
    names = [*coded.names, NONE]
    code = np.where(own < 0, len(names) - 1, own)
    work = np.bincount(code, weights=jobs.work, minlength=len(names))
    there = np.bincount(code, minlength=len(names)) > 0
    order = np.lexsort((-work, ~there))  # names without a run last
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    known = int(there.sum())
    few = known <= LISTED + 1
    shown = known if few else LISTED
    titles = [
        f"{column} {i + 1}" if hide and names[k] != NONE else names[k] for i, k in enumerate(order[:shown])
    ]
    if not few:
        titles.append(f"{OTHERS} ({known - shown})")
    place = np.minimum(rank[code], shown)
    return by_class(rows, jobs, place, titles, Draws(np.zeros((0, 0))), None)


@dataclass(frozen=True)
class End:
    """How runs ended: `hours` of processors and of nodes (None where the log does not say nodes)."""

    kind: str
    runs: int
    hours: float
    share: float
    node_hours: float | None


def ends(rows: Rows, jobs: Runs) -> list[End]:
    """A row for each kind of end that there is."""
    state = rows.state[jobs.index]
    kinds = len(KINDS)
    count = np.bincount(state[rows.counts[jobs.index]], minlength=kinds)
    work = np.bincount(state, weights=jobs.work, minlength=kinds)
    nodes = rows.nodes[jobs.index]
    known = bool((nodes > 0).any())
    lasts = (jobs.end - jobs.start) * rows.held[jobs.index]
    by_node = np.bincount(state, weights=nodes * lasts, minlength=kinds)
    total = float(work.sum())
    return [
        End(
            kind,
            int(count[k]),
            work[k] / HOUR,
            100 * work[k] / total if total else 0.0,
            by_node[k] / HOUR if known else None,
        )
        for k, kind in enumerate(KINDS)
        if count[k] or work[k]
    ]
