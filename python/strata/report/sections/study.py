"""The sections of a study's report: what was asked, what the numbers say, and its figures by view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strata.advice import studies, views
from strata.advice.samples import Interval, Task, figure, figures, headline
from strata.advice.words import digits, percent, unit_text
from strata.report.document import Block, Heading, Notice, Plot, Points, Section, Table, Text
from strata.report.figures.studies import Row, Tail, launches, stacked, tails, thinned
from strata.report.quantities import beside, bound_text, interval_only, part_text, shown
from strata.report.sections import study_peers, study_series
from strata.report.source import Source, reproduce


def study(source: Source) -> Section:
    """The study's own section."""
    about = studies.about(source.summary)
    blocks: list[Block] = [Text(str(about["about"]))] if about.get("about") else []
    said = views.statements(source.summary)
    if said:
        blocks.append(Points(said))
    drawn = {
        "pages": pages,
        "cycles": cycles,
        "peers": study_peers.beside_peers,
        "series": study_series.over_x,
        "panels": study_series.in_panels,
        "strong": study_series.scaling,
        "weak": study_series.scaling,
    }
    view = str(about.get("view"))
    blocks += drawn.get(view, table)(source)
    if view in ("series", "panels", "strong", "weak", "peers"):
        blocks += _missing(source)
    if view in ("pages", "cycles"):
        blocks += _beside_bounds(source)
    blocks += toolchains(source)
    return Section("study", "What was found", blocks)


def _missing(source: Source) -> list[Block]:
    """Settings that this system does not grant, and those that gave no answer."""
    said: list[Block] = []
    for u in studies.about(source.summary).get("unavailable") or []:
        said.append(Notice("missing", f"Not available here: {studies.absent(u)}."))
    for task in source.tasks():
        if not task.get("figures"):
            status = str(task.get("status") or "no answer").splitlines()[0]
            said.append(Notice("missing", f"{studies.label_of(task)}: {status}."))
    return said


def _series_of(tasks: Sequence[Task]) -> tuple[list[int], list[str]]:
    """A colour for each setting, in the order in which the study names them."""
    names: list[str] = []
    for task in tasks:
        name = studies.setting_of(task)
        if name not in names:
            names.append(name)
    return [names.index(studies.setting_of(t)) for t in tasks], names


def _launches(
    key: str, tasks: Sequence[Task], name: str | None, title: str, about: str, log: bool = False
) -> list[Block]:
    """Every launch of every setting, for one figure."""
    chosen: list[tuple[Task, Interval]] = []
    for task in tasks:
        f = figure(task, name) if name else headline(task)
        if f is not None:
            chosen.append((task, f))
    if not chosen:
        return []
    colours, names = _series_of([t for t, _ in chosen])
    rows = [Row(studies.label_of(t), f, c) for (t, f), c in zip(chosen, colours, strict=True)]
    legend = names if len(names) < len(rows) else ()
    unit = chosen[0][1].unit
    svg = launches(key, rows, unit, title, legend, log)
    caption = f"{about} Each hollow dot is a launch, the full one their median, the bar its 95 % interval."
    if any(len(f.samples) > len(thinned(f.samples)) for _, f in chosen):
        caption += " Of very many launches some are drawn, the extremes among them."
    return [Plot(key, title, svg, caption, reproduce=reproduce([t for t, _ in chosen]))]


# -- where pages lie ---------------------------------------------------------------------------------------


def pages(source: Source) -> list[Block]:
    """The view `pages`: times of sweeps, and where the pages lie."""
    tasks = source.tasks()
    blocks = _launches(
        "pages-time",
        tasks,
        views.SWEEP,
        "Time of a sweep",
        "The axis begins where the values do: what is shown is their spread.",
    )
    blocks += _by_memory(source, tasks)
    head = (
        "Setting",
        "Sweep",
        "95 % interval",
        "From launch to launch",
        "Within one",
        "Rate",
        "Local",
        "Moves",
        "n",
    )
    rows = []
    for task in tasks:
        sweep = figure(task, views.SWEEP)
        if sweep is None:
            continue
        rows.append(
            [
                studies.label_of(task),
                f"{shown(sweep.median, sweep.low, sweep.high)} {sweep.unit}",
                interval_only(sweep),
                _percent(studies.spread(sweep)),
                _of(figure(task, "spread of sweeps"), "%"),
                _of(figure(task, "bandwidth"), "GB/s"),
                _of(figure(task, "local pages"), "%"),
                _span(figure(task, "migrations")),
                str(sweep.n),
            ]
        )
    meaning = (
        "From launch to launch: (longest - shortest) / median of the launches' median sweeps; within one: "
        "the same of the sweeps of a launch. Local: pages in the domain of the thread that uses them. Moves: "
        "migrations of all threads in a launch, median and most."
    )
    return [*blocks, Table(head, rows, frozenset(range(1, 9))), Text(meaning), *_missing(source)]


def _by_memory(source: Source, tasks: Sequence[Task]) -> list[Block]:
    """Pages of each setting by the memory that they lie in, summed over the domains of their threads."""
    rows: list[tuple[str, list[float]]] = []
    columns: list[Any] = []
    for task in tasks:
        for matrix in source.matrices(task):
            columns = list(matrix["columns"])
            sums = [sum(row[i] or 0.0 for row in matrix["values"]) for i in range(len(columns))]
            rows.append((studies.label_of(task), sums))
    if not rows:
        return [Notice("missing", "Pages by memory: the kernel does not tell here where pages lie.")]
    if len(columns) == 1:
        return [Text(f"Pages by memory: all of them in memory {columns[0]}, the only one, in every setting.")]
    svg = stacked("pages-memory", rows, [f"memory {c}" for c in columns], "pages, % of all")
    return [
        Plot(
            "pages-memory",
            "Pages by memory",
            svg,
            "Asked of `move_pages` at the end of each launch, medians over launches.",
            reproduce=reproduce(tasks),
        )
    ]


# -- how well work repeats ---------------------------------------------------------------------------------


def cycles(source: Source) -> list[Block]:
    """The view `cycles`: how much longer than the shortest repetitions take."""
    tasks = [t for t in source.tasks() if t.get("figures")]
    name = views.cycles_figure(source.summary)
    suffix = name.removeprefix(views.P99)
    blocks: list[Block] = []
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(studies.values_of(task), []).append(task)
    for i, group in enumerate(groups.values()):
        blocks += _tails(source, group, suffix, i)
    blocks += _launches(
        "cycles-spread",
        tasks,
        name,
        "Spread of a launch: 99th percentile over median",
        "In parts per million of the median run; the axis is logarithmic.",
        log=True,
    )
    for task in tasks:  # the tails of what is not shown stay out of the page: every number is in the table
        source.curves(task)
    head = (
        "Setting",
        "Run",
        "99th over median",
        "Quartiles",
        "Longest",
        "Launches",
        "Preempted",
        "Moved",
        "n",
    )
    rows = []
    for task in tasks:
        run, main = figure(task, "median run"), figure(task, name)
        quartiles, longest = (
            figure(task, f"{n}{suffix}") for n in ("interquartile range", "longest over shortest")
        )
        between = studies.spread(run)
        rows.append(
            [
                studies.label_of(task),
                _of(run, unit_text(run.unit) if run else ""),
                f"{shown(main.median)} {interval_only(main)}".strip() if main else "—",
                _of(quartiles, ""),
                _of(longest, ""),
                "—" if between is None else digits(1e6 * between),
                _span(figure(task, "preemptions")),
                _span(figure(task, "moves")),
                str(run.n if run else 0),
            ]
        )
    meaning = (
        "Spreads in parts per million, medians over launches: the 99th percentile over the median with its "
        "95 % interval, the range of the quartiles over the median, the longest run over the shortest; "
        "launches: (longest - shortest) / median of the launches' median runs. Preempted and moved in a "
        "launch: median and most."
    )
    table = Table(head, rows, frozenset(range(1, len(head))))
    return [*blocks, table, Text(meaning), *_counter(tasks), *_missing(source)]


def _tails(source: Source, group: Sequence[Task], suffix: str, index: int) -> list[Block]:
    series = []
    for task in group:
        for curve in source.curves(task):
            if str(curve["name"]) == f"over the shortest{suffix}":
                label = studies.setting_of(task)
                series.append(
                    Tail(label, sorted(curve["points"], reverse=True), dashed=task.get("bind") == "none")
                )
    if not series:
        return []
    one = figure(group[0], "resolution")
    work = (group[0].get("parameters") or {}).get("work")
    of = f" of {digits(work)} steps" if work else ""
    key = f"cycles-tail-{index}"
    svg = tails(key, series, "ppm", one.median if one else None)
    return [
        Plot(
            key,
            f"How far runs{of} exceed the shortest",
            svg,
            "From left to right the rarer ones, the longest of a launch last; medians over launches, bands "
            "are their intervals, dashed is not pinned.",
            reproduce=reproduce(group),
        )
    ]


def _counter(tasks: Sequence[Task]) -> list[Block]:
    """Which counter it was, and what one of its ticks is."""
    said = []
    for task in tasks[:1]:
        known = task.get("parameters") or {}
        ghz = known.get("counter_ghz")
        one = figure(task, "resolution")
        tick = f"; one tick is {digits(one.median)} ppm of the shortest run" if one and one.median else ""
        rate = f", {digits(ghz, 4)} GHz" if ghz else ""
        said.append(f"Timed with the {known.get('counter')}{rate}{tick}.")
        if not known.get("cycle_counter"):
            said.append(
                "There is no cycle counter here. A time-stamp counter tells time: a change of the clock, "
                "and what a hypervisor takes, are part of this spread and would be no part of a count of "
                "cycles."
            )
    return [Text(" ".join(said))] if said else []


def _beside_bounds(source: Source) -> list[Block]:
    """The bound of each figure, where the view's own table has no room for it."""
    rows = []
    for task in source.tasks():
        for f in figures(task):
            bound = beside(task, f)
            value = f"{shown(f.median, f.low, f.high)} {unit_text(f.unit)}"
            said = bound.get("why") or bound_text(bound)
            rows.append([studies.label_of(task), f.name, value, said, part_text(bound.get("reached"))])
    table = Table(("Setting", "Figure", "Median", "Bound", "Of it"), rows, frozenset({2, 4}), folded=True)
    return [Heading("Beside their bounds"), table] if rows else []


# -- toolchains --------------------------------------------------------------------------------------------


def toolchains(source: Source) -> list[Block]:
    """How each was built, and which libraries its launches really loaded."""
    known = studies.about(source.summary).get("toolchains") or []
    if not known:
        return []
    head = ("Toolchain", "Tools", "Flags, libraries, environment", "Built with", "Loaded")
    rows = []
    for chain in known:
        loaded: dict[str, None] = {}
        for task in source.tasks():
            if (task.get("labels") or {}).get("toolchain") == chain["name"]:
                loaded.update(dict.fromkeys((task.get("readback") or {}).get("libraries") or []))
        tools = [
            f"{name}: `{tool}` {chain['versions'].get(name) or ''}" for name, tool in chain["tools"].items()
        ]
        built = [f"{program}: `{'; '.join(lines)}`" for program, lines in chain["builds"].items()]
        wished = " ".join(part for part in (chain["flags"], chain["libraries"]) if part)
        given = [f"`{name}={value}`" for name, value in (chain.get("environment") or {}).items()]
        rows.append(
            [
                chain["name"],
                "\n".join(tools) or "—",
                "\n".join([f"`{wished}`"] * bool(wished) + given) or "—",
                "\n".join(built) or "—",
                "\n".join(loaded) or "none worth naming (BLAS, MPI, OpenMP, FFTW)",
            ]
        )
    return [Heading("Toolchains"), Table(head, rows)]


# -- any program -------------------------------------------------------------------------------------------


def table(source: Source) -> list[Block]:
    """The view of any program: every launch of its headline figures, and a table."""
    tasks = source.tasks()
    blocks: list[Block] = []
    by_figure: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        named = [f for name in task["headline"] if (f := figure(task, name)) is not None]
        for f in named or [f for f in (headline(task),) if f is not None]:
            by_figure.setdefault((f.name, f.unit), []).append(task)
    for i, ((name, _), group) in enumerate(by_figure.items()):
        blocks += _launches(f"study-{i}", group, name, f"{name[:1].upper()}{name[1:]}", "")
    head = (
        "Setting",
        "Figure",
        "Median",
        "95 % interval",
        "Bound",
        "Of it",
        "Launch to launch",
        "Migrations",
    )
    rows = []
    for task in tasks:
        moved = (task.get("disturbance") or {}).get("migrations")
        for f in figures(task):
            bound = beside(task, f)
            rows.append(
                [
                    studies.label_of(task),
                    f.name,
                    f"{shown(f.median, f.low, f.high)} {unit_text(f.unit)}",
                    interval_only(f),
                    bound.get("why") or bound_text(bound),
                    part_text(bound.get("reached")),
                    _percent(studies.spread(f)),
                    "—" if moved is None else digits(moved),
                    str(f.n),
                ]
            )
    whole = Table((*head, "n"), rows, frozenset({2, 3, 5, 6, 7, 8}), folded=len(rows) > 24)
    return [*blocks, *study_series.curve_plots(source), whole, *_missing(source)]


def _percent(value: float | None) -> str:
    return "—" if value is None else percent(value)


def _of(f: Interval | None, unit: str) -> str:
    return "—" if f is None or f.median is None else f"{shown(f.median)} {unit}".strip()


def _span(f: Interval | None) -> str:
    """'0, at most 3': a count over launches."""
    if f is None or f.median is None:
        return "—"
    return (
        digits(f.median) if f.maximum == f.median else f"{digits(f.median)}, at most {digits(f.maximum or 0)}"
    )
