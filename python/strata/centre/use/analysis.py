"""All that is found out about how a machine was used, as data: what the report and the JSON are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from strata.centre.jobs import columns
from strata.centre.jobs.rows import RUNNING, WAITING, Rows
from strata.centre.outages import times
from strata.centre.outages.categories import Categories
from strata.centre.outages.history import DAY, System, histories
from strata.centre.outages.log import Log
from strata.centre.outages.times import text
from strata.centre.sampling.rates import Account, Sampled
from strata.centre.sampling.rates import document as sampled_document
from strata.centre.use import account, groups, occupancy
from strata.centre.use.account import Change, Daily, Figure, Period, Runs
from strata.centre.use.bootstrap import draws
from strata.centre.use.groups import End, Group
from strata.centre.use.occupancy import Calendar, Steps
from strata.centre.use.words import duration
from strata.errors import StrataError

SCHEMA = "strata.use/1"
COLUMNS = ("user", "group", "partition", "program")
_BUSY = 101.0  # %


@dataclass(frozen=True)
class Asked:
    """What the report is to be about: times in seconds since 1970. `parts`: processors from a time on; the
    first from the begin (-inf).
    """

    begin: float | None = None
    until: float | None = None
    since: float | None = None
    zone: str = times.UTC
    parts: tuple[tuple[float, int], ...] = ()
    wide: int | None = None
    widths: str | None = None
    hide: bool = False  # users, groups and programs by number


@dataclass(frozen=True)
class Entry:
    """What the log says of a sampled job: its user, its processors, and how many % of these were busy."""

    user: str
    cores: int
    busy: float | None


@dataclass
class Analysis:
    """`parts_by`: who says how many processors there are. `early`, `late`: before and after --since."""

    log: Rows
    asked: Asked
    days: Calendar
    jobs: Runs
    sums: Daily
    parts: tuple[tuple[float, int], ...]
    parts_by: str
    wide: tuple[int, int]
    whole: Period
    early: Period | None
    late: Period | None
    changes: list[Change]
    widths: list[Group]
    names: dict[str, list[Group]]
    ends: list[End]
    still: tuple[int, int]  # runs without an end, jobs that wait
    down: System | None
    outages: Log | None
    sampled: Sampled | None = None
    entries: list[Entry | None] = field(default_factory=list)  # of the sampled jobs
    said: list[str] = field(default_factory=list)


def analyse(
    log: Rows,
    asked: Asked,
    outages: Log | None = None,
    categories: Categories | None = None,
    sampled: Sampled | None = None,
) -> Analysis:
    """Everything about the use of a machine with its `outages`. Raises StrataError for none."""
    begin, end = _observed(log, asked)
    days = occupancy.calendar(begin, end, asked.zone, [] if asked.since is None else [asked.since])
    jobs = account.runs(log, begin, end)
    said = [*log.said]
    down = None if outages is None else _system(outages, categories or Categories(), begin, end)
    parts, parts_by = _parts(asked, log, down, jobs)
    use = occupancy.sweep(
        jobs.start, jobs.end, jobs.weight, _steps(parts, begin), _down(down, categories), days.edges
    )
    _say_over(said, use, parts)
    most = int(log.cores[jobs.index].max(initial=1))
    top = max(n for _, n in parts)
    wide = asked.wide or max(1, top // 4)
    classes = groups.width_edges(asked.widths, most)
    width = groups.classes(log.cores[jobs.index], classes)
    titles = [*(_range(a, b) for a, b in classes), "other widths"]
    sums = account.daily(log, jobs, use, days, width, len(titles), wide)
    said_wide = f"{_range(wide, max(most, wide))} processors"
    whole = account.period("all", jobs, sums, days, slice(0, len(days.days)), said_wide, 1)
    early = late = None
    if asked.since is not None:
        cut = int(np.searchsorted(days.edges, asked.since))
        early = account.period("before", jobs, sums, days, slice(0, cut), said_wide, 2)
        late = account.period("after", jobs, sums, days, slice(cut, len(days.days)), said_wide, 3)
    _say_waits(said, jobs)
    entries = [] if sampled is None else [_entry(log, job) for job in sampled.jobs]
    _say_busy(said, entries)
    return Analysis(
        log,
        asked,
        days,
        jobs,
        sums,
        parts,
        parts_by,
        (wide, max(most, wide)),
        whole,
        early,
        late,
        account.changes(early, late) if early and late else [],
        groups.by_class(log, jobs, width, titles, draws(len(days.days)), sums.by_width),
        _names(log, asked, jobs),
        groups.ends(log, jobs),
        (int((log.state == RUNNING).sum()), int((log.state == WAITING).sum())),
        down,
        outages,
        sampled,
        entries,
        said,
    )


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _observed(log: Rows, asked: Asked) -> tuple[float, float]:
    """From the first start to the last time in the log, unless it was asked for; --since lies in between."""
    ran = ~np.isnan(log.start)
    if not ran.any():
        raise StrataError(
            "no job of the log ran", at=log.path, given=f"{len(log)} jobs", allowed="jobs with a start"
        )
    begin = float(np.nanmin(log.start)) if asked.begin is None else asked.begin
    end = float(np.nanmax([np.nanmax(log.start), np.nanmax(np.r_[log.end, begin])]))
    end = end if asked.until is None else asked.until
    if end <= begin or not ((log.start < end) & ~(log.end <= begin)).any():
        raise StrataError(
            "the log says nothing of this time",
            at=log.path,
            given=(
                f"jobs from {text(float(np.nanmin(log.start)))} to "
                f"{text(float(np.nanmax(np.r_[log.end, begin])))}"
            ),
            allowed="--begin and --until between which jobs ran",
        )
    if asked.since is not None and not begin < asked.since < end:
        raise StrataError(
            "--since lies outside of the time of the log",
            at="--since",
            given=text(asked.since),
            allowed=f"between {text(begin)} and {text(end)}",
        )
    return begin, end


def _names(log: Rows, asked: Asked, jobs: Runs) -> dict[str, list[Group]]:
    """The groups by each column that the log has."""
    found = {c: groups.by_name(log, jobs, c, asked.hide and c != "partition") for c in COLUMNS}
    return {column: some for column, some in found.items() if some}


def _say_waits(said: list[str], jobs: Runs) -> None:
    if count := int((jobs.began & np.isnan(jobs.wait)).sum()):
        said.append(
            f"{count} jobs do not say since when they waited, or began before: in no figure of waits."
        )


def _parts(
    asked: Asked, log: Rows, down: System | None, jobs: Runs
) -> tuple[tuple[tuple[float, int], ...], str]:
    if asked.parts:
        return asked.parts, "--parts"
    if log.parts:
        return ((-np.inf, log.parts),), "the log"
    if down is not None and down.parts:
        return ((-np.inf, down.parts),), "the log of outages"
    most = occupancy.peak(jobs.start, jobs.end, jobs.weight)
    return ((-np.inf, int(np.ceil(most))),), "the most that were in use at once"


def _system(outages: Log, categories: Categories, begin: float, end: float) -> System | None:
    """The outages of the machine. One that has no end lasts until that of the log of jobs."""
    watched = bool((outages.rows["category"] < 0).any())
    try:
        found = histories(outages, categories, begin, end)
    except StrataError:
        if watched:
            raise
        return None  # none of its outages was in this time
    if len(found) > 1:
        raise StrataError(
            "the log of outages is of several systems",
            at="--outages",
            given=", ".join(s.name for s in found[:20]),
            allowed="one",
            remedy="--system NAME takes one of them",
        )
    return found[0]


def _steps(parts: Sequence[tuple[float, int]], begin: float) -> Steps:
    when = np.array([max(t, begin) for t, _ in parts])
    return Steps(when, np.diff([n for _, n in parts], prepend=0).astype(float))


def _down(down: System | None, categories: Categories | None) -> Steps:
    if down is None:
        return Steps(np.zeros(0), np.zeros(0))
    return occupancy.outage_steps(down, [c.outage for c in (categories or Categories()).every])


def _say_over(said: list[str], use: occupancy.Use, parts: Sequence[tuple[float, int]]) -> None:
    if use.over > 0:
        there = ", then ".join(f"{n:,}" for _, n in parts)
        said.append(
            f"Up to {use.peak:,.0f} processors were in use at once, and for "
            f"{duration(use.over / account.HOUR)} more than there are ({there}): processors are shared, the "
            "log is of several machines or has jobs twice, or the number of processors is wrong (--parts "
            "says it)."
        )


def _say_busy(said: list[str], entries: Sequence[Entry | None]) -> None:
    """Samples are taken at moments, so that a per cent more than all is no finding."""
    over = [entry.busy for entry in entries if entry is not None and (entry.busy or 0.0) > _BUSY]
    if over:
        said.append(
            f"{len(over)} sampled {'job' if len(over) == 1 else 'jobs'} used more CPU time than the log's "
            f"processors have (up to {max(over):,.0f} %): the log counts cores and the nodes run several "
            "threads on each, jobs are not bound to their processors, or samples are of another job of that "
            "number."
        )


def _entry(log: Rows, job: Account) -> Entry | None:
    """The last run of a job in the log. Samples of some of its nodes are about their part of its cores."""
    import pyarrow as pa

    rows = np.flatnonzero((log.key == columns.keys(pa.array([job.key]))[0]) & ~np.isnan(log.start))
    if not len(rows):
        return None
    row, user = rows[-1], log.column("user")
    cores, nodes = int(log.cores[row]), max(int(log.nodes[row]), 1)
    name = user.names[user.codes[row]] if user is not None and user.codes[row] >= 0 else groups.NONE
    return Entry(name, cores, _percent(job.cpu_hours, job.hours * cores / nodes))


# --- as JSON


def document(whole: Analysis) -> dict[str, Any]:
    """The analysis as strata.use/1: unrounded; times as text in UTC, days as the zone has them."""
    u = whole.sums.use
    hours = account.HOUR
    return {
        "schema": SCHEMA,
        "log": "hidden" if whole.asked.hide else whole.log.path,
        "form": whole.log.form,
        "generated": whole.log.generated,
        "zone": whole.asked.zone,
        "observed": [text(whole.days.begin), text(whole.days.end)],
        "runs": len(whole.jobs.index),
        "parts": [{"from": None if t == -np.inf else text(t), "processors": n} for t, n in whole.parts],
        "parts_by": whole.parts_by,
        "peak": u.peak,
        "wide": list(whole.wide),
        "said": hidden_said(whole),
        "periods": [_period(p) for p in (whole.whole, whole.early, whole.late) if p is not None],
        "changes": [
            {"key": c.before.key, "difference": c.difference, "low": c.low, "high": c.high, "words": c.words}
            for c in whole.changes
        ],
        "days": [
            {
                "day": day,
                "used_hours": u.used[i] / hours,
                "available_hours": u.available[i] / hours,
                "whole_hours": u.whole[i] / hours,
                "starts": int(whole.sums.starts[i]),
                "ends": int(whole.sums.ends[i]),
            }
            for i, day in enumerate(whole.days.days)
        ],
        "months": months(whole),
        "widths": [asdict(g) for g in whole.widths],
        "names": {column: [asdict(g) for g in found] for column, found in whole.names.items()},
        "ends": [asdict(e) for e in whole.ends],
        "running": whole.still[0],
        "waiting": whole.still[1],
        "sampled": None if whole.sampled is None else _sampled(whole.sampled, whole),
    }


def _sampled(one: Sampled, whole: Analysis) -> dict[str, Any]:
    found = sampled_document(one, whole.asked.hide)
    for job, entry in zip(found["jobs"], whole.entries, strict=True):
        job["processors"] = None if entry is None else entry.cores
        job["busy_percent"] = None if entry is None else entry.busy
    return found


def hidden_said(whole: Analysis) -> list[str]:
    """Remarks on how the log was read; without paths where names are hidden."""
    if not whole.asked.hide:
        return whole.said
    return [line.rpartition(": ")[2] if "/" in line.partition(": ")[0] else line for line in whole.said]


def months(whole: Analysis) -> list[dict[str, Any]]:
    """Of each month: utilisation of the whole time and of the time up, availability (%), starts a day."""
    u, month, count = whole.sums.use, whole.days.month, len(whole.days.months)
    used, every, up, starts, length = (
        np.bincount(month, weights=x, minlength=count)
        for x in (u.used, u.whole, u.available, whole.sums.starts, whole.days.length)
    )
    return [
        {
            "month": name,
            "days": length[i] / DAY,
            "used_hours": used[i] / account.HOUR,
            "utilisation": _percent(used[i], every[i]),
            "utilisation_up": _percent(used[i], up[i]),
            "available": _percent(up[i], every[i]),
            "starts": starts[i] / (length[i] / DAY),
        }
        for i, name in enumerate(whole.days.months)
    ]


def _percent(part: float, of: float) -> float | None:
    return 100 * float(part) / float(of) if of > 0 else None


def _period(one: Period) -> dict[str, Any]:
    return {
        "name": one.name,
        "begin": text(one.begin),
        "end": text(one.end),
        "days": one.days,
        "figures": {f.key: _figure(f) for f in one.figures},
    }


def _figure(one: Figure) -> dict[str, Any]:
    return {"title": one.title, "unit": one.unit, "value": one.value, "low": one.low, "high": one.high}
