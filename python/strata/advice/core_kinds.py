"""The kinds of cores of a hybrid processor: what the launcher calls them, which is faster, where to start.

Kinds are those of the machine document: cores whose capacities or frequencies are within a tenth are of one
kind already (core/machine/core_kinds.hpp).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from strata.advice.samples import Machine, allowed_cores

_ENOUGH = 4  # a kind with fewer than one of so many cores does little of a program's work


@dataclass(frozen=True)
class Kind:
    """Cores of one kind that this process may use, at least one. `word`: for `--core-kind`."""

    word: str
    name: str
    capacity: float | None  # Linux's estimate of their speed: 1024 for the fastest cores of the machine
    cores: tuple[Mapping[str, Any], ...]

    def launch(self, layout: str = "") -> str:
        """The start of a line that runs a program on them, one thread on each unless a layout is given."""
        return f"strata launch --core-kind {self.word} --layout {layout or f'1x{len(self.cores)}'}"


def kinds(machine: Machine) -> list[Kind]:
    """The kinds that may be used, the slowest first; none where all such cores are of one kind."""
    own: dict[int, list[Mapping[str, Any]]] = {}
    for core in allowed_cores(machine):
        own.setdefault(core.get("kind", 0), []).append(core)
    known = machine.get("core_kinds") or []
    if len(own) < 2 or len(known) < 2:
        return []
    # The launcher's words are about all kinds of the machine.
    words = dict(zip((known[0]["index"], known[-1]["index"]), ("efficiency", "performance"), strict=True))
    words = words if ordered(machine) else {}
    return [
        Kind(words.get(k["index"], str(k["index"])), name(k), _capacity(k), tuple(own[k["index"]]))
        for k in known
        if k["index"] in own
    ]


def ordered(machine: Machine) -> bool:
    """Whether it is known which kinds are faster: their efficiencies then grow with speed."""
    known = machine.get("core_kinds") or []
    return len(known) > 1 and all(k.get("efficiency", -1) >= 0 for k in known)


def fastest(machine: Machine) -> Kind | None:
    """The kind for a program of one thread; None where there is one kind, or where it is not known."""
    found = kinds(machine)
    return found[-1] if found and ordered(machine) else None


def even(machine: Machine) -> Kind | None:
    """The kind for work that is split evenly: the fastest one with at least a quarter of the cores, so that
    one fast core of many is not all that works; where speeds are not known the one with most cores. None
    where all are of one kind.
    """
    found = kinds(machine)
    if not found:
        return None
    total = sum(len(k.cores) for k in found)
    large = [k for k in found if _ENOUGH * len(k.cores) >= total] if ordered(machine) else []
    return large[-1] if large else max(found, key=lambda k: len(k.cores))


def name(kind: Mapping[str, Any]) -> str:
    """The name of a kind of cores: the vendor's, or its number; where known with its capacity."""
    info = kind.get("info") or {}
    text = str(info.get("CoreType") or f"kind {kind.get('index')}")
    return f"{text} (capacity {info['LinuxCapacity']})" if info.get("LinuxCapacity") else text


def _capacity(kind: Mapping[str, Any]) -> float | None:
    """The lower end, where a kind has several."""
    low = str((kind.get("info") or {}).get("LinuxCapacity") or "").partition("-")[0]
    return float(low) if low.isdecimal() else None
