"""The layouts that make sense for a kind of program on a machine, the default first.

Pure functions of the document strata.machine/1, so that they are tested on machines that nobody here owns. A
race over hundreds of layouts would spend its budget on telling near-equals apart; the ones here differ in
something that programs are known to feel: how many threads and processes, whether they are held, whether they
lie packed or spread over memories, where pages go, SMT siblings, and huge pages.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from strata.advice.samples import allowed_cores
from strata.errors import StrataError

KINDS = ("serial", "openmp", "mpi", "hybrid", "forking")
MOST = 24  # candidates


@dataclass(frozen=True)
class Candidate:
    """One way to run the program, as options of `strata launch`."""

    processes: int
    threads: int
    stride: int = 1
    bind: str = "core"
    memory: str = ""  # empty: as inherited
    smt: int = 1
    huge_pages: str = ""  # "on", "off", or as the system has it
    note: str = ""

    @property
    def layout(self) -> str:
        return f"{self.processes}x{self.threads}"

    @property
    def options(self) -> tuple[str, ...]:
        """The options beside layout, stride and bind."""
        words: list[str] = []
        if self.memory:
            words += ["--memory", self.memory]
        if self.smt > 1:
            words += ["--smt", str(self.smt)]
        if self.huge_pages:
            words += ["--huge-pages", self.huge_pages]
        return tuple(words)

    @property
    def id(self) -> str:
        """What tables call it; unique among candidates."""
        words = [self.layout, f"bind {self.bind}"]
        words += [f"stride {self.stride}"] if self.stride > 1 else []
        words += [self.memory] if self.memory else []
        words += [f"smt {self.smt}"] if self.smt > 1 else []
        words += [f"huge pages {self.huge_pages}"] if self.huge_pages else []
        return ", ".join(words)

    @property
    def extras(self) -> int:
        """How much it asks for beside processes and threads: of layouts alike the simplest is used."""
        return sum((self.stride > 1, self.bind not in ("core", "none"), len(self.options) // 2))

    def line(self, command: Sequence[str]) -> str:
        """The line to use from now on."""
        words = ["strata", "launch", "--layout", self.layout]
        words += ["--stride", str(self.stride)] if self.stride > 1 else []
        words += ["--bind", self.bind] if self.bind != "core" else []
        return shlex.join([*words, *self.options, "--", *command])


@dataclass(frozen=True)
class Room:
    """What a machine offers to a program: allowed cores, by domain, and PUs a core."""

    cores: int
    domains: tuple[int, ...]  # allowed cores of each domain that has some
    pus_per_core: int
    memories: int

    @staticmethod
    def of(machine: dict[str, Any]) -> Room:
        cores = allowed_cores(machine)
        if not cores:
            raise StrataError("this process may use no core", remedy="strata machine shows what is allowed")
        count: dict[int, int] = {}
        for core in cores:
            count[core["domain"]] = count.get(core["domain"], 0) + 1
        pus = min(len(core["pus"]) for core in cores)
        memories = [m for m in machine["memories"] if m.get("domain") in count]
        return Room(len(cores), tuple(count[d] for d in sorted(count)), pus, len(memories))


def default_of(room: Room, kind: str, processes: int | None = None) -> Candidate:
    """What one gets without asking: all cores, nothing held, pages as they come."""
    note = "the default: all cores, nothing held"
    if kind == "serial":
        return Candidate(1, 1, bind="none", note="the default: not held")
    if kind in ("mpi", "hybrid"):
        return Candidate(processes or room.cores, 1, bind="none", note=note)
    return Candidate(1, room.cores, bind="none", note=note)


def candidates(machine: dict[str, Any], kind: str, processes: Sequence[int] = ()) -> list[Candidate]:
    """The default and at most MOST - 1 others. `processes` limits how many an MPI program may have."""
    if kind not in KINDS:
        raise StrataError("unknown kind of program", at="--kind", given=kind, allowed=", ".join(KINDS))
    room = Room.of(machine)
    if processes and kind not in ("mpi", "hybrid"):
        raise StrataError("only MPI programs have a number of processes to choose", at="--processes")
    if processes and max(processes) > room.cores:
        raise StrataError(
            "more processes than cores that may be used",
            at="--processes",
            given=str(max(processes)),
            allowed=f"1 to {room.cores}",
        )
    makers = {"serial": _serial, "openmp": _openmp, "forking": _openmp, "mpi": _mpi, "hybrid": _hybrid}
    first = default_of(room, kind, max(processes, default=0) or None)
    return _once([first, *makers[kind](room, processes)])[:MOST]


def variations(machine: dict[str, Any], best: Candidate) -> list[Candidate]:
    """What may still help the fastest layout: other policies for pages, SMT siblings, huge pages."""
    room = Room.of(machine)
    found: list[Candidate] = []
    if room.memories > 1:
        found += [replace(best, memory=m) for m in ("interleave", "local", "first-touch")]
    if room.pus_per_core > 1 and best.smt == 1 and best.bind == "core":
        found.append(replace(best, threads=best.threads * room.pus_per_core, smt=room.pus_per_core))
    found += [replace(best, huge_pages=h) for h in ("on", "off")]
    return [replace(c, note="") for c in _once(found) if c.id != best.id]


def _serial(room: Room, _: Sequence[int]) -> Iterable[Candidate]:
    yield Candidate(1, 1)
    if room.memories > 1:
        yield Candidate(1, 1, bind="numa")
        yield Candidate(1, 1, memory="interleave")


def _openmp(room: Room, _: Sequence[int]) -> Iterable[Candidate]:
    for threads in _counts(room):
        yield Candidate(1, threads)
    for threads in _counts(room):
        # Fewer threads than cores: spread over memories and caches they have more of both each.
        if 1 < threads < room.cores and room.cores % threads == 0:
            yield Candidate(1, threads, stride=room.cores // threads)
    yield Candidate(1, room.cores, bind="numa")
    if room.memories > 1:
        yield Candidate(1, room.cores, memory="interleave")
    for threads in _counts(room)[1:]:
        yield Candidate(1, threads, bind="none")


def _mpi(room: Room, processes: Sequence[int]) -> Iterable[Candidate]:
    counts = list(processes) or _counts(room)
    for count in counts:
        yield Candidate(count, 1)
        if room.memories > 1:
            yield Candidate(count, 1, memory="local")
    for count in counts:
        if 1 < count < room.cores and room.cores % count == 0:
            yield Candidate(count, 1, stride=room.cores // count)
    yield Candidate(max(counts), 1, bind="numa")


def _hybrid(room: Room, processes: Sequence[int]) -> Iterable[Candidate]:
    shapes = [p for p in range(room.cores, 0, -1) if room.cores % p == 0]
    # A process a domain first: coarse parallelism between memories, threads within one.
    shapes.sort(key=lambda p: (p != len(room.domains), abs(p - len(room.domains))))
    for count in [p for p in shapes if not processes or p in processes] or list(processes):
        yield Candidate(count, max(1, room.cores // count))
    for count in (p for p in shapes if not processes or p in processes):
        yield Candidate(count, room.cores // count, bind="numa")
        if room.memories > 1:
            yield Candidate(count, room.cores // count, memory="local")


def _counts(room: Room) -> list[int]:
    """Numbers of threads or processes worth trying, most first: all cores, halves, a domain's."""
    found = {room.cores, max(room.domains), 1}
    half = room.cores
    while half > 1:
        half //= 2
        found.add(half)
    return sorted(found, reverse=True)


def _once(given: Iterable[Candidate]) -> list[Candidate]:
    kept: dict[str, Candidate] = {}
    for candidate in given:
        kept.setdefault(candidate.id, candidate)
    return list(kept.values())
