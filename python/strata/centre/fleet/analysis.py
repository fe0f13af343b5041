"""All that is found out about a fleet, as data: what the report, the JSON, Prometheus and the drain are made
from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from strata.centre.fleet import words
from strata.centre.fleet.drift import Change, changes
from strata.centre.fleet.errors import AT_ONCE, Errors, errors
from strata.centre.fleet.fleet import DAY, Deviations, Fleet, blocks, deviations
from strata.centre.fleet.groups import Difference, Group, differences, groups
from strata.centre.fleet.outliers import ALARM, FEWEST, LEAST, Outlier, outliers
from strata.centre.outages.times import text

SCHEMA = "strata.fleet/1"
_STALE = 45 * DAY
_RECENT = 3  # runs whose median the map shows


@dataclass
class Suspect:
    """`outliers` by place in the fleet; `reasons` in plain words, the gravest first."""

    node: int
    name: str
    cause: str
    reasons: list[str]
    outliers: list[Outlier] = field(default_factory=list)
    rank: tuple[int, float] = (2, 0.0)

    @property
    def sentence(self) -> str:
        return f"node {self.name}: {'; '.join(self.reasons)}"


@dataclass
class Again:
    """A node whose newest run is slow, and that is no suspect. `outliers`: one run's, the slowest first."""

    node: int
    name: str
    reason: str
    outliers: list[Outlier]


@dataclass
class Measured:
    """One figure of one group, as it was judged."""

    group: Group
    figure: str
    of: Deviations


@dataclass
class Analysis:
    """`least`: deviations below it are no findings. `levels` [nodes, figures]: the median deviation of the
    worst part in the newest runs.
    """

    fleet: Fleet
    least: float
    groups: list[Group]
    measured: list[Measured]
    suspects: list[Suspect]
    again: list[Again]
    differences: list[Difference]
    changes: list[Change]
    levels: np.ndarray
    times: np.ndarray  # of campaigns
    silent: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def stale(self) -> list[str]:
        """Nodes that nobody has measured for long."""
        last = self.fleet.time[self.fleet.newest()]
        return [n for n, t in zip(self.fleet.nodes, last, strict=True) if t < last.max() - _STALE]

    @property
    def small(self) -> list[Group]:
        """Groups too small for a comparison of their nodes."""
        return [g for g in self.groups if len(g.nodes) < FEWEST]


def analyse(fleet: Fleet, least: float = LEAST) -> Analysis:
    """Who stands out, and why."""
    found = groups(fleet)
    of = blocks(fleet)
    measured = [
        Measured(group, name, one)
        for group in found
        for name, figure in fleet.figures.items()
        if (one := deviations(figure, fleet, of, group.nodes)).slow.shape[2]
    ]
    slow: dict[int, list[Outlier]] = {}
    again: dict[int, list[Outlier]] = {}
    drift: list[Change] = []
    levels = np.full((len(fleet.nodes), len(fleet.figures)), np.nan)
    column = {name: i for i, name in enumerate(fleet.figures)}
    for one in measured:
        figure, nodes = fleet.figures[one.figure], one.group.nodes
        result = outliers(figure, one.of, ALARM / len(measured), least)
        for where, those in ((slow, result.outliers), (again, result.again)):
            for outlier in those:
                where.setdefault(int(nodes[outlier.node]), []).append(outlier)
        drift += changes(fleet, one.group.name, figure, one.of, of.of)
        levels[nodes, column[one.figure]] = _level(one.of)
    differ = [d for group in found for d in differences(fleet, group)]
    suspects = _suspects(fleet, slow, differ, errors(fleet))
    named = {s.node for s in suspects}
    repeat = [
        _repeated(fleet, node, sorted(those, key=lambda o: -o.slow))
        for node, those in sorted(again.items(), key=lambda one: -max(o.slow for o in one[1]))
        if node not in named
    ]
    return Analysis(fleet, least, found, measured, suspects, repeat, differ, drift, levels, of.time)


def _repeated(fleet: Fleet, node: int, those: list[Outlier]) -> Again:
    """`those`: the slowest first."""
    reason = "; ".join(words.sentence(o, fleet.figures[o.figure], fleet) for o in those)
    return Again(node, fleet.nodes[node], reason, those)


def _level(of: Deviations) -> np.ndarray:
    """The median of each part's newest runs, of the part where it is worst."""
    recent = of.slow[:, -_RECENT:]
    known = np.isfinite(recent)
    filled = np.where(known, recent, np.inf)
    count = known.sum(axis=1)
    place = np.maximum((count - 1) // 2, 0)[:, None]
    middle = np.take_along_axis(np.sort(filled, axis=1), place, axis=1)[:, 0]
    worst = np.where(count > 0, middle, -np.inf).max(axis=1)
    return np.where(np.isfinite(worst), worst, np.nan)


def _suspects(
    fleet: Fleet, slow: dict[int, list[Outlier]], differ: Sequence[Difference], wrong: Sequence[Errors]
) -> list[Suspect]:
    newest = set(fleet.newest().tolist())
    failed = [(int(fleet.node[run]), name, why) for run, name, why in fleet.failed if run in newest]
    lost = [d for d in differ if d.lost]
    found = []
    for node in sorted(
        {*slow, *(n for n, _, _ in failed), *(d.node for d in lost), *(e.node for e in wrong)}
    ):
        mine = sorted(slow.get(node, []), key=lambda o: -o.slow)
        results = [f"wrong results of {name}: {why}" for _, name, why in (f for f in failed if f[0] == node)]
        counted = [e for e in wrong if e.node == node]
        less = [d.words for d in lost if d.node == node]
        reasons = results + less + [e.words for e in counted]
        reasons += [words.sentence(o, fleet.figures[o.figure], fleet) for o in mine]
        if mine and (more := words.rest(mine, fleet)):
            reasons.append(more)
        grave = 0 if results or any(e.counter in AT_ONCE for e in counted) else 1 if less else 2
        why = (
            "wrong results"
            if results
            else "lost hardware, or a slower link"
            if less
            else words.cause(mine, fleet)
            if mine
            else "errors that are counted"
        )
        worst = max((o.slow for o in mine), default=0.0)
        found.append(Suspect(node, fleet.nodes[node], why, reasons, mine, (grave, -worst)))
    return sorted(found, key=lambda s: s.rank)


# --- as JSON


def document(whole: Analysis) -> dict[str, Any]:
    """The analysis as strata.fleet/1; deviations in percent of the figure."""
    fleet = whole.fleet
    return {
        "schema": SCHEMA,
        "generated": fleet.generated,
        "nodes": len(fleet.nodes),
        "runs": fleet.runs,
        "first": text(float(fleet.time.min())),
        "last": text(float(fleet.time.max())),
        "least_percent": round(-100 * float(np.expm1(-whole.least)), 6),
        "false_alarms": ALARM,
        "groups": [{"name": g.name, "nodes": len(g.nodes), "kind": g.kind} for g in whole.groups],
        "suspects": [
            {
                "node": s.name,
                "cause": s.cause,
                "reasons": s.reasons,
                "outliers": _outliers(fleet, s.name, s.outliers),
            }
            for s in whole.suspects
        ],
        "again": [
            {"node": a.name, "reason": a.reason, "outliers": _outliers(fleet, a.name, a.outliers)}
            for a in whole.again
        ],
        "differences": [{**asdict(d), "node": fleet.nodes[d.node]} for d in whole.differences],
        "changes": [
            {
                "group": c.group,
                "figure": c.figure,
                "percent": words.percent(c.slow, fleet.figures[c.figure].higher),
                "before": text(c.before),
                "after": text(c.after),
                "facts": list(c.facts),
            }
            for c in whole.changes
        ],
        "silent": whole.silent,
        "stale": whole.stale,
        "absent": fleet.absent,
        "damaged": whole.damaged,
    }


def _outliers(fleet: Fleet, name: str, those: Sequence[Outlier]) -> list[dict[str, Any]]:
    return [
        {
            **asdict(o),
            "node": name,
            "percent": words.percent(o.slow, fleet.figures[o.figure].higher),
            "since": text(float(fleet.time[o.since])),
        }
        for o in those
    ]
