"""What a characterization found, in at most eight lines: what somebody reads who reads nothing else.

Where to start, what memory, cores and messages reach, what disturbed the run, and where the report is. Every
other figure is in the report; `--verbose` prints their table too.
"""

from __future__ import annotations

from pathlib import Path

from strata.advice import samples
from strata.advice.layouts import BOUND, recommend
from strata.advice.samples import Interval, Summary, Task, processes_threads, width
from strata.advice.words import count, digits, percent, unit_text
from strata.characterize.words import of_summary
from strata.measure.grade import DISTURBED
from strata.measure.summary import failures_in_words

MOST = 8  # lines, with the one that says how long all took
_LABEL = 12
_FAILURES = 5  # of a study, told one by one


def lines(summary: Summary, report: Path) -> list[str]:
    """The end of `strata characterize` and of `strata machine --measure`."""
    messages = _messages(summary)
    found = [
        ("start with", _start(summary)),
        ("memory", _memory(summary)),
        ("arithmetic", _arithmetic(summary)),
        ("messages", messages) if messages else ("cache line", _cache_line(summary)),
    ]
    text = measured(summary) + unmeasured(summary)
    return [*(_line(label, text) for label, text in found if text), *ending(summary, report, text)]


def ending(summary: Summary, report: Path | str, text: str = "") -> list[str]:
    """How good the answers are, and where they are."""
    said = [
        ("disturbed", disturbed(summary)),
        ("measured", text or measured(summary)),
        ("report", str(report)),
    ]
    return [_line(label, text) for label, text in said]


def _line(label: str, text: str) -> str:
    return f"{label + ':':<{_LABEL}}{text}"


def _start(summary: Summary) -> str:
    """Layouts to start from; none where the run was about messages between nodes."""
    if any("--nodes" in (task.get("options") or ()) for task in summary["tasks"]):
        return ""
    starts = recommend(summary["machine"], summary).starts
    named = [f"{'memory-bound' if start.kind == BOUND else start.kind} {start.layout}" for start in starts]
    return f"{', '.join(named)} (processes x threads; the report has lines to paste)"


def _widest(summary: Summary, benchmark: str) -> Task | None:
    """The bound layout on most cores that has results, threads before processes."""
    found = [
        task
        for task in samples.tasks(summary, benchmark, bind="core")
        if samples.headline(task) and not task.get("single")
    ]
    return max(found, key=lambda t: (width(t), processes_threads(t["layout"])[1]), default=None)


def _figure(task: Task | None, *words: str) -> Interval | None:
    f = samples.figure(task, *words) if words else samples.headline(task)
    return f if f is not None and f.median is not None else None


def _value(f: Interval) -> str:
    """'32.7 GB/s (32.4 to 33.5)': the median, and the range that holds the true one."""
    text = f"{digits(f.median or 0.0)} {unit_text(f.unit)}"
    said = [f"{digits(f.low)} to {digits(f.high)}"] if f.low is not None and f.high is not None else []
    said += ["disturbed"] if f.grade == DISTURBED else []
    return f"{text} ({', '.join(said)})" if said else text


def _memory(summary: Summary) -> str:
    full = _widest(summary, "stream")
    one = next(iter(samples.tasks(summary, "stream", layout="1x1", bind="core")), None)
    rate, single = _figure(full, "triad"), _figure(one, "triad")
    said = []
    if full is not None and rate is not None:
        text = f"{_value(rate)} on {count(width(full), 'core')}"
        if width(full) > 1 and single is not None and single.median and rate.median:
            text += f", {digits(rate.median / single.median)} times what one core moves"
        said.append(text)
    wait = _figure(next(iter(samples.tasks(summary, "latency")), None))
    if wait is not None:
        said.append(f"{_value(wait)} until a load has its data")
    return "; ".join(said)


def _arithmetic(summary: Summary) -> str:
    for benchmark, what in (("dgemm", "matrix multiplication"), ("peak", "the most that was reached")):
        task = _widest(summary, benchmark)
        rate = _figure(task)
        if task is not None and rate is not None:
            reached = (task.get("bound") or {}).get("reached")
            part = f", {percent(reached)} of the peak measured here" if reached else ""
            return f"{_value(rate)} on {count(width(task), 'core')}, {what}{part}"
    return ""


def _messages(summary: Summary) -> str:
    task = next((t for t in samples.tasks(summary, "pingpong") if samples.headline(t)), None)
    latency, bandwidth = _figure(task, "latency"), _figure(task, "bandwidth")
    if latency is not None:
        text = f"{_value(latency)} for a short one between two processes"
        return text + (f"; long ones move {_value(bandwidth)}" if bandwidth is not None else "")
    missing = [note for note in summary.get("notes") or [] if "pingpong" in note]
    return f"not measured: {missing[0].rpartition(': ')[2]}" if missing else ""


def _cache_line(summary: Summary) -> str:
    """Where no messages were asked for: what any exchange between cores waits for."""
    trip = _figure(next(iter(samples.tasks(summary, "lines")), None))
    return f"{_value(trip)} to another core and back" if trip is not None else ""


def disturbed(summary: Summary) -> str:
    """How many launches were disturbed, by what and how much, and what became of the answers."""
    launches = sum(task["launches"] for task in summary["tasks"])
    tainted = sum(task["tainted"] for task in summary["tasks"])
    if not tainted:
        return f"none of {launches} launches"
    background = (summary.get("background") or {}).get("told")
    told = (summary.get("counts") or {}).get("disturbed_by") or []  # summaries of before have it not
    why = f"all the time {background}" if background else next(iter(told), "")
    good = [task for task in summary["tasks"] if task["answered"]]
    marked = sum(task["grade"] == DISTURBED for task in good)
    said = [f"{tainted} of {launches} launches", why]
    text = ": ".join(part for part in said if part)
    return text + (f"; {marked} of {count(len(good), 'answer')} marked disturbed" if marked else "")


def unanswered(summary: Summary) -> list[Task]:
    """Settings that were to be measured and have no answer."""
    return [
        task
        for task in summary["tasks"]
        if not task["answered"] and not str(task["status"]).startswith("left out")
    ]


def measured(summary: Summary) -> str:
    """How many settings have an answer."""
    tasks = summary["tasks"]
    good = sum(task["answered"] for task in tasks)
    left = len(tasks) - good - len(unanswered(summary))
    text = f"{good} of {count(len(tasks), 'setting')}"
    return f"{text}, {left} left out to end in time" if left else text


def unmeasured(summary: Summary) -> str:
    """Why others have none: the first of them."""
    bad = unanswered(summary)
    if not bad:
        return ""
    more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
    return f"; not: {of_summary(bad[0])}: {_why(bad[0])}{more}"


def failures(summary: Summary) -> list[str]:
    """What failed, a line each: of a study every program is somebody's own."""
    said = [
        f"failed now and then: {of_summary(task)}: {failures_in_words(task)}; not counted"
        for task in summary["tasks"]
        if task["answered"] and task.get("failures")
    ]
    said += [f"not measured: {of_summary(task)}: {_why(task)}" for task in unanswered(summary)]
    more = len(said) - _FAILURES
    return [*said[:_FAILURES], *([f"and {more} more, which the report has"] if more > 0 else [])]


def _why(task: Task) -> str:
    return str(task["status"]).splitlines()[0]
