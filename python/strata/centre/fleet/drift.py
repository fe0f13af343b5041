"""Changes of the whole fleet: an update makes all nodes slower, and no node is to blame.

From one campaign to the next each node changes by its own amount. Where the median of these changes is LEAST
or more, and so many nodes go the same way as by chance in less than one of a thousand campaigns (sign test),
the fleet changed; facts that changed on half of its nodes at the same time are named with it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from strata.centre.fleet.fleet import Deviations, Figure, Fleet
from strata.centre.fleet.groups import RUNS

LEAST = 0.01
FEWEST = 12  # nodes that were measured both times
_CHANCE = 1e-3


@dataclass(frozen=True)
class Change:
    """`slow`: by how much the fleet's figure became worse, as a logarithm; `before`, `after`: times."""

    group: str
    figure: str
    slow: float
    before: float
    after: float
    facts: tuple[str, ...]


def changes(fleet: Fleet, group: str, figure: Figure, of: Deviations, block: np.ndarray) -> list[Change]:
    """`block`: of each run, as in Blocks."""
    own = np.where(of.run >= 0, block[np.maximum(of.run, 0)], -1)
    with np.errstate(invalid="ignore"):
        absolute = _mean_of_parts(
            of.slow + np.where(own[..., None] >= 0, of.median[np.maximum(own, 0)], np.nan)
        )
    steps, place = absolute[:, 1:] - absolute[:, :-1], own[:, 1:]
    found = []
    for number in np.unique(place[np.isfinite(steps)]):
        mine = np.isfinite(steps) & (place == number)
        if mine.sum() < FEWEST:
            continue
        step = steps[mine]
        middle = float(np.median(step))
        if abs(middle) >= LEAST and _sign_test(int((step > 0).sum()), len(step)) < _CHANCE:
            after, before = of.run[:, 1:][mine], of.run[:, :-1][mine]
            found.append(
                Change(
                    group,
                    figure.name,
                    middle,
                    float(np.median(fleet.time[before])),
                    float(np.median(fleet.time[after])),
                    _facts(fleet, before, after),
                )
            )
    return found


def _mean_of_parts(values: np.ndarray) -> np.ndarray:
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=2)
    count = known.sum(axis=2)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _sign_test(up: int, n: int) -> float:
    """Two-sided, by the normal approximation with a correction for continuity."""
    from math import erfc, sqrt

    z = (abs(up - n / 2) - 0.5) / sqrt(n / 4)
    return erfc(max(z, 0.0) / sqrt(2))


def _facts(fleet: Fleet, before: np.ndarray, after: np.ndarray) -> tuple[str, ...]:
    found = []
    for fact, word in RUNS.items():
        values = fleet.facts.get(fact)
        if not values:
            continue
        pairs = Counter((values[a], values[b]) for a, b in zip(before, after, strict=True))
        (old, new), count = pairs.most_common(1)[0]
        if old != new and count >= len(before) / 2:
            found.append(f"{word} {old or 'unknown'} became {new or 'unknown'}")
    return tuple(found)
