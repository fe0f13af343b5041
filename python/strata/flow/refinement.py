"""The error of a number that a series of grids gives, after L. Eca and M. Hoekstra, "A procedure for the
estimation of the numerical uncertainty of CFD calculations based on grid refinement studies", J. Comput.
Phys. 262 (2014) 104-130.

A number on grids of widths h is fitted by phi0 + a h^p, by least squares. Where p is not one that the scheme
may have, phi0 + a h, phi0 + a h2 or phi0 + a h + b h2 are fitted instead. The interval is the distance to the
limit times a factor of safety (1.25 where the fit is good and p is one that can be expected, else 3), and
what the fit leaves. With three grids and p between 0.5 and 2 this is Richardson's extrapolation with Roache's
index of convergence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

LOWEST, HIGHEST = 0.5, 2.0  # orders that are taken as they are found
GOOD, POOR = 1.25, 3.0  # factors of safety
_ORDERS = np.linspace(0.02, 8.0, 400)  # tried first


@dataclass(frozen=True)
class Fit:
    """phi0 + sum of coefficients times h^power."""

    limit: float
    coefficients: tuple[float, ...]
    powers: tuple[float, ...]
    deviation: float  # standard, of the numbers from it

    def at(self, h: float) -> float:
        return self.limit + sum(c * h**p for c, p in zip(self.coefficients, self.powers, strict=True))


@dataclass(frozen=True)
class Refined:
    """What a series of grids says of the number on its finest one, the first."""

    widths: tuple[float, ...]
    values: tuple[float, ...]
    fit: Fit
    order: float | None  # observed; None where the numbers have none
    uncertainty: float
    safety: float

    @property
    def value(self) -> float:
        return self.values[0]

    @property
    def limit(self) -> float:
        return self.fit.limit


def refined(widths: Sequence[float], values: Sequence[float]) -> Refined:
    """`widths` of cells, in any unit, and a number on each grid; at least three. Raises ValueError where
    grids are too few or not different.
    """
    order = np.argsort(widths)
    h, phi = np.array(widths, float)[order], np.array(values, float)[order]
    if len(h) < 3 or len(h) != len(phi):
        raise ValueError("at least three grids, with a number each")
    if not (h > 0).all() or not (np.diff(h) > 0).all():
        raise ValueError("widths of cells are above 0, and each once")
    if not np.isfinite(phi).all():
        raise ValueError("a number is not finite")
    h = h / h[0]
    spread = float(np.ptp(phi)) / (len(phi) - 1)
    steps = np.diff(phi)
    # Three numbers that go up and down again have no order.
    possible = spread > 0 and (len(h) > 3 or steps[0] * steps[1] > 0)
    free = _free_order(h, phi) if possible else None
    found = free.powers[0] if free is not None else None
    if free is not None and LOWEST <= free.powers[0] <= HIGHEST:
        fit = free
    else:
        powers: list[tuple[float, ...]] = [(1.0,), (2.0,)]
        if len(h) > 3 and (found is None or found < LOWEST):
            powers.append((1.0, 2.0))
        fit = min((each for p in powers for each in _fits(h, phi, p)), key=lambda each: each.deviation)
    good = found is not None and LOWEST <= found < HIGHEST + 0.1 and fit.deviation < spread
    safety = GOOD if good else POOR
    error, off = abs(phi[0] - fit.limit), abs(phi[0] - fit.at(1.0))
    if found is not None and LOWEST <= found <= HIGHEST:
        error = abs(fit.coefficients[0])
    if spread == 0:
        uncertainty = 0.0
    elif fit.deviation < spread:
        uncertainty = safety * error + fit.deviation + off
    else:
        uncertainty = POOR * fit.deviation / spread * (error + fit.deviation + off)
    return Refined(tuple(map(float, h)), tuple(map(float, phi)), fit, found, float(uncertainty), safety)


def _fits(h: np.ndarray, phi: np.ndarray, powers: tuple[float, ...]) -> list[Fit]:
    """Without and with weights, which are the larger the finer a grid is."""
    weights = [np.full(len(h), 1 / len(h)), (1 / h) / (1 / h).sum()]
    return [each for w in weights if (each := _fit(h, phi, powers, w, 1 + len(powers))) is not None]


def _fit(
    h: np.ndarray, phi: np.ndarray, powers: tuple[float, ...], weights: np.ndarray, unknowns: int
) -> Fit | None:
    root = np.sqrt(weights)
    matrix = np.column_stack([np.ones(len(h)), *(h**p for p in powers)])
    solved, _, rank, _ = np.linalg.lstsq(matrix * root[:, None], phi * root, rcond=None)
    if rank < matrix.shape[1]:
        return None
    left = phi - matrix @ solved
    square = float(len(h) * (weights * left**2).sum())
    # As many numbers as unknowns are fitted exactly.
    deviation = np.sqrt(square / (len(h) - unknowns)) if len(h) > unknowns else 0.0
    return Fit(float(solved[0]), tuple(map(float, solved[1:])), powers, float(deviation))


def _free_order(h: np.ndarray, phi: np.ndarray) -> Fit | None:
    """phi0 + a h^p with the order of the best fit; None where there is no such order."""
    found = []
    for weights in (np.full(len(h), 1 / len(h)), (1 / h) / (1 / h).sum()):

        def left(p: float, weights: np.ndarray = weights) -> float:
            fit = _fit(h, phi, (p,), weights, 3)
            if fit is None:
                return np.inf
            return float((weights * (phi - np.array([fit.at(x) for x in h])) ** 2).sum())

        errors = [left(p) for p in _ORDERS]
        best = int(np.argmin(errors))
        if best in (0, len(_ORDERS) - 1):
            continue  # no order between: the numbers do not go to a limit like a power of h
        p = _least(left, _ORDERS[best - 1], _ORDERS[best + 1])
        fit = _fit(h, phi, (p,), weights, 3)
        if fit is not None:
            found.append(fit)
    return min(found, key=lambda fit: fit.deviation) if found else None


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """Golden section."""
    ratio = (np.sqrt(5) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    fa, fb = function(a), function(b)
    while high - low > 1e-10:
        if fa < fb:
            high, b, fb = b, a, fa
            a = high - ratio * (high - low)
            fa = function(a)
        else:
            low, a, fa = a, b, fb
            b = low + ratio * (high - low)
            fb = function(b)
    return (low + high) / 2
