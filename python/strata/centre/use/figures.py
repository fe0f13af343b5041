"""The plots of a report on use: utilisation, widths, waits, starts, and the sustained rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from strata.centre.sampling.rates import Series
from strata.centre.use.analysis import Analysis
from strata.centre.use.groups import Group
from strata.centre.use.occupancy import running
from strata.report.figures.theme import INK, SERIES, SOFT, canvas, finish

WEEK, MONTH = 7, 28
_DRAWN = 1500  # points of a line


def _dates(seconds: np.ndarray) -> np.ndarray:
    return np.asarray(seconds, float).astype("datetime64[s]")


def _daily(axes: Any, whole: Analysis, top: np.ndarray, bottom: np.ndarray, label: str) -> None:
    when = _dates(whole.days.edges[:-1] + whole.days.length / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        points = np.where(bottom > 0, top / bottom, np.nan)
    many = len(points) > 400
    axes.plot(when, points, ".", color=SERIES[0], markersize=2.0 if many else 4.0, alpha=0.5, label=label)
    span = MONTH if len(points) > 4 * MONTH else WEEK
    if len(points) > 2 * span:
        axes.plot(when, running(top, bottom, span), color=SERIES[1], label=f"mean of {span} days")
    if whole.asked.since is not None:
        axes.axvline(_dates(np.array([whole.asked.since]))[0], color=SOFT, linewidth=1.0, linestyle=":")
    axes.set_ylim(bottom=0)
    dates(axes)


def dates(axes: Any) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    where = AutoDateLocator(minticks=3, maxticks=9)
    axes.xaxis.set_major_locator(where)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(where))


def utilisation(key: str, whole: Analysis) -> str:
    """Of each day, of the time in which the machine was up, and of each month of the whole time."""
    u = whole.sums.use
    with canvas(7.4, 3.4) as (figure, axes):
        _daily(axes, whole, 100 * u.used, u.available, "a day, of the time up")
        if whole.down is not None:
            when = _dates(whole.days.edges[:-1] + whole.days.length / 2)
            lost = 100 * (u.whole - u.available) / np.maximum(u.whole, 1)
            axes.vlines(
                when[lost > 0],
                0,
                lost[lost > 0],
                color=SERIES[4],
                linewidth=1.2,
                label="down, or out of service",
            )
        with np.errstate(invalid="ignore", divide="ignore"):
            most = np.nanmax(np.where(u.available > 0, 100 * u.used / u.available, 0.0))
        axes.set_ylim(0, 1.05 * max(100.0, float(most)))
        axes.set_ylabel("% of processors")
        figure.legend(loc="outside upper left", ncols=4)
        return finish(figure, key)


def starts(key: str, whole: Analysis) -> str:
    with canvas(7.4, 2.8) as (figure, axes):
        _daily(axes, whole, whole.sums.starts.astype(float), whole.days.length / 86400, "starts on a day")
        axes.set_ylabel("starts a day")
        figure.legend(loc="outside upper left", ncols=3)
        return finish(figure, key)


def widths(key: str, found: Sequence[Group]) -> str:
    """Of each class of widths: its share of the time in use, with intervals, and of the starts."""
    place = np.arange(len(found))
    every = max(sum(g.starts for g in found), 1)
    with canvas(7.4, 3.2) as (figure, axes):
        axes.bar(place - 0.2, [g.share for g in found], 0.4, color=SERIES[0], label="of the processor-hours")
        for x, g in zip(place, found, strict=True):
            if g.low is not None:
                axes.plot([x - 0.2, x - 0.2], [g.low, g.high], color=INK, linewidth=1.0)
        axes.bar(
            place + 0.2, [100 * g.starts / every for g in found], 0.4, color=SERIES[5], label="of the starts"
        )
        slant = {"rotation": 35, "ha": "right"} if len(found) > 7 else {}
        axes.set_xticks(place, [g.name for g in found], **slant)
        axes.set_xlabel("processors of a job")
        axes.set_ylabel("%")
        axes.grid(axis="x", visible=False)
        figure.legend(loc="outside upper left", ncols=2)
        return finish(figure, key)


def waits(key: str, whole: Analysis) -> str:
    """How many jobs waited no longer than a time, of the four quarters of the widths' range that ran most."""
    from matplotlib.ticker import FuncFormatter

    jobs, cores = whole.jobs, whole.log.cores[whole.jobs.index]
    waited = ~np.isnan(jobs.wait)
    wide = whole.wide[0]
    sides = [
        ("all", waited, SERIES[0]),
        (f"{wide} processors and more", waited & (cores >= wide), SERIES[1]),
        (f"fewer than {max(2, wide // 32)}", waited & (cores < max(2, wide // 32)), SERIES[2]),
    ]
    q = np.linspace(0, 1, 201)
    names = {
        1: "1 s",
        60: "1 min",
        600: "10 min",
        3600: "1 h",
        36000: "10 h",
        360000: "100 h",
        3600000: "1000 h",
    }
    with canvas(7.4, 3.0) as (figure, axes):
        top = 60.0
        for label, which, colour in sides:
            if which.any():
                values = np.quantile(jobs.wait[which], q)
                top = max(top, float(values[-1]))
                axes.plot(np.maximum(values, 1.0), 100 * q, color=colour, label=label)
        axes.set_xscale("log")
        axes.set_xlim(1, top)
        axes.set_xticks([t for t in names if t <= top * 1.01])
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: names.get(round(v), "")))
        axes.set_ylim(0, 100)
        axes.set_xlabel("waited no longer than")
        axes.set_ylabel("% of the jobs")
        figure.legend(loc="outside upper left", ncols=3)
        return finish(figure, key)


def groups(key: str, found: Sequence[Group]) -> str:
    """Processor-hours of the largest, with what was wasted."""
    drawn = list(found)[:12][::-1]
    place = np.arange(len(drawn))
    with canvas(7.4, 0.6 + 0.26 * len(drawn)) as (figure, axes):
        axes.barh(place, [g.share for g in drawn], 0.62, color=SERIES[0], label="of the processor-hours")
        axes.barh(
            place, [g.share * g.wasted / 100 for g in drawn], 0.62, color=SERIES[4], label="of these wasted"
        )
        axes.set_yticks(place, [g.name for g in drawn])
        axes.set_xlabel("%")
        axes.grid(axis="y", visible=False)
        figure.legend(loc="outside upper left", ncols=2)
        return finish(figure, key)


def sustained(key: str, series: Series, unit: str) -> str:
    """As Figure 10 of the Origin2000's account: half hours as points, the mean of seven days as a line."""
    with canvas(7.4, 3.2) as (figure, axes):
        when = _dates((series.edges[:-1] + series.edges[1:]) / 2)
        few = np.linspace(0, len(when) - 1, min(len(when), 4 * _DRAWN)).astype(int)
        axes.plot(
            when[few],
            series.rate[few],
            ".",
            color=SERIES[0],
            markersize=2.0,
            alpha=0.35,
            label=f"{series.minutes:g} minutes",
        )
        line = np.linspace(0, len(when) - 1, min(len(when), _DRAWN)).astype(int)
        axes.plot(when[line], series.week[line], color=SERIES[1], linewidth=2.0, label="mean of 7 days")
        axes.set_ylim(bottom=0)
        axes.set_ylabel(unit)
        dates(axes)
        figure.legend(loc="outside upper left", ncols=2)
        return finish(figure, key)


def programs(key: str, found: Sequence[tuple[str, Series]], unit: str) -> str:
    """The mean of seven days of each program."""
    with canvas(7.4, 2.8) as (figure, axes):
        for k, (name, series) in enumerate(found):
            when = _dates((series.edges[:-1] + series.edges[1:]) / 2)
            line = np.linspace(0, len(when) - 1, min(len(when), _DRAWN)).astype(int)
            axes.plot(when[line], series.week[line], color=SERIES[k % len(SERIES)], label=name)
        axes.set_ylim(bottom=0)
        axes.set_ylabel(unit)
        dates(axes)
        figure.legend(loc="outside upper left", ncols=4)
        return finish(figure, key)
