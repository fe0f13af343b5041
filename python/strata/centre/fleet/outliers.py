"""Nodes that are slower than healthy ones may be by chance.

A node is tested by its newest two and three runs, of which all must be slow (the least deviation counts), in
two ways: against the fleet, and against the median of its own runs before, where it has three of them. A
figure with parts, such as a core or a memory domain, is tested part by part: the same part must be slow in
all of those runs. One slow run makes nobody a suspect that healthy nodes may have had too: such a node is to
be measured again (`again`). One that no healthy node of the fleet's history comes near is named at once
(`once.py`).

Chance is shared out so that a report on a healthy fleet names any node with the probability ALARM or less:
the figures of all groups get equal shares. Within a figure a third is for one run, and the rest for the four
tests, where the Bonferroni inequality counts nodes and parts. A deviation below `least` is no finding,
however certain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.centre.fleet.fleet import HISTORY, Deviations, Figure
from strata.centre.fleet.once import never_so_slow
from strata.centre.fleet.tails import Lasting, Passing, lasting, passing, together

ALARM = 0.05
LEAST = 0.05  # deviations that matter
RUNS = (2, 3)  # newest ones of a node that a test looks at
ONCE = 1 / 3  # of the chance: that of one run
TESTS = 2 * len(RUNS) / (1 - ONCE)
FEWEST = 8  # nodes of a group that are compared with each other
_EXPECTED = 1.0  # healthy nodes that may have so much for good, in the list of those to be measured again
_OWN = 3  # earlier runs of a node that it is compared with
_LEVEL = 5  # newest runs whose median says what a node has


@dataclass(frozen=True)
class Outlier:
    """`node`, `part`: places in the group's arrays. `slow`: the deviation, from the fleet or from the node's
    own past; `runs` in a row have it; `chance`: that any node of a healthy fleet looks so in this figure.
    """

    node: int
    figure: str
    part: int
    against: str  # "fleet", "past"
    slow: float
    runs: int
    chance: float
    since: int  # the run with which it began
    always: bool  # in all runs that are known
    parts: int = 1  # of the node that are outliers in this figure


@dataclass(frozen=True)
class Found:
    """Outliers of one figure in one group, an entry for each part; and nodes to be measured again."""

    outliers: list[Outlier]
    again: list[Outlier]


def outliers(figure: Figure, of: Deviations, share: float, least: float = LEAST) -> Found:
    """`share`: of ALARM that is this figure's in this group."""
    n, _, parts = of.slow.shape
    if not parts or not n:
        return Found([], [])
    lasts = lasting(_median(of.slow[:, -_LEVEL:])) if n >= FEWEST else None
    chance, runs = _chances(of.slow, lasts, least)
    certain = chance <= share
    against = np.where(certain[0], 0, 1)  # the fleet, where both are certain
    sure = certain.any(axis=0)
    smallest = chance.min(axis=0)
    found = []
    for node, part in _worst(sure, smallest):
        past = int(against[node, part])
        k = int(runs[past, node, part])
        found.append(
            _outlier(
                figure.name, of, (node, part), k, past, float(smallest[node, part]), int(sure[node].sum())
            )
        )
    if lasts is not None:
        named = sure.any(axis=1)
        for node, once in never_so_slow(of.slow, named, share * ONCE, least).items():
            part = int(np.nanargmax(of.slow[node, -1]))
            found.append(_outlier(figure.name, of, (node, part), 1, 0, once / ONCE, 1))
    return Found(found, _again(figure.name, of, lasts, least, {o.node for o in found}))


def _chances(slow: np.ndarray, lasts: Lasting | None, least: float) -> tuple[np.ndarray, np.ndarray]:
    """For the fleet and the own past [2, nodes, parts]: the chance of any so slow node in a healthy fleet,
    by the best of the tests, and its runs. Infinite where nothing is to be tested.
    """
    n, _, parts = slow.shape
    passes = _noise(slow)
    chances, runs = np.full((2, n, parts), np.inf), np.zeros((2, n, parts), int)
    for k in RUNS:
        level = slow[:, -k:].min(axis=1)  # NaN where one of them is missing
        own = _median(slow[:, : HISTORY - k], _OWN)
        for past, effect in enumerate((level, level - own)):
            if not past and lasts is None:
                continue
            chance = passes.beyond(effect) ** k if past or not lasts else together(lasts, passes, effect, k)
            chance = np.where(np.isfinite(effect) & (effect >= least), chance * n * parts * TESTS, np.inf)
            better = chance < chances[past]
            chances[past] = np.where(better, chance, chances[past])
            runs[past] = np.where(better, k, runs[past])
    return chances, runs


def _again(name: str, of: Deviations, lasts: Lasting | None, least: float, named: set[int]) -> list[Outlier]:
    """Nodes whose newest run is slower than what healthy ones have for good: than the fleet, in a small group
    than their own past.
    """
    newest = of.slow[:, -1]
    if lasts is None:
        newest = newest - _median(of.slow[:, :-1], _OWN)
    slow = np.isfinite(newest) & (newest >= least)
    if lasts is not None:
        slow &= lasts.beyond(newest) * newest.size <= _EXPECTED
    return [
        _outlier(name, of, (node, part), 1, int(lasts is None), 1.0, 1)
        for node, part in _worst(slow, -newest)
        if node not in named
    ]


def _worst(which: np.ndarray, rank: np.ndarray) -> list[tuple[int, int]]:
    """The part of each node that `which` has, with the least `rank`."""
    nodes = np.flatnonzero(which.any(axis=1))
    ranked = np.where(which, rank, np.inf)[nodes]
    return [(int(a), int(b)) for a, b in zip(nodes, np.argmin(ranked, axis=1), strict=True)]


def _median(runs: np.ndarray, least: int = 1) -> np.ndarray:
    """The median over runs [nodes, runs, parts], NaN where fewer than `least` are known."""
    known = np.isfinite(runs)
    count = known.sum(axis=1)
    ordered = np.sort(np.where(known, runs, np.inf), axis=1)
    low, high = (np.maximum(count - 1, 0) // 2, count // 2)
    low, high = (np.minimum(i, runs.shape[1] - 1) for i in (low, high))
    pick = [np.take_along_axis(ordered, i[:, None], axis=1)[:, 0] for i in (low, high)]
    with np.errstate(invalid="ignore"):
        return np.where(count >= least, (pick[0] + pick[1]) / 2, np.nan)


def _noise(slow: np.ndarray) -> Passing:
    """Q; where most nodes were measured once, all that differs may be noise."""
    recoveries = slow[:, :-1] - slow[:, 1:]
    many = np.isfinite(recoveries).any(axis=2).sum() >= max(20, slow.shape[0] // 2)
    return passing(recoveries if many else slow[:, -1])


def _outlier(
    figure: str, of: Deviations, at: tuple[int, int], k: int, past: int, chance: float, parts: int
) -> Outlier:
    node, part = at
    series = of.slow[node, :, part]
    own = float(np.nanmedian(series[: HISTORY - k])) if past else 0.0
    slow = float(np.median(series[-k:])) - own
    known = np.flatnonzero(np.isfinite(series))
    first = known[-1]
    for place in known[::-1]:  # back to where it had less than half of it
        if series[place] - own < slow / 2:
            break
        first = place
    return Outlier(
        node,
        figure,
        part,
        "past" if past else "fleet",
        slow,
        int((known >= first).sum()),
        min(1.0, chance),
        int(of.run[node, first]),
        bool(first == known[0]),
        parts,
    )
