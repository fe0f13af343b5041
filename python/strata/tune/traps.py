"""What makes a layout mean less than it says: told before the race where it can be known, and after it.

A layout is a promise about where threads run. Programs, OpenMP runtimes and MPI launchers bind threads too,
and a race between layouts that the program overrules compares nothing. Each trap is found in what the
launcher read back from the running program, or foreseen from its files, the words of the command and the
environment.
"""

from __future__ import annotations

import mmap
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.advice.samples import cpulist, print_cpulist
from strata.advice.words import count, list_some
from strata.tune.program import OPENMP, computing

BINDS = "binds itself"
INITIAL = "initial thread bound"
MPI = "MPI binds by default"
SECOND = "second runtime"
CROWDED = "oversubscribed"
_TOOLS = ("taskset", "numactl", "likwid-pin", "likwid-mpirun", "hwloc-bind", "srun", "mpirun", "mpiexec")
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh")
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


# -- before the race ---------------------------------------------------------------------------------------


def foresee(program: Mapping[str, Any], environment: Mapping[str, str], cores: int) -> list[Trap]:
    """Traps that the command, its files and the environment show. `program` is from program.linked()."""
    said = [*_launcher(program, cores), *_words(program), *_file(program), *_linked(program)]
    return [Trap(code, text, True) for code, text in [*said, *_environment(environment)]]


Said = Iterable[tuple[str, str]]


def _launcher(program: Mapping[str, Any], cores: int) -> Said:
    starter, words = program.get("starter"), program.get("starts") or []
    own = any(word.lstrip("-").startswith(("bind-to", "cpu-bind")) for word in words)
    if starter and "MPICH" not in starter and not own:
        off = "--cpu-bind=none" if "srun" in starter else "--bind-to none"
        yield (
            MPI,
            f"{starter} binds processes by default, against any layout: every launch here has {off} "
            "added, so the default of this race is not bound, unlike the same line without strata",
        )
    elif not starter and str(program.get("mpi") or "").startswith("Open MPI"):
        yield (
            MPI,
            "Open MPI's mpirun binds processes by default: started by strata it does not (--bind-to none), "
            "so the default of this race is not bound, unlike `mpirun` alone",
        )
    processes = program.get("processes") or 0
    if processes > cores:
        yield (
            CROWDED,
            f"{starter} starts {processes} processes on {count(cores, 'core')}: they take "
            "turns, and no layout can hold each on a core of its own; leave its -n out, and the race chooses "
            "how many",
        )


def _words(program: Mapping[str, Any]) -> Said:
    command = [str(word) for word in program["command"]]
    name = command[0].rsplit("/", 1)[-1]
    if name in _TOOLS:
        yield BINDS, f"`{name}` in the command binds what it starts, whatever the layout says: leave it out"
        return
    script = " ".join(command[1:]) if name in _SHELLS and "-c" in command else _script(program)
    found = sorted({tool for tool in _TOOLS if re.search(rf"(?<![\w./-]){tool}(?![\w-])", script)})
    if found:
        yield (
            BINDS,
            f"the script calls {', '.join(found)}, which may bind what it starts against the layout: give "
            "the program itself to tune",
        )
    fixed = sorted(set(re.findall(r"\b(OMP_(?:NUM_THREADS|PROC_BIND|PLACES)|GOMP_CPU_AFFINITY)=", script)))
    if fixed:
        yield BINDS, f"the script sets {', '.join(fixed)}, which the layout should: take that out"


def _script(program: Mapping[str, Any]) -> str:
    """The text of a command that is a script, and nothing for a program."""
    try:
        with Path(str(program.get("path") or "")).open("rb") as file:
            head = file.read(2)
            return (head + file.read(1 << 20)).decode(errors="replace") if head == b"#!" else ""
    except OSError:
        return ""


def _file(program: Mapping[str, Any]) -> Said:
    """What the program's own file calls, by the names in its symbol table."""
    if str(program["command"][0]).rsplit("/", 1)[-1] in (*_TOOLS, *_SHELLS):
        return
    names = ("sched_setaffinity", "pthread_setaffinity_np", "hwloc_set_cpubind", "numa_run_on_node")
    called = _holds(program, names)
    if called:
        yield BINDS, f"the program's file calls {', '.join(called)}: it may bind itself, against the layout"
    counts = _holds(program, ("omp_set_num_threads",))
    if counts:
        yield (
            CROWDED,
            "the program's file calls omp_set_num_threads: it may start other numbers of threads than the "
            "layout gives it",
        )
    nests = _holds(program, ("omp_set_nested", "omp_set_max_active_levels"))
    if nests:
        yield (
            CROWDED,
            f"the program's file calls {', '.join(nests)}: nested parallel regions multiply the threads that "
            "the layout gives it",
        )


def _holds(program: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Which of these symbols a file names; a symbol table holds each between two zero bytes."""
    try:
        with Path(str(program.get("path") or "")).open("rb") as file:
            if file.read(4) != b"\x7fELF":
                return []
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return [name for name in names if data.find(b"\0" + name.encode() + b"\0") >= 0]
    except (OSError, ValueError):
        return []


def _linked(program: Mapping[str, Any]) -> Said:
    """Runtimes of threads among the libraries that the loader would map."""
    path = str(program.get("path") or "")
    if not _holds(program, ("__libc_start_main",)):
        return
    try:
        listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return
    libraries = [str(Path(found).resolve()) for found in re.findall(r"=> (/\S+) \(0x", listed.stdout)]
    found = runtimes(libraries)
    own = _holds(program, ("pthread_create",)) or _holds(program, ("_ZNSt6thread6_StateD2Ev",))
    if len(found) < 2 and own and any(name.startswith(OPENMP) for name in found):
        found = [*found, "threads that it starts itself"]
    if len(found) > 1:
        yield SECOND, _second(found)


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


def _second(found: Sequence[str]) -> str:
    return (
        f"threads of two kinds in one process ({', '.join(found)}): each takes the layout's number for "
        "itself, and where an OpenMP runtime has bound the initial thread the others inherit its one core"
    )


def _environment(environment: Mapping[str, str]) -> Said:
    names = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "KMP_HW_SUBSET")
    here = [f"{name}={environment[name]}" for name in names if environment.get(name)]
    if here:
        yield (
            BINDS,
            f"{', '.join(here)} is set here: the launcher replaces it, so the default of this race is not "
            "what the command alone does in this shell",
        )
    levels = environment.get("OMP_MAX_ACTIVE_LEVELS", "1")
    if environment.get("OMP_NESTED", "").lower() == "true" or (levels.isdigit() and int(levels) > 1):
        yield (
            CROWDED,
            "OMP_NESTED or OMP_MAX_ACTIVE_LEVELS is set here: nested parallel regions multiply the threads "
            "that the layout gives",
        )


# -- from launches -----------------------------------------------------------------------------------------


def measured(record: Mapping[str, Any], threads: int, held: bool) -> list[Trap]:
    """Traps that one launch shows. `threads` are those of a process; `held`: the layout binds them."""
    said = [*_bound(record, held), *_inherited(record, held), *_two(record), *_crowd(record, threads)]
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
        yield SECOND, _second(found)


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
    total, pus = sum(by_process.values()), set().union(*_promised(record).values(), set())
    own = float((record.get("cpu") or {}).get("own_s") or 0.0)
    used = max(own, sum(thread["cpu_s"] for thread in computing(record)))
    # Processes that come one after another use no more CPU than one of them at a time could.
    at_once = used > 1.05 * most * float(record.get("wall_s") or 0.0)
    if at_once and total > len(pus) > 1:
        yield (
            CROWDED,
            f"{total} threads of {len(by_process)} processes computed on {count(len(pus), 'PU')}: they "
            "took turns",
        )


@dataclass
class Seen:
    """The traps of a whole tuning, each once, with the layouts that showed it."""

    known: dict[str, Trap]
    _once: bool = False  # a binding was seen, in one launch

    @staticmethod
    def of(foreseen: Iterable[Trap]) -> Seen:
        return Seen({f"{trap.code}, foreseen, {trap.text}": trap for trap in foreseen})

    def add(self, traps: Iterable[Trap], layout: str) -> None:
        """A trap's first sentence stays; what differs from launch to launch is which PU it was.

        Some runtimes bind their threads to each PU in turn while they look at the machine: what was seen in a
        single launch may have been that.
        """
        for trap in traps:
            if trap.code == BINDS and not self._once:
                self._once = True
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
    where = f" (in {list_some(trap.layouts, 3)})" if trap.layouts else ""
    return f"{trap.code}: {trap.text}{where}"
