"""Averages of correlated series with their standard errors, and where a series is in equilibrium.

Block averages: H. Flyvbjerg and H. G. Petersen, J. Chem. Phys. 91, 461 (1989); which level of blocking counts
is decided by the test of M. Jonsson, Phys. Rev. E 98, 043304 (2018). Equilibration: J. D. Chodera, J. Chem.
Theory Comput. 12, 1799 (2016).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from strata.errors import StrataError

_FEWEST = 8  # values, below which nothing is said about an error
_MANY = 32  # blocks, below which the test cannot tell correlated ones from independent ones


@dataclass(frozen=True)
class Level:
    """One level of blocking: blocks of `length` values, the error of the mean from them, and its own."""

    length: int
    blocks: int
    error: float
    uncertainty: float


@dataclass(frozen=True)
class Average:
    """A mean and its standard error. `settled`: whether blocks long enough to be independent were found;
    where not, the error is a lower bound. `inefficiency`: how many values count as one.
    """

    mean: float
    error: float
    blocks: int
    settled: bool
    inefficiency: float
    levels: list[Level] = field(default_factory=list, repr=False)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """By Student's distribution over the blocks."""
        half = self.error * float(stats.t.ppf((1 + confidence) / 2, max(1, self.blocks - 1)))
        return self.mean - half, self.mean + half


def steps_within(time: float, step: float) -> int:
    """How many steps end at `time` or before it, where rounding does not decide: 3 steps of 0.1 within 0.3,
    though 0.3 / 0.1 is 2.9999999999999996 (as core/base/steps.hpp).
    """
    return int(time / step * (1 + 1e-12))


def _series(values: np.ndarray, least: int) -> np.ndarray:
    x = np.asarray(values, dtype=float).ravel()
    if len(x) < least:
        raise StrataError("a series is too short", given=f"{len(x)} values", allowed=f"{least} or more")
    if not np.isfinite(x).all():
        raise StrataError(
            "a series has values that are no numbers",
            given=f"the first of them is value {np.isfinite(x).argmin()} of {len(x)}, from 0",
            allowed="finite values",
            remedy="leave those rows out (strata md analyse --begin), or run with a shorter time step",
        )
    return x


def average(values: np.ndarray) -> Average:
    """Mean and standard error of a stationary series, however correlated its values are."""
    x = _series(values, _FEWEST)
    mean = float(x.mean())
    levels: list[Level] = []
    shares = []  # of each level: how much neighbouring blocks have in common, as Jonsson's test weighs it
    blocks, length = x - mean, 1
    while len(blocks) >= 4:
        n = len(blocks)
        variance = float(blocks.var(ddof=1))
        error = np.sqrt(variance / n)
        levels.append(Level(length, n, float(error), float(error / np.sqrt(2 * (n - 1)))))
        if variance == 0:
            return Average(mean, 0.0, len(x), True, 1.0, levels)
        middle = blocks - blocks.mean()
        covariance = float((middle[:-1] * middle[1:]).sum()) / n
        shares.append(n * ((n - 1) * variance / n**2 + covariance) ** 2 / variance**2)
        blocks = (blocks[n % 2 :: 2] + blocks[n % 2 + 1 :: 2]) / 2
        length *= 2
    tested = np.cumsum(np.array(shares)[::-1])[::-1]
    allowed = stats.chi2.ppf(0.99, np.arange(len(shares), 0, -1))
    enough = np.array([level.blocks >= _MANY for level in levels])
    fits = np.nonzero((tested < allowed) & enough)[0]
    settled = len(fits) > 0
    # The test passes while blocks still have a little in common: a quarter of it at four times the length.
    at = min(int(fits[0]) + 2, len(levels) - 1) if settled else int(np.argmax([x.error for x in levels]))
    chosen = levels[at]
    return Average(
        mean, chosen.error, chosen.blocks, settled, max(1.0, (chosen.error / levels[0].error) ** 2), levels
    )


def autocorrelation(values: np.ndarray) -> np.ndarray:
    """The autocovariance of a series at all its lags, each from all pairs that there are."""
    x = np.asarray(values, dtype=float)
    n = len(x)
    return correlate(x - x.mean(), n) if n else x


def correlate(x: np.ndarray, lags: int) -> np.ndarray:
    """<x(0) x(t)> for t = 0 ... lags - 1; of a matrix, of each column."""
    n = len(x)
    padded = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(x, padded, axis=0)
    sums = np.fft.irfft(spectrum * spectrum.conj(), padded, axis=0)[:lags]
    pairs = n - np.arange(lags)
    return sums / (pairs if x.ndim == 1 else pairs[:, None])


def inefficiency(values: np.ndarray) -> float:
    """g = 1 + 2 sum of the normalised autocorrelation up to where it first falls below 0: how many values
    count as one.
    """
    found = autocorrelation(values)
    if len(found) < 2 or found[0] <= 0:
        return 1.0
    rho = found[1:] / found[0]
    below = np.nonzero(rho <= 0)[0]
    until = int(below[0]) if len(below) else len(rho)
    weights = 1 - np.arange(1, until + 1) / len(found)
    return max(1.0, 1 + 2 * float((weights * rho[:until]).sum()))


@dataclass(frozen=True)
class Equilibrated:
    """From which value on a series is in equilibrium, and how many independent values it then has."""

    start: int
    independent: float
    inefficiency: float


def equilibrated(values: np.ndarray, candidates: int = 100) -> Equilibrated:
    """The start that leaves most independent values (Chodera 2016). At most the first half is looked at as
    a start, since what is left must be longer than what it is judged by.
    """
    x = _series(values, _FEWEST)
    best = Equilibrated(0, 0.0, 1.0)
    if x.min() == x.max():
        return Equilibrated(0, float(len(x)), 1.0)
    for start in np.unique(np.linspace(0, len(x) // 2, min(candidates, len(x) // 2 + 1)).astype(int)):
        rest = x[start:]
        g = inefficiency(rest)
        if len(rest) / g > best.independent:
            best = Equilibrated(int(start), len(rest) / g, g)
    return best
