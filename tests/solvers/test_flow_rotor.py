"""Caradonna and Tung's rotor: blades that move over a background at rest, hover in a frame that turns, a series of
grids. The long forms are soaks."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from solver_cases import FLOW_CASES, changed, solver_program

MEASURED = 0.00459  # thrust coefficient at 8 degrees, tips at Mach 0.439 (NASA TM-81232)


@pytest.fixture(autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver is not built")


def rows(out: Path) -> list[dict[str, float]]:
    with (out / "series.csv").open() as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def figures(out: Path) -> dict[str, float]:
    found = json.loads((out / "result.json").read_text())["figures"]
    return {figure["name"]: figure["value"] for figure in found}


def test_two_blades_that_turn_are_alike_on_every_layout(run: Any, tmp_path: Path) -> None:
    case = changed(tmp_path, "turning-rotor", cases=FLOW_CASES, subiterations="3")
    known = None
    for layout in ("1x1", "2x1", "1x2"):
        out = tmp_path / layout
        run(case, "--out", out, "--steps", 2, "--series", 1, layout=layout, check=False)
        text = (out / "series.csv").read_text()
        known = known or text
        assert text == known, layout
    last = rows(tmp_path / "1x1")[-1]
    assert last["lift"] > 0.003 and last["failed steps"] == 0
    # What pushes one blade aside pushes the other one the other way.
    assert abs(last["drag"]) < 1e-6 * last["lift"]


def hover(case: Path) -> None:
    """The same meshes in a frame that turns with the blades."""
    kept, skip = [], False
    for line in case.read_text().splitlines():
        if line.startswith("["):
            skip = line.endswith(".motion]") or line in ("[time]", "[reference]", "[output]")
        if not skip:
            kept.append(line)
    kept += ["[frame]", "tip_mach = -0.439", "radius = 6.0"]
    kept += ["[time]", "iterations = 3000", "cfl = 5.0", "cfl_start = 1.0", "ramp = 100"]
    case.write_text("\n".join(kept) + "\n")


@pytest.mark.soak
def test_two_revolutions_of_a_coarse_rotor_end_near_hover(run: Any, tmp_path: Path) -> None:
    case = changed(tmp_path, "turning-rotor", cases=FLOW_CASES)
    run(case, "--out", tmp_path / "turning", "--series", 1, layout="1x2", timeout=3600, check=False)
    series = rows(tmp_path / "turning")
    assert series[-1]["failed steps"] == 0 and series[-1]["step"] >= 360
    turning = sum(row["lift"] for row in series[-90:]) / 90  # the last half revolution
    hover(case)
    run(case, "--out", tmp_path / "hover", layout="1x2", timeout=3600, check=False)
    assert turning == pytest.approx(figures(tmp_path / "hover")["thrust coefficient"], rel=0.1)


@pytest.mark.soak
def test_hover_is_near_the_measurement(run: Any, tmp_path: Path) -> None:
    case = FLOW_CASES / "caradonna-tung.toml"
    run(case, "--out", tmp_path / "out", layout="1x2", timeout=3600, check=False)
    found = figures(tmp_path / "out")
    assert found["thrust coefficient"] == pytest.approx(MEASURED, rel=0.1)
    for at, lift in ((0.5, 0.234), (0.68, 0.282), (0.8, 0.289), (0.89, 0.314), (0.96, 0.288)):
        assert found[f"section lift at {at} of the radius"] == pytest.approx(lift, rel=0.12), at
