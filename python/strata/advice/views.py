"""What a study's numbers say, in sentences: one function for each view, for the terminal and the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strata.advice import panels, peers, series
from strata.advice.samples import Summary, factor, figure
from strata.advice.statements import compare
from strata.advice.studies import (
    Entry,
    about,
    absent,
    best,
    entries,
    group_of,
    headlines,
    setting_of,
    spread,
    values_of,
)
from strata.advice.words import digits, percent

P99 = "p99 over median"
SWEEP = "sweep"
_SLOWED = 1.05  # a median run so many times that of another setting is told


def statements(summary: Summary) -> list[str]:
    """Everything that the study's view has to say."""
    views = {"pages": pages, "cycles": cycles, "series": series.series, "peers": peers.peers}
    views |= {"panels": panels.statements}
    views |= {"strong": series.scaling, "weak": series.scaling}
    said = views.get(str(about(summary).get("view")), table)(summary)
    said += [f"Not available here: {absent(u)}." for u in about(summary).get("unavailable") or []]
    short = about(summary).get("shortened") or []
    return said + (
        [f"Run by the study's shorter commands, for the time: {', '.join(short)}."] if short else []
    )


def pages(summary: Summary) -> list[str]:
    """Placement of pages: pinned against not pinned in each mode, then the best of all."""
    every = entries(summary, SWEEP)
    said = []
    memories = {(e.task.get("parameters") or {}).get("memories") for e in every}
    if memories == {1}:
        said.append("This machine has one memory: all pages are equally near, and only pinning can matter.")
    by_mode: dict[str, list[Entry]] = {}
    for e in every:
        by_mode.setdefault(values_of(e.task), []).append(e)
    comparisons = sum(len(group) - 1 for group in by_mode.values())
    for mode, group in by_mode.items():
        for other in group[1:]:
            names = [setting_of(e.task) for e in (group[0], other)]
            what = f"Time of a sweep, mode {mode}"
            two = (names[0], group[0].figure, names[1], other.figure)
            said.append(compare(what, *two, comparisons).text)
    said += best(every, "shortest sweep")
    spreads = sorted(((s, e.label) for e in every if (s := spread(e.figure)) is not None), reverse=True)
    if len(spreads) > 1:
        (most, worst), (least, steadiest) = spreads[0], spreads[-1]
        said.append(
            f"From launch to launch a sweep varies by {percent(least)} ({steadiest}) to {percent(most)} "
            f"({worst}) of its median."
        )
    return said


def cycles_figure(summary: Summary) -> str:
    """The spread that is compared: of cycles where they were counted everywhere, else of ticks."""
    every = summary.get("tasks") or []
    counted = [figure(t, f"{P99}, cycles") for t in every if t.get("figures")]
    return f"{P99}, cycles" if counted and all(f is not None for f in counted) else P99


def cycles(summary: Summary) -> list[str]:
    """What it took to reach the smallest spread, for each amount of work."""
    name = cycles_figure(summary)
    groups: dict[str, list[Entry]] = {}
    for e in entries(summary, name):
        groups.setdefault(values_of(e.task), []).append(e)
    said = []
    for group in groups.values():
        steps = (group[0].task.get("parameters") or {}).get("work")
        at = f" of {int(steps):,} steps".replace(",", "\u2009") if steps and len(groups) > 1 else ""
        named = [Entry(setting_of(e.task), e.task, e.figure) for e in group]
        said += best(named, f"smallest spread{at} (99th percentile over median)", graded=True)
        said += _slowed(group)
    return said


def _slowed(group: Sequence[Entry]) -> list[str]:
    """A run that others slow down throughout has a small spread: then the median runs must be said too, where
    the interval of their ratio lies beyond _SLOWED.
    """
    runs = [(f, setting_of(e.task)) for e in group if (f := figure(e.task, "median run")) and f.median]
    runs.sort(key=lambda run: run[0].median or 0.0)
    ratio = factor(runs[-1][0], runs[0][0], len(runs) * (len(runs) - 1) // 2) if len(runs) > 1 else None
    if ratio is None or ratio[1] < _SLOWED:
        return []
    (least, quick), (most, slow) = ((f.median or 0.0, name) for f, name in (runs[0], runs[-1]))
    return [
        f"The median run is not the same everywhere: {digits(least)} µs ({quick}) to {digits(most)} µs "
        f"({slow}); a small spread of slowed runs is no success."
    ]


def table(summary: Summary) -> list[str]:
    """Any program: the best setting for each combination of its values; with one setting, the best values."""
    said = []
    for name in headlines(summary):
        every = entries(summary, name)
        groups = _grouped(every, lambda e: group_of(e.task))
        one_setting = all(len(group) == 1 for group in groups.values())
        if one_setting:
            groups = _grouped(every, lambda e: str((e.task.get("labels") or {}).get("program")))
        for (key, figure_name), group in groups.items():
            what = "lowest" if group[0].figure.better == "lower" else "highest"
            label = values_of if one_setting else setting_of
            named = [Entry(label(e.task), e.task, e.figure) for e in group]
            said += best(named, f"{what} {figure_name} of {key}")
    return said


def _grouped(every: Sequence[Entry], key: Callable[[Entry], str]) -> dict[tuple[str, str], list[Entry]]:
    """By key and figure: figures of different names are never compared."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for e in every:
        groups.setdefault((key(e), e.figure.name), []).append(e)
    return groups
