"""Memory: latency against working set, domains, cache lines between cores, triad from one core to all."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from strata.advice.samples import Machine, Task, figure, kind_of_unit, own_memory, width
from strata.advice.words import count, digits, percent, size, unit_text
from strata.report.document import Block, Heading, Plot, Section, Text
from strata.report.figures.plots import Axis, Level, Mark, Series, curves, heat
from strata.report.quantities import shown
from strata.report.source import Source, figure_table, missing, name_of, reproduce


def memory(source: Source) -> Section:
    """The section on memory."""
    blocks: list[Block] = [Heading("Latency against working set"), *_latency(source)]
    blocks += [Heading("Bandwidth, one core to all"), *_triad(source)]
    if source.bandwidth_curves():
        blocks += [Heading("Bandwidth of the caches"), *_cache_bandwidth(source)]
    blocks += [
        Heading("Memory domains"),
        *_domains(source),
        Heading("A cache line between two cores"),
        *_lines(source),
    ]
    return Section("memory", "Memory", blocks)


def cache_marks(source: Source) -> list[Mark]:
    """Sizes of the data caches that core 0 sees."""
    own = [c for c in source.machine.get("caches") or [] if 0 in c["cores"] and c["type"] != "instruction"]
    return [
        Mark(c["size_bytes"], f"L{c['level']} {size(c['size_bytes'])}")
        for c in sorted(own, key=lambda c: c["level"])
    ]


def labelled(found: Sequence[tuple[Task, Any]]) -> list[Series]:
    """Curves with their names, and with the run's name where several runs have curves."""
    several = len({str(t["id"]) for t, _ in found}) > 1
    lines = []
    for task, curve in found:
        name = str(curve["name"])
        points = [p for p in curve["points"] if p[1] is not None]
        label = f"{name_of(task)}: {name}" if several else name
        lines.append(Series(label, points, dashed="huge" in name.lower()))
    return lines


def _latency(source: Source) -> list[Block]:
    tasks = [t for t in source.tasks("latency") if t.get("curves")]
    found = [(t, c) for t in tasks for c in source.curves(t)]
    if not found:
        return [missing(source, "latency", "Load latency")]
    lines = labelled(found)
    unit = str(found[0][1]["y"].get("unit", "ns"))
    x, y = Axis("working set", "B", True), Axis("load latency", unit, True)
    svg = curves("latency", lines, x, y, cache_marks(source))
    said = [f"{one.label}: {_ends(one.points, unit)}" for one in lines if len(one.points) > 1]
    return [
        Plot(
            "latency",
            "Load latency against working set",
            svg,
            "Each load needs the one before it (pointer chase in random order). "
            "Bands are intervals; dotted lines are the cache sizes that the system states.",
            "; ".join(said) + "." if said else "",
            reproduce(tasks),
        )
    ]


def _ends(points: Sequence[Any], unit: str) -> str:
    (near, first, *_), (far, last, *_) = points[0], points[-1]
    return f"{digits(first)} {unit} at {size(near)}, {digits(last)} {unit} at {size(far)}"


def _triad(source: Source) -> list[Block]:
    tasks = [
        t
        for t in source.tasks("stream", bind="core", stride=1)
        if str(t.get("layout")).startswith("1x") and figure(t, "triad") and not t.get("single")
    ]
    tasks.sort(key=width)
    points = [
        (width(t), f.median, f.low, f.high)
        for t in tasks
        if (f := figure(t, "triad")) and f.median is not None
    ]
    if not points:
        return [missing(source, "stream", "STREAM")]
    bound = tasks[-1].get("bound") or {}
    levels = (
        [Level(bound["value"], f"{bound.get('name')} {digits(bound['value'])} GB/s")]
        if bound.get("value")
        and "triad" not in str(bound.get("name"))
        and kind_of_unit(str(bound.get("unit"))) == "bandwidth"
        else []
    )
    svg = curves(
        "triad",
        [Series("triad", points)],
        Axis("cores, one thread each", "cores", points[-1][0] > 16),
        Axis("triad", "GB/s"),
        levels=levels,
        zero=True,
    )
    plot_says = _scaling([(p[0], p[1]) for p in points if p[1]])
    plot = Plot(
        "triad",
        "STREAM triad against cores",
        svg,
        "a[i] = b[i] + s c[i]; 24 bytes are counted for each element, as STREAM does.",
        plot_says,
        reproduce(tasks),
    )
    return [
        plot,
        *_full_rule(source),
        figure_table(source.tasks("stream"), "STREAM, all runs", folded=len(source.tasks("stream")) > 5),
    ]


def _full_rule(source: Source) -> list[Block]:
    """What one launch by STREAM's full rule says beside the median of the quick ones on the same layout."""
    said: list[Block] = []
    for whole in source.tasks("stream", bind="core"):
        quick = source.task("stream", bind="core", layout=whole["layout"], stride=whole["stride"])
        a, b = figure(whole, "triad"), figure(quick, "triad")
        if (
            not whole.get("single")
            or quick is whole
            or a is None
            or b is None
            or not a.median
            or not b.median
        ):
            continue
        said.append(
            Text(
                f"One launch of {name_of(whole)} by STREAM's full rule (each array four times the "
                f"last-level cache, ten rounds): triad {shown(a.median, b.median)} GB/s. The quick launches "
                f"(the arrays together four times, two rounds) have {shown(b.median, a.median)} GB/s, "
                f"{percent(b.median / a.median - 1)} beside it."
            )
        )
    return said


def _scaling(points: Sequence[tuple[int, float]]) -> str:
    """What more cores bring, and from how many on they bring little."""
    if len(points) < 2:
        return ""
    (_, one), (all_cores, full) = points[0], points[-1]
    text = f"{all_cores} cores move {digits(full / one)} times what one moves"
    enough = next(cores for cores, rate in points if rate >= 0.9 * full)
    if full > one and enough < all_cores:
        return f"{text}; nine tenths of it are reached with {count(enough, 'core')}."
    return f"{text}."


def _cache_bandwidth(source: Source) -> list[Block]:
    found = source.bandwidth_curves()
    for task, curve in found:
        source.draw(task, curve)
    lines = labelled(found)
    unit = str(found[0][1]["y"].get("unit", "GB/s"))
    x, y = Axis("working set", "B", True), Axis("bandwidth", unit)
    svg = curves("cache-bandwidth", lines, x, y, cache_marks(source), zero=True)
    about = "These are the slopes of the roofline."
    commands = reproduce([t for t, _ in found])
    return [Plot("cache-bandwidth", "Bandwidth against working set", svg, about, reproduce=commands)]


def _domains(source: Source) -> list[Block]:
    blocks: list[Block] = []
    for task in source.tasks("domains"):
        for matrix in source.matrices(task):
            key = f"domains-{len(blocks)}"
            what = str(matrix["name"])
            if len(matrix["rows"]) < 2:
                blocks.append(
                    Text(
                        f"{what[0].upper()}{what[1:]} ({name_of(task)}). {_far(source.machine, matrix, what)}"
                    )
                )
                continue
            svg = heat(
                key,
                matrix["values"],
                matrix["rows"],
                matrix["columns"],
                matrix["unit"],
                "cores of domain",
                "memory",
            )
            blocks.append(
                Plot(
                    key,
                    f"Domain by domain: {what}",
                    svg,
                    "Row: where the thread runs. Column: where its memory lies.",
                    _far(source.machine, matrix, what),
                    reproduce([task]),
                )
            )
    return blocks or [missing(source, "domains", "Domain by domain latency and bandwidth")]


def _far(machine: Machine, matrix: Any, what: str) -> str:
    """Own memory against the farthest, as the Origin2000's 'base + a hop' figures once said it."""
    values, memory = matrix["values"], own_memory(machine)
    own = [
        v
        for i, row in enumerate(values)
        for j, v in enumerate(row)
        if memory.get(matrix["rows"][i]) == matrix["columns"][j] and v is not None
    ]
    far = [
        v
        for i, row in enumerate(values)
        for j, v in enumerate(row)
        if memory.get(matrix["rows"][i]) != matrix["columns"][j] and v is not None
    ]
    unit = matrix["unit"]
    if not own:
        return ""
    if not far:
        return f"One domain: {digits(own[0])} {unit} in its own memory."
    worst = max(far) if kind_of_unit(unit) == "time" else min(far)
    return (
        f"Own memory {digits(median(own))} {unit} (median of the domains), farthest {digits(worst)} "
        f"{unit}: {percent(worst / median(own))} of it."
    )


def _lines(source: Source) -> list[Block]:
    blocks: list[Block] = []
    for task in source.tasks("lines"):
        for matrix in source.matrices(task):
            key = f"lines-{len(blocks)}"
            values = [v for row in matrix["values"] for v in row if v]
            if not values:
                continue
            if len(matrix["rows"]) < 3:
                blocks.append(
                    Text(
                        f"Two threads pass one line to and fro: {digits(median(values))} "
                        f"{unit_text(matrix['unit'])} a round trip."
                    )
                )
                continue
            svg = heat(key, matrix["values"], matrix["rows"], matrix["columns"], matrix["unit"], "CPU", "CPU")
            total = len(source.machine["cores"])
            sampled = (
                f" {len(matrix['rows'])} of {total} cores were sampled."
                if len(matrix["rows"]) < total
                else ""
            )
            says = (
                f"From {digits(min(values))} to {digits(max(values))} {unit_text(matrix['unit'])} a "
                "round trip."
            )
            blocks.append(
                Plot(
                    key,
                    "Cache-line round trip between cores",
                    svg,
                    f"Two threads pass one line to and fro.{sampled}",
                    says,
                    reproduce([task]),
                )
            )
    return blocks or [missing(source, "lines", "Cache-line round trips")]
