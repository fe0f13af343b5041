"""From a case file and a machine to a plan: layouts spelt out for the cores that are here, what cannot run
left out and said.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from strata.advice.samples import MPI_ONLY
from strata.advice.size import Size, does_not_fit, size_of, spelled
from strata.characterize.case import Case
from strata.measure.plan import OWN_SHARE, RESULT, Plan, Policy, Task, check

# What a benchmark is built with, where not all builds have it.
NEEDS = {"mpifft": "FFTW"}
IN_PAIRS = ("message-rate",)


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
    nodes: int = 1,
) -> tuple[Plan, list[str]]:
    """The plan, and in words what was left out of it. `listed`: the benchmarks that a program was built with,
    of programs that say so. `nodes`: how many the layouts' processes share.
    """
    size = replace(size_of(machine), nodes=nodes)
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
    if processes < size.nodes:
        return f"needs a process on each of {size.nodes} nodes"
    if processes < 1 or threads < 1 or processes < entry["least_processes"]:
        return f"needs {entry['least_processes']} processes, this machine has {size.cores} usable cores"
    if processes % 2 and entry["benchmark"] in IN_PAIRS:
        return "needs an even number of processes"
    if processes * threads < entry["least_threads"]:
        return f"needs {entry['least_threads']} cores, this machine has {size.cores} usable ones"
    return does_not_fit(processes, threads, stride, size)


def _program(entry: Mapping[str, Any], processes: int) -> str:
    if entry["program"] != "auto":
        return str(entry["program"])
    # With one process too, some are asked of strata-bench-mpi: they exist only there.
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
        options=OWN_SHARE if size.nodes == 1 else ("--nodes", str(size.nodes)),
        timeout_s=float(entry["timeout_s"]),
        expected_s=round(entry["expected_s"] + entry["expected_s_per_gib"] * size.cache_gib, 2),
        drop=entry["drop"],
        launches=entry["launches"],
        once=entry["once"],
    )
