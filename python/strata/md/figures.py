"""The plots of an analysis."""

from __future__ import annotations

import numpy as np

from strata.md.analysis import Analysis
from strata.report.figures.theme import INK, SERIES, SOFT, canvas, finish

_DRAWN = 1500  # points of a line


def _thinned(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    step = max(1, len(x) // _DRAWN)
    return x[::step], y[::step]


def series(key: str, found: Analysis, name: str) -> str:
    """A quantity over time, its mean with the standard error, and from where on values count."""
    s, one = found.thermo, found.averages[name]
    begin = s["time"][np.searchsorted(s["step"], found.begin)]
    with canvas(7.4, 2.5) as (figure, axes):
        axes.plot(*_thinned(s["time"], s[name]), color=SERIES[0], linewidth=0.9)
        axes.axhline(one.mean, color=INK, linewidth=1.0, linestyle="--")
        axes.axhspan(one.mean - 2 * one.error, one.mean + 2 * one.error, color=SERIES[1], alpha=0.25)
        if begin > s["time"][0]:
            axes.axvline(begin, color=SOFT, linestyle=":", label="counted from here")
            axes.legend(loc="best")
        axes.set_xlabel(f"time, {found.units.time}")
        axes.set_ylabel(f"{name}, {s.units[name]}")
        return finish(figure, key)


def blocks(key: str, found: Analysis, names: list[str]) -> str:
    """The error of a mean against the length of blocks: where it stops rising, blocks are independent."""
    with canvas(7.4, 2.8) as (figure, axes):
        for colour, name in zip(SERIES, names, strict=False):
            levels = [x for x in found.averages[name].levels if x.error > 0]
            if not levels:
                continue
            first = levels[0].error
            axes.errorbar(
                [x.length for x in levels],
                [x.error / first for x in levels],
                [x.uncertainty / first for x in levels],
                color=colour,
                marker="o",
                markersize=3,
                linewidth=1.0,
                label=name,
            )
            axes.axhline(found.averages[name].error / first, color=colour, linewidth=0.8, linestyle="--")
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("rows in a block")
        axes.set_ylabel("error / naive error")
        axes.legend(loc="best")
        return finish(figure, key)


def radial(key: str, found: Analysis) -> str:
    """g(r), with twice the standard error."""
    with canvas(7.4, 3.2) as (figure, axes):
        for colour, (name, one) in zip(SERIES, found.radial.items(), strict=False):
            axes.plot(one.r, one.g, color=colour, label=name, linewidth=1.2)
            if np.isfinite(one.error).all():
                axes.fill_between(
                    one.r, one.g - 2 * one.error, one.g + 2 * one.error, color=colour, alpha=0.25, linewidth=0
                )
        axes.axhline(1, color=SOFT, linewidth=0.8, linestyle=":")
        axes.set_ylim(bottom=0)
        axes.set_xlabel(f"r, {found.units.length}")
        axes.set_ylabel("g(r)")
        if len(found.radial) > 1:
            axes.legend(loc="best")
        return finish(figure, key)


def displacement(key: str, found: Analysis) -> str:
    """The mean squared displacement, and the line whose slope is 6 D."""
    with canvas(7.4, 3.2) as (figure, axes):
        for colour, (name, one) in zip(SERIES, found.displacement.items(), strict=False):
            axes.plot(one.t, one.msd, color=colour, label=name)
            axes.fill_between(
                one.t, one.msd - 2 * one.error, one.msd + 2 * one.error, color=colour, alpha=0.25, linewidth=0
            )
            d = found.diffusion[name]
            inside = (one.t >= d.begin) & (one.t <= d.end)
            t = one.t[inside]
            middle = one.msd[inside].mean() - 6 * d.value * t.mean()
            axes.plot(t, middle + 6 * d.value * t, color=INK, linewidth=1.0, linestyle="--")
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.set_xlabel(f"time, {found.units.time}")
        axes.set_ylabel(f"mean squared displacement, {found.units.length}²")
        if len(found.displacement) > 1:
            axes.legend(loc="best")
        return finish(figure, key)


def green_kubo(key: str, found: Analysis) -> str:
    """Left the correlation of the pressure tensor, right its running integral; twice the error as a band."""
    eta = found.viscosity
    assert eta is not None
    until = min(len(eta.t), 4 * int(np.searchsorted(eta.t, eta.cutoff)) + 8)
    t = eta.t[:until]
    with canvas(7.4, 3.0, ncols=2) as (figure, (left, right)):
        for axes, values, errors in (
            (left, eta.correlation, eta.correlation_error),
            (right, eta.running, eta.running_error),
        ):
            y, e = values[:until], errors[:until]
            if axes is left:
                y, e = y / eta.correlation[0], e / eta.correlation[0]
            axes.plot(t, y, color=SERIES[0])
            axes.fill_between(t, y - 2 * e, y + 2 * e, color=SERIES[0], alpha=0.25, linewidth=0)
            axes.axvline(eta.cutoff, color=SOFT, linestyle=":", linewidth=1.0)
            axes.set_xlabel(f"time, {found.units.time}")
        left.set_ylabel("correlation of the pressure tensor")
        right.set_ylabel(f"viscosity, {found.units.pressure} {found.units.time}")
        right.axhline(eta.value, color=INK, linewidth=1.0, linestyle="--")
        return finish(figure, key)


def slab(key: str, found: Analysis) -> str:
    """Density along the slab's normal, with the fit."""
    one = found.slab
    assert one is not None
    with canvas(7.4, 3.0) as (figure, axes):
        axes.plot(one.z, one.density, color=SERIES[0], linewidth=1.0)
        axes.plot(one.z, one.curve(one.z), color=INK, linewidth=1.0, linestyle="--", label="fit of tanh")
        axes.set_ylim(bottom=0)
        axes.set_xlabel(f"{found.asked.slab}, {found.units.length}")
        axes.set_ylabel(f"density, 1/{found.units.length}³")
        axes.legend(loc="best")
        return finish(figure, key)
