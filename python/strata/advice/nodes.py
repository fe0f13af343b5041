"""Which nodes, and which pairs of nodes, are slower to reach than the others: from a matrix of all pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

from strata.advice.finding import Finding
from strata.advice.samples import Machine, Summary, kind_of_unit, tasks
from strata.advice.words import count, digits, list_some, unit_text

Key = TypeVar("Key")

WORSE = 1.2  # a factor below which nothing is called an outlier
_SCATTERS = 4.0  # and so many times the scatter of the others (1.4826 MAD of logarithms, as of a normal law)


@dataclass(frozen=True)
class Outliers:
    """Of one matrix: nodes all of whose pairs are slow, and slow pairs of other nodes. Each has its value and
    how many times worse than the usual that is.
    """

    usual: float
    nodes: tuple[tuple[str, float, float], ...]
    pairs: tuple[tuple[str, str, float, float], ...]


def outliers(
    values: Sequence[Sequence[float | None]], names: Sequence[str], smaller_is_better: bool
) -> Outliers:
    """`values[i][j]`: what was measured between nodes i and j, n x n and symmetric, None where it was not.

    A node is an outlier when the median of its pairs is WORSE times worse than the median of the other
    nodes', and outside of four times their scatter; of three nodes or fewer none can be told. Then the pairs
    of the nodes that are left are judged in the same way.
    """
    every = [v for i, row in enumerate(values) for v in row[i + 1 :] if v is not None]
    usual = median(every) if every else math.nan
    own = {
        i: median(found)
        for i, row in enumerate(values)
        if (found := [v for v in row if v is not None and v > 0])
    }
    slow = _judged(own, smaller_is_better) if len(own) > 3 else {}
    pairs = {
        (i, j): v
        for i, row in enumerate(values)
        for j, v in enumerate(row)
        if j > i and v is not None and v > 0 and i not in slow and j not in slow
    }
    slow_pairs = _judged(pairs, smaller_is_better) if len(pairs) > 3 else {}
    return Outliers(
        usual,
        tuple((names[i], own[i], factor) for i, factor in sorted(slow.items(), key=lambda s: -s[1])),
        tuple(
            (names[i], names[j], pairs[i, j], factor)
            for (i, j), factor in sorted(slow_pairs.items(), key=lambda s: -s[1])
        ),
    )


def _judged(values: Mapping[Key, float], smaller_is_better: bool) -> dict[Key, float]:
    """Those that are worse than the rest, and by which factor."""
    sign = 1.0 if smaller_is_better else -1.0
    cost = {key: sign * math.log(value) for key, value in values.items()}
    middle = median(cost.values())
    scatter = 1.4826 * median(abs(c - middle) for c in cost.values())
    limit = max(math.log(WORSE), _SCATTERS * scatter)
    return {key: math.exp(c - middle) for key, c in cost.items() if c - middle > limit}


def matrices(summary: Summary | None) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], list[str]]]:
    """Task, matrix and names of nodes of every matrix that was measured with a process on each node."""
    for task in tasks(summary, "pingpong"):
        hosts = str((task.get("parameters") or {}).get("hosts") or "").split()
        for matrix in task.get("matrices") or []:
            if len(hosts) == len(matrix["rows"]) == len(set(hosts)):
                yield task, matrix, hosts


def slow_nodes(machine: Machine, summary: Summary | None) -> Iterator[Finding]:
    """Nodes and links that are slower than the others."""
    for _, matrix, hosts in matrices(summary):
        unit = str(matrix["unit"])
        time = kind_of_unit(unit) == "time"
        found = outliers(matrix["values"], hosts, time)
        what = "latency" if time else "bandwidth"
        said = [f"{n} ({digits(v)} {unit_text(unit)}, {digits(f)} times worse)" for n, v, f in found.nodes]
        said += [f"{a} to {b} ({digits(v)} {unit_text(unit)})" for a, b, v, _ in found.pairs]
        if not said:
            continue
        who = count(len(found.nodes), "node") if found.nodes else count(len(found.pairs), "pair of nodes")
        yield Finding(
            "warning",
            f"{who} with worse {what} than the others",
            f"median of all pairs {digits(found.usual)} {unit_text(unit)}; {list_some(said, 4)}",
            "A program that waits for all its processes runs as fast as its slowest link.",
            f"Leave it out: `--exclude={','.join(n for n, _, _ in found.nodes) or found.pairs[0][0]}`; have "
            "cable, adapter and link speed looked at (`ethtool`, `ibstat`).",
            f"slow-nodes-{what}",
        )
