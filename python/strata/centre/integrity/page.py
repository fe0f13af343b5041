"""The integrity report: sections of a document, which `strata.report` writes as HTML and Markdown."""

from __future__ import annotations

import statistics

from strata.advice.words import count
from strata.centre.integrity import figures
from strata.centre.integrity.analysis import Analysis, described, reason
from strata.centre.integrity.history import Event
from strata.centre.integrity.known import Known
from strata.measure.progress import duration
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

_LISTED = 50  # passes, findings
_OPEN_CORES = 64  # a table of so many cores stands open
_MEANS = {
    "core": "wrong again on this core and right on another: the core is broken",
    "memory": "wrong on every core in the same memory: the memory is broken",
    "repeated": "wrong again, and there was no other core to ask",
    "not repeated": "right when done again: a passing fault, such as a particle's",
    "program": "wrong on every core: the program, or this whole kind of processor",
    "not judged": "the pass ended before it was done again",
}


def document(whole: Analysis, system: Known, host: str, command: str) -> Document:
    """The whole report; `command` is what makes it again."""
    sections = [_first(whole), _findings(whole), _cores(whole), _throughput(whole)]
    sections += [_system(whole, system), _passes(whole), _method(whole, command)]
    facts = [("Machine", host), ("Passes", str(whole.passes)), ("Cores", str(len(whole.cores())))]
    if whole.runs:
        facts.append(("Last pass", str(whole.runs[-1].get("ended", whole.runs[-1]["began"]))))
    why = reason(whole)
    attention = None if why is None else f"no jobs should run here: {why}"
    return Document(host, "Integrity report", facts, attention, numbered(sections))


def _first(whole: Analysis) -> Section:
    cores = whole.cores()
    each = whole.seconds / len(cores) if cores else 0
    yielded = sum(row["seconds"] for row in whole.yielded)
    blocks: list[Block] = [
        Tiles(
            [
                Tile("Findings", str(len(whole.findings)), "", f"{len(whole.open)} since the last --clear"),
                Tile("Rounds", f"{whole.rounds:,}", "", "each compared with its known answer"),
                Tile("Tested", duration(whole.seconds), "of cores' time", f"{duration(each)} a core"),
                Tile("Left to others", duration(yielded), "of cores' time", "while they used the cores"),
            ]
        )
    ]
    if whole.lost:
        passes = "pass" if len(whole.lost) == 1 else "passes"
        blocks.append(
            Notice(
                "warning",
                f"{len(whole.lost)} {passes} did not end: the machine went down or the "
                "pass was killed. What it had done until its last sums is counted.",
            )
        )
    if whole.damaged:
        blocks.append(Notice("warning", f"{count(whole.damaged, 'line')} of the history could not be read."))
    return Section("overview", "At a glance", blocks)


def _findings(whole: Analysis) -> Section:
    if not whole.findings:
        return Section("findings", "Findings", [Text("Every answer was right.")])
    head = (
        "When",
        "Verdict",
        "Core",
        "Kernel",
        "What",
        "Expected",
        "Obtained",
        "Again",
        "Seed",
        "Where",
        "°C",
    )
    shown = whole.findings[-_LISTED:]
    blocks: list[Block] = [Table(head, [_row(f) for f in reversed(shown)], frozenset({2, 10}))]
    if len(shown) < len(whole.findings):
        blocks.append(Text(f"The newest {len(shown)} of {len(whole.findings)}; all are in `integrity.json`."))
    verdicts = dict.fromkeys(f["verdict"] for f in whole.findings)
    blocks.append(Points([f"**{v}**: {_MEANS.get(v, 'unknown')}" for v in verdicts]))
    again = [f"`strata centre integrity --replay {f['replay']}`" for f in shown[-3:] if f.get("replay")]
    if again:
        blocks.append(Text("To do the newest again: " + ", ".join(again) + "."))
    beside = [f"{described(f)}: {_rises(f['counters'])}" for f in reversed(shown) if f.get("counters")]
    if beside:
        blocks.append(Text("What the system had counted by then since the pass began:"))
        blocks.append(Points(beside))
    pages = [f["offline"] for f in shown if f.get("offline")]
    if pages:
        blocks.append(Points(pages))
    return Section("findings", "Findings", blocks)


def _row(finding: Event) -> list[str]:
    retries = [f"core {r['core']} {'right' if r['agrees'] else 'wrong'}" for r in finding.get("retries", [])]
    what = str(finding.get("what", ""))
    if finding.get("place"):
        what += f", {finding['place']}"
    if finding.get("physical"):
        what += f", at {finding['physical']}"
    where = f"package {finding.get('package', '?')}, domain {finding.get('domain', '?')}"
    if finding.get("microcode"):
        where += f", microcode {finding['microcode']}"
    heat = finding.get("temperature")
    return [
        str(finding.get("time", "")),
        finding["verdict"],
        str(finding["core"]),
        finding["kernel"],
        what,
        str(finding.get("expected", "")),
        str(finding.get("obtained", "")),
        ", ".join(retries) or "-",
        str(finding.get("seed", "")),
        where,
        "-" if heat is None else f"{heat:.0f}",
    ]


def _cores(whole: Analysis) -> Section:
    kernels, cores = whole.kernels(), whole.cores()
    cell = {(r["core"], r["kernel"]): r for r in whole.sums}
    found = {c: sum(f["core"] == c for f in whole.findings) for c in cores}
    yielded = {row["core"]: row["seconds"] for row in whole.yielded}
    rows = []
    for core in cores:
        seconds = sum(r["seconds"] for r in whole.sums if r["core"] == core)
        rounds = [f"{cell[core, k]['rounds']:,}" if (core, k) in cell else "-" for k in kernels]
        rows.append([str(core), str(found[core]), duration(seconds), duration(yielded.get(core, 0)), *rounds])
    head = ("Core", "Findings", "Tested", "Left to others", *kernels)
    blocks: list[Block] = []
    if cell:
        plot = figures.coverage("coverage", cores, kernels, cell, whole.findings)
        blocks.append(
            Plot("coverage", "CPU time by core and kernel", plot, "A cross: wrong answers.", wide=True)
        )
    numeric = frozenset(range(len(head)))
    blocks.append(Table(head, rows, numeric, "Rounds by core and kernel.", folded=len(rows) > _OPEN_CORES))
    never = [f"core {c} by {k}" for c in cores for k in kernels if (c, k) not in cell]
    if never:
        more = f" and {len(never) - 10} more" if len(never) > 10 else ""
        blocks.append(Text(f"Not tested yet: {', '.join(never[:10])}{more}."))
    return Section("cores", "Cores and kernels", blocks)


def _throughput(whole: Analysis) -> Section:
    rows = []
    for kernel in whole.kernels():
        cells = [r for r in whole.sums if r["kernel"] == kernel and r["seconds"] > 0]
        rates = sorted((r["work"] / r["seconds"], r["core"]) for r in cells)
        if not rates:
            continue
        middle = statistics.median(rate for rate, _ in rates)
        rows.append(
            [
                kernel,
                f"{middle:.3g}",
                f"{cells[0]['unit']}/s",
                f"{rates[0][0] / middle:.1%} (core {rates[0][1]})",
                f"{rates[-1][0] / middle:.1%} (core {rates[-1][1]})",
                f"{sum(r['rounds'] for r in cells):,}",
            ]
        )
    head = ("Kernel", "Median of cores", "Unit", "Slowest", "Fastest", "Rounds")
    note = (
        "Of CPU time that the kernels had. A core that is much slower than others of its kind needs a look."
    )
    return Section("throughput", "Throughput", [Table(head, rows, frozenset({1, 3, 4, 5})), Text(note)])


def _system(whole: Analysis, system: Known) -> Section:
    risen: dict[str, int] = {}
    for run in whole.runs:
        for name, value in run.get("counters", {}).items():
            risen[name] = risen.get(name, 0) + value
    rows = [[name, f"{value:,}", f"{risen.get(name, 0):,}"] for name, value in system.counters.items()]
    blocks: list[Block] = []
    if rows:
        blocks.append(Table(("Counter", "Now", "Rose during passes"), rows, frozenset({1, 2})))
    if system.absent:
        blocks.append(Text("Not here:"))
        blocks.append(Points(system.absent))
    return Section("system", "What the system counts itself", blocks)


def _passes(whole: Analysis) -> Section:
    rows = [
        [
            str(run["began"]),
            duration(run.get("seconds", 0)),
            str(len(run.get("cores", []))),
            f"{run.get('rounds', 0):,}",
            str(run["findings"]),
            str(run.get("seed", "")),
            str(run.get("mode", "")),
            {"lost": "did not end", "signal": "ended by a signal"}.get(run["ended_by"], "ended"),
        ]
        for run in reversed(whole.runs[-_LISTED:])
    ]
    head = ("Began", "Took", "Cores", "Rounds", "Findings", "Seed", "Gives way by", "End")
    blocks: list[Block] = [Table(head, rows, frozenset({2, 3, 4}))]
    if whole.passes > len(rows):
        blocks.append(Text(f"{whole.passes - len(rows)} older passes are in the sums above."))
    return Section("passes", "Passes", blocks)


def _method(whole: Analysis, command: str) -> Section:
    left_out = whole.runs[-1].get("left_out", []) if whole.runs else []
    points = [
        "Each round computes from a seed and is compared with an answer that was found in another way.",
        "A wrong answer is done again on the same core and on another one, each time with a reference of "
        "its own; that gives the verdict.",
        "How many injected faults each kernel finds stands in Strata's page on integrity.",
        *(f"Left out in the last pass: {one['kernel']}: {one['why']}." for one in left_out),
    ]
    return Section("method", "Method", [Points(points), Text(f"Made by `{command}`.")])


def _rises(counters: dict[str, int]) -> str:
    return ", ".join(f"{name} +{value}" for name, value in counters.items())
