"""Accounting logs of PBS (OpenPBS, PBS Professional, Torque): a file a day, `date;kind;job;key=value ...`.

E says all of a job that ended. R ends a run of a job that is queued again. S alone is a job that runs, or one
whose end is in a later file. Q, D and A are of jobs that wait, or were deleted or aborted before they ran.
Dates of the lines are in --zone, times in values are seconds since 1970. A job is 12.server: servers that
share a number (alpha and beta, not alpha and alpha.site) have a job of it each.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from strata.centre.jobs import columns
from strata.centre.jobs.checks import Checks, sound, without
from strata.centre.jobs.rows import (
    AGAIN,
    CANCELLED,
    COMPLETED,
    FAILED,
    NODE,
    RUNNING,
    TIMEOUT,
    UNKNOWN,
    WAITING,
    Coded,
    Rows,
    chosen,
    gathered,
    merged,
)
from strata.centre.jobs.text import blocks, refused, row_of
from strata.centre.outages import times
from strata.errors import StrataError

_LINE = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;.+?;[^;]*;")
_PARTS = r"^(?P<time>\d\d/\d\d/\d{4} \d\d:\d\d:\d\d);(?P<kind>[^;]+);(?P<job>[^;]*);(?P<rest>.*)$"
_FORM = "lines such as 03/01/2026 14:05:00;E;12.server;user=... start=... end=..."
_RUNS = ("E", "S", "R")
_WAITS = ("Q", "D", "A")
# Signals end a job with 256 (OpenPBS) or 128 (old Torque) more than their number; qdel and the limit of time
# send SIGTERM (271), then SIGKILL (265). Negative ones are PBS's own.
_KILLED = (271, 265, 143, 137)
_LOST = (-4, -5, -6)  # JOB_EXEC_INITABT, INITRST, INITRMG: the node's daemon began anew
_WHOLE, _WORD, _TEXT = r"-?\d+", r"[^ ]*", r'"[^"]*"|[^ ]*'
_VALUES = {
    **dict.fromkeys(("start", "end", "ctime", "qtime", "etime", "Exit_status"), _WHOLE),
    **dict.fromkeys(("Resource_List.ncpus", "Resource_List.nodect"), _WHOLE),
    **dict.fromkeys(("user", "group", "queue", "exec_host", "exec_vnode", "Resource_List.nodes"), _WORD),
    **dict.fromkeys(("resources_used.walltime", "Resource_List.walltime"), _WORD),
    **dict.fromkeys(("account", "jobname"), _TEXT),
}
_TOO_MANY = 1 << 31  # the counts of a record, a hundred thousand of them, still fit into 64 bits
_OUT_OF_TIME = -29  # JOB_EXEC_KILL_WALLTIME


def is_record(line: str) -> bool:
    return _LINE.match(line) is not None


def _is_row(line: str) -> bool:
    return bool(line.strip())


def read(paths: Sequence[Path], zone: str, lenient: bool) -> Rows:
    """The jobs of the logs of some days. Raises StrataError with the row of what is damaged."""
    pieces: list[dict[str, Any]] = []
    said: list[str] = []
    for path in sorted(paths):
        checks = Checks(path, partial(row_of, path, counts=_is_row), zone, lenient)
        before = len(pieces)
        for block in blocks(path):
            pieces += _pieces(path, block, checks)
        said += [f"{path}: {line}" for line in checks.said()] if len(paths) > 1 else checks.said()
        if len(pieces) == before and checks.seen == 0:
            said.append(f"{path}: it is empty.")
    if not pieces:
        raise StrataError("no job in the log", at=str(paths[0]), given="other lines", allowed=_FORM)
    kinds = np.concatenate([p.pop("kind") for p in pieces])
    servers = merged([p.pop("server") for p in pieces])
    rows = gathered(", ".join(str(p) for p in paths), "pbs", pieces)
    rows.said = said
    if len(servers.names) > 1:
        _tell_apart(rows, servers)
    return _runs(rows, kinds)


def _tell_apart(rows: Rows, servers: Coded) -> None:
    """Keys of jobs of several servers, from the number and the server."""
    with np.errstate(over="ignore"):
        rows.key *= np.uint64(0x9E3779B97F4A7C15)  # odd: no two numbers become one
        rows.key += (servers.codes + 2).astype(np.uint64)
    rows.said.append(
        f"The jobs are of {len(servers.names)} servers: jobs of one number on two of them are two jobs, and "
        "the figures are of all servers together."
    )


def _pieces(path: Path, block: bytes, checks: Checks) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    if not block.strip():
        return []
    text = csv.read_csv(
        io.BytesIO(block),
        csv.ReadOptions(column_names=["line"]),
        csv.ParseOptions(delimiter="\x01", quote_char=False),
        csv.ConvertOptions(column_types={"line": pa.string()}, null_values=[]),
    )["line"].combine_chunks()
    if isinstance(text, pa.ChunkedArray):
        text = text.combine_chunks()
    parts = pc.extract_regex(text, _PARTS)
    place = np.arange(checks.seen, checks.seen + len(text))
    checks.seen += len(text)
    broken = parts.is_null().to_numpy(zero_copy_only=False)
    if broken.any() and not checks.lenient:
        refused(path, lambda line: None if not line.strip() or is_record(line) else "not a record", _FORM)
    checks.wrong(broken, place, "not a record", "line", _FORM)
    kind, job = parts.field("kind"), parts.field("job")
    array = pc.match_substring(job, "[]")  # the whole of an array; its tasks have records of their own
    keep = pc.and_(pc.is_in(kind, value_set=pa.array([*_RUNS, *_WAITS])), pc.invert(array))
    keep = pc.fill_null(keep, False)
    if not pc.any(keep).as_py():
        return []
    parts, place = parts.filter(keep), place[keep.to_numpy(zero_copy_only=False)]
    return [_piece(parts, place, checks)]


def _piece(parts: Any, place: np.ndarray, checks: Checks) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = parts.field("kind").to_numpy(zero_copy_only=False).astype("U1")
    rest = parts.field("rest")
    with ThreadPoolExecutor() as pool:  # nearly all of a log's time is in these
        found = dict(zip(_VALUES, pool.map(partial(_extracted, rest), _VALUES.items()), strict=True))

    def number(*keys: str) -> np.ndarray:
        """The first of some keys that a record has."""
        out = np.full(len(kind), np.nan)
        for key in keys:
            some = pc.if_else(pc.equal(found[key], ""), None, found[key])
            here = pc.cast(some, pa.float64()).to_numpy(zero_copy_only=False)
            here = np.where(np.abs(here) <= times.LAST, here, np.nan)
            out = np.where(np.isnan(out), here, out)
        return out

    when, bad = _dates(parts.field("time"), place, checks)
    start, end = number("start"), number("end")
    status = number("Exit_status")
    used = _walltimes(found["resources_used.walltime"])
    limit = _walltimes(found["Resource_List.walltime"])
    cores, nodes = _widths(found, number)
    state = _states(kind, status, used, limit)
    ended = kind == "E"
    for name, column in (("start", start), ("end", end)):
        why = f"a record E without {name}"
        bad = bad | checks.wrong(ended & np.isnan(column), place, why, name, "seconds since 1970")
    start = np.where(np.isin(kind, _WAITS), np.nan, np.where((kind == "S") & np.isnan(start), when, start))
    end = np.where(ended, end, np.where(np.isin(kind, ("S", *_WAITS)), np.nan, when))
    submit = number("ctime")
    submit = np.where(np.isnan(submit) & (kind == "Q"), when, submit)
    piece: dict[str, Any] = {
        "kind": kind,
        "server": columns.codes(_server(parts.field("job"))),
        "submit": submit,
        "ready": np.fmax(number("etime", "qtime"), submit),
        "start": start,
        "end": end,
        "cores": cores,
        "nodes": nodes,
        "held": np.ones(len(kind), np.float32),
        "state": state,
        "key": columns.keys(pc.replace_substring_regex(parts.field("job"), r"\..*", "")),
        "whole": np.zeros(len(kind), np.uint64),
        "counts": np.ones(len(kind), bool),
        "user": columns.codes(found["user"]),
        "group": columns.codes(pc.if_else(pc.equal(found["account"], ""), found["group"], found["account"])),
        "partition": columns.codes(found["queue"]),
        "program": columns.codes(found["jobname"]),
    }
    return sound(without(piece, bad), place[~bad], checks)


def _server(jobs: Any) -> Any:
    """`alpha` of 12.alpha and of 12[3].alpha.site.org."""
    import pyarrow.compute as pc

    return pc.utf8_lower(pc.replace_substring_regex(jobs, r"^[^.]*\.?([^.@]*).*$", r"\1"))


def _extracted(rest: Any, value: tuple[str, str]) -> Any:
    """The values of one key; empty where a record has none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    key, pattern = value
    first = rest.slice(0, 100)
    if not any(pc.any(pc.match_substring(some, f"{key}=")).as_py() for some in (first, rest)):
        return pa.repeat("", len(rest))  # five times as fast as to look for it with a pattern
    found = pc.extract_regex(rest, rf"(?:^| ){re.escape(key)}=(?P<v>{pattern})")
    return pc.fill_null(found.field("v"), "")


def _dates(column: Any, place: np.ndarray, checks: Checks) -> tuple[np.ndarray, np.ndarray]:
    """The dates of the lines, and which are none. Of R and Q records they are all that is known."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        naive = pc.strptime(column, format="%m/%d/%Y %H:%M:%S", unit="s").to_pandas()
    except pa.ArrowInvalid:
        import pandas as pd

        naive = pd.to_datetime(column.to_pandas(), format="%m/%d/%Y %H:%M:%S", errors="coerce")
    first, _, skipped = times.localised(naive, checks.zone)
    none = naive.isna().to_numpy() | (np.abs(first) > times.LAST)
    bad = checks.wrong(none, place, "not a date", "date", "month/day/year")
    why = f"this time never was: clocks of {checks.zone} went forward over it"
    return first, bad | checks.wrong(skipped, place, why, "date", "a time of --zone")


def _walltimes(column: Any) -> np.ndarray:
    return columns.mapped(column, _seconds, float)


def _seconds(text: str) -> float:
    parts = text.split(":")
    if not text or len(parts) > 4 or not all(p.isdecimal() and len(p) <= 9 for p in parts):
        return np.nan
    return float(sum(int(p) * 60**i for i, p in enumerate(reversed(parts))))


def _widths(found: dict[str, Any], number: Any) -> tuple[np.ndarray, np.ndarray]:
    """Cores: of exec_vnode, else the more of exec_host and Resource_List.ncpus (Torque may leave it at 1),
    else of nodes=2:ppn=8.
    """
    hosts = columns.mapped(found["exec_host"], _hosts, "2i8")
    vnodes = columns.mapped(found["exec_vnode"], _vnodes, "2i8")
    asked = columns.mapped(found["Resource_List.nodes"], _nodes_ppn, "2i8")
    ncpus, count = number("Resource_List.ncpus"), number("Resource_List.nodect")
    cores = vnodes[:, 0]
    for other in (np.maximum(np.nan_to_num(ncpus), hosts[:, 0]).astype(int), asked[:, 0]):
        cores = np.where(cores == 0, other, cores)
    nodes = hosts[:, 1]
    for other in (vnodes[:, 1], np.nan_to_num(count).astype(int), asked[:, 1]):
        nodes = np.where(nodes == 0, other, nodes)
    most = np.iinfo(np.int32).max
    return np.where(cores > most, -1, cores).astype(np.int32), np.minimum(nodes, most).astype(np.int32)


def _many(digits: str) -> int:
    """A number of cores or nodes; of one of too many digits only that it is too large."""
    return int(digits or "0") if len(digits) <= 9 else _TOO_MANY


def _hosts(text: str) -> tuple[int, int]:
    """`n1/0*4+n2/1`: cores and nodes; Torque writes `n1/0+n1/1`, or `n1/0-3`."""
    cores, names = 0, set()
    for part in filter(None, text.split("+")):
        name, _, place = part.partition("/")
        names.add(name)
        times_ = place.partition("*")[2]
        if times_:
            cores += _many(times_) if times_.isdecimal() else 1
        else:
            for piece in place.split(","):
                low, dash, high = piece.partition("-")
                cores += _many(high) - _many(low) + 1 if dash and (low + high).isdecimal() else 1
    return cores, len(names)


def _vnodes(text: str) -> tuple[int, int]:
    """`(n1:ncpus=4:mem=1gb)+(n2:ncpus=4)`."""
    found = re.findall(r"ncpus=(\d+)", text)
    return sum(map(_many, found)), len(set(re.findall(r"[(+]([\w.-]+)(?:\[\d+\])?:", text)))


def _nodes_ppn(text: str) -> tuple[int, int]:
    cores = nodes = 0
    for part in filter(None, text.split("+")):
        first, *more = part.split(":")
        count = _many(first) if first.isdecimal() else 1
        ppn = next((_many(m[4:]) for m in more if m.startswith("ppn=") and m[4:].isdecimal()), 1)
        cores, nodes = min(cores + count * ppn, _TOO_MANY), min(nodes + count, _TOO_MANY)
    return cores, nodes


def _states(kind: np.ndarray, status: np.ndarray, used: np.ndarray, limit: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        over = used >= limit
        ended = np.select(
            [
                status == 0,
                np.isin(status, _KILLED) & over,
                np.isin(status, (271, 143)),
                np.isin(status, _LOST),
                status == _OUT_OF_TIME,
                ~np.isnan(status),
            ],
            [COMPLETED, TIMEOUT, CANCELLED, NODE, TIMEOUT, FAILED],
            UNKNOWN,
        )
    other = {"S": RUNNING, "R": AGAIN, "Q": WAITING, "D": CANCELLED, "A": CANCELLED}
    return np.select([kind == k for k in other], list(other.values()), ended).astype(np.int8)


def _runs(rows: Rows, kinds: np.ndarray) -> Rows:
    """One row for each run, and one for each job that never ran."""
    keep = np.ones(len(rows), bool)
    order = np.argsort(rows.key, kind="stable")
    key, kind = rows.key[order], kinds[order]
    same = np.r_[key[1:] == key[:-1], False]  # the next record is of the same job
    ends = np.isin(kind, ("E", "R"))
    # A start and the end of its run: the end's record says all; Torque's R lacks what its S has.
    begins = np.flatnonzero((kind == "S") & same)
    closed = begins[ends[begins + 1]]
    a, b = order[closed], order[closed + 1]
    bare = np.isnan(rows.start[b])
    for name in ("submit", "ready", "start", "cores", "nodes"):
        column = getattr(rows, name)
        column[b] = np.where(bare, column[a], column[b])
    for one in rows.names.values():
        one.codes[b] = np.where(one.codes[b] < 0, one.codes[a], one.codes[b])
    keep[a] = False
    # A start before another one of the same job: its end is not known.
    lost = begins[kind[begins + 1] == "S"]
    keep[order[lost]] = False
    if len(lost):
        rows.said.append(f"{len(lost)} runs have no end, and their job began anew: left out.")
    # A run that ended by R without a start in sight.
    alone = (kinds == "R") & np.isnan(rows.start)
    keep[alone] = False
    # Jobs that ran have no row as jobs that waited; of those that did not, the last record counts.
    ran = np.unique(rows.key[np.isin(kinds, _RUNS)])
    waits = np.isin(kinds, _WAITS)
    keep[waits & np.isin(rows.key, ran)] = False
    last = ~same
    keep[order[np.isin(kind, _WAITS) & ~last]] = False
    return chosen(rows, keep)
