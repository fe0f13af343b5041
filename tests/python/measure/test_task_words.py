"""Claims about how tasks are said: every task of every plan in words that tell it from the others."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from synthetic_machines import MACHINES

from strata.characterize import planner, words
from strata.characterize.case import read
from strata.measure.plan import Task
from strata.paths import PROGRAMS, case_file

CASES = sorted(case_file("characterize", "quick").parent.glob("*.toml"))


@pytest.mark.parametrize("machine", sorted(MACHINES))
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_task_of_a_plan_has_words_of_its_own(path: Path, machine: str) -> None:
    nodes = 2 if path.stem == "nodes" else 1
    plan, _ = planner.build(
        read(path), MACHINES[machine](), {}, "b", list(PROGRAMS), "characterize", 1, nodes=nodes
    )
    said = [words.of_task(task) for task in plan.tasks]
    assert len(set(said)) == len(plan.tasks)
    for text, task in zip(said, plan.tasks, strict=True):
        assert task.id not in text and task.layout not in text and "/" not in text
        what = text.split(",")[0]
        assert " " in what, f"{task.id}: a word for people, not a name of a program"


def test_every_benchmark_of_the_plans_has_words() -> None:
    for path in CASES:
        for task in tomllib.loads(path.read_text())["task"]:
            assert task.get("name", task["benchmark"]) in words.WHAT, path


@pytest.mark.parametrize(
    ("task_id", "benchmark", "layout", "stride", "bind", "text"),
    [
        ("stream/1x2/core/s1", "stream", "1x2", 1, "core", "memory bandwidth, 2 threads"),
        ("stream/1x1/none/s1", "stream", "1x1", 1, "none", "memory bandwidth, 1 thread, not bound to cores"),
        ("rings/8x1/core/s1", "rings", "8x1", 1, "core", "messages around rings of processes, 8 processes"),
        ("hpl/2x4/core/s1", "hpl", "2x4", 1, "core", "a large linear system (HPL), 2 processes x 4 threads"),
        (
            "dgemm/1x4/core/s2",
            "dgemm",
            "1x4",
            2,
            "core",
            "matrix multiplication, 4 threads, on every 2nd core",
        ),
        ("mine/1x1/core/s1", "stream", "1x1", 1, "core", "memory bandwidth (mine), 1 thread"),
        ("mine/1x1/core/s1", "other", "1x1", 1, "core", "mine, 1 thread"),
    ],
)
def test_words_say_what_how_many_and_what_is_unusual(
    task_id: str, benchmark: str, layout: str, stride: int, bind: str, text: str
) -> None:
    task = Task(task_id, benchmark, (), layout, stride, bind)
    assert words.of_task(task) == text
    summary = {"id": task_id, "benchmark": benchmark, "layout": layout, "stride": stride, "bind": bind}
    assert words.of_summary(summary) == text


def test_a_task_of_a_study_is_its_program_with_its_values_and_its_setting() -> None:
    labels = {"program": "solver", "size": "64", "setting": "not pinned", "layout": "2x1", "stride": "2"}
    task = Task("solver/64/not pinned/2x1", "solver", (), "2x1", 2, "none", labels=labels)
    assert words.of_task(task) == "solver, 64: not pinned, 2 processes, on every 2nd core"
    alone = {"id": task.id, "benchmark": "solver", "layout": "2x1", "stride": 1, "bind": "none"}
    assert words.of_summary({**alone, "labels": labels, "hidden": ["setting"]}) == "solver, 64: 2 processes"
