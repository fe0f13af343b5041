"""`strata tune`: from the command line to a results folder with its answer and its report."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from typing import Any

from strata import paths
from strata.characterize import session
from strata.errors import FAILED
from strata.measure import background, provenance, store
from strata.measure.lock import HOST_LOCK, HostLock
from strata.measure.order import fresh_seed
from strata.measure.plan import Plan, Policy, build_id, identity
from strata.measure.progress import Progress, duration
from strata.measure.runner import LaunchRunner
from strata.site import slurm
from strata.study.command import foreign_file
from strata.tune import results, table
from strata.tune.candidates import KINDS, Candidate
from strata.tune.foresee import foresee
from strata.tune.program import kind_of, linked
from strata.tune.traps import sentence
from strata.tune.tuner import Request, Tuner, check, layouts_to_race, task_of, tune, with_processes
from strata.tune.usable_cores import UsableCores


def run(request: Request, lock_name: str = HOST_LOCK) -> int:
    """`strata tune`; returns its exit code: 0 with a winner or a tie, 1 when the budget was too small."""
    check(request)
    session.refuse_to_run(request.machine, request.dry_run)
    native = paths.native()
    machine = {**session.read_machine(native, request.machine), "nodes": request.nodes}
    if request.dry_run:
        return _dry_run(request, machine, str(native.front))
    command = shlex.join(["strata", *request.argv])
    if request.nodes > 1:
        slurm.need_nodes(request.nodes, command)
    elif slurm.is_login_node() and not request.here:
        raise slurm.refusal(command)
    seed = request.seed if request.seed is not None else fresh_seed()
    return session.until_stopped(
        lambda keep: _race(request, machine, native, seed, HostLock(lock_name), keep)
    )


def _race(
    request: Request,
    machine: dict[str, Any],
    native: paths.Native,
    seed: int,
    lock: HostLock,
    keep: session.Keep,
) -> int:
    watcher = Progress()
    with (
        lock.held(watcher.say),
        session.measuring(_open(request, machine, native, seed), watcher) as opened,
    ):
        keep(opened.path)
        runner = LaunchRunner([str(native.front)], native.programs, opened.path, lock.fileno())
        tuner = Tuner(request, runner, opened.add, watcher, opened.add_task)
        tuner.set_background(_background(opened, watcher.say))
        outcome = tune(request, machine, tuner, str(native.front), seed, watcher.say)
        watcher.close()
        page = results.write(opened, table.document(outcome, request))
    sys.stdout.write(table.text(outcome, request))
    took = duration(outcome.seconds)
    sys.stdout.write(f"launches:  {took} in all; strata results {opened.path} lists them\n")
    sys.stdout.write(f"report:    {page}\n")
    return 0 if outcome.fastest else FAILED


def _background(opened: store.Store, say: Callable[[str], None]) -> background.Background | None:
    """What others take of this machine all the time, journalled and told."""
    seen = background.measure(os.sched_getaffinity(0))
    if seen is not None:
        opened.note("background", **seen.to_dict())
        if told := seen.in_words(opened.plan.policy.limits):
            say(f"before the race, {told}; a launch that is disturbed by more is made once more")
    return seen


def _open(request: Request, machine: dict[str, Any], native: paths.Native, seed: int) -> store.Store:
    """The results folder, whose plan holds every layout that the race may begin with."""
    kinds = [request.kind] if request.kind else list(KINDS if request.nodes == 1 else ("mpi", "hybrid"))
    request = with_processes(request, linked(str(native.front), request.command))
    known: dict[str, Candidate] = {}
    for kind in kinds:
        for candidate in layouts_to_race(machine, kind, request.processes):
            known.setdefault(candidate.id, candidate)
    tasks = tuple(task_of(request, candidate, request.timeout_s) for candidate in known.values())
    programs = [*native.all(), *foreign_file(request.command[0])]
    plan = Plan(
        "tune",
        "tune",
        tasks,
        Policy(seed=seed, budget_s=request.budget_s),
        identity(machine),
        build_id(programs),
    )
    folder = request.results or session.fresh_folder(paths.results_base(), "tune", machine)
    facts = provenance.collect(machine, paths.root(), ["strata", *request.argv])
    return store.create(folder.absolute(), plan, machine, facts)


def _dry_run(request: Request, machine: dict[str, Any], front: str) -> int:
    program = linked(front, request.command)
    request = with_processes(request, program)
    name = request.kind or kind_of(program, {}).name
    sys.stdout.write(f"{table.NAMES[name]} program, by its file alone; a first launch may say more\n")
    sys.stdout.write("the race begins with these layouts:\n")
    for candidate in layouts_to_race(machine, name, request.processes):
        sys.stdout.write(
            f"  {candidate.line(request.command)}{'   # ' + candidate.note if candidate.note else ''}\n"
        )
    sys.stdout.write(
        "and goes on with what is near the fastest: other numbers of threads and processes, other cores, "
        "huge pages\n"
    )
    for trap in foresee(program, os.environ, UsableCores.of(machine).cores):
        sys.stdout.write(f"note: {sentence(trap)}\n")
    sys.stdout.write(f"it takes {duration(request.budget_s)}; nothing was launched\n")
    return 0
