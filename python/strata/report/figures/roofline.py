"""The roofline: what a machine can do with each byte that it moves (S. Williams, A. Waterman, D. Patterson,
CACM 52(4), 2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from strata.advice.words import digits
from strata.report.figures.plots import Axis, scale_axes
from strata.report.figures.theme import INK, SERIES, canvas, finish


@dataclass(frozen=True)
class Ceiling:
    """A bandwidth of the roofline, in GB/s."""

    label: str
    bandwidth: float


@dataclass(frozen=True)
class Placed:
    """A benchmark on the roofline: flop per byte and GF/s."""

    label: str
    intensity: float
    rate: float
    low: float | None = None
    high: float | None = None


def roofline(key: str, peak: float, ceilings: Sequence[Ceiling], placed: Sequence[Placed]) -> str:
    """Peak and bandwidth ceilings as measured, benchmarks on them (S. Williams, A. Waterman, D. Patterson,
    CACM 52(4), 2009).
    """
    slowest = min(c.bandwidth for c in ceilings)
    left = min([0.03] + [0.5 * p.intensity for p in placed])
    right = max([4 * peak / slowest, 64.0] + [2.5 * p.intensity for p in placed])
    with canvas(7.4, 4.2) as (figure, axes):
        axes.set_xscale("log")
        axes.set_yscale("log")
        for i, ceiling in enumerate(sorted(ceilings, key=lambda c: -c.bandwidth)):
            knee = peak / ceiling.bandwidth
            colour = SERIES[(i + 1) % len(SERIES)] if ceiling.bandwidth != slowest else SERIES[0]
            axes.plot(
                [left, knee],
                [left * ceiling.bandwidth, peak],
                color=colour,
                linewidth=1.3,
                label=f"{ceiling.label}: {digits(ceiling.bandwidth)} GB/s",
            )
        axes.plot([peak / max(c.bandwidth for c in ceilings), right], [peak, peak], color=INK, linewidth=1.5)
        axes.annotate(
            f"measured peak {digits(peak)} GF/s",
            (right, peak),
            xytext=(-2, 4),
            textcoords="offset points",
            ha="right",
            fontsize=8.5,
        )
        for p in placed:
            axes.plot([p.intensity], [p.rate], marker="D", color=INK, markersize=5, linestyle="none")
            if p.low is not None and p.high is not None:
                axes.vlines([p.intensity], p.low, p.high, color=INK, linewidth=2.0, alpha=0.5)
            near = p.intensity > 0.3 * right
            axes.annotate(
                p.label,
                (p.intensity, p.rate),
                xytext=(-7 if near else 7, -10),
                textcoords="offset points",
                fontsize=8.5,
                ha="right" if near else "left",
            )
        axes.set_xlim(left, right)
        axes.set_ylim(0.5 * min([left * slowest] + [p.rate for p in placed]), 2.2 * peak)
        scale_axes(
            axes, Axis("arithmetic intensity, flop per byte of memory traffic"), Axis("rate", "GF/s"), []
        )
        axes.minorticks_off()
        axes.legend(loc="lower right")
        return finish(figure, key)
