"""Processors in use over time, exact to the second: sums over days, and a sweep over starts and ends.

The use of a day is the integral of the processors in use. `per_bin()` gets it without sorting: with W(t) the
processors of all jobs that began before t, less those that ended, a day from a to b has (b - a) W(a), and
what the starts and ends within it add and take. All terms are whole numbers below 2^53 for whole seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strata.centre.outages import times
from strata.centre.outages.history import System

_AT_ONCE = 1 << 20
_NO_TIME = 1e-3  # seconds: what rounding leaves of none in a difference of sums


@dataclass(frozen=True)
class Calendar:
    """Days of local time from the begin to the end of observation, the first and the last of which may be
    cut. `edges`: when each begins, in seconds since 1970, and when the last one ends. `month`: the place in
    `months` of each day.
    """

    edges: np.ndarray
    days: list[str]
    month: np.ndarray
    months: list[str]

    @property
    def length(self) -> np.ndarray:
        return np.diff(self.edges)

    @property
    def begin(self) -> float:
        return float(self.edges[0])

    @property
    def end(self) -> float:
        return float(self.edges[-1])

    def of(self, when: np.ndarray) -> np.ndarray:
        """The day of each time, which lies within observation."""
        return np.searchsorted(self.edges, when, side="right") - 1


def calendar(begin: float, end: float, zone: str, cuts: Sequence[float] = ()) -> Calendar:
    """Days from `begin` to `end`. At `cuts` a day ends, too."""
    import pandas as pd

    first, last = (pd.Timestamp(t, unit="s", tz="UTC").tz_convert(zone) for t in (begin, end))
    local = pd.date_range(first.tz_localize(None).normalize(), last.tz_localize(None), freq="D")
    # Where clocks skip midnight itself, the day begins when they have gone forward.
    aware = local.tz_localize(zone, ambiguous=np.ones(len(local), bool), nonexistent="shift_forward")
    midnights = aware.tz_convert(times.UTC).as_unit("s").asi8.astype(float)
    inner = np.unique(np.r_[midnights, cuts])
    edges = np.r_[begin, inner[(inner > begin) & (inner < end)], end]
    starts = pd.to_datetime(edges[:-1], unit="s", utc=True).tz_convert(zone)
    days = [str(t) for t in starts.strftime("%Y-%m-%d")]
    months, month = np.unique([d[:7] for d in days], return_inverse=True)
    return Calendar(edges, days, month, [str(m) for m in months])


def per_bin(start: np.ndarray, end: np.ndarray, weight: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The integral over each bin of the sum of `weight` over what lasts from `start` to `end`. Both lie
    within the edges.
    """
    bins = len(edges) - 1
    total, standing = np.zeros(bins), np.zeros(bins + 1)
    for when, sign in ((start, 1.0), (end, -1.0)):
        place = np.minimum(np.searchsorted(edges, when, side="right") - 1, bins - 1)
        left = weight * (edges[place + 1] - when)
        total += sign * np.bincount(place, weights=left, minlength=bins)
        standing[1:] += sign * np.bincount(place, weights=weight, minlength=bins)
    return total + np.cumsum(standing)[:-1] * np.diff(edges)


def running(top: np.ndarray, bottom: np.ndarray, bins: int) -> np.ndarray:
    """The ratio of sums over so many bins around each, fewer at the ends; NaN where nothing is below."""
    place = np.arange(len(top))
    first, last = np.maximum(place - bins // 2, 0), np.minimum(place + (bins + 1) // 2, len(top))
    above, below = (np.r_[0.0, np.cumsum(x, dtype=float)] for x in (top, bottom))
    with np.errstate(invalid="ignore", divide="ignore"):
        under = below[last] - below[first]
        return np.where(under > _NO_TIME, (above[last] - above[first]) / under, np.nan)


@dataclass(frozen=True)
class Steps:
    """A quantity that changes at times: `change` is added at `when`."""

    when: np.ndarray
    change: np.ndarray


@dataclass(frozen=True)
class Use:
    """Processor-seconds of each day: in use, of the machine, and available (the machine less what was down;
    what was in use was not down, as far as the machine has it). `peak`: most in use at once; `over`: seconds
    in which that was more than the machine has.
    """

    used: np.ndarray
    whole: np.ndarray
    available: np.ndarray
    peak: float
    over: float


def peak(start: np.ndarray, end: np.ndarray, weight: np.ndarray) -> float:
    """Most processors in use at once."""
    when, level = _levels([(start, weight), (end, -weight)])
    return float(level[np.diff(when, append=np.inf) > 0].max(initial=0.0))


def _levels(changes: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Times in their order and the sum of all changes until then. Of equal times the last one has it."""
    when = np.concatenate([t for t, _ in changes])
    order = np.argsort(when)
    change = np.concatenate([c for _, c in changes])[order]
    return when[order], np.cumsum(change, out=change)


def sweep(
    start: np.ndarray, end: np.ndarray, weight: np.ndarray, parts: Steps, down: Steps, edges: np.ndarray
) -> Use:
    """The use of the machine by jobs. `parts` are its processors, `down` the share that is out of service."""
    marks = [(t, np.zeros(len(t))) for t in (edges, parts.when, down.when)]  # where a day or a level begins
    when, level = _levels([(start, weight), (end, -weight), *marks])
    days = len(edges) - 1
    sums, most, over = np.zeros((3, days)), 0.0, 0.0
    for first in range(0, len(when) - 1, _AT_ONCE):  # or each array of a large log takes its memory at once
        here = slice(first, min(first + _AT_ONCE, len(when) - 1))
        time, used = when[here], np.maximum(level[here], 0.0)
        lasts = when[here.start + 1 : here.stop + 1] - time
        lasts[(time < edges[0]) | (time >= edges[-1])] = 0.0
        whole, out = (_at(steps, time) for steps in (parts, down))
        available = np.minimum(np.maximum(whole * (1.0 - np.clip(out, 0.0, 1.0)), used), whole)
        day = np.clip(np.searchsorted(edges, time, side="right") - 1, 0, days - 1)
        for k, x in enumerate((used, whole, available)):
            sums[k] += np.bincount(day, weights=x * lasts, minlength=days)
        most = max(most, float(used[lasts > 0].max(initial=0.0)))
        over += float(lasts[used > whole + 1e-6].sum())
    return Use(*sums, most, over)


def _at(steps: Steps, when: np.ndarray) -> np.ndarray:
    order = np.argsort(steps.when, kind="stable")
    level = np.r_[0.0, np.cumsum(steps.change[order])]
    return level[np.searchsorted(steps.when[order], when, side="right")]


def outage_steps(one: System, down: Sequence[bool]) -> Steps:
    """The share of a system that was out of service. `down`: which categories are. A node is one part of
    `units`; several outages of it at once count once.
    """
    which = np.asarray(down, bool)[one.category] if len(one.category) else np.zeros(0, bool)
    which &= one.stop > one.start
    names, node = np.unique(one.node[which], return_inverse=True)
    order = np.lexsort((one.start[which], node))
    low, high, node = one.start[which][order], one.stop[which][order], node[order]
    when, change = [np.zeros(0)], [np.zeros(0)]
    for name, begin, stop in zip(names, *_of_each(node, low, high), strict=True):
        begin, stop = _merged(begin, stop)
        share = 1.0 / max(one.units, 1) if name else 1.0
        when += [begin, stop]
        change += [np.full(len(begin), share), np.full(len(stop), -share)]
    return Steps(np.concatenate(when), np.concatenate(change))


def _of_each(node: np.ndarray, *columns: np.ndarray) -> list[list[np.ndarray]]:
    """Columns that are sorted by node, cut into those of each."""
    cuts = np.flatnonzero(np.diff(node)) + 1
    return [np.split(column, cuts) if len(node) else [] for column in columns]


def _merged(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Intervals, by start, with those that overlap or touch as one."""
    high = np.maximum.accumulate(high)
    first = np.r_[True, low[1:] > high[:-1]]
    return low[first], high[np.r_[first[1:], True]]
