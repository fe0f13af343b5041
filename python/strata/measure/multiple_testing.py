"""Many claims at once: what may be called a change when a hundred figures were looked at together.

Two step-down procedures that hold the probability of even one false claim at a level, whichever of the claims
are true. Holm's (S. Holm, Scand. J. Statist. 6 (1979) 65) needs nothing but the claims' own probabilities.
Since those are counted from ranks they cannot be arbitrarily small: 2/924 at six launches on each side, so
that among 24 figures or more Holm's method could not name a change however large. There the bound is replaced
by the joint distribution of the statistics under permutations of the launches (P. H. Westfall, S. S. Young,
Resampling-Based Multiple Testing, 1993, section 2.6, free step-down maxT): a difference counts that is larger
beside its scatter than the largest that chance makes among all the figures.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

PERMUTATIONS = 9_999
SEED = 1979  # the same answer for the same samples, always


def holm(probabilities: Sequence[float]) -> list[float]:
    """Adjusted probabilities in the order given: a claim holds at family-wise level L where its own is <= L
    (Holm 1979, with the monotone form of S. P. Wright, Biometrics 48 (1992) 1005).
    """
    order = sorted(range(len(probabilities)), key=lambda i: probabilities[i])
    adjusted = [1.0] * len(probabilities)
    largest = 0.0
    for step, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - step) * probabilities[i]))
        adjusted[i] = largest
    return adjusted


@dataclass(frozen=True)
class Pair:
    """Two sets of samples, in units in which a shift is what is looked for (logarithms). Pairs of one group
    come from the same launches and are permuted together.
    """

    a: Sequence[float]
    b: Sequence[float]
    group: Hashable = None


def step_down(
    pairs: Sequence[Pair], *, one_sided: bool = False, permutations: int = PERMUTATIONS
) -> list[float]:
    """Adjusted probabilities of 'b differs from a', or of 'b lies above a' where one_sided, in the order
    given (Westfall and Young 1993, algorithm 4.1, on Welch's statistic).

    Exact where the launches of both sides are exchangeable; nothing else is assumed of their distribution.
    """
    import numpy as np

    if not pairs:
        return []
    observed = np.empty(len(pairs))
    drawn = np.empty((len(pairs), permutations))
    for group in dict.fromkeys(_key(p) for p in pairs):
        members = [i for i, p in enumerate(pairs) if _key(p) == group]
        n, m = len(pairs[members[0]].a), len(pairs[members[0]].b)
        chance = np.random.default_rng([SEED, members[0]])
        order = chance.random((permutations, n + m)).argsort(axis=1)
        for i in members:
            pooled = np.array([*pairs[i].a, *pairs[i].b], dtype=float)
            rounding = 1e-13 * (1 + float(np.abs(pooled).max()))
            pooled -= pooled.mean()  # so that squares lose no digits
            observed[i] = _welch(pooled[None, :], n, rounding)[0]
            drawn[i] = _welch(pooled[order], n, rounding)
    if not one_sided:
        observed, drawn = np.abs(observed), np.abs(drawn)
    downward = np.argsort(-observed, kind="stable")
    highest = np.maximum.accumulate(drawn[downward[::-1]], axis=0)[::-1]  # over this claim and all below it
    # A permutation that gives the same difference must count, also where rounding made it a little smaller.
    reached = highest >= observed[downward][:, None] * (1 - 1e-9 * np.sign(observed[downward])[:, None])
    stepwise = np.maximum.accumulate((1 + reached.sum(axis=1)) / (permutations + 1))
    adjusted = np.empty(len(pairs))
    adjusted[downward] = stepwise
    return [float(p) for p in adjusted]


def _key(pair: Pair) -> tuple[Hashable, int, int]:
    return (pair.group, len(pair.a), len(pair.b))


def _welch(rows: Any, n: int, rounding: float) -> Any:
    """Welch's t of the columns from n on against the first n, for each row. A difference up to `rounding` is
    none, so that samples without scatter are alike, or beyond all bounds.
    """
    import numpy as np

    a, b = rows[:, :n], rows[:, n:]
    difference = b.mean(axis=1) - a.mean(axis=1)
    error = np.sqrt(a.var(axis=1, ddof=1) / a.shape[1] + b.var(axis=1, ddof=1) / b.shape[1])
    return np.where(np.abs(difference) <= rounding, 0.0, difference / np.maximum(error, 1e-150))
