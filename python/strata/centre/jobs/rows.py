"""What all logs of jobs become: a row for each run of a job, as columns.

A job runs once, or, where it was queued again, several times; each run held processors. The rules that make
runs of rows are `joined()`'s and are said with the number of rows that each was applied to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# How a run ended. `node`: its node failed. `again`: it was queued again, or another job took its place.
KINDS = (
    "completed",
    "failed",
    "timeout",
    "node",
    "cancelled",
    "again",
    "running",
    "waiting",
    "unknown",
)
COMPLETED, FAILED, TIMEOUT, NODE, CANCELLED, AGAIN, RUNNING, WAITING, UNKNOWN = range(len(KINDS))
WASTED = (FAILED, TIMEOUT, NODE)
_GAP = 60.0  # seconds between two widths of a job
NAMES = ("user", "group", "partition", "program")


@dataclass
class Coded:
    """A column of names: `codes` are places in `names`, -1 where a row has none."""

    codes: np.ndarray
    names: list[str]


@dataclass
class Rows:
    """Columns of one log, or of several that were joined. Times in seconds since 1970, NaN where unknown.

    `ready`: from when on a job might have started (it equals `submit` where a log does not say). `held`: the
    share of the time from start to end in which the job had its cores (1 unless it was suspended). `key`: the
    job's number, or a hash of its text; `whole`: for a component of a heterogeneous job the key of the job,
    else 0. `counts`: the row is a job of its own, not another piece of one.
    """

    path: str
    form: str
    submit: np.ndarray
    ready: np.ndarray
    start: np.ndarray
    end: np.ndarray
    cores: np.ndarray
    nodes: np.ndarray  # 0 where unknown
    held: np.ndarray
    state: np.ndarray
    key: np.ndarray
    whole: np.ndarray
    counts: np.ndarray
    names: dict[str, Coded]
    parts: int | None = None  # of the machine, where the log says it
    begin: float | None = None  # of the log, where it says so
    zone: str = ""  # the machine's, where the log says it
    generated: str = ""
    said: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.start)

    def column(self, name: str) -> Coded | None:
        found = self.names.get(name)
        return found if found is not None and found.names else None


COLUMNS = (
    "submit",
    "ready",
    "start",
    "end",
    "cores",
    "nodes",
    "held",
    "state",
    "key",
    "whole",
    "counts",
)
_TYPES: dict[str, Any] = {
    "cores": np.int32,
    "nodes": np.int32,
    "held": np.float32,
    "state": np.int8,
    "key": np.uint64,
    "whole": np.uint64,
    "counts": np.bool_,
}


def gathered(path: str, form: str, pieces: Sequence[dict[str, Any]]) -> Rows:
    """Rows of pieces of COLUMNS; names are (codes, names) of the piece. Frees the pieces as it goes."""
    columns = {
        name: np.concatenate([p.pop(name) for p in pieces]).astype(_TYPES.get(name, float), copy=False)
        for name in COLUMNS
    }
    names = {}
    for name in NAMES:
        given = [p.pop(name) for p in pieces if p.get(name) is not None]
        if given:
            names[name] = merged(given)
    return Rows(path, form, **columns, names=names)


def merged(given: Sequence[tuple[np.ndarray, Sequence[str]]]) -> Coded:
    """Columns of names, each with its own codes, as one."""
    places: dict[str, int] = {"": -1}
    codes = []
    for own, texts in given:
        of = np.array(
            [places.setdefault(text, len(places) - 1) for text in texts] or [-1], dtype=np.int32
        )  # the empty text takes no place
        codes.append(np.where(own < 0, np.int32(-1), of[own]).astype(np.int32))
    return Coded(np.concatenate(codes), [text for text in places if text])


def joined(logs: Sequence[Rows]) -> Rows:
    """Several logs as one, with the rules for rows that repeat and for jobs of several components."""
    rows = logs[0] if len(logs) == 1 else _appended(logs)
    rows = _resized(_once(rows))
    return _components(rows) if rows.whole.any() else rows


def _appended(logs: Sequence[Rows]) -> Rows:
    columns = {name: np.concatenate([getattr(log, name) for log in logs]) for name in COLUMNS}
    names = {}
    for name in NAMES:
        if any(log.column(name) for log in logs):
            given = [
                (c.codes, c.names) if (c := log.column(name)) else (np.full(len(log), -1, np.int32), [])
                for log in logs
            ]
            names[name] = merged(given)
    begins = [log.begin for log in logs if log.begin is not None]
    return Rows(
        ", ".join(log.path for log in logs),
        logs[0].form,
        **columns,
        names=names,
        parts=max((log.parts for log in logs if log.parts), default=None),
        begin=min(begins, default=None),
        zone=next((log.zone for log in logs if log.zone), ""),
        generated=next((log.generated for log in logs if log.generated), ""),
        said=[f"{log.path}: {line}" for log in logs for line in log.said],
    )


def chosen(rows: Rows, keep: np.ndarray) -> Rows:
    """The rows of a mask, or in the order of an index."""
    for name in COLUMNS:
        setattr(rows, name, getattr(rows, name)[keep])
    for one in rows.names.values():
        one.codes = one.codes[keep]
    return rows


def _once(rows: Rows) -> Rows:
    """A run that is there twice counts once: of rows with one job and one start the last that has an end,
    else the last. A row of a job that waited falls away where another says that it ran. Rows of other
    processors or of another user are other jobs, of a machine that gave the same number. A run without an
    end whose job ran again later is over, and nobody knows since when: it is left out.
    """
    order = np.argsort(rows.key, kind="stable")
    again = rows.key[order][1:] == rows.key[order][:-1]
    if not again.any():
        return rows
    near = np.zeros(len(order), bool)
    near[order[1:][again]] = near[order[:-1][again]] = True
    some = np.flatnonzero(near)  # rows whose job has several
    key, start = rows.key[some], np.nan_to_num(rows.start[some], nan=-1.0)
    by = np.lexsort((start, key))
    k, s = key[by], start[by]
    same = (k[1:] == k[:-1]) & (s[1:] == s[:-1])
    other = np.zeros(len(by), np.int64)
    if same.any():  # few rows, or none, have number and start of another one
        several = np.flatnonzero(np.r_[same, False] | np.r_[False, same])
        group = np.cumsum(np.r_[True, ~same])[several]
        tells = _others(rows, some[by[several]], group) * (s[several] >= 0)
        ended = ~np.isnan(rows.end[some[by[several]]])
        if ((tells[1:] != tells[:-1]) & (group[1:] == group[:-1])).any():
            within = np.lexsort((ended, tells, group))  # of equal ones the later row comes last
        else:
            within = np.argsort(2 * group + ended, kind="stable")  # nearly in order: three times as fast
        by[several], other[several] = by[several][within], tells[within]
    last = np.ones(len(by), bool)  # within one job and one start
    last[:-1] = ~same | (other[1:] != other[:-1])
    if alike := int((same & last[:-1]).sum()):
        rows.said.append(
            f"{'1 job has' if alike == 1 else f'{alike} jobs have'} number and start of another one, and "
            "other processors or another user: counted as jobs of several machines, and the figures are of "
            "all of these together."
        )
    twice = int((~last).sum())
    ran = np.isin(k, k[s >= 0])
    waited = last & (s < 0) & ran
    drop = np.zeros(len(rows), bool)
    drop[some[by[~last | waited]]] = True
    if twice:
        rows.said.append(f"{twice} {'row is' if twice == 1 else 'rows are'} there twice: counted once.")
    kept = some[by[last & ~waited]]
    again = (rows.key[kept][1:] == rows.key[kept][:-1]) & (rows.start[kept][1:] > rows.start[kept][:-1])
    stale = kept[:-1][again & np.isnan(rows.end[kept][:-1])]
    drop[stale] = True
    if len(stale):
        rows.said.append(
            f"{len(stale)} {'run has' if len(stale) == 1 else 'runs have'} no end, and their job ran again "
            "later: left out. `sacct --duplicates` has their ends."
        )
    return chosen(rows, ~drop)


def _others(rows: Rows, some: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Numbers that tell apart jobs of one number and one start, which are a group (ascending): by processors
    and users, where all rows of the group have them.
    """
    heads = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    place = np.repeat(np.arange(len(heads)), np.diff(np.r_[heads, len(group)]))
    other = np.zeros(len(some), np.int64)
    user = rows.names.get("user")
    for column, none in ((rows.cores, 0), *(((user.codes, -1),) if user is not None else ())):
        values = column[some].astype(np.int64)
        known = (np.minimum.reduceat(values, heads) > none)[place]
        other = other * (int(values.max()) + 2) + np.where(known, values + 1, 0)
    return other


def _resized(rows: Rows) -> Rows:
    """A job that was given more or fewer processors while it ran has a row for each width. They are pieces of
    one job, which ends as the last of them. A row that "runs" and has an end is such a piece.
    """
    cut = (rows.state == RUNNING) & ~np.isnan(rows.end) & ~np.isnan(rows.start)
    if not cut.any():
        return rows
    some = np.flatnonzero(np.isin(rows.key, rows.key[cut]) & ~np.isnan(rows.start))
    order = some[np.lexsort((rows.start[some], rows.key[some]))]
    key, piece = rows.key[order], cut[order]
    gap = np.r_[rows.start[order[1:]] - rows.end[order[:-1]], np.nan]
    goes_on = piece & np.r_[key[1:] == key[:-1], False] & (gap >= 0) & (gap <= _GAP)  # in the next row
    rows.state[order[piece & ~goes_on]] = UNKNOWN
    place = np.arange(len(order))
    last = np.minimum.accumulate(np.where(goes_on, len(order), place)[::-1])[::-1]  # which says how it ended
    rows.state[order] = rows.state[order[last]]
    later = order[1:][goes_on[:-1]]
    rows.counts[later] = False
    rows.submit[later] = rows.ready[later] = np.nan
    jobs, alone = int((goes_on[:-1] & ~piece[1:]).sum()), int((piece & ~goes_on).sum())
    if jobs:
        rows.said.append(f"{jobs} {'job was' if jobs == 1 else 'jobs were'} resized: each counts once.")
    if alone:
        rows.said.append(
            f"{alone} {'row is of a job that was' if alone == 1 else 'rows are of jobs that were'} resized, "
            "and what came then is not in the log: `sacct --duplicates` has all of it."
        )
    return rows


def _components(rows: Rows) -> Rows:
    """Components of a heterogeneous job that start together are one job of all their cores."""
    some = np.flatnonzero(rows.whole)
    order = some[np.lexsort((rows.start[some], rows.whole[some]))]
    whole, start = rows.whole[order], np.nan_to_num(rows.start[order], nan=-1.0)
    first = np.ones(len(order), bool)
    first[1:] = (whole[1:] != whole[:-1]) | (start[1:] != start[:-1])
    group = np.cumsum(first) - 1
    lead = order[first]
    for name in ("cores", "nodes"):
        column = getattr(rows, name)
        column[lead] = np.bincount(group, weights=column[order]).astype(column.dtype)
    np.maximum.at(rows.end, lead[group], rows.end[order])
    drop = np.zeros(len(rows), bool)
    drop[order[~first]] = True
    rows.said.append(
        f"{len(order)} rows are components of {int(first.sum())} heterogeneous jobs: each counts once."
    )
    return chosen(rows, ~drop)
