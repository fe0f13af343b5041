"""From a case file and a machine to a plan: layouts spelt out for the cores that are here, what cannot run
left out and said.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strata.characterize.case import Case
from strata.measure.plan import RESULT, Plan, Policy, Task, check

# Asked of strata-bench-mpi even with one process: they exist only there.
MPI_ONLY = ("pingpong", "rings", "ptrans", "mpifft", "allreduce", "alltoall")

# What a benchmark is built with, where not all builds have it.
NEEDS = {"mpifft": "FFTW"}


@dataclass(frozen=True)
class Size:
    """As much of a machine as decides which layouts make sense."""

    cores: int  # that may be used
    domain_cores: int  # of these, in the domain with the most of them
    cache_gib: float = 0.0  # of the last level, all of them together

    def symbol(self, word: str) -> int:
        if word == "N":
            return self.cores
        if word == "D":
            return self.domain_cores
        if word == "H":
            return self.cores // 2
        return int(word)


def parse_cpulist(text: str | None) -> set[int]:
    """{0,1,2,3,8} from '0-3,8'."""
    cpus: set[int] = set()
    for part in (text or "").split(","):
        if part.strip():
            low, _, high = part.partition("-")
            cpus.update(range(int(low), int(high or low) + 1))
    return cpus


def size_of(machine: Mapping[str, Any]) -> Size:
    """Cores with a PU that this process may use, no more of them than a CPU quota pays for."""
    allowed = machine.get("allowed") or {}
    pus = parse_cpulist(allowed.get("pus"))
    usable = [c for c in machine.get("cores") or [] if not pus or pus & set(c.get("pus") or [])]
    quota = allowed.get("cpus_effective")
    count = max(1, len(usable))
    if quota:
        count = max(1, min(count, int(quota)))
    by_domain: dict[Any, int] = {}
    for core in usable:
        by_domain[core.get("domain")] = by_domain.get(core.get("domain"), 0) + 1
    caches = [c for c in machine.get("caches") or [] if c.get("type") != "instruction"]
    last = max((c["level"] for c in caches), default=0)
    cache = sum(c.get("size_bytes") or 0 for c in caches if c["level"] == last)
    return Size(count, min(count, max(by_domain.values(), default=count)), cache / 2**30)


def spelled(layout: str, size: Size) -> list[tuple[int, int]]:
    """Processes and threads of one layout word.

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


def build(
    case: Case,
    machine: Mapping[str, Any],
    machine_identity: Mapping[str, Any],
    build: str,
    programs: Sequence[str],
    kind: str,
    seed: int,
    budget_s: float | None = None,
    strict: bool = False,
    listed: Mapping[str, Collection[str]] | None = None,
) -> tuple[Plan, list[str]]:
    """The plan, and in words what was left out of it. `listed`: the benchmarks that a program was built with,
    of programs that say so.
    """
    size = size_of(machine)
    tasks: list[Task] = []
    notes: list[str] = []
    for entry in case.tasks:
        made, said = _tasks(entry, size, programs, listed or {})
        known = {t.id for t in tasks}
        tasks += [t for t in made if t.id not in known]
        notes += said
    policy = Policy(
        case.launches,
        case.repeats,
        case.limits,
        seed,
        budget_s if budget_s is not None else case.budget_s,
        case.patience_s,
        strict=strict,
    )
    return check(Plan(kind, case.mode, tuple(tasks), policy, machine_identity, build)), notes


def _tasks(
    entry: Mapping[str, Any], size: Size, programs: Sequence[str], listed: Mapping[str, Collection[str]]
) -> tuple[list[Task], list[str]]:
    name = entry["name"] or entry["benchmark"]
    tasks: dict[str, Task] = {}
    notes = []
    for layout in entry["layouts"]:
        for processes, threads in spelled(layout, size):
            for stride in entry["stride"]:
                why = _cannot(entry, size, processes, threads, stride)
                program = _program(entry, processes)
                if why is None and program not in programs:
                    why = f"{program} was not built"
                if why is None and program in listed and entry["benchmark"] not in listed[program]:
                    why = f"{program} was built without {entry['benchmark']}"
                    if need := NEEDS.get(entry["benchmark"]):
                        why += f", since {need} is not here"
                if why is not None:
                    notes.append(f"{name} {layout} stride {stride}: {why}")
                    continue
                for bind in entry["bind"]:
                    task = _task(entry, name, program, processes, threads, stride, bind, size)
                    tasks.setdefault(task.id, task)
    return list(tasks.values()), notes


def _cannot(entry: Mapping[str, Any], size: Size, processes: int, threads: int, stride: int) -> str | None:
    """Why this layout makes no sense here, or None."""
    if processes < 1 or threads < 1 or processes < entry["least_processes"]:
        return f"needs {entry['least_processes']} processes, this machine has {size.cores} usable cores"
    if processes * threads < entry["least_threads"]:
        return f"needs {entry['least_threads']} cores, this machine has {size.cores} usable ones"
    if (processes * threads - 1) * stride + 1 > size.cores:
        return f"{processes}x{threads} is more than the {size.cores} usable cores"
    if stride > 1 and processes * threads == 1:
        return "one thread has no stride"
    return None


def _program(entry: Mapping[str, Any], processes: int) -> str:
    if entry["program"] != "auto":
        return str(entry["program"])
    return "strata-bench-mpi" if processes > 1 or entry["benchmark"] in MPI_ONLY else "strata-bench"


def _task(
    entry: Mapping[str, Any],
    name: str,
    program: str,
    processes: int,
    threads: int,
    stride: int,
    bind: str,
    size: Size,
) -> Task:
    layout = f"{processes}x{threads}"
    return Task(
        id=f"{name}/{layout}/{bind}/s{stride}",
        benchmark=entry["benchmark"],
        command=("{" + program + "}", entry["benchmark"], *entry["arguments"], "--json", RESULT),
        layout=layout,
        stride=stride,
        bind=bind,
        figures=tuple(entry["figures"]),
        timeout_s=float(entry["timeout_s"]),
        expected_s=round(entry["expected_s"] + entry["expected_s_per_gib"] * size.cache_gib, 2),
        drop=entry["drop"],
        launches=entry["launches"],
        once=entry["once"],
    )
