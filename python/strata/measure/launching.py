"""One launch: started, and judged by limits that were fixed beforehand.

A campaign launches its plan in blocks, a tuning the layouts of a race in rounds; both launch here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from strata.measure import taint
from strata.measure.journal import utc_now
from strata.measure.plan import Task
from strata.measure.runner import Runner
from strata.measure.store import Sample
from strata.measure.taint import Limits


@dataclass(frozen=True)
class Judge:
    """By what a launch is judged."""

    limits: Limits  # above these it is disturbed
    raised: Limits  # above these it is more disturbed than the machine always is
    clock_ghz: float | None  # what a drop of the clock is judged against; None: not known yet


def launch_once(
    runner: Runner, task: Task, block: int, attempt: int, judge: Judge, tick: Callable[[], None]
) -> Sample:
    """Launches the task once and judges it; tick() is called while it runs."""
    started = utc_now()
    launched = runner.run(task, tick)

    def reasons_by(limits: Limits) -> list[taint.Reason]:
        return taint.judge(launched.record or {}, limits, judge.clock_ghz, launched.system, task.crowded)

    reasons = reasons_by(judge.limits)
    beyond = reasons_by(judge.raised) if reasons else []
    return Sample(
        task=task.id,
        block=block,
        attempt=attempt,
        time=started,
        record=launched.record,
        result=launched.result,
        tainted=tuple(r.to_dict() for r in reasons),
        failed=launched.failed,
        system=launched.system,
        exceeds=tuple(r.code for r in beyond) if len(beyond) < len(reasons) else None,
    )
