"""`strata tune`: what is asked, the races, and what they say. A notebook calls the same functions."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strata import paths
from strata.characterize import session, slurm
from strata.errors import FAILED, StrataError
from strata.measure import provenance, stats, store, taint
from strata.measure.files import write_json
from strata.measure.journal import utc_now
from strata.measure.lock import HOST_LOCK, HostLock
from strata.measure.order import fresh_seed
from strata.measure.plan import Pattern, Plan, Policy, Task, build_id, identity
from strata.measure.progress import Progress, duration
from strata.measure.runner import LaunchRunner, Runner
from strata.measure.signals import Interrupted, stop_signals
from strata.measure.store import Sample
from strata.study.command import foreign_file
from strata.tune import table
from strata.tune.candidates import KINDS, Candidate, Room, candidates, default_of, variations
from strata.tune.program import Kind, kind_of, linked, traps
from strata.tune.race import LEAST, Launch, Race, Verdict

FIRST_SHARE = 0.65  # of the budget, for processes, threads and binding; the rest for pages
SCHEMA = "strata.tune/1"


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
    here: bool = False
    seed: int | None = None
    timeout_s: float = 3600.0
    argv: tuple[str, ...] = ()


@dataclass
class Outcome:
    """Everything that a tuning found."""

    kind: Kind
    default: Candidate
    races: list[tuple[dict[str, Candidate], Race]]
    traps: list[str] = field(default_factory=list)
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
        raise StrataError("no command to tune", allowed="strata tune [options] -- command args")
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


class Tuner:
    """Launches for races, and keeps what they found."""

    def __init__(
        self, request: Request, runner: Runner, keep: Callable[[Sample], None], watcher: Progress
    ) -> None:
        self._request = request
        self._runner = runner
        self._keep = keep
        self._watch = watcher
        self._block = 0
        self.traps: dict[str, None] = {}
        self.spent_s = 0.0

    def task(self, candidate: Candidate, timeout_s: float) -> Task:
        """The candidate as a task of the engine."""
        patterns: tuple[Pattern, ...] = ()
        if self._request.metric != "wall":
            patterns = (Pattern("metric", self._request.metric, "", self._request.better),)
        return Task(
            id=candidate.id,
            benchmark="tune",
            command=self._request.command,
            layout=candidate.layout,
            stride=candidate.stride,
            bind=candidate.bind,
            figures=("metric",) if patterns else ("wall",),
            timeout_s=timeout_s,
            options=("--own-share", *candidate.options),
            patterns=patterns,
        )

    def launch(self, candidate: Candidate, timeout_s: float) -> Sample:
        """One launch; a disturbed one is made again once, and then counts as it is."""
        task = self.task(candidate, timeout_s)
        for attempt in (0, 1):
            started = utc_now()
            launched = self._runner.run(task, self._watch.tick)
            reasons = [
                r.to_dict() for r in taint.judge(launched.record or {}, taint.Limits(), None, launched.system)
            ]
            sample = Sample(
                task.id, self._block, attempt, started, launched.record, launched.result,
                tuple(reasons), launched.failed, launched.system,
            )  # fmt: skip
            self._keep(sample)
            self.spent_s += float(
                launched.system.get("wall_s") or (launched.record or {}).get("wall_s") or 0.0
            )
            disturbed = [r for r in reasons if r["code"] not in ("placement", "timed-out")]
            if sample.failed or not disturbed or attempt:
                break
        for trap in traps(sample.record or {}, candidate.threads) if candidate.bind != "none" else []:
            self.traps.setdefault(trap)
        return sample

    def value(self, sample: Sample) -> float:
        """The figure of a launch that ended well, as a cost: less is better."""
        if self._request.metric == "wall":
            return float((sample.record or {})["wall_s"])
        figures = {f["name"]: f["value"] for f in (sample.result or {}).get("figures") or []}
        found = float(figures["metric"])
        if found <= 0:
            raise StrataError("the figure is not positive", at="--metric", given=str(found), code=FAILED)
        return found if self._request.better == "lower" else 1.0 / found

    def race(
        self, runners: Sequence[Candidate], default: Candidate, budget_s: float, seed: int, stage: str
    ) -> Race:
        """Runs one race to its end."""
        by_id = {c.id: c for c in runners}
        race = Race(list(by_id), default.id, budget_s, seed)
        self._watch.say(f"{stage}: {len(by_id)} layouts, about {duration(budget_s)}")
        while launches := race.next_round():
            self._block += 1
            for launch in launches:
                if race.standings[launch.runner].racing or launch.runner == default.id:
                    self._one(race, launch, by_id[launch.runner], stage)
        return race

    def _one(self, race: Race, launch: Launch, candidate: Candidate, stage: str) -> None:
        limit = race.limit_s()
        timeout = min(self._request.timeout_s, max(1.0, limit)) if limit else self._request.timeout_s
        name = f"{stage}, {'final' if launch.final else 'screening'} round {launch.round}"
        done, total = race.progress()
        self._watch.begin(self.task(candidate, timeout), name, done, total, race.remaining_s())
        before = self.spent_s
        sample = self.launch(candidate, timeout)
        took = self.spent_s - before
        if any(r["code"] == "timed-out" for r in sample.tainted):
            if candidate.id != race.default:
                race.standings[candidate.id].out = f"ended after {timeout:.3g} s, too slow to win"
            return
        if sample.failed:
            race.fail(launch, sample.failed.splitlines()[0][:200], took)
            self._watch.say(f"failed: {candidate.id}: {sample.failed.splitlines()[0][:160]}")
            return
        race.record(launch, self.value(sample), took)


def tune(
    request: Request, machine: dict[str, Any], tuner: Tuner, front: str, seed: int, say: Callable[[str], None]
) -> Outcome:
    """Finds the kind, races layouts, then what may still help the fastest one."""
    program = linked(front, request.command)
    room = Room.of(machine)
    guess = request.kind or ("mpi" if program.get("mpi") else "openmp")
    probe = default_of(room, guess, max(request.processes, default=0) or None)
    say("first launch: what kind of program this is")
    first = tuner.launch(probe, request.timeout_s)
    if first.failed or first.record is None or first.record.get("timed_out"):
        raise StrataError(
            "the command fails where nothing is asked of it",
            given=first.failed or "ended by --timeout",
            remedy=f"try it alone: {shlex.join(request.command)}",
            code=FAILED,
        )
    kind = Kind(request.kind, "as you said") if request.kind else kind_of(program, first.record)
    say(f"kind: {kind.name} ({kind.why}); --kind says otherwise")
    tuner.value(first)  # a figure that is not in the output is told before anything is spent on it
    runners = candidates(machine, kind.name, request.processes)
    default = runners[0]
    left = request.budget_s - tuner.spent_s
    outcome = Outcome(kind, default, [])
    by_id = {c.id: c for c in runners}
    outcome.races.append((by_id, tuner.race(runners, default, FIRST_SHARE * left, seed, "layouts")))
    fastest = outcome.fastest
    if fastest is not None:
        more = variations(machine, fastest)
        each = stats.median(outcome.races[0][1].standings[fastest.id].seconds)
        left = request.budget_s - tuner.spent_s
        if left > (LEAST + 2) * each * 3:
            again = {c.id: c for c in (default, fastest, *more)}
            race = tuner.race(list(again.values()), default, left, seed + 1, "pages and siblings")
            if race.verdict().fastest is not None:
                outcome.races.append((again, race))
    outcome.traps = list(tuner.traps)
    outcome.seconds = tuner.spent_s
    return outcome


def run(request: Request, lock_name: str = HOST_LOCK) -> int:
    """`strata tune`; returns its exit code: 0 with a winner or a tie, 1 when the budget was too small."""
    check(request)
    native = paths.native()
    machine = session.read_machine(native)
    if request.dry_run:
        return _dry_run(request, machine, str(native.front))
    command = shlex.join(["strata", *request.argv])
    if slurm.is_login_node() and not request.here:
        raise slurm.refusal(command, submits=False)
    seed = request.seed if request.seed is not None else fresh_seed()
    lock, watcher = HostLock(lock_name), Progress()
    with stop_signals():
        results: store.Store | None = None
        try:
            lock.acquire(watcher.say)
            results = _open(request, machine, native, seed)
            runner = LaunchRunner([str(native.front)], native.programs, results.path, lock.fileno())
            tuner = Tuner(request, runner, results.add, watcher)
            outcome = tune(request, machine, tuner, str(native.front), seed, watcher.say)
            watcher.close()
            write_json(results.path / "tune.json", table.document(outcome, request))
            sys.stdout.write(table.text(outcome, request))
            sys.stdout.write(f"\nevery launch: strata results {results.path}\n")
            return 0 if outcome.fastest else FAILED
        except Interrupted as stop:
            kept = f"; what was measured is kept in {results.path}" if results else ""
            sys.stderr.write(f"\nstopped by {stop}{kept}\n")
            return stop.exit_code
        finally:
            watcher.close()
            if results is not None:
                results.close()
                session.tidy(results.path)
            lock.release()


def _open(request: Request, machine: dict[str, Any], native: paths.Native, seed: int) -> store.Store:
    """The results folder, whose plan holds every layout that may be launched."""
    kinds = [request.kind] if request.kind else list(KINDS)
    known: dict[str, Candidate] = {}
    for kind in kinds:
        for candidate in candidates(machine, kind, request.processes if kind in ("mpi", "hybrid") else ()):
            for each in (candidate, *variations(machine, candidate)):
                known.setdefault(each.id, each)
    maker = Tuner(request, None, lambda sample: None, Progress())  # type: ignore[arg-type]
    tasks = tuple(maker.task(candidate, request.timeout_s) for candidate in known.values())
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
    name = request.kind or kind_of(program, {}).name
    sys.stdout.write(f"kind: {name} (by its file alone; the first launch may say more)\n")
    for candidate in candidates(machine, name, request.processes):
        sys.stdout.write(
            f"  {candidate.line(request.command)}{'   # ' + candidate.note if candidate.note else ''}\n"
        )
    sys.stdout.write(f"raced within {duration(request.budget_s)}; nothing was launched\n")
    return 0
