"""The plots of studies over something that varies, and of scaling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strata.advice.series import Scaling
from strata.advice.words import digits
from strata.report.figures.theme import SERIES, SOFT, canvas, finish

_MARKERS = ("o", "s", "^")  # the next one when the colours begin again


@dataclass(frozen=True)
class Trace:
    """A series: points (x, median, low, high), and the bound beside which each stands, if any."""

    label: str
    points: Sequence[tuple[float, float, float | None, float | None]]
    bounds: Sequence[tuple[float, float]] = ()


def series(
    key: str,
    traces: Sequence[Trace],
    x: str,
    y: str,
    ticks: Sequence[tuple[float, str]],
    log_y: bool = False,
) -> str:
    """Medians with their intervals over x, ticks where something was measured; bounds as short dashes."""
    with canvas(7.4, 3.6) as (figure, axes):
        for i, trace in enumerate(traces):
            colour = SERIES[i % len(SERIES)]
            marker = _MARKERS[i // len(SERIES) % len(_MARKERS)]
            _dots(axes, _aside(trace.points, i, len(traces)), colour, trace.label, marker=marker)
            _dashes(axes, _aside(trace.bounds, i, len(traces)), colour)
        _ticks(axes, ticks)
        if log_y:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        figure.legend(loc="outside upper left", ncols=2)
        return finish(figure, key)


def panels(key: str, drawn: Sequence[tuple[str, Sequence[Trace]]], x: str, y: str) -> str:
    """Several pairs of axes in rows of two, each with a title; a series has one colour in all of them."""
    labels = list(dict.fromkeys(trace.label for _, traces in drawn for trace in traces))
    columns = min(2, len(drawn))
    rows = -(-len(drawn) // columns)
    height = 3.7 if rows == 1 else 0.6 + 2.6 * rows
    with canvas(7.4, height, nrows=rows, ncols=columns, squeeze=False) as (figure, grid):
        for n, axes in enumerate(grid.flat):
            if n >= len(drawn):
                axes.set_axis_off()
                continue
            title, traces = drawn[n]
            for trace in traces:
                i = labels.index(trace.label)
                colour, marker = SERIES[i % len(SERIES)], _MARKERS[i // len(SERIES) % len(_MARKERS)]
                _dots(axes, _aside(trace.points, i, len(labels)), colour, trace.label, marker=marker)
                _dashes(axes, _aside(trace.bounds, i, len(labels)), colour)
            places = sorted({p[0] for trace in traces for p in trace.points})
            _ticks(axes, [(p, digits(p)) for p in places])
            axes.set_ylim(bottom=0)
            axes.set_title(title, loc="left")
            if n >= len(drawn) - columns:
                axes.set_xlabel(x)
            if n % columns == 0:
                axes.set_ylabel(y)
        found = {line.get_label(): line for axes in grid.flat for line in axes.get_lines()}
        figure.legend([found[label] for label in labels], labels, loc="outside upper left", ncols=3)
        return finish(figure, key)


def scaling(key: str, every: Sequence[Scaling]) -> str:
    """Speedup with the ideal line and the fitted law, and efficiency, over cores."""
    cores = sorted({p.cores for one in every for p in one.points})
    with canvas(7.4, 3.7, ncols=2) as (figure, (left, right)):
        ideal = [cores[0], cores[-1]]
        left.plot(ideal, ideal, color=SOFT, linewidth=1.0, linestyle=":", label="ideal")
        for i, one in enumerate(every):
            colour = SERIES[i % len(SERIES)]
            speedups = [(p.cores, p.speedup, p.low, p.high) for p in one.points]
            _dots(left, _aside(speedups, i, len(every)), colour, one.label, "none")
            rates = [
                (
                    p.cores,
                    p.efficiency * 100,
                    *(None if e is None else 100 * e / p.cores for e in (p.low, p.high)),
                )
                for p in one.points
            ]
            _dots(right, _aside(rates, i, len(every)), colour, None)
            if one.law is not None:
                low, high = one.points[0].cores, one.points[-1].cores
                xs = [low + (high - low) * k / 60 for k in range(61)]
                fitted = None if i else "fitted law"
                left.plot(xs, [one.law.speedup(x) for x in xs], color=colour, linestyle="--", linewidth=1.1,
                          label=fitted)  # fmt: skip
        for axes in (left, right):
            _ticks(axes, [(c, digits(c)) for c in cores])
            axes.set_xlabel("cores")
            axes.set_ylim(bottom=0)
        left.set_ylabel("scaled speedup" if every[0].weak else "speedup")
        right.set_ylabel("efficiency, %")
        right.axhline(100, color=SOFT, linewidth=1.0, linestyle=":")
        figure.legend(loc="outside upper left", ncols=3)
        return finish(figure, key)


def _aside(points: Sequence[Any], i: int, count: int) -> list[Any]:
    """The points a little beside their x, so that intervals of several series do not cover each other."""
    return [(p[0] * (1 + 0.012 * (i - (count - 1) / 2)), *p[1:]) for p in points]


def _dots(
    axes: Any,
    points: Sequence[Sequence[float | None]],
    colour: str,
    label: str | None,
    line: str = "-",
    marker: str = "o",
) -> None:
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    axes.plot(xs, ys, color=colour, marker=marker, linestyle=line, label=label)
    for x, _, low, high in points:
        if low is not None and high is not None:
            axes.plot([x, x], [low, high], color=colour, linewidth=4.0, alpha=0.35, solid_capstyle="butt")


def _dashes(axes: Any, bounds: Sequence[Any], colour: str) -> None:
    """The bounds beside which the points stand."""
    if bounds:
        xs, ys = zip(*bounds, strict=True)
        axes.plot(xs, ys, color=colour, linestyle="none", marker="_", markersize=16, alpha=0.7)


def _apart(texts: Sequence[str], places: Sequence[float], log: bool) -> list[str]:
    """The texts, places ascending, without those too near to the one before: they would cover it."""
    at = [math.log(p) if log else p for p in places]
    least = 0.05 * (max(at) - min(at))
    shown: list[str] = []
    last = -math.inf
    for text, x in zip(texts, at, strict=True):
        shown.append(text if x - last >= least else "")
        last = x if shown[-1] else last
    return shown


def _ticks(axes: Any, ticks: Sequence[tuple[float, str]]) -> None:
    """A tick where something was measured; logarithmic where the values span more than a factor of eight."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    places = [at for at, _ in ticks]
    if min(places) > 0 and max(places) / min(places) > 8:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.minorticks_off()
    else:
        spread = max(places) - min(places) or 1.0
        axes.set_xlim(min(places) - 0.12 * spread, max(places) + 0.12 * spread)
    axes.set_xticks(places, _apart([text for _, text in ticks], places, axes.get_xscale() == "log"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: digits(v)))
