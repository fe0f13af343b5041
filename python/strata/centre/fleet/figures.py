"""The pictures of a fleet: all nodes as a map, the worst by figure, distributions with the suspects marked,
their history, and the fleet's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from strata.centre.fleet import words
from strata.centre.fleet.analysis import Analysis, Measured, Suspect
from strata.centre.fleet.fleet import DAY
from strata.report.figures.theme import INK, SERIES, SOFT, canvas, finish

MARKED = SERIES[4]
_SLOWEST = 15  # percent with the full colour of a map
_ROWS = 30  # nodes of the map by figure
_PANELS = 12  # suspects whose history is drawn


def every_node(key: str, whole: Analysis) -> str:
    """All nodes in their order, row by row, as dark as their worst figure; suspects have a ring."""
    worst = _worst(whole)
    n = len(worst)
    columns = int(np.clip(np.ceil(np.sqrt(3 * n)), 8, 200))
    rows = -(-n // columns)
    cells = np.full(rows * columns, np.nan)
    cells[:n] = np.maximum(worst, 0.0)
    with canvas(7.4, float(np.clip(0.9 + 6.6 * rows / columns, 1.4, 5.0))) as (figure, axes):
        image = axes.imshow(
            cells.reshape(rows, columns),
            cmap=_reds(),
            vmin=0,
            vmax=_SLOWEST,
            aspect="auto",
            interpolation="nearest",
        )
        places = np.array([s.node for s in whole.suspects], int)
        size = float(np.clip(1800 / columns, 12, 120))
        axes.scatter(
            places % columns, places // columns, s=size, facecolors="none", edgecolors=INK, linewidths=1.0
        )
        shown = np.unique(np.linspace(0, rows - 1, min(rows, 9)).astype(int))
        axes.set_yticks(shown, [whole.fleet.nodes[r * columns] for r in shown])
        axes.set_xticks([])
        axes.grid(False)
        axes.spines[:].set_visible(False)
        bar = figure.colorbar(image, ax=axes, shrink=0.9, pad=0.01, extend="max")
        bar.set_label("worst figure, % slower")
        return finish(figure, key)


def by_figure(key: str, whole: Analysis) -> str:
    """The worst nodes, a row each, and their figures; suspects first."""
    named = [s.node for s in whole.suspects]
    worst = np.nan_to_num(_worst(whole), nan=-1.0)
    others = [int(i) for i in np.argsort(-worst) if int(i) not in set(named)]
    nodes = (named + others)[: max(_ROWS, min(len(named), 2 * _ROWS))][: len(worst)]
    names = list(whole.fleet.figures)
    cells = _percent(whole)[nodes]
    with canvas(7.4, 0.9 + 0.21 * len(nodes)) as (figure, axes):
        axes.imshow(
            np.maximum(cells, 0),
            cmap=_reds(),
            vmin=0,
            vmax=_SLOWEST,
            aspect="auto",
            interpolation="nearest",
        )
        for y, row in enumerate(cells):
            for x, value in enumerate(row):
                if np.isfinite(value):
                    axes.text(x, y, f"{value:.1f}", ha="center", va="center", fontsize=7.5, color=INK)
        axes.set_xticks(range(len(names)), [words.title_of(n) for n in names])
        axes.xaxis.tick_top()
        labels = [f"{whole.fleet.nodes[i]}{' *' if i in named else ''}" for i in nodes]
        axes.set_yticks(range(len(nodes)), labels)
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        return finish(figure, key)


def distributions(key: str, whole: Analysis) -> str:
    """How many nodes deviate by how much, figure by figure; suspects below."""
    names = [n for i, n in enumerate(whole.fleet.figures) if np.isfinite(whole.levels[:, i]).any()]
    rows = -(-len(names) // 2)
    slow = {(s.node, o.figure): s.name for s in whole.suspects for o in s.outliers}
    percent = _percent(whole)
    with canvas(7.4, 1.0 + 1.5 * rows, nrows=rows, ncols=2, squeeze=False) as (figure, grid):
        for axes, name in zip(grid.flat, names, strict=False):
            levels = percent[:, list(whole.fleet.figures).index(name)]
            known = levels[np.isfinite(levels)]
            low, high = np.quantile(known, [0.001, 0.995])
            edge = max(high, -100 * np.expm1(-whole.least)) * 1.1
            axes.hist(np.clip(known, low, edge), bins=60, color=SERIES[0], log=len(known) > 200)
            those = [(levels[node], label) for (node, of), label in slow.items() if of == name]
            for i, (value, label) in enumerate(sorted(those, reverse=True)):
                x = min(float(value), edge)
                axes.plot([x], [0.04], "^", transform=axes.get_xaxis_transform(), color=MARKED, markersize=5)
                if i < 4:
                    axes.annotate(
                        label,
                        (x, 0.04),
                        xycoords=("data", "axes fraction"),
                        xytext=(-2, 7 + 9 * i),
                        textcoords="offset points",
                        fontsize=7.5,
                        ha="right",
                        color=MARKED,
                    )
            axes.set_title(words.title_of(name), loc="left")
            axes.set_ylabel("nodes")
        for axes in list(grid.flat)[len(names) :]:
            axes.set_visible(False)
        for axes in grid[-1]:
            axes.set_xlabel("% slower than the fleet")
        return finish(figure, key)


def history(key: str, whole: Analysis) -> str:
    """What suspects had, run by run, beside what nine tenths of their group had."""
    drawn = [s for s in whole.suspects if s.outliers][:_PANELS]
    rows = -(-len(drawn) // 3)
    of = {(id(m.group), m.figure): m for m in whole.measured}
    group = {int(i): g for g in whole.groups for i in g.nodes}
    first = whole.fleet.time.min()
    with canvas(7.4, 0.9 + 1.45 * rows, nrows=rows, ncols=3, squeeze=False, sharex=True) as (figure, grid):
        for axes, suspect in zip(grid.flat, drawn, strict=False):
            worst = suspect.outliers[0]
            _history(axes, whole, of[id(group[suspect.node]), worst.figure], suspect, first)
        for axes in list(grid.flat)[len(drawn) :]:
            axes.set_visible(False)
        for axes in grid[:, 0]:
            axes.set_ylabel("% slower")
        for axes in grid[-1]:
            axes.set_xlabel("days")
        return finish(figure, key)


def _history(axes: Any, whole: Analysis, one: Measured, suspect: Suspect, first: float) -> None:
    worst = suspect.outliers[0]
    place = int(np.searchsorted(one.group.nodes, suspect.node))
    runs = one.of.run[place]
    known = (runs >= 0) & np.isfinite(one.of.slow[place, :, worst.part])
    times = (whole.fleet.time[runs[known]] - first) / DAY
    days = (whole.fleet.time[np.maximum(one.of.run, 0)] - first) / DAY
    sign = -1 if whole.fleet.figures[worst.figure].higher else 1

    def percent(slow: np.ndarray) -> np.ndarray:
        return 100 * sign * np.expm1(sign * slow)

    band = []
    for time in times:
        near = (np.abs(days - time) < 4) & (one.of.run >= 0) & np.isfinite(one.of.slow[:, :, worst.part])
        band.append(percent(np.quantile(one.of.slow[:, :, worst.part][near], [0.05, 0.95])))
    low, high = np.array(band).T
    axes.fill_between(times, low, high, color=SERIES[0], alpha=0.25, linewidth=0)
    axes.axhline(-100 * np.expm1(-whole.least), color=SOFT, linewidth=0.8, linestyle=":")
    axes.plot(
        times, percent(one.of.slow[place, known, worst.part]), "o-", color=MARKED, linewidth=1.2, markersize=3
    )
    part = (
        f", {whole.fleet.figures[worst.figure].part} {worst.part}"
        if whole.fleet.figures[worst.figure].part
        else ""
    )
    name = words.name_of(worst.figure)
    axes.set_title(f"{suspect.name}: {name}{part}", loc="left", fontsize=8)


def fleet_over_time(key: str, whole: Analysis) -> str:
    """The median of the largest groups, figure by figure, since the first campaign."""
    shown = [g for g in whole.groups if any(m.group is g for m in whole.measured)][:3]
    with canvas(7.4, 3.0, ncols=len(shown), squeeze=False, sharey=True) as (figure, grid):
        for axes, group in zip(grid[0], shown, strict=True):
            for i, one in enumerate(m for m in whole.measured if m.group is group):
                times, change = _medians(whole, one)
                if len(times) > 1:
                    label = words.title_of(one.figure) if axes is grid[0][0] else None
                    axes.plot(
                        times, change, "o-", color=SERIES[i % 6], markersize=3, linewidth=1.2, label=label
                    )
            axes.set_title(group.name, loc="left", fontsize=8)
            axes.set_xlabel("days")
        grid[0][0].set_ylabel("median, % of change")
        figure.legend(loc="outside upper left", ncols=5)
        return finish(figure, key)


def _medians(whole: Analysis, one: Measured) -> tuple[np.ndarray, np.ndarray]:
    """Days, and the change of the group's median figure since the first, in percent."""
    with np.errstate(invalid="ignore"):
        median = np.nanmean(one.of.median, axis=1) if one.of.median.shape[1] else one.of.median[:, 0]
    known = np.isfinite(median)
    sign = -1 if whole.fleet.figures[one.figure].higher else 1
    change = 100 * np.expm1(sign * (median[known] - median[known][0]))
    first = whole.fleet.time.min()
    return (whole.times[known] - first) / DAY, change


def _worst(whole: Analysis) -> np.ndarray:
    percent = _percent(whole)
    filled = np.where(np.isfinite(percent), percent, -np.inf)
    worst = filled.max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(worst), worst, np.nan)


def _percent(whole: Analysis) -> np.ndarray:
    """The levels as percent of the figure, above 0 for slower."""
    sign = np.array([-1 if f.higher else 1 for f in whole.fleet.figures.values()])
    return 100 * sign * np.expm1(sign * whole.levels)


def _reds() -> Any:
    """From nothing to red, so that it lies on light and dark pages."""
    from matplotlib.colors import LinearSegmentedColormap

    colours: Sequence[Any] = [(0.82, 0.22, 0.18, 0.04), (0.82, 0.22, 0.18, 0.95)]
    return LinearSegmentedColormap.from_list("slow", colours)
