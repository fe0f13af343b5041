"""The layouts that a race begins with, for a kind of program on a machine: the default first.

Pure functions of the document strata.machine/1, so that they are tested on machines that nobody here owns. A
race over hundreds of layouts would spend its budget on telling near-equals apart; the ones here are a coarse
grid over what programs are known to feel: how many threads and processes, whether they are held, whether they
lie packed or spread over memories. `near.py` has the layouts around those that turn out to be fast.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from strata.advice.samples import print_cpulist
from strata.errors import StrataError
from strata.tune.usable_cores import UsableCores

KINDS = ("serial", "openmp", "mpi", "hybrid", "forking")
MOST = 24  # candidates


@dataclass(frozen=True)
class Candidate:
    """One way to run the program, as options of `strata launch`."""

    processes: int  # of a node
    threads: int
    stride: int = 1
    bind: str = "core"
    memory: str = ""  # empty: as inherited
    smt: int = 1
    huge_pages: str = ""  # "on", "off", or as the system has it
    core_kind: str = ""  # of a hybrid processor; empty: all kinds
    order: str = ""  # in words, where `bind` lists PUs in an order that no stride gives
    note: str = ""
    nodes: int = 1

    @property
    def layout(self) -> str:
        return f"{self.nodes * self.processes}x{self.threads}"

    @property
    def options(self) -> tuple[str, ...]:
        """The options beside layout, stride and bind."""
        words = ["--nodes", str(self.nodes)] if self.nodes > 1 else []
        if self.memory:
            words += ["--memory", self.memory]
        if self.smt > 1 and not self.order:  # a list of PUs says both itself
            words += ["--smt", str(self.smt)]
        if self.core_kind and not self.order:
            words += ["--core-kind", self.core_kind]
        if self.huge_pages:
            words += ["--huge-pages", self.huge_pages]
        return tuple(words)

    @property
    def places(self) -> int:
        """How many threads it has in all."""
        return self.processes * self.threads

    @property
    def id(self) -> str:
        """What tables call it; unique among candidates."""
        words = [self.layout, self.order or f"bind {self.bind}"]
        words += [f"stride {self.stride}"] if self.stride > 1 else []
        words += [f"{self.core_kind} cores"] if self.core_kind else []
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


def default_of(usable: UsableCores, kind: str, processes: int | None = None) -> Candidate:
    """What one gets without asking: all cores, nothing held, pages as they come."""
    note = "the default: all cores, nothing held"
    nodes = usable.nodes
    if kind == "serial":
        return Candidate(1, 1, bind="none", note="the default: not held")
    if kind in ("mpi", "hybrid"):
        return Candidate(processes or usable.cores, 1, bind="none", note=note, nodes=nodes)
    return Candidate(1, usable.cores, bind="none", note=note)


def candidates(
    machine: dict[str, Any], kind: str, processes: Sequence[int] = (), refused: Collection[int] = ()
) -> list[Candidate]:
    """The default and at most MOST - 1 others. `processes` limits how many an MPI program may have on a node;
    those that it has `refused` are left out.
    """
    if kind not in KINDS:
        raise StrataError("unknown kind of program", at="--kind", given=kind, allowed=", ".join(KINDS))
    usable = UsableCores.of(machine)
    if usable.nodes > 1 and kind not in ("mpi", "hybrid"):
        raise StrataError(
            "only MPI programs run on several nodes",
            at="--nodes",
            given=f"{usable.nodes} nodes and a program of kind {kind}",
            allowed="mpi, hybrid",
            remedy="--kind hybrid, if it is one",
        )
    if processes and kind not in ("mpi", "hybrid"):
        raise StrataError(
            "only MPI programs have a number of processes to choose",
            at="--processes",
            given=f"a program of kind {kind}",
            allowed="mpi, hybrid",
            remedy="leave --processes out, or say --kind mpi if it is one",
        )
    if processes and max(processes) > usable.cores:
        raise StrataError(
            "more processes than cores that may be used",
            at="--processes",
            given=str(max(processes)),
            allowed=f"1 to {usable.cores}",
        )
    makers = {"serial": _serial, "openmp": _openmp, "forking": _openmp, "mpi": _mpi, "hybrid": _hybrid}
    numbers = [n for n in processes or numbers_of_processes(usable) if n not in refused]
    first = default_of(usable, kind, max(numbers, default=0) or None)
    found = [c for c in makers[kind](usable, processes) if c.processes not in refused]
    return distinct(usable, [first, *found])[:MOST]


def _serial(usable: UsableCores, _: Sequence[int]) -> Iterable[Candidate]:
    yield Candidate(1, 1)
    if len(usable.memories) > 1:
        yield Candidate(1, 1, bind="numa")
        yield Candidate(1, 1, memory=interleaved_over_all(usable, Candidate(1, 1)))


def _openmp(usable: UsableCores, _: Sequence[int]) -> Iterable[Candidate]:
    for threads in _counts(usable):
        yield Candidate(1, threads)
    for threads in _counts(usable):
        # Fewer threads than cores: spread over memories and caches they have more of both each.
        if 1 < threads < usable.cores and usable.cores % threads == 0:
            yield Candidate(1, threads, stride=usable.cores // threads)
    yield Candidate(1, usable.cores, bind="numa")
    if len(usable.memories) > 1:
        yield Candidate(1, usable.cores, memory="interleave")
    for threads in _counts(usable)[1:]:
        yield Candidate(1, threads, bind="none")


def _mpi(usable: UsableCores, processes: Sequence[int]) -> Iterable[Candidate]:
    counts = list(processes) or numbers_of_processes(usable)
    for count in counts:
        yield Candidate(count, 1)
        if len(usable.memories) > 1:
            yield Candidate(count, 1, memory="local")
    for count in counts:
        if 1 < count < usable.cores and usable.cores % count == 0:
            yield Candidate(count, 1, stride=usable.cores // count)
    yield Candidate(max(counts), 1, bind="numa")


def _hybrid(usable: UsableCores, processes: Sequence[int]) -> Iterable[Candidate]:
    shapes = [p for p in range(usable.cores, 0, -1) if usable.cores % p == 0]
    # A process a domain first: coarse parallelism between memories, threads within one.
    shapes.sort(key=lambda p: (p != len(usable.domains), abs(p - len(usable.domains))))
    for count in [p for p in shapes if not processes or p in processes] or list(processes):
        yield Candidate(count, max(1, usable.cores // count))
    # Some of each domain's cores: all that its memory can feed may be few.
    count, most = len(usable.domains), min(usable.domains)
    for part in (2, 4, 8):
        if most % part == 0 and count * most == usable.cores and (not processes or count in processes):
            yield Candidate(count, most // part, stride=part)
    for count in () if processes else _exact(usable):
        yield Candidate(count, max(1, usable.cores // count))
    for count in (p for p in shapes if not processes or p in processes):
        yield Candidate(count, usable.cores // count, bind="numa")
        if len(usable.memories) > 1:
            yield Candidate(count, usable.cores // count, memory="local")


def _counts(usable: UsableCores) -> list[int]:
    """Numbers of threads or processes worth trying, most first: all cores, halves, a domain's, a kind's."""
    found = {usable.cores, max(usable.domains), 1, *(len(usable.of_kind(kind)) for kind in usable.kinds)}
    half = usable.cores
    while half > 1:
        half //= 2
        found.add(half)
    return sorted(found, reverse=True)


def numbers_of_processes(usable: UsableCores) -> list[int]:
    """The same, with the numbers that programs ask for which divide a square or a cube among processes."""
    return sorted({*_counts(usable), *_exact(usable)}, reverse=True)


def _exact(usable: UsableCores) -> list[int]:
    """The largest power of two, square and cube that there are cores for."""
    powers = [1 << k for k in range(usable.cores.bit_length())]
    squares = [k * k for k in range(1, usable.cores + 1) if k * k <= usable.cores]
    cubes = [k**3 for k in range(1, usable.cores + 1) if k**3 <= usable.cores]
    return sorted({powers[-1], squares[-1], cubes[-1]}, reverse=True)


def interleaved_over_all(usable: UsableCores, c: Candidate) -> str:
    """The policy that deals a layout's pages over all memories. `interleave` alone takes those of the
    layout's own domains, of which a small layout has one.
    """
    if c.bind == "none" or c.places * c.stride >= usable.cores:
        return "interleave"
    return f"interleave:{print_cpulist(usable.memories)}"


def distinct(
    usable: UsableCores, found: Iterable[Candidate], known: Iterable[Candidate] = ()
) -> list[Candidate]:
    """Those that differ from all before them in what a program can feel: two words for the same placement
    would only ever tie.
    """
    seen, kept = {_placement(usable, c) for c in known}, []
    for c in (replace(each, nodes=usable.nodes) for each in found):
        if c.order and c.nodes > 1:  # a list of PUs is one node's
            continue
        if (key := _placement(usable, c)) not in seen:
            seen.add(key)
            kept.append(c)
    return kept


def _placement(usable: UsableCores, c: Candidate) -> tuple[object, ...]:
    held = c.order or c.bind == "core"
    where = pus_of(usable, c) if held else (c.bind, c.stride, c.smt, c.core_kind)
    return (c.layout, where, c.memory, c.huge_pages)


def pus_of(usable: UsableCores, c: Candidate) -> tuple[int, ...]:
    """The PUs of a layout that holds each thread on one, in their order."""
    if c.order:
        runs = (run.partition("-") for run in c.bind.split(","))
        return tuple(pu for a, _, b in runs for pu in range(int(a), int(b or a) + 1))
    every = [pu for core in usable.of_kind(c.core_kind) for pu in core.pus[: c.smt]]
    return tuple(every[:: c.stride][: c.places])
