"""The plots of a tuning: the finalists' launches, and how screening came to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strata.advice.words import digits
from strata.measure import stats
from strata.report.figures.theme import INK, LINE, PAGE, SERIES, SOFT, canvas, finish


@dataclass(frozen=True)
class Entrant:
    """One layout of a race: its name, its values in screening and in the final, and whether it is the default
    or among the fastest.
    """

    name: str
    screening: tuple[float, ...]
    final: tuple[float, ...]
    default: bool = False
    leads: bool = False

    @property
    def middle(self) -> float:
        return stats.median(self.final or self.screening)


def _colour(entrant: Entrant) -> str:
    return SERIES[0] if entrant.leads else SERIES[1] if entrant.default else SERIES[5]


def finalists(key: str, entrants: Sequence[Entrant], label: str) -> str:
    """Each launch of the final a hollow dot, the median a full one, its 95 % interval a bar; a dashed line at
    the default's median. The axis begins where the values do.
    """
    from matplotlib.ticker import FuncFormatter

    with canvas(7.4, 0.42 * len(entrants) + 1.0) as (figure, axes):
        for i, one in enumerate(entrants):
            known, colour = stats.estimate(one.final), _colour(one)
            if known.low is not None and known.high is not None:
                bar = {"linewidth": 6.0, "solid_capstyle": "butt", "alpha": 0.32}
                axes.plot([known.low, known.high], [i, i], color=colour, **bar)
            dot: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": colour}
            spots = [i + 0.34 * ((n * 0.618034) % 1.0 - 0.5) for n in range(known.n)]
            axes.plot(one.final, spots, markersize=3.4, markerfacecolor="none", markeredgewidth=0.8, **dot)
            axes.plot([known.median], [i], markersize=6.5, **dot)
            if one.default:
                axes.axvline(known.median, color=colour, linewidth=0.9, linestyle=(0, (5, 3)), zorder=0)
        names = [f"{one.name}{' (default)' if one.default else ''}" for one in entrants]
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.45, -0.55)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: digits(v)))
        axes.grid(axis="y", color=LINE, alpha=0.0)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(label)
        axes.margins(x=0.04)
        return finish(figure, key)


def history(key: str, entrants: Sequence[Entrant], finals: Mapping[str, str], label: str) -> str:
    """Every launch of screening, a line a layout, from the first round to the one in which it was left out.

    `finals` holds the names of the layouts that reached the final, and how each is written beside its end.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    run = [one for one in entrants if one.screening]
    with canvas(7.4, 3.6) as (figure, axes):
        rounds = max((len(one.screening) for one in run), default=1)
        for one in sorted(run, key=lambda e: e.name in finals):
            kept = one.name in finals
            colour = _colour(one) if kept else SOFT
            xs = range(1, len(one.screening) + 1)
            look: dict[str, Any] = {"color": colour, "marker": "o", "alpha": 1.0 if kept else 0.45}
            axes.plot(xs, one.screening, linewidth=1.6 if kept else 0.9, markersize=3.2, **look)
            if not kept:  # where it ended
                axes.plot([len(one.screening)], [one.screening[-1]], marker="x", color=SOFT, markersize=5)
        values = [value for one in run for value in one.screening]
        if values and min(values) > 0 and max(values) > 3 * min(values):
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 3, 5, 7), numticks=20))
            axes.yaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: digits(v)))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlim(0.85, rounds + 0.15)
        axes.set_xlabel("round of screening")
        axes.set_ylabel(label)
        _legend(figure, [one for one in run if one.name in finals], finals, len(run) > len(finals))
        return finish(figure, key)


def _legend(figure: Any, kept: Sequence[Entrant], names: Mapping[str, str], some_left: bool) -> None:
    from matplotlib.lines import Line2D

    kinds = {}
    for one in kept:
        kinds.setdefault(_colour(one), names[one.name])
    handles = [Line2D([], [], color=colour, marker="o", label=text) for colour, text in kinds.items()]
    if some_left:
        look: dict[str, Any] = {"color": SOFT, "marker": "x", "alpha": 0.6, "markeredgecolor": INK}
        handles.append(Line2D([], [], label="left out", markerfacecolor=PAGE, **look))
    figure.legend(handles=handles, loc="outside upper right", ncols=4)
