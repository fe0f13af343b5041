"""The plots of flows: Cp and Cf beside recorded curves, convergence, series of grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from strata.flow.refinement import Refined
from strata.flow.surface import Curve, Surface
from strata.report.figures.theme import INK, SERIES, SOFT, canvas, finish
from strata.run.series import Series

_DRAWN = 1500  # points of a line


def pressure(key: str, walls: Surface, beside: Sequence[Curve]) -> str:
    """Cp over x, upwards where it is negative, as is usual for airfoils."""
    with canvas(7.4, 3.6) as (figure, axes):
        _beside(axes, beside)
        axes.plot(walls["x"], walls["cp"], ".", color=SERIES[0], markersize=3.5, label="this run")
        axes.invert_yaxis()
        axes.set_xlabel("x")
        axes.set_ylabel("Cp")
        axes.legend(loc="best")
        return finish(figure, key)


def friction(key: str, walls: Surface, beside: Sequence[Curve]) -> str:
    """The size of Cf over x."""
    with canvas(7.4, 3.6) as (figure, axes):
        _beside(axes, beside)
        axes.plot(walls["x"], walls.cf, ".", color=SERIES[0], markersize=3.5, label="this run")
        # A leading edge has a peak that leaves no room for the rest.
        high = float(np.quantile(walls.cf, 0.95)) * 2
        axes.set_ylim(0, min(high, 1.05 * float(walls.cf.max())))
        axes.set_xlabel("x")
        axes.set_ylabel("|Cf|")
        axes.legend(loc="best")
        return finish(figure, key)


def sections(key: str, stations: Sequence[tuple[float, float]], beside: Sequence[Curve]) -> str:
    """The lift of a blade's sections over the radius."""
    with canvas(7.4, 3.2) as (figure, axes):
        for colour, curve in zip(SERIES[1:], beside, strict=False):
            axes.plot(curve.x, curve.values, "s-", color=colour, linewidth=0.8, label=curve.name)
        shares, lifts = zip(*stations, strict=True)
        axes.plot(shares, lifts, "o", color=SERIES[0], label="this run")
        axes.set_xlim(0, 1.02)
        axes.set_ylim(bottom=0 if min(lifts) >= 0 else None)
        axes.set_xlabel("r / R")
        axes.set_ylabel("lift of the section")
        axes.legend(loc="best")
        return finish(figure, key)


def _beside(axes: Any, curves: Sequence[Curve]) -> None:
    for colour, curve in zip(SERIES[1:], curves, strict=False):
        axes.plot(
            curve.x,
            np.abs(curve.values) if curve.quantity == "cf" else curve.values,
            color=colour,
            linewidth=1.0,
            label=curve.name,
        )


def convergence(key: str, rows: Series) -> str:
    """Residuals over iterations."""
    names = [name for name in rows if name.startswith("residual")]
    step = max(1, len(rows) // _DRAWN)
    with canvas(7.4, 3.0) as (figure, axes):
        for colour, name in zip(SERIES, names, strict=False):
            values = rows[name][::step]
            shown = np.where(values > 0, values, np.nan)
            axes.semilogy(rows["step"][::step], shown, color=colour, linewidth=1.0, label=name)
        axes.set_xlabel("iteration")
        axes.legend(loc="best")
        return finish(figure, key)


def coefficient(key: str, rows: Series, name: str) -> str:
    """A coefficient over iterations, from where it is within a fifth of its last value."""
    values = rows[name]
    last = values[-1]
    far = np.flatnonzero(np.abs(values - last) > 0.2 * abs(last))
    begin = min(int(far[-1]) + 1, len(values) - 2) if len(far) else 0
    step = max(1, (len(values) - begin) // _DRAWN)
    with canvas(7.4, 2.5) as (figure, axes):
        axes.plot(rows["step"][begin::step], values[begin::step], color=SERIES[0], linewidth=1.0)
        axes.axhline(last, color=SOFT, linewidth=0.8, linestyle=":")
        axes.set_xlabel("iteration")
        axes.set_ylabel(name)
        return finish(figure, key)


def grids(key: str, found: Refined, name: str, uncertainty: float) -> str:
    """The numbers of a series of grids, what was fitted to them, and the interval of the finest."""
    with canvas(7.4, 3.2) as (figure, axes):
        h = np.linspace(0, found.widths[-1] * 1.02, 200)
        axes.plot(h, [found.fit.at(x) if x > 0 else found.limit for x in h], color=SERIES[1], label="fit")
        axes.plot(found.widths, found.values, "o", color=SERIES[0], label="grids")
        axes.errorbar(
            [1.0], [found.value], [uncertainty], color=INK, capsize=4, linewidth=1.2, label="uncertainty"
        )
        axes.set_xlim(left=0)
        axes.set_xlabel("width of cells, over that of the finest grid")
        axes.set_ylabel(name)
        axes.legend(loc="best")
        return finish(figure, key)
