"""What is counted of each day, and the figures of a period: sums over its days, quantiles of its jobs, and
their intervals.

Slowdown is (wait + run) / run; the bounded one takes max(run, 10 s) below and is at least 1 (D. G. Feitelson,
"Metrics for parallel job scheduling and their convergence", JSSPP 2001).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.centre.jobs.rows import KINDS, NODE, WASTED, Rows
from strata.centre.outages.history import DAY
from strata.centre.reliability.account import mtti
from strata.centre.use.bootstrap import NONE, Draws, block_of, draws, interval, quantiles, ratios
from strata.centre.use.occupancy import Calendar, Use, per_bin

HOUR = 3600.0
SHORT = 10.0  # seconds: the bound of the bounded slowdown
_GRID = np.r_[0.0, np.geomspace(1.0, 1e8, 321)]  # of waits in seconds, and of slowdowns


@dataclass
class Runs:
    """What the figures need of each run, with its times cut to observation; rows that never ran are left out.
    `work`: processor-seconds. Waits are NaN where the submission is unknown or lies after the start.
    """

    start: np.ndarray
    end: np.ndarray
    weight: np.ndarray
    work: np.ndarray
    began: np.ndarray  # within observation, and the first piece of its job
    ended: np.ndarray
    wait: np.ndarray
    slowdown: np.ndarray
    index: np.ndarray  # of the row in the log


@dataclass
class Daily:
    """A row for each day. `by_width`: processor-seconds, a column for each class of widths; `by_state`: for
    each kind of end, on the day of the end.
    """

    use: Use
    starts: np.ndarray
    ends: np.ndarray
    waits: np.ndarray
    wait_sum: np.ndarray
    wait_counts: np.ndarray
    slow_sum: np.ndarray
    slow_counts: np.ndarray
    by_width: np.ndarray
    by_state: np.ndarray
    wide: np.ndarray
    failures: np.ndarray | None  # times at which nodes ended jobs, each once; None: the log does not say it
    lost_jobs: np.ndarray  # jobs that nodes ended, of each day


@dataclass(frozen=True)
class Figure:
    """A figure of a period with its interval, and its value in each drawing of the days."""

    key: str
    title: str
    unit: str
    value: float | None
    low: float | None = None
    high: float | None = None
    drawn: np.ndarray | None = None
    events: int | None = None  # of which it is the time between


@dataclass(frozen=True)
class Period:
    """Figures of a range of days."""

    name: str
    begin: float
    end: float
    figures: tuple[Figure, ...]

    def figure(self, key: str) -> Figure:
        return next(f for f in self.figures if f.key == key)

    @property
    def days(self) -> float:
        return (self.end - self.begin) / DAY


def runs(rows: Rows, begin: float, end: float) -> Runs:
    """The runs that last in observation."""
    start = rows.start
    stop = np.where(np.isnan(rows.end), end, rows.end)
    index = np.flatnonzero((start < end) & (stop >= begin))  # NaN, which never ran, is in neither
    start, stop = start[index], stop[index]
    low, high = np.maximum(start, begin), np.minimum(stop, end)
    weight = rows.cores[index] * rows.held[index].astype(float)
    began = (start >= begin) & rows.counts[index]
    ended = ~np.isnan(rows.end[index]) & (stop <= end) & rows.counts[index]
    wait = start - rows.ready[index]
    wait[(wait < 0) | ~began] = np.nan
    lasts = np.where(np.isnan(rows.end[index]), np.nan, stop - start)
    slowdown = np.maximum(1.0, (wait + lasts) / np.maximum(lasts, SHORT))
    return Runs(low, high, weight, weight * (high - low), began, ended, wait, slowdown, index)


def daily(
    rows: Rows, jobs: Runs, use: Use, days: Calendar, width_class: np.ndarray, classes: int, wide: int
) -> Daily:
    """All sums of all days."""
    count, edges = len(days.days), days.edges
    born = jobs.began
    day = np.minimum(days.of(jobs.start), count - 1)
    over = np.minimum(days.of(jobs.end), count - 1)
    state = rows.state[jobs.index]
    waited = born & ~np.isnan(jobs.wait)
    slow = born & ~np.isnan(jobs.slowdown)
    broad = rows.cores[jobs.index] >= wide
    failed = (state == NODE) & jobs.ended
    by_width = np.stack(
        [
            per_bin(jobs.start[here], jobs.end[here], jobs.weight[here], edges)
            for here in (width_class == k for k in range(classes))
        ],
        axis=1,
    )
    kinds = len(KINDS)
    return Daily(
        use,
        np.bincount(day[born], minlength=count),
        np.bincount(over[jobs.ended], minlength=count),
        np.bincount(day[waited], minlength=count),
        np.bincount(day[waited], weights=jobs.wait[waited], minlength=count),
        _histogram(day[waited], jobs.wait[waited], count),
        np.bincount(day[slow], weights=jobs.slowdown[slow], minlength=count),
        _histogram(day[slow], jobs.slowdown[slow], count),
        by_width,
        np.bincount(over * kinds + state, weights=jobs.work, minlength=count * kinds).reshape(count, kinds),
        per_bin(jobs.start[broad], jobs.end[broad], jobs.weight[broad], edges),
        np.unique(jobs.end[failed]) if rows.form != "swf" else None,
        np.bincount(over[failed], minlength=count),
    )


def _histogram(day: np.ndarray, values: np.ndarray, days: int) -> np.ndarray:
    bins = len(_GRID) - 1
    place = np.clip(np.searchsorted(_GRID, values, side="right") - 1, 0, bins - 1)
    return np.bincount(day * bins + place, minlength=days * bins).reshape(days, bins)


def period(name: str, jobs: Runs, sums: Daily, days: Calendar, which: slice, wide: str, seed: int) -> Period:
    """The figures of the days of a slice."""
    length = days.length[which]
    begin, end = float(days.edges[which.start]), float(days.edges[which.stop])
    drawn = draws(len(length), seed)
    u = sums.use
    used = u.used[which]
    waste = sums.by_state[which][:, list(WASTED)].sum(axis=1)
    figures = [
        _ratio("utilisation", "Utilisation of the whole time", "%", 100 * used, u.whole[which], drawn),
        _ratio("utilisation_up", "Utilisation of the time up", "%", 100 * used, u.available[which], drawn),
        _ratio("available", "Availability", "%", 100 * u.available[which], u.whole[which], drawn),
        _ratio("starts", "Starts of jobs", "a day", sums.starts[which], length / DAY, drawn),
        _ratio("ends", "Ends of jobs", "a day", sums.ends[which], length / DAY, drawn),
        _ratio("delivered", "Processor-hours delivered", "a day", used / HOUR, length / DAY, drawn),
        _ratio("wide", f"Share of jobs of {wide}", "%", 100 * sums.wide[which], used, drawn),
        _ratio("wait_mean", "Mean wait", "h", sums.wait_sum[which] / HOUR, sums.waits[which], drawn),
        _ratio(
            "slowdown_mean",
            "Mean bounded slowdown",
            "",
            sums.slow_sum[which],
            sums.slow_counts[which].sum(axis=1),
            drawn,
        ),
        _ratio(
            "wasted",
            "Wasted (failed, timed out, killed by nodes)",
            "%",
            100 * waste,
            sums.by_state[which].sum(axis=1),
            drawn,
        ),
    ]
    here = jobs.began & (jobs.start >= begin) & (jobs.start < end)
    for key, title, unit, values, counts, q, scale in (
        ("wait_median", "Median wait", "h", jobs.wait, sums.wait_counts, 0.5, HOUR),
        ("wait_90", "90 % wait no longer than", "h", jobs.wait, sums.wait_counts, 0.9, HOUR),
        ("slowdown_median", "Median bounded slowdown", "", jobs.slowdown, sums.slow_counts, 0.5, 1.0),
    ):
        figures.append(_quantile(key, title, unit, values[here], counts[which], q, scale, drawn))
    figures.append(_between(sums.failures, begin, end))
    return Period(name, begin, end, tuple(figures))


def _ratio(key: str, title: str, unit: str, top: np.ndarray, bottom: np.ndarray, drawn: Draws) -> Figure:
    total = float(bottom.sum())
    if total <= 0:
        return Figure(key, title, unit, None)
    value = float(top.sum()) / total
    if not drawn.any:
        return Figure(key, title, unit, value)
    again = ratios(drawn, top, bottom)
    return Figure(key, title, unit, value, *interval(again, value), again)


def _quantile(
    key: str,
    title: str,
    unit: str,
    values: np.ndarray,
    counts: np.ndarray,
    q: float,
    scale: float,
    drawn: Draws,
) -> Figure:
    values = values[~np.isnan(values)]
    if not len(values):
        return Figure(key, title, unit, None)
    value = float(np.quantile(values, q)) / scale
    if not drawn.any:
        return Figure(key, title, unit, value)
    again = quantiles(drawn, counts, _GRID, q) / scale
    return Figure(key, title, unit, value, *interval(again, value), again)


def _between(failures: np.ndarray | None, begin: float, end: float) -> Figure:
    """Mean time between interrupts of jobs, with Garwood's interval as in the reliability report."""
    if failures is None:
        return Figure("between", "Mean time between interrupts of jobs", "h", None)
    count = int(((failures >= begin) & (failures <= end)).sum())
    value, low, high = mtti((end - begin) / HOUR, count)
    return Figure("between", "Mean time between interrupts of jobs", "h", value, low, high, None, count)


@dataclass(frozen=True)
class Change:
    """A figure before and after a date: the difference with its interval, where days were enough. `told`: it
    is beyond chance, all figures together; None: too little is known.
    """

    before: Figure
    after: Figure
    difference: float | None
    low: float | None
    high: float | None
    told: bool | None

    @property
    def words(self) -> str:
        if self.told is None:
            return "too little is known"
        if not self.told:
            return "no change beyond chance"
        rarer = (self.before.events or 0) - (self.after.events or 0)  # one side may have no interrupt at all
        return "more" if (rarer if self.difference is None else self.difference) > 0 else "less"


def changes(before: Period, after: Period) -> list[Change]:
    """Each figure of two periods, each drawn by itself. The 5 % are for all of them (Bonferroni)."""
    pairs = list(zip(before.figures, after.figures, strict=True))
    chances = [_chance(a, b, before.days, after.days) for a, b in pairs]
    level = 0.05 / max(1, sum(p is not None for p in chances))
    found = []
    for (a, b), p in zip(pairs, chances, strict=True):
        difference = None if a.value is None or b.value is None else b.value - a.value
        ends = NONE if a.drawn is None or b.drawn is None else interval(b.drawn - a.drawn, difference)
        found.append(Change(a, b, difference, *ends, None if p is None else p < level))
    return found


def _chance(a: Figure, b: Figure, days_a: float, days_b: float) -> float | None:
    """How likely such a difference is without a change. Of counts exact: given their sum, those before are
    binomial. Of all others by Student's t with the deviation of the drawings, which k blocks give with k - 1
    degrees of freedom and, as every bootstrap of a mean, too small by (k - 1) / k.
    """
    from scipy.stats import binomtest, t

    if a.events is not None and b.events is not None:
        total = a.events + b.events
        return float(binomtest(a.events, total, days_a / (days_a + days_b)).pvalue) if total else None
    if a.value is None or b.value is None or a.drawn is None or b.drawn is None:
        return None
    blocks = [max(2.0, days / block_of(round(days))) for days in (days_a, days_b)]
    variances = [
        float(np.nanvar(f.drawn)) * k / (k - 1)
        for f, k in zip((a, b), blocks, strict=True)
        if f.drawn is not None
    ]
    deviation = float(np.sqrt(sum(variances)))
    if deviation == 0:
        return 0.0 if a.value != b.value else 1.0
    return float(2 * t.sf(abs(b.value - a.value) / deviation, min(blocks) - 1))
