"""Which of two sets of launches is faster, and by how much, from their ranks alone.

Times of programs are skewed and have several modes, so nothing here assumes a distribution: the exact test of
Mann and Whitney (H. B. Mann, D. R. Whitney, Ann. Math. Statist. 18 (1947) 50) and the interval for a shift
that inverts it (J. L. Hodges, E. L. Lehmann, Ann. Math. Statist. 34 (1963) 598), taken of logarithms so that
the shift is a ratio.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

# Products of sizes up to which U is counted exactly; above, the normal approximation that Mann and Whitney
# give is right to more digits than anybody reads.
EXACT = 10_000


@cache
def _counts(n: int, m: int) -> tuple[int, ...]:
    """How many of the C(n+m, n) orders of n and m samples give each value of U, 0..n*m: the coefficients of
    the Gaussian binomial, product over i = 1..m of (1 - q^(n+i)) / (1 - q^i).
    """
    total = [1] + [0] * (n * m)
    for i in range(1, m + 1):
        for u in range(n * m, n + i - 1, -1):
            total[u] -= total[u - n - i]
        for u in range(i, n * m + 1):
            total[u] += total[u - i]
    return tuple(total)


@cache
def _normal(n: int, m: int) -> NormalDist:
    """U of large sets (Mann and Whitney 1947, section 4)."""
    return NormalDist(0.5 * n * m, math.sqrt(n * m * (n + m + 1) / 12))


def tail(n: int, m: int, u: int) -> float:
    """P(U <= u) when both sets come from the same distribution."""
    if u < 0:
        return 0.0
    if n * m > EXACT:
        return _normal(n, m).cdf(u + 0.5)
    return sum(_counts(n, m)[: u + 1]) / math.comb(n + m, n)


def p_lower(a: Sequence[float], b: Sequence[float]) -> float:
    """The probability of a being at least so clearly below b when both come from the same distribution.

    A tie counts against the claim, so that the test stays valid where clocks are coarse.
    """
    n, m = len(a), len(b)
    if n == 0 or m == 0:
        return 1.0
    return tail(n, m, sum(x >= y for x in a for y in b))


def p_differs(a: Sequence[float], b: Sequence[float]) -> float:
    """The two-sided probability: twice that of the clearer side."""
    return min(1.0, 2 * min(p_lower(a, b), p_lower(b, a)))


def least_p(n: int, m: int) -> float:
    """The smallest two-sided probability that sets of n and m can have at all: 2/924 for six and six."""
    return min(1.0, 2 / math.comb(n + m, n))


@dataclass(frozen=True)
class Ratio:
    """How many times the median of a is that of b; low and high are None below the level's least sizes."""

    value: float
    low: float | None
    high: float | None
    level: float


def _rank(n: int, m: int, level: float) -> int:
    """The largest k with 2 P(U < k) <= 1 - level; 0 where there is none."""
    if n * m > EXACT:
        known = _normal(n, m)
        return max(0, math.floor(0.5 + known.inv_cdf(0.5 * (1 - level))))
    below, k, orders = 0, 0, math.comb(n + m, n)
    counts = _counts(n, m)
    while k < n * m // 2 and 2 * (below + counts[k]) <= (1 - level) * orders:
        below += counts[k]
        k += 1
    return k


def ratio(a: Sequence[float], b: Sequence[float], level: float = 0.95) -> Ratio:
    """The Hodges-Lehmann estimate of a/b for positive samples, with its exact interval."""
    logs = sorted(math.log(x / y) for x in a for y in b)
    count = len(logs)
    middle = 0.5 * (logs[(count - 1) // 2] + logs[count // 2])
    # The k-th smallest difference bounds the shift with the probability of U < k on each side.
    k = _rank(len(a), len(b), level)
    low = math.exp(logs[k - 1]) if k else None
    high = math.exp(logs[count - k]) if k else None
    return Ratio(math.exp(middle), low, high, level)
