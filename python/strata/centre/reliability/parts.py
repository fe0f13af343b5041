"""Part count sets reliability: MTTI against the number of parts over systems, and what a larger one would
have.

Events of a system with P parts in T days are Poisson with the mean T exp(a + b ln P), so MTTI falls as P^-b:
b = 1 where each part fails by itself. Fitted by Newton's iteration (P. McCullagh, J. A. Nelder, Generalized
Linear Models, 2nd ed., 1989, chapter 6); systems differ by more than chance, so variances are multiplied by
Pearson's chi-square per degree of freedom where that is above 1, and intervals are Student's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PartLaw:
    """`exponent` b with its 95 % interval; `dispersion` is 1 where systems differ by chance alone."""

    systems: int
    exponent: float
    low: float
    high: float
    dispersion: float
    _a: float
    _covariance: np.ndarray
    _student: float

    def mtti(self, parts: float) -> tuple[float, float, float]:
        """Days between interrupts of an average system of so many parts, with the 95 % interval of that
        average.
        """
        x = np.array([1.0, np.log(parts)])
        rate = self._a + self.exponent * x[1]
        spread = self._student * float(np.sqrt(x @ self._covariance @ x))
        return float(np.exp(-rate)), float(np.exp(-rate - spread)), float(np.exp(-rate + spread))


def part_law(parts: Sequence[int], events: Sequence[int], days: Sequence[float]) -> PartLaw | None:
    """The law over systems; None for fewer than three, or where all have as many parts."""
    from scipy.special import stdtrit

    p, n, d = (np.asarray(v, float) for v in (parts, events, days))
    if len(p) < 3 or len(set(p)) < 2 or n.sum() == 0:
        return None
    x = np.stack([np.ones(len(p)), np.log(p)], axis=1)
    c = np.array([np.log(n.sum() / d.sum()), 0.0])
    for _ in range(100):
        mean = d * np.exp(x @ c)
        step = np.linalg.solve(x.T @ (x * mean[:, None]), x.T @ (n - mean))
        c = c + step * min(1.0, 2.0 / max(np.abs(step).max(), 1e-300))
        if np.abs(step).max() < 1e-12:
            break
    mean = d * np.exp(x @ c)
    dispersion = float(np.sum((n - mean) ** 2 / mean) / (len(p) - 2))
    covariance = np.linalg.inv(x.T @ (x * mean[:, None])) * max(1.0, dispersion)
    student = float(stdtrit(len(p) - 2, 0.975))
    half = student * float(np.sqrt(covariance[1, 1]))
    return PartLaw(
        len(p),
        float(c[1]),
        float(c[1] - half),
        float(c[1] + half),
        dispersion,
        float(c[0]),
        covariance,
        student,
    )
