"""From a study and a machine to a plan: every run under every layout that this system grants."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from strata.advice import distances, panels, series, studies
from strata.advice.size import size_of
from strata.errors import StrataError
from strata.measure import sequential, stats
from strata.measure.plan import Plan, Policy, Task, check
from strata.paths import PROGRAMS
from strata.study.case import Study
from strata.study.runs import Run
from strata.study.schema import ALL, EVERY
from strata.study.settings import Setting, settings

_RANKS = 1000  # more than a series has points: `drop` goes before the place in a series


@dataclass(frozen=True)
class StudyPlan:
    """A plan, what was left out of it in words, and the layouts that this system does not grant."""

    plan: Plan
    notes: list[str]
    unavailable: list[dict[str, str]]  # {"setting", "why"}
    shortened: list[str]  # programs whose `short` runs, since the budget is too small for their command


def programs_of(study: Study) -> set[str]:
    """Strata's own programs that its commands name."""
    words = [word for run in study.runs for word in run.command]
    return {name for name in PROGRAMS if any("{" + name + "}" in word for word in words)}


def build(
    study: Study,
    machine: Mapping[str, Any],
    identity: Mapping[str, Any],
    build_id: str,
    programs: Sequence[str],
    refused: Mapping[Setting, str],
    seed: int,
    budget_s: float | None,
    strict: bool = False,
) -> StudyPlan:
    """The plan. `refused` says why the launcher refuses a setting, see try_settings()."""
    granted = _granted(study, machine, refused)
    notes = list(granted.notes)
    budget = budget_s if budget_s is not None else study.top["budget_s"]
    tasks, shortened = _tasks(study, machine, granted.layouts, budget)
    missing = {p for t in tasks for p in PROGRAMS if "{" + p + "}" in t.command} - set(programs)
    for program in sorted(missing):
        gone = [t for t in tasks if "{" + program + "}" in t.command]
        tasks = [t for t in tasks if t not in gone]
        notes += [f"{t.id}: {program} was not built" for t in gone]
    if not tasks and granted.unavailable:
        raise StrataError(
            "no layout of this study is possible here",
            at=str(study.path),
            given="; ".join(f"{u['setting']}: {u['why']}" for u in granted.unavailable),
            remedy="`strata machine` says what may be used",
            code=1,
        )
    tasks = _by_importance(tasks)
    policy = _policy(study, tasks, seed, budget, strict)
    plan = check(Plan("study", study.name, tuple(tasks), policy, identity, build_id))
    return StudyPlan(plan, notes, granted.unavailable, shortened)


@dataclass(frozen=True)
class _Granted:
    """The layouts of a study that this system grants, with their settings, and in words the others."""

    layouts: list[tuple[Mapping[str, Any], Setting]]
    notes: list[str]
    unavailable: list[dict[str, str]]


def _granted(study: Study, machine: Mapping[str, Any], refused: Mapping[Setting, str]) -> _Granted:
    size = size_of(machine)
    found = _Granted([], [], [])
    no_such: set[tuple[str, str]] = set()  # distances
    for layout in study.layouts:
        for setting, why in settings(layout, size, machine):
            reason = why or refused.get(setting)
            if reason is None:
                found.layouts.append((layout, setting))
                continue
            if setting.distance and (setting.distance, reason) in no_such:
                continue  # said of one layout, it holds for all
            no_such.add((setting.distance, reason))
            name = setting.name + (f", {setting.distance}" if setting.distance else "")
            found.notes.append(f"{name} ({setting.layout}): {reason}")
            found.unavailable.append({"setting": name, "layout": setting.layout, "why": reason})
    return found


def _tasks(
    study: Study,
    machine: Mapping[str, Any],
    layouts: Sequence[tuple[Mapping[str, Any], Setting]],
    budget_s: float | None,
) -> tuple[list[Task], list[str]]:
    """Every run under every layout that is meant for its program; and the programs whose `short` runs."""
    wanted = [
        (study.program(run.program), run, setting, _varied(layout, setting, machine))
        for run in study.runs
        for layout, setting in layouts
        if not layout["programs"] or run.program in layout["programs"]
    ]
    tasks = [_task(*one) for one in wanted]
    if budget_s is None or (stats.LEAST + 1) * sum(t.expected_s for t in tasks) <= budget_s:
        return tasks, []
    shortened = list(dict.fromkeys(program["name"] for program, *_ in wanted if program["short"]))
    return [_task(*one, short=bool(one[0]["short"])) for one in wanted], shortened


def _policy(study: Study, tasks: Sequence[Task], seed: int, budget_s: float | None, strict: bool) -> Policy:
    """How often: as the study says, and as often as naming the best of its settings needs at least."""
    precision, most = study.top["precision"], study.top["most"]
    compared = _compared(study, tasks)
    least = stats.LEAST
    if precision is not None:
        least = sequential.first_look(most, stats.simultaneous(compared)) or most
    return Policy(
        launches=launches_within(max(least, study.top["launches"]), tasks, budget_s, least),
        repeats=study.top["repeats"],
        limits=study.limits,
        seed=seed,
        budget_s=budget_s,
        patience_s=float(study.top["patience_s"]),
        precision=precision,
        most=most if precision is not None else 0,
        compared=compared if precision is not None else 1,
        strict=strict,
    )


def _by_importance(tasks: Sequence[Task]) -> list[Task]:
    """The tasks with what is left out first where the time is too short: within a program's `drop`, of the
    many values of one layout those in the middle of others. What is left then still spans the whole range:
    of eleven values the two ends stay longest, then the middle one.
    """
    series: dict[tuple[str, str, str], list[int]] = {}
    for i, task in enumerate(tasks):
        series.setdefault((task.labels["program"], task.labels["setting"], task.layout), []).append(i)
    ranked = list(tasks)
    for places in series.values():
        for rank, at in enumerate(_from_the_ends(len(places))):
            i = places[at]
            ranked[i] = replace(tasks[i], drop=tasks[i].drop * _RANKS + rank)
    return ranked


def _from_the_ends(count: int) -> list[int]:
    """0 .. count-1 in the order: both ends, the middle, then the middles of what lies between."""
    found = [0, count - 1][: min(count, 2)]
    gaps = [(0, count - 1)]
    while gaps:
        low, high = gaps.pop(0)
        middle = (low + high) // 2
        if low < middle < high:
            found.append(middle)
            gaps += [(low, middle), (middle, high)]
    return found


def _compared(study: Study, tasks: Sequence[Task]) -> int:
    """The most settings of which the report will ask which is best, see advice/studies.py and series.py."""
    shown = [{"labels": task.labels, "layout": task.layout, "stride": task.stride} for task in tasks]
    if study.top["view"] == "panels":
        return panels.compared(shown, study.plots)
    if study.top["view"] == "series":
        return len({series.series_of(task, study.top["x"]) for task in shown})
    groups = Counter(studies.group_of(task) for task in shown)
    most = max(groups.values(), default=1)
    return most if most > 1 else max(Counter(t.labels["program"] for t in tasks).values(), default=1)


def launches_within(
    wanted: int, tasks: Sequence[Task], budget_s: float | None, least: int = stats.LEAST
) -> int:
    """As many launches of each task as were asked for, fewer where the budget is too small for them, but
    never fewer than `least`, which an interval needs.
    """
    each = sum(t.expected_s for t in tasks)
    if budget_s is None or each <= 0:
        return wanted
    affordable = int(budget_s / each) - 1  # one is the warm-up
    return max(least, min(wanted, affordable))


def _varied(layout: Mapping[str, Any], setting: Setting, machine: Mapping[str, Any]) -> dict[str, str]:
    """The labels of a setting: its name, and what its layout varies."""
    labels = {"setting": setting.name}
    if len(layout["layouts"]) > 1 or _several(layout["layouts"][0]):
        labels["layout"] = setting.layout
    if setting.distance:
        labels["distance"] = setting.distance
    elif not isinstance(layout["stride"], int):
        labels["stride"] = str(setting.stride)
        if setting.processes * setting.threads == 2 and (far := distances.distance(machine, setting.stride)):
            labels["distance"] = far
    return labels


def _several(word: str) -> bool:
    """Whether a word of the study file stands for more than one shape."""
    return word == ALL or bool(EVERY.match(word)) or ".." in word


def _task(
    program: Mapping[str, Any],
    run: Run,
    setting: Setting,
    labels: Mapping[str, str],
    short: bool = False,
) -> Task:
    chain = run.toolchain
    name = "-".join([run.program, *run.values.values(), *([chain.name] if chain else [])]).replace("/", "_")
    if not program["build"]:
        _must_exist(run)
    place = f"{setting.name}/{setting.layout}" + (f"/s{setting.stride}" if "stride" in labels else "")
    place += "/" + setting.distance.replace(", ", "-").replace(" ", "-") if setting.distance else ""
    return Task(
        id=f"{name}/{place}",
        benchmark=_benchmark(run.command) or run.program,
        command=run.short if short else run.command,
        layout=setting.layout,
        stride=setting.stride,
        bind=setting.bind,
        figures=tuple(program["figures"]) or tuple(p.name for p in program["figure"][:1]),
        timeout_s=float(program["timeout_s"]),
        expected_s=float(program["short_s" if short else "expected_s"]),
        drop=program["drop"],
        options=setting.options,
        patterns=program["figure"],
        labels={
            "program": run.program,
            **run.values,
            **({"toolchain": chain.name} if chain else {}),
            **labels,
        },
        environment=dict(chain.environment) if chain else {},
        output=program["output"],
        crowded=run.crowds(setting.processes * setting.threads),
    )


def _benchmark(command: Sequence[str]) -> str | None:
    """The name of one of Strata's own benchmarks."""
    names = [word for word in command[1:] if not word.startswith("-")]
    return names[0] if command[0].strip("{}") in PROGRAMS and names else None


def _must_exist(run: Run) -> None:
    first = run.command[0]
    if first.strip("{}") in PROGRAMS or shutil.which(first) is not None:
        return
    raise StrataError(
        "the study's program is not there",
        at=run.at,
        given=first,
        allowed="a program on PATH, or a path from the folder in which the study is started",
    )
