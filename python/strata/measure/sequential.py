"""Intervals of a median that hold at every look at once, so that measuring may stop when one is narrow.

An ordinary 95 % interval that is looked at after each launch misses the median at some look far more often
than in 5 % of runs. Here the whole sequence is one statement. For independent samples of a continuous
distribution the number below the median after n of them is a random walk B(n) of fair coins, whatever the
distribution, and [x(k), x(n+1-k)] misses the median exactly when B(n) < k or n - B(n) < k. How often some
look misses is therefore a count of paths, done exactly in integers. The ranks spend the allowed error in
proportion to the looks (K. K. G. Lan, D. L. DeMets, Discrete sequential boundaries for clinical trials,
Biometrika 70 (1983) 659, with the linear spending function), each look's interval as narrow as what is left
allows. With one look it is the ordinary interval; that a run may end at any look, for any reason, costs
nothing further.
"""

from __future__ import annotations

from functools import cache

from strata.measure.level import LEAST, LEVEL


@cache
def ranks(most: int, level: float = LEVEL) -> tuple[int | None, ...]:
    """The rank k for each number of samples 0..most, None where there is no interval yet.

    With probability >= level the median lies in [x(k), x(n+1-k)] for all n at once.
    """
    if most < 1:
        raise ValueError(f"at least one sample: {most}")
    alpha = 1.0 - level
    alive = [1]  # alive[b]: paths of n coins with b heads that no look has missed yet
    missed = 0  # paths that some look has missed, of 2^n
    found: list[int | None] = [None]
    for n in range(1, most + 1):
        alive = [(alive[b] if b < n else 0) + (alive[b - 1] if b else 0) for b in range(n + 1)]
        missed *= 2
        best = 0
        if n >= min(LEAST, most):
            may_miss = alpha * n / most * 2**n
            for k in range(1, (n + 1) // 2 + 1):
                lost = sum(alive[:k]) + sum(alive[n + 1 - k :])
                if missed + lost > may_miss:
                    break
                best = k
        if best:
            missed += sum(alive[:best]) + sum(alive[n + 1 - best :])
            for b in range(best):
                alive[b] = alive[n - b] = 0
        found.append(best or None)
    return tuple(found)


def rank_at(n: int, most: int, level: float = LEVEL) -> int | None:
    """The rank after n of at most `most` samples."""
    return ranks(most, level)[min(n, most)] if n else None


def first_look(most: int, level: float = LEVEL) -> int | None:
    """The fewest samples that have an interval; None where even `most` are too few."""
    return next((n for n, k in enumerate(ranks(most, level)) if k is not None), None)
