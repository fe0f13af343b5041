"""How long a command of Strata's that measures will take, by its own plan."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from strata.errors import StrataError
from strata.measure.plan import Plan
from strata.measure.progress import duration, seconds

_START_S = 300.0  # of a job: its first use of files, the report


def of(words: Sequence[str], machine: str | None) -> tuple[float, str] | None:
    """The time to ask for, in seconds, and why; None for a command that has no plan (a run, a program).
    `machine`: the job's node as `--machine` takes it; None: like this one.
    """
    budget = value_of(words, "--budget") or ("10m" if words[0] == "tune" else None)
    if budget is not None:
        planned, said = seconds(budget), f"Its budget is {budget}"
    elif (plan := _plan(words, machine)) is not None:
        launches = plan.policy.launches + 1
        planned = sum(task.expected_s * (task.launches or launches) for task in plan.tasks)
        node = (
            "a node as site.toml describes it"
            if machine
            else "this login node (site.toml may describe others)"
        )
        said = f"Its plan for {node} is about {duration(planned)} long"
        if plan.policy.budget_s and plan.policy.budget_s < planned:
            planned, said = plan.policy.budget_s, f"Its plan ends within {duration(plan.policy.budget_s)}"
    else:
        return None
    return (
        1.5 * planned + _START_S,
        f"{said}; half as much again for a slower node, and 5 min for start and report",
    )


def _plan(words: Sequence[str], machine: str | None) -> Plan | None:
    """The plan that a dry run of the command would show, made for a described node or this one."""
    from strata.characterize import command as characterize
    from strata.study import command as study

    if words[0] == "characterize":
        case, nodes = value_of(words, "--case"), value_of(words, "--nodes") or "1"
        return characterize.prepare(
            characterize.Request(
                mode="full" if "--full" in words else "quick",
                machine=machine,
                case=Path(case) if case is not None else None,
                only=tuple(values_of(words, "--only")),
                nodes=int(nodes) if nodes.isdecimal() else 1,  # what is no number the command refuses
            )
        ).plan
    if tuple(words[:2]) == ("study", "run"):
        named = next(
            (
                word
                for before, word in pairwise(words[1:])
                if not word.startswith("-") and before not in ("--out", "--seed")
            ),
            None,
        )
        if named is None:
            raise StrataError("no study is named", given=" ".join(words), remedy="strata study list")
        return study.prepare(study.Request(study=named, machine=machine, dry_run=True)).plan
    return None


def value_of(words: Sequence[str], option: str) -> str | None:
    """The value of an option among the words of a command, of which a program behind `--` has its own; None
    where it is not given.
    """
    return next(iter(values_of(words, option)), None)


def values_of(words: Sequence[str], option: str) -> list[str]:
    """All of them, of an option that may be repeated."""
    words = words[: words.index("--")] if "--" in words else words
    found = []
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == option:
            found.append(following)
        elif word.startswith(f"{option}="):
            found.append(word.partition("=")[2])
    return found
