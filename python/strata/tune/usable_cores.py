"""What a machine offers to a program: the cores that may be used, and how they lie.

Pure functions of the document strata.machine/1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from strata.advice import core_kinds
from strata.advice.samples import allowed_cores, cpulist
from strata.errors import StrataError


@dataclass(frozen=True)
class Core:
    """A core that may be used. `cache`: which of the outermost shared caches; -1: none. `pus`: those that
    may be used.
    """

    package: int
    domain: int
    cache: int
    kind: str
    pus: tuple[int, ...]


@dataclass(frozen=True)
class UsableCores:
    """Allowed cores, by domain, PUs a core, and the memories (the system's numbers) that programs of these
    cores use without asking for them by name.
    """

    cores: int
    domains: tuple[int, ...]  # allowed cores of each domain that has some
    pus_per_core: int
    memories: tuple[int, ...]
    each: tuple[Core, ...]  # in hwloc's order
    kinds: tuple[str, ...]  # in the launcher's words; empty where all cores are alike
    nodes: int = 1  # of a cluster, all like this one, which a program's processes share

    @staticmethod
    def of(machine: dict[str, Any]) -> UsableCores:
        cores = allowed_cores(machine)
        if not cores:
            raise StrataError(
                "this process may use no core of this machine",
                given="an empty set of cores (taskset, numactl or a control group)",
                remedy="strata machine shows what is allowed",
            )
        count = Counter(core["domain"] for core in cores)
        # Of kinds of which it is not known which are faster, none is tried before the others.
        kinds = core_kinds.kinds(machine)[::-1] if core_kinds.ordered(machine) else []
        words = {core["index"]: kind.word for kind in kinds for core in kind.cores}
        each = _cores(machine, cores, words)
        pus = min(len(core.pus) for core in each)
        domains = tuple(count[d] for d in sorted(count))
        names = tuple(kind.word for kind in kinds)
        nodes = int(machine.get("nodes") or 1)
        return UsableCores(len(cores), domains, pus, _ordinary(machine, count), each, names, nodes)

    def of_kind(self, kind: str) -> list[Core]:
        """The cores of a kind; all for the empty word."""
        return [core for core in self.each if not kind or core.kind == kind]

    def places(self, kind: str = "", smt: int = 1) -> int:
        """How many threads can be held, each on a PU of its own, with so many PUs of each core."""
        return sum(min(smt, len(core.pus)) for core in self.of_kind(kind))

    def most_pus(self, kind: str = "") -> int:
        """PUs of the core of this kind that has most."""
        return max(len(core.pus) for core in self.of_kind(kind))

    def groups(self, by: str, kind: str = "", smt: int = 1) -> list[list[int]]:
        """PUs by "domain", "cache" or "package", with so many of each core; without empty ones."""
        key: Callable[[Core], int] = {
            "domain": lambda core: core.domain,
            "cache": lambda core: core.cache,
            "package": lambda core: core.package,
        }[by]
        found: dict[int, list[int]] = {}
        for core in self.of_kind(kind):
            found.setdefault(key(core), []).extend(core.pus[:smt])
        return [found[k] for k in sorted(found)]


def _ordinary(machine: dict[str, Any], domains: Iterable[int]) -> tuple[int, ...]:
    """DRAM of these domains, where they have some; HBM, CXL and NVM are asked for by name."""
    allowed = set(cpulist(machine["allowed"]["memories"]))
    found: list[int] = []
    for domain in domains:
        own = [m for m in machine["memories"] if m.get("domain") == domain and m["os_index"] in allowed]
        dram = [m for m in own if m.get("kind") in ("DRAM", "unknown", None)]
        found += [m["os_index"] for m in dram or own]
    return tuple(sorted(found))


def _cores(
    machine: dict[str, Any], cores: Sequence[dict[str, Any]], words: dict[int, str]
) -> tuple[Core, ...]:
    allowed = (machine.get("allowed") or {}).get("pus")
    usable = None if allowed is None else set(cpulist(allowed))
    caches = _outermost(machine)
    return tuple(
        Core(
            core.get("package", 0),
            core["domain"],
            caches.get(core["index"], -1),
            words.get(core["index"], ""),
            tuple(pu for pu in core["pus"] if usable is None or pu in usable),
        )
        for core in cores
    )


def _outermost(machine: dict[str, Any]) -> dict[int, int]:
    """For each core, the first core of the outermost cache that it shares: a name for that cache."""
    found: dict[int, tuple[int, int]] = {}
    for cache in machine.get("caches") or []:
        if cache.get("type") == "instruction" or len(cache["cores"]) < 2:
            continue
        for core in cache["cores"]:
            found[core] = max(found.get(core, (0, 0)), (cache["level"], min(cache["cores"])))
    return {core: first for core, (_, first) in found.items()}
