"""The views of a study over something that varies (cores, a stride, a value), and of scaling."""

from __future__ import annotations

from collections.abc import Sequence

from strata.advice import panels, peers, series, studies
from strata.advice.samples import Task, figures
from strata.advice.words import digits, percent, unit_text
from strata.report.document import Block, Plot, Table
from strata.report.figures.plots import Axis, Series, curves
from strata.report.figures.series import Trace
from strata.report.figures.series import panels as draw_panels
from strata.report.figures.series import scaling as draw_scaling
from strata.report.figures.series import series as draw_series
from strata.report.quantities import beside, bound_text, interval_only, part_text, shown
from strata.report.source import Source, reproduce

_DASH = " A dash is the bound that was measured in the same run."
_MOST_CURVES = 6  # tasks whose curves share a plot


def over_x(source: Source) -> list[Block]:
    """One plot for each headline figure over x, the curves of each program, and the table."""
    axis = str(studies.about(source.summary).get("x") or "cores")
    by_figure: dict[tuple[str, str], list[series.Line]] = {}
    for name in studies.headlines(source.summary):
        for line in series.lines(source.summary, name):
            by_figure.setdefault((line.figure.name, line.figure.unit), []).append(line)
    blocks: list[Block] = []
    for i, ((name, unit), group) in enumerate(by_figure.items()):
        traces, ticks = [], {}
        for line in _in_steps(group) if axis == "distance" else group:
            for x, e in line.points:
                far = (e.task.get("labels") or {}).get("distance")
                ticks[x] = digits(x) + (f"\n{far}" if far and axis == "stride" else "")
                if far and axis == "distance":
                    ticks[x] = far.replace(", ", ",\n")
            traces.append(_trace(line))
        label = f"{name}, {unit_text(unit)}" if unit else name
        svg = draw_series(f"series-{i}", traces, axis, label, sorted(ticks.items()))
        bounded = any(t.bounds for t in traces)
        caption = "Medians; the bars are their 95 % intervals." + (_DASH if bounded else "")
        tasks = [e.task for line in group for _, e in line.points]
        blocks.append(Plot(f"series-{i}", f"{name} by {axis}", svg, caption, reproduce=reproduce(tasks)))
    return [*blocks, *curve_plots(source), table(source)]


def _in_steps(lines: Sequence[series.Line]) -> list[series.Line]:
    """The same lines with 1, 2, 3, ... for the values of x: distances have an order and no measure."""
    steps = {x: n for n, x in enumerate(sorted({x for line in lines for x, _ in line.points}), start=1)}
    return [series.Line(line.label, tuple((steps[x], e) for x, e in line.points)) for line in lines]


def in_panels(source: Source) -> list[Block]:
    """Each [[plot]] of the study, a pair of axes for each of its panels; then curves and the table."""
    blocks: list[Block] = []
    for i, plotted in enumerate(panels.plots(source.summary)):
        axis, unit = plotted.asked.x, unit_text(plotted.unit)
        drawn = [(panel.title, [_trace(line) for line in panel.lines]) for panel in plotted.panels]
        label = f"{plotted.name}, {unit}" if unit and unit not in plotted.name else plotted.name
        svg = draw_panels(f"panels-{i}", drawn, axis, label)
        caption = "Medians; the bars are their 95 % intervals."
        caption += _DASH if any(t.bounds for _, traces in drawn for t in traces) else ""
        if plotted.asked.best:
            caption += " Of several layouts on as many cores the best is drawn."
        tasks = [e.task for panel in plotted.panels for line in panel.lines for _, e in line.points]
        title = plotted.asked.title or f"{plotted.name} by {axis}"
        blocks.append(Plot(f"panels-{i}", title, svg, caption, reproduce=reproduce(tasks)))
    return [*blocks, *curve_plots(source), table(source)]


def plot(source: Source, key: str, name: str, axis: str, tasks: Sequence[Task]) -> Plot:
    """One figure over x, a line for each series."""
    lines = peers.lines(source.summary, name)
    traces = [_trace(line) for line in lines]
    ticks = {x: digits(x) for line in lines for x, _ in line.points}
    unit = unit_text(lines[0].figure.unit)
    values = [v for trace in traces for _, v, _, _ in trace.points]
    log = min(values) > 0 and max(values) / min(values) > 20
    svg = draw_series(
        key, traces, axis, f"{name}, {unit}" if unit else name, sorted(ticks.items()), log_y=log
    )
    caption = "Medians; the bars are their 95 % intervals."
    caption += _DASH if any(trace.bounds for trace in traces) else ""
    caption += " The upright axis is logarithmic." if log else ""
    return Plot(key, f"{name[:1].upper()}{name[1:]} by {axis}", svg, caption, reproduce=reproduce(tasks))


def _trace(line: series.Line) -> Trace:
    bounds = []
    for x, e in line.points:
        value = beside(e.task, e.figure).get("value")
        if value and e.figure.median:
            bounds.append((x, float(value)))
    points = [(x, e.figure.median or 0.0, e.figure.low, e.figure.high) for x, e in line.points]
    return Trace(line.label, points, bounds)


def curve_plots(source: Source) -> list[Block]:
    """The curves that programs leave, one plot for each kind of curve."""
    found: dict[tuple[str, str], tuple[dict[str, str], dict[str, str], list[Series], list[Task]]] = {}
    for task in source.tasks():
        for curve in source.curves(task):
            key = (studies.group_of(task), str(curve["name"]))
            entry = found.setdefault(key, (curve["x"], curve["y"], [], []))
            entry[2].append(Series(studies.setting_of(task), curve["points"]))
            entry[3].append(task)
    blocks: list[Block] = []
    for i, ((group, name), (x, y, lines, tasks)) in enumerate(found.items()):
        if len(lines) > _MOST_CURVES or not any(len(line.points) > 1 for line in lines):
            continue
        wide = x["unit"] == "B"
        svg = curves(
            f"curve-{i}",
            lines,
            Axis(f"{x['name']}, {x['unit']}" if x["unit"] and not wide else x["name"], x["unit"], log=wide),
            Axis(y["name"], y["unit"], log=wide),
        )
        caption = "Medians over launches; bands are their intervals."
        blocks.append(Plot(f"curve-{i}", f"{name}: {group}", svg, caption, reproduce=reproduce(tasks)))
    return blocks


def table(source: Source) -> Table:
    """Every figure of every task."""
    head = ("Program", "Setting", "Figure", "Median", "95 % interval", "Bound", "Of it", "n")
    rows = []
    for task in source.tasks():
        for f in figures(task):
            bound = beside(task, f)
            rows.append(
                [
                    studies.group_of(task),
                    studies.setting_of(task),
                    f.name,
                    f"{shown(f.median, f.low, f.high)} {unit_text(f.unit)}",
                    interval_only(f),
                    bound.get("why") or bound_text(bound),
                    part_text(bound.get("reached")),
                    str(f.n),
                ]
            )
    return Table(head, rows, frozenset({3, 4, 5, 6, 7}), folded=len(rows) > 24)


def scaling(source: Source) -> list[Block]:
    """Speedup, efficiency, what does not scale and the fitted law."""
    every = series.scalings(source.summary)
    blocks: list[Block] = []
    if every:
        weak = every[0].weak
        caption = (
            "Dots with 95 % intervals (Hodges-Lehmann ratios); dashed is the fitted law, dotted the ideal."
        )
        title = "Scaled speedup and efficiency" if weak else "Speedup and efficiency"
        tasks = [e.task for line in series.lines(source.summary) for _, e in line.points]
        svg = draw_scaling("scaling", every)
        blocks.append(Plot("scaling", title, svg, caption, reproduce=reproduce(tasks)))
        what = "Serial fraction (Gustafson)" if weak else "Karp-Flatt fraction"
        rows = []
        for one in every:
            for p in one.points:
                fraction = "—" if p.cores == p.base else digits(p.fraction(p.speedup, weak))
                span = (
                    f"[{digits(p.low)}, {digits(p.high)}]" if p.low and p.high and p.cores != p.base else "—"
                )
                fitted = digits(one.law.speedup(p.cores)) if one.law else "—"
                rows.append(
                    [
                        one.label,
                        digits(p.cores),
                        shown(p.speedup),
                        span,
                        percent(p.efficiency),
                        fraction,
                        fitted,
                        str(p.n),
                    ]
                )
        head = ("Series", "Cores", "Speedup", "95 % interval", "Efficiency", what, "Fitted law", "n")
        blocks.append(Table(head, rows, frozenset(range(1, 8))))
    return [*blocks, table(source)]
