"""The entries of a study and the best of them: pure functions of its summary.

The best of several settings is named only where the interval of its ratio to every other setting, within
blocks of interleaved launches, does not hold 1. The intervals are wide enough for that many comparisons at
once (Bonferroni: each at 1 - 0.05/k). Where settings were not interleaved in six blocks, or stopped when
they saw fit, the medians' own intervals must be apart. Else it is a tie, and called one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strata.advice.samples import Interval, Summary, Task, figure, headline, within_blocks
from strata.advice.statements import beside
from strata.advice.words import count, digits, unit_text
from strata.measure import sequential, stats

# Labels that say how a program was laid out and built; the others are its values.
SETTING = ("toolchain", "setting", "layout", "stride", "distance")
_MOST_NEEDED = 64  # launches: beyond this no study would be told to go


@dataclass(frozen=True)
class Entry:
    """One setting of a study and the figure that is compared."""

    label: str
    task: Task
    figure: Interval


@dataclass(frozen=True)
class Best:
    """The outcome of a comparison of several: `leaders` has one entry, or those that tie; `why` is set where
    nothing can be said.
    """

    leaders: tuple[Entry, ...]
    others: tuple[Entry, ...]
    level: float
    why: str | None = None
    paired: bool = False  # compared by their ratio within blocks


def about(summary: Summary) -> Mapping[str, Any]:
    """What the study said of itself: name, title, view, settings, unavailable."""
    return dict((summary.get("provenance") or {}).get("study") or {})


def values_of(task: Task) -> str:
    """'bind': the values that a task has beside its setting; empty where the study varies none."""
    labels = task.get("labels") or {}
    return ", ".join(str(v) for key, v in labels.items() if key != "program" and key not in SETTING)


def setting_of(task: Task) -> str:
    """'pinned': how the task was laid out and built, in the study's words; what is the same for all tasks is
    hidden.
    """
    labels = {k: v for k, v in (task.get("labels") or {}).items() if k not in (task.get("hidden") or ())}
    words = [
        f"stride {labels[key]}" if key == "stride" else str(labels[key]) for key in SETTING if key in labels
    ]
    return ", ".join(words)


def label_of(task: Task) -> str:
    """'bind, pinned': what tells a task from the others of its program."""
    return ", ".join(part for part in (values_of(task), setting_of(task)) if part) or str(task.get("id"))


def group_of(task: Task) -> str:
    """'solver, 64': the program and its values, whose settings are compared with each other."""
    program = str((task.get("labels") or {}).get("program") or "")
    return ", ".join(part for part in (program, values_of(task)) if part)


def best_of(entries: Sequence[Entry]) -> Best:
    """The best of several settings by one figure; for two or more."""
    # What was left out for the time after fewer launches than an interval needs is no rival.
    known = [e for e in entries if e.figure.n and (e.figure.known or e.task.get("answered") is not False)]
    lower = bool(known) and known[0].figure.better == "lower"
    level = stats.simultaneous(len(known))
    if len(known) < 2:
        return Best((), tuple(known), level, "fewer than two settings have an answer")
    ordered = sorted(known, key=lambda e: e.figure.median or 0.0, reverse=not lower)
    count = len(known) - 1
    ratios = [within_blocks(ordered[0].figure, e.figure, count) for e in ordered[1:]]
    if all(r is not None for r in ratios):
        behind = {id(e) for e, r in zip(ordered[1:], ratios, strict=True) if r is not None and r.side}
        leaders = tuple(e for e in known if id(e) not in behind)
        others = tuple(e for e in known if id(e) in behind)
        return Best(leaders, others, stats.simultaneous(count), paired=True)
    wide = {e.label: stats.estimate(e.figure.samples, level, e.figure.most) for e in known}
    short = min(known, key=lambda e: e.figure.n)
    if any(w.low is None for w in wide.values()):
        needed = (
            next((n for n in range(stats.LEAST, _MOST_NEEDED) if stats.rank_for(n, level)), None)
            if short.figure.most is None
            else sequential.first_look(short.figure.most, level)
        )
        return Best(
            (), tuple(known), level, f"{short.label} has {short.figure.n} launches, and it takes {needed}"
        )
    first = wide[ordered[0].label]

    def ties(entry: Entry) -> bool:
        own = wide[entry.label]
        assert own.low is not None and own.high is not None and first.low is not None
        assert first.high is not None
        return own.low <= first.high if lower else own.high >= first.low

    leaders = tuple(e for e in known if ties(e))  # in the study's order: the least demanding first
    return Best(leaders, tuple(e for e in known if e not in leaders), level)


def spread(f: Interval | None) -> float | None:
    """(largest - smallest) / median of a figure over its launches."""
    if f is None or not f.median or f.minimum is None or f.maximum is None or f.n < 2:
        return None
    return (f.maximum - f.minimum) / f.median


def entries(summary: Summary, name: str | None = None) -> list[Entry]:
    """The study's tasks with the named figure, or with their headline."""
    found = []
    for task in summary.get("tasks") or []:
        f = figure(task, name) if name else headline(task)
        if f is not None and f.median is not None:
            found.append(Entry(label_of(task), task, f))
    return found


def absent(unavailable: Mapping[str, Any]) -> str:
    """'exclusive (1x2): no permission': a setting that this system does not grant, and why."""
    layout = f" ({unavailable['layout']})" if unavailable.get("layout") else ""
    return f"{unavailable['setting']}{layout}: {unavailable['why']}"


def headlines(summary: Summary) -> list[str | None]:
    """The names of all headline figures; None alone where no program names one: what it has first counts."""
    tasks = summary.get("tasks") or []
    return list(dict.fromkeys(name for task in tasks for name in task["headline"])) or [None]


def best(every: Sequence[Entry], what: str, graded: bool = False) -> list[str]:
    """One sentence on the best of several settings, or on why there is none.

    `graded`: they stand in the order of what they ask for, so that of those that tie the first will do.
    """
    if len(every) < 2:
        return []
    found = best_of(every)
    many = f"{count(len(every), 'setting')}"
    if found.why:
        return [f"The {what}: no answer for {many}, {found.why}."]
    lower = every[0].figure.better == "lower"
    lead = (min if lower else max)(found.leaders, key=lambda e: e.figure.median or 0.0)
    level = f"{100.0 * found.level:.4g} %"  # of many settings 99.75 %, which is not 100 %
    if len(found.leaders) == 1:
        far = (max if lower else min)(found.others, key=lambda e: e.figure.median or 0.0)
        if len(found.others) == 1:
            rest = f"that of {far.label}, {_value(far)} (each at {level} confidence)"
        else:
            rest = f"those of all {len(found.others)} others (each at {level} confidence); the farthest is "
            rest += f"{far.label} with {_value(far)}"
        if found.paired:
            rest = rest.replace(f"(each at {level} confidence)", f"in each block (at {level} confidence)")
        apart = "its ratio is clear of" if found.paired else "its interval is apart from"
        near = beside(*(e.figure for e in every))
        return [f"The {what}{near} is that of {lead.label}, {_value(lead)}: {apart} {rest}."]
    first = found.leaders[0]
    names = f"all {many}" if not found.others else _listed([e.label for e in found.leaders])
    overlap = "the intervals of their ratios hold 1" if found.paired else "their intervals overlap"
    said = f"The {what} is a tie of {names}: {overlap} (each at {level} confidence)"
    enough = f", so {first.label}, which asks for least, is not shown to be worse" if graded else ""
    said += f"{enough}; their medians go from {_extremes(found.leaders)}."
    if found.others:
        verb = "is" if len(found.others) == 1 else "are"
        said += f" Apart from them {verb} {_listed([f'{e.label} ({_value(e)})' for e in found.others])}."
    return [said]


def _extremes(every: Sequence[Entry]) -> str:
    ordered = sorted(every, key=lambda e: e.figure.median or 0.0)
    return f"{_value(ordered[0])} to {_value(ordered[-1])}"


def _value(e: Entry) -> str:
    return f"{digits(e.figure.median or 0.0)} {unit_text(e.figure.unit)}".strip()


def _listed(names: Sequence[str]) -> str:
    """'a, b and c'; settings whose names hold commas are told apart by semicolons."""
    joint = "; " if any("," in n for n in names) else ", "
    return names[0] if len(names) == 1 else f"{joint.join(names[:-1])} and {names[-1]}"
