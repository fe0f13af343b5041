"""`strata characterize` and `strata machine-measure`: what is asked, and the plan for it.

A notebook calls the same functions.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from strata import paths
from strata.advice.words import count
from strata.characterize import planner, session, words
from strata.characterize.case import Case
from strata.characterize.case import read as read_case
from strata.characterize.session import Prepared
from strata.errors import StrataError
from strata.measure.lock import HOST_LOCK
from strata.measure.order import fresh_seed
from strata.measure.plan import build_id, identity
from strata.measure.progress import duration
from strata.paths import Native
from strata.site import slurm


@dataclass(frozen=True)
class Request:
    """What the command line asked for."""

    kind: str = "characterize"
    mode: str = "quick"
    case: Path | None = None
    results: Path | None = None
    new: bool = False
    accept_change: bool = False
    here: bool = False
    dry_run: bool = False
    seed: int | None = None
    only: tuple[str, ...] = ()
    budget_s: float | None = None  # instead of the case's
    strict: bool = False
    verbose: bool = False  # the table of all figures is printed too
    nodes: int = 1  # of a cluster, whose messages are measured
    machine: str | None = None  # another one, described, for a plan alone
    argv: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The line that a person types to have this request again."""
        words = list(self.argv) or ["characterize"]
        if words[0] == "machine-measure":
            words[:1] = ["machine", "--measure"] if len(words) == 1 or words[1:] == ["--full"] else words[:1]
        return shlex.join(["strata", *words])


def prepare(request: Request) -> Prepared:
    """The plan for this machine, or for the one that is described."""
    native = paths.native()
    name = request.mode if request.nodes == 1 else "nodes"
    case = read_case(request.case or paths.case_file("characterize", name))
    machine = session.read_machine(native, request.machine)
    plan, notes = planner.build(
        _only(case, request.only),
        machine,
        identity(machine),
        build_id(native.all()),
        list(native.programs),
        request.kind,
        request.seed if request.seed is not None else fresh_seed(),
        request.budget_s,
        request.strict,
        listed(native),
        request.nodes,
    )
    return Prepared(native, machine, plan, notes, case.path)


def listed(native: Native) -> dict[str, set[str]]:
    """The benchmarks that the program over MPI was built with: one of them needs a library of its own."""
    program = native.programs.get("strata-bench-mpi")
    if program is None:
        return {}
    try:
        done = subprocess.run([program, "--list"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return {}  # its launches will say why
    names = {line.split()[0] for line in done.stdout.splitlines() if line.strip()}
    return {program.name: names} if done.returncode == 0 and names else {}


def _only(case: Case, names: Sequence[str]) -> Case:
    from dataclasses import replace

    if not names:
        return case
    known = sorted({t["name"] or t["benchmark"] for t in case.tasks})
    for name in names:
        if name not in known:
            raise StrataError(
                "no such task in this case", at=str(case.path), given=name, allowed=", ".join(known)
            )
    return replace(case, tasks=tuple(t for t in case.tasks if (t["name"] or t["benchmark"]) in names))


def run(request: Request, lock: str = HOST_LOCK) -> int:
    """The whole command; returns its exit code."""
    if request.dry_run:
        return _dry_run(prepare(request))
    if request.nodes > 1:
        slurm.need_nodes(request.nodes, request.command)
    elif slurm.is_login_node() and not request.here:
        raise slurm.refusal(request.command)
    target = session.Target(
        name=request.kind,
        results=request.results,
        new=request.new,
        accept_change=request.accept_change,
        argv=request.argv,
        command=request.command,
        verbose=request.verbose,
    )
    return session.run(target, lambda: prepare(request), lock)


def _dry_run(prepared: Prepared) -> int:
    plan = prepared.plan
    total = 0.0
    for task in plan.tasks:
        counted = task.launches or plan.policy.launches
        warm = 0 if task.launches else 1
        seconds = task.expected_s * (counted + warm)
        total += seconds
        times = count(counted, "time") + (" and once to warm up" if warm else "")
        optional = f"; left out if the time is short ({task.drop})" if task.drop else ""
        print(f"{words.of_task(task)}: {times}, about {duration(seconds)}{optional}   # {task.id}")
        placed = f"--layout {task.layout} --stride {task.stride} --bind {task.bind}"
        print(f"    strata launch {placed} -- {' '.join(task.command)}")
    for note in prepared.notes:
        print(f"cannot run here: {note}")
    budget = plan.policy.budget_s
    print(
        f"{count(len(plan.tasks), 'setting')}, about {duration(total)}, and some seconds for the report"
        + (f"; ends within {duration(budget)}: what does not fit is left out" if budget else "")
        + "; nothing was launched"
    )
    return 0
