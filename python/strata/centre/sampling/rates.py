"""From samples to rates: the machine over time, as the Origin2000's account shows it in Figure 10, and by
program and job.

Between two samples of one sampler a rate is constant. Time in half hours takes its part of each such piece.
The rate of a node is that of its own samples; where it has none, of those of its jobs. The machine's is the
sum of the mean rates of its nodes over the time in which each was sampled. Where nothing was sampled there is
a gap, not zero.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from strata.centre.jobs.text import progress
from strata.centre.outages.history import DAY
from strata.centre.sampling import collected
from strata.centre.sampling.pieces import RATES, Pieces, any_of, between, of_collector, table
from strata.centre.sampling.ring import JOB, SUFFIX, header
from strata.centre.use.occupancy import per_bin, running
from strata.errors import StrataError

MINUTES = 30.0
WEEK = 7 * DAY
LISTED = 20
DRAWN_PROGRAMS = 4


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


YEAR = 365.25 * 86400.0
LONGEST = 30 * YEAR


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
class _Sums:
    """Of a program or a job: pieces' seconds, those with each column, amounts, memory, and its jobs."""

    seconds: float = 0.0
    counted: np.ndarray = field(default_factory=lambda: np.zeros(len(RATES)))
    amounts: np.ndarray = field(default_factory=lambda: np.zeros(len(RATES)))
    memory: float = 0.0
    jobs: set[str] = field(default_factory=set)

    def account(self, name: str, key: str = "") -> Account:
        rate = [a / c if c else None for a, c in zip(self.amounts, self.counted, strict=True)]
        of = dict(zip((name for name, *_ in RATES), rate, strict=True))
        cpu = float(self.amounts[[name for name, *_ in RATES].index("cpu")])
        busy = cpu / self.seconds if self.seconds else 0.0
        return Account(
            name,
            len(self.jobs),
            self.seconds / 3600,
            cpu / 3600,
            busy,
            self.memory,
            of["read"],
            of["written"],
            of["operations"],
            key,
        )


@dataclass
class _Bins:
    """Values of half hours, added to where they are, from the first to the last that has any."""

    first: int = 0
    values: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def add(self, first: int, more: np.ndarray) -> None:
        if not len(self.values):
            self.first = first
        low, high = min(self.first, first), max(self.first + len(self.values), first + len(more))
        if high - low > len(self.values):
            old = self.values
            self.values = np.zeros(high - low)
            self.values[self.first - low : self.first - low + len(old)] = old
            self.first = low
        self.values[first - self.first : first - self.first + len(more)] += more

    def over(self, first: int, count: int) -> np.ndarray:
        out = np.zeros(count)
        out[self.first - first : self.first - first + len(self.values)] = self.values
        return out


@dataclass
class _Machine:
    """What is gathered from node to node, so that no more than one node's samples are in memory."""

    series: dict[str, _Bins] = field(default_factory=dict)
    seen: dict[str, _Bins] = field(default_factory=dict)  # how many nodes counted a column in a bin
    by_program: dict[tuple[str, str], _Bins] = field(default_factory=dict)
    programs: dict[str, _Sums] = field(default_factory=dict)
    jobs: dict[str, _Sums] = field(default_factory=dict)
    covered: float = 0.0
    begin: float = np.inf
    end: float = -np.inf
    columns: int = 0


def sampled(folder: Path) -> Sampled:
    """What the files of a folder, and below it, say: those of `centre sample`, and CSV of other collectors.
    Raises StrataError where there is none.
    """
    files = sorted(p for p in folder.rglob("*") if p.suffix in (SUFFIX, ".csv")) if folder.is_dir() else []
    if not files:
        raise StrataError(
            "no samples there",
            at="--samples",
            given=str(folder),
            allowed=f"a folder with NODE{SUFFIX} files, or CSV of another collector",
            remedy="strata centre sample --help",
        )
    whole, torn = _Machine(), 0
    cores: dict[str, int] = {}
    nodes: dict[str, list[Path]] = {}
    for path in files:
        if path.suffix == SUFFIX:
            host, count = header(path)
            cores[host] = count
            nodes.setdefault(host, []).append(path)  # copies of one file may overlap
    begin = time.monotonic()
    for number, paths in enumerate(nodes.values(), start=1):
        progress("samples", number / len(nodes), begin)
        tables = [table(path) for path in paths]
        torn += sum(t for _, t in tables)
        _add(whole, between(np.concatenate([t for t, _ in tables])))
    for path in files:
        if path.suffix == ".csv":
            found = collected.read(path)
            for host in np.unique(found.node):
                here = found.node == host
                cores[str(host)] = max(cores.get(str(host), 0), int(found.cores[here].max()))
                _add(whole, of_collector(found, here))
    if whole.end <= whole.begin:
        raise StrataError(
            "too few samples",
            at=str(folder),
            given=f"{len(files)} file{'' if len(files) == 1 else 's'}",
            allowed="two of one sampler at least",
        )
    few = "1 record is" if torn == 1 else f"{torn} records are"
    said = [f"{few} damaged (being written when a node stopped): left out."] if torn else []
    return _sampled(folder, cores, whole, said)


def _add(whole: _Machine, pieces: Pieces) -> None:
    """One node's pieces."""
    if not len(pieces.begin):
        return
    begin, end = float(pieces.begin.min()), float(pieces.end.max())
    whole.begin, whole.end = min(whole.begin, begin), max(whole.end, end)
    if not whole.end - whole.begin <= LONGEST:
        raise StrataError(
            "samples that lie too far apart",
            at="--samples",
            given=f"{(whole.end - whole.begin) / YEAR:.3g} years",
            allowed=f"{LONGEST / YEAR:.0f} years: their half hours are in memory",
            remedy="leave out files of nodes whose clocks are wrong",
        )
    whole.columns |= int(np.bitwise_or.reduce(pieces.columns))
    grid = 60 * MINUTES
    first = int(begin // grid)
    edges = np.arange(first, int(-(-end // grid)) + 1) * grid
    jobs = pieces.kind == JOB
    machine = ~jobs if not jobs.all() else jobs
    whole.covered += float(any_of(pieces.begin[machine], pieces.end[machine], edges).sum())
    programs, code = np.unique(pieces.program, return_inverse=True)
    for k, (name, bit, _, scale) in enumerate(RATES):
        has = (pieces.columns & bit) > 0
        here = machine & has
        if here.any():
            seconds = any_of(pieces.begin[here], pieces.end[here], edges)
            rate = _rate(pieces, here, k, scale, edges, seconds)
            whole.series.setdefault(name, _Bins()).add(first, rate)
            whole.seen.setdefault(name, _Bins()).add(first, (seconds > 0).astype(float))
            for p in np.unique(code[jobs & has]) if name in ("operations", "cpu") else ():
                own, program = jobs & has & (code == p), programs[p]
                bins = whole.by_program.setdefault((name, str(program)), _Bins())
                bins.add(first, _rate(pieces, own, k, scale, edges, seconds))
    for names, sums in ((pieces.program, whole.programs), (pieces.job, whole.jobs)):
        _sum(pieces, np.flatnonzero(jobs), names, sums)


def _rate(
    pieces: Pieces, here: np.ndarray, k: int, scale: float, edges: np.ndarray, seconds: np.ndarray
) -> np.ndarray:
    """The mean rate of each bin over the time in which the node was sampled."""
    low, high = pieces.begin[here], pieces.end[here]
    amounts = per_bin(low, high, scale * pieces.amounts[here, k] / (high - low), edges)
    return np.divide(amounts, seconds, out=np.zeros(len(amounts)), where=seconds > 0)


def _sum(pieces: Pieces, which: np.ndarray, names: np.ndarray, sums: dict[str, _Sums]) -> None:
    known, place = np.unique(names[which], return_inverse=True)
    size = len(known)
    seconds, columns = (pieces.end - pieces.begin)[which], pieces.columns[which]
    amounts = [np.bincount(place, pieces.amounts[which, k], size) for k in range(len(RATES))]
    counted = [np.bincount(place, seconds * ((columns & bit) > 0), size) for _, bit, *_ in RATES]
    total, memory = np.bincount(place, seconds, size), np.zeros(size)
    np.maximum.at(memory, place, pieces.memory[which])
    jobs, job = np.unique(pieces.job[which], return_inverse=True)
    pairs = np.unique(np.stack([place, job]), axis=1)
    for k, name in enumerate(known):
        one = sums.setdefault(str(name), _Sums())
        one.seconds += float(total[k])
        one.amounts += [a[k] for a in amounts]
        one.counted += [c[k] for c in counted]
        one.memory = max(one.memory, float(memory[k]))
        first, last = np.searchsorted(pairs[0], [k, k + 1])
        one.jobs |= set(map(str, jobs[pairs[1, first:last]]))


def _sampled(folder: Path, cores: dict[str, int], whole: _Machine, said: list[str]) -> Sampled:
    ranked = [
        sorted(
            (s.account(n, n if of is whole.jobs else "") for n, s in of.items()), key=lambda a: -a.cpu_hours
        )
        for of in (whole.programs, whole.jobs)
    ]
    programs, jobs = (found[:LISTED] for found in ranked)
    shown = "operations" if any(name == "operations" for name, _ in whole.by_program) else "cpu"
    series = {name: _series(bins, whole.seen[name]) for name, bins in whole.series.items()}
    by_program = [
        (a.name, shown, _series(whole.by_program[(shown, a.name)], whole.seen[shown]))
        for a in programs[:DRAWN_PROGRAMS]
        if (shown, a.name) in whole.by_program
    ]
    span = (whole.end - whole.begin) * len(cores)
    empty = [title for _, bit, title, _ in RATES if not whole.columns & bit]
    return Sampled(
        str(folder),
        len(cores),
        sum(cores.values()),
        whole.begin,
        whole.end,
        min(1.0, whole.covered / span),
        series,
        programs,
        jobs,
        by_program,
        empty,
        said,
    )


def _series(bins: _Bins, seen: _Bins) -> Series:
    """Rates where a node was sampled, and their mean over seven days."""
    grid, count = 60 * MINUTES, len(seen.values)
    there = (seen.values > 0).astype(float)
    rate = bins.over(seen.first, count)
    week = running(rate, there, round(WEEK / grid))
    edges = (seen.first + np.arange(count + 1)) * grid
    return Series(edges, *(np.where(there > 0, x, np.nan) for x in (rate, week)))


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
