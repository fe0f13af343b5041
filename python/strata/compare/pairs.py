"""Which figure of one side stands beside which of the other, and which do not and why."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from strata.advice import samples
from strata.advice.words import unit_text
from strata.compare.sides import LEAST
from strata.report.quantities import base

# Parameters that a program found rather than was given: they may differ and the work is still the same.
FOUND = (
    "chains", "counter", "counter_ghz", "cross_check", "cycle_counter", "huge page share", "line", "memories",
    "migrations_from", "pages_asked", "placement", "stores", "vector",
)  # fmt: skip


@dataclass(frozen=True)
class Selection:
    """What is compared: the headline figures, every figure, or those of a name; of these tasks."""

    figure: re.Pattern[str] | None = None
    task: re.Pattern[str] | None = None
    everything: bool = False


@dataclass(frozen=True)
class Pair:
    """One figure of one task on both sides, in the unit of the side before."""

    task: str
    figure: str
    unit: str
    better: str
    gate: bool  # a headline figure, or one that was asked for by name: it may decide the exit code
    before: tuple[float, ...]
    after: tuple[float, ...]
    grades: tuple[str, str] = ("undisturbed", "undisturbed")

    @property
    def graded_alike(self) -> bool:
        """A disturbed answer beside an undisturbed one differs by the disturbance already: it decides no
        exit code.
        """
        return self.grades[0] == self.grades[1]


@dataclass(frozen=True)
class NotCompared:
    """What is on both sides, and is not compared all the same."""

    task: str
    figure: str | None  # None: the whole task
    kind: str  # "experiment", "launches", "unit", "zero" or "absent"
    why: str


@dataclass
class Matches:
    """Everything of both sides, each thing in exactly one of the lists."""

    pairs: list[Pair] = field(default_factory=list)
    not_compared: list[NotCompared] = field(default_factory=list)
    only_before: list[str] = field(default_factory=list)  # ids of tasks
    only_after: list[str] = field(default_factory=list)
    tasks: int = 0  # that both sides have


Tasks = Mapping[str, Mapping[str, Any]]


def match(before: Tasks, after: Tasks, wish: Selection) -> Matches:
    """Sets the tasks of both sides beside each other by their ids, and their figures by name."""
    result = Matches()
    wanted = [t for t in dict.fromkeys([*before, *after]) if wish.task is None or wish.task.search(t)]
    result.only_before = [t for t in wanted if t not in after]
    result.only_after = [t for t in wanted if t not in before]
    for name in wanted:
        if name not in before or name not in after:
            continue
        result.tasks += 1
        differs = experiment(before[name], after[name])
        if differs:
            why = f"not the same experiment: {'; '.join(differs)}"
            result.not_compared.append(NotCompared(name, None, "experiment", why))
            continue
        _figures(before[name], after[name], wish, result)
    return result


def experiment(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """In words, what makes two tasks of one id two experiments; empty where they are one."""
    said = []
    for key, default in (
        ("benchmark", None),
        ("layout", None),
        ("stride", 1),
        ("bind", "core"),
        ("options", []),
        ("labels", {}),
    ):
        was, now = a.get(key, default), b.get(key, default)
        if was != now:
            said.append(f"{key} was {_word(was)}, is {_word(now)}")
    was, now = _command(a), _command(b)
    if was != now:
        said.append(f"command was `{' '.join(was)}`, is `{' '.join(now)}`")
    given, given_now = a.get("parameters") or {}, b.get("parameters") or {}
    for key in given:
        if key in given_now and key not in FOUND and given[key] != given_now[key]:
            said.append(f"{key} was {_word(given[key])}, is {_word(given_now[key])}")
    return said


def _command(task: Mapping[str, Any]) -> list[str]:
    """The command without the folder of its program: two builds lie in two folders."""
    words = [str(w) for w in task["command"]]
    return [PurePath(words[0]).name, *words[1:]] if words else words


def _word(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={v}" for k, v in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return " ".join(str(v) for v in value) or "none"
    return str(value)


def headlines(task: Mapping[str, Any]) -> list[str]:
    """The figures that a task is known for: those that its plan names, else the one that the report shows."""
    there = {f["name"] for f in task["figures"]}
    named = [name for name in task.get("headline") or [] if name in there]
    known = samples.headline(task)
    return named or ([known.name] if known else [])


def _figures(a: Mapping[str, Any], b: Mapping[str, Any], wish: Selection, result: Matches) -> None:
    ours, theirs = ({f["name"]: f for f in t["figures"]} for t in (a, b))
    heads = {*headlines(a), *headlines(b)}
    names = list(dict.fromkeys([*ours, *theirs]))
    if wish.figure is not None:
        names = [n for n in names if wish.figure.search(n)]
    elif not wish.everything:
        names = [n for n in names if n in heads]
    for name in names:
        left = one_sided(name, ours, theirs) or unlike(ours[name], theirs[name])
        if left is not None:
            result.not_compared.append(NotCompared(a["id"], name, *left))
            continue
        scale = factor(ours[name]["unit"], theirs[name]["unit"]) or 1.0
        result.pairs.append(
            Pair(
                task=a["id"],
                figure=name,
                unit=str(ours[name]["unit"] or ""),
                better=str(ours[name]["better"]),
                gate=wish.figure is not None or name in heads,
                before=tuple(float(s) for s in ours[name]["samples"]),
                after=tuple(scale * float(s) for s in theirs[name]["samples"]),
                grades=tuple(str(f.get("grade") or "undisturbed") for f in (ours[name], theirs[name])),
            )
        )


def one_sided(name: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> tuple[str, str] | None:
    """Why a figure that one side alone has is not compared; None where both have it."""
    if name in ours and name in theirs:
        return None
    return "absent", f"only the side {'before' if name in ours else 'after'} has this figure"


def unlike(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[str, str] | None:
    """Why two figures of one name are not compared; None where they are."""
    units = [unit_text(str(f["unit"] or "")) or "no unit" for f in (a, b)]
    if factor(a["unit"], b["unit"]) is None:
        return "unit", f"the units differ: {units[0]}, {units[1]}"
    if a["better"] != b["better"]:
        return "experiment", f"what is better was {a['better']}, is {b['better']}"
    sizes = [len(f["samples"]) for f in (a, b)]
    if min(sizes) < LEAST:
        counts = f"{sizes[0]} before, {sizes[1]} after"
        return "launches", f"too few launches with an answer: {counts}; it takes {LEAST} on each side"
    values: Sequence[float] = [*a["samples"], *b["samples"]]
    if min(values) <= 0 and len(set(values)) > 1:
        return "zero", "values of zero or below have no ratio"
    return None


# The binary ones first: MiB is no milli- or mega-iB.
_PREFIXES = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "": 1.0, "p": 1e-12, "n": 1e-9,
             "u": 1e-6, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}  # fmt: skip


def factor(a: str | None, b: str | None) -> float | None:
    """What a value in unit b is multiplied by to be one in unit a; None where they measure different things.
    Units that differ in their prefix alone are the same: GB/s and MB/s, us and ms, kJ and J.
    """
    first, second = ((u or "").strip().replace("µ", "u") for u in (a, b))
    if first == second:
        return 1.0
    if first.endswith("b/s") != second.endswith("b/s"):
        return None  # bits and bytes
    known = base(1.0, first), base(1.0, second)
    if known[0] is not None and known[1] is not None:
        same = samples.kind_of_unit(first) == samples.kind_of_unit(second)
        return known[1] / known[0] if same else None
    for prefix, value in _PREFIXES.items():
        for other, worth in _PREFIXES.items():
            root = first.removeprefix(prefix)
            if root and first == prefix + root and second == other + root and not root.startswith("/"):
                return worth / value
    return None
