"""Memory: latency against working set, domains, cache lines between cores, triad from one core to all."""

from __future__ import annotations

from statistics import median
from typing import Any

from strata.advice.samples import figure, kind_of_unit, width
from strata.advice.words import digits, percent, size, unit_text
from strata.report.document import Block, Heading, Plot, Section, Text
from strata.report.figures.plots import Axis, Level, Mark, Series, curves, heat
from strata.report.source import Source, figure_table, missing, name_of, reproduce


def memory(source: Source) -> Section:
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


def series(found: list[Any]) -> list[Series]:
    return [
        Series(str(c["name"]), c["points"], dashed=i > 0 and "huge" in str(c["name"]).lower())
        for i, c in enumerate(found)
    ]


def _latency(source: Source) -> list[Block]:
    tasks = [t for t in source.tasks("latency") if t.get("curves")]
    found = [c for t in tasks for c in source.curves(t)]
    if not found:
        return [missing(source, "latency", "Load latency")]
    svg = curves(
        "latency",
        series(found),
        Axis("working set", "B", True),
        Axis("load latency", found[0]["y"].get("unit", "ns"), True),
        cache_marks(source),
    )
    ends = [(str(c["name"]), c["points"][0][1], c["points"][-1][1], c["points"][-1][0]) for c in found]
    unit = found[0]["y"].get("unit", "ns")
    says = (
        "; ".join(
            f"{n}: {digits(a)} {unit} in the nearest cache, {digits(b)} {unit} at {size(x)}"
            for n, a, b, x in ends
            if a and b
        )
        + "."
    )
    return [
        Plot(
            "latency",
            "Load latency against working set",
            svg,
            "Each load needs the one before it (pointer chase in random order). "
            "Bands are intervals; dotted lines are the cache sizes that the system states.",
            says,
            reproduce(tasks),
        )
    ]


def _triad(source: Source) -> list[Block]:
    tasks = [
        t
        for t in source.tasks("stream", bind="core", stride=1)
        if str(t.get("layout")).startswith("1x") and figure(t, "triad")
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
    says = ""
    if len(points) > 1 and points[0][1]:
        first = next(
            (
                p[0]
                for p in points
                if p[1] is not None and points[-1][1] is not None and p[1] >= 0.9 * points[-1][1]
            ),
            points[-1][0],
        )
        says = (
            f"{points[-1][0]} cores move {digits((points[-1][1] or 0) / points[0][1])} times what one moves"
        )
        says += f"; {first} cores reach nine tenths of it." if first < points[-1][0] else "."
    plot = Plot(
        "triad",
        "STREAM triad against cores",
        svg,
        "a[i] = b[i] + s c[i]; 24 bytes are counted for each element, as STREAM does.",
        says,
        reproduce(tasks),
    )
    return [
        plot,
        figure_table(source.tasks("stream"), "STREAM, all runs", folded=len(source.tasks("stream")) > 5),
    ]


def _cache_bandwidth(source: Source) -> list[Block]:
    found = source.bandwidth_curves()
    for task, curve in found:
        source.draw(task, curve)
    several = len({str(t["id"]) for t, _ in found}) > 1
    lines = [
        Series(f"{name_of(t)}: {c['name']}" if several else str(c["name"]), c["points"]) for t, c in found
    ]
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
                blocks.append(Text(f"{what[0].upper()}{what[1:]}. {_far(matrix, what)}"))
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
                    _far(matrix, what),
                    reproduce([task]),
                )
            )
    return blocks or [missing(source, "domains", "Domain by domain latency and bandwidth")]


def _far(matrix: Any, what: str) -> str:
    """Own memory against the farthest, as the Origin2000's 'base + a hop' figures once said it."""
    values = matrix["values"]
    own = [
        v
        for i, row in enumerate(values)
        for j, v in enumerate(row)
        if matrix["rows"][i] == matrix["columns"][j] and v is not None
    ]
    far = [
        v
        for i, row in enumerate(values)
        for j, v in enumerate(row)
        if matrix["rows"][i] != matrix["columns"][j] and v is not None
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
