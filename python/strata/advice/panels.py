"""What a study says whose figures are drawn in panels, [[plot]] by [[plot]]: one panel for each program or
value, in each a line for each kind of run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strata.advice.samples import Interval, Summary, Task, factor, winner
from strata.advice.series import Line, sentences, x_in_words, x_of
from strata.advice.statements import beside, times
from strata.advice.studies import SETTING, Entry, about, best_of, entries, headlines
from strata.advice.words import digits, unit_text

_SHAPE = ("cores", "processes", "threads")


@dataclass(frozen=True)
class Asked:
    """A [[plot]] of the study: what is on the axis, what else tells lines apart, what has a panel each."""

    x: str
    apart: str = ""
    panels: str = ""
    figure: str = ""
    best: bool = False
    title: str = ""
    recommend: str = ""


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Plotted:
    """A [[plot]] with what was measured for it; `name` and `unit` are those of its figure."""

    asked: Asked
    name: str
    unit: str
    panels: tuple[Panel, ...]


def plots(summary: Summary) -> list[Plotted]:
    """Every [[plot]] of the study that has anything to draw."""
    return [p for asked in about(summary).get("plots") or [] if (p := _plotted(summary, Asked(**asked)))]


def _plotted(summary: Summary, asked: Asked) -> Plotted | None:
    name = asked.figure or headlines(summary)[0]
    every = [e for e in entries(summary, name) if x_of(e.task, asked.x) is not None]
    if not every:
        return None
    keys = distinguishing_labels([e.task for e in every], asked)
    found: dict[str, dict[str, list[tuple[float, Entry]]]] = {}
    for e in every:
        panel = str((e.task.get("labels") or {}).get(asked.panels, "")) if asked.panels else ""
        line = ", ".join(word for word in _words(e.task, asked, keys) if word) or e.figure.name
        points = found.setdefault(panel, {}).setdefault(line, [])
        points.append((x_of(e.task, asked.x) or 0.0, e))
    first = every[0].figure
    return Plotted(
        asked,
        first.name,
        first.unit,
        tuple(
            Panel(title, tuple(Line(label, _in_order(points, asked.best)) for label, points in lines.items()))
            for title, lines in found.items()
        ),
    )


def _in_order(points: Sequence[tuple[float, Entry]], best: bool) -> tuple[tuple[float, Entry], ...]:
    """By x; with `best` the one whose median is best where several share an x."""
    ordered = sorted(points, key=lambda p: p[0])
    if not best:
        return tuple(ordered)
    kept: dict[float, Entry] = {}
    for x, e in ordered:
        had = kept.get(x)
        if had is None or _better(e.figure, had.figure):
            kept[x] = e
    return tuple(kept.items())


def _better(a: Interval, b: Interval) -> bool:
    sign = -1 if a.better == "lower" else 1
    return sign * (a.median or 0.0) > sign * (b.median or 0.0)


def _value(task: Task, asked: Asked, key: str) -> str:
    """What a task has of a label; the shape of its layout in words."""
    if key == asked.apart and key in _SHAPE:
        return x_in_words(key, x_of(task, key) or 0.0)
    known = str((task.get("labels") or {}).get(key, ""))
    return f"stride {known}" if key == "stride" and known else known


def _words(task: Task, asked: Asked, keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(_value(task, asked, key) for key in keys)


def distinguishing_labels(tasks: Sequence[Task], asked: Asked) -> list[str]:
    """The labels that tell lines apart: without those of the axis and the panels, and without every one that
    tells nothing that the others do not, the last first.
    """
    keys = list(dict.fromkeys(key for task in tasks for key in task.get("labels") or {}))
    keys = [k for k in keys if k not in (asked.x, asked.panels, asked.apart, "layout", "distance")]
    if asked.best:  # of several layouts: what they are called tells nothing of the one that is drawn
        keys = [k for k in keys if k != "setting"]
    # Where plots are about layouts, what a layout is called comes after what the study varies.
    keys = [k for k in keys if k not in SETTING] + [k for k in keys if k in SETTING]
    if asked.apart:
        keys.append(asked.apart)
    everything = len({_words(t, asked, keys) for t in tasks})
    for key in reversed(keys[:]):
        fewer = [k for k in keys if k != key]
        if len({_words(t, asked, fewer) for t in tasks}) == everything:
            keys = fewer
    return keys


def compared(tasks: Sequence[Task], asked: Sequence[Mapping[str, object]]) -> int:
    """The most lines of one panel: of so many it is said which is best."""
    most = 1
    for one in asked:
        plot = Asked(**one)  # type: ignore[arg-type]
        keys = distinguishing_labels(tasks, plot)
        by_panel: dict[str, set[tuple[str, ...]]] = {}
        for t in tasks:
            panel = str((t.get("labels") or {}).get(plot.panels, ""))
            by_panel.setdefault(panel, set()).add(_words(t, plot, keys))
        most = max([most, *(len(lines) for lines in by_panel.values())])
    return most


# -- what is said ------------------------------------------------------------------------------------------


def statements(summary: Summary) -> list[str]:
    """Of each plot: how each line goes from its first x to its last, panel by panel in one sentence, and
    which line is best at each x.
    """
    said = []
    for plot in plots(summary):
        said += _recommended(plot)
        if len(plot.panels) == 1:
            said += sentences(plot.panels[0].lines, plot.asked.x)
            continue
        said += _changes(plot)
        shared = sorted({x for p in plot.panels for line in p.lines for x, _ in line.points})
        said += [text for x in (shared if len(shared) <= 3 else (shared[0], shared[-1]))
                 if (text := _best_at(plot, x))]  # fmt: skip
    return list(dict.fromkeys(said))


def _recommended(plot: Plotted) -> list[str]:
    """Of each line: the x at which its figure is best, and those that tie with it."""
    said = []
    for panel in plot.panels if plot.asked.recommend else ():
        for line in panel.lines:
            at = {e.task["id"]: x for x, e in line.points}
            found = best_of([e for _, e in line.points])
            of = ", ".join(word for word in (panel.title, line.label) if word)
            near = beside(*(e.figure for _, e in line.points))
            head = f"Recommended {plot.asked.recommend}{near}, {of}: "
            if found.why:
                said.append(f"{head}no answer ({found.why}).")
                continue
            lead = max(found.leaders, key=lambda e: e.figure.median or 0.0)
            if lead.figure.better == "lower":
                lead = min(found.leaders, key=lambda e: e.figure.median or 0.0)
            value = f"{digits(lead.figure.median or 0.0)} {unit_text(plot.unit)}"
            text = f"{head}{x_in_words(plot.asked.x, at[lead.task['id']])} ({plot.name} {value})"
            ties = sorted(at[e.task["id"]] for e in found.leaders if e is not lead)
            tied = " and ".join(filter(None, [", ".join(map(digits, ties[:-1])), *map(digits, ties[-1:])]))
            said.append(f"{text}; {tied} tie with it." if ties else f"{text}.")
    return said


def _changes(plot: Plotted) -> list[str]:
    by_line: dict[str, dict[tuple[float, float], list[str]]] = {}
    for panel in plot.panels:
        for line in panel.lines:
            (a, first), (b, last) = line.points[0], line.points[-1]
            if a != b:
                found = by_line.setdefault(line.label, {}).setdefault((a, b), [])
                comparisons = sum(len(p.lines) for p in plot.panels)
                found.append(f"{panel.title} {_change(first.figure, last.figure, comparisons)}")
    return [
        f"{label}, {plot.name} from {x_in_words(plot.asked.x, a)} to {x_in_words(plot.asked.x, b)}: "
        f"{', '.join(parts)}."
        for label, ranges in by_line.items()
        for (a, b), parts in ranges.items()
    ]


def _change(first: Interval, last: Interval, comparisons: int) -> str:
    """'x 0.79 [0.78, 0.80]', or that none was measured."""
    if not first.known or not last.known:
        return "no answer, too few launches"
    ratio = factor(last, first, comparisons)
    if winner(first, last, comparisons) is None or ratio is None:
        return "no difference measured"
    return "\u00d7 {} [{}, {}]".format(*(times(r) for r in ratio))


def _best_at(plot: Plotted, x: float) -> str | None:
    words: list[str] = []
    for panel in plot.panels:
        here = [
            Entry(line.label, e.task, e.figure) for line in panel.lines for at, e in line.points if at == x
        ]
        if len(here) < 2:
            continue
        found = best_of(here)
        if found.why:
            words.append(f"no answer for {panel.title} ({found.why})")
        elif len(found.leaders) > 1:
            names = f" of {' and '.join(e.label for e in found.leaders)}" if found.others else ""
            words.append(f"{panel.title} a tie{names}")
        else:
            (lead,) = found.leaders
            value = f"{digits(lead.figure.median or 0.0)} {unit_text(lead.figure.unit)}"
            behind = max if lead.figure.better != "lower" else min
            second = behind(found.others, key=lambda e: e.figure.median or 0.0)
            ratio = factor(lead.figure, second.figure, len(found.others))
            span = "{} [{}, {}] times ".format(*(times(r) for r in ratio)) if ratio else "apart from "
            words.append(f"{panel.title} {lead.label} ({value}, {span}{second.label})")
    if not words:
        return None
    word = "lowest" if plot.panels[0].lines[0].figure.better == "lower" else "highest"
    return f"The {word} {plot.name} at {x_in_words(plot.asked.x, x)}: {'; '.join(words)}."
