"""The plots of a reliability report: days without interrupt against the date as in the Origin2000's account,
interrupts counted over time, and MTTI against part count.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from strata.centre.outages.categories import TOTALS
from strata.centre.reliability.analysis import Finding
from strata.centre.reliability.parts import PartLaw
from strata.report.figures.theme import INK, SERIES, SOFT, canvas, finish

RUNNING = 10  # interrupts of the running mean: the five before and the five after
_DRAWN = 400  # points of a plot; with more, the longest of each stretch of time is drawn


def days_up(key: str, one: Finding, since: float | None) -> str:
    """Triangles: an interrupt, as high as the days since the start of the one before. `since`: days of
    observation before the date from which the second account counts.
    """
    period = one.system.period
    at = one.starts - period
    up = np.diff(one.starts, prepend=0.0)
    with canvas(7.4, 3.4, ncols=2, width_ratios=(2.0, 1.0)) as (figure, (left, right)):
        x, y = _thinned(at, up)
        left.plot(np.repeat(x, 3), _stems(y), color=SERIES[0], linewidth=0.8, alpha=0.6)
        left.plot(x, y, "^", color=SERIES[0], label="days without interrupt", markersize=3.5)
        middle, mean = running(one.starts, period)
        if len(middle):
            left.plot(
                *_thinned(middle - period, mean), color=SERIES[1], label=f"mean over {RUNNING} interrupts"
            )
        row = one.account.row(TOTALS[2])
        if row.mtti is not None:
            left.axhline(
                row.mtti, color=INK, linewidth=1.0, linestyle="--", label=f"MTTI {row.mtti:.1f} days"
            )
        if since is not None and 0 < since < period:
            left.axvline(since - period, color=SOFT, linewidth=1.0, linestyle=":")
        left.set_xlabel("days before the end of observation")
        left.set_ylabel("days, start to start")
        left.set_ylim(bottom=0)
        left.set_xlim(-period * 1.02, period * 0.02)
        _counted(right, one)
        figure.legend(loc="outside upper left", ncols=4)
        return finish(figure, key)


def _counted(axes: Any, one: Finding) -> None:
    a, period = axes, one.system.period
    count = np.arange(1, len(one.starts) + 1)
    x, y = _thinned(one.starts, count)
    a.step(np.r_[0, x], np.r_[0, y], where="post", color=SERIES[2])
    if one.growth is not None:
        t = np.linspace(0, period, 100)
        n = one.growth.events * (t / period) ** one.growth.beta
        a.plot(t, n, color=SERIES[4], linewidth=1.2, label=f"Crow-AMSAA, β {one.growth.beta:.2f}")
    a.set_xlabel("days of observation")
    a.set_ylabel("interrupts")
    a.set_ylim(bottom=0)


def running(starts: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean days between interrupts over RUNNING of them, each mean at the middle of its interrupts."""
    half = RUNNING // 2
    if len(starts) <= RUNNING:
        return np.zeros(0), np.zeros(0)
    return starts[half:-half], (starts[RUNNING:] - starts[:-RUNNING]) / RUNNING


def _stems(y: np.ndarray) -> np.ndarray:
    """Heights of one line that is a stem below each point."""
    return np.stack([np.zeros(len(y)), y, np.full(len(y), np.nan)], axis=1).ravel()


def _thinned(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if len(x) <= _DRAWN:
        return x, y
    edges = np.linspace(0, len(x), _DRAWN + 1).astype(int)
    best = np.array([a + int(np.argmax(y[a:b])) for a, b in pairwise(edges)])
    return x[best], y[best]


def part_count(key: str, findings: Sequence[Finding], law: PartLaw | None, larger: int | None) -> str:
    """MTTI of each system against its parts, with intervals, and the law through them."""
    with canvas(7.4, 3.6) as (figure, axes):
        alike: dict[int, int] = {}
        for one in findings:
            row, parts = one.account.row(TOTALS[2]), float(one.system.parts or 0)
            if not parts or row.mtti is None:
                continue
            alike[int(parts)] = alike.get(int(parts), -1) + 1
            parts *= 1.12 ** alike[int(parts)]  # systems of one size stand beside each other
            axes.plot([parts, parts], [row.low, row.high], color=SERIES[0], linewidth=3.5, alpha=0.35)
            axes.plot([parts], [row.mtti], "o", color=SERIES[0])
            axes.annotate(
                one.system.name, (parts, row.mtti), xytext=(5, 4), textcoords="offset points", fontsize=8
            )
        if law is not None:
            known = [f.system.parts for f in findings if f.system.parts]
            x = np.geomspace(min(known), max([*known, larger or 1]), 60)
            y = np.array([law.mtti(p) for p in x])
            axes.plot(x, y[:, 0], color=SERIES[1], label=f"MTTI ~ parts^-{law.exponent:.2f}")
            axes.fill_between(x, y[:, 1], y[:, 2], color=SERIES[1], alpha=0.15, linewidth=0)
            figure.legend(loc="outside upper left")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("parts")
        axes.set_ylabel("MTTI, days")
        _plain(axes)
        return finish(figure, key)


def _plain(axes: Any) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    plain = FuncFormatter(lambda v, _: f"{v:g}")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(plain)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda v, _: f"{v:g}" if f"{v:e}"[0] in "25" else ""))
