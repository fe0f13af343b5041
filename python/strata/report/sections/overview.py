"""The first page: sentences and tiles for somebody who will read nothing else. Each sentence is made from
figures, or is not there.
"""

from __future__ import annotations

from strata.advice.finding import Finding
from strata.advice.layouts import Advice
from strata.advice.samples import Interval, Task, has_results, processes_threads, width
from strata.advice.words import count, digits, percent, size, unit_text
from strata.report.document import Points, Section, Tile, Tiles
from strata.report.quantities import bound_text, graded, interval_only, part_of_bound, shown
from strata.report.sections.effects import pairs, statement
from strata.report.source import Source


def overview(source: Source, found: list[Finding], advice: Advice) -> Section:
    """The first page."""
    sentences = [
        _machine(source),
        _layout(advice),
        *_memory(source),
        *_compute(source),
        *_messages(source),
        *_pinning(source),
        _findings(found),
        _quality(source),
    ]
    tiles = _tiles(source)
    return Section(
        "summary", "Summary", [*([Tiles(tiles)] if tiles else []), Points([s for s in sentences if s])]
    )


def _machine(source: Source) -> str:
    m, usable = source.machine, source.cores
    memory = size(sum(x.get("total_bytes") or 0 for x in m["memories"]))
    text = (
        f"**The machine.** {m.get('cpu_model') or 'A processor'}: {count(len(m['cores']), 'core')} "
        f"in {count(len(m['domains']), 'memory domain')}, {memory}."
    )
    if usable < len(m["cores"]):
        text += f" {usable} of them can be used here at once."
    return text


def _memory(source: Source) -> list[str]:
    one, full = source.one_core("stream"), source.all_cores("stream")
    a, b = source.figure(one, "triad"), source.figure(full, "triad")
    if b is None or full is None:
        return []
    text = (
        f"**Memory.** Streaming through large arrays (triad) moves {_value(b)} "
        f"on {count(width(full), 'core')}"
    )
    if a is not None and a.median and b.median and width(full) > 1:
        text += f", {digits(b.median / a.median)} times one core"
    part = part_of_bound(b, full.get("bound"))
    if part is not None and "triad" not in str((full.get("bound") or {}).get("name")):
        text += f"; {percent(part)} of {bound_text(full.get('bound'))}"
    return [text + "."]


def _compute(source: Source) -> list[str]:
    task = source.all_cores("dgemm")
    f = source.figure(task)
    if f is None or task is None:
        return []
    text = f"**Arithmetic.** Matrix multiplication runs at {_value(f)} on {count(width(task), 'core')}"
    part = part_of_bound(f, task.get("bound"))
    return [text + (f", {percent(part)} of the peak measured in the same run." if part is not None else ".")]


def _messages(source: Source) -> list[str]:
    task = source.task("pingpong")
    latency, bandwidth = source.figure(task, "latency"), source.figure(task, "bandwidth")
    if latency is None:
        return []
    text = f"**Messages.** A short message between two processes takes {_value(latency)}"
    if bandwidth is not None:
        text += f"; long ones move at {_value(bandwidth)}"
    return [text + "."]


def _layout(advice: Advice) -> str:
    named = ", ".join(f"{start.kind} `{start.layout}`" for start in advice.starts)
    named = named[0].upper() + named[1:]
    return f"**Where to start.** {named} (processes x threads); lines to paste are below."


def _pinning(source: Source) -> list[str]:
    found = pairs(source, "pinning")
    said = [(pair, statement(pair, len(found))) for pair in found]
    known = [(p, s) for p, s in said if s.known]
    if not known:
        return []
    moved = [(p, s) for p, s in known if s.better]
    if not moved:
        return [
            "**Pinning.** No difference was measured between bound and unbound runs "
            f"({count(len(known), 'comparison')})."
        ]
    largest = max(moved, key=lambda ps: _distance(ps[0].a, ps[0].b))
    return [
        f"**Pinning.** {len(moved)} of {count(len(known), 'comparison')} between bound and unbound runs "
        "show a difference; "
        f"the largest: {largest[1].text}"
    ]


def _distance(a: Interval, b: Interval) -> float:
    ratio = (a.median or 1.0) / (b.median or 1.0)
    return max(ratio, 1 / ratio) if ratio > 0 else 0.0


def _findings(found: list[Finding]) -> str:
    grave = [f for f in found if f.severity == "problem"]
    warn = [f for f in found if f.severity == "warning"]
    if not grave and not warn:
        return "**Findings.** Nothing was found that needs action."
    named = "; ".join(
        f"{f.what[0].lower()}{f.what[1:]}" if not f.what[:2].isupper() else f.what
        for f in (*grave, *warn)[:3]
    )
    more = len(grave) + len(warn) - 3
    return f"**Findings.** {count(len(grave), 'problem')} and {count(len(warn), 'warning')}: {named}" + (
        f"; {more} more." if more > 0 else "."
    )


def _quality(source: Source) -> str:
    every = source.tasks()
    launches, tainted = sum(t.get("launches") or 0 for t in every), sum(t.get("tainted") or 0 for t in every)
    graded = [t for t in every if t.get("grade") == "disturbed"]
    without = [t for t in every if not has_results(t)]
    text = f"**How sure.** {launches} launches of {count(len(every), 'benchmark setting')}"
    told = (source.summary.get("counts") or {}).get("disturbed_by") or []  # older summaries have it not
    why = f": {told[0]}" if told else " by other load"
    text += f"; {tainted} were disturbed{why}." if tainted else ", none of them disturbed."
    if graded:
        text += (
            f" {count(len(graded), 'setting')} could not be measured undisturbed: "
            f"{'its figure is' if len(graded) == 1 else 'their figures are'} the median over all launches, "
            "marked "
            "disturbed."
        )
    background = (source.summary.get("background") or {}).get("told")
    if background:
        text += f" Before the first launch that counts, {background}."
    if without:
        text += f" {count(len(without), 'setting')} {'has' if len(without) == 1 else 'have'} no figure."
    return text


def _tiles(source: Source) -> list[Tile]:
    wanted: list[tuple[str, Task | None, tuple[str, ...]]] = [
        ("Memory bandwidth, triad", source.all_cores("stream"), ("triad",)),
        ("Matrix multiplication", source.all_cores("dgemm"), ()),
        ("Message latency", source.task("pingpong"), ("latency",)),
        ("Random ring bandwidth, a process", source.all_cores("rings"), ("random", "bandwidth")),
    ]
    tiles = []
    for label, task, words in wanted:
        f = source.figure(task, *words)
        if f is None or f.median is None or task is None:
            continue
        p, t = processes_threads(task.get("layout"))
        note = f"{interval_only(f)}, n={f.n}{graded(f)}" if f.known else (f.note or "") + graded(f)
        part = part_of_bound(f, task.get("bound"))
        tiles.append(
            Tile(
                f"{label} ({p}x{t})",
                shown(f.median, f.low, f.high),
                unit_text(f.unit),
                note,
                part,
                _part_note(f, part),
            )
        )
    return tiles


def _part_note(f: Interval, part: float | None) -> str:
    if not part:
        return ""
    return f"{percent(part)} of its bound" if f.better != "lower" else f"{digits(1 / part)} times its floor"


def _value(f: Interval) -> str:
    """The figure in a sentence; what has no interval says so."""
    text = f"{shown(f.median, f.low, f.high)} {unit_text(f.unit)}"
    return text if f.known else f"{text} (n={f.n}: no interval)"
