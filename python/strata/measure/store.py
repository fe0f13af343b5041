"""A results folder: plan, machine, provenance, journals, index, summary and report, and the rules by which
one is continued.

<results>/plan.json         tasks and policy, fixed before the first launch
          machine.json      `strata machine --json` at the start
          provenance.json   what else was the case: revision, environment, start and end
          journal/*.jsonl   the samples; the truth
          index.sqlite      rebuilt from the journals at any time
          summary.json, report/
          work/PID          the launch in flight; removed after it, or by the next run after a kill
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata import own_folders, scripts
from strata.errors import FAILED, StrataError
from strata.measure import plan as plans
from strata.measure import taint
from strata.measure.files import read_json, storage_error, sweep_leftovers, write_json
from strata.measure.journal import Journal, Line, read_journals, utc_now

SAMPLE = "strata.sample/1"
EVENT = "strata.event/1"
ADDED = "task"  # the event that says a task joined after the plan was made
_REMEDY = "restore the file, or start a new results folder with --new"


@dataclass(frozen=True)
class Sample:
    """One launch as it stands in a journal."""

    task: str
    block: int  # 0 is the warm-up, which never counts
    attempt: int  # 0 first, then its repeats
    time: str
    record: dict[str, Any] | None
    result: dict[str, Any] | None
    tainted: tuple[dict[str, Any], ...]
    failed: str | None
    system: dict[str, Any]
    exceeds: tuple[str, ...] | None = None  # codes of the reasons beyond the background; None: all of them

    @property
    def good(self) -> bool:
        """Neither disturbed nor failed."""
        return not self.tainted and not self.failed

    @property
    def usable(self) -> bool:
        """It has a verified figure of its layout: neither failed, nor ended by its time limit, nor
        misplaced.
        """
        return not self.failed and not any(r["code"] in taint.UNUSABLE for r in self.tainted)

    @property
    def steady(self) -> bool:
        """Usable, and no more disturbed than the machine always is: it need not be repeated."""
        return self.usable and not self.beyond

    @property
    def beyond(self) -> tuple[str, ...]:
        """Codes of the reasons for which it is more disturbed than the machine always is."""
        return tuple(str(r["code"]) for r in self.tainted) if self.exceeds is None else self.exceeds

    @property
    def wall_s(self) -> float:
        """How long the launch took, as this process saw it, or as the launcher did."""
        return float(self.system.get("wall_s") or (self.record or {}).get("wall_s") or 0.0)

    @property
    def hopeless(self) -> bool:
        """Failed, or ended by its time limit: twice running, and the next launch will do the same."""
        return self.failed is not None or any(r["code"] == "timed-out" for r in self.tainted)

    @property
    def why_hopeless(self) -> str:
        return self.failed or next((str(r["text"]) for r in self.tainted if r["code"] == "timed-out"), "")

    def to_dict(self) -> dict[str, Any]:
        entry = {"schema": SAMPLE, **self.__dict__, "tainted": list(self.tainted)}
        if self.exceeds is None:
            del entry["exceeds"]
        return entry


def sample_from(line: Line) -> Sample:
    """The sample on a line of a journal. Raises StrataError where the line lacks a key."""
    entry = line.entry
    try:
        return Sample(
            task=entry["task"],
            block=entry["block"],
            attempt=entry["attempt"],
            time=entry["time"],
            record=entry["record"],
            result=entry["result"],
            tainted=tuple(entry["tainted"]),
            failed=entry["failed"],
            system=entry.get("system") or {},
            exceeds=tuple(entry["exceeds"]) if entry.get("exceeds") is not None else None,
        )
    except (KeyError, TypeError) as error:
        raise StrataError(
            "damaged results file: a sample lacks a key",
            at=f"{line.path}:{line.number}",
            given=str(error),
            remedy=_REMEDY,
            code=FAILED,
        ) from None


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without Python's collector: what JSON makes has no cycles, and looking for them in 100 000 samples
    again and again takes twice as long as reading them.
    """
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


class Store:
    """One results folder, open for appending by this process."""

    def __init__(self, path: Path, plan: plans.Plan) -> None:
        self.path = path
        self.plan = plan
        self.journal = Journal(path / "journal", plan.hash)
        self._events: list[dict[str, Any]] = []
        self._samples: list[Sample] = []
        self._by_task: dict[str, list[Sample]] = {}
        with _uncollected():
            for line in read_journals(path / "journal"):
                schema = line.entry.get("schema")
                if schema == SAMPLE:
                    self._samples.append(sample_from(line))
                elif schema == EVENT:
                    self._events.append(line.entry)
        self._samples.sort(key=lambda s: s.time)
        for sample in self._samples:
            self._by_task.setdefault(sample.task, []).append(sample)

    @property
    def samples(self) -> list[Sample]:
        """All samples in the order in which they were taken."""
        return list(self._samples)

    def samples_of(self, task: str) -> list[Sample]:
        return list(self._by_task.get(task, ()))

    def count_of(self, task: str) -> int:
        return len(self._by_task.get(task, ()))

    @property
    def events(self) -> list[dict[str, Any]]:
        """Decisions that a resumed run must repeat: tasks left out, the reference clock, interruptions."""
        return list(self._events)

    def events_named(self, name: str) -> list[dict[str, Any]]:
        return [e for e in self._events if e["event"] == name]

    @property
    def count_of_events(self) -> int:
        return len(self._events)

    def add(self, sample: Sample) -> None:
        self.journal.append(sample.to_dict())
        self._samples.append(sample)
        self._by_task.setdefault(sample.task, []).append(sample)

    def note(self, event: str, **facts: Any) -> None:
        entry = {"schema": EVENT, "event": event, "time": utc_now(), **facts}
        self.journal.append(entry)
        self._events.append(entry)

    def add_task(self, task: plans.Task) -> None:
        """A task that the plan does not have: a search has come to it."""
        self.note(ADDED, task=plans.task_to_dict(task))

    @property
    def tasks(self) -> list[plans.Task]:
        """Those of the plan, and those that were added since."""
        added = [plans.task_from_dict(e["task"]) for e in self.events_named(ADDED)]
        known = {task.id for task in self.plan.tasks}
        return [*self.plan.tasks, *(task for task in added if task.id not in known)]

    def close(self) -> None:
        self.journal.close()


def create(path: Path, plan: plans.Plan, machine: Mapping[str, Any], provenance: Mapping[str, Any]) -> Store:
    """A new results folder. plan.json comes last: a folder that has it is complete as a beginning."""
    if (path / "plan.json").exists():
        raise StrataError("a plan is there already", at=str(path), remedy="give --out another folder")
    try:
        own_folders.make_results(path)  # by itself: a link of a stranger's at the end of what was named
        own_folders.make_results(path / "journal")
    except OSError as error:
        raise storage_error(error, path) from error
    write_json(path / "machine.json", machine)
    write_json(path / "provenance.json", provenance)
    write_json(path / "plan.json", plans.dump(plan))
    return Store(path, plan)


def read_plan(path: Path) -> plans.Plan:
    """The plan of a results folder. Raises StrataError where the folder is none."""
    if not (path / "plan.json").exists():
        raise no_results(path)
    return plans.load(read_json(path / "plan.json", plans.SCHEMA, _REMEDY), path / "plan.json")


def read_facts(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The machine and the provenance of a results folder."""
    return (
        read_json(path / "machine.json", "strata.machine/1", _REMEDY),
        read_json(path / "provenance.json", "strata.provenance/1", _REMEDY),
    )


def no_results(path: Path) -> StrataError:
    """The error for a folder that holds no results, or is none."""
    said = "there is no such folder" if not path.exists() else "not a results folder"
    given = "a file" if path.is_file() else "a folder without plan.json" if path.exists() else None
    remedy = "`strata characterize` and `strata study run` print where their results are"
    return StrataError(said, at=str(path), given=given, allowed="a folder of results", remedy=remedy)


def open_existing(path: Path, *, sweep: bool = True) -> Store:
    """An existing results folder, swept of what killed processes left in it."""
    plan = read_plan(path)
    if sweep:
        sweep_leftovers(path)
    return Store(path, plan)


def resume(path: Path, plan: plans.Plan, *, accept_change: bool = False) -> Store:
    """Goes on in this folder when it holds the same plan for the same machine and binaries, or when told to
    all the same.
    """
    own_folders.need_not_put(path)
    old = read_plan(path)
    read_facts(path)  # damage is told before hours of launches, not after
    if old.hash == plan.hash:
        return open_existing(path)
    changed = ", ".join(plans.differences(old, plan)) or "plan"
    if not accept_change:
        raise StrataError(
            f"these results are of something else: changed since then: {changed}",
            at=str(path),
            given=f"plan {plan.hash}",
            allowed=f"plan {old.hash}",
            remedy="another folder (--out), a new one (--new), or --accept-change to mix them knowingly",
        )
    store = Store(path, plan.with_seed(old.policy.seed))
    store.note("changed", what=changed, before=old.hash, after=plan.hash)
    write_json(path / "plan.json", plans.dump(store.plan))
    sweep_leftovers(path)
    return store


def find_unfinished(base: Path, plan: plans.Plan, say: Callable[[str], None]) -> Path | None:
    """The newest folder under base that holds this plan and is not finished. Damaged ones are passed over,
    and with a word those that another user can change: what was measured there may be made up.
    """
    found = []
    for candidate in base.glob("*/plan.json"):
        folder = candidate.parent
        try:
            if read_plan(folder).hash != plan.hash or is_finished(folder):
                continue
        except StrataError:
            continue
        if why := own_folders.replaceable(folder):
            say(scripts.visible(f"not resuming {folder}: {why} (--out names it all the same)"))
            continue
        found.append(candidate)
    newest = max(found, key=lambda p: p.stat().st_mtime, default=None)
    return newest.parent if newest else None


def is_finished(path: Path) -> bool:
    """summary.json is written when everything was measured; the report comes after it."""
    return (path / "summary.json").exists() and (path / "report" / "report.html").exists()
