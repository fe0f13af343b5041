"""Traps that are known before the race: from the words of a command, its files, and the environment."""

from __future__ import annotations

import mmap
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from strata.advice.words import count
from strata.tune.program import OPENMP
from strata.tune.traps import BINDS, CROWDED, MPI, SECOND, Said, Trap, runtimes, second

_TOOLS = ("taskset", "numactl", "likwid-pin", "likwid-mpirun", "hwloc-bind", "srun", "mpirun", "mpiexec")
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh")


def foresee(program: Mapping[str, Any], environment: Mapping[str, str], cores: int) -> list[Trap]:
    """Traps that the command, its files and the environment show. `program` is from program.linked()."""
    said = [*_launcher(program, cores), *_words(program), *_file(program), *_linked(program)]
    return [Trap(code, text, True) for code, text in [*said, *_environment(environment)]]


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
        yield SECOND, second(found)


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
