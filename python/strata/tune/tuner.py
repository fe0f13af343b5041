"""A tuning: what is asked, its launches and its races. A notebook calls the same functions."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from strata.advice.words import count
from strata.errors import FAILED, StrataError
from strata.measure import stats, taint
from strata.measure.background import Background
from strata.measure.launching import Judge, launch_once
from strata.measure.plan import Pattern, Task
from strata.measure.progress import Progress, Step, duration
from strata.measure.runner import Runner
from strata.measure.store import Sample
from strata.tune.candidates import KINDS, Candidate, candidates, default_of, numbers_of_processes
from strata.tune.foresee import foresee
from strata.tune.program import Kind, kind_of, linked
from strata.tune.race import Launch, Race, RunnerState, Verdict
from strata.tune.refused import MARK, Refusals, own_last_words
from strata.tune.search import Search
from strata.tune.traps import Trap, TrapsSeen, measured, sentence
from strata.tune.usable_cores import UsableCores

_CLOCKS = 8  # readings, of four launches: their median is what a drop of the clock is judged against


@dataclass(frozen=True)
class Request:
    """What the command line asked for."""

    command: tuple[str, ...]
    metric: str = "wall"  # or a regular expression with one group
    better: str = "lower"
    budget_s: float = 600.0
    kind: str | None = None
    processes: tuple[int, ...] = ()
    results: Path | None = None
    dry_run: bool = False
    machine: str | None = None  # another one, described, for a dry run
    here: bool = False
    seed: int | None = None
    timeout_s: float = 3600.0
    nodes: int = 1  # of a job of Slurm's, which the processes share
    argv: tuple[str, ...] = ()


@dataclass
class Outcome:
    """Everything that a tuning found."""

    kind: Kind
    default: Candidate
    races: list[tuple[dict[str, Candidate], Race]]
    traps: list[Trap] = field(default_factory=list)
    refusals: Refusals = field(default_factory=Refusals)
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        return self.races[-1][1].verdict()

    @property
    def fastest(self) -> Candidate | None:
        name = self.verdict.fastest
        return self.races[-1][0][name] if name else None


def check(request: Request) -> Request:
    """Refuses what cannot be raced."""
    if not request.command:
        raise StrataError(
            "no command to tune", given="nothing after --", allowed="strata tune [options] -- command args"
        )
    if request.kind is not None and request.kind not in KINDS:
        raise StrataError(
            "unknown kind of program", at="--kind", given=request.kind, allowed=", ".join(KINDS)
        )
    if request.metric != "wall":
        try:
            groups = re.compile(request.metric).groups
        except re.error as error:
            raise StrataError(
                "not a regular expression", at="--metric", given=request.metric, allowed=str(error)
            ) from None
        if groups != 1:
            raise StrataError(
                "the regular expression needs one group, which holds the figure",
                at="--metric",
                given=request.metric,
                allowed=r"for example 'Time: ([0-9.]+) s'",
            )
    return request


def task_of(request: Request, candidate: Candidate, timeout_s: float) -> Task:
    """One launch of the request's command under a layout."""
    patterns: tuple[Pattern, ...] = ()
    if request.metric != "wall":
        patterns = (Pattern("metric", request.metric, "", request.better),)
    return Task(
        id=candidate.id,
        benchmark="tune",
        command=request.command,
        layout=candidate.layout,
        stride=candidate.stride,
        bind=candidate.bind,
        figures=("metric",) if patterns else ("wall",),
        timeout_s=timeout_s,
        options=("--own-share", *candidate.options),
        patterns=patterns,
    )


class Tuner:
    """Launches for races, and keeps what they found."""

    def __init__(
        self,
        request: Request,
        runner: Runner,
        keep: Callable[[Sample], None],
        watcher: Progress,
        joined: Callable[[Task], None] = lambda task: None,
    ) -> None:
        """`keep` gets every launch, `joined` each layout that a race adds to those that it began with."""
        self._request = request
        self._runner = runner
        self._keep = keep
        self._watch = watcher
        self._joined = joined
        self._block = 0
        self._limits = self._raised = taint.Limits()
        self._clocks: list[float] = []
        self.background: Background | None = None
        self.traps = TrapsSeen.of(())
        self.refusals = Refusals()
        self.refused_first: list[Candidate] = []  # before there was a race
        self.spent_s = 0.0

    def task(self, candidate: Candidate, timeout_s: float) -> Task:
        """The candidate as a task of the engine."""
        return task_of(self._request, candidate, timeout_s)

    def set_background(self, background: Background | None) -> None:
        """What others take all the time: launches that show no more are not repeated."""
        self.background = background
        self._raised = background.raised(self._limits) if background else self._limits

    def launch(self, candidate: Candidate, timeout_s: float) -> Sample:
        """One launch; one that is disturbed by more than the background is made again once. Disturbed again,
        it counts, and the answer's grade says so.
        """
        task = self.task(candidate, timeout_s)
        for attempt in (0, 1):
            clock = stats.median(self._clocks) if len(self._clocks) >= _CLOCKS else None
            judge = Judge(self._limits, self._raised, clock)
            sample = launch_once(self._runner, task, self._block, attempt, judge, self._watch.tick)
            if len(self._clocks) < _CLOCKS:
                self._clocks += taint.clock_readings(sample.record or {})
            self._keep(sample)
            self._watch.count(sample)
            self.spent_s += sample.wall_s
            if sample.failed or all(code in taint.UNUSABLE for code in sample.beyond):
                break
        self.refusals.add(candidate, sample)
        held = candidate.bind != "none"
        self.traps.add(measured(sample.record or {}, candidate.threads, held), candidate.id)
        return sample

    def value(self, sample: Sample) -> float:
        """The figure of a launch that ended well, as a cost: less is better."""
        if self._request.metric == "wall":
            return float((sample.record or {})["wall_s"])
        figures = {f["name"]: f["value"] for f in (sample.result or {}).get("figures") or []}
        found = float(figures["metric"])
        if found <= 0:
            raise StrataError(
                "the figure is not positive, so that layouts cannot be compared by their ratio",
                at="--metric",
                given=f"{found:g}",
                allowed="a number above 0 in what the program prints",
                remedy="check the pattern: its group may match another number",
                code=FAILED,
            )
        return found if self._request.better == "lower" else 1.0 / found

    def race(
        self,
        runners: Sequence[Candidate],
        default: Candidate,
        budget_s: float,
        seed: int,
        search: Search | None = None,
        known_s: float | None = None,
    ) -> Race:
        """Runs a race to its end. With `search` others join, and are then among its `known`."""
        by_id = search.known if search else {c.id: c for c in runners}
        if search:
            search.joined = lambda candidate: self._joined(self.task(candidate, self._request.timeout_s))
        widen, plainer = (search.widen, search.plainer) if search else (None, None)
        race = Race([c.id for c in runners], default.id, budget_s, seed, known_s, widen, plainer)
        layouts = count(len(runners), "layout")
        self._watch.say(
            f"racing {layouts} (processes x threads) and what is near the fastest, for about "
            f"{duration(budget_s)}"
        )
        while launches := race.next_round():
            self._block += 1
            for launch in launches:
                if race.standings[launch.runner].racing or launch.runner == default.id:
                    self._one(race, launch, by_id[launch.runner])
        return race

    def _one(self, race: Race, launch: Launch, candidate: Candidate) -> None:
        # The default has none: how many times as slow it is has to be told, however many these are.
        limit = None if candidate.id == race.default else race.limit_s()
        timeout = min(self._request.timeout_s, max(1.0, limit)) if limit else self._request.timeout_s
        done, total = race.progress()
        # How many launches screening takes is open until it ends.
        place = f"{done + 1} of {total}" if launch.final else f"launch {done + 1}"
        doing = "final: running" if launch.final else "screening: running"
        self._watch.begin(self.task(candidate, timeout), Step(doing, place, race.remaining_s()))
        before = self.spent_s
        sample = self.launch(candidate, timeout)
        took = self.spent_s - before
        if any(r["code"] == "timed-out" for r in sample.tainted):
            race.end(launch, f"ended after {timeout:.3g} s, too slow to win", took)
            return
        if sample.failed:
            race.fail(launch, sample.failed.splitlines()[0][:200], took)
            words = self.refusals.reason(candidate)
            why = words or sample.failed.splitlines()[0]
            self._watch.say(f"{MARK if words else 'failed'}: {candidate.id}: {why[:160]}")
            return
        try:
            race.record(launch, self.value(sample), took, bool(sample.tainted))
        except StrataError as error:  # what was measured before stays
            race.fail(launch, f"{error.message}: {error.given}", took)


def tune(
    request: Request, machine: dict[str, Any], tuner: Tuner, front: str, seed: int, say: Callable[[str], None]
) -> Outcome:
    """Finds the kind, and races layouts."""
    program = linked(front, request.command)
    usable = UsableCores.of(machine)
    request = with_processes(request, program)
    tuner.traps = TrapsSeen.of(foresee(program, os.environ, usable.cores))
    for trap in tuner.traps.all():
        say(f"note: {sentence(trap)}")
    mpi = program.get("mpi") or program.get("starter") or request.nodes > 1
    guess = request.kind or ("mpi" if mpi else "openmp")
    say("a first launch, to see what kind of program this is")
    probe, first, seconds = _first(request, usable, tuner, guess, say)
    known = first.record or {}
    kind = Kind(request.kind, "as you said") if request.kind else kind_of(program, known)
    say(f"kind of program: {kind.name} ({kind.why}); --kind KIND says otherwise")
    tuner.value(first)  # a figure that is not in the output is told before anything is spent on it
    refusals = tuner.refusals
    runners = layouts_to_race(machine, kind.name, request.processes, refusals.numbers)
    default = runners[0]
    search = Search(usable, kind.name, {c.id: c for c in runners}, request.processes, refusals=refusals)
    took = seconds if default.id == probe.id else None
    left = request.budget_s - tuner.spent_s
    race = tuner.race(runners, default, left, seed, search, took)
    _list_refused(tuner.refused_first, search, race, refusals)
    outcome = Outcome(kind, default, [(dict(search.known), race)])
    outcome.traps, outcome.refusals = tuner.traps.all(), refusals
    outcome.seconds = tuner.spent_s
    return outcome


def _list_refused(first: Sequence[Candidate], search: Search, race: Race, refusals: Refusals) -> None:
    """Numbers of processes that the program refused before the race stand among its layouts."""
    for candidate in first:
        if refusals.reason(candidate) and candidate.id not in race.standings:
            search.known[candidate.id] = candidate
            race.standings[candidate.id] = RunnerState(candidate.id, failed=refusals.reason(candidate))


def _first(
    request: Request, usable: UsableCores, tuner: Tuner, guess: str, say: Callable[[str], None]
) -> tuple[Candidate, Sample, float]:
    """The first launch that the program accepts where nothing is asked of it but a number of processes, the
    largest that it runs with; and the seconds that it took.
    """
    numbers: Sequence[int] = (0,)
    if guess in ("mpi", "hybrid"):
        tuner.refusals.counts = True
        numbers = sorted(request.processes or numbers_of_processes(usable), reverse=True)
    refused: list[str] = []
    for number in numbers:
        probe, before = default_of(usable, guess, number or None), tuner.spent_s
        first = tuner.launch(probe, request.timeout_s)
        if not first.failed and first.record is not None and not first.record.get("timed_out"):
            return probe, first, tuner.spent_s - before
        refused.append(first.failed or "ended by --timeout")
        words = own_last_words(first)
        if words is None:
            break
        tuner.refused_first.append(probe)
        if len(numbers) > 1:
            say(f"with {number} process{'' if number == 1 else 'es'} it ends with: {words}")
    tried = f" (with {', '.join(map(str, numbers[: len(refused)]))} processes)" if len(refused) > 1 else ""
    raise StrataError(
        "the command fails where nothing is asked of it",
        given=refused[0] + tried,
        remedy=f"try it alone: {shlex.join(request.command)}",
        code=FAILED,
    )


def with_processes(request: Request, program: dict[str, Any]) -> Request:
    """The request with the number of processes that an MPI launcher in the command fixes."""
    fixed = program.get("processes")
    if not fixed:
        return request
    if request.processes and set(request.processes) != {fixed}:
        raise StrataError(
            "the command says how many processes it starts",
            at="--processes",
            given=",".join(map(str, request.processes)),
            allowed=str(fixed),
            remedy="leave its -n out: strata launch adds it",
        )
    return replace(request, processes=(fixed,))


def layouts_to_race(
    machine: dict[str, Any], kind: str, processes: Sequence[int], refused: Collection[int] = ()
) -> list[Candidate]:
    """The layouts to race; the default alone where there are more processes than cores to hold them on."""
    usable = UsableCores.of(machine)
    if kind in ("mpi", "hybrid") and min(processes, default=0) > usable.cores:
        return [default_of(usable, kind, max(processes))]
    return candidates(machine, kind, processes if kind in ("mpi", "hybrid") else (), refused)
