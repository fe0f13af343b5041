"""The forest plot of a comparison: ratios with their intervals, beside 1 and beside the threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from strata.advice.words import digits
from strata.report.figures.theme import INK, LINE, PAGE, SERIES, SOFT, canvas, finish

# By what was found: changes in colour, the rest quiet. Full dots are decided, hollow ones are not.
_COLOURS = {"regressed": SERIES[4], "improved": SERIES[2], "unchanged": SERIES[0], "undecided": SERIES[5]}
_LABEL = 46  # letters of a row's name that leave the plot enough room


@dataclass(frozen=True)
class Row:
    """One figure: after/before with its interval, and what was found."""

    label: str
    ratio: float
    low: float
    high: float
    verdict: str


@dataclass(frozen=True)
class Panel:
    """Figures of one direction. `limit` is the ratio from which on they are worse than allowed."""

    title: str
    limit: float
    rows: Sequence[Row] = field(default_factory=list)


def forest(key: str, panels: Sequence[Panel], threshold: str) -> str:
    """Ratios after/before with intervals on a logarithmic axis, one panel for each direction; the side on
    which figures are worse than allowed is shaded.
    """
    heights = [len(p.rows) + 1.6 for p in panels]
    low, high = _range(panels)
    with canvas(
        7.4,
        0.25 * sum(heights) + 0.75,
        nrows=len(panels),
        squeeze=False,
        sharex=True,
        gridspec_kw={"height_ratios": heights},
    ) as (figure, grid):
        figure.get_layout_engine().set(h_pad=0.07)
        for axes, panel in zip(grid[:, 0], panels, strict=True):
            _panel(axes, panel, (low, high), threshold)
        grid[-1, 0].set_xlabel("after / before, with its 95 % interval")
        _legend(figure, [r.verdict for p in panels for r in p.rows])
        return finish(figure, key)


def _range(panels: Sequence[Panel]) -> tuple[float, float]:
    """From the ends of all intervals, with the thresholds in sight."""
    ends = [v for p in panels for r in p.rows for v in (r.low, r.high)]
    ends += [v for p in panels for v in (p.limit, 1 / p.limit)]
    room = (max(ends) / min(ends)) ** 0.06
    return min(ends) / room, max(ends) * room


def _panel(axes: Any, panel: Panel, ends: tuple[float, float], threshold: str) -> None:
    axes.set_xscale("log")
    axes.set_xlim(*ends)
    worse = (panel.limit, ends[1]) if panel.limit > 1 else (ends[0], panel.limit)
    axes.axvspan(*worse, color=SERIES[4], alpha=0.08, linewidth=0)
    axes.axvline(1.0, color=INK, linewidth=1.0)
    if panel.limit != 1:
        axes.axvline(panel.limit, color=SERIES[4], linewidth=1.0, linestyle=(0, (5, 3)))
    for i, row in enumerate(panel.rows):
        colour = _COLOURS[row.verdict]
        axes.plot([row.low, row.high], [i, i], color=colour, linewidth=2.6, solid_capstyle="butt", alpha=0.55)
        hollow = row.verdict == "undecided"
        axes.plot(
            [row.ratio],
            [i],
            color=colour,
            marker="o",
            markersize=5.0,
            linestyle="none",
            markerfacecolor=PAGE if hollow else colour,
        )
    axes.annotate(
        f"worse by more than {threshold}",
        (panel.limit, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(3 if panel.limit > 1 else -3, -1),
        textcoords="offset points",
        ha="left" if panel.limit > 1 else "right",
        va="top",
        fontsize=7.5,
        color=SOFT,
    )
    axes.set_yticks(range(len(panel.rows)), [_short(r.label) for r in panel.rows])
    axes.set_ylim(len(panel.rows) - 0.4, -1.2)
    axes.set_title(panel.title, loc="left", fontweight="bold")
    axes.grid(axis="y", color=LINE, alpha=0.0)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    _ticks(axes, ends)


def _short(label: str) -> str:
    return label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}…"


def _ticks(axes: Any, ends: tuple[float, float]) -> None:
    """Ratios that people say: 0.9, 1, 1.1; the steps grow with the range, equal on both sides of 1."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

    span = max(ends[1], 1 / ends[0])
    chosen: list[float] = []
    for steps in (
        [0.01, 0.02, 0.03, 0.04], [0.02, 0.04, 0.06, 0.08, 0.1], [0.05, 0.1, 0.15, 0.2],
        [0.1, 0.2, 0.3, 0.4], [0.25, 0.5, 0.75, 1.0], [0.5, 1.0, 2.0, 3.0], [1.0, 3.0, 7.0, 15.0],
    ):  # fmt: skip
        chosen = [1.0, *(1 + s for s in steps), *(1 - s if s < 0.5 else 1 / (1 + s) for s in steps)]
        if 1 + 1.25 * steps[-1] >= span:
            break
    else:
        top = math.ceil(math.log10(span))
        chosen = [m * 10.0**k for k in range(-top, top + 1) for m in ((1, 2, 5) if top <= 2 else (1,))]
    inside = sorted(t for t in chosen if ends[0] <= t <= ends[1])
    axes.xaxis.set_major_locator(FixedLocator(inside))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: digits(v)))


def _legend(figure: Any, verdicts: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            color=colour,
            marker="o",
            label=word,
            markerfacecolor=PAGE if word == "undecided" else colour,
        )
        for word, colour in _COLOURS.items()
        if word in verdicts
    ]
    figure.legend(handles=handles, loc="outside upper right", ncols=len(handles))
