"""How long a system stays up: exponential and Weibull fits to times of which some are censored.

`uptimes.py` has the times. Maximum likelihood (J. F. Lawless, Statistical
Models and Methods for Lifetime Data, 2nd ed., 2003, sections 4.1 and 5.2): the Weibull shape k solves

    sum_all t^k ln t / sum_all t^k - 1/k = mean_complete ln t,

its scale is (sum_all t^k / n)^(1/k). The interval of k holds what the likelihood ratio does not refuse at 95
%. Goodness of fit is Anderson and Darling's statistic of the complete times, its probability by parametric
bootstrap with the parameters estimated anew in each sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from strata.centre.reliability.uptimes import Times

LEAST = 5  # complete times below which nothing is fitted
SECOND = 1.0 / 86400.0
_TESTED = 500  # complete times of which goodness of fit is tested: with many more any model is refused
_SAMPLES = 999


@dataclass(frozen=True)
class Fit:
    """`of`: which times, in words. `times`: complete ones. `shape` below 1: interrupts come in clusters; 1:
    at random; above 1: by wear. `p_exponential`: of the likelihood ratio, that the shape is 1. `fit_*`: of
    goodness of fit.
    """

    of: str
    times: int
    censored: int
    mean: float  # days, exponential
    shape: float
    shape_low: float
    shape_high: float
    scale: float  # days
    weibull_mean: float  # days
    p_exponential: float
    fit_exponential: float
    fit_weibull: float
    tested: int

    @property
    def words(self) -> str:
        """What the shape says."""
        if self.shape_high < 1:
            return "interrupts come in clusters: after one the next is near"
        if self.shape_low > 1:
            return "interrupts come by wear, or at intervals"
        return "no sign that interrupts do not come at random"


def fit(of: Times) -> Fit | None:
    """The fits to these times; None for too few complete ones."""
    from scipy.special import chdtrc, gamma

    complete = np.maximum(of.complete, 0.5 * SECOND)
    if len(complete) < LEAST:
        return None
    every = np.r_[complete, np.maximum(of.censored, 0.5 * SECOND)]
    n, logs = len(complete), np.log(every)
    mean = float(every.sum() / n)
    shape = _shape(logs, n)
    best = _likelihood(shape, logs, n)
    low, high = _interval(shape, best, logs, n)
    scale = float((np.sum(every**shape) / n) ** (1 / shape))
    ratio = 2 * (best - _likelihood(1.0, logs, n))
    tested = complete if n <= _TESTED else np.random.default_rng(n).choice(complete, _TESTED, replace=False)
    return Fit(
        of.of,
        n,
        len(every) - n,
        mean,
        shape,
        low,
        high,
        scale,
        float(scale * gamma(1 + 1 / shape)),
        float(chdtrc(1, max(ratio, 0))),
        exponential_fits(tested),
        _weibull_fits(tested),
        len(tested),
    )


# `logs`: of times, the first n complete. Powers are taken of times over the longest, so that none overflows.


def _score(shape: float, logs: np.ndarray, n: int) -> float:
    powers = np.exp(shape * (logs - logs.max()))
    return float(np.dot(powers, logs) / powers.sum() - 1 / shape - logs[:n].mean())


def _shape(logs: np.ndarray, n: int) -> float:
    from scipy.optimize import brentq

    low, high = 0.5, 2.0
    while _score(low, logs, n) > 0 and low > 1e-3:
        low /= 2
    while _score(high, logs, n) < 0 and high < 1e3:
        high *= 2
    return float(brentq(_score, low, high, args=(logs, n), xtol=1e-10))


def _likelihood(shape: float, logs: np.ndarray, n: int) -> float:
    """The profile log-likelihood of a shape: the scale is the best one for it."""
    top = logs.max()
    log_sum = shape * top + np.log(np.sum(np.exp(shape * (logs - top))))
    return float(n * np.log(shape) - n * (log_sum - np.log(n)) + (shape - 1) * logs[:n].sum() - n)


def _interval(shape: float, best: float, logs: np.ndarray, n: int) -> tuple[float, float]:
    from scipy.optimize import brentq
    from scipy.special import chdtri

    least = best - chdtri(1, 0.05) / 2

    def above(k: float) -> float:
        return _likelihood(k, logs, n) - least

    low, high = shape, shape
    while above(low) > 0:
        low /= 1.5
    while above(high) > 0:
        high *= 1.5
    return float(brentq(above, low, shape)), float(brentq(above, shape, high))


# --- goodness of fit


def _anderson_darling(u: np.ndarray) -> np.ndarray:
    """The statistic of each row of `u`, probabilities by the fitted distribution."""
    u = np.sort(np.clip(u, 1e-15, 1 - 1e-15), axis=-1)
    n = u.shape[-1]
    weights = 2 * np.arange(1, n + 1) - 1
    return -n - np.sum(weights * (np.log(u) + np.log1p(-u[..., ::-1])), axis=-1) / n


def exponential_fits(times: np.ndarray) -> float:
    """The probability of times at least as far from an exponential distribution as these."""
    found = _anderson_darling(-np.expm1(-times / times.mean()))
    return _share(_exponential_samples(len(times)), float(found))


def _weibull_fits(times: np.ndarray) -> float:
    found = _anderson_darling(_gumbel(np.log(times)[None, :]))[0]
    return _share(_weibull_samples(len(times)), float(found))


def _share(samples: np.ndarray, found: float) -> float:
    return float((1 + np.sum(samples >= found)) / (_SAMPLES + 1))


# Neither statistic depends on the parameters, which are estimated anew in each sample: one set of samples
# does for all times of one number.


@cache
def _exponential_samples(n: int) -> np.ndarray:
    drawn = np.random.default_rng(n).exponential(size=(_SAMPLES, n))
    return _anderson_darling(-np.expm1(-drawn / drawn.mean(axis=1, keepdims=True)))


@cache
def _weibull_samples(n: int) -> np.ndarray:
    """The logarithm of a Weibull time is a Gumbel variable with a place and a width."""
    return _anderson_darling(_gumbel(np.log(np.random.default_rng(n).exponential(size=(_SAMPLES, n)))))


def _gumbel(logs: np.ndarray) -> np.ndarray:
    """Probabilities of logarithms of times by the Weibull distribution fitted to each row."""
    logs = logs - logs.mean(axis=1, keepdims=True)
    shape = 1.28 / np.maximum(logs.std(axis=1, keepdims=True), 1e-12)  # pi / sqrt 6: by moments
    for _ in range(12):  # Newton's iteration in 1 / k converges in about six
        powers = np.exp(shape * (logs - logs.max(axis=1, keepdims=True)))
        total = powers.sum(axis=1, keepdims=True)
        first = (powers * logs).sum(axis=1, keepdims=True) / total
        second = (powers * logs**2).sum(axis=1, keepdims=True) / total
        step = (first - 1 / shape) / (second - first**2 + 1 / shape**2)
        shape = np.maximum(shape - step, shape / 4)
    scale = np.log(np.mean(np.exp(shape * logs), axis=1, keepdims=True)) / shape
    return -np.expm1(-np.exp(shape * (logs - scale)))
