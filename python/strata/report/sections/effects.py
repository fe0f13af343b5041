"""What pinning, stride and the number of processes do here: pairs that differ in one thing, and one sentence
for each from their intervals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from strata.advice.samples import (
    Interval,
    Task,
    family,
    figure,
    figures,
    headline,
    kind_of_unit,
    processes_threads,
    width,
)
from strata.advice.statements import Statement, compare
from strata.advice.words import unit_text
from strata.report.document import Block, Heading, Notice, Plot, Points, Section, Text
from strata.report.figures.plots import Dot, Panel, dots
from strata.report.source import Source, reproduce

BENCHMARKS = ("stream", "dgemm", "rings")
ORDER, MEASURED = (re.compile(words, re.IGNORECASE) for words in ("natural|random", "latency|bandwidth"))


def _shown(task: Task, f: Interval) -> bool:
    """What a comparison is about: the triad, the DGEMM rate, latency and bandwidth of both rings."""
    if task["benchmark"] == "rings":
        order = ORDER.search(f.name)  # two searches: names may be a stranger's, and `.*` begins at each word
        return order is not None and MEASURED.search(f.name, order.end()) is not None
    main = figure(task, "triad") if task["benchmark"] == "stream" else headline(task)
    return main is not None and f.name == main.name


@dataclass(frozen=True)
class Pair:
    """Two runs that differ in one thing."""

    what: str
    label_a: str
    a: Interval
    label_b: str
    b: Interval
    task_a: Task
    task_b: Task


def pairs(source: Source, question: str) -> list[Pair]:
    """The pairs of 'pinning', 'stride' or 'processes'."""
    return [
        p
        for benchmark in BENCHMARKS
        for a, b in _matches(source, benchmark, question)
        for p in _pairs(benchmark, a, b, question)
    ]


def _matches(source: Source, benchmark: str, question: str) -> Iterator[tuple[Task, Task]]:
    every = source.tasks(benchmark)
    for a in every:
        for b in (t for t in every if family(t) == family(a)):
            same_layout, same_stride, same_bind = (a.get(k) == b.get(k) for k in ("layout", "stride", "bind"))
            bound, plain = a.get("bind") == "core", a.get("stride", 1) == 1
            if (
                question == "pinning"
                and same_layout
                and same_stride
                and bound
                and b.get("bind") == "none"
                and width(a) > 1
            ):
                yield a, b
            elif (
                question == "stride"
                and same_layout
                and same_bind
                and bound
                and plain
                and b.get("stride", 1) > 1
            ):
                yield b, a
            elif (
                question == "processes"
                and same_stride
                and same_bind
                and bound
                and plain
                and width(a) > 1
                and _divided(benchmark, a, b)
            ):
                yield a, b


def _divided(benchmark: str, a: Task, b: Task) -> bool:
    """Threads against processes on the same cores; for rings, fewer against more processes."""
    (pa, ta), (pb, tb) = processes_threads(a.get("layout")), processes_threads(b.get("layout"))
    if benchmark == "rings":
        return ta == tb == 1 and pa < pb
    return pa * ta == pb * tb and pa == 1 < pb


def _pairs(benchmark: str, a: Task, b: Task, question: str) -> Iterator[Pair]:
    right = {f.name.lower(): f for f in figures(b)}
    for f in figures(a):
        if not _shown(a, f) or f.name.lower() not in right:
            continue
        name = (
            f.name
            if benchmark == "rings"
            else benchmark.upper()
            if benchmark == "dgemm"
            else f"{benchmark.upper()} {f.name}"
        )
        la, lb = _labels(a, b, question)
        at = (
            f" on {a['layout']}"
            if question == "pinning"
            else f" with {a['layout']}"
            if question == "stride"
            else ""
        )
        yield Pair(f"{name}{at}", la, f, lb, right[f.name.lower()], a, b)


def _labels(a: Task, b: Task, question: str) -> tuple[str, str]:
    if question == "pinning":
        return "bound", "unbound"
    if question == "stride":
        return f"stride {a['stride']}", f"stride {b['stride']}"
    return str(a["layout"]), str(b["layout"])


def statement(pair: Pair, comparisons: int) -> Statement:
    """The pair's outcome, as one of so many comparisons of its question."""
    return compare(pair.what, pair.label_a, pair.a, pair.label_b, pair.b, comparisons)


TITLES = {"pinning": "Pinning", "stride": "Stride", "processes": "Processes or threads"}
WHY = {
    "pinning": "Bound: each thread on one core of its own. Unbound: the kernel decides, and may move "
    "threads away from their caches and memory.",
    "stride": "Stride 2 leaves every second core free: threads have more of the shared caches and "
    "memory channels each, and half the cores idle.",
    "processes": "The same cores as threads of one process or as processes of one thread; for the "
    "rings, fewer or more processes.",
}


def effects(source: Source) -> Section:
    """The section on what pinning, stride and the number of processes change."""
    blocks: list[Block] = [
        Text(
            "Each comparison was planned before the first launch and differs in one thing. Two runs are "
            "compared "
            "by their ratio within each block of interleaved launches. A difference is named only where "
            "the interval "
            "of that ratio, at a level for all comparisons of a question together, does not hold 1; the "
            "range beside "
            "a factor is that interval."
        )
    ]
    for question in ("pinning", "stride", "processes"):
        found = pairs(source, question)
        blocks.append(Heading(TITLES[question]))
        blocks.append(Text(WHY[question]))
        if not found:
            need = " (it takes four cores)" if question == "stride" and source.cores < 4 else ""
            blocks.append(Notice("missing", f"No pair of runs with results that differ in this only{need}."))
            continue
        blocks.append(_plot(question, found))
        blocks.append(Points([statement(p, len(found)).text for p in found]))
    return Section("layouts-measured", "What pinning, stride and processes do here", blocks)


def _plot(question: str, found: list[Pair]) -> Plot:
    panels: dict[str, list[Dot]] = {}
    for p in found:
        kind = kind_of_unit(p.a.unit)
        what = "Ring" if p.task_a["benchmark"] == "rings" else str(p.task_a["benchmark"]).upper()
        order = ", shorter is better" if p.a.better == "lower" else ""
        title = (
            f"{what} {({'bandwidth': 'bandwidth', 'flops': 'rate', 'time': 'time'}).get(kind, '')}, "
            f"{unit_text(p.a.unit)}{order}"
        )
        group = panels.setdefault(title, [])
        group.append(Dot(f"{p.what}: {p.label_a}", p.a, 0))
        group.append(Dot(p.label_b, p.b, 1))
    labels = {(p.label_a, p.label_b) for p in found}
    legend = next(iter(labels)) if len(labels) == 1 else ()
    svg = dots(f"effect-{question}", [Panel(title, d) for title, d in panels.items()], legend)
    return Plot(
        f"effect-{question}",
        TITLES[question],
        svg,
        "Median (dot) and its interval (bar); a hollow dot has no interval.",
        reproduce=reproduce([t for p in found for t in (p.task_a, p.task_b)]),
    )
