"""The plots that studies add: every launch as a dot beside its median, stacked shares, and tails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strata.advice.samples import Interval
from strata.advice.words import digits, unit_text
from strata.report.figures.theme import LINE, PAGE, SERIES, SOFT, canvas, finish

_MOST_DOTS = 300  # of one setting


@dataclass(frozen=True)
class Row:
    """One setting: its label, its figure, and the colour that tells its kind."""

    label: str
    figure: Interval
    series: int = 0


def launches(
    key: str, rows: Sequence[Row], unit: str, title: str, legend: Sequence[str] = (), log: bool = False
) -> str:
    """Each launch a hollow dot, the median a full one, its interval a bar. The axis begins where the values
    do: what is shown is their spread.
    """
    with canvas(7.4, 0.36 * len(rows) + 0.95) as (figure, axes):
        for i, row in enumerate(rows):
            f, colour = row.figure, SERIES[row.series % len(SERIES)]
            if f.median is None:
                axes.text(
                    0.01, i, f.note or "", transform=axes.get_yaxis_transform(), color=SOFT, va="center"
                )
                continue
            if f.low is not None and f.high is not None:
                bar = {"linewidth": 5.0, "solid_capstyle": "butt", "alpha": 0.35}
                axes.plot([f.low, f.high], [i, i], color=colour, **bar)
            dot: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": colour}
            shown = thinned(f.samples)
            spots = [i + 0.26 * ((n * 0.618034) % 1.0 - 0.5) for n in range(len(shown))]
            axes.plot(shown, spots, markersize=3.2, markerfacecolor="none", markeredgewidth=0.7, **dot)
            full = colour if f.known else PAGE
            axes.plot([f.median], [i], markersize=6.0, markerfacecolor=full, **dot)
        if log and all(v > 0 for r in rows for v in r.figure.samples):
            axes.set_xscale("log")
        _rows(axes, [r.label for r in rows])
        axes.set_xlabel(f"{title}, {unit_text(unit)}" if unit else title)
        axes.margins(x=0.04)
        _legend(figure, legend)
        return finish(figure, key)


def thinned(samples: Sequence[float]) -> Sequence[float]:
    """All samples, or of very many as many order statistics, the extremes among them: a page that holds each
    of 100 000 dots cannot be opened.
    """
    if len(samples) <= _MOST_DOTS:
        return samples
    ordered = sorted(samples)
    return [ordered[k * (len(ordered) - 1) // (_MOST_DOTS - 1)] for k in range(_MOST_DOTS)]


def stacked(key: str, rows: Sequence[tuple[str, Sequence[float]]], parts: Sequence[str], label: str) -> str:
    """Shares of each row as a stacked bar, in per cent; one colour a part, the same in all rows."""
    with canvas(7.4, 0.3 * len(rows) + 0.95) as (figure, axes):
        for i, (_, values) in enumerate(rows):
            whole = sum(values)
            left = 0.0
            for part, value in enumerate(values):
                share = 100.0 * value / whole if whole else 0.0
                axes.barh(i, share, left=left, height=0.62, color=SERIES[part % len(SERIES)], linewidth=0,
                          alpha=_alpha(part))  # fmt: skip
                if share >= 8:
                    axes.text(
                        left + share / 2,
                        i,
                        f"{share:.0f} %",
                        ha="center",
                        va="center",
                        color=PAGE,
                        fontsize=8,
                    )
                left += share
        _rows(axes, [name for name, _ in rows])
        axes.set_xlim(0, 100)
        axes.set_xlabel(label)
        _legend(figure, parts, marker="s")
        return finish(figure, key)


@dataclass(frozen=True)
class Tail:
    """A setting's excess over its shortest run: points are (share that takes longer, median, low, high)."""

    label: str
    points: Sequence[Sequence[float | None]]
    dashed: bool = False


def tails(key: str, series: Sequence[Tail], unit: str, floor: float | None = None) -> str:
    """How far the runs exceed the shortest, from half of them to the rarest, both axes logarithmic."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    with canvas(7.4, 3.9) as (figure, axes):
        for i, one in enumerate(series):
            colour = SERIES[i % len(SERIES)]
            points = [p for p in one.points if p[1] is not None and p[1] > 0 and p[0]]
            style = "--" if one.dashed else "-"
            xs, ys = [p[0] for p in points], [p[1] for p in points]
            axes.plot(xs, ys, color=colour, label=one.label, marker="o", linestyle=style, markersize=3)
            band = [p for p in points if len(p) > 3 and p[2] and p[3]]
            low, high = [p[2] for p in band], [p[3] for p in band]
            axes.fill_between([p[0] for p in band], low, high, color=colour, alpha=0.13, linewidth=0)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.invert_xaxis()
        shares = [p[0] for s in series for p in s.points if p[0]]
        ticks = [t for t in (0.9, 0.5, 0.1, 0.01, 0.001, 0.0001) if min(shares) <= t <= max(shares)]
        axes.set_xticks(ticks)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: _one_in(v)))
        axes.xaxis.set_minor_formatter(NullFormatter())
        bottom, top = axes.get_ylim()
        axes.yaxis.set_major_locator(
            LogLocator(10, subs=(1,) if top / bottom > 300 else (1, 2, 5), numticks=20)
        )
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: digits(v)))
        axes.minorticks_off()
        if floor and bottom <= floor <= top:
            axes.axhline(floor, color=SOFT, linewidth=1.0, linestyle=(0, (5, 3)))
            place = {"transform": axes.get_yaxis_transform(), "va": "bottom"}
            axes.text(0.005, floor, "one tick of the counter", color=SOFT, fontsize=8, **place)
        axes.set_xlabel("share of the runs that take longer")
        axes.set_ylabel(f"over the shortest run, {unit}")
        figure.legend(loc="outside upper left", ncols=3)
        return finish(figure, key)


def _one_in(share: float) -> str:
    return f"{share:.0%}" if share >= 0.5 else f"1 in {round(1 / share):,}".replace(",", "\u2009")


def _alpha(part: int) -> float:
    """There are six colours; the next six are the same, paler."""
    return (1.0, 0.55, 0.3)[min(2, part // len(SERIES))]


def _rows(axes: Any, labels: Sequence[str]) -> None:
    from matplotlib.ticker import FuncFormatter

    axes.set_yticks(range(len(labels)), list(labels))
    axes.tick_params(axis="x", which="minor", length=0)
    axes.set_ylim(len(labels) - 0.45, -0.55)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: digits(v)))
    axes.grid(axis="y", color=LINE, alpha=0.0)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _legend(figure: Any, names: Sequence[str], marker: str = "o") -> None:
    from matplotlib.lines import Line2D

    if len(names) > 1:
        line = "none" if marker == "s" else "-"
        handles = [
            Line2D(
                [],
                [],
                color=SERIES[i % len(SERIES)],
                marker=marker,
                linestyle=line,
                label=text,
                alpha=_alpha(i),
            )
            for i, text in enumerate(names)
        ]
        figure.legend(handles=handles, loc="outside upper right", ncols=min(6, len(names)))
