"""The fleet's report: sections of a document, which `strata.report` writes as HTML and Markdown."""

from __future__ import annotations

import math

import numpy as np

from strata.advice.words import count
from strata.centre.fleet import drain, figures, words
from strata.centre.fleet.analysis import Analysis
from strata.centre.fleet.outliers import ALARM, FEWEST, RUNS
from strata.centre.outages.times import text
from strata.report.document import (
    Block,
    Code,
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

_LISTED = 50


def document(whole: Analysis, command: str) -> Document:
    """The whole report; `command` is what makes it again."""
    fleet = whole.fleet
    sections = [_first(whole), _suspects(whole)]
    if np.isfinite(whole.levels).any():
        sections += [_maps(whole), _spread(whole), _time(whole)]
    sections += [_others(whole), _method(whole, command)]
    facts = [
        ("Nodes", f"{len(fleet.nodes)} in {count(len(whole.groups), 'group')}"),
        (
            "Runs",
            f"{fleet.runs}, {text(float(fleet.time.min()))[:10]} to {text(float(fleet.time.max()))[:10]}",
        ),
    ]
    title = f"{len(fleet.nodes)} nodes"
    return Document(
        title, "Fleet report", facts, fleet.generated or None, numbered([s for s in sections if s.blocks])
    )


def _first(whole: Analysis) -> Section:
    suspects = len(whole.suspects)
    slow = sum(len(s.outliers) > 0 for s in whole.suspects)
    tiles = [
        Tile(
            "Suspects",
            str(suspects),
            "nodes" if suspects != 1 else "node",
            f"{slow} slow, {suspects - slow} otherwise",
        ),
        Tile("Measure again", str(len(whole.again)), "nodes", "slow in the newest run, not beyond chance"),
        Tile(
            "Nodes",
            str(len(whole.fleet.nodes)),
            "",
            f"{len(whole.silent)} silent, {len(whole.stale)} not measured for long",
        ),
        Tile("Changes of the whole fleet", str(len(whole.changes)), "", "of a group's median"),
    ]
    return Section("overview", "At a glance", [Tiles(tiles)])


def _suspects(whole: Analysis) -> Section:
    blocks: list[Block] = []
    rows = [[s.name, s.cause, "; ".join(s.reasons)] for s in whole.suspects]
    if rows:
        blocks.append(Table(("Node", "Most often", "Why"), rows, folded=len(rows) > _LISTED))
        blocks.append(Code([(f"{s.name}", drain.line(s)) for s in whole.suspects[:_LISTED]]))
    else:
        blocks.append(Text("No node is slower than a healthy one may be by chance."))
    if whole.again:
        listed = [[a.name, a.reason] for a in whole.again[:_LISTED]]
        if len(whole.again) > _LISTED:
            listed.append(["...", f"{len(whole.again) - _LISTED} more are in the JSON."])
        blocks += [
            Text(
                "**To be measured again**: these are slow in their newest run, but not beyond what somebody "
                "else's work, or chance, may do to a healthy node. Another run decides."
            ),
            Table(("Node", "Newest run"), listed, folded=len(listed) > 12),
            Code([("measure them", "strata centre fleet submit --again --out FOLDER")]),
        ]
    return Section("suspects", "Suspects", blocks)


def _maps(whole: Analysis) -> Section:
    return Section(
        "map",
        "Nodes and figures",
        [
            Plot(
                "nodes",
                "All nodes",
                figures.every_node("nodes", whole),
                "In the order of their names, row by row; as dark as the worst of a node's figures. Rings "
                "are suspects.",
                wide=True,
            ),
            Plot(
                "worst",
                "The worst nodes, figure by figure",
                figures.by_figure("worst", whole),
                "Percent slower than the fleet, median of the newest three runs; * is a suspect. Of cores "
                "and domains the worst one.",
                wide=True,
            ),
        ],
    )


def _spread(whole: Analysis) -> Section:
    blocks: list[Block] = [
        Plot(
            "spread",
            "How much nodes differ",
            figures.distributions("spread", whole),
            "Triangles are suspects. Values beyond the edges are drawn at the edge.",
            wide=True,
        )
    ]
    if any(s.outliers for s in whole.suspects):
        blocks.append(
            Plot(
                "history",
                "History of suspects",
                figures.history("history", whole),
                "Red: the worst figure of a suspect, run by run. Band: nine tenths of its group. Dotted: "
                "what matters, by `--least`.",
                wide=True,
            )
        )
    return Section("spread", "Distributions and history", blocks)


def _time(whole: Analysis) -> Section:
    blocks: list[Block] = []
    if len(whole.times) > 1:
        blocks.append(
            Plot(
                "fleet",
                "The fleet itself over time",
                figures.fleet_over_time("fleet", whole),
                "Change of the median of a group's nodes since the first campaign. No node is to blame for "
                "it.",
                wide=True,
            )
        )
    rows = [
        [
            c.group,
            words.title_of(c.figure),
            f"{words.percent(c.slow, whole.fleet.figures[c.figure].higher):+.1f} %",
            f"{text(c.before)[:10]} to {text(c.after)[:10]}",
            "; ".join(c.facts) or "nothing that nodes tell",
        ]
        for c in whole.changes
    ]
    if rows:
        blocks.append(
            Table(("Group", "Figure", "Change", "Between", "What changed as well"), rows, frozenset({2}))
        )
    return Section("time", "Changes of the whole fleet", blocks)


def _others(whole: Analysis) -> Section:
    blocks: list[Block] = []
    fleet = whole.fleet
    rows = [
        [g.name, str(len(g.nodes)), g.kind.get("kernel", ""), g.kind.get("microcode", "")]
        for g in whole.groups
    ]
    blocks.append(
        Table(("Group", "Nodes", "Kernel", "Microcode"), rows, frozenset({1}), folded=len(rows) > 12)
    )
    differ = [f"{fleet.nodes[d.node]}: {d.words}" for d in whole.differences]
    if differ:
        blocks += [Text("**Different from nine tenths of their group:**"), Points(_some(differ))]
    if whole.small:
        names = "; ".join(f"{g.name} ({len(g.nodes)})" for g in whole.small)
        blocks.append(
            Notice(
                "warning",
                f"Groups of fewer than {FEWEST} nodes are not compared among themselves, each node only "
                f"with its own past: {names}.",
            )
        )
    for title, names in (
        ("Silent (they were to be measured, and left no file)", whole.silent),
        ("Not measured for 45 days", whole.stale),
    ):
        if names:
            blocks.append(Text(f"**{title}:** {', '.join(names[:100])}{' ...' if len(names) > 100 else ''}"))
    if fleet.absent:
        missing = "; ".join(f"{name}: {why}" for name, why in fleet.absent.items())
        blocks.append(Text(f"**Not measured on some nodes:** {missing}."))
    if whole.damaged:
        blocks += [Text("**Damaged files, left out:**"), Points(_some(whole.damaged))]
    return Section("others", "Groups, differences, gaps", blocks)


def _some(lines: list[str]) -> list[str]:
    more = [f"{len(lines) - _LISTED} more are in the JSON."] if len(lines) > _LISTED else []
    return lines[:_LISTED] + more


def _method(whole: Analysis, command: str) -> Section:
    return Section(
        "method",
        "Method",
        [
            Points(
                [
                    "A node is compared with the median of the nodes like it at that time, so that a change "
                    "of all is no node's.",
                    f"Its newest {RUNS[0]} or {RUNS[-1]} runs must all be slow, by at least "
                    f"{-100 * math.expm1(-whole.least):g} % (`--least`), against the fleet or against its "
                    "own earlier runs.",
                    "What a healthy node may show is taken from the fleet itself: lasting differences from "
                    "the middle of the nodes, passing ones from how much nodes recover from one run to the "
                    "next.",
                    "A report on a healthy fleet names any slow node with a probability of at most "
                    f"{ALARM:g} (Bonferroni over figures, nodes, parts and tests). docs/fleet.md has how "
                    "often it did, and what it missed.",
                    "Counters of errors, lost hardware and wrong results are findings by fixed rules.",
                ]
            ),
            Text(f"Made by `{command}`."),
        ],
    )
