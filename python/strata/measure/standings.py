"""How the tasks of a results folder stand: how often each was launched, how often it is to be, what it takes.

All of it follows from the plan and the journals, so a run that is resumed, its status and its summary agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from strata.measure import figures, stats, taint
from strata.measure.background import Background
from strata.measure.plan import Plan, Task
from strata.measure.store import Sample, Store

WARM_UP = 0
ROUNDS_END = 10**6  # block number of the repeats after the last block
REPORTING = 0.05  # of the time: what is done after blocks takes no more of it than this


@dataclass(frozen=True)
class TaskState:
    """How often one task was launched, and whether it needs more."""

    task: Task
    good: int  # launches that were not disturbed
    enough: int  # launches that need no repeat: not disturbed, or no more than the machine always is
    launches: int  # warm-up not counted
    stopped: str | None  # why it is not launched any more
    wanted: int  # launches that need no repeat, by what is known now

    @property
    def short(self) -> bool:
        return self.stopped is None and self.enough < self.wanted


class Standings:
    """What is known so far of a plan that is being measured, or was."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.plan: Plan = store.plan
        self.policy = store.plan.policy
        self.block_s = 0.0  # what is done after a block takes so long
        self.time_is_up = False  # for repeats, as this process finds
        self._standings: dict[str, tuple[tuple[int, int, bool], TaskState]] = {}
        self._seconds: dict[str, tuple[int, float]] = {}

    def samples_of(self, task: Task) -> list[Sample]:
        return self.store.samples_of(task.id)

    def standing(self, task: Task) -> TaskState:
        """How the task stands; kept until a sample or a decision is added, since it is asked for often."""
        key = (self.store.count_of(task.id), self.store.count_of_events, self.time_is_up)
        known = self._standings.get(task.id)
        if known is None or known[0] != key:
            known = self._standings[task.id] = key, self._stand(task)
        return known[1]

    def all(self) -> list[TaskState]:
        """How each task of the plan stands."""
        return [self.standing(task) for task in self.plan.tasks]

    def _stand(self, task: Task) -> TaskState:
        samples = self.samples_of(task)
        counted = [s for s in samples if s.block != WARM_UP]
        good = sum(s.good for s in counted)
        enough = good if self.policy.strict else sum(s.steady for s in counted)
        stopped = self._stopped(task, samples, counted, enough)
        wanted = self._wanted(task, counted, enough)
        return TaskState(task, good, enough, len(counted), stopped, wanted)

    @property
    def launches(self) -> int:
        """Launches of each task that count, if it names no number of its own: the policy's, or fewer where a
        budget is too small for them.
        """
        events = self.store.events_named("fewer")
        return int(events[-1]["launches"]) if events else self.policy.launches

    def launches_of(self, task: Task) -> int:
        return task.launches or self.launches

    @property
    def background(self) -> Background | None:
        """What others took before the first launch that counts; None where nobody has looked yet, or can."""
        known = self.store.events_named("background")
        return Background.from_dict(known[0]) if known else None

    @property
    def limits(self) -> taint.Limits:
        """The limits above which a launch shows more than the background, and is repeated."""
        seen = None if self.policy.strict else self.background
        return seen.raised(self.policy.limits) if seen else self.policy.limits

    def _wanted(self, task: Task, counted: list[Sample], good: int) -> int:
        """How many launches that need no repeat the task is to have: the policy's, or as many as its
        headline's interval is likely to need for the policy's precision.
        """
        least, policy = self.launches_of(task), self.policy
        if policy.precision is None or good < least:
            return least
        headlines = [figures.headline(task, s) for s in counted if (s.good if policy.strict else s.steady)]
        values = [v for v in headlines if v is not None]
        level = stats.simultaneous(policy.compared)
        half = stats.estimate(values, level, policy.most).half_width if values else None
        if half is not None and half <= policy.precision:
            return good
        if self.time_is_up or good >= policy.most or len(counted) >= policy.most + policy.repeats:
            return good
        # Half the width shrinks with the square root of the launches.
        likely = math.ceil(good * (half / policy.precision) ** 2) if half is not None else least
        return min(policy.most, max(good + 1, likely))

    def _stopped(self, task: Task, samples: list[Sample], counted: list[Sample], enough: int) -> str | None:
        dropped = next((e for e in self.store.events_named("dropped") if e["task"] == task.id), None)
        if dropped:
            return f"left out: {dropped['why']}"
        # A command that failed twice running will fail again; launching it ten times teaches nobody anything.
        # One that has been seen to work fails now and then: of every sixth launch, two running are common.
        running = 3 if any(s.usable for s in samples) else 2
        if len(samples) >= running and all(s.hopeless for s in samples[-running:]):
            return f"failed: {samples[-1].why_hopeless}"
        launches = self.launches_of(task)
        if enough < launches and len(counted) >= launches + self.policy.repeats:
            return f"disturbed in {len(counted) - enough} of {len(counted)} launches"
        if enough < launches <= len(counted) and self.time_is_up:
            return f"disturbed in {len(counted) - enough} of {len(counted)} launches, then the time was up"
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
            samples = [s for s in self.samples_of(task) if s.record]
            # A warm-up reads files for the first time, and may choose what the others are told.
            walls = [s.wall_s for s in samples if s.block != WARM_UP] or [s.wall_s for s in samples]
            known = count, stats.median(walls) if walls else task.expected_s
            self._seconds[task.id] = known
        return known[1]

    def remaining_s(self) -> float:
        """Time for what is still to do if nothing is disturbed."""
        total = 0.0
        for task in self.plan.tasks:
            state = self.standing(task)
            if state.stopped is None:
                total += self.seconds_of(task) * (self.warm_ups(task) + max(0, state.wanted - state.enough))
        return total

    def warm_ups(self, task: Task) -> int:
        return 0 if task.launches or self.samples_of(task) else 1

    def unrepeated_s(self) -> float:
        """Time for the launches that each task still has in any case, repeats left out, and for what follows
        blocks and the end.
        """
        total = 0.0
        for task in self.plan.tasks:
            if self.standing(task).stopped is None:
                to_come = self.launches_of(task) - self.blocks_of(task)
                total += self.seconds_of(task) * (self.warm_ups(task) + max(0, to_come))
        return total * (1 + REPORTING * (self.block_s > 0)) + self.block_s

    def blocks_of(self, task: Task) -> int:
        """In how many blocks the task has been launched."""
        return len({s.block for s in self.samples_of(task) if s.block not in (WARM_UP, ROUNDS_END)})

    def reference_ghz(self) -> float | None:
        """The clock that drops are judged against: the median of the warm-up's readings, fixed once the
        warm-up is over.
        """
        fixed = self.store.events_named("clock")
        if fixed:
            return float(fixed[-1]["ghz"])
        readings = [c for s in self.store.samples if s.record for c in taint.clock_readings(s.record)]
        return stats.median(readings) if len(readings) >= 3 else None

    def launched_s(self) -> float:
        """Time that all launches of this plan have taken, those of earlier processes included."""
        return sum(s.wall_s for s in self.store.samples)


def reasons_of(samples: Iterable[Sample]) -> dict[str, int]:
    """How often each reason tainted a launch."""
    counts: dict[str, int] = {}
    for sample in samples:
        for code in {str(r["code"]) for r in sample.tainted}:
            counts[code] = counts.get(code, 0) + 1
    return counts
