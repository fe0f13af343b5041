"""From a prepared plan to a results folder with its report: what every measuring command does alike.

A notebook calls the same functions.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strata import own_folders, paths
from strata.advice import views
from strata.advice.words import count, list_some
from strata.characterize import answer, bounds, words
from strata.errors import FAILED, StrataError, why
from strata.front import ask
from strata.interop import osu
from strata.measure import index, provenance, store, summary
from strata.measure.campaign import Campaign
from strata.measure.files import remove_tree, storage_error, sync_folder, write_json
from strata.measure.lock import HOST_LOCK, HostLock
from strata.measure.plan import Plan
from strata.measure.progress import Progress, duration
from strata.measure.runner import LaunchRunner
from strata.measure.signals import Interrupted, stop_signals
from strata.measure.standings import Standings
from strata.scripts import visible_lines


@dataclass(frozen=True)
class Prepared:
    """Everything known before the first launch."""

    native: paths.Native
    machine: dict[str, Any]
    plan: Plan
    notes: list[str]  # what was left out, in words
    case: Path
    facts: dict[str, Any] = field(default_factory=dict)  # further provenance


@dataclass(frozen=True)
class Target:
    """Where results go, and the words that asked for them."""

    name: str  # first part of a new folder's name
    results: Path | None = None  # an existing folder is resumed
    new: bool = False
    accept_change: bool = False
    argv: tuple[str, ...] = ()
    command: str = ""  # the line that a person types to have this again
    verbose: bool = False  # the table of all figures is printed too


def read_machine(native: paths.Native, described: str | None = None) -> dict[str, Any]:
    """The facts of `strata machine --json`, of this machine or of one that an hwloc XML file or
    synthetic:DESCRIPTION describes.
    """
    try:
        said = ask(native.front, ["machine", "--json", *(["--input", described] if described else [])])
    except StrataError as error:
        if described:
            raise StrataError(
                "the described machine cannot be read",
                at="--machine",
                given=f"{described} ({error.message})",
                allowed="an hwloc XML file, or synthetic:DESCRIPTION",
                remedy="lstopo machine.xml writes such a file",
            ) from None
        raise StrataError(
            "`strata machine --json` failed",
            given=str(error),
            remedy="`strata doctor` says what is missing",
            code=FAILED,
        ) from None
    try:
        return dict(json.loads(said))
    except ValueError as error:
        raise StrataError(
            "`strata machine --json` did not print what Strata understands",
            at=str(native.front),
            given=why(error),
            remedy="build Strata again: ./strata setup",
            code=FAILED,
        ) from None


def refuse_to_run(described: str | None, dry_run: bool) -> None:
    """A described machine is for plans alone."""
    if described and not dry_run:
        raise StrataError(
            "a described machine runs nothing",
            given=f"--machine {described}",
            allowed="--machine with --dry-run",
        )


_REPORT_S = 4.0  # what a report takes, before the first one was made

Statements = Callable[[Mapping[str, Any]], Sequence[str]]


def run(
    target: Target,
    prepare: Callable[[], Prepared],
    lock: str = HOST_LOCK,
    statements: Statements | None = None,
) -> int:
    """Prepares, measures and reports; returns the exit code. A signal leaves what was measured.

    `statements` says in sentences what the summary of a study shows.
    """
    return until_stopped(
        lambda keep: _measure_and_report(target, prepare(), HostLock(lock), keep, statements), target.command
    )


Keep = Callable[[Path], None]  # is told where the results are, as soon as there are any


def until_stopped(work: Callable[[Keep], int], resume: str = "") -> int:
    """The exit code of the work. A stop signal ends it: then where its results are is printed, and `resume`,
    the command that continues it.
    """
    kept: list[Path] = []
    with stop_signals():
        try:
            return work(kept.append)
        except Interrupted as stop:
            where = f"what was measured is kept in {kept[0]}" if kept else "nothing was measured yet"
            sys.stderr.write(f"\nstopped by {stop}; {where}\n")
            if kept and resume:
                sys.stderr.write(f"to resume: {resume}\n")
            return stop.exit_code


@contextmanager
def measuring(results: store.Store, watcher: Progress) -> Iterator[store.Store]:
    """The results folder while it is measured into; however that ends, nothing of a launch stays."""
    try:
        yield results
    finally:
        watcher.close()
        results.close()
        tidy(results.path)


def _measure_and_report(
    target: Target, prepared: Prepared, lock: HostLock, keep: Keep, statements: Statements | None
) -> int:
    watcher = Progress(words=words.of_task)
    with lock.held(watcher.say):
        began = time.monotonic()
        with measuring(_open(target, prepared, watcher.say), watcher) as results:
            keep(results.path)
            campaign = measure(results, prepared, lock, watcher, began)
        whole = summarise(results, campaign)
        index.open_index(results.path).close()  # so that whoever asks of many samples need not wait for it
        report = build_report(whole, results.path)
    return finish(whole, results.path, report, statements, target.verbose)


def measure(
    results: store.Store, prepared: Prepared, lock: HostLock, watcher: Progress, began: float | None = None
) -> Campaign:
    """Runs the campaign to its end. The report is made anew after each block, so that it can be opened
    meanwhile.
    """
    front, programs = [str(prepared.native.front)], prepared.native.programs
    runner = LaunchRunner(front, programs, results.path, lock.fileno(), {"osu": osu.read})
    told = False

    def report_so_far() -> None:
        nonlocal told
        whole = summarise(results, campaign, write=False)
        standings = campaign.all()
        done, wanted = sum(s.enough for s in standings), sum(s.wanted for s in standings)
        whole["in_progress"] = f"{done} of {wanted} launches so far"
        page = build_report(whole, results.path)
        if not told:
            told = True
            watcher.say(f"the report so far, renewed after each round: {page}")

    campaign = Campaign(
        results,
        runner,
        watcher,
        after_block=report_so_far,
        block_s=_REPORT_S,
        began=began,
        words=words.of_task,
    )
    if prepared.notes:
        watcher.say(not_here(prepared.notes))
    plan = results.plan
    kept = len(results.samples)
    times = str(plan.policy.launches)
    if plan.policy.precision is not None:
        times += f" to {plan.policy.most}"
    watcher.say(
        f"{count(len(plan.tasks), 'setting')} to measure, each {times} times and once before "
        f"to warm up: about {duration(campaign.remaining_s())}"
        + (f"; {kept} launches of before are kept" if kept else "")
    )
    watcher.say(f"results: {results.path}\nCtrl-C stops; the same command goes on from there")
    campaign.run()
    return campaign


def not_here(notes: Sequence[str]) -> str:
    """In one line, how many parts of the plan cannot run on this machine, and why. A note is 'what: why'."""
    reasons = dict.fromkeys(note.rpartition(": ")[2] for note in notes)
    return f"{count(len(notes), 'setting')} of the plan cannot run here: {list_some(reasons, 3)}"


def _open(wish: Target, prepared: Prepared, say: Callable[[str], None]) -> store.Store:
    """The results folder to measure into.

    The one asked for, an unfinished one of the same plan, or a new one.
    """
    plan = prepared.plan
    target = wish.results.absolute() if wish.results else None
    if target is not None and (target / "plan.json").exists():
        if wish.new:
            raise StrataError(
                "a plan is there already",
                at=str(target),
                given="--new",
                remedy="leave --new out to resume it, or give another folder",
            )
        return store.resume(target, plan, accept_change=wish.accept_change)
    base = paths.results_base()
    if target is None and not wish.new:
        unfinished = store.find_unfinished(base, plan, say)
        if unfinished is not None:
            say(f"resuming {unfinished} (--new starts afresh)")
            return store.resume(unfinished, plan)
    if target is None:
        target = fresh_folder(base, wish.name, prepared.machine)
    facts = provenance.collect(prepared.machine, paths.root(), ["strata", *wish.argv])
    facts["case"] = str(prepared.case)
    facts["not_here"] = prepared.notes
    facts.update(prepared.facts)
    return store.create(target, plan, prepared.machine, facts)


def fresh_folder(base: Path, kind: str, machine: Mapping[str, Any]) -> Path:
    """A new folder under base, which this call has made, named after what is measured and where."""
    path = base / paths.results_name(kind, machine.get("cpu_model"), time.strftime("%Y%m%d-%H%M%S"))
    try:
        return own_folders.make_numbered(path)
    except OSError as error:
        raise storage_error(error, path) from error


def tidy(path: Path) -> None:
    """Nothing of a launch stays: neither its scratch folder nor the empty folder of scratch folders."""
    own = path / "work" / str(os.getpid())
    if own.exists():
        remove_tree(own)
    with contextlib.suppress(OSError):  # never made, or another process's
        (path / "work").rmdir()


def summarise(results: store.Store, standings: Standings, write: bool = True) -> dict[str, Any]:
    """The summary of all samples of the folder, and summary.json from it."""
    machine, facts = store.read_facts(results.path)
    whole = summary.summarize(results, standings.all(), machine, facts, bounds.bound, bounds.every)
    if write:
        write_json(results.path / "summary.json", whole)
    return whole


def build_report(whole: dict[str, Any], results: Path, more: Sequence[Mapping[str, Any]] = ()) -> Path:
    """The report, made aside and moved in file by file, the page last: a reader never meets half of one.
    Whoever owns the results may rename folders in them meanwhile: each one is held.
    """
    try:
        with own_folders.held(results) as inside:
            scratch = inside / f".report.{os.getpid()}.tmp"
            try:
                remove_tree(scratch)
                scratch.mkdir()
                with own_folders.held(scratch) as aside:
                    if aside.stat().st_uid != os.geteuid():
                        raise OSError(errno.EPERM, "another user's folder", str(results / scratch.name))
                    page = _moved_in(whole, aside, inside / "report", more)
            finally:
                remove_tree(scratch)
        return results / "report" / page
    except OSError as error:
        raise storage_error(error, results / "report") from error


def _moved_in(whole: dict[str, Any], aside: Path, target: Path, more: Sequence[Mapping[str, Any]]) -> str:
    """The report by way of the folder `aside`; the name of its page."""
    from strata import report

    page = Path(report.build(whole, aside, more)).name
    target.mkdir(exist_ok=True)
    with own_folders.held(target) as to:
        (to / "figures").mkdir(exist_ok=True)
        with own_folders.held(to / "figures") as figures:
            for path in (aside / "figures").iterdir():
                path.replace(figures / path.name)
        for path in sorted(aside.iterdir(), key=lambda path: path.name == page):
            if path.is_file():
                path.replace(to / path.name)
        sync_folder(to)
    return page


def finish(
    whole: Mapping[str, Any],
    results: Path,
    report: Path,
    statements: Statements | None = None,
    verbose: bool = False,
) -> int:
    """Prints the outcome. The exit code is 0 when every setting has an answer, whatever its grade; 1 when
    one could not run or, with --strict, found no quiet moment: a script must be able to tell.
    """
    from strata.characterize import console

    if verbose:
        console.show(whole)
    bad = answer.unanswered(whole)
    if statements is None:
        print(*map(visible_lines, answer.lines(whole, report)), sep="\n")
    else:
        said = statements(whole)
        if not said and not verbose:
            console.show(whole)
        shown = [*said, *answer.failures(whole), *answer.ending(whole, report)]
        print(*map(visible_lines, shown), sep="\n")
    return FAILED if bad else 0


def rebuild(opened: store.Store, more: Sequence[Path] = (), verbose: bool = False) -> int:
    """`strata report DIR`: summary and report again from the journals, with studies of `more` as sections."""
    results = opened.path
    whole = summarise(opened, Standings(opened))
    page = build_report(whole, results, [from_journals(f) for f in more])
    statements = views.statements if opened.plan.kind == "study" else None
    return finish(whole, results, page, statements, verbose)


def from_journals(folder: Path) -> dict[str, Any]:
    """The summary of a results folder as its journals have it now; nothing is written."""
    opened = store.open_existing(folder, sweep=False)
    try:
        return summarise(opened, Standings(opened), write=False)
    finally:
        opened.close()
