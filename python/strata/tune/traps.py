"""What makes a layout mean less than it says: told before the race where it can be known, and after it.

A layout is a promise about where threads run. Programs, OpenMP runtimes and MPI launchers bind threads too,
and a race between layouts that the program overrules compares nothing. Each trap is found in what the
launcher read back from the running program (here), or foreseen (strata.tune.foresee).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strata.advice.samples import cpulist, print_cpulist
from strata.advice.words import count
from strata.measure.summary import UNVERIFIED
from strata.tune.program import OPENMP, computing

BINDS = "binds itself"
INITIAL = "initial thread bound"
MPI = "MPI binds by default"
SECOND = "second runtime"
CROWDED = "oversubscribed"
ELSEWHERE = "pages elsewhere"
_OWN_THREADS = {
    "libopenblasp": "OpenBLAS built for POSIX threads",
    "openblas-pthread": "OpenBLAS built for POSIX threads",
    "libtbb.": "oneTBB",
    "libblis-pthread": "BLIS built for POSIX threads",
}


@dataclass(frozen=True)
class Trap:
    """One of the codes above, a sentence, whether it was foreseen, and the layouts in which it was seen."""

    code: str
    text: str
    foreseen: bool = False
    layouts: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "text": self.text,
            "foreseen": self.foreseen,
            "layouts": list(self.layouts),
        }


Said = Iterable[tuple[str, str]]  # a code and a sentence


def runtimes(libraries: Iterable[str]) -> list[str]:
    """What among these files starts threads: OpenMP runtimes, and libraries with threads of their own."""
    found: dict[str, None] = {}
    for path in libraries:
        name = path.rsplit("/", 1)[-1]
        if name.startswith(OPENMP):
            found.setdefault(name.split(".so")[0])
        for stem, words in _OWN_THREADS.items():
            if name.startswith(stem) or f"/{stem}" in path:
                found.setdefault(words)
    return list(found)


def second(found: Sequence[str]) -> str:
    """What it means that these start threads in one process."""
    return (
        f"threads of two kinds in one process ({', '.join(found)}): each takes the layout's number for "
        "itself, and where an OpenMP runtime has bound the initial thread the others inherit its one core"
    )


# -- from launches -----------------------------------------------------------------------------------------


def measured(record: Mapping[str, Any], threads: int, held: bool) -> list[Trap]:
    """Traps that one launch shows. `threads` are those of a process; `held`: the layout binds them."""
    said = [*_bound(record, held), *_inherited(record, held), *_two(record), *_crowd(record, threads)]
    said += _pages(record)
    return [Trap(code, text) for code, text in said]


def _promised(record: Mapping[str, Any]) -> dict[int, set[int]]:
    """The PUs of each process."""
    return {
        p["rank"]: {pu for one in p["threads"] for pu in cpulist(one)} for p in record.get("promised") or []
    }


def _bound(record: Mapping[str, Any], held: bool) -> Said:
    share = _promised(record)
    for thread in computing(record):
        own, allowed = share.get(thread.get("rank")), set(cpulist(thread.get("allowed")))
        if not own or not allowed:
            continue
        if (record.get("agrees") is False and not allowed <= own) or (not held and allowed < own):
            yield (
                BINDS,
                f"threads bind themselves: one may run on PU {print_cpulist(allowed)}, the layout gives its "
                f"process PU {print_cpulist(own)}; the program, its MPI or a runtime overrules the layout",
            )
            return


def _inherited(record: Mapping[str, Any], held: bool) -> Said:
    """Threads and children that have the one PU on which an OpenMP runtime has bound the initial thread."""
    threads = record.get("threads") or []
    if not held:
        return
    for rank, own in _promised(record).items():
        mine = [t for t in threads if t.get("rank") == rank]
        initial = min((t for t in mine if t["pid"] == t["tid"]), key=lambda t: t["pid"], default=None)
        if initial is None or len(own) < 2 or len(cpulist(initial.get("allowed"))) != 1:
            continue
        alike = [
            t
            for t in computing({"threads": mine})
            if t["tid"] != initial["tid"] and t["allowed"] == initial["allowed"]
        ]
        if alike:
            children = sum(t["pid"] != initial["pid"] for t in alike)
            kind = "processes that it forked" if children == len(alike) else "threads outside of it"
            runtime = next((r for r in _openmp(record)), "a runtime")
            yield (
                INITIAL,
                f"{runtime} binds the initial thread of the process to PU {initial['allowed']}, and "
                f"{len(alike)} {kind} inherit that one core (of PU {print_cpulist(own)}): --bind numa or "
                "none leaves them room",
            )
            return


def _openmp(record: Mapping[str, Any]) -> list[str]:
    return [r for r in runtimes(record.get("libraries") or []) if r.startswith(("lib",))]


def _two(record: Mapping[str, Any]) -> Said:
    found = runtimes(record.get("libraries") or [])
    if len(found) > 1:
        yield SECOND, second(found)


def _crowd(record: Mapping[str, Any], threads: int) -> Said:
    by_process: dict[int, int] = {}
    for thread in computing(record):
        by_process[thread["pid"]] = by_process.get(thread["pid"], 0) + 1
    most = max(by_process.values(), default=0)
    if most > threads:
        yield (
            CROWDED,
            f"{most} threads of a process computed, the layout gives it {threads}: their number is fixed in "
            "the program, regions are nested, or a second runtime adds its own",
        )
        return
    # Threads of processes that come one after another are many as well, and none takes turns with another.
    at_once, pus = int(record.get("computing_at_once") or 0), set().union(*_promised(record).values(), set())
    if at_once > len(pus) > 1:
        yield (
            CROWDED,
            f"{at_once} threads of {len(by_process)} processes computed at once on {count(len(pus), 'PU')}: "
            "they took turns",
        )


def _pages(record: Mapping[str, Any]) -> Said:
    """Pages that a policy promised and that lie elsewhere, or of which nobody can say here."""
    pages = record.get("pages") or {}
    if pages.get("agrees") is False:
        yield (
            ELSEWHERE,
            f"{pages.get('disagreement')}; the program or its allocator places pages itself, or the memory "
            "was full",
        )
    elif str(pages.get("verdict")).startswith(UNVERIFIED):
        yield UNVERIFIED, f"whether the policy for pages was kept is not known ({pages['verdict']})"


@dataclass
class TrapsSeen:
    """The traps of a whole tuning, each once, with the layouts that showed it."""

    known: dict[str, Trap]
    _launches: Counter[str] = field(default_factory=Counter)
    _bound: Counter[str] = field(default_factory=Counter)  # launches in which a thread had bound itself

    @staticmethod
    def of(foreseen: Iterable[Trap]) -> TrapsSeen:
        return TrapsSeen({f"{trap.code}, foreseen, {trap.text}": trap for trap in foreseen})

    def add(self, traps: Iterable[Trap], layout: str) -> None:
        """To be called for every launch. A trap's first sentence stays; what differs is which PU it was.

        hwloc, inside an MPI or a runtime, binds a thread to each PU in turn while it looks at the machine,
        and a reading may fall into that. A program that binds itself does so in most launches of a layout.
        """
        self._launches[layout] += 1
        for trap in traps:
            self._bound[layout] += trap.code == BINDS
            seen = self._bound[layout]
            if trap.code == BINDS and (seen < 2 or 2 * seen < self._launches[layout]):
                continue
            old = self.known.get(trap.code, trap)
            if layout not in old.layouts:
                self.known[trap.code] = Trap(old.code, old.text, False, (*old.layouts, layout))

    def all(self) -> list[Trap]:
        """Those that were foreseen and then seen are told once."""
        seen = {trap.code for trap in self.known.values() if trap.layouts}
        return [t for t in self.known.values() if not t.foreseen or t.code not in seen or t.code == MPI]


def sentence(trap: Trap) -> str:
    """The trap as one line of output."""
    more = f" and {len(trap.layouts) - 3} more" if len(trap.layouts) > 3 else ""
    where = f" (in {'; '.join(trap.layouts[:3])}{more})" if trap.layouts else ""
    return f"{trap.text}{where}"
