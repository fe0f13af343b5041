"""From samples to rates: the machine over time, as the Origin2000's account shows it in Figure 10, and by
program and job.

Between two samples of one sampler a rate is constant. Time in half hours takes its part of each such piece.
The machine's rate is that of the samples of nodes; of a node that has none, of those of its jobs. Where
nothing was sampled there is a gap, not zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from strata.centre.outages.history import DAY
from strata.centre.sampling.ring import CPU, IO, JOB, MEMORY, NODE, OPERATIONS, SUFFIX, TRAFFIC, Sample, read
from strata.centre.use.occupancy import per_bin, running
from strata.errors import StrataError

MINUTES = 30.0
WEEK = 7 * DAY
LISTED = 20
DRAWN_PROGRAMS = 4
_GAP = 4.0  # times the usual pause: what lies between two samples that are further apart is not known
# Column of a sample, its bit, its name, and what makes a number for people of it.
RATES = (
    ("operations", OPERATIONS, "Gflop/s", 1e-9),
    ("traffic", TRAFFIC, "memory traffic, GB/s", 1e-9),
    ("cpu", CPU, "processors busy", 1.0),
    ("read", IO, "read, MB/s", 1e-6),
    ("written", IO, "written, MB/s", 1e-6),
)


@dataclass(frozen=True)
class Series:
    """A rate over time: `rate` in each bin and `week`, its mean over seven days around; NaN in gaps."""

    edges: np.ndarray
    rate: np.ndarray
    week: np.ndarray
    minutes: float = MINUTES


@dataclass(frozen=True)
class Account:
    """What the samples say of a program or of a job. `hours`: of nodes. None: a column that is empty."""

    name: str
    jobs: int
    hours: float
    cpu_hours: float
    busy: float
    memory: float  # bytes, the most on one node
    read: float | None
    written: float | None
    rate: float | None  # flop/s
    key: str = ""


@dataclass
class Sampled:
    """All that the files say. `empty`: columns that no sample has. `covered`: the share of the time from the
    first to the last sample of the nodes that was sampled."""

    folder: str
    nodes: int
    cores: int
    begin: float
    end: float
    covered: float
    series: dict[str, Series]
    programs: list[Account]
    jobs: list[Account]
    by_program: list[tuple[str, str, Series]]
    empty: list[str]
    said: list[str] = field(default_factory=list)


@dataclass
class _Pieces:
    """Time between samples that belong together: columns, an entry for each piece."""

    begin: list[float] = field(default_factory=list)
    end: list[float] = field(default_factory=list)
    host: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    job: list[str] = field(default_factory=list)
    program: list[str] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    amounts: list[tuple[float, ...]] = field(default_factory=list)


def sampled(folder: Path) -> Sampled:
    """What the files of a folder, and of those below it, say. Raises StrataError where there is none."""
    files = sorted(folder.rglob(f"*{SUFFIX}")) if folder.is_dir() else []
    if not files:
        raise StrataError(
            "no samples there",
            at="--samples",
            given=str(folder),
            allowed=f"a folder with NODE{SUFFIX} files",
            remedy="strata centre sample --help",
        )
    pieces, said, cores, torn = _Pieces(), [], 0, 0
    for number, path in enumerate(files):
        one = read(path)
        cores += one.cores
        torn += one.torn
        _pieces(pieces, number, one.samples)
    if torn:
        said.append(f"{torn} records are torn (they were being written when a node stopped): left out.")
    if not pieces.begin:
        raise StrataError(
            "too few samples",
            at=str(folder),
            given=f"{len(files)} files",
            allowed="two of one sampler at least",
        )
    return _sampled(folder, len(files), cores, pieces, said)


def _pieces(out: _Pieces, host: int, samples: Sequence[Sample]) -> None:
    last: dict[tuple[int, str, int], Sample] = {}
    pauses = [b.time - a.time for a, b in pairwise(samples) if b.time > a.time + 0.5]
    usual = float(np.median(pauses)) if pauses else 30.0
    for one in samples:
        key = (one.kind, one.job, one.run)
        before = last.get(key)
        last[key] = one
        if before is None or one.time <= before.time:
            continue
        if one.time - before.time > _GAP * max(usual, 30.0):
            continue
        out.begin.append(before.time)
        out.end.append(one.time)
        out.host.append(host)
        out.kind.append(one.kind)
        out.job.append(one.job)
        out.program.append(one.program)
        out.columns.append(one.columns)
        out.memory.append(float(max(one.memory, before.memory)))
        # A sum that falls lost a process whose parent did not wait for it: what it did is not known.
        out.amounts.append(tuple(max(0.0, getattr(one, c) - getattr(before, c)) for c, *_ in RATES))


def _sampled(folder: Path, nodes: int, cores: int, pieces: _Pieces, said: list[str]) -> Sampled:
    begin, end = np.array(pieces.begin), np.array(pieces.end)
    host, kind, columns = np.array(pieces.host), np.array(pieces.kind), np.array(pieces.columns)
    amounts = np.array(pieces.amounts)
    program, job = np.array(pieces.program), np.array(pieces.job)
    by_node = np.unique(host[kind == NODE])
    machine = (kind == NODE) | ~np.isin(host, by_node)
    grid = 60 * MINUTES
    edges = np.arange(np.floor(begin.min() / grid), np.ceil(end.max() / grid) + 1) * grid
    series = {
        name: _series(begin, end, amounts[:, k] * scale, host, machine & ((columns & bit) > 0), edges)
        for k, (name, bit, _, scale) in enumerate(RATES)
        if (columns[machine] & bit).any()
    }
    jobs = kind == JOB
    shown = "operations" if (columns[jobs] & OPERATIONS).any() else "cpu"
    k, scale = next((k, s) for k, (name, *_, s) in enumerate(RATES) if name == shown)
    accounts = _accounts(pieces, begin, end, amounts, columns, np.flatnonzero(jobs), program, job)
    programs = [
        (a.name, shown, _series(begin, end, amounts[:, k] * scale, host, jobs & (program == a.name), edges))
        for a in accounts[0][:DRAWN_PROGRAMS]
    ]
    covered = _covered(begin, end, host, machine)
    span = float(end.max() - begin.min()) * nodes
    empty = [title for name, bit, title, _ in RATES if not (columns & bit).any()]
    return Sampled(
        str(folder), nodes, cores, float(begin.min()), float(end.max()), min(1.0, covered / span),
        series, *accounts, programs, empty, said,
    )  # fmt: skip


def _covered(begin: np.ndarray, end: np.ndarray, host: np.ndarray, which: np.ndarray) -> float:
    """Seconds of nodes that have samples; those of several jobs of a node at once count once."""
    total = 0.0
    for one in np.unique(host[which]):
        here = which & (host == one)
        order = np.argsort(begin[here], kind="stable")
        low, high = begin[here][order], np.maximum.accumulate(end[here][order])
        reached = np.r_[-np.inf, high[:-1]]
        total += float(np.maximum(0.0, high - np.maximum(low, reached)).sum())
    return total


def _series(
    begin: np.ndarray,
    end: np.ndarray,
    amount: np.ndarray,
    host: np.ndarray,
    which: np.ndarray,
    edges: np.ndarray,
) -> Series:
    low, high = begin[which], end[which]
    sums = per_bin(low, high, amount[which] / (high - low), edges)
    # A bin counts for the time in which any node was sampled.
    seconds = _any(low, high, edges)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(seconds > 0, sums / seconds, np.nan)
        week = np.where(seconds > 0, running(sums, seconds, round(WEEK / (60 * MINUTES))), np.nan)
    return Series(edges, rate, week)


def _any(low: np.ndarray, high: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Seconds of each bin in which something lasts."""
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order])
    if not len(low):
        return np.zeros(len(edges) - 1)
    first = np.r_[True, low[1:] > high[:-1]]
    begin, end = low[first], high[np.r_[first[1:], True]]
    return per_bin(begin, end, np.ones(len(begin)), edges)


def _accounts(
    pieces: _Pieces,
    begin: np.ndarray,
    end: np.ndarray,
    amounts: np.ndarray,
    columns: np.ndarray,
    which: np.ndarray,
    program: np.ndarray,
    job: np.ndarray,
) -> tuple[list[Account], list[Account]]:
    """By program, and the jobs that used most."""
    seconds = end - begin
    memory = np.array(pieces.memory)
    of = {name: k for k, (name, *_) in enumerate(RATES)}

    def account(name: str, here: np.ndarray, key: str = "") -> Account:
        lasts = float(seconds[here].sum())

        def rate(column: str, bit: int) -> float | None:
            some = here[(columns[here] & bit) > 0]
            time = float(seconds[some].sum())
            return float(amounts[some, of[column]].sum()) / time if time else None

        cpu = float(amounts[here, of["cpu"]].sum())
        most = float(memory[here][(columns[here] & MEMORY) > 0].max(initial=0.0))
        return Account(
            name,
            len(np.unique(job[here])),
            lasts / 3600,
            cpu / 3600,
            cpu / lasts if lasts else 0.0,
            most,
            rate("read", IO),
            rate("written", IO),
            rate("operations", OPERATIONS),
            key,
        )

    def ranked(names: np.ndarray) -> list[Account]:
        order = which[np.argsort(names[which], kind="stable")]
        cuts = np.flatnonzero(names[order][1:] != names[order][:-1]) + 1
        found = [
            account(str(names[part[0]]), part, str(job[part[0]]))
            for part in np.split(order, cuts)
            if len(part)
        ]
        return sorted(found, key=lambda a: -a.cpu_hours)[:LISTED]

    return ranked(program), ranked(job)


def document(one: Sampled, hide: bool) -> dict[str, Any]:
    """As JSON; `hide`: programs and jobs by number."""

    def named(found: Sequence[Account], what: str) -> list[dict[str, Any]]:
        return [
            {k: v for k, v in (asdict(a) | ({"name": f"{what} {i}"} if hide else {})).items() if k != "key"}
            for i, a in enumerate(found, start=1)
        ]

    return {
        "nodes": one.nodes,
        "cores": one.cores,
        "observed": [one.begin, one.end],
        "covered": one.covered,
        "empty_columns": one.empty,
        "series": {
            name: {
                "unit": next(title for n, _, title, _ in RATES if n == name),
                "minutes": s.minutes,
                "begin": float(s.edges[0]),
                "rate": [None if np.isnan(v) else float(v) for v in s.rate],
                "week": [None if np.isnan(v) else float(v) for v in s.week],
            }
            for name, s in one.series.items()
        },
        "programs": named(one.programs, "program"),
        "jobs": named(one.jobs, "job"),
        "said": one.said,
    }
