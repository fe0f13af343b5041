"""Medians with distribution-free intervals, and the ratio of two settings within blocks of launches.

Timings of programs are skewed and have several modes, so nothing here assumes a distribution. For n
independent samples with order statistics x(1) <= ... <= x(n), the number of samples below the median is
binomial(n, 1/2), hence

    P( x(k) <= median <= x(n+1-k) )  >=  1 - 2 * P( B(n, 1/2) <= k - 1 )

with equality for continuous distributions (W. J. Conover, Practical Nonparametric Statistics, 3rd ed., 1999,
section 3.2; H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed., 2003, section 7.1). The interval is
[x(k), x(n+1-k)] for the largest k that keeps the probability at 95 % or more. With n = 5 even the widest
interval, minimum to maximum, reaches only 1 - 2/32 = 93.75 %; with n = 6 it reaches 1 - 2/64 = 96.875 %. That
is why an interval needs six launches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from strata.measure.level import LEAST, LEVEL
from strata.measure.sequential import rank_at


def simultaneous(k: int) -> float:
    """The level of each of k intervals that all hold at once in 95 % of cases (Bonferroni)."""
    return 1.0 - (1.0 - LEVEL) / max(1, k)


def _inside(n: int) -> Iterator[tuple[int, int]]:
    """Each rank k from the middle outwards, and in how many of the 2^n cases k .. n-k of n samples lie below
    the median: the exact sum of binomials. Outwards few terms are needed: about the square root of n.
    """
    k = n // 2
    term = math.comb(n, k)
    cases = term if n % 2 == 0 else 2 * term
    while k >= 1:
        yield k, cases
        term = term * k // (n - k + 1)
        cases += 2 * term
        k -= 1


@cache
def coverage(n: int, k: int) -> float:
    """Probability that [x(k), x(n+1-k)] holds the median of n samples (ranks count from 1), exact in integers
    until the last step.
    """
    if not 1 <= k <= (n + 1) // 2:
        raise ValueError(f"rank {k} outside 1..{(n + 1) // 2}")
    return next((cases / 2**n for rank, cases in _inside(n) if rank == k), 0.0)


@cache
def rank_for(n: int, level: float = LEVEL) -> int | None:
    """The largest rank k whose interval still holds the median with probability >= level; None when no rank
    does.
    """
    whole = 2**n
    return next((k for k, cases in _inside(n) if cases / whole >= level), None)


def median(values: Sequence[float]) -> float:
    """The middle order statistic, or the mean of the two middle ones."""
    ordered = sorted(values)
    n = len(ordered)
    if n == 0:
        raise ValueError("the median of nothing")
    middle = n // 2
    return ordered[middle] if n % 2 else 0.5 * (ordered[middle - 1] + ordered[middle])


@dataclass(frozen=True)
class Estimate:
    """What is known of one figure from its undisturbed launches. low, high and confidence are None below six
    of them.
    """

    n: int
    median: float | None
    low: float | None
    high: float | None
    minimum: float | None
    maximum: float | None
    confidence: float | None
    samples: tuple[float, ...]

    @property
    def note(self) -> str | None:
        """Why there is no interval, in the words every table uses."""
        if self.low is not None:
            return None
        return "no undisturbed measurement" if self.n == 0 else too_few(self.n)

    @property
    def half_width(self) -> float | None:
        """Half the interval relative to the median: how well the figure is known."""
        if self.low is None or self.high is None or not self.median:
            return None
        return 0.5 * (self.high - self.low) / abs(self.median)


def too_few(n: int) -> str:
    """Why n launches, one or more, have no interval."""
    return f"n={n}<{LEAST}: no interval" if n < LEAST else f"n={n}: no interval yet"


def estimate(samples: Sequence[float], level: float = LEVEL, most: int | None = None) -> Estimate:
    """Median, interval and extremes of the samples, kept in the order in which they were taken.

    `most`: measuring stopped when it saw fit, after at most so many; the interval is then the sequential one.
    """
    kept = tuple(float(s) for s in samples)
    if any(not math.isfinite(s) for s in kept):
        raise ValueError(f"a sample is not a finite number: {kept}")
    n = len(kept)
    if n == 0:
        return Estimate(0, None, None, None, None, None, None, ())
    ordered = sorted(kept)
    k = _rank(n, level, most)
    low = high = confidence = None
    if k is not None:
        low, high = ordered[k - 1], ordered[n - k]
        confidence = coverage(n, k) if most is None else level
    return Estimate(n, median(kept), low, high, ordered[0], ordered[-1], confidence, kept)


def _rank(n: int, level: float, most: int | None) -> int | None:
    if most is None:
        return rank_for(n, level)
    return rank_at(n, max(most, n), level)


@dataclass(frozen=True)
class BlockRatio:
    """How many times b's value a's is, from their ratio within each block of interleaved launches."""

    value: float  # median of the blocks' ratios
    low: float | None  # None below six blocks
    high: float | None
    blocks: int
    level: float

    @property
    def side(self) -> int:
        """1 where a is larger, -1 where b is, 0 where the interval holds 1 or there is none."""
        if self.low is None or self.high is None or self.low <= 1.0 <= self.high:
            return 0
        return 1 if self.low > 1.0 else -1


def block_ratio(a: Mapping[int, float], b: Mapping[int, float], comparisons: int = 1) -> BlockRatio | None:
    """The ratio a/b from the blocks that hold both, as one of so many comparisons; None where no block holds
    both.

    What disturbs a whole block falls on both and leaves the ratio (G. E. P. Box, J. S. Hunter, W. G. Hunter,
    Statistics for Experimenters, 2nd ed., 2005, section 3.2: paired comparisons). The interval is the wider
    one of two on each side: the distribution-free one of the median of the ratios at 95 %, and Student's of
    the mean of their logarithms at the level that the comparisons ask for together (Bonferroni). The first
    alone could not be corrected: with six blocks no distribution-free interval is wider than the extremes,
    which hold in 96.9 % of cases. The second alone would rest on a distribution.
    """
    shared = sorted(a.keys() & b.keys())
    if not shared or any(not (a[k] > 0 and b[k] > 0) for k in shared):
        return None
    logs = [math.log(a[k] / b[k]) for k in shared]
    n, level = len(logs), simultaneous(comparisons)
    known = estimate(logs)
    assert known.median is not None
    if known.low is None or known.high is None:
        return BlockRatio(math.exp(known.median), None, None, n, level)
    middle = math.fsum(logs) / n
    half = student(level, n - 1) * math.sqrt(math.fsum((x - middle) ** 2 for x in logs) / (n - 1) / n)
    low, high = min(known.low, middle - half), max(known.high, middle + half)
    return BlockRatio(math.exp(known.median), math.exp(low), math.exp(high), n, level)


@cache
def student(level: float, freedom: int) -> float:
    """The t that Student's distribution stays within, on both sides, with this probability (M. Abramowitz,
    I. A. Stegun, Handbook of Mathematical Functions, 1964, 26.7.3 and 26.7.4, inverted by bisection).
    """

    def inside(t: float) -> float:
        angle = math.atan(t / math.sqrt(freedom))
        sine, cosine = math.sin(angle), math.cos(angle)
        odd = freedom % 2
        term, total = (cosine, 0.0) if odd else (1.0, 0.0)
        for k in range(odd, freedom - 1, 2):
            total += term
            term *= cosine * cosine * (k + 1) / (k + 2)
        return 2 / math.pi * (angle + sine * total) if odd else sine * total

    low, high = 0.0, 1.0
    while inside(high) < level:
        high *= 2
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if inside(middle) < level else (low, middle)
    return high
