"""Nodes that one run is enough for: no healthy node of the fleet's history comes near.

What healthy nodes may look like in one run is all that was seen of all other nodes, run by run, the worst
part of each: noise, and somebody else's work. Beyond the largest values it falls exponentially. With x the
deviation beyond the (k + 1)-th largest of m values, s the mean of the k largest beyond that, a further run of
a healthy node is so slow with the probability

    (k + 1) / (m + 1) (1 + x / (k s))^-k,

which is exact for an exponential tail whose scale is estimated from k values (Lawless, Statistical Models and
Methods for Lifetime Data, 2nd ed., section 4.1: a ratio of two sums of exponential times has an F
distribution). k is 20, or a 200th of the values if that is more, and half of them if that is less. In a
quiet fleet that was measured once or twice nobody else's work may have been met yet; so s is never less than
SCALE.

Several nodes may be faulty at once and hide each other. So the j slowest nodes are left out together, for j
from a twentieth of the fleet down to 1; that the j-th of them is beyond chance names all j.
"""

from __future__ import annotations

import numpy as np

SCALE = 0.03  # what somebody else's work costs on average at least, where it was not met
_TOP = 20
_MOST = 20  # nodes that may be named so at once
_SHARE = 20  # one of so many nodes


def never_so_slow(slow: np.ndarray, named: np.ndarray, share: float, least: float) -> dict[int, float]:
    """The nodes whose newest run is slower than any of a healthy node, with the chance of any such one in a
    healthy fleet, at most `share`. `slow` [nodes, runs, parts], NaN where nothing is known; `named`: nodes
    that are suspects already, and no measure of healthy ones; `least`: deviations that matter.
    """
    known = np.isfinite(slow).any(axis=2)
    worst = np.where(known, np.where(np.isfinite(slow), slow, -np.inf).max(axis=2), np.nan)
    worst[named] = np.nan
    newest = worst[:, -1]
    order = np.argsort(np.where(np.isfinite(newest), -newest, np.inf), kind="stable")
    count = int(np.isfinite(newest).sum())
    for j in range(min(_MOST, max(1, count // _SHARE), count), 0, -1):
        first = order[:j]
        effect = float(newest[first[-1]])
        if effect < least:
            continue
        others = worst.copy()
        others[first, -1] = np.nan
        others = np.sort(others[np.isfinite(others)])
        chance = count * _beyond(others, effect)
        if chance <= share:
            return {int(node): chance for node in first}
    return {}


def _beyond(healthy: np.ndarray, effect: float) -> float:
    """That one run of a healthy node is so slow; `healthy`: runs of such nodes, ascending."""
    m = len(healthy)
    k = min(max(_TOP, m // 200), m // 2)
    if k == 0 or effect <= healthy[-1]:
        return 1.0
    edge = float(healthy[-k - 1])
    scale = max(float(np.mean(healthy[-k:])) - edge, SCALE)
    return (k + 1) / (m + 1) * (1 + (effect - edge) / (k * scale)) ** -k
