"""Slurm's records of jobs: `sacct -P` with a header, in any order of its columns, and a live `sacct`.

Rows of steps (12.0, 12.batch) are left out. A job that was queued again has a row for each of its runs where
`sacct --duplicates` was asked. Components of heterogeneous jobs (12+0, 12+1) are one job. Tasks of arrays
(12_3) are jobs; a row of several that wait (12_[4-9]) is none. The cores of a job are those of AllocTRES,
else of AllocCPUS, else of NCPUS. A job that was resized has a row for each of its widths, all but the last in
the state RESIZING: pieces of one job. A job that was suspended held its cores for `Elapsed` of the time from
Start to End; when, nobody says: evenly.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
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
    Rows,
    gathered,
)
from strata.centre.jobs.text import blocks, refused, row_of
from strata.centre.outages import times
from strata.errors import FAILED as NO_RESULT
from strata.errors import StrataError

FIELDS = "JobID,JobIDRaw,User,Account,Partition,Submit,Eligible,Start,End"
FIELDS += ",ElapsedRaw,State,AllocCPUS,NNodes,JobName"
DUMP = f"SLURM_TIME_FORMAT=%s sacct -P -a -X -D -S 2026-01-01 -o {FIELDS} > jobs.txt"
_STATES = {
    "COMPLETED": COMPLETED,
    "FAILED": FAILED,
    "OUT_OF_MEMORY": FAILED,
    "TIMEOUT": TIMEOUT,
    "DEADLINE": TIMEOUT,
    "NODE_FAIL": NODE,
    "BOOT_FAIL": NODE,
    "CANCELLED": CANCELLED,
    "REVOKED": CANCELLED,
    "PREEMPTED": AGAIN,
    "REQUEUED": AGAIN,
    "RESIZING": RUNNING,  # with an end: a piece of a job, until rows.py joins it to the next one
    "RUNNING": RUNNING,
    "COMPLETING": RUNNING,
    "SUSPENDED": RUNNING,
    "PENDING": WAITING,
    "CONFIGURING": WAITING,
}
_NEEDED = (("jobid", "jobidraw"), ("start",), ("end",), ("state",), ("alloctres", "alloccpus", "ncpus"))
_OPTIONAL = (
    "jobidraw",
    "submit",
    "eligible",
    "elapsedraw",
    "elapsed",
    "user",
    "account",
    "group",
    "partition",
    "jobname",
    "nnodes",
    "allocnodes",
    "cluster",
)
_CELLS = "as many as the header has; | in names of jobs alone, and only where JobName is the last column"
_CORES = re.compile(r"(?:^|,)cpu=(\d+)")
_NODES = re.compile(r"(?:^|,)node=(\d+)")
_ELAPSED = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?$")


def read(
    path: Path, zone: str, lenient: bool, cluster: str | None = None, before: set[str] | None = None
) -> Rows:
    """The jobs of a dump. `before`: clusters of dumps that were read before; those of this one are added.
    Raises StrataError with the row of what is damaged.
    """
    import pyarrow.compute as pc

    head: list[str] = []
    pieces: list[dict[str, Any]] = []
    steps = arrays = elsewhere = 0
    checks = Checks(
        path, lambda index: row_of(path, index, lambda line: bool(line.strip()), 2), zone, lenient
    )
    clusters = set() if before is None else before
    for block in blocks(path):
        if not head:
            first, _, block = block.partition(b"\n")
            head = _head(path, first.decode("utf-8-sig").rstrip("\r"))
        if not block.strip():
            continue
        wanted = [n for n in dict.fromkeys((*(c for some in _NEEDED for c in some), *_OPTIONAL)) if n in head]
        table = _table(path, block, head, wanted)
        place = np.arange(checks.seen, checks.seen + len(table))
        checks.seen += len(table)
        ids = table["jobid" if "jobid" in head else "jobidraw"]
        step = pc.match_substring(ids, ".")
        several = pc.match_substring(ids, "[")
        keep = pc.invert(pc.or_(step, several))
        steps += pc.sum(step).as_py() or 0
        arrays += pc.sum(several).as_py() or 0
        if "cluster" in head:
            names = set(pc.unique(table["cluster"]).to_pylist())
            clusters |= names
            if cluster is not None:
                here = pc.equal(table["cluster"], cluster)
                elsewhere += pc.sum(pc.invert(here)).as_py() or 0
                keep = pc.and_(keep, here)
        table = table.filter(keep).combine_chunks()
        place = place[keep.to_numpy()]
        if len(table):
            pieces.append(_piece({n: table[n].combine_chunks() for n in wanted}, place, checks))
    if cluster is None:
        _refuse_several(path, clusters)
    if not pieces:
        raise StrataError("no job in the log", at=str(path), given=f"{steps} rows of steps", remedy=DUMP)
    rows = gathered(str(path), "slurm", pieces)
    rows.said = checks.said()
    for count, what in (
        (steps, "are steps of jobs: left out"),
        (arrays, "are of several tasks of an array that wait: left out"),
        (elsewhere, "are of other clusters: left out"),
    ):
        if count:
            rows.said.append(f"{count} rows {what}.")
    return rows


def _refuse_several(path: Path, clusters: set[str]) -> None:
    if len(clusters) > 1:
        raise StrataError(
            "jobs of several clusters in one log",
            at=f"{path}: column Cluster",
            given=", ".join(sorted(clusters)[:10]),
            allowed="one",
            remedy="--system NAME takes one of them",
        )


def _head(path: Path, line: str) -> list[str]:
    head = [name.strip().lower() for name in line.split("|")]
    if len(head) > 1 and not head[-1]:
        head[-1] = "-"  # `sacct -p` ends each line with a separator
    for some in _NEEDED:
        if not set(some) & set(head):
            raise StrataError(
                "not a table of `sacct -P`",
                at=f"{path}: row 1",
                given=line[:120] or "nothing",
                allowed=f"columns {FIELDS}",
                remedy=DUMP,
            )
    if len(set(head)) < len(head):
        raise StrataError(
            "a column that is there twice", at=f"{path}: row 1", given=line[:120], allowed="each once"
        )
    return head


def _table(path: Path, block: bytes, head: list[str], wanted: list[str]) -> Any:
    """The columns of a block as texts. Names of jobs may have bars, where they are the last column."""
    import pyarrow as pa
    from pyarrow import csv

    def table(data: bytes, mark: str) -> Any:
        return csv.read_csv(
            io.BytesIO(data),
            csv.ReadOptions(column_names=head),
            csv.ParseOptions(delimiter=mark, quote_char=False),
            csv.ConvertOptions(
                include_columns=wanted, column_types=dict.fromkeys(wanted, pa.string()), null_values=[]
            ),
        ).combine_chunks()

    wrong = partial(_wrong, len(head), head[-1] == "jobname")
    try:
        return table(block, "|")
    except pa.ArrowInvalid:
        lines = block.split(b"\n")
        if any(wrong(line) for line in lines):
            refused(path, lambda line: wrong(line.encode()), _CELLS, 2)
    try:
        return table(b"\n".join(line.replace(b"|", b"\1", len(head) - 1) for line in lines), "\1")
    except pa.ArrowInvalid:
        refused(path, lambda line: "a name with a control character" if "\1" in line else None, _CELLS, 2)


def _wrong(cells: int, bars: bool, line: bytes) -> str | None:
    """`bars`: the last cell may have some, but not as many as if it were two rows in one line."""
    found = line.count(b"|") + 1
    if not line.strip() or found == cells or (bars and cells < found < 2 * cells - 1):
        return None
    return f"a row has {found} cells, the header {cells}"


def _state(text: str) -> int:
    word = text.split(" ", 1)[0].rstrip("+").upper()  # "CANCELLED by 1001", "CANCELLED+"
    return _STATES.get(word, UNKNOWN)


def _resized(column: Any) -> np.ndarray:
    return columns.mapped(column, lambda text: text.split(" ", 1)[0].upper() == "RESIZING", bool)


def _piece(of: dict[str, Any], place: np.ndarray, checks: Checks) -> dict[str, Any]:
    ids = of["jobid"] if "jobid" in of else of["jobidraw"]
    state = columns.mapped(of["state"], _state, np.int8)
    unknown = checks.wrong(state == UNKNOWN, place, "an unknown state of a job", "State", "COMPLETED, ...")
    start, _, bad = _times(of, "start", place, checks)
    end, end2, wrong = _times(of, "end", place, checks)
    end = np.where(end < start, end2, end)
    submit, _, third = _times(of, "submit", place, checks) if "submit" in of else (start * np.nan, 0, wrong)
    ready, _, fourth = _times(of, "eligible", place, checks) if "eligible" in of else (submit, 0, wrong)
    cores, nodes = _widths(of, place, checks)
    # A job that was cancelled while it waited has no start, or one at its end and no cores.
    never = (state == WAITING) | ((state != RUNNING) & (cores == 0) & ~(end > start))
    start = np.where(never, np.nan, start)
    held, fifth = _held(of, end - start, place, checks)
    piece: dict[str, Any] = {
        "submit": submit,
        "ready": np.where(np.isnan(ready), submit, np.maximum(ready, submit)),
        "start": start,
        "end": np.where(((state == RUNNING) & ~_resized(of["state"])) | never, np.nan, end),
        "cores": cores,
        "nodes": nodes,
        "held": held,
        "state": state,
        "key": columns.keys(of.get("jobidraw", ids)),
        "whole": _wholes(ids),
        "counts": np.ones(len(place), bool),
        "user": columns.codes(of["user"]) if "user" in of else None,
        "group": next((columns.codes(of[n]) for n in ("account", "group") if n in of), None),
        "partition": columns.codes(of["partition"]) if "partition" in of else None,
        "program": columns.codes(of["jobname"]) if "jobname" in of else None,
    }
    any_bad = unknown | bad | wrong | third | fourth | fifth
    return sound(without(piece, any_bad), place[~any_bad], checks, "End")


def _times(
    of: dict[str, Any], name: str, place: np.ndarray, checks: Checks
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    first, second, wrong, skipped = columns.seconds(of[name], checks.zone)
    title = name.capitalize()
    wrong = checks.wrong(wrong, place, "not a time", title, times.FORMS)
    why = f"this time never was: clocks of {checks.zone} went forward over it"
    return first, second, wrong | checks.wrong(skipped, place, why, title, "a time of --zone")


def _tres(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return columns.whole(found.group(1)) if found else 0


def _widths(of: dict[str, Any], place: np.ndarray, checks: Checks) -> tuple[np.ndarray, np.ndarray]:
    size = len(place)
    cores, nodes = np.zeros(size, np.int32), np.zeros(size, np.int32)
    if "alloctres" in of:
        cores = columns.mapped(of["alloctres"], lambda t: _tres(_CORES, t), np.int32)
        nodes = columns.mapped(of["alloctres"], lambda t: _tres(_NODES, t), np.int32)
    for name in ("alloccpus", "ncpus"):
        if name in of:
            cores = np.where(cores == 0, columns.mapped(of[name], columns.whole, np.int32), cores)
    for name in ("allocnodes", "nnodes"):
        if name in of:
            nodes = np.where(nodes == 0, columns.mapped(of[name], columns.whole, np.int32), nodes)
    return cores, np.maximum(nodes, 0)


def _elapsed(text: str) -> float:
    found = _ELAPSED.match(text)
    if len(text) > 30:
        return -1.0
    if text.isdecimal():
        return float(text)
    if not found:
        return np.nan if not text else -1.0
    days, hours, minutes, secs = (int(g or 0) for g in found.groups())
    return 86400.0 * days + 3600 * hours + 60 * minutes + secs


def _held(
    of: dict[str, Any], lasted: np.ndarray, place: np.ndarray, checks: Checks
) -> tuple[np.ndarray, np.ndarray]:
    """The share of its time in which a job was not suspended, and which rows have no sound duration."""
    name = next((n for n in ("elapsedraw", "elapsed") if n in of), None)
    if name is None:
        return np.ones(len(place), np.float32), np.zeros(len(place), bool)
    elapsed = columns.mapped(of[name], _elapsed, float)
    bad = checks.wrong(elapsed < 0, place, "not a duration", name.capitalize(), "seconds, or days-hh:mm:ss")
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where((elapsed >= 0) & (lasted > 0), elapsed / lasted, 1.0)
    return np.minimum(share, 1.0).astype(np.float32), bad


def _wholes(ids: Any) -> np.ndarray:
    """For components of heterogeneous jobs the key of the job, else 0."""
    import pyarrow.compute as pc

    some = pc.match_substring(ids, "+")
    out = np.zeros(len(ids), np.uint64)
    if pc.any(some).as_py():
        mask = some.to_numpy(zero_copy_only=False)
        out[mask] = columns.keys(pc.replace_substring_regex(ids.filter(some), r"\+.*", "")) + np.uint64(1)
    return out


def live(out: Path, begin: str, until: str | None, cluster: str | None) -> Path:
    """Asks `sacct` of this machine for all jobs, and writes its answer to `out`. Raises StrataError where
    there is no accounting to ask.
    """
    words = ["sacct", "-P", "-a", "-X", "-D", "-S", begin, "-o", FIELDS]
    words += ["-E", until or "now"]
    words += ["-M", cluster] if cluster else []
    return asked(words, out)


def asked(words: list[str], out: Path) -> Path:
    """The answer of one of Slurm's commands in a file, its times as seconds since 1970."""
    program = shutil.which(words[0])
    if program is None:
        raise StrataError(
            f"there is no {words[0]} on this machine",
            at="--live",
            allowed="a login node of a cluster with Slurm's accounting",
            remedy=DUMP,
        )
    environment = os.environ | {"SLURM_TIME_FORMAT": "%s"}
    with out.open("wb") as file:
        done = subprocess.run(
            [program, *words[1:]], stdout=file, stderr=subprocess.PIPE, env=environment, check=False
        )
    if done.returncode != 0 or not out.stat().st_size:
        raise StrataError(
            f"{words[0]} gave no answer",
            at=" ".join(words),
            given=done.stderr.decode(errors="replace").strip()[:300] or f"status {done.returncode}",
            remedy="ask whether accounting is on: scontrol show config | grep AccountingStorageType",
            code=NO_RESULT,
        )
    return out
