"""Nodes that are alike, and what sets a node apart from those like it.

Nodes of one product and processor with equal cores, domains and memory are a group. A kind of fewer than
FEWEST nodes joins the largest group of its product and processor: such a node is one that lost something, a
core or a memory module, more often than it is a purchase of its own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from strata.centre.fleet.fleet import Fleet
from strata.centre.fleet.outliers import FEWEST

MODEL, KIND = ("product", "cpu_model"), ("packages", "cores", "domains", "memory_gib")
LOST = {"cores": "cores", "memory_gib": "GiB of memory", "domains": "memory domains", "packages": "packages"}
RUNS = {"links": "links", "kernel": "kernel", "microcode": "microcode", "bios": "BIOS"}
_SAME_MEMORY = 0.02  # the kernel keeps some of it, more or less


@dataclass(frozen=True)
class Group:
    """`nodes`: places in the fleet, ascending. `kind`: what the most of them have, by fact."""

    name: str
    nodes: np.ndarray
    kind: dict[str, str]


@dataclass(frozen=True)
class Difference:
    """A node has something else than its group. `lost`: less of its hardware, or a slower link."""

    node: int
    fact: str
    has: str
    others: str
    lost: bool

    @property
    def words(self) -> str:
        if self.fact in LOST:
            return f"it has {self.has} {LOST[self.fact]}, the others {self.others}"
        if not self.has:
            return f"it tells no {RUNS[self.fact]}, the others {self.others}"
        return f"{RUNS[self.fact]} {self.has}, the others have {self.others}"


def groups(fleet: Fleet) -> list[Group]:
    """The groups, the largest first; by what each node's newest run says."""
    newest = fleet.newest()
    has = {
        name: [fleet.facts[name][run] if name in fleet.facts else "" for run in newest]
        for name in (*MODEL, *KIND)
    }
    memory = _rounded(has["memory_gib"])
    models: dict[tuple[str, ...], dict[tuple[str, ...], list[int]]] = {}
    for i in range(len(newest)):
        model = tuple(has[name][i] for name in MODEL)
        kind = (*(has[name][i] for name in KIND[:-1]), memory[i])
        models.setdefault(model, {}).setdefault(kind, []).append(i)
    found: list[list[int]] = []
    for kinds in models.values():
        ordered = sorted(kinds.values(), key=len, reverse=True)
        main = [list(ordered[0])]
        for nodes in ordered[1:]:
            if len(nodes) < FEWEST:
                main[0] += nodes
            else:
                main.append(list(nodes))
        found += main
    found.sort(key=len, reverse=True)
    return [_group(fleet, np.array(sorted(nodes)), newest) for nodes in found]


def _rounded(texts: list[str]) -> list[str]:
    """Memory sizes, those within 2 % of a smaller one taken for the same."""
    sizes = sorted({float(t) for t in texts if _is_number(t)})
    same: dict[float, float] = {}
    first = None
    for size in sizes:
        first = size if first is None or size > first * (1 + _SAME_MEMORY) else first
        same[size] = first
    return [f"{same[float(t)]:g}" if _is_number(t) else t for t in texts]


def _is_number(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False


def _group(fleet: Fleet, nodes: np.ndarray, newest: np.ndarray) -> Group:
    kind = {}
    for name, values in fleet.facts.items():
        has = Counter(values[newest[i]] for i in nodes)
        kind[name] = has.most_common(1)[0][0]
    about = [kind.get("product") or kind.get("cpu_model") or "nodes"]
    about += [f"{kind[n]} {w}" for n, w in (("cores", "cores"), ("memory_gib", "GiB")) if kind.get(n)]
    return Group(", ".join(about), nodes, kind)


def differences(fleet: Fleet, group: Group) -> list[Difference]:
    """What each node has otherwise than nine tenths of its group."""
    newest, found = fleet.newest(), []
    for fact in (*LOST, *RUNS):
        values = [fleet.facts[fact][newest[i]] for i in group.nodes] if fact in fleet.facts else []
        if fact == "memory_gib":
            values = _rounded(values)
        if len(values) < FEWEST:
            continue
        usual, count = Counter(values).most_common(1)[0]
        if count < 0.9 * len(values):
            continue
        for node, value in zip(group.nodes, values, strict=True):
            if value != usual:
                found.append(Difference(int(node), fact, value, usual, _less(fact, value, usual)))
    return found


def _less(fact: str, value: str, usual: str) -> bool:
    if fact in LOST:
        return _is_number(value) and _is_number(usual) and float(value) < float(usual)
    return fact == "links"
