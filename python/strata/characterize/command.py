"""`strata characterize` and `strata machine-measure`: plan, measure, summarise, report.

A notebook calls the same functions.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata import paths
from strata.characterize import bounds, planner, slurm
from strata.characterize.case import Case
from strata.characterize.case import read as read_case
from strata.errors import FAILED, StrataError
from strata.measure import provenance, store, summary
from strata.measure.campaign import Campaign
from strata.measure.files import remove_tree, storage_error, sync_folder, write_json
from strata.measure.lock import HOST_LOCK, HostLock
from strata.measure.order import fresh_seed
from strata.measure.plan import Plan, build_id, identity
from strata.measure.progress import Progress, duration
from strata.measure.runner import LaunchRunner
from strata.measure.signals import Interrupted, stop_signals


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
    submit: str | None = None
    dry_run: bool = False
    seed: int | None = None
    only: tuple[str, ...] = ()
    argv: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The line that a person types to have this request again."""
        words = list(self.argv) or ["characterize"]
        if words[0] == "machine-measure":
            words[:1] = ["machine", "--measure"] if len(words) == 1 or words[1:] == ["--full"] else words[:1]
        return shlex.join(["strata", *words])


_SETUP_S = 10.0  # machine facts before, summary and report after: measured 4 to 8 s with all plots


def read_machine(native: paths.Native) -> dict[str, Any]:
    """The facts of `strata machine --json`."""
    done = subprocess.run([str(native.front), "machine", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise StrataError(
            "`strata machine --json` failed",
            given=done.stderr.strip(),
            remedy="`strata doctor` says what is missing",
            code=FAILED,
        )
    try:
        value = json.loads(done.stdout)
    except ValueError as error:
        raise StrataError("`strata machine --json` printed no JSON", given=str(error), code=FAILED) from None
    return dict(value)


@dataclass(frozen=True)
class Prepared:
    """Everything known before the first launch."""

    native: paths.Native
    machine: dict[str, Any]
    plan: Plan
    notes: list[str]
    case: Case


def prepare(request: Request) -> Prepared:
    """The plan for this machine."""
    native = paths.native()
    group, name = ("characterize", request.mode)
    case = read_case(request.case or paths.case_file(group, name))
    machine = read_machine(native)
    plan, notes = planner.build(
        _only(case, request.only),
        machine,
        identity(machine),
        build_id(native.all()),
        list(native.programs),
        request.kind,
        request.seed if request.seed is not None else fresh_seed(),
    )
    return Prepared(native, machine, plan, notes, case)


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
    if not request.dry_run:
        if request.submit is not None:
            return _submit(request)
        if slurm.is_login_node() and not request.here:
            raise slurm.refusal(request.command)
    with stop_signals():
        kept: Path | None = None

        def keep(path: Path) -> None:
            nonlocal kept
            kept = path

        try:
            prepared = prepare(request)
            if request.dry_run:
                return _dry_run(prepared)
            return _measure_and_report(request, prepared, HostLock(lock), keep)
        except Interrupted as stop:
            _say_interrupted(stop, kept, request)
            return stop.exit_code


def _say_interrupted(stop: Interrupted, kept: Path | None, request: Request) -> None:
    where = f"; what was measured is kept in {kept}" if kept else "; nothing was measured yet"
    sys.stderr.write(f"\nstopped by {stop}{where}\n" + (f"to resume: {request.command}\n" if kept else ""))


def _measure_and_report(
    request: Request, prepared: Prepared, lock: HostLock, keep: Callable[[Path], None]
) -> int:
    watcher = Progress()
    lock.acquire(watcher.say)
    try:
        results = _open(request, prepared, watcher.say)
        keep(results.path)
        try:
            campaign = measure(results, prepared, lock, watcher)
        finally:
            watcher.close()
            results.close()
            _tidy(results.path)
        whole = summarise(results, campaign)
        report = build_report(whole, results.path)
    finally:
        lock.release()
    return finish(whole, results.path, report)


def measure(results: store.Store, prepared: Prepared, lock: HostLock, watcher: Progress) -> Campaign:
    """Runs the campaign to its end."""
    runner = LaunchRunner([str(prepared.native.front)], prepared.native.programs, results.path, lock.fileno())
    campaign = Campaign(results, runner, watcher)
    for note in prepared.notes:
        watcher.say(f"not here: {note}")
    plan = results.plan
    kept = len(results.samples)
    watcher.say(
        f"{len(plan.tasks)} tasks x {plan.policy.launches} launches after one to warm up, "
        f"about {duration(campaign.remaining_s())}; results in {results.path}"
        + (f"; {kept} launches of before are kept" if kept else "")
    )
    watcher.say("Ctrl-C stops; the same command resumes")
    campaign.run()
    return campaign


def _open(request: Request, prepared: Prepared, say: Callable[[str], None]) -> store.Store:
    """The results folder to measure into.

    The one asked for, an unfinished one of the same plan, or a new one.
    """
    plan = prepared.plan
    target = request.results.absolute() if request.results else None
    if target is not None and (target / "plan.json").exists():
        if request.new:
            raise StrataError(
                "a plan is there already",
                at=str(target),
                given="--new",
                remedy="leave --new out to resume it, or give another folder",
            )
        return store.resume(target, plan, accept_change=request.accept_change)
    base = paths.results_base()
    if target is None and not request.new:
        unfinished = store.find_unfinished(base, plan)
        if unfinished is not None:
            say(f"resuming {unfinished} (--new starts afresh)")
            return store.resume(unfinished, plan)
    if target is None:
        target = fresh_folder(base, request.kind, prepared.machine)
    facts = provenance.collect(prepared.machine, paths.root(), ["strata", *request.argv])
    facts["case"] = str(prepared.case.path)
    facts["not_here"] = prepared.notes
    return store.create(target, plan, prepared.machine, facts)


def fresh_folder(base: Path, kind: str, machine: Mapping[str, Any]) -> Path:
    name = paths.results_name(kind, machine.get("cpu_model"), time.strftime("%Y%m%d-%H%M%S"))
    path, n = base / name, 1
    while path.exists():
        n += 1
        path = base / f"{name}-{n}"
    return path


def _tidy(path: Path) -> None:
    """Nothing of a launch stays: neither its scratch folder nor the empty folder of scratch folders."""
    own = path / "work" / str(os.getpid())
    if own.exists():
        remove_tree(own)
    with contextlib.suppress(OSError):  # never made, or another process's
        (path / "work").rmdir()


def summarise(results: store.Store, campaign: Campaign) -> dict[str, Any]:
    """summary.json from all samples of the folder."""
    machine = json.loads((results.path / "machine.json").read_text())
    facts = json.loads((results.path / "provenance.json").read_text())
    standings = [campaign.standing(t) for t in results.plan.tasks]
    whole = summary.summarize(results, standings, machine, facts, bounds.bound)
    write_json(results.path / "summary.json", whole)
    return whole


def build_report(whole: dict[str, Any], results: Path) -> Path:
    """The report, made aside and moved in file by file, the page last: a reader never meets half of one."""
    from strata import report

    scratch = results / f".report.{os.getpid()}.tmp"
    try:
        if scratch.exists():
            remove_tree(scratch)
        scratch.mkdir()
        page = Path(report.build(whole, scratch))
        target = results / "report"
        made = sorted((p for p in scratch.rglob("*") if p.is_file()), key=lambda p: (p == page, p))
        for path in made:
            place = target / path.relative_to(scratch)
            place.parent.mkdir(parents=True, exist_ok=True)
            path.replace(place)
        sync_folder(target)
        return target / page.relative_to(scratch)
    except OSError as error:
        raise storage_error(error, results / "report") from error
    finally:
        if scratch.exists():
            remove_tree(scratch)


def finish(whole: Mapping[str, Any], results: Path, report: Path) -> int:
    """Prints the outcome.

    The exit code is 1 when a task failed or found no quiet moment: a script must be able to tell.
    """
    from strata.characterize import console

    console.show(whole)
    print(f"results: {results}\nreport:  {report}")
    bad = [t for t in whole["tasks"] if not t["undisturbed"] and not str(t["status"]).startswith("left out")]
    for task in bad:
        print(f"not answered: {task['id']}: {str(task['status']).splitlines()[0]}")
    return FAILED if bad else 0


def _dry_run(prepared: Prepared) -> int:
    plan = prepared.plan
    total = 0.0
    for task in plan.tasks:
        seconds = task.expected_s * (plan.policy.launches + 1)
        total += seconds
        optional = f", may be left out ({task.drop})" if task.drop else ""
        print(f"{task.id:<36} {plan.policy.launches}+1 launches  ~{duration(seconds)}{optional}")
        placed = f"--layout {task.layout} --stride {task.stride} --bind {task.bind}"
        print(f"    strata launch {placed} -- {' '.join(task.command)}")
    for note in prepared.notes:
        print(f"not here: {note}")
    budget = plan.policy.budget_s
    print(
        f"{len(plan.tasks)} tasks, about {duration(total + _SETUP_S)}"
        + (f"; aims at {duration(budget + _SETUP_S)}" if budget else "")
    )
    return 0


def _submit(request: Request) -> int:
    """Sends the same command to a compute node.

    With its results folder fixed now so that its place can be told.
    """
    assert request.submit is not None
    base = paths.results_base()
    results = (
        request.results.absolute()
        if request.results
        else fresh_folder(base, f"{request.kind}-{request.submit}", {})
    )
    root = paths.root()
    start = (
        [str(root / "strata")]
        if root is not None and (root / "strata").exists()
        else [str(paths.native().front)]
    )
    words = [*start, "characterize", f"--{request.mode}", "--results", str(results)]
    if request.case is not None:
        words += ["--case", str(request.case.absolute())]
    for name in request.only:
        words += ["--only", name]
    if request.seed is not None:
        words += ["--seed", str(request.seed)]
    minutes = 20 if request.mode == "quick" else 240
    job = slurm.submit(words, request.submit, results, minutes)
    print(f"submitted job {job.id} to partition {request.submit}: {job.script}")
    print(f"report will be: {results / 'report' / 'report.html'}")
    print(f"see how it goes: squeue -j {job.id}; tail -f {results}/slurm-{job.id}.out")
    return 0


def rebuild(results: Path) -> int:
    """`strata report DIR`: summary and report again from the journals."""
    opened = store.open_existing(results)
    try:
        runner = LaunchRunner([], {}, results)
        whole = summarise(opened, Campaign(opened, runner, Progress()))
        return finish(whole, results, build_report(whole, results))
    finally:
        opened.close()
