"""The Standard Workload Format of the Parallel Workloads Archive, version 2.2.

Chapin et al., "Benchmarks and standards for the evaluation of parallel job schedulers", JSSPP 1999, and
https://www.cs.huji.ac.il/labs/parallel/workload/swf.html: 18 fields of numbers with spaces between them, -1
where a value is unknown, and a header of comments (`; MaxProcs: 128`). Times are seconds after UnixStartTime.

A job that was swapped out has a summary (status 0, 1 or 5) and a row for each time that it ran (status 2 to
4): "only one of these should be used". Where there are the latter, they are, and the job counts once.

Of some machines only starts are known: no job has a wait, and field 2 is the start. Where some jobs have a
wait, those without one have no start; how many, and their work, is said.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strata.centre.jobs.checks import Checks, without
from strata.centre.jobs.rows import (
    CANCELLED,
    COMPLETED,
    FAILED,
    UNKNOWN,
    Rows,
    chosen,
    gathered,
)
from strata.centre.jobs.text import blocks, refused, row_of
from strata.centre.outages import times
from strata.errors import StrataError

FIELDS = 18
NUMBERS = "18 numbers with spaces between them, -1 where a value is unknown"
_JOB, _SUBMIT, _WAIT, _RUN, _ALLOCATED, _ASKED = 0, 1, 2, 3, 4, 7
_STATUS, _USER, _GROUP, _PROGRAM, _QUEUE, _PARTITION, _LAST = 10, 11, 12, 13, 14, 15, 17
_USED = (_JOB, _SUBMIT, _WAIT, _RUN, _ALLOCATED, _ASKED)
_TIMES = (_SUBMIT, _WAIT, _RUN)
_USED += (_STATUS, _USER, _GROUP, _PROGRAM, _QUEUE, _PARTITION, _LAST)
_STATES = {0: FAILED, 1: COMPLETED, 3: COMPLETED, 4: FAILED, 5: CANCELLED}
_MOST, _MOST_CORES = 1e15, 2.0**31 - 1  # whole numbers of this size are exact
_BURST = 1  # in Rows.whole, until _bursts() has read them
_COMMENT = re.compile(rb"^[ \t]*;.*\n?", re.M)
_HEAD = re.compile(rb"^;[ \t]*([A-Za-z]+)[ \t]*:(.*)$", re.M)


@dataclass
class _Seen:
    """What the jobs of a log say, for rules that need all of them."""

    waits: bool = False  # a job says how long it waited
    no_cores: int = 0  # jobs that ran on nobody knows how many processors
    no_run: int = 0  # jobs that began and ended, after nobody knows how long


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(";")


def read(path: Path, zone: str, lenient: bool) -> Rows:
    """The jobs of a trace. Raises StrataError with the row of what is damaged."""
    header: dict[str, str] = {}
    checks = Checks(path, lambda index: row_of(path, index, _is_row), zone, lenient)
    seen = _Seen()
    pieces = [_piece(values, checks, seen) for values in _tables(path, header)]
    if not pieces:
        raise StrataError("no job in the log", at=str(path), given="comments alone", allowed=NUMBERS)
    rows = gathered(str(path), "swf", pieces)
    rows = _bursts(rows)
    _without_waits(rows, seen)
    begin = _number(path, header, "UnixStartTime") or 0
    for name in ("submit", "ready", "start", "end"):
        column = getattr(rows, name)
        column += begin
    rows.parts = _number(path, header, "MaxProcs") or None
    rows.zone = header.get("TimeZoneString", "")
    rows.generated = header.get("Generated", "")
    rows.said = [*checks.said(), *rows.said]
    if not begin:
        rows.said.append("The header has no UnixStartTime: dates count from 1 January 1970.")
    return rows


def _number(path: Path, header: dict[str, str], key: str) -> int:
    text = header.get(key, "").split()
    if not text or text[0].startswith("-"):
        return 0
    if not text[0].isdecimal() or len(text[0]) > 10:
        raise StrataError(
            "not a number", at=f"{path}: header {key}", given=text[0], allowed="a whole number of ten digits"
        )
    return int(text[0])


def _tables(path: Path, header: dict[str, str]) -> Iterator[list[np.ndarray]]:
    """Blocks of the trace as the columns of _USED, and the header's values on the way."""
    import pyarrow as pa
    from pyarrow import csv

    names = [str(i) for i in range(FIELDS)]
    kinds = {str(i): pa.float64() for i in _USED}
    for block in blocks(path):
        if b";" in block:
            for key, value in _HEAD.findall(block):
                header.setdefault(key.decode(), value.decode().strip(" \t\r"))
            block = _without_comments(block)
        data = _single_spaces(block)
        if not data.strip():
            continue
        try:
            table = csv.read_csv(
                io.BytesIO(data),
                csv.ReadOptions(column_names=names),
                csv.ParseOptions(delimiter=" ", quote_char=False),
                csv.ConvertOptions(
                    include_columns=[str(i) for i in _USED], column_types=kinds, null_values=[]
                ),
            )
        except pa.ArrowInvalid:
            refused(path, _wrong, NUMBERS)
        yield [table[str(i)].to_numpy() for i in _USED]


def _without_comments(block: bytes) -> bytes:
    """Piece by piece: re.sub() takes a hundred bytes for each comment."""
    rest, at = bytearray(), 0
    for comment in _COMMENT.finditer(block):
        rest += block[at : comment.start()]
        at = comment.end()
    return bytes(rest + block[at:])


def _single_spaces(block: bytes) -> bytes:
    for old, new in ((b"\t", b" "), (b"\r\n", b"\n")):
        if old in block:
            block = block.replace(old, new)
    if b"  " in block:
        for run in (b"        ", b"    "):  # many at once, so that wide columns need few passes
            block = block.replace(run, b" ")
        while b"  " in block:
            block = block.replace(b"  ", b" ")
    for old, new in ((b"\n ", b"\n"), (b" \n", b"\n")):
        if old in block:
            block = block.replace(old, new)
    return block.lstrip()


def _wrong(line: str) -> str | None:
    if not _is_row(line):
        return None
    cells = line.split()
    if len(cells) != FIELDS:
        return f"a row has {len(cells)} fields instead of {FIELDS}"
    for number, cell in enumerate(cells, start=1):
        try:
            float(cell)
        except ValueError:
            return f"field {number} is no number"
    return None


def _piece(values: list[np.ndarray], checks: Checks, seen: _Seen) -> dict[str, Any]:
    of = dict(zip(_USED, values, strict=True))
    place = np.arange(checks.seen, checks.seen + len(values[0]))
    checks.seen += len(place)
    odd = np.zeros(len(place), bool)
    for field, column in of.items():
        most = _MOST_CORES if field in (_ALLOCATED, _ASKED) else times.LAST if field in _TIMES else _MOST
        with np.errstate(invalid="ignore"):
            wrong = ~(np.abs(column) <= most)
        allowed = f"a number from -{most:.0f} to {most:.0f}"
        odd |= checks.wrong(wrong, place, "not a number that can be", f"field {field + 1}", allowed)
    if odd.any():
        of, place = {field: column[~odd] for field, column in of.items()}, place[~odd]
    submit, wait, run = of[_SUBMIT], of[_WAIT], of[_RUN]
    status = of[_STATUS].astype(int)
    bad = checks.wrong(run < -1, place, "a negative duration", "field 4 (run time)", "0 or more, or -1")
    bad |= checks.wrong(wait < -1, place, "a negative duration", "field 3 (wait time)", "0 or more, or -1")
    burst = (status >= 2) & (status <= 4)
    bad |= checks.wrong(
        (submit < 0) & ~burst,
        place,
        "a job without a time of submission",
        "field 2 (submit time)",
        "0 or more",
    )
    bad |= checks.wrong(
        of[_ALLOCATED] < -1, place, "a negative number of processors", "field 5", "1 or more, or -1"
    )
    cores = np.where(of[_ALLOCATED] > 0, of[_ALLOCATED], np.maximum(of[_ASKED], 0))
    never = (wait < 0) | (run < 0) | (cores == 0) | ((status == 5) & (run == 0))
    start = np.where(never & ~burst, np.nan, np.where(burst, np.maximum(wait, 0), submit + wait))
    end = np.where(burst, np.maximum(run, 0), start + run)
    whole = ~burst & ~bad
    seen.waits |= bool((whole & (wait >= 0)).any())
    seen.no_cores += int((whole & (run > 0) & (cores == 0)).sum())
    seen.no_run += int((whole & (run < 0) & (wait >= 0) & (cores > 0) & np.isin(status, (0, 1))).sum())
    late = ~burst & (wait < 0) & (run >= 0) & (cores > 0) & ~((status == 5) & (run == 0))
    end = np.where(late, submit + run, end)  # if field 2 is the start, as _without_waits finds out
    states = np.array([_STATES.get(int(s), UNKNOWN) for s in range(-1, 6)], np.int8)
    piece: dict[str, Any] = {
        "submit": submit,
        "ready": submit.copy(),
        "start": start,
        "end": end,
        "cores": cores.astype(np.int32),
        "nodes": np.zeros(len(place), np.int32),
        "held": np.ones(len(place), np.float32),
        "state": states[np.clip(status, -1, 5) + 1],
        "key": of[_JOB].astype(np.int64).astype(np.uint64),
        "whole": np.where(burst, _BURST, 0).astype(np.uint64),
        "counts": np.ones(len(place), bool),
        "user": _names(of[_USER]),
        "group": _names(of[_GROUP]),
        "partition": _names(np.where(of[_PARTITION] >= 0, of[_PARTITION], of[_QUEUE])),
        "program": _names(of[_PROGRAM]),
    }
    return without(piece, bad)


def _names(values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Numbers as names; -1 is none."""
    top = int(values.max(initial=-1))
    if 0 <= top < 1 << 22:  # small numbers need no sorting
        whole = np.maximum(values, -1).astype(np.int32)
        used = np.flatnonzero(np.bincount(np.maximum(whole, 0), minlength=1))
        table = np.full(top + 1, -1, np.int32)
        table[used] = np.arange(len(used), dtype=np.int32)
        return np.where(whole < 0, np.int32(-1), table[np.maximum(whole, 0)]), [str(n) for n in used]
    known, found = np.unique(values, return_inverse=True)
    return found.astype(np.int32), ["" if n < 0 else str(int(n)) for n in known]


def _without_waits(rows: Rows, seen: _Seen) -> None:
    """Jobs that ran, and do not say how long they waited: an end, as _piece left them, and no start."""
    late = np.isnan(rows.start) & ~np.isnan(rows.end)
    count = int(late.sum())
    if count and not seen.waits:
        rows.start[late] = rows.submit[late]
        rows.submit[late] = rows.ready[late] = np.nan
        rows.said.append(
            f"No job says how long it waited: field 2 is taken as the start of all {count} that ran, as in "
            "logs of the archive that do not have arrivals. If it is the arrival, jobs ran later than that."
        )
    elif count:
        hours = float(((rows.end - rows.submit) * rows.cores)[late].sum()) / 3600
        rows.end[late] = np.nan
        rows.said.append(
            f"{_jobs(count)} ran for {hours:,.1f} processor-hours, and how long each waited is not known: "
            "in no figure, which makes the utilisation too low."
        )
    for count, what in (
        (seen.no_cores, "ran, on an unknown number of processors"),
        (seen.no_run, "began and ended, and how long they ran is not known"),
    ):
        if count:
            rows.said.append(f"{_jobs(count)} {what}: in no figure, which makes the utilisation too low.")


def _jobs(count: int) -> str:
    return f"{count} {'job' if count == 1 else 'jobs'}"


def _bursts(rows: Rows) -> Rows:
    """Pieces of jobs that were swapped out: only the first has a time of submission, the others have the wait
    since the one before ended. Summaries of such jobs are left out.
    """
    at = np.flatnonzero(rows.whole == _BURST)
    if not len(at):
        return rows
    key = rows.key[at]
    first = np.ones(len(at), bool)
    first[1:] = key[1:] != key[:-1]
    group, heads = np.cumsum(first) - 1, np.flatnonzero(first)
    wait, run = rows.start[at], rows.end[at]  # as _piece left them
    before = np.cumsum(wait + run) - wait - run
    start = rows.submit[at][heads][group] + before - before[heads][group] + wait
    rows.start[at], rows.end[at] = start, start + run
    rows.submit[at[~first]] = rows.ready[at[~first]] = np.nan
    last = np.append(heads[1:], len(at)) - 1
    rows.state[at] = rows.state[at[last]][group]
    rows.counts[at] = first
    rows.whole[at] = 0
    summary = np.isin(rows.key, key)
    summary[at] = False
    left, of = int(summary.sum()), "it" if len(heads) == 1 else "them"
    summaries = f"1 summary of {of} is" if left == 1 else f"{left} summaries of {of} are"
    rows.said.append(
        f"{'1 job was' if len(heads) == 1 else f'{len(heads)} jobs were'} swapped out: each counts once, and "
        f"holds its processors in {len(at)} pieces; {summaries} left out."
    )
    return chosen(rows, ~summary)
