"""The report on use: sections of a document, which `strata.report` writes as HTML and Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from strata.centre.jobs.rows import KINDS, WASTED
from strata.centre.outages.times import text
from strata.centre.use import figures, sustained
from strata.centre.use.account import Change, Figure
from strata.centre.use.analysis import Analysis, hidden_said, months
from strata.centre.use.groups import Group
from strata.centre.use.words import NONE, duration, interval, one_digit, percent, value
from strata.report.document import (
    Block,
    Document,
    Notice,
    Plot,
    Points,
    Section,
    Table,
    Text,
    Tile,
    Tiles,
    numbered,
)

_ENDS = {
    "completed": "completed",
    "failed": "failed",
    "timeout": "ran out of its time",
    "node": "killed by a node that failed",
    "cancelled": "cancelled",
    "again": "queued again, or preempted",
    "running": "running still",
    "waiting": "waits still",
    "unknown": "the log does not say",
}


def document(whole: Analysis, command: str) -> Document:
    """The whole report; `command` is what makes it again."""
    sections = [
        _first(whole),
        _utilisation(whole),
        _widths(whole),
        _waiting(whole),
        _throughput(whole),
        _ends(whole),
    ]
    if whole.names:
        sections.append(_groups(whole))
    if whole.changes:
        sections.append(_changes(whole))
    sections += [sustained.section(whole), _log(whole), _method(whole, command)]
    facts = [
        ("Log", "hidden" if whole.asked.hide else whole.log.path),
        ("Observed", f"{text(whole.days.begin)[:10]} to {text(whole.days.end)[:10]}"),
        ("Runs", f"{len(whole.jobs.index):,}"),
        ("Processors", f"{', '.join(f'{n:,}' for _, n in whole.parts)} ({whole.parts_by})"),
    ]
    return Document(
        "How the machine was used", "Report on use", facts, whole.log.generated or None, numbered(sections)
    )


def sentence(whole: Analysis) -> str:
    """As PSC said it of its Cray XT3: 68 % of its utilisation by jobs of 1024-4114 cores."""
    share, (low, high) = whole.whole.figure("wide"), whole.wide
    width = f"{low:,} to {high:,} processors" if high > low else f"{low:,} processors or more"
    return f"{value(share)} of the processor-hours in use were those of jobs of {width}"


def _first(whole: Analysis) -> Section:
    p = whole.whole
    tiles = [
        _tile(
            p.figure("utilisation_up"),
            "Utilisation",
            "%",
            f"of the whole time {value(p.figure('utilisation'))}",
        ),
        _tile(p.figure("starts"), "Job starts", "a day"),
        _tile(p.figure("wait_median"), "Median wait", "", f"90 % within {value(p.figure('wait_90'))}"),
        _tile(p.figure("wasted"), "Wasted", "%"),
        _tile(p.figure("between"), "Between interrupts of jobs", ""),
    ]
    rows = [[f.title, value(f), interval(f)] for f in p.figures]
    return Section(
        "overview",
        "At a glance",
        [
            Tiles(tiles),
            Text(f"**{sentence(whole)}.**"),
            Table(("Figure", "Value", "95 %"), rows, frozenset({1, 2}), f"{p.days:.1f} days"),
        ],
    )


def _tile(one: Figure, label: str, unit: str, note: str = "") -> Tile:
    shown, _, own = value(one).partition(" ")
    return Tile(label, shown, unit or own, note or (f"95 %: {interval(one)}" if one.low is not None else ""))


def _utilisation(whole: Analysis) -> Section:
    blocks: list[Block] = [
        Plot(
            "utilisation",
            "Utilisation",
            figures.utilisation("utilisation", whole),
            "Each point is a day." + (" Red: out of service." if whole.down else ""),
            f"{value(whole.whole.figure('utilisation_up'))} of the processors that were up were in use, and "
            f"{value(whole.whole.figure('utilisation'))} of all.",
            wide=True,
        )
    ]
    if whole.outages is None:
        blocks.append(
            Notice(
                "missing",
                "No log of outages was given (`--outages`): the machine counts as up all the time, so that "
                "utilisation of the time up is a lower bound.",
            )
        )
    rows = [
        [
            m["month"],
            f"{m['days']:.1f}",
            f"{m['used_hours']:,.0f}",
            percent(m["utilisation"]),
            percent(m["available"]),
            percent(m["utilisation_up"]),
            f"{m['starts']:.1f}",
        ]
        for m in months(whole)
    ]
    head = (
        "Month",
        "Days",
        "Processor-hours",
        "Of the whole time",
        "Available",
        "Of the time up",
        "Starts a day",
    )
    blocks.append(Table(head, rows, frozenset(range(1, 7)), "By month", folded=len(rows) > 14))
    return Section("utilisation", "Utilisation", blocks)


def _widths(whole: Analysis) -> Section:
    return Section(
        "widths",
        "By width of jobs",
        [
            Plot(
                "widths",
                "Who uses the machine: narrow jobs or wide ones",
                figures.widths("widths", whole.widths),
                "Lines: 95 %.",
                f"{sentence(whole)}.",
                wide=True,
            ),
            _table(whole.widths, "Processors", "By width", False),
        ],
    )


def _table(found: Sequence[Group], name: str, caption: str, folded: bool) -> Table:
    intervals = any(g.low is not None for g in found)
    rows = [
        [
            g.name,
            f"{g.starts:,}",
            f"{g.hours:,.1f}",
            f"{g.share:.1f} %",
            *([f"{one_digit(g.low)} to {one_digit(g.high)}"] if intervals else []),
            f"{g.wasted:.1f} %",
            duration(g.wait),
            duration(g.wait_90),
            NONE if g.slowdown is None else f"{g.slowdown:.2f}",
        ]
        for g in found
    ]
    head = [name, "Starts", "Processor-hours", "Share", *(["95 %"] if intervals else []), "Wasted"]
    head += ["Median wait", "90 % within", "Median slowdown"]
    return Table(head, rows, frozenset(range(1, len(head))), caption, folded)


def _waiting(whole: Analysis) -> Section:
    p = whole.whole
    blocks: list[Block] = []
    if p.figure("wait_mean").value is None:
        return Section(
            "waiting", "Waiting", [Notice("missing", "The log does not say since when jobs waited.")]
        )
    blocks.append(
        Plot(
            "waits",
            "Waiting",
            figures.waits("waits", whole),
            "",
            f"Half of the jobs waited less than {value(p.figure('wait_median'))}, and one in ten more than "
            f"{value(p.figure('wait_90'))}. The median slowdown is {value(p.figure('slowdown_median'))}.",
            wide=True,
        )
    )
    return Section("waiting", "Waiting", blocks)


def _throughput(whole: Analysis) -> Section:
    p = whole.whole
    return Section(
        "throughput",
        "Throughput",
        [
            Plot(
                "starts",
                "Job starts",
                figures.starts("starts", whole),
                "",
                f"{value(p.figure('starts'))} jobs started, {value(p.figure('ends'))} ended, and "
                f"{value(p.figure('delivered'))} processor-hours were delivered.",
                wide=True,
            )
        ],
    )


def _ends(whole: Analysis) -> Section:
    nodes = any(e.node_hours is not None for e in whole.ends)
    rows = [
        [
            _ENDS[e.kind],
            f"{e.runs:,}",
            f"{e.hours:,.1f}",
            f"{e.share:.2f} %",
            *([f"{e.node_hours or 0:,.1f}"] if nodes else []),
        ]
        for e in whole.ends
    ]
    bad = {KINDS[k] for k in WASTED}
    lost = [e for e in whole.ends if e.kind in bad]
    total = ["**wasted** (failed, out of time, killed by nodes)", f"{sum(e.runs for e in lost):,}"]
    total += [f"{sum(e.hours for e in lost):,.1f}", f"{sum(e.share for e in lost):.2f} %"]
    total += [f"{sum(e.node_hours or 0 for e in lost):,.1f}"] if nodes else []
    head = ["How runs ended", "Runs", "Processor-hours", "Share", *(["Node-hours"] if nodes else [])]
    between, killed = whole.whole.figure("between"), int(whole.sums.lost_jobs.sum())
    failures = whole.sums.failures
    if failures is not None and len(failures):
        said = (
            f"Nodes ended {killed} jobs at {len(failures)} moments: one interrupt in {value(between)} "
            f"(95 %: {interval(between)}), and one job in "
            f"{sum(e.hours for e in whole.ends) / max(killed, 1):,.0f} processor-hours."
        )
    elif failures is None:
        said = "This form of logs does not say which jobs a node ended: no time between interrupts of jobs."
    else:
        least = duration(between.low)
        said = f"No job was ended by a node: the time between interrupts is longer than {least} (95 %)."
    return Section(
        "ends", "How jobs ended", [Table(head, [*rows, total], frozenset(range(1, len(head)))), Text(said)]
    )


def _groups(whole: Analysis) -> Section:
    blocks: list[Block] = []
    for column, found in whole.names.items():
        if len(found) > 1:
            blocks.append(
                Plot(f"by-{column}", f"By {column}", figures.groups(f"by-{column}", found), "", "", wide=True)
            )
        blocks.append(_table(found, column.capitalize(), f"By {column}", len(found) > 12))
    return Section("groups", "By user, group, partition and program", blocks)


def _changes(whole: Analysis) -> Section:
    early, late = whole.early, whole.late
    assert early is not None and late is not None
    rows = [_change(c) for c in whole.changes]
    caption = f"Before {text(late.begin)[:10]} ({early.days:.1f} days) and after ({late.days:.1f} days)"
    head = ("Figure", "Before (95 %)", "After (95 %)", "Difference, 95 %", "What it says")
    return Section(
        "changes",
        "Before and after",
        [
            Table(head, rows, frozenset({1, 2, 3}), caption),
            Text(
                "Intervals are each figure's own; a change is told where it is beyond chance among all "
                "figures. It does not say that what happened on that day is the reason."
            ),
        ],
    )


def _change(one: Change) -> list[str]:
    cells = [
        value(f) if f.low is None and f.high is None else f"{value(f)} ({interval(f)})"
        for f in (one.before, one.after)
    ]
    differs = NONE
    if one.low is not None and one.high is not None:
        scale, unit = (60, "min") if one.before.unit == "h" else (1, one.before.unit)
        differs = " to ".join(f"{scale * v:+.2f}" for v in (one.low, one.high)) + f" {unit}"
    return [one.before.title, *cells, differs, one.words]


def _log(whole: Analysis) -> Section:
    points = [*hidden_said(whole)]
    points += [f"Outages: {line}" for line in whole.down.said] if whole.down is not None else []
    running, waiting = whole.still
    if running:
        points.append(f"{running} runs have no end: they last until observation ends.")
    if waiting:
        points.append(f"{waiting} jobs wait still: in no figure.")
    return Section("log", "How the log was read", [Points(points or ["Nothing in it was unclear."])])


def _method(whole: Analysis, command: str) -> Section:
    return Section(
        "method",
        "Method",
        [
            Points(
                [
                    f"Days and months are those of {whole.asked.zone}. Use is integrated exactly, to the "
                    f"second.",
                    "Available is what was not down: a node that is drained and still runs a job is up.",
                    "A width is the number of processors of a job; its share is one of processor-hours.",
                    "A wait is from when the job might have started (Slurm: Eligible; PBS: etime) to its "
                    "start.",
                    "Slowdown: (wait + run) / max(run, 10 s), at least 1 (Feitelson 2001).",
                    "Wasted: runs that failed, ran out of their time, or lost a node. Cancelled ones are "
                    "not counted.",
                    "Intervals: days are drawn again 1000 times, in blocks of 7 (with fewer than 28 days "
                    "singly, with fewer than 7 not at all). Of the time between interrupts: exact for a "
                    "Poisson count (Garwood 1936); jobs that end at one moment are one interrupt.",
                ]
            ),
            Text(
                "Made by `strata centre use --anonymise ...`."
                if whole.asked.hide
                else f"Made by `{command}`."
            ),
        ],
    )
