"""Stretches of a node's time between two samples: of the sampler's files, and of other collectors'."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from strata.centre.outages.times import LAST
from strata.centre.sampling import collected
from strata.centre.sampling.ring import CPU, FIRST, IO, OPERATIONS, RECORD, TRAFFIC, whole
from strata.centre.use.occupancy import per_bin

_GAP = 4.0  # times the usual pause: what lies between two samples that are further apart is not known
# Column of a sample, its bit, its name, and what makes a number for people of it.
RATES = (
    ("operations", OPERATIONS, "Gflop/s", 1e-9),
    ("traffic", TRAFFIC, "memory traffic, GB/s", 1e-9),
    ("cpu", CPU, "processors busy", 1.0),
    ("read", IO, "read, MB/s", 1e-6),
    ("written", IO, "written, MB/s", 1e-6),
)


@dataclass
class Pieces:
    """Stretches of one node's time between two samples: an entry for each."""

    begin: np.ndarray
    end: np.ndarray
    kind: np.ndarray
    job: np.ndarray
    program: np.ndarray
    columns: np.ndarray
    memory: np.ndarray
    amounts: np.ndarray  # a column for each of RATES


_RECORD = np.dtype(
    [
        ("number", "<u8"),
        ("time", "<f8"),
        ("kind", "u1"),
        ("columns", "u1"),
        ("cores", "<u2"),
        ("processes", "<u4"),
        ("job", "S24"),
        ("program", "S16"),
        ("cpu", "<f8"),
        ("memory", "<u8"),
        ("read", "<u8"),
        ("written", "<u8"),
        ("operations", "<f8"),
        ("traffic", "<f8"),
        ("run", "<u4"),
        ("none", "V8"),
        ("crc", "<u4"),
    ]
)  # as in ring.py


def table(path: Path) -> tuple[np.ndarray, int]:
    """A file's sound records, and how many are torn."""
    data = whole(path)[FIRST:]
    found = np.frombuffer(data, _RECORD, len(data) // RECORD)
    body = RECORD - 4
    sums = (zlib.crc32(data[i : i + body]) for i in range(0, len(found) * RECORD, RECORD))
    sound = np.fromiter(sums, np.uint32, len(found)) == found["crc"]
    written = found["time"] != 0
    for name in ("time", "cpu", "operations", "traffic"):
        sound &= np.isfinite(found[name])
    sound &= (found["time"] >= 0) & (found["time"] <= LAST)
    return found[sound & written], int((written & ~sound).sum())


def between(found: np.ndarray) -> Pieces:
    """Between samples of one sampler, and of one job or the node, that follow each other."""
    _, job = np.unique(found["job"], return_inverse=True)
    order = np.lexsort((found["time"], found["run"], job, found["kind"]))
    found, job = found[order], job[order]
    times = np.unique(found["time"])
    pauses = np.diff(times)[np.diff(times) > 0.5]
    usual = max(float(np.median(pauses)) if len(pauses) else 0.0, 30.0)
    a, b = found[:-1], found[1:]
    lasts = b["time"] - a["time"]
    same = (a["kind"] == b["kind"]) & (a["run"] == b["run"]) & (job[:-1] == job[1:])
    keep = same & (lasts > 0) & (lasts <= _GAP * usual)
    a, b = a[keep], b[keep]
    # A sum that falls lost a process whose parent did not wait for it: what it did is not known.
    amounts = [np.maximum(0.0, b[name].astype(float) - a[name].astype(float)) for name, *_ in RATES]
    texts = (np.char.decode(b[name], "utf-8", "replace") for name in ("job", "program"))
    memory = np.maximum(a["memory"], b["memory"]).astype(float)
    return Pieces(
        a["time"], b["time"], b["kind"], *texts, b["columns"].astype(int), memory, np.stack(amounts, axis=1)
    )


def of_collector(found: collected.Collected, here: np.ndarray) -> Pieces:
    lasts = (found.end - found.begin)[here, None]
    order = [list(collected.RATES).index({"operations": "flops"}.get(name, name)) for name, *_ in RATES]
    return Pieces(
        found.begin[here],
        found.end[here],
        found.kind[here],
        found.job[here].astype(str),
        found.program[here].astype(str),
        found.columns[here],
        found.memory[here],
        (found.rates[here] * lasts)[:, order],
    )


def any_of(low: np.ndarray, high: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Seconds of each bin in which something lasts."""
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order])
    if not len(low):
        return np.zeros(len(edges) - 1)
    first = np.r_[True, low[1:] > high[:-1]]
    begin, end = low[first], high[np.r_[first[1:], True]]
    return per_bin(begin, end, np.ones(len(begin)), edges)
