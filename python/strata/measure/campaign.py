"""The loop: warm-up, blocks in shuffled order, repeats of what was disturbed, and when to give up.

It knows tasks by name only. What a task is stays with the runner, how often and when stays here, what counts
stays with taint: studies bring other tasks and another stopping rule, and keep the rest.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from strata.measure import figures, quiet, stats, taint
from strata.measure.journal import utc_now
from strata.measure.order import block_order
from strata.measure.plan import Plan, Task
from strata.measure.runner import Runner
from strata.measure.store import Sample, Store

WARM_UP = 0
_ROUNDS_END = 10**6  # block number of the repeats after the last block


class Watcher(Protocol):
    """Who shows progress. All calls are cheap; tick() comes while a program is measured."""

    def begin(self, task: Task, block: str, done: int, total: int, remaining_s: float) -> None: ...
    def tick(self) -> None: ...
    def ended(self, task: Task, sample: Sample) -> None: ...
    def say(self, text: str) -> None: ...
    def wait(self, text: str) -> None: ...


@dataclass(frozen=True)
class Standing:
    """How one task stands."""

    task: Task
    good: int
    launches: int  # warm-up not counted
    stopped: str | None  # why it is not launched any more
    wanted: int  # undisturbed launches, by what is known now

    @property
    def short(self) -> bool:
        return self.stopped is None and self.good < self.wanted


class Campaign:
    """One plan being measured into one store."""

    def __init__(
        self,
        store: Store,
        runner: Runner,
        watcher: Watcher,
        *,
        settle: Callable[[float], float] | None = None,
    ) -> None:
        self.store = store
        self.plan: Plan = store.plan
        self.policy = store.plan.policy
        self._runner = runner
        self._watch = watcher
        self._settle = settle or self._wait_for_quiet
        self._waited = 0.0  # by this process: whoever starts it again has patience again
        self._started = time.monotonic()
        self._standings: dict[str, tuple[tuple[int, int, bool], Standing]] = {}
        self._seconds: dict[str, tuple[int, float]] = {}
        self._time_is_up = False  # for repeats; likewise of this process alone

    # -- what is known so far --------------------

    def samples_of(self, task: Task) -> list[Sample]:
        return self.store.samples_of(task.id)

    def standing(self, task: Task) -> Standing:
        """How the task stands; kept until a sample or a decision is added, since it is asked for often."""
        key = (self.store.count_of(task.id), len(self.store.events), self._time_is_up)
        known = self._standings.get(task.id)
        if known is None or known[0] != key:
            known = self._standings[task.id] = key, self._stand(task)
        return known[1]

    def _stand(self, task: Task) -> Standing:
        samples = self.samples_of(task)
        counted = [s for s in samples if s.block != WARM_UP]
        good = sum(s.good for s in counted)
        stopped = self._stopped(task, samples, counted, good)
        return Standing(task, good, len(counted), stopped, self._wanted(task, counted, good))

    def _wanted(self, task: Task, counted: list[Sample], good: int) -> int:
        """How many undisturbed launches the task is to have: the policy's, or as many as its headline's
        interval is likely to need for the policy's precision.
        """
        least, policy = self.policy.launches, self.policy
        if policy.precision is None or good < least:
            return least
        headlines = [figures.headline(task, s) for s in counted if s.good]
        values = [v for v in headlines if v is not None]
        level = stats.simultaneous(policy.compared)
        half = stats.estimate(values, level, policy.most).half_width if values else None
        if half is not None and half <= policy.precision:
            return good
        if self._time_is_up or good >= policy.most or len(counted) >= policy.most + policy.repeats:
            return good
        # Half the width shrinks with the square root of the launches.
        likely = math.ceil(good * (half / policy.precision) ** 2) if half is not None else least
        return min(policy.most, max(good + 1, likely))

    def _stopped(self, task: Task, samples: list[Sample], counted: list[Sample], good: int) -> str | None:
        dropped = next(
            (e for e in self.store.events if e["event"] == "dropped" and e["task"] == task.id), None
        )
        if dropped:
            return f"left out: {dropped['why']}"
        # A command that failed twice running will fail again; launching it ten times teaches nobody anything.
        # One that has been seen to work fails now and then: of every sixth launch, two running are common.
        enough = 3 if any(s.good for s in samples) else 2
        if len(samples) >= enough and all(s.hopeless for s in samples[-enough:]):
            return f"failed: {samples[-1].why_hopeless}"
        if good < self.policy.launches and len(counted) >= self.policy.launches + self.policy.repeats:
            return f"no undisturbed measurement in {len(counted)} launches"
        if good < self.policy.launches <= len(counted) and self._time_is_up:
            return f"no undisturbed measurement in {len(counted)} launches, then the time was up"
        return None

    def active(self) -> list[Task]:
        return [t for t in self.plan.tasks if self.standing(t).short]

    def seconds_of(self, task: Task) -> float:
        """How long one launch takes: measured where there are launches, else the case file's estimate. Kept
        until the task has another: it is asked of every task before each launch.
        """
        count = self.store.count_of(task.id)
        known = self._seconds.get(task.id)
        if known is None or known[0] != count:
            walls = [s.system.get("wall_s") or s.record["wall_s"] for s in self.samples_of(task) if s.record]
            known = count, stats.median(walls) if walls else task.expected_s
            self._seconds[task.id] = known
        return known[1]

    def remaining_s(self) -> float:
        """Time for what is still to do if nothing is disturbed."""
        total = 0.0
        for task in self.plan.tasks:
            state = self.standing(task)
            if state.stopped is None:
                warm = 0 if self.samples_of(task) else 1
                total += self.seconds_of(task) * (warm + max(0, state.wanted - state.good))
        return total

    def spent_s(self) -> float:
        """Time that launches of this plan have taken so far, earlier processes included."""
        return (
            sum(s.system.get("wall_s") or (s.record or {}).get("wall_s") or 0.0 for s in self.store.samples)
            + self._waited
        )

    def reference_ghz(self) -> float | None:
        """The clock that drops are judged against: the median of the warm-up's readings, fixed once the
        warm-up is over.
        """
        fixed = next((e["ghz"] for e in reversed(self.store.events) if e["event"] == "clock"), None)
        if fixed is not None:
            return float(fixed)
        readings = [c for s in self.store.samples if s.record for c in taint.clock_readings(s.record)]
        return stats.median(readings) if len(readings) >= 3 else None

    # -- doing it --------------------

    def run(self) -> None:
        """Measures until every task has its undisturbed launches, or is stopped. May be called again after an
        interruption.
        """
        self._warm_up()
        self._fix_reference()
        self._fit_budget("after the warm-up")
        for block in range(1, max(self.policy.launches, self.policy.most) + 1):
            if block > self.policy.launches:
                self._look_at_budget()
            self._block(block, 0, self._not_yet_in(block))
            self._block(block, 1, self._disturbed_in(block))
            if block == 1:
                self._fit_budget("after the first block")
        attempt = 0
        while missing := self.active():
            attempt += 1
            self._block(_ROUNDS_END, attempt, missing)

    def _warm_up(self) -> None:
        cold = [t for t in self.plan.tasks if not self.samples_of(t)]
        self._block(WARM_UP, 0, cold)
        # A first failure may be bad luck; a second one stops the task before it costs more.
        self._block(WARM_UP, 1, [t for t in self.plan.tasks if self._only_failed(t)])

    def _only_failed(self, task: Task) -> bool:
        samples = self.samples_of(task)
        return len(samples) == 1 and samples[0].hopeless

    def _fix_reference(self) -> None:
        if any(e["event"] == "clock" for e in self.store.events):
            return
        ghz = self.reference_ghz()
        if ghz is not None:
            self.store.note("clock", ghz=ghz, what="median of the clock readings of the warm-up launches")

    def _fit_budget(self, when: str) -> None:
        """Leaves out optional tasks, largest `drop` first, until the estimate fits; never cuts launches."""
        budget = self.policy.budget_s
        if budget is None:
            return
        while self.spent_s() + self.remaining_s() > budget:
            optional = [t for t in self.active() if t.drop > 0]
            if not optional:
                total = self.spent_s() + self.remaining_s()
                self._watch.say(
                    f"this takes about {total:.0f} s, more than the {budget:.0f} s aimed at: "
                    "nothing optional is left to leave out"
                )
                return
            victim = max(optional, key=lambda t: (t.drop, self.seconds_of(t)))
            estimate = self.spent_s() + self.remaining_s()
            why = f"estimate {estimate:.0f} s > budget {budget:.0f} s {when}"
            self.store.note("dropped", task=victim.id, why=why)
            self._watch.say(f"left out: {victim.id} ({why})")

    def _not_yet_in(self, block: int) -> list[Task]:
        there = {s.task for s in self.store.samples if s.block == block}
        return [t for t in self.active() if t.id not in there]

    def _disturbed_in(self, block: int) -> list[Task]:
        first = {s.task for s in self.store.samples if s.block == block and s.attempt == 0 and not s.good}
        again = {s.task for s in self.store.samples if s.block == block and s.attempt > 0}
        return [t for t in self.active() if t.id in first - again]

    def _block(self, block: int, attempt: int, tasks: Iterable[Task]) -> None:
        wanted = {t.id: t for t in tasks}
        # The whole plan is shuffled and then thinned, so that a block resumed in its middle goes on in the
        # same order.
        for task_id in block_order([t.id for t in self.plan.tasks], self.policy.seed, block, attempt):
            task = wanted.get(task_id)
            if task is None or self.standing(task).stopped is not None:
                continue
            if attempt > 0 and block != WARM_UP:
                if self._no_time_to_repeat():
                    return
                last = self.samples_of(task)[-1]
                if last.tainted or not last.failed:  # a failure has nothing to do with who else is busy
                    self._be_patient()
            self._launch(task, block, attempt)

    def _launch(self, task: Task, block: int, attempt: int) -> None:
        all_standings = [self.standing(t) for t in self.plan.tasks]
        total = sum(s.wanted for s in all_standings if s.stopped is None)
        done = sum(min(s.good, s.wanted) for s in all_standings)
        self._watch.begin(task, _name(block, attempt), done, total, self.remaining_s())
        started = utc_now()
        launched = self._runner.run(task, self._watch.tick)
        reasons = taint.judge(
            launched.record or {}, self.policy.limits, self.reference_ghz(), launched.system, task.crowded
        )
        sample = Sample(
            task=task.id,
            block=block,
            attempt=attempt,
            time=started,
            record=launched.record,
            result=launched.result,
            tainted=tuple(r.to_dict() for r in reasons),
            failed=launched.failed,
            system=launched.system,
        )
        self.store.add(sample)
        self._watch.ended(task, sample)

    def _look_at_budget(self) -> None:
        """Launches beyond those that each task has in any case are made only while the budget lasts."""
        budget = self.policy.budget_s
        if budget is None or self._time_is_up:
            return
        wanting = self.active()
        block = sum(self.seconds_of(t) for t in wanting)
        if block and time.monotonic() - self._started + block > budget:
            self._time_is_up = True
            self._watch.say(f"the {budget:.0f} s aimed at are over: {len(wanting)} tasks stay less precise")

    def _no_time_to_repeat(self) -> bool:
        """Every task gets its launches; repeats of disturbed ones only while the budget lasts, so that a run
        on a machine that is never quiet ends about when it said.
        """
        budget = self.policy.budget_s
        if budget is not None and not self._time_is_up and time.monotonic() - self._started > budget:
            self._time_is_up = True
            self._watch.say(
                f"the {budget:.0f} s aimed at are over: disturbed launches are not repeated any more"
            )
        return self._time_is_up

    # -- waiting --------------------

    def _be_patient(self) -> None:
        left = self.policy.patience_s - self._waited
        if left <= 0:
            return
        waited = self._settle(left)
        if waited > 1.0:
            self._waited += waited
            self.store.note("waited", seconds=round(waited, 1))

    def _wait_for_quiet(self, patience_s: float) -> float:
        return quiet.wait_until_quiet(os.sched_getaffinity(0), patience_s, self._watch.wait)


def _name(block: int, attempt: int) -> str:
    if block == WARM_UP:
        return "warm-up"
    if block == _ROUNDS_END:
        return f"repeat round {attempt}"
    return f"block {block}" if attempt == 0 else f"block {block}, repeat"


def reasons_of(samples: Iterable[Sample]) -> dict[str, int]:
    """How often each reason tainted a launch."""
    counts: dict[str, int] = {}
    for sample in samples:
        for code in {str(r["code"]) for r in sample.tainted}:
            counts[code] = counts.get(code, 0) + 1
    return counts
