"""The kinds of plot that the report has: curves with bands, heat maps, dots with intervals, one dot a
core.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from strata.advice.samples import Interval
from strata.advice.words import digits, size, unit_text
from strata.report.figures.theme import INK, LINE, PAGE, SERIES, SOFT, canvas, finish


@dataclass(frozen=True)
class Series:
    """A labelled curve: points are (x, median, low, high); low and high may be None."""

    label: str
    points: Sequence[Sequence[float | None]]
    dashed: bool = False


@dataclass(frozen=True)
class Axis:
    """What an axis shows."""

    label: str
    unit: str = ""
    log: bool = False


@dataclass(frozen=True)
class Mark:
    """A vertical line with a word at its top, such as the size of a cache."""

    x: float
    label: str


@dataclass(frozen=True)
class Level:
    """A horizontal bound with a word above it."""

    y: float
    label: str


@dataclass(frozen=True)
class Dot:
    """One row of a dot-and-interval plot; `group` names what is compared, and its bound is a short
    vertical line.
    """

    label: str
    figure: Interval
    series: int = 0
    bound: float | None = None


@dataclass(frozen=True)
class Panel:
    """Dots that share one axis."""

    title: str
    dots: Sequence[Dot] = field(default_factory=list)


def curves(
    key: str,
    series: Sequence[Series],
    x: Axis,
    y: Axis,
    marks: Sequence[Mark] = (),
    levels: Sequence[Level] = (),
    zero: bool = False,
) -> str:
    """Curves with the interval as a band."""
    with canvas(7.4, 3.6) as (figure, axes):
        for i, one in enumerate(series):
            colour = SERIES[i % len(SERIES)]
            points = [p for p in one.points if p[1] is not None]
            xs, ys = [p[0] for p in points], [p[1] for p in points]
            marker = "o" if len(points) <= 30 else None
            axes.plot(
                xs, ys, color=colour, label=one.label, marker=marker, linestyle="--" if one.dashed else "-"
            )
            band = [p for p in points if len(p) > 3 and p[2] is not None and p[3] is not None]
            if band:
                axes.fill_between(
                    [p[0] for p in band],
                    [p[2] for p in band],
                    [p[3] for p in band],
                    color=colour,
                    alpha=0.18,
                    linewidth=0,
                )
        scale_axes(axes, x, y, [p[0] for s in series for p in s.points])
        if zero and not y.log:
            tops = [v for s in series for p in s.points for v in p[1:] if v is not None]
            axes.set_ylim(bottom=0, top=1.12 * max([*tops, *(lv.y for lv in levels)], default=1.0))
        _marks(axes, marks)
        for level in levels:
            axes.axhline(level.y, color=SOFT, linewidth=1.0, linestyle=(0, (5, 3)))
            axes.text(
                0.995,
                level.y,
                level.label,
                transform=axes.get_yaxis_transform(),
                color=SOFT,
                fontsize=8,
                ha="right",
                va="bottom",
            )
        if len(series) > 1:
            axes.legend(loc="best")
        return finish(figure, key)


def _marks(axes: Any, marks: Sequence[Mark]) -> None:
    low, high = axes.get_xlim()
    shown = [m for m in marks if low < m.x < high]
    for mark in shown:
        axes.axvline(mark.x, color=SOFT, linewidth=0.9, linestyle=":")
        axes.annotate(
            mark.label,
            (mark.x, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            color=SOFT,
            fontsize=8,
            va="bottom",
            ha="center",
        )


def scale_axes(axes: Any, x: Axis, y: Axis, xs: Sequence[float | None]) -> None:
    """Sets scales, ticks and labels of both axes."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    given = [v for v in xs if v is not None]
    if x.log and given and min(given) > 0:
        axes.set_xscale("log", base=2 if x.unit == "B" else 10)
        if x.unit == "B":
            axes.set_xticks(_size_ticks(min(given), max(given)))
        elif x.unit == "cores":
            axes.set_xscale("log", base=2)
            axes.set_xticks(sorted(set(given)))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.minorticks_off()
    elif x.unit == "cores" and len(set(given)) <= 16:
        axes.set_xticks(sorted(set(given)))
    if y.log:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        axes.yaxis.set_major_locator(
            LogLocator(10, subs=(1, 2, 5) if high / low < 2000 else (1,), numticks=20)
        )
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.minorticks_off()
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: digits(v)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: size(v) if x.unit == "B" else digits(v)))
    axes.set_xlabel(x.label)
    axes.set_ylabel(f"{y.label}, {unit_text(y.unit)}" if y.unit else y.label)


def _size_ticks(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log2(low)), math.floor(math.log2(high))
    step = max(1, math.ceil((last - first) / 8))
    return [float(2**k) for k in range(first, last + 1, step)]


def heat(
    key: str,
    values: Sequence[Sequence[float | None]],
    rows: Sequence[object],
    columns: Sequence[object],
    unit: str,
    row_label: str,
    column_label: str,
) -> str:
    """A matrix as colours, with its numbers where they fit. Wide matrices are one embedded image, not a
    path a cell.
    """
    import numpy as np
    from matplotlib import colormaps

    data = np.array([[math.nan if v is None else float(v) for v in row] for row in values], dtype=float)
    n, m = data.shape
    side = min(5.6, max(2.0, 0.5 * max(n, m) + 1.2))
    few = max(n, m) <= 16
    low, high = float(np.nanmin(data)), float(np.nanmax(data))
    if high - low < 0.1 * high:  # differences within the scatter shall not look like structure
        low = 0.9 * high - 1e-12
    with canvas(max(4.2, side * m / max(n, m) + 1.6), max(1.7, side * n / max(n, m) + 0.5)) as (figure, axes):
        image = axes.imshow(
            data, cmap=colormaps["cividis"], vmin=low, vmax=high, interpolation="nearest", aspect="equal"
        )
        axes.grid(False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        step_r, step_c = max(1, math.ceil(n / 16)), max(1, math.ceil(m / 16))
        axes.set_xticks(range(0, m, step_c), [str(c) for c in columns][::step_c])
        axes.set_yticks(range(0, n, step_r), [str(r) for r in rows][::step_r])
        axes.tick_params(length=0)
        axes.set_xlabel(column_label)
        axes.set_ylabel(row_label)
        if few:
            for i in range(n):
                for j in range(m):
                    if not math.isnan(data[i, j]):
                        dark = (data[i, j] - low) / (high - low) < 0.55
                        axes.text(
                            j,
                            i,
                            digits(float(data[i, j])),
                            ha="center",
                            va="center",
                            fontsize=8 if n <= 10 else 6.5,
                            color="#ffffff" if dark else "#101418",
                        )
        bar = figure.colorbar(image, ax=axes, shrink=0.9, pad=0.02)
        bar.outline.set_visible(False)
        bar.set_label(unit_text(unit))
        return finish(figure, key)


def dots(key: str, panels: Sequence[Panel], legend: Sequence[str] = ()) -> str:
    """Dots with intervals, one panel for each unit; the axis of a panel starts at zero so that lengths may
    be compared.
    """
    rows = [max(1, len(p.dots)) for p in panels]
    height = 0.34 * sum(rows) + 0.62 * len(panels) + 0.3
    with canvas(
        7.4, height, nrows=len(panels), squeeze=False, gridspec_kw={"height_ratios": [r + 1.2 for r in rows]}
    ) as (figure, grid):
        figure.get_layout_engine().set(h_pad=0.09)
        for axes, panel in zip(grid[:, 0], panels, strict=True):
            _panel(axes, panel)
        if len(legend) > 1:
            from matplotlib.lines import Line2D

            handles = [
                Line2D([], [], color=SERIES[i], marker="o", linestyle="-", label=text)
                for i, text in enumerate(legend)
            ]
            figure.legend(handles=handles, loc="outside upper right", ncols=len(legend))
        return finish(figure, key)


def _panel(axes: Any, panel: Panel) -> None:
    from matplotlib.ticker import FuncFormatter

    for i, dot in enumerate(panel.dots):
        f, colour = dot.figure, SERIES[dot.series % len(SERIES)]
        if f.median is None:
            axes.text(
                0.01,
                i,
                "no undisturbed measurement",
                transform=axes.get_yaxis_transform(),
                color=SOFT,
                fontsize=8,
                va="center",
            )
            continue
        if f.low is not None and f.high is not None:
            axes.plot([f.low, f.high], [i, i], color=colour, linewidth=3.2, solid_capstyle="butt", alpha=0.55)
        axes.plot(
            [f.median],
            [i],
            color=colour,
            marker="o",
            markersize=5.5,
            linestyle="none",
            markerfacecolor=colour if f.known else PAGE,
        )
        if dot.bound:
            axes.plot([dot.bound, dot.bound], [i - 0.36, i + 0.36], color=INK, linewidth=1.4)
        axes.annotate(
            digits(f.median, strip=False),
            (f.median, i),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
            fontsize=7.5,
            color=SOFT,
        )
    axes.set_yticks(range(len(panel.dots)), [d.label for d in panel.dots])
    axes.set_ylim(len(panel.dots) - 0.4, -0.75)
    top = max([v for d in panel.dots for v in (d.figure.high, d.figure.median, d.bound) if v] or [1.0])
    axes.set_xlim(0, 1.06 * top)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: digits(v)))
    axes.set_title(panel.title, loc="left", fontweight="bold")
    axes.grid(axis="y", color=LINE, alpha=0.0)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def per_core(
    key: str,
    points: Sequence[Sequence[float | None]],
    y: Axis,
    limit: Level | None = None,
    named: Sequence[int] = (),
) -> str:
    """One dot with its interval for each core; cores to look at are named."""
    with canvas(7.4, 2.6) as (figure, axes):
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        banded = [p for p in points if len(p) > 3 and p[2] is not None]
        axes.vlines(
            [p[0] for p in banded],
            [p[2] for p in banded],
            [p[3] for p in banded],
            color=SERIES[0],
            alpha=0.45,
            linewidth=2.2,
        )
        axes.plot(
            xs, ys, color=SERIES[0], marker="o", linestyle="none", markersize=4 if len(xs) <= 64 else 2.2
        )
        for x, value in zip(xs, ys, strict=True):
            if x in named and value is not None:
                axes.annotate(
                    f"core {x:g}", (x, value), xytext=(5, 3), textcoords="offset points", fontsize=8
                )
        scale_axes(axes, Axis("core"), y, [])
        if len(xs) <= 16:
            axes.set_xticks([x for x in xs if x is not None])
            axes.set_xlim(
                min(v for v in xs if v is not None) - 0.6, max(v for v in xs if v is not None) + 0.6
            )
        tops = [v for p in points for v in p[1:] if v is not None]
        axes.set_ylim(bottom=0, top=1.25 * max([*tops, 1e-12]))
        if limit and limit.y <= axes.get_ylim()[1]:
            axes.axhline(limit.y, color=SOFT, linewidth=1.0, linestyle=(0, (5, 3)))
            axes.text(
                0.995,
                limit.y,
                limit.label,
                transform=axes.get_yaxis_transform(),
                color=SOFT,
                fontsize=8,
                ha="right",
                va="bottom",
            )
        return finish(figure, key)
