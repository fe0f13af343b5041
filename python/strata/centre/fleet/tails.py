"""How slow a healthy node may look by chance: what lasts and what passes, each with its tail.

A run of a healthy node deviates from the fleet by L + N: L is the node's own and lasts (no two processors are
alike), N is of that run alone (somebody else's work, a warm afternoon), and both are skewed to the slow side.
That k runs in a row are all slower by t has the probability

p_k(t) = integral Q(t - l)^k dF(l),    Q(t) = P(N >= t),  F the distribution of L.

F is taken from the middle of the fleet, which faulty nodes do not reach. Half of the nodes lie above the
median, and a tenth above the 0.9 quantile (with fewer than 100 values a quarter above the 0.75 quantile);
between the two, and beyond, it falls exponentially, which is slower than a normal distribution does. With 500
values or more, what lies beyond the 0.9 quantile falls as it does from there to the 0.99 quantile.

Q is taken from recoveries: by how much the next run of a node was faster than the one before. A fault that
stays has none, and what passes has one each. Beyond the largest of them Q falls exponentially: as the largest
5, 10, 20 or 0.5 % of recoveries have it, with the upper end of the interval of its scale, whichever reaches
furthest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_FEW = 100  # values: so that a few faulty nodes of a small fleet do not move the upper quantile
_MANY = 500
_LEAST = 1e-6
_TOPS = (5, 10, 20)


@dataclass(frozen=True)
class Lasting:
    """The tail of L: a half lies above `middle`, `share` above `upper`; `first` and `then` are the rates at
    which it falls before and after that.
    """

    middle: float
    upper: float
    share: float
    first: float
    then: float

    def at(self, share: np.ndarray) -> np.ndarray:
        """Where so many lie above; `share` up to a half."""
        near = self.middle + np.log(0.5 / share) / self.first
        return np.where(share >= self.share, near, self.upper + np.log(self.share / share) / self.then)

    def beyond(self, t: np.ndarray) -> np.ndarray:
        """How many lie above t; 1 up to the middle, since that is no tail."""
        t = np.asarray(t, float)
        near = 0.5 * np.exp(-self.first * np.maximum(t - self.middle, 0.0))
        far = self.share * np.exp(-self.then * np.maximum(t - self.upper, 0.0))
        return np.where(t <= self.middle, 1.0, np.where(t <= self.upper, near, far))


def lasting(levels: np.ndarray) -> Lasting:
    """The tail of what nodes have for long: `levels` of all of them (and of their parts)."""
    x = levels[np.isfinite(levels)]
    high = 0.9 if len(x) >= _FEW else 0.75
    middle, upper, top = np.quantile(x, [0.5, high, 0.99])
    first = float(np.log(0.5 / (1 - high)) / max(upper - middle, _LEAST))
    then = float(np.log((1 - high) / 0.01) / max(top - upper, _LEAST)) if len(x) >= _MANY else first
    return Lasting(float(middle), float(upper), 1 - high, first, then)


@dataclass(frozen=True)
class Passing:
    """Q: the share of `sample` (ascending) that is as large. Beyond each edge there may be an exponential
    tail of so large a share and such a scale.
    """

    sample: np.ndarray
    tails: tuple[tuple[float, float, float], ...]  # edge, share, scale

    def beyond(self, t: np.ndarray) -> np.ndarray:
        t = np.asarray(t, float)
        n = len(self.sample)
        counted = (n - np.searchsorted(self.sample, t)) / n
        tails = [
            np.where(t > edge, share * np.exp(-np.maximum(t - edge, 0.0) / scale), 0.0)
            for edge, share, scale in self.tails
        ]
        return np.where(t <= 0, 1.0, np.maximum.reduce([counted, *tails]))


def passing(sample: np.ndarray) -> Passing:
    """The noise of runs, from a sample of how much slower one run was than another of its node."""
    x = np.sort(np.maximum(sample[np.isfinite(sample)], 0.0))
    tails = []
    for top in sorted({*_TOPS, len(x) // 200}):
        if 0 < top < len(x):
            edge = float(x[-top - 1])
            scale = max(float(np.mean(x[-top:])) - edge, _LEAST) * (1 + 2 / top**0.5)
            tails.append((edge, (top + 1) / (len(x) + 1), scale))
    return Passing(x, tuple(tails) or ((0.0, 1.0, _LEAST),))


def together(lasts: Lasting, passes: Passing, t: np.ndarray, k: int) -> np.ndarray:
    """p_k(t) at each t, ascending or not."""
    grid = np.linspace(0.0, max(float(np.nanmax(t, initial=0.0)), 0.01) * 1.01, 1200)
    shares = np.geomspace(0.5, 1e-14, 90)
    places = lasts.at(shares)
    weights = np.r_[0.5, shares[:-1] - shares[1:]]  # each slice as if all of it were at its upper end
    chance = passes.beyond(grid[:, None] - places[None, :]) ** k
    table = np.log(chance @ weights + shares[-1])
    return np.exp(np.interp(t, grid, table))
