"""How each kind of figure gets its bound from other tasks of the same run. bounds.py has the table that says
which rule is whose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from strata.advice.samples import processes_threads, width
from strata.paths import MD_WEAK, NPB, PATCHES

Summary = Mapping[str, Any]
Figure = Mapping[str, Any]
TO_GIGA = {"GF/s": 1.0, "GFlop/s": 1.0, "MF/s": 1e-3, "GB/s": 1.0, "MB/s": 1e-3, "Mcell/s": 1e-3}
TO_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
# Labels that say how a program was laid out; the others say what it does.
_LAID_OUT = ("setting", "layout", "stride", "distance")
MESSAGE = "2000000"  # bytes of the messages whose bandwidth counts
IN_CACHE = "stream-in-cache"  # STREAM with arrays as long as such a message: no memory bandwidth


class Found(NamedTuple):
    """A bound: its name, its value in GF/s, GB/s, ns or the figure's own unit, and the task it is from."""

    name: str
    value: float
    source: str
    own_unit: bool = False


# A rule gives the bound, the reason why this one figure has none, or None where it was not measured.
Rule = Callable[[Summary, Figure, Sequence[Summary]], Found | str | None]


def kind_of(task: Summary) -> str:
    """The benchmark in the words of the table: NPB and solvers are known by their programs."""
    command = list(task.get("command") or ["", ""])
    program = command[0].strip("{}").rsplit("/", 1)[-1]
    if program in NPB:
        return "npb"
    if program in (PATCHES, MD_WEAK):
        return program
    if task["benchmark"] == "stream" and ("--array", MESSAGE) in pairwise(command):
        return IN_CACHE
    return str(task["benchmark"])


def in_unit(found: Found, unit: str) -> float | None:
    """The bound's value in the figure's unit."""
    if found.own_unit:
        return found.value
    factor = TO_GIGA.get(unit) or TO_NS.get(unit)
    return found.value / factor if factor else None


def _figures(tasks: Iterable[Summary], kind: str, *names: str) -> list[tuple[Summary, Figure]]:
    return [
        (t, f)
        for t in tasks
        if kind_of(t) == kind and not t.get("single")
        for f in t["figures"]
        if f["median"] is not None and (not names or f["name"] in names)
    ]


def _giga(figure: Figure) -> float | None:
    factor = TO_GIGA.get(figure["unit"])
    return figure["median"] * factor if factor else None


def _own(task: Summary, name: str) -> float | None:
    """The median of another figure of the same task."""
    return next((f["median"] for f in task["figures"] if f["name"] == name), None)


def _same_cores(a: Summary, b: Summary) -> bool:
    """Whether two tasks ran on the same cores: so many, so far apart, held in the same way."""
    return width(a) == width(b) and _same_way(a, b)


def _same_way(a: Summary, b: Summary) -> bool:
    return all(a.get(key) == b.get(key) for key in ("stride", "bind"))


# -- arithmetic --------------------------------------------------------------------------------------------


def _peak(cores: int, tasks: Sequence[Summary]) -> Found | None:
    """Measured FMA peak of this many cores: the reading of a layout with as many, else cores x one core's (an
    upper bound: all-core clocks are lower).
    """
    readings: list[tuple[int, float, str]] = []
    for task, figure in _figures(tasks, "peak"):
        value = _giga(figure)
        if value is not None and "F" in figure["unit"].upper():
            readings.append((width(task), value, task["id"]))
    same = [r for r in readings if r[0] == cores]
    if same:
        best = max(same, key=lambda r: r[1])
        return Found(f"measured peak of {cores} core{'s' if cores > 1 else ''}", best[1], best[2])
    if not readings:
        return None
    best = max(readings, key=lambda r: r[1] / r[0])
    return Found(f"{cores} x measured peak of one core", cores * best[1] / best[0], best[2])


def arithmetic(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | None:
    """The peak of as many cores."""
    # A figure per process stands beside the peak of one process's threads.
    per_process = "process" in figure["name"]
    return _peak(processes_threads(task["layout"])[1] if per_process else width(task), tasks)


def as_dgemm(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | None:
    """What DGEMM reaches on as many cores: programs that compute come no nearer to the peak."""
    readings = [
        (v, t["id"])
        for t, f in _figures(tasks, "dgemm", "dgemm")
        if width(t) == width(task) and (v := _giga(f)) is not None
    ]
    return Found("DGEMM on as many cores", *max(readings)) if readings else None


def of_clock(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | None:
    """The highest clock of the run: of integer additions alone, with the whole turbo budget."""
    readings = [(f["median"], t["id"]) for t, f in _figures(tasks, "clock", "clock at the start")]
    return Found("highest clock at the start of a launch", *max(readings), True) if readings else None


# -- memory ------------------------------------------------------------------------------------------------


def _triad(cores: int, tasks: Sequence[Summary]) -> Found | None:
    """Fastest triad of at most this many cores, per machine (the sum over processes)."""
    readings = [
        (value, task["id"])
        for task, figure in _figures(tasks, "stream", "triad")
        if (value := _giga(figure)) is not None and width(task) <= cores
    ]
    return Found("fastest triad of this run with as many cores", *max(readings)) if readings else None


def as_triad(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | None:
    """The triad of as many cores."""
    return _triad(width(task), tasks)


def of_stencil(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | None:
    """A step reads and writes each cell, 16 bytes (roofline: Williams, Waterman, Patterson, CACM 52(4),
    2009).
    """
    found = _triad(width(task), tasks)
    return Found("triad bandwidth over 16 bytes a cell", found.value / 16, found.source) if found else None


def of_sweep(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | None:
    """The bytes of a sweep, its time x its bandwidth, at the triad's bandwidth."""
    found, time, rate = _triad(width(task), tasks), _own(task, "sweep"), _own(task, "bandwidth")
    if found is None or not time or not rate:
        return None
    return Found("its bytes at the triad's bandwidth", time * rate / found.value, found.source, True)


def of_ptrans(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | None:
    """PTRANS moves three times the bytes that it counts: a third of the triad."""
    found = _triad(width(task), tasks)
    # A <- A^T + C counts 8 bytes an element and moves 24: read A, read C, write A.
    name = "a third of the triad (24 bytes moved for 8 counted)"
    return Found(name, found.value / 3, found.source) if found else None


def of_mpifft(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | None:
    """The lower of the peak and of what one pass over memory allows."""
    found, peak = _triad(width(task), tasks), _peak(width(task), tasks)
    n = (task.get("parameters") or {}).get("n")
    if found is None or not n:
        return peak._replace(name="measured peak") if peak else None
    # 5 n log2 n flops; at least one pass that reads and writes 16-byte complex numbers: roofline of Williams,
    # Waterman and Patterson, CACM 52(4), 2009, with intensity 5 log2(n) / 32.
    roof = found.value * 5 * math.log2(n) / 32
    if peak is not None and peak.value < roof:
        return peak
    return Found("bandwidth roof (one pass over the data)", roof, found.source)


# -- messages ----------------------------------------------------------------------------------------------


def _line_ns(task: Summary, tasks: Sequence[Summary]) -> tuple[float, str] | None:
    """Round trip of a cache line: between two cores as far apart as the task's, where that was measured, else
    the smallest of any two.
    """
    readings: list[tuple[bool, float, str]] = []
    for other in tasks:
        if other["benchmark"] != "lines":
            continue
        elsewhere = not (width(other) == 2 and _same_way(task, other))
        for matrix in other["matrices"]:
            factor = TO_NS.get(matrix["unit"])
            for i, row in enumerate(matrix["values"]):
                for j, value in enumerate(row):
                    if factor and i != j and value:
                        readings.append((elsewhere, value * factor, other["id"]))
    return min(readings)[1:] if readings else None


def _copy(task: Summary, tasks: Sequence[Summary], in_cache: bool) -> tuple[float, str] | None:
    """Copy bandwidth of all processes together: of arrays as long as a message, on the task's own cores; or
    of arrays in memory, the most of the run.
    """
    readings = [
        (v, t["id"])
        for t, f in _figures(tasks, IN_CACHE if in_cache else "stream", "copy")
        if (v := _giga(f)) is not None and (not in_cache or _same_cores(task, t))
    ]
    return max(readings, default=None)


def way_of_a_line(factor: Callable[[int], float], what: str) -> Rule:
    """The time of a message: at least that of a cache line, so many times."""

    def rule(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | None:
        if figure["unit"] not in TO_NS:
            return of_copies(task, figure, tasks)
        line = _line_ns(task, tasks)
        return Found(what, 0.5 * line[0] * factor(width(task)), line[1]) if line else None

    return rule


def of_copies(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | None:
    """A message is at best one copy, and a copy moves each byte twice: half the copy bandwidth."""
    if copy := _copy(task, tasks, in_cache=True):
        return Found("half the copy bandwidth of arrays as long as a message", copy[0] / 2, copy[1])
    copy = _copy(task, tasks, in_cache=False)
    return Found("half the copy bandwidth", copy[0] / 2, copy[1]) if copy else None


def of_ring(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | None:
    """Each of P processes sends two messages of L bytes in the time T, so at best 2 P L bytes are copied, and
    4 P L moved; what counts is 2 L / T, the copy bandwidth over 2 P.
    """
    if figure["unit"] in TO_NS:
        return way_of_a_line(lambda p: 1.0, "one way of a cache line between two cores")(task, figure, tasks)
    if copy := _copy(task, tasks, in_cache=True):
        name = "copy bandwidth of arrays as long as a message, over 2 P"
        return Found(name, copy[0] / 2 / processes_threads(task["layout"])[0], copy[1])
    return of_copies(task, figure, tasks)


# -- teams -------------------------------------------------------------------------------------------------


def as_line(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | None:
    """One way of a bare cache line: whoever waits must see what another has written."""
    readings = [
        (f["median"], t["id"])
        for t, f in _figures(tasks, "team-flag", "flag")
        if str((t.get("labels") or {}).get("kind")).startswith("line")
    ]
    return Found("one way of a bare cache line", *min(readings)) if readings else None


def of_flag(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | str | None:
    """A flag takes a cache line from core to core: the time of such a line."""
    if str((task.get("labels") or {}).get("kind")).startswith("line"):
        return "it is itself what the machine needs, and the bound of the others"
    return as_line(task, figure, tasks)


def of_barrier(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | str | None:
    """A barrier cannot be faster than one cache line from core to core."""
    members = int((task.get("labels") or {}).get("members") or width(task))
    if members > width(task):
        return "members take turns on their cores: the time is that of the system's switches between them"
    return as_line(task, figure, tasks)


def of_read(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | str | None:
    """Who copies what a neighbour wrote must read it, as in place."""
    in_place = [
        (f["median"], t["id"])
        for t, f in _figures(tasks, "team-read", "read")
        if (t.get("labels") or {}).get("kind") == "in-place"
    ]
    if (task.get("labels") or {}).get("kind") == "in-place":
        return "it is itself how fast a core reads what another has written, and the bound of the copies"
    return Found("the same read in place", *max(in_place)) if in_place else None


# -- scaling -----------------------------------------------------------------------------------------------


def ideal(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | str | None:
    """The same program's rate on the fewest cores, each further core adding as much (ideal scaling)."""
    same = [
        (width(t), f["median"], t["id"])
        for t, f in _figures(tasks, kind_of(task), figure["name"])
        if _work(t) == _work(task)
    ]
    if not same:
        return None
    fewest = min(cores for cores, _, _ in same)
    if width(task) == fewest:
        return (
            f"it is the rate of {fewest} core{'s' if fewest > 1 else ''} by which ideal scaling is measured"
        )
    value, source = max((value, source) for cores, value, source in same if cores == fewest)
    factor = 1.0 if "thread" in figure["name"] else width(task) / fewest
    what = (
        "the rate of a thread" if "thread" in figure["name"] else f"{width(task)} / {fewest} times the rate"
    )
    return Found(f"ideal scaling: {what} on {fewest}", factor * value, source, True)


def _work(task: Summary) -> dict[str, str]:
    """What a task does: its labels without those of its layout."""
    return {k: v for k, v in (task.get("labels") or {}).items() if k not in _LAID_OUT}


# -- the figure's own scale --------------------------------------------------------------------------------


def whole(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found:
    """A share of at most 100 %."""
    return Found("all of it", 100.0, task["id"], True)


def one_tick(task: Summary, figure: Figure, tasks: Sequence[Summary]) -> Found | str | None:
    """A spread is not seen below one tick of the counter."""
    if figure["name"].endswith(", cycles"):
        return "cycles are counted one by one: the floor is 0"
    tick = _own(task, "resolution")
    return Found("one tick of the counter", tick, task["id"], True) if tick else None
