"""The bound each figure stands beside, taken from other tasks of the same run: peak, bandwidth, the latency
of a cache line.

A figure says little alone. 40 GF/s is good or bad only beside what this machine's units can do; the bounds
here were measured minutes before or after, in interleaved order, with the same statistics. Where a bound was
not measured there is none: null.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Summary = Mapping[str, Any]
_TO_GIGA = {"GF/s": 1.0, "GFlop/s": 1.0, "MF/s": 1e-3, "GB/s": 1.0, "MB/s": 1e-3, "Mcell/s": 1e-3}
_TO_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def bound(task: Summary, tasks: Sequence[Summary]) -> dict[str, Any] | None:
    """The bound of the task's headline figure, in that figure's unit."""
    find = _RULES.get(task["benchmark"])
    figure = headline(task)
    if find is None or figure is None or figure["median"] is None:
        return None
    found = find(task, figure, tasks)
    if found is None:
        return None
    name, base, source = found
    unit = figure["unit"]
    value = _in_unit(base, unit)
    if value is None or value <= 0:
        return None
    # Of the bound, how much is reached: a rate as part of the peak, a latency as floor over reading.
    reached = figure["median"] / value if figure["better"] == "higher" else value / figure["median"]
    return {
        "name": name,
        "value": value,
        "unit": unit,
        "figure": figure["name"],
        "reached": reached,
        "source": source,
    }


def headline(task: Summary) -> Mapping[str, Any] | None:
    """The figure a task is known for: the first named in the case file, else the first of the result."""
    figures: dict[str, Mapping[str, Any]] = {f["name"]: f for f in task["figures"]}
    for name in task.get("headline") or []:
        if name in figures:
            return figures[name]
    return next(iter(figures.values()), None)


Found = tuple[str, float, str]
Rule = Callable[[Summary, Mapping[str, Any], Sequence[Summary]], Found | None]


def _size(task: Summary) -> tuple[int, int]:
    processes, threads = task["layout"].split("x")
    return int(processes), int(threads)


def _figures(
    tasks: Iterable[Summary], benchmark: str, *names: str
) -> list[tuple[Summary, Mapping[str, Any]]]:
    return [
        (t, f)
        for t in tasks
        if t["benchmark"] == benchmark and not t.get("single")
        for f in t["figures"]
        if f["median"] is not None and (not names or f["name"] in names)
    ]


def _giga(figure: Mapping[str, Any]) -> float | None:
    factor = _TO_GIGA.get(figure["unit"])
    return figure["median"] * factor if factor else None


def _in_unit(value: float, unit: str) -> float | None:
    """From GF/s, GB/s or ns to the figure's own unit."""
    factor = _TO_GIGA.get(unit) or _TO_NS.get(unit)
    return value / factor if factor else None


def _peak(cores: int, tasks: Sequence[Summary]) -> Found | None:
    """Measured FMA peak of this many cores: the reading of a layout with as many, else cores x one core's (an
    upper bound: all-core clocks are lower).
    """
    readings: list[tuple[int, float, str]] = []
    for task, figure in _figures(tasks, "peak"):
        value = _giga(figure)
        if value is not None and "F" in figure["unit"].upper():
            processes, threads = _size(task)
            readings.append((processes * threads, value, task["id"]))
    same = [r for r in readings if r[0] == cores]
    if same:
        best = max(same, key=lambda r: r[1])
        return f"measured peak of {cores} core{'s' if cores > 1 else ''}", best[1], best[2]
    if not readings:
        return None
    best = max(readings, key=lambda r: r[1] / r[0])
    return f"{cores} x measured peak of one core", cores * best[1] / best[0], best[2]


def _triad(cores: int, tasks: Sequence[Summary]) -> Found | None:
    """Fastest triad of at least this many cores, per machine (the sum over processes)."""
    readings = []
    for task, figure in _figures(tasks, "stream", "triad"):
        processes, threads = _size(task)
        value = _giga(figure)
        if value is not None and processes * threads <= cores:
            readings.append((value, task["id"]))
    if not readings:
        return None
    value, source = max(readings)
    return "fastest triad of as many cores", value, source


def _line_ns(tasks: Sequence[Summary]) -> tuple[float, str] | None:
    """Smallest round trip of a cache line between two cores, from the matrix of `lines`."""
    best: tuple[float, str] | None = None
    for task in tasks:
        if task["benchmark"] != "lines":
            continue
        for matrix in task["matrices"]:
            factor = _TO_NS.get(matrix["unit"])
            for i, row in enumerate(matrix["values"]):
                for j, value in enumerate(row):
                    if factor and i != j and value and (best is None or value * factor < best[0]):
                        best = (value * factor, task["id"])
    return best


def _of_stream(task: Summary, figure: Mapping[str, Any], tasks: Sequence[Summary]) -> Found | None:
    processes, threads = _size(task)
    found = _triad(processes * threads, tasks)
    return ("fastest triad of this run with as many cores", found[1], found[2]) if found else None


def _of_dgemm(task: Summary, figure: Mapping[str, Any], tasks: Sequence[Summary]) -> Found | None:
    processes, threads = _size(task)
    # A figure per process stands beside the peak of one process's threads.
    per_process = "process" in figure["name"]
    return _peak(threads if per_process else processes * threads, tasks)


def _of_hpl(task: Summary, figure: Mapping[str, Any], tasks: Sequence[Summary]) -> Found | None:
    if figure["name"] != "hpl":
        return None
    processes, threads = _size(task)
    readings = [
        (value, other["id"])
        for other, found in _figures(tasks, "dgemm", "dgemm")
        if math.prod(_size(other)) == processes * threads and (value := _giga(found)) is not None
    ]
    if not readings:
        return None
    value, source = max(readings)
    return "DGEMM of as many cores", value, source


def _of_latency(factor: Callable[[int], float], what: str) -> Rule:
    def rule(task: Summary, figure: Mapping[str, Any], tasks: Sequence[Summary]) -> Found | None:
        line = _line_ns(tasks)
        if line is None:
            return None
        if (
            figure["unit"] not in _TO_NS
        ):  # a bandwidth: a message is at best one copy, and a copy moves each byte twice
            copy = _copy(task, tasks)
            return ("half the copy bandwidth", copy[0] / 2, copy[1]) if copy else None
        processes, _ = _size(task)
        return what, 0.5 * line[0] * factor(processes), line[1]

    return rule


def _copy(task: Summary, tasks: Sequence[Summary]) -> tuple[float, str] | None:
    readings = [(v, t["id"]) for t, f in _figures(tasks, "stream", "copy") if (v := _giga(f)) is not None]
    return max(readings, default=None)


def _of_ptrans(task: Summary, figure: Mapping[str, Any], tasks: Sequence[Summary]) -> Found | None:
    processes, threads = _size(task)
    found = _triad(processes * threads, tasks)
    # A <- A^T + C counts 8 bytes an element and moves 24: read A, read C, write A.
    return ("a third of the triad (24 bytes moved for 8 counted)", found[1] / 3, found[2]) if found else None


def _of_mpifft(task: Summary, figure: Mapping[str, Any], tasks: Sequence[Summary]) -> Found | None:
    processes, threads = _size(task)
    found = _triad(processes * threads, tasks)
    peak = _peak(processes * threads, tasks)
    n = (task.get("parameters") or {}).get("n")
    if found is None or not n:
        return ("measured peak", peak[1], peak[2]) if peak else None
    # 5 n log2 n flops; at least one pass that reads and writes 16-byte complex numbers: roofline of Williams,
    # Waterman and Patterson, CACM 52(4), 2009, with intensity 5 log2(n) / 32.
    roof = found[1] * 5 * math.log2(n) / 32
    if peak is not None and peak[1] < roof:
        return peak
    return "bandwidth roof (one pass over the data)", roof, found[2]


def _of_stencil(task: Summary, figure: Mapping[str, Any], tasks: Sequence[Summary]) -> Found | None:
    processes, threads = _size(task)
    found = _triad(processes * threads, tasks)
    # A step reads and writes each cell, 16 bytes (roofline: Williams, Waterman, Patterson, CACM 52(4), 2009).
    return ("triad bandwidth over 16 bytes a cell", found[1] / 16, found[2]) if found else None


_RULES: dict[str, Rule] = {
    "stencil": _of_stencil,
    "stream": _of_stream,
    "dgemm": _of_dgemm,
    "hpl": _of_hpl,
    "pingpong": _of_latency(lambda p: 1.0, "one way of a cache line between two cores"),
    "rings": _of_latency(lambda p: 1.0, "one way of a cache line between two cores"),
    "allreduce": _of_latency(lambda p: math.ceil(math.log2(max(2, p))), "log2(P) ways of a cache line"),
    "alltoall": _of_latency(lambda p: 1.0, "one way of a cache line between two cores"),
    "ptrans": _of_ptrans,
    "mpifft": _of_mpifft,
}
