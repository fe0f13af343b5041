"""The view of a study that sets one thing beside others that serve the same purpose."""

from __future__ import annotations

from collections.abc import Sequence

from strata.advice import peers, studies
from strata.report.document import Block, Plot
from strata.report.figures.studies import Row, launches
from strata.report.sections import study_series
from strata.report.source import Source, reproduce


def beside_peers(source: Source) -> list[Block]:
    """Each headline figure: over x where it varies, else every launch; then the curves and the table."""
    axis = str(studies.about(source.summary).get("x") or "cores")
    groups = peers.groups(source.summary)
    blocks: list[Block] = []
    for i, name in enumerate(dict.fromkeys(name for name, _ in groups)):
        by_x = {x: entries for (figure_name, x), entries in groups.items() if figure_name == name}
        tasks = [e.task for entries in by_x.values() for e in entries]
        title = f"{name[:1].upper()}{name[1:]}"
        if len(by_x) > 1:
            blocks.append(study_series.plot(source, f"peers-{i}", name, axis, tasks))
        else:
            every = next(iter(by_x.values()))
            rows = [Row(e.label, e.figure, 0 if e is every[0] else 1) for e in every]
            unit = every[0].figure.unit
            svg = launches(f"peers-{i}", rows, unit, title, (), log=_far(every))
            caption = "Each hollow dot is a launch, the full one their median, the bar its 95 % interval."
            blocks.append(Plot(f"peers-{i}", title, svg, caption, reproduce=reproduce(tasks)))
    return [*blocks, *study_series.curve_plots(source), study_series.table(source)]


def _far(entries: Sequence[studies.Entry]) -> bool:
    """Whether the values lie so far apart that the smallest would lie on the axis."""
    values = [v for e in entries for v in e.figure.samples]
    return min(values) > 0 and max(values) / min(values) > 10
