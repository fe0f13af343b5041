"""The reliability report: sections of a document, which `strata.report` writes as HTML and Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from strata.advice.words import count
from strata.centre.outages.categories import TOTALS
from strata.centre.outages.times import text
from strata.centre.reliability import figures, page_fits
from strata.centre.reliability.account import Account
from strata.centre.reliability.analysis import Analysis, Finding
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

_OPEN = 6  # accounts that stand open on the page
_DRAWN = 24  # systems that get a figure
_NONE = "-"


def document(whole: Analysis, command: str) -> Document:
    """The whole report; `command` is what makes it again."""
    sections = [
        _first(whole),
        _accounts(whole, [f.account for f in whole.findings], "all", "Account: all data"),
    ]
    if whole.late:
        since = text(whole.asked.since or 0.0)[:10]
        sections.append(_accounts(whole, whole.late, "since", f"Account: from {since} forward"))
    sections += [_figures(whole), page_fits.section(whole), _trend(whole), _parts(whole), _jobs(whole)]
    if whole.asked.published is not None:
        sections.append(_published(whole))
    sections += [_log(whole), _method(whole, command)]
    last = max(f.system.end for f in whole.findings)
    begin = min(f.system.begin for f in whole.findings)
    facts = [
        ("Log", whole.log.path),
        ("Observed", f"{text(begin)[:10]} to {text(last)[:10]}"),
        ("Systems", str(len(whole.findings))),
    ]
    title = whole.findings[0].system.name if len(whole.findings) == 1 else f"{len(whole.findings)} systems"
    return Document(title, "Reliability report", facts, whole.log.generated or None, numbered(sections))


def _first(whole: Analysis) -> Section:
    rows = [_summary(f) for f in whole.findings]
    head = (
        "System",
        "Parts",
        "Days",
        "Available",
        "95 %",
        "Interrupts",
        "MTTI, days",
        "95 %",
        "Trend",
        "Next 30 days",
    )
    blocks: list[Block] = []
    if len(whole.findings) == 1:
        blocks.append(_tiles(whole.findings[0]))
    blocks.append(Table(head, rows, frozenset({1, 2, 3, 5, 6, 9})))
    blocks.append(
        Text(
            "MTTI is the time of observation over the number of interrupts; "
            f"{whole.categories.interrupts} count as such. "
            "The last column is the number of interrupts to expect, with the interval in which it "
            "will lie in 95 of 100 cases."
        )
    )
    return Section("overview", "At a glance", blocks)


def _tiles(one: Finding) -> Tiles:
    row = one.account.row(TOTALS[2])
    value, low, high = one.available
    tiles = [
        Tile("MTTI", _1(row.mtti), "days", f"95 %: {_1(row.low)} to {_1(row.high)}"),
        Tile("Availability", f"{100 * value:.2f}", "%", f"95 %: {_percent(low)} to {_percent(high)}"),
        Tile("Interrupts", str(row.events), "", f"in {one.system.period:.0f} days"),
    ]
    if one.forecast is not None:
        f = one.forecast
        tiles.append(Tile("Next 30 days", f"{f.expected:.1f}", "interrupts", f"95 %: {f.low} to {f.high}"))
    return Tiles(tiles)


def _summary(one: Finding) -> list[str]:
    row, s = one.account.row(TOTALS[2]), one.system
    value, low, high = one.available
    return [
        s.name,
        str(s.parts or _NONE),
        f"{s.period:.2f}",
        f"{100 * value:.2f} %",
        f"{_percent(low)} to {_percent(high)}",
        str(row.events),
        _1(row.mtti),
        f"{_1(row.low)} to {_1(row.high)}",
        one.growth.words if one.growth else "too few interrupts",
        f"{one.forecast.expected:.1f} ({one.forecast.low} to {one.forecast.high})" if one.forecast else _NONE,
    ]


def _accounts(whole: Analysis, accounts: Sequence[Account], ident: str, title: str) -> Section:
    blocks: list[Block] = [_account(a, folded=i >= _OPEN) for i, a in enumerate(accounts)]
    return Section(f"account-{ident}", title, blocks)


def _account(found: Account, folded: bool) -> Table:
    rows = [
        [
            r.title,
            _days(r.days),
            "" if r.percent is None else f"{r.percent:.1f} %",
            _NONE if not r.events else str(r.events),
            _1(r.mtti),
            _interval(r.low, r.high) if r.events else _NONE,
        ]
        for r in found.rows
    ]
    s = found.system
    name = f"{s.description or s.name} ({s.name})" if s.description else s.name
    caption = (
        f"{name}, {text(s.begin)[:10]} to {text(s.end)[:10]}, gross availability "
        f"{100 * found.available:.2f} %"
    )
    return Table(
        ("Category", "Days", "% time", "Events", "MTTI, days", "95 %"),
        rows,
        frozenset({1, 2, 3, 4}),
        caption,
        folded,
    )


def _figures(whole: Analysis) -> Section:
    blocks: list[Block] = []
    drawn = [f for f in whole.findings if len(f.starts)][:_DRAWN]
    for i, one in enumerate(drawn):
        s = one.system
        since = None if whole.asked.since is None else (whole.asked.since - s.begin) / 86400
        longest = np.diff(one.starts, prepend=0.0).max()
        blocks.append(
            Plot(
                f"up-{i + 1}",
                f"{s.description or s.name} ({s.name})" if s.description else s.name,
                figures.days_up(f"up-{i + 1}", one, since),
                "Left: each triangle is an interrupt, as high as the days since the one before. "
                "Right: interrupts counted.",
                f"MTTI {_1(one.account.row(TOTALS[2]).mtti)} days, longest time up {longest:.1f} days, "
                f"gross availability {100 * one.account.available:.2f} %.",
                wide=True,
            )
        )
    if len(drawn) < len(whole.findings):
        blocks.append(
            Text(f"{len(whole.findings) - len(drawn)} more systems are in the tables and the JSON.")
        )
    return Section("figures", "Days without interrupt", blocks)


def _trend(whole: Analysis) -> Section:
    rows = []
    for one in whole.findings:
        g = one.growth
        if g is None:
            rows.append(
                [one.system.name, str(len(one.starts)), *[_NONE] * 6, "fewer than 5 interrupts: not fitted"]
            )
            continue
        rows.append(
            [
                one.system.name,
                str(g.events),
                f"{g.beta:.2f} ({g.beta_low:.2f} to {g.beta_high:.2f})",
                f"{g.now:.1f} ({g.now_low:.1f} to {g.now_high:.1f})",
                f"{g.laplace:+.2f}",
                f"{g.p_laplace:.3f}",
                f"{g.p_189:.3f}",
                f"{g.fits:.3f}",
                g.words,
            ]
        )
    head = (
        "System",
        "Interrupts",
        "Crow-AMSAA: β (95 %)",
        "MTTI now, days (95 %)",
        "Laplace",
        "p",
        "MIL-HDBK-189 p",
        "p of fit",
        "What it says",
    )
    return Section(
        "trend",
        "Does it become more reliable?",
        [
            Table(head, rows, frozenset({1, 2, 3, 4, 5, 6, 7})),
            Text(
                "β below 1 is growth of reliability. Both tests ask whether interrupts come at a "
                "constant rate."
            ),
        ],
    )


def _parts(whole: Analysis) -> Section:
    blocks: list[Block] = []
    law, larger = whole.law, whole.larger
    if larger is None:
        return Section(
            "parts", "Part count", [Notice("missing", "No system of the log says how many parts it has.")]
        )
    parts, mtti = larger
    if law is not None:
        blocks.append(
            Plot(
                "parts",
                "MTTI against part count",
                figures.part_count("parts", whole.findings, law, parts),
                "Bars and band: 95 %.",
            )
        )
        sides = (
            ""
            if law.low > 0
            else "; the interval holds 0, so these systems alone do not show that part count sets it"
        )
        blocks.append(
            Text(
                f"MTTI falls as parts^-{law.exponent:.2f} (95 %: {law.low:.2f} to {law.high:.2f}) "
                f"over {law.systems} systems{sides}. "
                f"They differ {law.dispersion:.1f} times as much as by chance, which the interval "
                "takes into account."
            )
        )
    else:
        blocks.append(
            Text(
                "With fewer than three systems, or all of one size, no exponent can be estimated: "
                "each part is taken to fail by itself (exponent 1)."
            )
        )
    if mtti is not None:
        most = max((f.system.parts or 0) for f in whole.findings)
        more = f"{parts - most} more parts" if parts > most else f"a system of {parts} parts"
        blocks.append(
            Text(
                f"**{more[0].upper()}{more[1:]}** ({parts} in all): expect one interrupt in "
                f"{_1(mtti[0])} days (95 %: {_1(mtti[1])} to {_1(mtti[2])})."
            )
        )
    return Section("parts", "Part count", blocks)


def _jobs(whole: Analysis) -> Section:
    rows = [
        [
            name,
            str(i.parts),
            _1(i.mtti),
            _time(i.young),
            _time(i.daly),
            f"{100 * i.lost:.1f} %",
            f"{i.lost_part_hours:,.0f}",
        ]
        for name, every in whole.jobs
        for i in every
    ]
    if not rows:
        return Section(
            "jobs", "What it costs jobs", [Notice("missing", "Without interrupts nothing is lost.")]
        )
    head = (
        "System",
        "Job's parts",
        "MTTI, days",
        "Checkpoint every (Young)",
        "(Daly)",
        "Lost",
        "part-hours lost a year",
    )
    return Section(
        "jobs",
        "What it costs jobs",
        [
            Table(head, rows, frozenset({1, 2, 3, 4, 5, 6}), folded=len(rows) > 30),
            Text(
                f"For a checkpoint that takes {_time(whole.asked.checkpoint)} and a restart that "
                f"takes {_time(whole.asked.restart)} "
                "(`--checkpoint-time`, `--restart-time`). A job on a part of a system is taken to "
                "meet that part of its interrupts. "
                "Lost is what is neither work nor needed without interrupts: checkpoints, restarts,"
                " and work that is done again."
            ),
        ],
    )


def _published(whole: Analysis) -> Section:
    blocks: list[Block] = [
        Text(
            f"{whole.compared} printed cells were compared with the log: "
            f"{whole.compared - len(whole.differences)} are as printed, "
            f"{len(whole.differences)} are not. {count(len(whole.prints), 'printed cell')} "
            f"{'contradicts' if len(whole.prints) == 1 else 'contradict'} the rest of their own table."
        )
    ]
    sentences = list(dict.fromkeys(d.sentence for d in (*whole.differences, *whole.prints)))
    if sentences:
        blocks.append(Points(sentences))
    return Section("published", "Beside what was published", blocks)


def _log(whole: Analysis) -> Section:
    points = [*whole.log.said]
    for one in whole.findings:
        s = one.system
        if not s.watched:
            points.append(
                f"{s.name}: the log does not say from when to when it was observed; from its first "
                "to its last time is taken."
            )
        points += [f"{s.name}: {line}" for line in s.said]
    shown = points[:40]
    if len(points) > len(shown):
        shown.append(f"{len(points) - len(shown)} more such remarks are in the JSON.")
    return Section("log", "How the log was read", [Points(shown or ["Nothing in it was unclear."])])


def _method(whole: Analysis, command: str) -> Section:
    return Section(
        "method",
        "Method",
        [
            Points(
                [
                    f"Times are in UTC; those without an offset were read in {whole.log.zone}.",
                    "Categories, totals and MTTI as in Ciotti, Taft, Petersohn, Early Experiences "
                    "with the 512 Processor Single System Image Origin2000 (2000), section 4. "
                    "Events are interrupts of a system that is up: one that begins while it is "
                    "down counts none.",
                    "Intervals of MTTI: exact for a Poisson count (Garwood 1936). Of availability: "
                    "outages as a compound Poisson process.",
                    "Exponential and Weibull, of up times and from start to start: maximum likelihood "
                    "with the last times censored, "
                    "interval of the shape by likelihood ratio, fit by Anderson-Darling with "
                    "parametric bootstrap.",
                    "Trend: Crow-AMSAA for observation that ends at a fixed time (MIL-HDBK-189C), "
                    "Laplace's test.",
                    "Part count: Poisson regression of events on the logarithm of parts, variances "
                    "multiplied by the dispersion.",
                    "Checkpoints: Young (1974), Daly (2006).",
                ]
            ),
            Text(f"Made by `{command}`."),
        ],
    )


def _1(value: float | None) -> str:
    return _NONE if value is None else f"{value:.1f}"


def _days(value: float) -> str:
    shown = f"{value:.2f}"
    return _NONE if float(shown) == 0 else shown


def _percent(value: float | None) -> str:
    return _NONE if value is None else f"{100 * value:.2f}"


def _interval(low: float | None, high: float | None) -> str:
    return f"{_1(low)} to {_1(high) if high is None or high < 1000 else f'{high:,.0f}'}"


def _time(minutes: float) -> str:
    if minutes < 1:
        return f"{60 * minutes:.0f} s"
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
