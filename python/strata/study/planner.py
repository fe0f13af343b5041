"""From a study and a machine to a plan: every run under every layout that this system grants."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from strata.advice import distances, panels, series, studies
from strata.characterize.planner import Size, size_of, spelled
from strata.errors import USAGE, StrataError
from strata.measure import sequential, stats
from strata.measure.plan import Plan, Policy, Task, check
from strata.paths import PROGRAMS
from strata.study.case import Study
from strata.study.runs import Run
from strata.study.schema import ALL, EVERY

_TRIAL_S = 20.0
_RANKS = 1000  # more than a series has points: `drop` goes before the place in a series


@dataclass(frozen=True)
class Setting:
    """One layout of the study as the launcher takes it."""

    name: str
    processes: int
    threads: int
    stride: int
    bind: str
    options: tuple[str, ...]
    at: str = field(default="", compare=False)  # where it stands in the file
    distance: str = ""  # of its two threads, where they were chosen for it

    @property
    def layout(self) -> str:
        return f"{self.processes}x{self.threads}"

    @property
    def words(self) -> list[str]:
        placed = ["--layout", self.layout, "--stride", str(self.stride), "--bind", self.bind]
        return [*placed, *self.options]


@dataclass(frozen=True)
class Made:
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
) -> Made:
    """The plan. `refused` says why the launcher refuses a setting, see try_settings()."""
    size = size_of(machine)
    notes: list[str] = []
    unavailable: list[dict[str, str]] = []
    possible: list[tuple[Mapping[str, Any], Setting]] = []
    no_such: set[tuple[str, str]] = set()  # distances
    for layout in study.layouts:
        for setting, why in _settings(layout, size, machine):
            reason = why or refused.get(setting)
            if reason is None:
                possible.append((layout, setting))
                continue
            if setting.distance and (setting.distance, reason) in no_such:
                continue  # said of one layout, it holds for all
            no_such.add((setting.distance, reason))
            name = setting.name + (f", {setting.distance}" if setting.distance else "")
            notes.append(f"{name} ({setting.layout}): {reason}")
            unavailable.append({"setting": name, "layout": setting.layout, "why": reason})
    wanted = [
        (study.program(run.program), run, setting, _varied(layout, setting, machine))
        for run in study.runs
        for layout, setting in possible
        if not layout["programs"] or run.program in layout["programs"]
    ]
    budget = budget_s if budget_s is not None else study.top["budget_s"]
    tasks = [_task(*one) for one in wanted]
    shortened: list[str] = []
    if budget is not None and (stats.LEAST + 1) * sum(t.expected_s for t in tasks) > budget:
        tasks = [_task(*one, short=bool(one[0]["short"])) for one in wanted]
        shortened = list(dict.fromkeys(program["name"] for program, *_ in wanted if program["short"]))
    missing = {p for t in tasks for p in PROGRAMS if "{" + p + "}" in t.command} - set(programs)
    for program in sorted(missing):
        gone = [t for t in tasks if "{" + program + "}" in t.command]
        tasks = [t for t in tasks if t not in gone]
        notes += [f"{t.id}: {program} was not built" for t in gone]
    if not tasks and unavailable:
        raise StrataError(
            "no layout of this study is possible here",
            at=str(study.path),
            given="; ".join(f"{u['setting']}: {u['why']}" for u in unavailable),
            remedy="`strata machine` says what may be used",
            code=1,
        )
    tasks = _by_importance(tasks)
    precision, most = study.top["precision"], study.top["most"]
    compared = _compared(study, tasks)
    level = stats.simultaneous(compared)
    least = stats.LEAST if precision is None else sequential.first_look(most, level) or most
    policy = Policy(
        launches=launches_within(max(least, study.top["launches"]), tasks, budget, least),
        repeats=study.top["repeats"],
        limits=study.limits,
        seed=seed,
        budget_s=budget,
        patience_s=float(study.top["patience_s"]),
        precision=precision,
        most=most if precision is not None else 0,
        compared=compared if precision is not None else 1,
        strict=strict,
    )
    plan = check(Plan("study", study.name, tuple(tasks), policy, identity, build_id))
    return Made(plan, notes, unavailable, shortened)


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
    told = [{"labels": task.labels, "layout": task.layout, "stride": task.stride} for task in tasks]
    if study.top["view"] == "panels":
        return panels.compared(told, study.plots)
    if study.top["view"] == "series":
        return len({series.series_of(task, study.top["x"]) for task in told})
    groups = Counter(studies.group_of(task) for task in told)
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


def _settings(
    layout: Mapping[str, Any], size: Size, machine: Mapping[str, Any]
) -> list[tuple[Setting, str | None]]:
    """The layout spelt out for this machine, each with the reason why it makes no sense here."""
    if layout["distances"]:
        return _at_distances(layout, size, machine)
    found: dict[tuple[int, int, int], tuple[Setting, str | None]] = {}
    for word in layout["layouts"]:
        for processes, threads in _shapes(word, size):
            for stride, asked in _strides(layout["stride"], size):
                why = _cannot(word, processes, threads, stride, layout["bind"], size)
                if why is not None and not asked:
                    continue  # a range is what the cores allow
                setting = Setting(
                    layout["name"],
                    processes,
                    threads,
                    stride,
                    layout["bind"],
                    tuple(layout["options"]),
                    layout["at"],
                )
                found.setdefault((processes, threads, stride), (setting, why))
    return list(found.values())


def _at_distances(
    layout: Mapping[str, Any], size: Size, machine: Mapping[str, Any]
) -> list[tuple[Setting, str | None]]:
    """Two threads at each distance that the machine has, and those that it has not."""
    found: list[tuple[Setting, str | None]] = []
    for word in layout["layouts"]:
        ((processes, threads),) = _shapes(word, size)
        for pair in distances.pairs(machine):
            bind = "os:{},{}".format(*pair.pus) if pair.pus else layout["bind"]
            options, at = tuple(layout["options"]), layout["at"]
            setting = Setting(layout["name"], processes, threads, 1, bind, options, at, pair.distance)
            found.append((setting, pair.why or None))
    return found


def _shapes(word: str, size: Size) -> list[tuple[int, int]]:
    """Processes and threads of a word of the study file."""
    if word == ALL:
        return [(p, size.cores // p) for p in range(1, size.cores + 1) if size.cores % p == 0]
    if every := EVERY.match(word):
        powers = [2**k for k in range(size.cores.bit_length())]
        processes, threads = ([int(w)] if w.isdecimal() else powers for w in every.groups())
        return [(p, t) for p in processes for t in threads if p * t <= size.cores]
    # A range that is empty here, 2..N on one core, is its first shape: that has a reason why it cannot be.
    return spelled(word, size) or spelled(re.sub(r"\.\.[^x]+", "", word), size)


def _strides(given: Any, size: Size) -> list[tuple[int, bool]]:
    """Each stride, and whether it was asked for by name."""
    if isinstance(given, str):
        first, _, last = given.partition("..")
        top, stride, found = size.symbol(last), int(first), []
        while stride <= max(top, 1):
            found.append((stride, stride == int(first)))
            stride *= 2
        return found
    return [(stride, True) for stride in (given if isinstance(given, list) else [given])]


def _cannot(word: str, processes: int, threads: int, stride: int, bind: str, size: Size) -> str | None:
    if processes < 1 or threads < 1:
        return f"{word} is no layout on {size.cores} usable cores"
    if bind == "core" and (processes * threads - 1) * stride + 1 > size.cores:
        far = f" with a stride of {stride}" if stride > 1 else ""
        return f"{processes}x{threads}{far} is more than the {size.cores} usable cores"
    if stride > 1 and processes * threads == 1:
        return "one thread has no stride"
    return None


def settings_of(study: Study, machine: Mapping[str, Any]) -> list[Setting]:
    """All settings that are possible by their size."""
    size = size_of(machine)
    return [s for layout in study.layouts for s, why in _settings(layout, size, machine) if why is None]


def try_settings(front: str, settings: Sequence[Setting], described: str | None = None) -> dict[Setting, str]:
    """Launches `true` under each setting; the reasons of those that the launcher refuses. For a machine that
    is only described it plans the launches.

    Raises StrataError where it does not understand the options: that is the study file's mistake.
    """
    refused = {}
    for setting in settings:
        plan = ["--dry-run", "--machine", described] if described else []
        command = [front, "launch", *setting.words, *plan, "--", "true"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TRIAL_S)
        except subprocess.TimeoutExpired:
            refused[setting] = f"a trial launch did not end within {_TRIAL_S:g} s"
            continue
        if done.returncode == 0:
            continue
        error = _parts(done.stderr)
        head, given = error.get("error", f"the launcher ended with {done.returncode}"), error.get("given")
        if done.returncode == USAGE and head.startswith("unknown"):
            raise StrataError(
                f"the launcher does not take this layout: {head}",
                at=setting.at,
                given=given,
                allowed=error.get("allowed") or "options of `strata launch --help`",
                remedy=error.get("try"),
            )
        refused[setting] = f"{head} ({given})" if given else head
    return refused


def _parts(text: str) -> dict[str, str]:
    """The lines of an error in Strata's form, by their label; `error` is the message."""
    parts = {}
    for line in text.strip().splitlines():
        label, _, said = line.strip().removeprefix("strata: ").partition(": ")
        if label in ("error", "given", "allowed", "try"):
            parts.setdefault(label, said)
    return parts


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
