"""Compressible flow by multigrid cycles: how soon it settles, bits, uniform flow, and what is refused."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flow_cases import Done, airfoil, run_flow
from solver_cases import solver_program

from strata.errors import StrataError
from strata.run.case import Case, run_case

CYCLES = {"cfl": 1000.0, "cfl_start": 20.0, "ramp": 10, "multigrid": 4, "smooth": [2, 1]}


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


def settles_after(done: Done, within: float) -> int:
    drag = done.series["drag"]
    off = np.flatnonzero(np.abs(drag / drag[-1] - 1) > within)
    return int(off[-1]) + 2


def every_step(case: Case, folder: Path, layout: str = "1x2") -> Done:
    return run_flow(case, folder, layout, "--series", "1")


def test_the_drag_of_the_airfoil_stays_within_a_thousandth_after_140_steps(tmp_path: Path) -> None:
    """On 113x33 points, 40 of the steps on coarser grids; without cycles it takes thousands (flow.md)."""
    done = every_step(airfoil("113x33", iterations=220, sequence=[20, 20], **CYCLES), tmp_path / "run")
    needs = settles_after(done, 1e-3)
    print(f"within 0.1 % after {needs} steps; residual {done.last('residual')}")
    assert needs <= 140
    assert done.last("residual") < 1e-6 * float(done.series["residual"].max())
    assert done.last("failed steps") == 0


def cylinder(**time: Any) -> Case:
    return {
        "solver": "flow",
        "grid": {"kind": "cylinder", "cells": [64, 48], "farfield": 50.0, "patch": [32, 16]},
        "flow": {"equations": "laminar", "mach": 0.1, "reynolds": 40.0},
        "time": {"cfl": 50.0, "ramp": 30, "cfl_start": 5.0} | time,
        "boundary": {"wall": {"kind": "wall"}, "farfield": {"kind": "far-field"}},
    }


@pytest.mark.parametrize("cycle", [{"cycle": "v", "smooth": [2, 1]}, {"cycle": "w", "smooth": [1, 1]}])
def test_a_laminar_flow_settles_in_a_hundred_cycles(tmp_path: Path, cycle: dict[str, Any]) -> None:
    done = every_step(cylinder(iterations=100, multigrid=4, **cycle), tmp_path / "run")
    print("residual", done.last("residual"), "drag", done.last("drag"))
    assert done.last("residual") < 1e-7
    assert done.settled("drag") < 1e-5


def test_point_by_point_sweeps_have_cycles_too(tmp_path: Path) -> None:
    left = []
    for grids in (4, 1):
        case = cylinder(iterations=100, multigrid=grids, smooth=[2, 1], implicit="lu-sgs", cfl=20.0)
        left.append(every_step(case, tmp_path / str(grids)).last("residual"))
    print("residuals with cycles and without:", left)
    assert left[0] < 0.05 * left[1]


def test_bits_do_not_depend_on_patches(tmp_path: Path) -> None:
    """Pressure and friction on the walls. (Norms are sums of rounded sums of patches.)"""
    rows = []
    for number, patch in enumerate(([16, 16], [64, 32], [24, 8])):
        case = airfoil("113x33", iterations=6, sequence=[4, 4], **CYCLES)
        case["grid"]["patch"] = patch
        done = every_step(case, tmp_path / str(number))
        walls = max(done.folder.glob("surface-*.csv")).read_text()
        rows.append(sorted(walls.splitlines()))
    assert rows[1] == rows[0]
    assert rows[2] == rows[0]


@pytest.mark.parametrize("cells", [[16, 16], [8, 8, 8]])
def test_a_uniform_flow_stays_uniform(tmp_path: Path, cells: list[int]) -> None:
    """On zones of wavy cells whose axes lie in other ways; far fields around."""
    faces = ["x-min", "x-max", "y-min", "y-max", "z-min", "z-max"][: 2 * len(cells)]
    case: Case = {
        "solver": "flow",
        "grid": {"kind": "brick", "cells": cells, "zones": [2] + [1] * (len(cells) - 1)}
        | {"turned": True, "wave": 0.05, "patch": [4] * len(cells)},
        "flow": {"equations": "laminar", "mach": 0.4, "reynolds": 100.0, "alpha": 20.0},
        "time": {"iterations": 20, "cfl": 100.0, "multigrid": 2, "sequence": [5]},
        "boundary": {name: {"kind": "far-field"} for name in faces},
        "verify": {"uniform": 1e-12},
    }
    run_case(case, tmp_path / "run", "1x2")  # raises where the run is not verified


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"grid": {"patch": [12, 16]}}, ("grid.patch", "time.multigrid", "multiples of 8")),
        ({"grid": {"cells": [60, 48]}}, ("60 cells along i", "multiples of 8")),
        ({"time": {"kind": "unsteady", "step": 1.0, "end": 2.0}}, ("time.multigrid", "steady")),
        ({"time": {"smooth": [0, 1]}}, ("time.smooth", "1 or more")),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, changes: dict[str, Any], says: tuple[str, ...]) -> None:
    case = cylinder(iterations=10, multigrid=4)
    for table, keys in changes.items():
        case[table] = case[table] | keys
    with pytest.raises(StrataError) as found:
        run_flow(case, tmp_path / "run")
    for words in says:
        assert words in str(found.value)


def test_the_cfl_number_is_steered_while_the_flow_settles(tmp_path: Path) -> None:
    from strata.run.control import ask

    out, asked = tmp_path / "run", []

    def halve() -> None:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not (out / "control" / "control.sock").exists():
            time.sleep(0.01)
        asked.extend(ask(out, {"get": "parameters"})["parameters"])
        asked.append(ask(out, {"set": {"cfl": 2.5}})["before_step"])
        while time.monotonic() < deadline and ask(out, {"get": "status"})["step"] < asked[-1] + 5:
            time.sleep(0.01)
        ask(out, {"do": "stop"})

    steers = threading.Thread(target=halve)
    steers.start()
    done = every_step(cylinder(iterations=1_000_000, cfl=5.0, ramp=0), out)
    steers.join()
    cfl, before = asked
    assert (cfl["name"], cfl["value"]) == ("cfl", 5.0)
    of_step = dict(zip(done.series["step"], done.series["cfl"], strict=True))
    assert all(value == (2.5 if step >= before else 5.0) for step, value in of_step.items())
    assert before + 5 in of_step
