"""Claims about the end of `strata characterize`: at most eight lines, each of them a fact of the summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from synthetic_summaries import SUMMARIES

from strata.advice.words import digits
from strata.characterize import answer

REPORT = Path("results") / "report" / "report.html"


def summary(name: str = "two-cores", **changes: Any) -> dict[str, Any]:
    """A synthetic summary with what the engine says of each task."""
    whole = SUMMARIES[name]()
    for task in whole["tasks"]:
        task.update(answered=True, grade="undisturbed", status="ok")
    return {**whole, **changes}


def said(whole: dict[str, Any]) -> dict[str, str]:
    """The lines by their first words."""
    found = [line.partition(":") for line in answer.lines(whole, REPORT)]
    return {label: text.strip() for label, _, text in found}


def value(whole: dict[str, Any], task_id: str, figure: str) -> str:
    task = next(t for t in whole["tasks"] if t["id"] == task_id)
    return digits(next(f["median"] for f in task["figures"] if f["name"] == figure))


@pytest.mark.parametrize("name", sorted(SUMMARIES))
def test_it_is_at_most_eight_lines_with_the_one_that_says_how_long_all_took(name: str) -> None:
    lines = answer.lines(summary(name), REPORT)
    assert len(lines) + 1 <= answer.MOST == 8
    assert not any("\n" in line for line in lines) and lines[-1] == f"report:     {REPORT}"


def test_layouts_bandwidth_arithmetic_and_messages_are_those_of_the_summary() -> None:
    whole = summary()
    found = said(whole)
    assert found["start with"].startswith("serial 1x1, OpenMP 1x2, MPI 2x1, hybrid 1x2 (processes x threads")
    assert found["memory"].startswith(f"{value(whole, 'stream/1x2/core/s1', 'triad')} GB/s (")
    assert " on 2 cores, 1.9 times what one core moves" in found["memory"]
    assert found["arithmetic"].startswith(f"{value(whole, 'dgemm/1x2/core/s1', 'rate')} GF/s (")
    assert "on 2 cores, matrix multiplication" in found["arithmetic"]
    assert "for a short one between two processes; long ones move" in found["messages"]


def test_what_was_not_measured_has_no_line_and_messages_say_why() -> None:
    whole = summary()
    whole["tasks"] = [
        t for t in whole["tasks"] if t["benchmark"] not in ("dgemm", "peak", "pingpong", "lines")
    ]
    whole["notes"] = ["not here: pingpong 2x1 stride 1: strata-bench-mpi was not built: no MPI was found"]
    found = said(whole)
    assert "arithmetic" not in found and found["messages"] == "not measured: no MPI was found"


def test_where_no_messages_were_asked_for_cache_lines_stand_in_their_place() -> None:
    whole = summary()
    whole["tasks"] = [t for t in whole["tasks"] if t["benchmark"] in ("stream", "peak", "lines", "latency")]
    for task, ns in ((t, {"latency": 95.0, "lines": 60.0}.get(t["benchmark"])) for t in whole["tasks"]):
        if ns:
            figure = {"name": "f", "unit": "ns", "better": "lower", "n": 1, "median": ns, "low": None}
            task["figures"] = [{**figure, "high": None}]
    found = said(whole)
    assert "messages" not in found and found["cache line"] == "60 ns to another core and back"
    assert found["memory"].endswith("; 95 ns until a load has its data")
    assert found["arithmetic"].startswith(f"{value(whole, 'peak/1x2/core/s1', 'peak')} GF/s (")


def test_what_disturbed_and_by_how_much() -> None:
    whole = summary()
    launches = sum(t["launches"] for t in whole["tasks"])
    assert said(whole)["disturbed"] == f"none of {launches} launches"
    whole["tasks"][0].update(tainted=5, grade="disturbed")
    whole["counts"] = {"disturbed_by": ["other programs took 9.0 % of its CPUs in 4 of them"]}
    text = f"5 of {launches} launches: other programs took 9.0 % of its CPUs in 4 of them; "
    assert said(whole)["disturbed"] == f"{text}1 of {len(whole['tasks'])} answers marked disturbed"
    whole["background"] = {"told": "other users of this machine took 8.0 % of CPU 1"}
    text = f"5 of {launches} launches: all the time other users of this machine took 8.0 % of CPU 1; "
    assert said(whole)["disturbed"] == f"{text}1 of {len(whole['tasks'])} answers marked disturbed"


def test_a_disturbed_figure_says_so() -> None:
    whole = summary()
    task = next(t for t in whole["tasks"] if t["id"] == "dgemm/1x2/core/s1")
    for figure in task["figures"]:
        figure["grade"] = "disturbed"
    assert ", disturbed) on 2 cores" in said(whole)["arithmetic"]
    assert "disturbed" not in said(whole)["memory"]


def test_settings_without_an_answer_are_counted_with_the_reason_of_the_first() -> None:
    whole = summary()
    n = len(whole["tasks"])
    whole["tasks"][0].update(answered=False, status="left out: estimate 300 s > budget 285 s")
    assert said(whole)["measured"] == f"{n - 1} of {n} settings, 1 left out to end in time"
    for task in whole["tasks"][1:4]:
        task.update(answered=False, status="failed: exit code 3: no licence\nmore")
    text = said(whole)["measured"]
    assert text.startswith(f"{n - 4} of {n} settings, 1 left out to end in time; not: ")
    assert text.endswith(": failed: exit code 3: no licence, and 2 more")
    assert len(answer.unanswered(whole)) == 3
