"""How it was measured, what was left over, how to reproduce each figure, and where everything came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strata.advice.samples import LEAST, Task, figures, headline
from strata.advice.words import count, digits, percent, unit_text
from strata.measure.disturbances import counted
from strata.measure.summary import UNVERIFIED, failures_in_words
from strata.report.document import Block, Document, Heading, Plot, Points, Section, Table, Text
from strata.report.figures.plots import Axis, Series, curves, heat
from strata.report.quantities import shown, with_interval
from strata.report.source import Source, figure_table, name_of, reproduce

RULES = (
    "One measured program at a time, bound as its layout says; everything else the machine did "
    "meanwhile is recorded.",
    "Each launch is a fresh process. Launches of different settings are interleaved in random order, so "
    "that a slow hour cannot fall on one setting alone.",
    "At least 6 launches before any interval: with 5 even the range from smallest to "
    "largest holds the median with 93.75 % only. "
    "Intervals are distribution-free, from order statistics.",
    "A parallel run's time is that of its slowest member.",
    "Limits fixed before the first launch mark a launch as disturbed; it is repeated a bounded number "
    "of times, counted and shown, never dropped in silence. Where the machine is never quieter, the answer "
    "is the median "
    "over all launches, and its grade says so.",
    "A figure is shown only when the benchmark verified its result; where the placement read back from "
    "the running program differs from what was promised, the launch has no figure.",
    "Beside its bound: a rate is shown as rate/bound, a time as bound/time, so that 100 % is the bound "
    "in both cases.",
    "Settings are compared by their ratio within each block of interleaved launches. A winner is named "
    "only where the "
    "interval of that ratio, at a level for all comparisons together, does not hold 1.",
)
LIMITS = {
    "others_share": "CPU used by others on the run's CPUs",
    "steal_share": "CPU taken by the hypervisor",
    "involuntary_per_s": "involuntary switches for each second of CPU",
    "cpu_pressure": "time in which some thread waited for a CPU (PSI)",
    "clock_drop": "clock below the plan's median",
}


def everything(source: Source) -> Section:
    """All figures of the summary in one table, and the curves and matrices that no other section has
    drawn.
    """
    blocks: list[Block] = [figure_table(source.tasks(), "Every figure of this run", folded=True)]
    for i, (task, curve) in enumerate(source.not_drawn("curves")):
        if not any(p[1] is not None for p in curve.get("points") or []):
            continue
        x, y = curve["x"], curve["y"]
        log = x.get("unit") == "B"
        svg = curves(
            f"more-{i}",
            [Series(str(curve["name"]), curve["points"])],
            Axis(str(x.get("name")), str(x.get("unit", "")), log),
            Axis(str(y.get("name")), str(y.get("unit", ""))),
        )
        blocks.append(
            Plot(
                f"more-{i}",
                f"{name_of(task)}: {curve['name']}",
                svg,
                "Bands are intervals.",
                reproduce=reproduce([task]),
            )
        )
    for i, (task, matrix) in enumerate(source.not_drawn("matrices")):
        if not any(v is not None for row in matrix.get("values") or [] for v in row):
            continue
        if len(matrix["rows"]) < 3 and len(matrix["columns"]) < 3:
            values = ", ".join(digits(v) for row in matrix["values"] for v in row if v is not None)
            blocks.append(Text(f"{name_of(task)}, {matrix['name']}: {values} {unit_text(matrix['unit'])}."))
            continue
        svg = heat(
            f"matrix-{i}",
            matrix["values"],
            matrix["rows"],
            matrix["columns"],
            matrix["unit"],
            "row",
            "column",
        )
        blocks.append(
            Plot(f"matrix-{i}", f"{name_of(task)}: {matrix['name']}", svg, reproduce=reproduce([task]))
        )
    return Section("figures", "All figures", blocks)


def method(source: Source) -> Section:
    """The rules, the limits and what was disturbed."""
    s = source.summary
    blocks: list[Block] = [Points(RULES)]
    limits = s.get("limits") or {}
    rows = [
        [text, percent(limits[key]) if key != "involuntary_per_s" else f"{limits[key]:g}"]
        for key, text in LIMITS.items()
        if limits.get(key) is not None
    ]
    if rows:
        blocks += [
            Heading("Limits fixed beforehand"),
            Table(("A launch is disturbed by more than", "Limit"), rows, frozenset({1})),
        ]
    blocks += [
        Heading("Launches, disturbed and repeated"),
        Text(_counts(source)),
        *_crowded(source),
        *_failed(source),
        *_grades(source),
        _disturbed(source),
        Heading("What was not measured"),
        Points(_absent(source)),
    ]
    return Section("method", "How it was measured", blocks)


def _counts(source: Source) -> str:
    every = source.tasks()
    total = {k: sum(int(t.get(k) or 0) for t in every) for k in ("launches", "tainted", "failed")}
    return (
        f"{total['launches']} launches, of which {total['tainted']} disturbed and {total['failed']} failed. "
        f"Mode: {source.summary.get('mode')}. Started {source.summary.get('started')}, ended "
        f"{source.summary.get('ended')}."
    )


def _crowded(source: Source) -> list[Block]:
    """Of which launches preemptions do not tell of a neighbour."""
    names = [name_of(task) for task in source.tasks() if task.get("crowded")]
    if not names:
        return []
    said = (
        f"{count(len(names), 'setting')} ran more threads than cores on purpose. Such threads preempt each "
        "other and wait for each other, which is not held against a launch; every other limit is."
    )
    return [Text(said)]


def _failed(source: Source) -> list[Block]:
    """Why launches failed of what was answered all the same; the rest is under what was not measured."""
    said = [
        f"{name_of(task)}: {failures_in_words(task)}."
        for task in source.tasks()
        if task.get("answered") and task.get("failures")
    ]
    return [Text("Launches that failed are repeated and do not count:"), Points(said)] if said else []


def _grades(source: Source) -> list[Block]:
    """The background; of each disturbed answer, what disturbed it and what its least disturbed half says."""
    blocks: list[Block] = []
    background = source.summary.get("background")
    if background:
        told = background.get("told") or "nobody took more of any core than an undisturbed launch may show"
        blocks.append(Text(f"Background, with all cores busy before the first launch that counts: {told}."))
    rows = []
    for task in source.tasks():
        f = headline(task)
        if task.get("grade") != "disturbed" or f is None:
            continue
        calm = next((g.get("calm") or {} for g in task["figures"] if g["name"] == f.name), {})
        beside = f"{shown(calm.get('median'))} (n={calm.get('n', 0)})" if calm.get("n") else "—"
        if calm.get("low") is not None:
            beside = f"{shown(calm['median'])} [{shown(calm['low'])}, {shown(calm['high'])}] (n={calm['n']})"
        why = "; ".join(task.get("disturbed_by") or []) or "—"
        rows.append([name_of(task), f.name, f"{with_interval(f)}", beside, why])
    if rows:
        said = (
            "The answer of a disturbed setting is the median over all its launches. The least disturbed "
            "half is "
            "chosen by the meters, never by the time, and has no interval below six launches"
        )
        head = ("Run", "Figure", "Median of all launches", "Of the least disturbed half", "Disturbed by")
        blocks.append(Table(head, rows, frozenset({2, 3}), said, folded=len(rows) > 8))
    return blocks


def _disturbed(source: Source) -> Table:
    rows = []
    for task in source.tasks():
        reasons = counted(task.get("reasons") or {}) or "—"
        answer = _answer(task)
        rows.append(
            [
                name_of(task),
                str(task.get("launches", 0)),
                str(task.get("tainted", 0)),
                str(task.get("failed", 0)),
                reasons,
                answer,
                _placed(task.get("readback") or {}),
            ]
        )
    return Table(
        ("Run", "Launches", "Disturbed", "Failed", "Reasons", "Undisturbed answer", "Placement read back"),
        rows,
        frozenset({1, 2, 3}),
        "Launches of each setting",
        folded=len(rows) > 8,
    )


def _placed(readback: Mapping[str, Any]) -> str:
    """Threads and pages together; where the pages that a policy promises cannot be known, both apart."""
    back = readback.get("agrees")
    if back is not None:
        return "as promised" if back else "**not as promised**"
    if readback.get("threads_agree") and str(readback.get("pages_verdict")).startswith(UNVERIFIED):
        return f"threads as promised; pages: {UNVERIFIED}"
    return "not read back"


def _answer(task: Task) -> str:
    if task.get("undisturbed"):
        return "yes"
    n = max((f.n for f in figures(task)), default=0)
    if task.get("grade") == "disturbed":
        return "no: disturbed"
    return f"n={n}<{LEAST}: no interval" if n else "**no measurement**"


def _absent(source: Source) -> list[str]:
    m = source.machine
    absent = [str(n) for n in source.summary.get("notes") or []]
    for task in source.tasks():
        absent += [f"{name_of(task)}: {note}." for note in task.get("notes") or []]
    absent += [f"{x.get('task')}: left out, {x.get('why')}." for x in source.summary.get("left_out") or []]
    if not (m.get("counters") or {}).get("hardware"):
        absent.append(
            "Hardware counters do not work here: no cache misses, no measured traffic; nothing stands "
            "in their place."
        )
    if (m.get("placement") or {}).get("word") != "verifiable":
        absent.append("Placement of memory pages could not be verified; no figure claims it.")
    if m.get("virtualisation"):
        absent.append("In a virtual machine topology and cache sizes are those that the hypervisor states.")
    if len(m["domains"]) == 1:
        absent.append("With one memory domain there is nothing near or far to compare.")
    return absent or ["Nothing that was planned is missing."]


# Words of the kernel's command line that change what programs measure; the others are the site's business.
KERNEL_WORDS = (
    "mitigations", "isolcpus", "nohz", "rcu_nocbs", "hugepages", "default_hugepagesz", "transparent_hugepage",
    "intel_pstate", "amd_pstate", "nosmt", "maxcpus", "numa", "cgroup", "idle", "processor.max_cstate",
    "intel_idle", "tsc", "psi",
)  # fmt: skip


def provenance(source: Source) -> Section:
    """Where everything came from: revision, system, libraries."""
    known = dict(source.summary.get("provenance") or {})
    words = str(known.pop("kernel_command_line", None) or "").split()
    known.pop("schema", None)
    rows = [[_name(key), _plain(value)] for key, value in _flat(known)]
    kept = [w for w in words if w.startswith(KERNEL_WORDS)]
    if words:
        rest = f"; {len(words) - len(kept)} others are in provenance.json" if len(words) > len(kept) else ""
        rows.append(["kernel command line", (", ".join(kept) or "nothing that bears on speed") + rest])
    libraries = [(t.get("provenance") or {}).get("blas") for t in source.tasks("dgemm")]
    blas = {", ".join(str(v) for v in b.values() if v) for b in libraries if b}
    if blas:
        rows.append(["BLAS of DGEMM", "; ".join(sorted(blas))])
    head = ("What", "Value")
    return Section("provenance", "Provenance", [Table(head, rows or [["provenance", "not recorded"]])])


def _name(key: str) -> str:
    """Keys as words; environment variables as they are."""
    return " ".join(word if word.isupper() else word.replace("_", " ") for word in key.split(" "))


def _flat(value: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            rows += _flat(inner, f"{prefix}{key} ")
        else:
            rows.append((f"{prefix}{key}", inner))
    return rows


def _plain(value: Any) -> str:
    if value is None:
        return "none found"
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(v) for v in value) or "none found"
    return digits(value, 4) if isinstance(value, float) else str(value)


def how_to(document: Document) -> Section:
    """The commands behind each numbered plot."""
    rows = [[f"Figure {p.number}", p.title, "\n".join(_few(p.reproduce))] for p in document.plots()]
    return Section(
        "reproduce",
        "How to reproduce each figure",
        [
            Text("One launch each; `strata characterize` repeats, interleaves and judges them."),
            Table(("", "Figure", "Commands"), rows),
        ],
    )


def _few(lines: Sequence[str], most: int = 6) -> list[str]:
    """All of a few lines; of many the first ones and the last, and how many lie between."""
    if len(lines) <= most:
        return [f"`{line}`" for line in lines]
    kept = [f"`{line}`" for line in lines[: most - 1]]
    return [*kept, f"… {len(lines) - most} more such lines …", f"`{lines[-1]}`"]
