"""Arithmetic: DGEMM beside the measured peak, the noise that the system makes, and the roofline."""

from __future__ import annotations

from strata.advice.checks_samples import LOST, per_core
from strata.advice.samples import Task, figures, headline, kind_of_unit, width
from strata.advice.words import digits, percent, unit_text
from strata.report.document import Block, Notice, Plot, Section, Text
from strata.report.figures.plots import (
    Axis,
    Dot,
    Level,
    Panel,
    Series,
    curves,
    dots,
)
from strata.report.figures.plots import (
    per_core as per_core_plot,
)
from strata.report.figures.roofline import Ceiling, Placed, roofline
from strata.report.quantities import base, part_of_bound
from strata.report.source import Source, figure_table, missing, name_of, reproduce

# Flop per byte as the benchmarks' own definitions count them; used where a figure does not carry its own
# bytes and flops.
STREAM_INTENSITY = {"scale": 1 / 16, "add": 1 / 24, "triad": 2 / 24}


def compute(source: Source) -> Section:
    """DGEMM on one core and on several, beside the measured peak."""
    blocks: list[Block] = []
    tasks = [t for t in source.tasks("dgemm") if t.get("figures")]
    if not tasks:
        blocks.append(missing(source, "dgemm", "DGEMM"))
    else:
        for name, chosen in (
            ("one core", [t for t in tasks if width(t) == 1]),
            ("several cores", [t for t in tasks if width(t) > 1]),
        ):
            if chosen:
                blocks.append(_bars(name, chosen))
    solved = source.tasks("hpl")  # of the full plan
    title = "DGEMM, HPL and the measured peak" if solved else "DGEMM and the measured peak"
    blocks.append(figure_table([*source.tasks("dgemm"), *solved, *source.tasks("peak")], title))
    return Section("compute", "Arithmetic", blocks)


def _bars(name: str, tasks: list[Task]) -> Plot:
    rows, says = [], []
    for task in tasks:
        f = headline(task)
        if f is None:
            continue
        bound = task.get("bound") or {}
        same = bound.get("value") and kind_of_unit(str(bound.get("unit"))) == kind_of_unit(f.unit)
        rows.append(Dot(name_of(task), f, 0, float(bound["value"]) if same else None))
        part = part_of_bound(f, bound)
        if part is not None:
            says.append(f"{name_of(task)}: {percent(part)} of its bound")
    key = "dgemm-" + name.replace(" ", "-")
    svg = dots(key, [Panel(f"DGEMM, {name}, {unit_text(rows[0].figure.unit) if rows else ''}", rows)])
    return Plot(
        key,
        f"DGEMM, {name}",
        svg,
        "Double precision matrix multiplication. The upright line is the peak measured on the same cores.",
        "; ".join(says) + "." if says else "",
        reproduce(tasks),
    )


def noise(source: Source) -> Section:
    """The time that the system takes from each core."""
    blocks: list[Block] = [
        Text(
            "A fixed quantum of work is repeated on each core; whatever it takes longer than its "
            "shortest is time lost to daemons, interrupts "
            "and, in a virtual machine, the hypervisor. In a program with barriers the noisiest core "
            "sets the pace."
        )
    ]
    drawn = 0
    for task in source.tasks("noise"):
        for curve, unit in per_core(task):
            source.draw(task, curve)
            key = f"noise-{drawn}"
            limit = Level(LOST * 100, f"{percent(LOST)}: named in the findings") if unit == "%" else None
            known = [p for p in curve["points"] if p[1] is not None]
            worst = max(known, key=lambda p: p[1])
            svg = per_core_plot(
                key, known, Axis(str(curve["y"].get("name") or curve["name"]), unit), limit, [int(worst[0])]
            )
            says = (
                f"Largest on core {worst[0]:g}: {digits(worst[1])} {unit}; smallest "
                f"{digits(min(p[1] for p in known))} {unit}."
            )
            blocks.append(
                Plot(
                    key,
                    f"Noise: {curve['name']}",
                    svg,
                    "One dot a core, with its interval.",
                    says,
                    reproduce([task]),
                )
            )
            drawn += 1
        blocks += _tails(source, task, drawn)
    if not drawn:
        blocks.append(missing(source, "noise", "Noise of the system"))
    tasks = [t for t in source.tasks("noise") if t.get("figures")]
    if tasks:
        blocks.append(figure_table(tasks, "Noise"))
    return Section("noise", "Noise of the system", blocks)


def _tails(source: Source, task: Task, first: int) -> list[Block]:
    """How often delays of each length occur: ticks are many and short, daemons few and long."""
    blocks: list[Block] = []
    for curve in task.get("curves") or []:
        points = [p for p in curve.get("points") or [] if p[1]]
        if str(curve["x"].get("name")) != "delay" or len(points) < 2:
            continue
        source.draw(task, curve)
        key = f"noise-tail-{first + len(blocks)}"
        x = Axis(
            f"delay, {unit_text(str(curve['x'].get('unit', '')))}", str(curve["x"].get("unit", "")), True
        )
        y = Axis(str(curve["y"].get("name")), str(curve["y"].get("unit", "")), True)
        svg = curves(key, [Series(str(curve["name"]), points)], x, y)
        about = "Many short delays are timer ticks, few long ones are daemons."
        blocks.append(Plot(key, f"Noise: {curve['name']}", svg, about, reproduce=reproduce([task])))
    return blocks


def roofline_section(source: Source) -> Section:
    """The roofline of all cores."""
    peak_task, stream_task = source.all_cores("peak"), source.all_cores("stream")
    rates = (
        [f for f in figures(peak_task) if kind_of_unit(f.unit) == "flops" and f.median] if peak_task else []
    )
    peak = max(rates, key=lambda f: f.median or 0.0, default=None)
    triad = source.figure(stream_task, "triad")
    if peak is None or triad is None or not peak.median or not triad.median or peak_task is None:
        return Section(
            "roofline",
            "Roofline",
            [
                missing(
                    source,
                    "peak" if peak is None else "stream",
                    "The roofline needs the measured peak and STREAM; it",
                )
            ],
        )
    cores = width(peak_task)
    peak_gf = (base(peak.median, peak.unit) or 0.0) / 1e9
    ceilings = [
        Ceiling("memory (triad)", (base(triad.median, triad.unit) or 0.0) / 1e9),
        *_cache_ceilings(source, cores),
    ]
    placed = _placed(source)
    svg = roofline("roofline", peak_gf, ceilings, placed)
    knee = peak_gf / ceilings[0].bandwidth
    says = (
        f"A program that does fewer than {digits(knee)} flop for each byte from memory is bound by "
        "memory here, others by arithmetic."
    )
    tasks = [peak_task, stream_task, *(t for t, _ in source.bandwidth_curves())]
    blocks: list[Block] = [
        Plot(
            "roofline",
            "Roofline of this machine",
            svg,
            f"All {cores} cores. Peak and slopes were measured in this run"
            + ("; cache slopes are one core's bandwidth times the cores." if len(ceilings) > 1 else "."),
            says,
            reproduce(tasks),
        )
    ]
    absent = [
        name
        for name in ("dgemm", "mpifft")
        if source.figure(source.all_cores(name)) and not any(name.upper() in p.label for p in placed)
    ]
    if absent:
        blocks.append(
            Notice(
                "note",
                f"{', '.join(n.upper() for n in absent)}: not on the roofline, the result does not say "
                "how many bytes it moves.",
            )
        )
    return Section("roofline", "Roofline", blocks)


def _cache_ceilings(source: Source, cores: int) -> list[Ceiling]:
    """Bandwidth at the middle of each cache level, of one core, times the cores where the curve is of one
    core.
    """
    found: list[Ceiling] = []
    measured = source.bandwidth_curves()
    if not measured:
        return found
    task, curve = max(measured, key=lambda tc: width(tc[0]))
    sizes = sorted(
        {
            (c["level"], c["size_bytes"])
            for c in source.machine.get("caches") or []
            if 0 in c["cores"] and c["type"] != "instruction"
        }
    )
    below = 0
    for level, size_bytes in sizes:
        inside = [
            p[1] for p in curve["points"] if p[1] is not None and 1.2 * below < p[0] <= 0.6 * size_bytes
        ]
        if inside:
            value = sorted(inside)[len(inside) // 2] * cores / max(1, width(task))
            found.append(
                Ceiling(f"L{level}", (base(value, str(curve["y"].get("unit", "GB/s"))) or 0.0) / 1e9)
            )
        below = size_bytes
    return found


def _placed(source: Source) -> list[Placed]:
    placed = []
    for benchmark in ("stream", "dgemm", "mpifft"):
        task = source.all_cores(benchmark)
        main = source.figure(task, "triad") if benchmark == "stream" else source.figure(task)
        for raw in (task or {}).get("figures") or []:
            name = str(raw.get("name", "")).lower()
            if main is None or raw.get("name") != main.name:
                continue
            intensity = (
                raw["flops"] / raw["bytes"]
                if raw.get("flops") and raw.get("bytes")
                else STREAM_INTENSITY.get(name)
            )
            if not intensity or not raw.get("median"):
                continue
            unit = str(raw["unit"])
            scale = intensity if kind_of_unit(unit) == "bandwidth" else 1.0
            low, mid, high = (
                None if raw.get(k) is None else (base(raw[k], unit) or 0.0) * scale / 1e9
                for k in ("low", "median", "high")
            )
            placed.append(
                Placed(
                    f"{benchmark.upper()} {name}" if benchmark == "stream" else benchmark.upper(),
                    intensity,
                    mid or 0.0,
                    low,
                    high,
                )
            )
    return placed
