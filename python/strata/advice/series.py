"""What a study says whose figures are drawn over something that varies: cores, a stride, a size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strata.advice import scaling as laws
from strata.advice.distances import rank
from strata.advice.samples import Interval, Summary, Task
from strata.advice.statements import compare
from strata.advice.studies import Entry, about, best, entries, group_of, headlines, setting_of
from strata.advice.words import digits, percent

_MOST_X = 4  # values of x at which the series are compared with each other, each in a sentence


@dataclass(frozen=True)
class Line:
    """One series: its label and its points by x, ascending."""

    label: str
    points: tuple[tuple[float, Entry], ...]

    @property
    def figure(self) -> Interval:
        return self.points[0][1].figure


def x_of(task: Task, name: str) -> float | None:
    """Where a task stands on the axis `name`; None where it has no number there."""
    processes, threads = (int(part) for part in str(task["layout"]).split("x"))
    known: Mapping[str, float] = {
        "cores": processes * threads,
        "processes": processes,
        "threads": threads,
        "stride": task["stride"],
    }
    if name in known:
        return float(known[name])
    if name == "distance":
        word = (task.get("labels") or {}).get(name)
        return rank(str(word)) if word else None
    try:
        return float((task.get("labels") or {}).get(name, ""))
    except ValueError:
        return None


def lines(summary: Summary, figure: str | None = None) -> list[Line]:
    """The study's series: tasks that differ in x alone, in the study's order."""
    axis = str(about(summary).get("x") or "cores")
    found: dict[str, list[tuple[float, Entry]]] = {}
    for entry in entries(summary, figure):
        x = x_of(entry.task, axis)
        if x is not None:
            found.setdefault(series_of(entry.task, axis), []).append((x, entry))
    return [Line(label, tuple(sorted(p, key=lambda q: q[0]))) for label, p in found.items()]


def series_of(task: Task, axis: str) -> str:
    """The label of the series that a task is a point of: its labels without those that x stands for."""
    labels = dict(task.get("labels") or {})
    for key in ("stride", "distance") if axis in ("stride", "distance") else ("layout", axis):
        labels.pop(key, None)
    only_x = {**task, "labels": labels}
    return ", ".join(part for part in (group_of(only_x), setting_of(only_x)) if part)


def series(summary: Summary) -> list[str]:
    """How each series goes from its first x to its last, and which series is best at each x."""
    axis = str(about(summary).get("x") or "cores")
    said = []
    for name in headlines(summary):
        said += sentences(lines(summary, name), axis)
    return said


def sentences(known: Sequence[Line], axis: str) -> list[str]:
    """One sentence for each line, and one on which is best at each x."""
    said = []
    for line in known:
        (a, first), (b, last) = line.points[0], line.points[-1]
        name = first.figure.name
        what = name if line.label == name else f"{name} of {line.label}"
        if len(line.points) > 1:
            names = [_at(e, axis, x) for x, e in ((a, first), (b, last))]
            said.append(compare(what, names[0], first.figure, names[1], last.figure, len(known)).text)
        else:
            value = f"{digits(first.figure.median or 0.0)} {first.figure.unit}".strip()
            said.append(f"{what}: {value}, at {_at(first, axis, a)} alone.")
    shared = sorted({x for line in known for x, _ in line.points})
    if len(known) > 1 and len(shared) <= _MOST_X:
        for x in shared:
            said += _at_one(known, axis, x)
    return said


def _at(entry: Entry, axis: str, x: float) -> str:
    far = (entry.task.get("labels") or {}).get("distance")
    if far and axis == "distance":
        return str(far)
    return x_in_words(axis, x) + (f" ({far})" if far and axis == "stride" else "")


def x_in_words(axis: str, x: float) -> str:
    """A value of x in words: '1 core', '8 threads', 'stride 4'."""
    if axis in ("cores", "processes", "threads"):
        return f"{digits(x)} {axis if x != 1 else {'processes': 'process'}.get(axis, axis[:-1])}"
    return f"{axis} {digits(x)}"


def _at_one(known: Sequence[Line], axis: str, x: float) -> list[str]:
    by_figure: dict[tuple[str, str], list[Entry]] = {}
    for line in known:
        for at, e in line.points:
            if at == x:
                entry = Entry(line.label, e.task, e.figure)
                by_figure.setdefault((e.figure.name, e.figure.unit), []).append(entry)
    said = []
    for (name, _), group in by_figure.items():
        word = "lowest" if group[0].figure.better == "lower" else "highest"
        said += best(group, f"{word} {name} at {_at(group[0], axis, x)}")
    return said


# -- scaling -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scaling:
    """One series' speedups and the law fitted to them."""

    label: str
    points: tuple[laws.Point, ...]
    law: laws.Law | None
    weak: bool


def scalings(summary: Summary) -> list[Scaling]:
    """The scaling of every series that has launches on more than one number of cores."""
    weak = about(summary).get("view") == "weak"
    found = []
    for line in lines(summary):
        lower = line.figure.better == "lower"
        costs = {
            x: [v if lower else 1.0 / v for v in e.figure.samples]
            for x, e in line.points
            if e.figure.known and all(v > 0 for v in e.figure.samples)
        }
        if len(costs) > 1:
            grows = weak and lower  # a rate counts the grown work itself
            points = tuple(laws.points(costs, grows=grows))
            found.append(Scaling(line.label, points, laws.fit(costs, weak=weak, grows=grows), weak))
    return found


def scaling(summary: Summary) -> list[str]:
    """Speedup and efficiency on the most cores, what does not scale, and what the fitted law says of it."""
    said = []
    for one in scalings(summary):
        last = one.points[-1]
        what = "scaled speedup" if one.weak else "speedup"
        span = f" [{digits(last.low)}, {digits(last.high)}]" if last.low and last.high else ""
        text = f"{one.label}: {what} {digits(last.speedup)}{span} on {digits(last.cores)} cores"
        text += f", efficiency {percent(last.efficiency)}"
        if last.low and last.high:
            text += f" [{percent(last.low / last.cores)}, {percent(last.high / last.cores)}]"
        text += f"; {fraction_text(last, one.weak)}."
        if one.law is not None:
            text += f" {law_text(one.law)}"
        said.append(text)
    for line in lines(summary):
        if len(line.points) == 1:
            said.append(
                f"{line.label}: measured on {digits(line.points[0][0])} cores alone: no scaling to tell."
            )
    return said


def fraction_text(point: laws.Point, weak: bool) -> str:
    """The fraction that does not scale, with the interval that the speedup's gives it."""
    name = "serial fraction of the grown work (Gustafson)" if weak else "Karp-Flatt fraction"
    middle = point.fraction(point.speedup, weak)
    if point.low is None or point.high is None:
        return f"{name} {digits(middle)}"
    low, high = point.fraction(point.high, weak), point.fraction(point.low, weak)
    return f"{name} {digits(middle)} [{digits(low)}, {digits(high)}]"


def law_text(law: laws.Law) -> str:
    """What a fitted law says, and how well it fits."""
    names = {"Amdahl": ("serial fraction",), "Gustafson": ("serial fraction",)}
    parameters = names.get(law.name, ("contention", "coherency"))
    values = ", ".join(
        f"{name} {digits(value)} [{digits(low)}, {digits(high)}]"
        for name, value, (low, high) in zip(parameters, law.parameters, law.intervals, strict=True)
    )
    text = f"{law.name}'s law: {values}"
    if law.left_out is not None and law.error is not None:
        text += f"; it misses the points by {percent(law.error)} and predicts one from the others"
        text += f" to {percent(law.left_out)} (root mean square)"
    else:
        text += "; as many points as parameters, so how well it fits cannot be told"
    return text + "."
