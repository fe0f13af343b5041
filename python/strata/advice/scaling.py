"""Strong and weak scaling: speedup, efficiency, the fraction that does not scale, and a law fitted to it.

Speedup S(p) compares the work done in the same time on p cores and on one; for weak scaling, where the work
grows with the cores, it is the scaled speedup. Costs are times for the same work, or rates inverted.

- G. M. Amdahl, AFIPS 30 (1967) 483: S = p / (1 + f (p - 1)) with a serial fraction f.
- N. J. Gunther, Guerrilla Capacity Planning, 2007, chapter 4: S = p / (1 + a (p - 1) + b p (p - 1)), which
  adds what every pair of cores costs; Amdahl's law is b = 0.
- J. L. Gustafson, CACM 31 (1988) 532: S = p - s (p - 1) for work that grows with the cores.
- A. H. Karp, H. P. Flatt, CACM 33 (1990) 539: e = (1/S - 1/p) / (1 - 1/p), found from a measurement at p.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from strata.measure import stats
from strata.measure.ranks import Ratio, ratio

_RESAMPLES = 1000
_AS_GOOD = 4 / 3  # times the least error of prediction


@dataclass(frozen=True)
class Point:
    """One number of cores: speedup over the base with its interval, and what follows from it."""

    cores: float
    n: int
    speedup: float
    low: float | None
    high: float | None
    base: float

    @property
    def efficiency(self) -> float:
        return self.speedup / self.cores

    def fraction(self, speedup: float, weak: bool) -> float:
        """The fraction that does not scale, of the base's work: Karp and Flatt's, or Gustafson's if weak."""
        p, s = self.cores / self.base, speedup / self.base
        return (p - s) / (p - 1) if weak else (1 / s - 1 / p) / (1 - 1 / p)


@dataclass(frozen=True)
class Law:
    """A fitted law: its name, its parameters with 95 % intervals (bootstrap), and how well it fits.

    `error` is the root mean square of the relative error of S over all points; `left_out` that of predicting
    each point from the others, where there are points enough.
    """

    name: str
    parameters: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    error: float | None
    left_out: float | None
    base: float

    def speedup(self, cores: float) -> float:
        return self.base * LAWS[self.name].speedup(cores / self.base, self.parameters)


@dataclass(frozen=True)
class _Form:
    """A law that is linear in its parameters: y(p, S) = sum of parameter x column(p)."""

    columns: Callable[[float], tuple[float, ...]]
    y: Callable[[float, float], float]
    speedup: Callable[[float, Sequence[float]], float]


LAWS: dict[str, _Form] = {
    "Amdahl": _Form(lambda p: (p - 1,), lambda p, s: p / s - 1, lambda p, q: p / (1 + q[0] * (p - 1))),
    "Gunther": _Form(
        lambda p: (p - 1, p * (p - 1)),
        lambda p, s: p / s - 1,
        lambda p, q: p / (1 + q[0] * (p - 1) + q[1] * p * (p - 1)),
    ),
    "Gustafson": _Form(lambda p: (p - 1,), lambda p, s: p - s, lambda p, q: p - q[0] * (p - 1)),
}
STRONG, WEAK = ("Amdahl", "Gunther"), ("Gustafson",)


def points(costs: Mapping[float, Sequence[float]], *, grows: bool = False) -> list[Point]:
    """Speedups over the fewest cores, from the costs of launches by cores. `grows`: the costs are times of
    work that grows with the cores, so that equal times are perfect scaling.
    """
    base = min(costs)
    found = []
    for cores in sorted(costs):
        known = ratio(costs[base], costs[cores]) if cores != base else Ratio(1.0, 1.0, 1.0, stats.LEVEL)
        scale = cores if grows else base
        low, high = (None if end is None else scale * end for end in (known.low, known.high))
        found.append(Point(cores, len(costs[cores]), scale * known.value, low, high, base))
    return found


def fit(costs: Mapping[float, Sequence[float]], *, weak: bool, grows: bool = False) -> Law | None:
    """The simplest law that predicts left-out points nearly as well as any, or the simplest of all where
    there are too few points to tell; None with fewer than two points.
    """
    base = min(costs)
    medians = {p: stats.median(v) for p, v in costs.items()}
    measured = _speedups(medians, base, grows)
    laws = []
    for name in WEAK if weak else STRONG:
        width = len(LAWS[name].columns(2.0))
        # A law with as many parameters as points fits everything and says nothing.
        if len(measured) < width or (width > 1 and len(measured) <= width):
            continue
        parameters = _solve(name, measured)
        laws.append(
            Law(
                name,
                parameters,
                _bootstrap(name, costs, base, grows),
                _error(name, measured, parameters) if len(measured) > width else None,
                _left_out(name, measured) if len(measured) > width else None,
                base,
            )
        )
    known = [law.left_out for law in laws if law.left_out is not None]
    least = min(known, default=None)
    good = [w for w in laws if least is None or (w.left_out is not None and w.left_out <= _AS_GOOD * least)]
    return good[0] if good else None


def _speedups(medians: Mapping[float, float], base: float, grows: bool) -> dict[float, float]:
    """S(p) over the base, both counted in bases, for all p but the base."""
    return {p / base: medians[base] / medians[p] * (p / base if grows else 1.0) for p in medians if p != base}


def _solve(name: str, measured: Mapping[float, float]) -> tuple[float, ...]:
    """Least squares of the relative error of S; Gunther's parameters are not below zero."""
    import numpy as np

    form = LAWS[name]
    # d(y)/d(ln S) is p/S for the first two laws and S for the last: the weights that make errors relative.
    weights = [s / p if name != "Gustafson" else 1 / s for p, s in measured.items()]
    matrix = np.array([[w * c for c in form.columns(p)] for w, p in zip(weights, measured, strict=True)])
    right = np.array([w * form.y(p, s) for w, (p, s) in zip(weights, measured.items(), strict=True)])
    found = np.linalg.lstsq(matrix, right, rcond=None)[0]
    if len(found) == 2 and (found < 0).any():
        keep = int(found[0] < 0)
        one = max(0.0, float(matrix[:, keep] @ right / (matrix[:, keep] @ matrix[:, keep])))
        return (one, 0.0) if keep == 0 else (0.0, one)
    return tuple(float(v) for v in found)


def _error(name: str, measured: Mapping[float, float], parameters: Sequence[float]) -> float:
    errors = [LAWS[name].speedup(p, parameters) / s - 1 for p, s in measured.items()]
    return math.sqrt(sum(e * e for e in errors) / len(errors))


def _left_out(name: str, measured: Mapping[float, float]) -> float:
    errors = []
    for p, s in measured.items():
        others = {q: t for q, t in measured.items() if q != p}
        errors.append(LAWS[name].speedup(p, _solve(name, others)) / s - 1)
    return math.sqrt(sum(e * e for e in errors) / len(errors))


def _bootstrap(
    name: str, costs: Mapping[float, Sequence[float]], base: float, grows: bool
) -> tuple[tuple[float, float], ...]:
    """95 % percentile intervals of the parameters: launches resampled within each number of cores
    (B. Efron, Ann. Statist. 7 (1979) 1).
    """
    import numpy as np

    generator = np.random.default_rng(1)
    found = []
    for _ in range(_RESAMPLES):
        medians = {
            p: float(np.median(generator.choice(np.asarray(values), len(values))))
            for p, values in costs.items()
        }
        found.append(_solve(name, _speedups(medians, base, grows)))
    table = np.array(found)
    low, high = np.percentile(table, [2.5, 97.5], axis=0)
    return tuple((float(a), float(b)) for a, b in zip(low, high, strict=True))
