"""The figure of a plan, and what is no plan."""

import json

import pytest

from strata.errors import StrataError
from strata.report.figures.balance import balance, draw

PLAN = {
    "schema": "strata.balance/1",
    "generated": True,
    "curve": "ideal",
    "cpus": 5,
    "processes": 2,
    "efficiency": 0.9,
    "bound": 1.5,
    "plan": [
        {"threads": 2, "load": 3.0, "time": 1.5, "patches": ["a"]},
        {"threads": 3, "load": 6.0, "time": 2.0, "patches": ["b"]},
    ],
}


def test_a_plan_is_drawn_with_its_efficiency_and_says_that_its_zones_are_generated(tmp_path):
    source, target = tmp_path / "plan.json", tmp_path / "plan.svg"
    source.write_text(json.dumps(PLAN))
    assert draw(str(source), str(target)) == 0
    svg = target.read_text()
    assert svg.startswith("<?xml") and "90.0 %" in svg and "generated" in svg
    assert "generated" not in balance("b", {**PLAN, "generated": False})


@pytest.mark.parametrize("text", ["", "[1]", '{"schema": "strata.machine/1"}'])
def test_what_is_no_plan_is_refused(tmp_path, text):
    source = tmp_path / "plan.json"
    source.write_text(text)
    with pytest.raises(StrataError):
        draw(str(source), str(tmp_path / "plan.svg"))
    with pytest.raises(StrataError):
        draw(str(tmp_path / "absent"), "-")
