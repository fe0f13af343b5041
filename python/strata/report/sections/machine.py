"""The machine's picture, its facts, the findings, and where to start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strata.advice.finding import Finding
from strata.advice.layouts import Advice
from strata.advice.samples import Machine, allowed_cores
from strata.advice.words import count, digits, size
from strata.draw import machine_svg
from strata.report.document import (
    Block,
    Card,
    Cards,
    Code,
    Heading,
    Notice,
    Plot,
    Points,
    Section,
    Table,
    Text,
)
from strata.report.source import Source


def machine(source: Source) -> Section:
    """The machine's drawing and facts."""
    m = source.machine
    drawing = Plot(
        "machine",
        "The machine",
        machine_svg(m),
        "Packages, memory domains, shared caches, cores and their memories.",
        reproduce=["strata machine", "strata machine --svg machine.svg"],
        wide=True,
    )
    return Section(
        "machine", "The machine", [drawing, Table(("", ""), _facts(m), caption="Read from the system")]
    )


def _facts(m: Machine) -> list[list[str]]:
    allowed = m.get("allowed") or {}
    group = allowed.get("cgroup") or {}
    pages = m.get("huge_pages") or {}
    counters = m.get("counters") or {}
    own = allowed_cores(m)
    limits = []
    if group.get("cpu_quota"):
        limits.append(f"CPU quota {group['cpu_quota']:g}")
    if group.get("memory_limit_bytes"):
        limits.append(f"memory {size(group['memory_limit_bytes'])}")
    host = [
        m.get("virtualisation") and f"virtual machine ({m['virtualisation']})",
        m.get("container") and f"container ({m['container']})",
    ]
    rows = [
        ["Processor", f"{m.get('cpu_model') or 'unknown'}, {m.get('arch')}"],
        ["System", ", ".join(str(x) for x in (m.get("os"), m.get("kernel"), *host) if x)],
        [
            "Cores",
            f"{count(len(m['cores']), 'core')}, {sum(len(c['pus']) for c in m['cores'])} hardware "
            "threads; allowed here: "
            f"{count(len(own), 'core')} (CPUs {allowed.get('pus')})"
            + (f"; {', '.join(limits)}" if limits else ""),
        ],
        ["Caches", _caches(m)],
        ["Memory", ", ".join(_memories(m))],
        [
            "Huge pages",
            f"transparent: {pages.get('transparent') or 'not offered'}; shared memory: "
            f"{pages.get('shmem') or 'not offered'}",
        ],
        [
            "Hardware counters",
            "work" if counters.get("hardware") else f"do not work ({counters.get('why') or 'not offered'})",
        ],
        ["Memory placement", _placement(m)],
    ]
    return rows


def _placement(m: Machine) -> str:
    where = m.get("placement") or {}
    return str(where.get("word") or "unknown") + (f" ({where['why']})" if where.get("why") else "")


def _caches(m: Machine) -> str:
    seen: dict[tuple[int, str, int, int], int] = {}
    for c in m.get("caches") or []:
        if c["type"] != "instruction":
            key = (c["level"], c["type"], c["size_bytes"], len(c["cores"]))
            seen[key] = seen.get(key, 0) + 1
    return (
        ", ".join(
            f"{n} x L{level}{'d' if kind == 'data' else ''} {size(b)}"
            + (f" shared by {cores} cores" if cores > 1 else "")
            for (level, kind, b, cores), n in sorted(seen.items())
        )
        or "not stated by the system"
    )


def _memories(m: Machine) -> list[str]:
    seen: dict[tuple[str, int], int] = {}
    for x in m["memories"]:
        key = (_kind(x), int(x.get("total_bytes") or 0))
        seen[key] = seen.get(key, 0) + 1
    return [
        f"{n} x {kind} {size(total)}" if n > 1 else f"{kind} {size(total)}"
        for (kind, total), n in seen.items()
    ]


def _kind(memory: Mapping[str, Any]) -> str:
    kind = str(memory.get("kind") or "unknown")
    return "memory of unstated kind" if kind == "unknown" else kind


def findings_section(found: list[Finding]) -> Section:
    """The findings as cards, problems first."""
    if not found:
        return Section(
            "findings", "Findings", [Text("Nothing was read or measured here that calls for action.")]
        )
    cards = [Card(f.severity, f.what, f.evidence, f.consequence, f.remedy) for f in found]
    return Section(
        "findings", "Findings", [Text("Only what was read or measured. Problems first."), Cards(cards)]
    )


def start(advice: Advice) -> Section:
    """The layouts to start from, with the lines to paste."""
    blocks: list[Block] = [
        Text(
            "A layout is written processes x threads. These are places to start from; a program of your "
            "own may prefer another, "
            "and a few launches tell."
        )
    ]
    blocks.append(
        Table(("Program", "Layout", "Why"), [[s.kind, f"`{s.layout}`", s.why] for s in advice.starts])
    )
    if advice.notes:
        blocks.append(Points(advice.notes))
    said = [
        p
        for p in advice.preferences
        if not p.question.startswith("stream") or p.question.startswith("stream triad")
    ]
    if said:
        blocks.append(Heading("Threads or processes: what the samples say"))
        blocks.append(Points([p.statement for p in said]))
    blocks.append(Heading("Cheat sheet"))
    for s in advice.starts:
        blocks.append(Text(f"**{s.kind}**, `{s.layout}`"))
        blocks.append(Code([(line.tool, line.command) for line in s.lines]))
    if any(s.layout.startswith("1x") and s.kind == "hybrid" for s in advice.starts):
        blocks.append(
            Notice(
                "note",
                "On one domain the hybrid lines equal the OpenMP ones; for P processes of T threads "
                "keep P x T at "
                f"{digits(sum(int(x) for x in advice.start('OpenMP').layout.split('x')[1:]))} or below.",
            )
        )
    return Section("start", "Where to start", blocks)
