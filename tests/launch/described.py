"""Where threads and pages belong on a machine that is only described: an own reading of its XML file.

The rule is the one that docs/launch.md states, worked out on the file's text with nothing of hwloc's and
nothing of the launcher's, so that a mistake in either does not repeat itself here.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

MACHINES = Path(__file__).resolve().parents[1] / "fixtures" / "machines"
Pus = frozenset[int]


def _bits(mask: str) -> Pus:
    """hwloc's bitmaps: words of 32 bits, the highest first."""
    found: set[int] = set()
    for place, word in enumerate(reversed(mask.split(","))):
        value = int(word or "0", 16)
        found |= {32 * place + bit for bit in range(32) if value >> bit & 1}
    return frozenset(found)


@dataclass(frozen=True)
class Asked:
    """A hybrid layout, and what is asked of its threads and pages."""

    processes: int
    threads: int
    stride: int
    bind: str
    memory: str  # empty: nothing

    def options(self) -> list[str]:
        words = ["--layout", f"{self.processes}x{self.threads}", "--stride", str(self.stride)]
        words += ["--bind", self.bind]
        return [*words, "--memory", self.memory] if self.memory else words


class Described:
    """The objects of one XML file, in the order in which they stand there."""

    def __init__(self, file: str) -> None:
        self.path = MACHINES / file
        root = ET.parse(self.path).getroot()
        objects = list(root.iter("object"))
        of = {kind: [o for o in objects if o.get("type") == kind] for kind in ("Core", "Package", "NUMANode")}
        self.cores = [[int(pu.get("os_index", "")) for pu in core.iter("object") if pu is not core]
                      for core in of["Core"]]  # fmt: skip
        self.packages = [_bits(o.get("cpuset", "")) for o in of["Package"]]
        self.memories = {
            int(o.get("os_index", "")): (_bits(o.get("cpuset", "")), o.get("subtype", "DRAM"))
            for o in of["NUMANode"]
        }
        last = max((str(o.get("type")) for o in objects if str(o.get("type")).endswith("Cache")), default="")
        caches = [_bits(o.get("cpuset", "")) for o in objects if o.get("type") == last]
        own = {frozenset(core) for core in self.cores}
        self.caches = [cache for cache in caches if cache not in own]  # shared by several cores

    def spans(self, asked: Asked) -> int:
        return (asked.processes * asked.threads - 1) * asked.stride + 1

    def _domain(self, pu: int) -> Pus:
        """The smallest set of PUs that some memory is nearest to."""
        return min((pus for pus, _ in self.memories.values() if pu in pus), key=len)

    def _around(self, core: int, bind: str) -> Pus:
        pu = self.cores[core][0]
        if bind == "numa":
            return self._domain(pu)
        sets = {"cache": self.caches, "package": self.packages}.get(bind, [])
        return next((s for s in sets if pu in s), frozenset({pu}) if bind == "core" else frozenset())

    def threads(self, asked: Asked) -> list[list[Pus]]:
        """By process and thread: thread i of process p sits on core (p T + i) N."""
        number = iter(range(0, self.spans(asked), asked.stride))
        return [
            [self._around(next(number), asked.bind) for _ in range(asked.threads)]
            for _ in range(asked.processes)
        ]

    def _near(self, pus: Pus) -> set[int]:
        """DRAM of the domains that these PUs are in; whatever memory they have where none is DRAM."""
        domains = {self._domain(pu) for pu in pus}
        found: set[int] = set()
        for domain in domains:
            own = {number: kind for number, (of, kind) in self.memories.items() if of == domain}
            found |= {number for number, kind in own.items() if kind == "DRAM"} or set(own)
        return found

    def pages(self, asked: Asked) -> list[tuple[str, set[int]]]:
        """By process: the policy and its memories, by the system's numbers."""
        threads = self.threads(asked)
        own = [self._near(frozenset().union(*process)) for process in threads]
        word, _, numbers = asked.memory.partition(":os:")
        if word == "interleave" and not numbers:
            return [(word, set().union(*own))] * asked.processes
        if word in ("bind", "interleave"):
            return [(word, {int(n) for n in numbers.split(",")})] * asked.processes
        return [(word, memories if word == "local" else set()) for memories in own]
