"""Shear viscosity by Green and Kubo, from a series of the pressure tensor.

eta = V / (10 k T) * integral of < Q(0) : Q(t) >, with Q the pressure tensor without its trace: all of its
five independent components, each with its weight (P. J. Daivis and D. J. Evans, J. Chem. Phys. 100, 541
(1994)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.integrate import cumulative_trapezoid

from strata.errors import StrataError
from strata.md.averages import correlate, steps_within

TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")


@dataclass(frozen=True)
class Viscosity:
    """eta up to the cutoff, with the standard error over parts of the series; for drawing the correlation and
    the running integral at times t, with theirs.
    """

    value: float
    error: float
    cutoff: float
    parts: int
    t: np.ndarray
    correlation: np.ndarray
    correlation_error: np.ndarray
    running: np.ndarray
    running_error: np.ndarray

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        half = self.error * float(stats.t.ppf((1 + confidence) / 2, self.parts - 1))
        return self.value - half, self.value + half


def viscosity(
    pressure: np.ndarray,
    interval: float,
    factor: float,
    *,
    longest: float | None = None,
    cutoff: float | None = None,
    parts: int = 10,
) -> Viscosity:
    """`pressure`: rows of xx, yy, zz, xy, xz, yz, each `interval` of time after the one before; `factor`:
    V / (k T) in units in which the result is wanted. Correlations up to `longest` (by default half a part).
    The integral ends at `cutoff`, by default where the correlation is first less than its standard error:
    what is beyond is noise.
    """
    p = np.asarray(pressure, dtype=float)
    if p.ndim != 2 or p.shape[1] != len(TENSOR):
        raise StrataError("not a pressure tensor", given=f"shape {p.shape}", allowed="rows of 6 numbers")
    if parts < 2 or len(p) // parts < 8:
        raise StrataError(
            "the series of the pressure tensor is too short",
            given=f"{len(p)} rows in {parts} parts",
            allowed="2 parts or more, of 8 rows or more each",
        )
    length = len(p) // parts
    lags = max(4, length // 2)
    if longest is not None:
        lags = min(lags, steps_within(longest, interval) + 1)
    if lags < 4:
        raise StrataError(
            "correlations over fewer than 4 rows",
            at="longest",
            given=f"{longest:g}",
            allowed=f"{3 * interval:g} or more: rows are {interval:g} apart",
        )
    q = p[: length * parts].copy()
    q[:, :3] -= q[:, :3].mean(axis=1, keepdims=True)
    # The mean of Q is 0 in equilibrium, and is not subtracted: a part's own mean would bias its correlation.
    weights = np.array([1, 1, 1, 2, 2, 2]) / 10
    found = np.array([correlate(part, lags) @ weights for part in np.split(q, parts)])
    running = factor * cumulative_trapezoid(found, dx=interval, axis=1, initial=0)
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(parts)
    t = np.arange(lags) * interval
    if cutoff is None:
        noise = np.nonzero(mean < error)[0]
        at = int(noise[0]) if len(noise) else lags - 1
    else:
        at = round(cutoff / interval)
        if not 0 < at < lags:
            raise StrataError(
                "not a cutoff of the integral", at="cutoff", given=f"{cutoff:g}", allowed=f"0 to {t[-1]:g}"
            )
    whole = running.mean(axis=0)
    spread = running.std(axis=0, ddof=1) / np.sqrt(parts)
    return Viscosity(float(whole[at]), float(spread[at]), float(t[at]), parts, t, mean, error, whole, spread)
