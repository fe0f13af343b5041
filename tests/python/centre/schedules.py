"""Schedules whose hours are known, written in each form of logs of jobs, as sites write them.

A schedule is made first: who ran what, on how many processors, from when to when. Its hours are sums of a
plain loop. The writers (written_logs.py) know the forms, with their traps (steps, arrays, components,
requeues, resizes, time zones, columns in any order), and nothing of the hours.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

USERS = ("ada", "bob", "jörg", "o'neil", "a b", "x-1")
QUEUES = ("batch", "long", "gpu", "large,debug")
ZONES = ("UTC", "Europe/Berlin", "America/Denver", "Australia/Lord_Howe", "Asia/Kolkata")
# As Slurm writes them, with what they mean to Strata. Of those without an end: RUNNING and its like.
OVER = ("COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "REVOKED")
OVER += ("CANCELLED", "CANCELLED by 1001", "CANCELLED+")
AGAIN = ("REQUEUED", "PREEMPTED", "NODE_FAIL")
ON = ("RUNNING", "SUSPENDED", "COMPLETING")


@dataclass
class Run:
    """From `start` to `end` on `cores` of `nodes`; `parts`: the components of a heterogeneous job. `held`:
    seconds in which it was not suspended. An end that is None: it runs on until observation ends.
    """

    start: int
    end: int | None
    cores: int
    nodes: int
    state: str
    parts: tuple[int, ...] = ()
    held: int | None = None


@dataclass
class Job:
    """All runs of a job. `resized`: they are one run with other widths. A job that waited has none."""

    number: int
    user: str
    queue: str
    submit: int
    runs: list[Run] = field(default_factory=list)
    resized: bool = False
    task: int | None = None  # of an array


@dataclass
class Schedule:
    zone: str
    begin: int
    end: int  # of observation
    jobs: list[Job]

    def hours(self) -> dict[str, dict[str, float]]:
        """Processor-hours by user, queue and month of the zone, to the second; and of all, under "all"."""
        found: dict[str, dict[str, float]] = {
            key: defaultdict(float) for key in ("user", "queue", "month", "all")
        }
        for job in self.jobs:
            for run in job.runs:
                stop = self.end if run.end is None else run.end
                share = 1.0 if run.held is None else run.held / (stop - run.start)
                for month, seconds in self._months(run.start, stop):
                    amount = run.cores * share * seconds / 3600
                    for key, name in (
                        ("user", job.user),
                        ("queue", job.queue),
                        ("month", month),
                        ("all", ""),
                    ):
                        found[key][name] += amount
        return found

    def _months(self, start: int, stop: int) -> Iterator[tuple[str, int]]:
        zone = ZoneInfo(self.zone)
        while start < stop:
            here = datetime.fromtimestamp(start, zone)
            year, month = here.year + here.month // 12, here.month % 12 + 1
            cut = min(stop, int(datetime(year, month, 1, tzinfo=zone).timestamp()))
            yield f"{here:%Y-%m}", cut - start
            start = cut

    def starts(self) -> int:
        return sum(1 if job.resized else len(job.runs) for job in self.jobs)


def _said(when: int, zone: ZoneInfo) -> bool:
    """Whether a zone's clock says this time, and no other one."""
    here = datetime.fromtimestamp(when, zone).replace(tzinfo=None)
    return here.replace(tzinfo=zone, fold=0).timestamp() == here.replace(tzinfo=zone, fold=1).timestamp()


def schedule(seed: int, count: int = 40) -> Schedule:
    """Some weeks about a change of the clocks of 2026, of jobs of all kinds."""
    chance = random.Random(seed)
    zone = chance.choice(ZONES)
    begin = chance.choice((1774000000, 1791500000))  # 20 March, 8 October: clocks change within three weeks
    end = begin + 24 * 86400
    clock = ZoneInfo(zone)

    def near(low: int, high: int) -> int:
        while not _said(when := chance.randint(low, high), clock):
            pass
        return when

    jobs = []
    for number in range(1, count + 1):
        job = Job(number, chance.choice(USERS), chance.choice(QUEUES), near(begin, end - 6 * 86400))
        jobs.append(job)
        kind = chance.choice(("one", "one", "again", "resized", "on", "waits", "task", "parts", "suspended"))
        at = job.submit + chance.choice((0, 1, 977, 7200))
        while not _said(at, clock):
            at += 600
        width = chance.choice((1, 3, 8, 96, 2048))

        def run(start: int, state: str, cores: int = width, longest: int = 40 * 3600) -> Run:
            return Run(start, near(start + 60, start + longest), cores, max(1, cores // 8), state)

        if kind in ("one", "task", "suspended"):
            job.runs = [run(at, chance.choice(OVER))]
            job.task = chance.randint(0, 99) if kind == "task" else None
            lasts = (job.runs[0].end or 0) - at
            job.runs[0].held = lasts // chance.randint(2, 4) if kind == "suspended" else None
        elif kind in ("again", "resized"):
            job.resized = kind == "resized"
            for _ in range(chance.randint(1, 3)):
                one = run(
                    at, "RESIZING" if job.resized else chance.choice(AGAIN), chance.choice((1, 3, 8, 96))
                )
                job.runs.append(one)
                at = one.end or 0 if job.resized else near(one.end or 0, (one.end or 0) + 900)
            job.runs.append(run(at, chance.choice(OVER)))
        elif kind == "on":
            job.runs = [Run(near(end - 5 * 86400, end - 1), None, width, 1, chance.choice(ON))]
        elif kind == "parts":
            parts = tuple(chance.choice((1, 4, 64)) for _ in range(chance.randint(2, 4)))
            job.runs = [run(at, chance.choice(OVER), sum(parts))]
            job.runs[0].parts = parts
    first = Job(count + 1, "ada", "batch", begin, [Run(begin, end, 4, 1, "COMPLETED")])  # what observation is
    if not (_said(first.runs[0].start, clock) and _said(end, clock)):
        return schedule(seed + 100_000, count)
    return Schedule(zone, begin, end, [first, *jobs])
