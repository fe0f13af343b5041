"""The loop: warm-up, blocks in shuffled order, repeats of what was disturbed, and when to give up.

It knows tasks by name only. What a task is stays with the runner, how often and when stays here, what counts
stays with taint: studies bring other tasks and another stopping rule, and keep the rest.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from strata.measure import background, quiet, stats
from strata.measure.background import Background
from strata.measure.launching import Judge, launch_once
from strata.measure.order import block_order
from strata.measure.plan import Task
from strata.measure.progress import Step, Words, by_name, duration
from strata.measure.runner import Runner
from strata.measure.standings import REPORTING, ROUNDS_END, WARM_UP, Standings
from strata.measure.store import Sample, Store

_UNSURE = 1.5  # times the budget: what a plan's estimates may exceed it before anything ran
_COLD = 1.15  # likewise after the warm-up, whose launches read their files for the first time
_LISTED = 3  # settings that are left out, by their names; the report has all
_KEPT = 0.05  # of the budget: not for repeats while there are blocks to come


class Watcher(Protocol):
    """Who shows progress. All calls are cheap; tick() comes while a program is measured."""

    def begin(self, task: Task, step: Step) -> None: ...
    def tick(self) -> None: ...
    def ended(self, task: Task, sample: Sample) -> None: ...
    def say(self, text: str) -> None: ...
    def wait(self, text: str) -> None: ...


class Campaign(Standings):
    """One plan being measured into one store."""

    def __init__(
        self,
        store: Store,
        runner: Runner,
        watcher: Watcher,
        *,
        settle: Callable[[float], float] | None = None,
        look: Callable[[], Background | None] | None = None,
        after_block: Callable[[], None] = lambda: None,
        block_s: float = 0.0,
        began: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        words: Words = by_name,
    ) -> None:
        """`look` measures the background. `after_block` is called when a block has ended, and takes about
        `block_s`; so does what comes after the last launch. The budget counts from `began` on that `clock`.
        `words` says what a task is.
        """
        super().__init__(store)
        self._runner = runner
        self._watch = watcher
        self._settle = settle or self._wait_for_quiet
        self._look = look or self._look_at_background
        self._after_block = after_block
        self._clock = clock
        self._words = words
        self._waited = 0.0  # by this process: whoever starts it again has patience again
        self._began = clock() if began is None else began
        self.block_s = block_s  # what the last call of after_block took
        self._last_block = self._began

    def spent_s(self) -> float:
        """Time since this command began: whoever starts it again has the whole budget again."""
        return self._clock() - self._began

    def run(self) -> None:
        """Measures until every task has launches enough that need no repeat, or is stopped. May be called
        again after an interruption.
        """
        self._fit_budget("by the plan's estimates", _UNSURE)
        self._warm_up()
        self._fix_reference()
        self._watch_background()
        self._fit_budget("after the warm-up", _COLD)
        for block in range(1, max(self.policy.launches, self.policy.most) + 1):
            if block > self.launches:
                self._look_at_budget()
            before = len(self.store.samples)
            self._block(block, 0, self._not_yet_in(block))
            self._block(block, 1, self._disturbed_in(block))
            if len(self.store.samples) > before:
                self._end_block(block)
        attempt = 0
        while missing := self.active():
            attempt += 1
            self._block(ROUNDS_END, attempt, missing)

    def _end_block(self, block: int) -> None:
        began = self._clock()
        if began - self._last_block >= self.block_s / REPORTING or block == 1:
            self._after_block()
            self._last_block = self._clock()
            self.block_s = self._last_block - began
        self._fit_budget(f"after block {block}")

    def _watch_background(self) -> None:
        """Once for a plan, before the first launch that counts: whoever resumes it goes on with the same."""
        if self.store.events_named("background") or any(s.block != WARM_UP for s in self.store.samples):
            return
        seen = self._look()
        if seen is None:
            return
        self.store.note("background", **seen.to_dict())
        told = seen.in_words(self.policy.limits)
        if told and not self.policy.strict:
            self._watch.say(
                f"before the first launch that counts, {told}; launches that are disturbed by more are "
                "repeated, and a disturbed answer says so"
            )

    def _look_at_background(self) -> Background | None:
        return background.measure(os.sched_getaffinity(0), background.seconds_for(self.remaining_s()))

    def _warm_up(self) -> None:
        cold = [t for t in self.plan.tasks if self.warm_ups(t)]
        self._block(WARM_UP, 0, cold)
        # A first failure may be bad luck; a second one stops the task before it costs more.
        self._block(WARM_UP, 1, [t for t in self.plan.tasks if self._only_failed(t)])

    def _only_failed(self, task: Task) -> bool:
        samples = self.samples_of(task)
        return len(samples) == 1 and samples[0].hopeless

    def _fix_reference(self) -> None:
        if self.store.events_named("clock"):
            return
        ghz = self.reference_ghz()
        if ghz is not None:
            self.store.note("clock", ghz=ghz, what="median of the clock readings of the warm-up launches")

    def _fit_budget(self, when: str, times: float = 1.0) -> None:
        """Fewer launches, but never fewer than an interval needs; then tasks are left out, largest `drop`
        first, until the estimate fits so many times the budget. One task is measured in any case.
        """
        if self.policy.budget_s is None:
            return
        budget = times * self.policy.budget_s
        self._fewer_launches(budget, when)
        dropped: list[Task] = []
        while (estimate := self.spent_s() + self.unrepeated_s()) > budget:
            to_come = [t for t in self.active() if self.blocks_of(t) < self.launches_of(t)]
            if len(to_come) < 2:
                break
            victim = max(to_come, key=lambda t: (t.drop, self.seconds_of(t)))
            why = f"estimate {estimate:.0f} s > budget {self.policy.budget_s:.0f} s {when}"
            self.store.note("dropped", task=victim.id, why=why)
            dropped.append(victim)
        if dropped:
            names = [self._words(task) for task in dropped]
            more = f"; and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            listed = "; ".join(names[:_LISTED])
            self._watch.say(f"left out, to end within {duration(self.policy.budget_s)}: {listed}{more}")

    def _fewer_launches(self, budget: float, when: str) -> None:
        least = stats.LEAST if self.policy.precision is None else self.policy.launches
        done = max((self.blocks_of(t) for t in self.plan.tasks), default=0)
        each = sum(self.seconds_of(t) for t in self.active() if not t.launches) + self.block_s
        over = self.spent_s() + self.unrepeated_s() - budget
        wanted = (
            max(least, done, self.launches - math.ceil(over / each))
            if over > 0 and each > 0
            else self.launches
        )
        if wanted < self.launches:
            why = f"estimate {budget + over:.0f} s > budget {budget:.0f} s {when}"
            self._watch.say(
                f"{wanted} launches of each setting instead of {self.launches}, to end within "
                f"{duration(self.policy.budget_s or 0.0)}"
            )
            self.store.note("fewer", launches=wanted, why=why)

    def _not_yet_in(self, block: int) -> list[Task]:
        there = {s.task for s in self.store.samples if s.block == block}
        return [t for t in self.active() if t.id not in there]

    def _disturbed_in(self, block: int) -> list[Task]:
        inside = [s for s in self.store.samples if s.block == block]
        first = {
            s.task for s in inside if not (s.good if self.policy.strict else s.steady) and s.attempt == 0
        }
        again = {s.task for s in inside if s.attempt > 0}
        return [t for t in self.active() if t.id in first - again]

    def _block(self, block: int, attempt: int, tasks: Iterable[Task]) -> None:
        wanted = {t.id: t for t in tasks}

        def to_come(task_id: str) -> bool:
            return task_id in wanted and self.standing(wanted[task_id]).stopped is None

        # The whole plan is shuffled and then thinned, so that a block resumed in its middle goes on in the
        # same order.
        order = block_order([t.id for t in self.plan.tasks], self.policy.seed, block, attempt)
        numbers = {task_id: n for n, task_id in enumerate((i for i in order if to_come(i)), start=1)}
        for task_id in order:
            if not to_come(task_id):
                continue
            task = wanted[task_id]
            if attempt > 0 and block != WARM_UP:
                if not self._may_repeat(task, block):
                    return
                last = self.samples_of(task)[-1]
                if last.tainted or not last.failed:  # a failure has nothing to do with who else is busy
                    self._be_patient()
            self._launch(task, block, attempt, f"{numbers[task_id]} of {len(numbers)}")

    def _launch(self, task: Task, block: int, attempt: int, place: str) -> None:
        if 0 < block < ROUNDS_END:
            # How many rounds a wanted precision takes is not known beforehand.
            place += f", round {block}" + ("" if self.policy.precision else f" of {self.launches}")
        self._watch.begin(task, Step(_doing(block, attempt), place, self.remaining_s()))
        judge = Judge(self.policy.limits, self.limits, self.reference_ghz())
        sample = launch_once(self._runner, self._with_choice(task), block, attempt, judge, self._watch.tick)
        self.store.add(sample)
        self._watch.ended(task, sample)

    def _with_choice(self, task: Task) -> Task:
        """The task with the value of its option that the warm-up launch has chosen."""
        if not task.once:
            return task
        results = (s.result for s in self.samples_of(task) if s.result)
        chosen = next((v for r in results if (v := (r.get("parameters") or {}).get(task.once))), None)
        return replace(task, command=(*task.command, f"--{task.once}", str(chosen))) if chosen else task

    def _look_at_budget(self) -> None:
        """Launches beyond those that each task has in any case are made only while the budget lasts."""
        budget = self.policy.budget_s
        if budget is None or self.time_is_up:
            return
        wanting = self.active()
        block = sum(self.seconds_of(t) for t in wanting)
        if block and self.spent_s() + block + 2 * self.block_s > budget:
            self.time_is_up = True
            self._watch.say(
                f"the time of {duration(budget)} is over: {len(wanting)} settings stay less precise than "
                "asked"
            )

    def _slack_s(self) -> float:
        """What the budget has left beside the launches that come in any case."""
        budget = self.policy.budget_s
        return math.inf if budget is None else budget - self.spent_s() - self.unrepeated_s()

    def _may_repeat(self, task: Task, block: int) -> bool:
        """Every task gets its launches; disturbed ones are repeated only in time that the others leave, but
        for a part that is kept for launches that take longer than those before.
        """
        kept = _KEPT * (self.policy.budget_s or 0.0) if block != ROUNDS_END else 0.0
        if not self.time_is_up and self._slack_s() >= self.seconds_of(task) + kept:
            return True
        if block == ROUNDS_END and not self.time_is_up:
            self.time_is_up = True
            self._watch.say(
                f"the time of {duration(self.policy.budget_s or 0.0)} is over: disturbed launches are not "
                "repeated any more"
            )
        return False

    # -- waiting --------------------

    def _be_patient(self) -> None:
        left = min(self.policy.patience_s - self._waited, self._slack_s())
        if left <= 0:
            return
        waited = self._settle(left)
        if waited > 1.0:
            self._waited += waited
            self.store.note("waited", seconds=round(waited, 1))

    def _wait_for_quiet(self, patience_s: float) -> float:
        always = background.ROOM * sum(self.background.others.values()) if self.background else 0.0
        return quiet.wait_until_quiet(os.sched_getaffinity(0), patience_s, self._watch.wait, always)


def _doing(block: int, attempt: int) -> str:
    if block == WARM_UP:
        return "warming up:"
    return "measuring" if attempt == 0 else "repeating"
