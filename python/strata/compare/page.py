"""The report of a comparison: what differs beside the figures, what changed, and what was not compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strata.advice.words import count
from strata.compare import words
from strata.report.document import Block, Document, Notice, Plot, Points, Section, Table, Text
from strata.report.figures.forest import Panel, Row, forest

Comparison = Mapping[str, Any]  # strata.comparison/1
DRAWN = 40  # rows of the plot; the table has all


def comparison(whole: Comparison) -> Document:
    """The whole report, without any look."""
    before, after = whole["before"], whole["after"]
    facts = [
        (name, f"{side['path']} ({side['kind']}, {side['hostname']}, {side['started']})")
        for name, side in (("Before", before), ("After", after))
    ]
    hosts = [str(s["hostname"] or s["cpu_model"] or "machine") for s in (before, after)]
    title = f"{hosts[0]}, before and after" if hosts[0] == hosts[1] else f"{hosts[0]} and {hosts[1]}"
    synthetic = before["synthetic"] or after["synthetic"]
    return Document(
        title,
        "Comparison of results",
        [*facts, ("Found", words.verdict(whole))],
        "synthetic fixture, not a measurement" if synthetic else None,
        [_differences(whole), _changes(whole), _not_compared(whole), _method(whole)],
    )


def _differences(whole: Comparison) -> Section:
    """What the reader must know before any figure."""
    found = whole["differences"]
    if not found:
        text = "Nothing that was recorded differs: machine, build, libraries, environment, limits and plan."
        return Section("differences", "What differs beside the figures", [Text(text)])
    rows = [[d["about"], d["what"], d["before"], d["after"]] for d in found]
    head = ("About", "What", "Before", "After")
    return Section("differences", "What differs beside the figures", [Table(head, rows)])


def _changes(whole: Comparison) -> Section:
    entries = sorted(whole["comparisons"], key=words.sort_key)
    blocks: list[Block] = [Points(words.statements(whole))]
    if entries:
        blocks += [_plot(whole, entries[:DRAWN], len(entries)), _table(whole, entries)]
    return Section("changes", "What changed", blocks)


def _plot(whole: Comparison, entries: Sequence[Mapping[str, Any]], every: int) -> Plot:
    threshold = whole["regressed"]
    panels = []
    for better, title, limit in (
        ("lower", "Less is better", 1 + threshold),
        ("higher", "More is better", 1 - threshold),
    ):
        rows = [
            Row(f"{e['task']}: {e['figure']}", e["ratio"], e["low"], e["high"], e["verdict"])
            for e in entries
            if e["better"] == better
        ]
        if rows:
            panels.append(Panel(title, limit, rows))
    caption = (
        "Each dot is the ratio of a figure after to before (Hodges and Lehmann), the bar its exact 95 % "
        "interval; a hollow dot is undecided. The axis is logarithmic; the shaded side is worse by more than "
        f"{words.share(threshold)}."
    )
    if len(entries) < every:
        caption += f" {count(every - len(entries), 'more figure')} of smaller changes are in the table alone."
    svg = forest("comparison", panels, words.share(threshold))
    return Plot("comparison", "After beside before", svg, caption, number=1)


def _table(whole: Comparison, entries: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        [
            e["task"],
            e["figure"],
            words.value(e["before"], e["after"], e["unit"]),
            words.value(e["after"], e["before"], e["unit"]),
            words.change(e["ratio"]),
            words.interval(e),
            f"{e['p_family']:.2g}",
            words.sizes(e),
            _marked(e, whole["regressed"]),
        ]
        for e in entries
    ]
    head = ("Task", "Figure", "Before", "After", "Change", "95 % interval", "p", "n", "Verdict")
    caption = "Every figure compared; p is adjusted for all of them together"
    return Table(head, rows, frozenset({2, 3, 4, 5, 6, 7}), caption, folded=len(rows) > DRAWN)


def _marked(entry: Mapping[str, Any], threshold: float) -> str:
    text = words.note(entry, threshold).replace(" ", "\u00a0")  # a verdict is read in one piece
    return f"**{text}**" if entry["verdict"] in ("regressed", "improved") else text


def _not_compared(whole: Comparison) -> Section:
    """What one side alone has, and what was not comparable."""
    blocks: list[Block] = []
    reasons = words.not_compared(whole)
    if reasons:
        rows = [[", ".join(names), why] for why, names in reasons.items()]
        blocks.append(Table(("On both sides", "Not compared because"), rows))
    for name in ("before", "after"):
        ids = whole[f"only_{name}"]
        if ids:
            blocks.append(Notice("missing", f"Only {name}: {count(len(ids), 'task')}: {', '.join(ids)}."))
    if not blocks:
        blocks.append(Text("Nothing: both sides have the same tasks, and all of them were compared."))
    return Section("left", "What was not compared", blocks)


def _method(whole: Comparison) -> Section:
    limit = words.share(whole["regressed"])
    points = [
        "Each side's answer counts, from at least six launches: the undisturbed ones, or all where too few "
        "were. A disturbed answer is marked; beside an undisturbed one it decides no exit code.",
        "The ratio after/before is the Hodges-Lehmann estimate of the logarithms with the exact interval of "
        "Mann and Whitney's test: nothing is assumed about the distribution. The interval is that of each "
        "figure alone.",
        words.method_sentence(whole),
        f"**Unchanged** is said only where the whole interval lies within ±{limit}; what is neither changed "
        "nor unchanged is undecided. More launches decide it.",
        f"**By more than {limit}** is said where that too is significant, for all these figures together; "
        f"the exit code is then {3 if whole['exit_code'] == 0 else whole['exit_code']}.",
        "A change is one between these two runs. Whether it comes from what was changed on purpose or from "
        "another day of the machine only two runs of the same thing can tell.",
    ]
    return Section("method", "How it was compared", [Points(points)])
