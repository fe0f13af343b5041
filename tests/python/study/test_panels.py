"""Claims about studies drawn in panels: which lines there are, what is said, and what a file may ask."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import machine
from made_studies import around, figure, study, task

from strata.advice import panels, views
from strata.errors import StrataError
from strata.measure.plan import identity
from strata.report.build import compose
from strata.report.source import command_line
from strata.study import planner
from strata.study.case import read

HEAD = """
schema = "strata.study/1"
name = "mine"
view = "panels"

[[plot]]
x = "threads"
panels = "benchmark"

[[program]]
name = "OpenMP"
command = "sleep {benchmark}"
values = { benchmark = [1, 2] }

[[layout]]
name = "a"
layouts = ["every PxT"]
"""


def run(program: str, benchmark: str, layout: str, value: float, setting: str = "pinned", **more: str):
    labels = {"program": program, "benchmark": benchmark, **more, "setting": setting, "layout": layout}
    rate = figure("rate", "Mop/s", around(value), "higher")
    return task(program, labels, [rate], layout=layout, id=f"{program}-{benchmark}/{setting}/{layout}")


def scaled(**plot: object) -> dict:
    """On one core MPI is ahead in cg; on two it falls in mg, where threads do not."""
    values = {"mg": {"OpenMP": (100, 100), "MPI": (100, 50)}, "cg": {"OpenMP": (80, 60), "MPI": (90, 70)}}
    tasks = [
        run(program, name, layout, value, setting)
        for name, programs in values.items()
        for program, (one, two) in programs.items()
        for setting, layout, value in (
            [("threads", "1x1", one), ("threads", "1x2", two)]
            if program == "OpenMP"
            else [("processes", "1x1", one), ("processes", "2x1", two)]
        )
    ]
    asked = {"x": "cores", "panels": "benchmark", **plot}
    return study("panels", tasks, "eight_domains", plots=[asked])


def test_lines_are_told_apart_by_what_it_takes_and_no_more() -> None:
    (plot,) = panels.plots(scaled())
    assert [p.title for p in plot.panels] == ["mg", "cg"]
    assert [[line.label for line in p.lines] for p in plot.panels] == [["OpenMP", "MPI"]] * 2
    assert [x for x, _ in plot.panels[0].lines[1].points] == [1.0, 2.0]


def test_a_line_for_each_number_of_threads_has_its_processes_on_the_axis() -> None:
    shapes = [(1, 1), (2, 1), (4, 1), (1, 2), (2, 2), (1, 4)]
    tasks = [run("bt", "A", f"{p}x{t}", 10 * p * t) for p, t in shapes]
    asked = [{"x": "processes", "apart": "threads"}, {"x": "threads", "apart": "processes"}]
    first, second = panels.plots(study("panels", tasks, "eight_domains", plots=asked))
    lines = {line.label: [x for x, _ in line.points] for line in first.panels[0].lines}
    assert lines == {"1 thread": [1, 2, 4], "2 threads": [1, 2], "4 threads": [1]}
    assert [line.label for line in second.panels[0].lines] == ["1 process", "2 processes", "4 processes"]
    assert panels.compared(tasks, asked) == 3


def test_the_best_of_the_layouts_on_as_many_cores_is_drawn_alone() -> None:
    tasks = [run("bt", "A", layout, value) for layout, value in (("2x1", 50), ("1x2", 70), ("1x1", 40))]
    asked = [{"x": "cores", "best": True}]
    (plot,) = panels.plots(study("panels", tasks, "eight_domains", plots=asked))
    (line,) = plot.panels[0].lines
    assert [(x, e.task["layout"]) for x, e in line.points] == [(1.0, "1x1"), (2.0, "1x2")]


def test_the_x_to_take_is_where_the_figure_is_best_and_what_ties_is_named() -> None:
    rates = {"8": 10, "64": 30, "216": 30.01, "512": 20}
    tasks = [run("bar", size, "1x1", rate) for size, rate in rates.items()]
    asked = [{"x": "benchmark", "recommend": "patch size"}]
    first = views.statements(study("panels", tasks, "eight_domains", plots=asked))[0]
    assert first.startswith("Recommended patch size, ")
    assert "benchmark 216 (rate 30" in first and first.endswith("; 64 tie with it.")
    (without,) = panels.plots(study("panels", tasks, "eight_domains", plots=[{"x": "benchmark"}]))
    assert panels._recommended(without) == []


def test_one_sentence_tells_how_a_line_goes_in_every_panel_and_one_who_is_ahead() -> None:
    openmp, mpi, one, two = views.statements(scaled())
    assert openmp.startswith("OpenMP, rate from 1 core to 2 cores: mg no difference measured, cg × 0.75 [")
    assert mpi.startswith("MPI, rate from 1 core to 2 cores: mg × 0.5 [")
    assert "mg a tie; cg MPI (90 Mop/s, 1.1" in one
    assert "mg OpenMP (100 Mop/s, 2 [1.99, 2.01] times MPI); cg MPI (70 Mop/s" in two


def test_the_report_draws_a_figure_for_each_plot_and_says_how_to_measure_it_again() -> None:
    summary = scaled(title="Rate of each core")
    summary["tasks"][0]["command"] = ["{strata-npb}", "mg", "--class", "A", "--json", "{result}"]
    (plot,) = compose(summary).plots()[:1]
    assert plot.title == "Rate of each core" and all(f">{name}<" in plot.svg for name in ("mg", "cg", "MPI"))
    assert plot.reproduce[0] == "strata bench npb mg --layout 1x1 --bind core --model openmp --class A"
    assert command_line(summary["tasks"][0]) == plot.reproduce[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('view = "panels"', 'view = "table"'), "go together"),
        (('[[plot]]\nx = "threads"\npanels = "benchmark"', ""), "go together"),
        (('x = "threads"', 'x = "nodes"'), "nothing of that name varies"),
        (('panels = "benchmark"', 'panels = "class"'), "no such panels"),
        (('panels = "benchmark"', 'apart = "nodes"'), "no such apart"),
        (('panels = "benchmark"', 'figure = "rate"'), "no such figure"),
        (('panels = "benchmark"', 'panel = "benchmark"'), "unknown key"),
    ],
)  # fmt: skip
def test_a_plot_that_cannot_be_drawn_is_one_message(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    path = tmp_path / "study.toml"
    assert change[0] in HEAD
    path.write_text(HEAD.replace(*change))
    with pytest.raises(StrataError, match=said) as caught:
        read(path)
    assert caught.value.at and str(path) in caught.value.at and caught.value.given


@pytest.mark.parametrize(
    ("word", "cores", "shapes"),
    [
        ("every PxT", 6, ["1x1", "1x2", "1x4", "2x1", "2x2", "4x1"]),
        ("every Px1", 8, ["1x1", "2x1", "4x1", "8x1"]),
        ("every 1xT", 8, ["1x1", "1x2", "1x4", "1x8"]),
        ("every Px2", 8, ["1x2", "2x2", "4x2"]),
    ],
)
def test_every_shape_is_powers_of_two_on_one_core_to_all(
    tmp_path: Path, word: str, cores: int, shapes: list[str]
) -> None:
    path = tmp_path / "study.toml"
    path.write_text(HEAD.replace("every PxT", word).replace("[1, 2]", "[1]"))
    facts = machine(cores)
    made = planner.build(read(path), facts, identity(facts), "build", (), {}, 1, None)
    assert [t.layout for t in made.plan.tasks] == shapes
    assert {t.labels["layout"] for t in made.plan.tasks} == set(shapes)
