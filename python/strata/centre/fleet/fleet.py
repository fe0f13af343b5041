"""What was measured on a fleet, as arrays: a row for each run of a node, sorted by node and time.

The deviation of a run is how much slower it is than the fleet was at that time, in logarithms: 0.12 for 12 %
slower, below 0 for faster. The fleet at a time is the median over its nodes of what each last had, so that a
change of all of them, such as an update's, is no node's, and runs of a few nodes alone change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

DAY = 86400.0
HISTORY = 12  # newest runs of a node that are looked at


@dataclass
class Figure:
    """One figure of all runs. `values` [runs, parts], NaN where there is none; `part`: what its columns are
    ("core", "domain"), empty where a node has one.
    """

    name: str
    unit: str
    higher: bool  # is better
    part: str
    values: np.ndarray

    @property
    def words(self) -> str:
        return self.name.replace("_", " ")


@dataclass
class Fleet:
    """`node`, `time` (seconds since 1970), `campaign` (runs that belong together) and `facts` (texts and
    numbers that say what a node is and runs) have an entry for each run. `counters`: those of errors, which
    only grow while a node is up; `booted` tells when they began.
    """

    nodes: list[str]
    node: np.ndarray
    time: np.ndarray
    campaign: list[str]
    facts: dict[str, list[str]]
    figures: dict[str, Figure]
    counters: dict[str, np.ndarray] = field(default_factory=dict)
    booted: np.ndarray = field(default_factory=lambda: np.zeros(0))
    failed: list[tuple[int, str, str]] = field(default_factory=list)  # run, figure, why: wrong results
    absent: dict[str, str] = field(default_factory=dict)  # figures that no run could have, and why
    generated: str = ""

    @property
    def runs(self) -> int:
        return len(self.node)

    def newest(self) -> np.ndarray:
        """The newest run of each node."""
        return np.flatnonzero(np.r_[self.node[1:] != self.node[:-1], True])


@dataclass(frozen=True)
class Blocks:
    """Runs of one campaign (without one: of one day), each node's second one apart. `of`: the block of each
    run; `time`: the median time of each block, ascending.
    """

    of: np.ndarray
    time: np.ndarray


def blocks(fleet: Fleet) -> Blocks:
    keys: list[tuple[str, int]] = []
    seen: dict[tuple[int, str], int] = {}
    days = np.floor(fleet.time / DAY).astype(int)
    for run in range(fleet.runs):
        name = fleet.campaign[run] or str(days[run])
        at = (int(fleet.node[run]), name)
        seen[at] = seen.get(at, -1) + 1
        keys.append((name, seen[at]))
    index = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    of = np.array([index[key] for key in keys])
    order = np.argsort(of, kind="stable")
    edges = np.searchsorted(of[order], np.arange(len(index) + 1))
    times = np.array([np.median(fleet.time[order[a:b]]) for a, b in pairwise(edges)])
    rank = np.argsort(np.argsort(times, kind="stable"), kind="stable")
    return Blocks(rank[of], np.sort(times))


@dataclass(frozen=True)
class Deviations:
    """Of one figure in one group of nodes. `slow` [nodes, runs, parts]: deviations, the newest run last, NaN
    where there is none; `run` [nodes, runs]: which run, -1 for none; `median` [blocks, parts]: of the fleet.
    """

    nodes: np.ndarray
    slow: np.ndarray
    run: np.ndarray
    median: np.ndarray


def deviations(figure: Figure, fleet: Fleet, of: Blocks, nodes: np.ndarray) -> Deviations:
    """The deviations of these nodes' newest HISTORY runs."""
    place = np.full(len(fleet.nodes), -1)
    place[nodes] = np.arange(len(nodes))
    runs = np.flatnonzero((place[fleet.node] >= 0) & np.isfinite(figure.values).any(axis=1))
    here = place[fleet.node[runs]]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(figure.values[runs]) * (-1 if figure.higher else 1)
    parts = np.isfinite(logs).any(axis=0)
    logs = logs[:, : int(np.flatnonzero(parts)[-1]) + 1] if parts.any() else logs[:, :0]
    median = np.full((len(of.time), logs.shape[1]), np.nan)
    last = np.full((len(nodes), logs.shape[1]), np.nan)
    for block in np.unique(of.of[runs]):
        mine = of.of[runs] == block
        last[here[mine]] = logs[mine]
        median[block] = _median(last)
    slow = np.full((len(nodes), HISTORY, logs.shape[1]), np.nan)
    run = np.full((len(nodes), HISTORY), -1)
    ends = np.searchsorted(here, np.arange(len(nodes)), side="right")
    age = ends[here] - 1 - np.arange(len(here))  # runs of that node that came after
    kept = age < HISTORY
    slow[here[kept], HISTORY - 1 - age[kept]] = (logs - median[of.of[runs]])[kept]
    run[here[kept], HISTORY - 1 - age[kept]] = runs[kept]
    return Deviations(nodes, slow, run, median)


def _median(rows: np.ndarray) -> np.ndarray:
    """The median of each column, without what is NaN."""
    whole = rows[np.isfinite(rows).all(axis=1)]
    if len(whole) == len(rows) or (len(whole) and np.isfinite(rows).any(axis=1).sum() == len(whole)):
        return np.median(whole, axis=0)
    out = np.full(rows.shape[1], np.nan)
    for column in range(rows.shape[1]):
        known = rows[np.isfinite(rows[:, column]), column]
        if len(known):
            out[column] = np.median(known)
    return out
