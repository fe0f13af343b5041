"""The section of the report about samples: the sustained rate."""

from __future__ import annotations

from collections.abc import Sequence

from strata.advice.words import size
from strata.centre.sampling.pieces import RATES
from strata.centre.sampling.rates import Account
from strata.centre.use import figures
from strata.centre.use.analysis import Analysis
from strata.centre.use.words import NONE, percent
from strata.report.document import Block, Notice, Plot, Points, Section, Table, Text

_HEAD = ("Node-hours", "CPU-hours", "Busy", "Memory", "Read, MB/s", "Written, MB/s", "Gflop/s")


def section(whole: Analysis) -> Section:
    """The sustained rate of the machine, of programs and of jobs."""
    one = whole.sampled
    if one is None:
        why = "No samples were given (`--samples`, made by `strata centre sample`): the rate is not known."
        return Section("sustained", "Sustained rate", [Notice("missing", why)])
    blocks: list[Block] = []
    if one.empty:
        blocks.append(
            Notice(
                "missing",
                f"Columns that are empty, since no sampler could count them: {'; '.join(one.empty)}.",
            )
        )
    units = {name: title for name, _, title, _ in RATES}
    for name in ("operations", "traffic", "cpu"):
        if name in one.series:
            blocks.append(
                Plot(
                    f"sustained-{name}",
                    f"Sustained over time: {units[name]}",
                    figures.sustained(f"sustained-{name}", one.series[name], units[name]),
                    f"{one.nodes} nodes, {one.cores} processors. {100 * one.covered:.1f} % of the time of "
                    f"all nodes "
                    "is sampled.",
                    "",
                    wide=True,
                )
            )
    if one.by_program:
        hide = whole.asked.hide
        named = [(f"program {i}" if hide else n, s) for i, (n, _, s) in enumerate(one.by_program, start=1)]
        unit = units[one.by_program[0][1]]
        blocks.append(
            Plot(
                "sustained-programs",
                f"By program: {unit}, mean of 7 days",
                figures.programs("sustained-programs", named, unit),
                wide=True,
            )
        )
    blocks.append(_accounts(one.programs, "Program", "By program", whole.asked.hide))
    blocks.append(_jobs(whole))
    blocks.append(Text("Busy processors, memory (the most) and rates are those of a node."))
    blocks.append(Points([f"Samples: {line}" for line in one.said] or ["No sample was damaged."]))
    return Section("sustained", "Sustained rate", blocks)


def _accounts(found: Sequence[Account], name: str, caption: str, hide: bool) -> Table:
    rows = [
        [f"{name.lower()} {i}" if hide else a.name, str(a.jobs), *_cells(a)]
        for i, a in enumerate(found, start=1)
    ]
    head = (name, "Jobs", *_HEAD)
    return Table(head, rows, frozenset(range(1, len(head))), caption, len(rows) > 12)


def _jobs(whole: Analysis) -> Table:
    """The jobs that used most, with what the log says of them."""
    assert whole.sampled is not None
    hide = whole.asked.hide
    rows = []
    for i, (a, entry) in enumerate(zip(whole.sampled.jobs, whole.entries, strict=True), start=1):
        known = [NONE, NONE, NONE]
        if entry is not None:
            known = [NONE if hide else entry.user, f"{entry.cores:,}", percent(entry.busy)]
        rows.append([f"job {i}" if hide else a.name, *known, *_cells(a)])
    head = ("Job", "User", "Processors", "Busy of these", *_HEAD)
    return Table(head, rows, frozenset(range(2, len(head))), "The jobs that used most", len(rows) > 12)


def _cells(a: Account) -> list[str]:
    rates = [_rate(a.read, 1e6), _rate(a.written, 1e6), _rate(a.rate, 1e9)]
    return [f"{a.hours:,.2f}", f"{a.cpu_hours:,.2f}", f"{a.busy:.2f}", size(a.memory), *rates]


def _rate(amount: float | None, unit: float) -> str:
    return NONE if amount is None else f"{amount / unit:,.3g}"
