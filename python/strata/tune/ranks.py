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


@cache
def _counts(n: int, m: int) -> tuple[int, ...]:
    """How many of the C(n+m, n) orders of n and m samples give each value of U, 0..n*m."""
    if n == 0 or m == 0:
        return (1,)
    # The largest sample is one of the n (it exceeds all m) or one of the m (it exceeds none of them).
    with_n, with_m = _counts(n - 1, m), _counts(n, m - 1)
    total = [0] * (n * m + 1)
    for u, count in enumerate(with_n):
        total[u + m] += count
    for u, count in enumerate(with_m):
        total[u] += count
    return tuple(total)


def p_lower(a: Sequence[float], b: Sequence[float]) -> float:
    """The probability of a being at least so clearly below b when both come from the same distribution.

    A tie counts against the claim, so that the test stays valid where clocks are coarse.
    """
    n, m = len(a), len(b)
    if n == 0 or m == 0:
        return 1.0
    u = sum(x >= y for x in a for y in b)
    return sum(_counts(n, m)[: u + 1]) / math.comb(n + m, n)


@dataclass(frozen=True)
class Ratio:
    """How many times the median of a is that of b; low and high are None below the level's least sizes."""

    value: float
    low: float | None
    high: float | None
    level: float


def ratio(a: Sequence[float], b: Sequence[float], level: float = 0.95) -> Ratio:
    """The Hodges-Lehmann estimate of a/b for positive samples, with its exact interval."""
    logs = sorted(math.log(x / y) for x in a for y in b)
    count = len(logs)
    middle = 0.5 * (logs[(count - 1) // 2] + logs[count // 2])
    tail, k = 0, 0
    distribution, orders = _counts(len(a), len(b)), math.comb(len(a) + len(b), len(a))
    # The k-th smallest difference bounds the shift with the probability of U < k on each side.
    while k < count // 2 and 2 * (tail + distribution[k]) <= (1 - level) * orders:
        tail += distribution[k]
        k += 1
    low = math.exp(logs[k - 1]) if k else None
    high = math.exp(logs[count - k]) if k else None
    return Ratio(math.exp(middle), low, high, level)
