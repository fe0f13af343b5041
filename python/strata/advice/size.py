"""How many cores layouts may have on a machine, and which layouts a word of a case or study stands for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from strata.advice.samples import Machine, allowed_cores


@dataclass(frozen=True)
class Size:
    """As much of a machine as decides which layouts make sense."""

    cores: int  # that may be used
    domain_cores: int  # of these, in the domain with the most of them
    cache_gib: float = 0.0  # of the last level, all of them together
    nodes: int = 1  # that layouts may use, all like this machine

    def symbol(self, word: str) -> int:
        """N: the cores, D: those of a domain, H: half of the cores, M: the nodes, A: the cores of all nodes;
        else the number that the word is.
        """
        if word == "N":
            return self.cores
        if word == "D":
            return self.domain_cores
        if word == "H":
            return self.cores // 2
        if word == "M":
            return self.nodes
        if word == "A":
            return self.nodes * self.cores
        return int(word)


def size_of(machine: Machine) -> Size:
    """Cores with a PU that this process may use, no more of them than a CPU quota pays for."""
    usable = allowed_cores(machine)
    quota = (machine.get("allowed") or {}).get("cpus_effective")
    count = max(1, len(usable))
    if quota:
        count = max(1, min(count, int(quota)))
    by_domain = Counter(core.get("domain") for core in usable)
    caches = [c for c in machine.get("caches") or [] if c.get("type") != "instruction"]
    last = max((c["level"] for c in caches), default=0)
    cache = sum(c.get("size_bytes") or 0 for c in caches if c["level"] == last)
    return Size(count, min(count, max(by_domain.values(), default=count)), cache / 2**30)


def spelled(layout: str, size: Size) -> list[tuple[int, int]]:
    """Processes and threads of one layout word: 1x1..4 is 1x1, 1x2, 1x3, 1x4.

    A long range is walked in powers of two and ends exactly at its end.
    """
    processes, threads = layout.split("x")
    return [(p, t) for p in _walk(processes, size) for t in _walk(threads, size)]


def _walk(word: str, size: Size) -> list[int]:
    low, _, high = word.partition("..")
    first = size.symbol(low)
    if not high:
        return [first]
    last = size.symbol(high)
    if last - first < 8:
        return list(range(first, last + 1))
    counts = []
    count = first
    while count < last:
        counts.append(count)
        count *= 2
    return [*counts, last]


def does_not_fit(processes: int, threads: int, stride: int, size: Size, held: bool = True) -> str | None:
    """Why these threads cannot lie every `stride` cores, each on one of its own where they are held; None
    where they can. Processes are dealt out evenly over the nodes.
    """
    processes = -(-processes // size.nodes)
    if held and (processes * threads - 1) * stride + 1 > size.cores:
        far = f" with a stride of {stride}" if stride > 1 else ""
        return f"{processes}x{threads}{far} is more than the {size.cores} usable cores"
    if stride > 1 and processes * threads == 1:
        return "with one thread there is no distance between cores to choose"
    return None
