"""What a study says that sets one thing beside others that serve the same purpose: the first setting of each
figure, in the study's order, against the best of the others.
"""

from __future__ import annotations

from strata.advice.samples import Summary
from strata.advice.series import Line, x_of
from strata.advice.statements import compare
from strata.advice.studies import Entry, about, entries, headlines
from strata.advice.words import digits

# How a program's tasks are laid out is no part of what tells peers apart.
_HIDDEN = ("setting", "layout", "stride", "distance")


def groups(summary: Summary) -> dict[tuple[str, float | None], list[Entry]]:
    """The settings that have a figure at the same x, by both; x is None where the study varies none."""
    axis = _axis(summary)
    found: dict[tuple[str, float | None], list[Entry]] = {}
    for name in headlines(summary):
        for e in entries(summary, name):
            entry = Entry(_label(e, axis), e.task, e.figure)
            found.setdefault((e.figure.name, x_of(e.task, axis)), []).append(entry)
    return found


def lines(summary: Summary, name: str) -> list[Line]:
    """One figure's series over x, in the study's order."""
    found: dict[str, list[tuple[float, Entry]]] = {}
    for (figure_name, x), known in groups(summary).items():
        if figure_name == name and x is not None:
            for entry in known:
                found.setdefault(entry.label, []).append((x, entry))
    return [Line(label, tuple(sorted(p, key=lambda q: q[0]))) for label, p in found.items()]


def peers(summary: Summary) -> list[str]:
    """A sentence for each figure and x: the first setting against the best of the others by its median."""
    axis = _axis(summary)
    said = []
    compared = {key: known for key, known in groups(summary).items() if len(known) > 1}
    comparisons = sum(
        len(known) - 1 for known in compared.values()
    )  # the best of the others is chosen by its median
    for (name, x), known in compared.items():
        first, others = known[0], known[1:]
        pick = min if first.figure.better == "lower" else max
        best = pick(others, key=lambda e: e.figure.median or 0.0)
        what = name if x is None else f"{name} at {digits(x)} {axis}"
        what = what[:1].upper() + what[1:]
        if len(others) > 1:
            what += f", beside the best of {len(others)}"
        said.append(compare(what, first.label, first.figure, best.label, best.figure, comparisons).text)
    return said


def _axis(summary: Summary) -> str:
    return str(about(summary).get("x") or "cores")


def _label(entry: Entry, axis: str) -> str:
    """'MPI barrier, Open MPI': the program, its values and what built it."""
    labels = entry.task.get("labels") or {}
    words = [str(word) for key, word in labels.items() if key != axis and key not in _HIDDEN]
    return ", ".join(words)
