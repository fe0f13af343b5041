"""`strata study status`: how far a study is, also while it runs, from its folder alone."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from strata.characterize.words import of_task
from strata.measure import grade, stats, store
from strata.measure.figures import headline
from strata.measure.progress import duration
from strata.measure.standings import Standings, TaskState


@dataclass(frozen=True)
class Status:
    """How far a results folder is."""

    folder: Path
    state: str  # "running", "finished" or "interrupted"
    tasks: list[tuple[TaskState, float | None]]  # with half the headline's interval over its median
    launches: int
    tainted: int
    failed: int
    spent_s: float
    remaining_s: float
    precision: float | None


def status(folder: Path) -> Status:
    """Reads the folder; changes nothing. Raises StrataError where it is no results folder."""
    opened = store.open_existing(folder, sweep=False)
    try:
        standings = Standings(opened)
        tasks = []
        for task in opened.plan.tasks:
            counted = [s for s in opened.samples_of(task.id) if s.block]
            policy = opened.plan.policy
            answer = grade.answer(counted, policy.limits, task.launches or stats.LEAST, policy.strict)
            values = [v for s in answer.samples if (v := headline(task, s)) is not None]
            tasks.append(
                (standings.standing(task), stats.estimate(values, most=opened.plan.policy.looks).half_width)
            )
        counted = [s for s in opened.samples if s.block]
        return Status(
            folder,
            _state(folder),
            tasks,
            len(counted),
            sum(bool(s.tainted) for s in counted),
            sum(s.failed is not None for s in counted),
            standings.launched_s(),
            standings.remaining_s(),
            opened.plan.policy.precision,
        )
    finally:
        opened.close()


def _state(folder: Path) -> str:
    launching = any(p.name.isdigit() and Path(f"/proc/{p.name}").exists() for p in folder.glob("work/*"))
    if launching or any(_is_open(path) for path in folder.glob("journal/*.jsonl")):
        return "running"
    return "finished" if store.is_finished(folder) else "interrupted"


def _is_open(journal: Path) -> bool:
    """Whether the process that made this journal still holds it: also between launches, and while it waits
    for a quiet machine. Journals are named HOST-PID-TIME-NANOSECONDS.
    """
    words = journal.stem.rsplit("-", 3)
    if len(words) != 4 or not words[1].isdigit():
        return False
    with suppress(OSError):  # it has ended meanwhile, or is somebody else's
        return any(fd.exists() and fd.samefile(journal) for fd in Path(f"/proc/{words[1]}/fd").iterdir())
    return False


def text(found: Status) -> str:
    """The status for people."""
    out = f"{found.folder}: {found.state}\n"
    names = [of_task(s.task) for s, _ in found.tasks]
    width = max(map(len, names), default=0)
    for name, (standing, half) in zip(names, found.tasks, strict=True):
        known = "" if half is None else f"+-{100 * half:.2g} %"
        said = (standing.stopped or "").splitlines()
        if said and said[0].startswith("left out: "):
            said = ["left out to end in time"]
        why = f"  {said[0]}" if said else ""
        done = f"{standing.enough:>3} of {standing.wanted:<3} launches"
        out += f"  {name:<{width}}  {done}  {known:<9}{why}"
        out = out.rstrip() + "\n"
    out += f"{found.launches} launches, {found.tainted} disturbed, {found.failed} failed"
    out += f"; they took {duration(found.spent_s)}"
    if found.precision is not None:
        out += f"; each is to be known to +-{100 * found.precision:g} %"
    if found.state != "finished":
        out += f", about {duration(found.remaining_s)} to go"
    return out + "\n"
