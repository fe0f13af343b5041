"""How far apart two cores are, in the words of the machine: what of its hierarchy they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from strata.advice.samples import Machine, allowed_cores, cpulist

# From near to far; a word stands for all that begin with it.
_ORDER = ("same core", "same L", "same domain", "same cache", "same package", "other package", "other node")
_OTHER_DOMAIN = ", other domain"


@dataclass(frozen=True)
class Pair:
    """Two PUs, in the system's numbers, at a distance; `why` where the machine has no such pair."""

    distance: str
    pus: tuple[int, int] | None
    why: str = ""


@dataclass(frozen=True)
class _Location:
    """Where a core lies: its caches by level, each with the first of the cores that share it."""

    pus: tuple[int, ...]  # that may be used
    caches: Mapping[int, int]
    domain: Any
    package: Any


def distance(machine: Machine, stride: int) -> str:
    """Of the first allowed core and the one `stride` further; empty where there is none."""
    locations = _locations(machine)
    return _between(locations[0], locations[stride]) if stride < len(locations) else ""


def rank(word: str) -> float:
    """Ascending from near to far."""
    plain = "same cache" if word.endswith(_OTHER_DOMAIN) else word
    step = next((i for i, known in enumerate(_ORDER) if plain.startswith(known)), len(_ORDER))
    numbers = "".join(c if c.isdigit() else " " for c in word).split()  # of the cache, or of the firmware
    return step + (int(numbers[0]) / 1000 if numbers else 0.0)


def pairs(machine: Machine) -> list[Pair]:
    """One pair of PUs for each distance that the machine has among the cores that may be used, from near to
    far, and each kind of distance that it has not.
    """
    locations = _locations(machine)
    found: dict[tuple[str, float | None], tuple[int, int]] = {}
    for location in locations:
        if len(location.pus) > 1:
            found.setdefault(("same core", None), (location.pus[0], location.pus[1]))
    apart = _firmware(machine)
    for a, b in combinations(locations, 2):
        word = _between(a, b)
        key = (word, apart.get((a.domain, b.domain)) if a.domain != b.domain else None)
        found.setdefault(key, (a.pus[0], b.pus[0]))
    several = {word for word, _ in found if sum(w == word for w, _ in found) > 1}
    made = [
        Pair(f"{word}, {far:g} by the firmware" if word in several and far is not None else word, pus)
        for (word, far), pus in found.items()
    ]
    made += [Pair(word, None, why) for word, why in _absent(locations, {w for w, _ in found}).items()]
    return sorted(made, key=lambda pair: rank(pair.distance))


def pus_in_domains(machine: Machine, count: int, domains: int) -> list[int] | str:
    """So many PUs, each of a core of its own, an equal part of them in each of so many domains, those with
    the most cores that may be used; or the reason why there are not as many.
    """
    by_domain: dict[Any, list[int]] = {}
    for location in _locations(machine):
        by_domain.setdefault(location.domain, []).append(location.pus[0])
    if len(by_domain) < domains:
        return "one memory domain"
    chosen = sorted(by_domain.values(), key=len, reverse=True)[:domains]  # of equals those named first
    each = count // domains
    if any(len(pus) < each for pus in chosen):
        where = "a domain" if domains == 1 else "the second domain"
        return f"{each} cores are more than the {len(chosen[-1])} that may be used in {where}"
    return [pu for pus in chosen for pu in pus[:each]]


def _locations(machine: Machine) -> list[_Location]:
    given = (machine.get("allowed") or {}).get("pus")
    allowed = None if given is None else set(cpulist(given))
    index = {id(core): i for i, core in enumerate(machine["cores"])}
    caches: dict[int, dict[int, int]] = {}
    for cache in machine.get("caches") or []:
        for core in cache.get("cores") or [] if cache.get("type") != "instruction" else []:
            caches.setdefault(core, {})[int(cache["level"])] = min(cache["cores"])
    return [
        _Location(
            tuple(p for p in core["pus"] if allowed is None or p in allowed),
            caches.get(index[id(core)], {}),
            core.get("domain"),
            core.get("package"),
        )
        for core in allowed_cores(machine)
    ]


def _between(a: _Location, b: _Location) -> str:
    shared = [level for level, first in a.caches.items() if b.caches.get(level) == first]
    same_domain = a.domain is not None and a.domain == b.domain
    if shared:
        return f"same L{min(shared)}" + ("" if same_domain or a.domain is None else _OTHER_DOMAIN)
    if same_domain:
        return "same domain"
    return "same package" if a.package is not None and a.package == b.package else "other package"


def _firmware(machine: Machine) -> dict[tuple[Any, Any], float]:
    """The distance of two domains as the firmware states it, larger than 10, that of a domain to itself."""
    known = machine.get("distances") or {}
    first = {d["memories"][0]: d["index"] for d in machine.get("domains") or [] if d.get("memories")}
    memories = known.get("memories") or []
    return {
        (first[a], first[b]): value
        for a, row in zip(memories, known.get("matrix") or [], strict=False)
        for b, value in zip(memories, row, strict=False)
        if a in first and b in first
    }


def _absent(locations: list[_Location], found: set[str]) -> dict[str, str]:
    """The kinds of distance that no two cores have, each with the reason."""
    domains, packages = {s.domain for s in locations}, {s.package for s in locations}
    why = {
        "same core": "no core has two hardware threads that may be used",
        "same domain": "cores of a domain share a cache, or are alone in it",
        "same package": "one memory domain" if len(domains) < 2 else "no package has two memory domains",
        "other package": "one package" if len(packages) < 2 else "each core shares more with all others",
        "other node": "the machine that is described is one node",
    }
    if not any(word.startswith("same L") for word in found):
        why["same L"] = "no two cores share a cache"
    if any(word.endswith(_OTHER_DOMAIN) for word in found):
        why.pop("same package")  # cores of other domains share a cache: that distance is there
    names = {"same L": "same cache", "same package": "same package, other domain"}
    return {names.get(word, word): reason for word, reason in why.items() if word not in found}
