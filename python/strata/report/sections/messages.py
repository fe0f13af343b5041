"""Messages: ping-pong, rings, collectives, PTRANS and MPIFFT."""

from __future__ import annotations

from strata.advice import nodes
from strata.advice.samples import MPI_ONLY, Task, figures, has_results, kind_of_unit
from strata.advice.words import digits, unit_text
from strata.report.document import Block, Heading, Plot, Section
from strata.report.figures.plots import Axis, Dot, Panel, Series, curves, dots, heat
from strata.report.quantities import part_of_bound, with_interval
from strata.report.source import Source, figure_table, missing, name_of, reproduce


def messages(source: Source) -> Section:
    """The section on messages."""
    if not any(source.tasks(benchmark) for benchmark in MPI_ONLY):
        return Section("messages", "Messages", [missing(source, "pingpong", "Messages between processes")])
    blocks: list[Block] = [
        *_nodes(source),
        Heading("Ping-pong"),
        *_curves(source, "pingpong", "Ping-pong"),
        Heading("Rings"),
        *_rings(source),
    ]
    for benchmark, title in (("allreduce", "Allreduce"), ("alltoall", "Alltoall")):
        blocks += [Heading(title), *_curves(source, benchmark, title)]
    blocks.append(Heading("PTRANS and MPIFFT"))
    whole = [t for b in ("ptrans", "mpifft") for t in source.tasks(b)]
    for benchmark, title in (("ptrans", "PTRANS"), ("mpifft", "MPIFFT")):
        if not any(has_results(t) for t in source.tasks(benchmark)):
            blocks.append(missing(source, benchmark, title))
    if whole:
        blocks.append(
            figure_table(
                whole,
                "PTRANS moves a matrix onto its transpose; MPIFFT transforms one long vector over all "
                "processes",
            )
        )
    return Section("messages", "Messages", blocks)


def _nodes(source: Source) -> list[Block]:
    """Every pair of nodes, where a process was on each of several."""
    blocks: list[Block] = []
    for task, matrix, names in nodes.matrices(source.summary):
        source.draw(task, matrix)
        unit, what = str(matrix["unit"]), str(matrix["name"]).removesuffix(" between processes")
        time = kind_of_unit(unit) == "time"
        found = nodes.outliers(matrix["values"], names, time)
        slow = [f"node {n}: {digits(v)} {unit_text(unit)}" for n, v, _ in found.nodes]
        slow += [f"{a} to {b}: {digits(v)} {unit_text(unit)}" for a, b, v, _ in found.pairs]
        says = f"Median of all pairs {digits(found.usual)} {unit_text(unit)}; "
        says += f"worse than the others: {'; '.join(slow)}." if slow else "none is worse than the others."
        key = f"nodes-{len(blocks)}"
        svg = heat(key, matrix["values"], names, names, unit, "node", "node")
        blocks.append(
            Plot(
                key,
                f"Node to node: {what}",
                svg,
                "A process on each node, a pair at a time.",
                says,
                reproduce([task]),
            )
        )
    return [Heading("Between nodes"), *blocks] if blocks else []


def _curves(source: Source, benchmark: str, title: str) -> list[Block]:
    tasks = [t for t in source.tasks(benchmark) if has_results(t)]
    if not tasks:
        return [missing(source, benchmark, title)]
    blocks: list[Block] = []
    by_unit: dict[str, list[tuple[str, Series]]] = {}
    for task in tasks:
        for curve in source.curves(task):
            label = name_of(task) if len(tasks) > 1 else str(curve["name"])
            by_unit.setdefault(str(curve["y"].get("unit", "")), []).append(
                (str(curve["y"].get("name")), Series(label, curve["points"]))
            )
    for i, (unit, found) in enumerate(by_unit.items()):
        key = f"{benchmark}-{i}"
        svg = curves(
            key,
            [s for _, s in found],
            Axis("message", "B", True),
            Axis(found[0][0], unit, kind_of_unit(unit) == "time"),
        )
        what = found[0][0]
        blocks.append(
            Plot(
                key, f"{title}: {what}", svg, "Bands are intervals.", _says(tasks[0], unit), reproduce(tasks)
            )
        )
    with_figures = [t for t in tasks if t.get("figures")]
    if with_figures:
        blocks.append(figure_table(with_figures, title))
    return blocks


def _says(task: Task, unit: str) -> str:
    said = []
    for f in figures(task):
        if f.unit == unit and f.median is not None:
            part = part_of_bound(f, task.get("bound"))
            said.append(
                f"{f.name} {with_interval(f)}"
                + (f", {digits(1 / part)} times its floor" if part and f.better == "lower" else "")
            )
    return "; ".join(said) + "." if said else ""


def _rings(source: Source) -> list[Block]:
    tasks = [t for t in source.tasks("rings") if t.get("figures")]
    if not tasks:
        return [missing(source, "rings", "Natural and random ring")]
    panels: dict[str, list[Dot]] = {}
    for task in tasks:
        for f in figures(task):
            kind = (
                "latency (shorter is better)" if kind_of_unit(f.unit) == "time" else "bandwidth of a process"
            )
            series = 0 if "natural" in f.name.lower() else 1
            panels.setdefault(f"Ring {kind}, {unit_text(f.unit)}", []).append(
                Dot(f"{name_of(task)[6:]}, {f.name.split(' ')[0]}", f, series)
            )
    svg = dots("rings", [Panel(title, d) for title, d in panels.items()], ("natural order", "random order"))
    return [
        Plot(
            "rings",
            "Natural and random ring",
            svg,
            "All processes send to both neighbours at once; in the random ring neighbours are anywhere.",
            reproduce=reproduce(tasks),
        ),
        figure_table(tasks, "Rings", folded=True),
    ]
