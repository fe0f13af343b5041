"""Claims about the studies that come with Strata, planned for machines that nobody here owns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import synthetic_machines as machines
from made_studies import around, figure, study, task

from strata.advice import panels
from strata.errors import StrataError
from strata.measure.plan import Task, identity
from strata.paths import PROGRAMS
from strata.study import planner
from strata.study.case import read

READY = Path(__file__).parents[3] / "cases" / "studies"


def planned(name: str, facts: Mapping[str, Any], tmp_path: Path) -> planner.StudyPlan:
    """The plan of a ready study on a machine, none of whose layouts the launcher refuses."""
    found = read(READY / f"{name}.toml", tmp_path)
    return planner.build(found, facts, identity(facts), "build", PROGRAMS, {}, 1, 1e9)


def of(made: planner.StudyPlan, program: str) -> list[Task]:
    return [t for t in made.plan.tasks if t.labels["program"] == program]


def test_rings_run_with_every_number_of_processes_at_every_stride_that_the_cores_allow(
    tmp_path: Path,
) -> None:
    made = planned("rings", machines.eight_domains(), tmp_path)
    powers = [2**k for k in range(8)]
    every = {(p, s) for p in (*powers[1:], 256) for s in powers if (p - 1) * s < 256}
    for program in ("rings", "copy"):
        tasks = of(made, program)
        assert {(int(t.layout.removesuffix("x1")), t.stride) for t in tasks} == every
        assert len(tasks) == len(every) == 36


def test_rings_need_two_cores_and_say_so(tmp_path: Path) -> None:
    facts = machines.two_cores()
    facts["allowed"]["pus"] = "0"
    with pytest.raises(StrataError, match="2x1 is more than the 1 usable cores"):
        planned("rings", facts, tmp_path)


def test_each_ring_s_figure_has_a_plot_over_the_processes_with_a_line_for_each_stride(tmp_path: Path) -> None:
    made = planned("rings", machines.eight_domains(), tmp_path)
    names = of(made, "rings")[0].figures
    measured = [
        task("rings", t.labels, [figure(name, "us", around(1.0)) for name in names], layout=t.layout, id=t.id)
        | {"stride": t.stride}
        for t in of(made, "rings")
    ]
    asked = read(READY / "rings.toml", tmp_path).plots
    drawn = panels.plots(study("panels", measured, "eight_domains", plots=list(asked)))
    assert [plot.name for plot in drawn] == [
        "natural ring latency",
        "random ring latency",
        "natural ring bandwidth",
        "random ring bandwidth",
    ]
    for plot in drawn:
        lines = {line.label: [x for x, _ in line.points] for line in plot.panels[0].lines}
        assert lines["stride 1"] == [2, 4, 8, 16, 32, 64, 128, 256]
        assert lines["stride 64"] == [2, 4] and lines["stride 128"] == [2]
