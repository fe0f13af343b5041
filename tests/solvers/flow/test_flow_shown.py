"""What files show of a flow over time and in space: means, and slices."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from flow_cases import Done, at_end, run_flow
from solver_cases import solver_program

from strata.errors import StrataError
from strata.run.case import Case

CELLS, STEPS, BEFORE = 24, 12, 4  # steps, and those that a mean leaves out
STEP = 0.25
PROBED = (9, 7)


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


def vortex_over_a_wall(patch: list[int]) -> Case:
    """A vortex that moves along a wall, in a box of 10 x 10."""
    centre = [-5 + 10 / CELLS * (n + 0.5) for n in PROBED]
    return {
        "solver": "flow",
        "grid": {
            "kind": "brick",
            "cells": [CELLS, CELLS],
            "zones": [1, 1],
            "patch": patch,
            "low": [-5.0, -5.0],
            "high": [5.0, 5.0],
        },
        "flow": {"mach": 0.5, "initial": "vortex"},
        "initial": {"strength": 2.0, "centre": [-1.0, -3.0]},
        "time": {
            "kind": "unsteady",
            "step": STEP,
            "end": STEPS * STEP,
            "cfl": 1000.0,
            "subiterations": 20,
            "drop": 1e-3,
        },
        "output": {
            "average": BEFORE * STEP,
            "probes": centre,
            "vortices": 3,
            "slices": ["x = 1.3", "1: j = 5", "Q = 0.02"],
            "slice_steps": 6,
        },
        "verify": {"lift": [-10.0, 10.0]},  # so that figures count
        "boundary": {
            "y-min": {"kind": "slip-wall"},
            **{side: {"kind": "far-field"} for side in ("x-min", "x-max", "y-max")},
        },
    }


def rows(done: Done, name: str) -> np.ndarray:
    return np.genfromtxt(done.folder / name, delimiter=",", names=True)


def test_means_are_those_of_the_steps_after_their_beginning(tmp_path: Path) -> None:
    done = run_flow(
        vortex_over_a_wall([CELLS, CELLS]),
        tmp_path / "run",
        "1x1",
        "--checkpoint",
        "1000000",
        "--series",
        "1",
    )
    fields = at_end(done.folder)
    i, j = PROBED
    for name, column, component in (
        ("density", "rho at 1", 0),
        ("velocity", "u at 1", 0),
        ("velocity", "v at 1", 1),
        ("pressure", "p at 1", 0),
    ):
        values = done.series[column][BEFORE:]
        assert len(values) == STEPS - BEFORE and values.std() > 1e-4
        mean, rms = (
            fields[f"{what} {name}"].reshape(-1, CELLS, CELLS)[component, j, i] for what in ("mean", "rms")
        )
        assert mean == pytest.approx(values.mean(), rel=1e-12)
        assert rms == pytest.approx(values.std(), rel=1e-8)
    for force in ("lift", "drag", "moment"):
        values = done.series[force][BEFORE:]
        assert done.last(f"mean {force}") == pytest.approx(values.mean(), rel=1e-12, abs=1e-15)
        assert done.last(f"rms {force}") == pytest.approx(values.std(), rel=1e-8, abs=1e-10)
    assert abs(done.last("rms lift")) > 1e-3
    figures = json.loads((done.folder / "result.json").read_text())["figures"]
    named = {figure["name"]: figure["value"] for figure in figures}
    assert named["mean lift coefficient"] == pytest.approx(done.last("mean lift"), rel=1e-12)


def test_a_case_may_verify_the_moment_which_is_over_a_reference_length(tmp_path: Path) -> None:
    case = vortex_over_a_wall([CELLS, CELLS])
    case["time"]["end"], case["output"] = 2 * STEP, {}
    free = run_flow(case, tmp_path / "free", "1x1", "--series", "1")
    moment = free.last("moment")
    assert abs(moment) > 1e-3

    def verified(name: str, low: float, high: float, **reference: float) -> Done:
        ranges = {"moment": sorted([low * moment, high * moment])}
        return run_flow(case | {"verify": ranges, "reference": reference}, tmp_path / name, "1x1")

    for name, low, high, length, good in (
        ("within", 0.9, 1.1, 1.0, True),
        ("beside", 1.1, 1.3, 1.0, False),
        ("twice", 0.45, 0.55, 2.0, True),
    ):
        done = verified(name, low, high, length=length)
        result = json.loads((done.folder / "result.json").read_text())
        assert "moment coefficient" in result["verification"]["what"], name
        assert result["verified"] is good, name
        figures = {figure["name"]: figure["value"] for figure in result["figures"]}
        if good:
            assert figures["moment coefficient"] == pytest.approx(moment / length, rel=1e-12)
            assert figures["lift coefficient"] == pytest.approx(free.last("lift"), rel=1e-12)


def test_slices_are_whole_and_the_same_on_every_layout_and_after_a_restart(tmp_path: Path) -> None:
    case = vortex_over_a_wall([8, 6])
    done = run_flow(case, tmp_path / "one", "1x1")
    plane, line = rows(done, "slice-x-1.3-000012.csv"), rows(done, "slice-zone-1-j-5-000012.csv")
    assert plane["size"].sum() == pytest.approx(10, rel=1e-12)
    assert plane["x"] == pytest.approx(1.3, rel=1e-12) and len(plane) == CELLS
    assert line["size"].sum() == pytest.approx(10, rel=1e-12)
    assert line["y"] == pytest.approx(-5 + 4 * 10 / CELLS) and (line["j"] == 5).all()
    # Gas that has turned with the vortex and is carried along
    assert np.ptp(plane["v"]) > 0.01 and plane["u"].mean() == pytest.approx(0.5, abs=0.1)
    assert (done.folder / "slice-x-1.3-000006.csv").exists()
    # Around the vortex, whose Q is 0.02 on a circle; it turns right-handed, all around alike.
    tube = rows(done, "slice-q-0.02-000012.csv")
    assert tube["q_criterion"] == pytest.approx(0.02, rel=1e-12)
    away = np.hypot(tube["x"] - tube["x"].mean(), tube["y"] - tube["y"].mean())
    assert len(tube) > 8 and np.ptp(away) < 0.3 * away.mean()
    assert (tube["vorticity_z"] > 0.1).all() and (tube["vorticity_x"] == 0).all()
    assert plane["q_criterion"].max() > 0.02 > 0 > plane["q_criterion"].min()

    names = ("slice-x-1.3-000012", "slice-q-0.02-000012", "slice-zone-1-j-5-000012")
    files = (*(name + form for name in names for form in (".csv", ".vtp")), "series.csv")
    known = [(done.folder / name).read_bytes() for name in files]
    four = run_flow(case, tmp_path / "four", "4x1", "--bind", "none")
    assert [(four.folder / name).read_bytes() for name in files] == known
    part = run_flow(case, tmp_path / "part", "2x1", "--steps", "7", "--checkpoint", "1000000")
    rest = run_flow(case, tmp_path / "rest", "1x2", "--restart", str(part.folder))
    assert [(rest.folder / name).read_bytes() for name in files[:6]] == known[:6]
    assert (rest.folder / files[6]).read_bytes().splitlines()[-1] == known[6].splitlines()[-1]


@pytest.mark.parametrize(
    ("slices", "says"),
    [(["k = 4"], "k = 4"), (["z = 1"], "z = 1"), (["x"], "x"), (["azimuth = 4"], "azimuth = 4")],
)
def test_a_slice_that_is_none_is_refused(tmp_path: Path, slices: list[str], says: str) -> None:
    case = vortex_over_a_wall([CELLS, CELLS])
    case["output"]["slices"] = slices
    with pytest.raises(Exception, match=f"(?s)'{says}' is no slice.*output.slices"):
        run_flow(case, tmp_path / "run", "1x1")


@pytest.mark.parametrize(
    ("slices", "says"),
    [
        (["2: j = 5"], "zones 1 to 1"),
        (["1: j = 26"], "nodes 1 to 25"),
        (["x = 1.3", "x = 1.3000001"], "the file of a slice before it"),
        (["Q = 0.02"], "output.vortices"),
    ],
)
def test_a_slice_that_the_grid_has_not_or_has_already_is_refused(
    tmp_path: Path, slices: list[str], says: str
) -> None:
    case = vortex_over_a_wall([CELLS, CELLS])
    case["output"]["slices"], case["output"]["vortices"] = slices, 0
    with pytest.raises(StrataError) as found:
        run_flow(case, tmp_path / "run", "1x1")
    assert says in str(found.value) and "output.slices" in str(found.value)
