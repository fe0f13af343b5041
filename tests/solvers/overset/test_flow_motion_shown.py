"""What files and series show of meshes that move: probes, slices, PLOT3D and iblank, each at its time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flow_cases import Done, records, run_flow
from solver_cases import solver_program

from strata.errors import StrataError
from strata.run.case import Case

STEP, VELOCITY = 0.1, np.array([0.6, 0.15])
LOW, HIGH = np.array([-1.6, -1.0]), np.array([0.4, 1.0])  # of the mesh that moves, at first
FACES = ("x-min", "x-max", "y-min", "y-max")


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


def vortex(steps: int, moves: bool = True, **output: Any) -> Case:
    """A vortex in a square; a finer mesh goes along with it, faster. `moves` = False: the square alone."""
    box = {"kind": "brick", "cells": [40, 40], "low": [-4.0, -4.0], "high": [4.0, 4.0], "patch": [20, 20]}
    fine = {"kind": "brick", "cells": [20, 20], "low": list(LOW), "high": list(HIGH), "patch": [10, 20]}
    fine["motion"] = {"kind": "path", "velocity": list(VELOCITY)}
    prefix = "box-" if moves else ""
    case: Case = {
        "solver": "flow",
        "flow": {"mach": 0.5, "initial": "vortex"},
        "initial": {"strength": 2.0, "centre": [-0.6, 0.0]},
        "time": {"kind": "unsteady", "step": STEP, "end": STEP * steps, "cfl": 1000.0}
        | {"cfl_start": 1000.0, "subiterations": 30, "drop": 1e-4},
        "boundary": {f"{prefix}{face}": {"kind": "far-field"} for face in FACES},
        "output": output,
    }
    if not moves:
        return case | {"grid": box | {"cells": [80, 80]}}
    case["boundary"] |= {f"fine-{face}": {"kind": "overset"} for face in FACES}
    return case | {"mesh": {"box": box, "fine": fine}}


def rows(done: Done, pattern: str) -> np.ndarray:
    return np.genfromtxt(max(done.folder.glob(pattern)), delimiter=",", names=True)


def test_probes_stand_still_while_meshes_go_past_them(tmp_path: Path) -> None:
    # The first is left by the mesh, the second lies in it all the time, the third comes into it.
    probes = [-1.45, 0.3, -0.2, 0.35, 0.75, 0.4]
    done = run_flow(vortex(8, probes=probes), tmp_path / "moving", "1x2", "--series", "1")
    alone = run_flow(vortex(8, moves=False, probes=probes), tmp_path / "alone", "1x1", "--series", "1")
    for name in ("rho", "u", "v", "p"):
        for n in (1, 2, 3):
            ours, theirs = done.series[f"{name} at {n}"], alone.series[f"{name} at {n}"]
            assert len(ours) == 8
            assert ours == pytest.approx(theirs, abs=4e-3), (name, n)
    assert np.ptp(done.series["v at 2"]) > 0.03, "a flow that changes"


def test_a_probe_that_a_body_covers_has_zeros_and_none_at_the_start_is_refused(tmp_path: Path) -> None:
    case = vortex(6, probes=[0.75, 0.0, 2.0, 0.0])
    case["mesh"]["fine"] = {"kind": "cylinder", "cells": [48, 16], "farfield": 1.5, "first": 0.03}
    case["mesh"]["fine"]["motion"] = {"kind": "path", "velocity": [1.0, 0.0]}
    case["boundary"] = {f"box-{face}": {"kind": "far-field"} for face in FACES}
    case["boundary"] |= {"fine-wall": {"kind": "slip-wall"}, "fine-farfield": {"kind": "overset"}}
    case["flow"] = {"mach": 0.3}
    done = run_flow(case, tmp_path / "run", "1x2", "--series", "1")
    rho = done.series["rho at 1"]
    assert (rho[:2] > 0.5).all() and (rho[3:] == 0).all() and (done.series["p at 1"][3:] == 0).all()
    assert (done.series["rho at 2"] > 0.5).all()
    case["output"]["probes"] = [0.0, 0.0]
    with pytest.raises(StrataError, match="no cell holds probe 1"):
        run_flow(case, tmp_path / "refused", "1x1")


def grid(path: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Nodes [component, i, j] and iblank [i, j] of each zone."""
    _, sizes, *zones = records(path)
    all_points = np.frombuffer(sizes, np.int32).reshape(-1, 2)
    found = []
    for (n, m), zone in zip(all_points, zones, strict=True):
        nodes = np.frombuffer(zone, np.float64, 2 * n * m).reshape(2, m, n).transpose(0, 2, 1)
        found.append((nodes, np.frombuffer(zone, np.int32, n * m, 16 * n * m).reshape(m, n).T))
    return found


def test_slices_and_plot3d_have_meshes_where_they_are_on_every_layout(tmp_path: Path) -> None:
    output = {"slices": ["y = 0.37", "2: j = 11"], "slice_steps": 2, "plot3d": 2}
    known: dict[str, bytes] = {}
    for layout in ("1x1", "2x1", "1x2"):
        done = run_flow(vortex(4, **output), tmp_path / layout, layout, "--bind", "none")
        files = {
            path.name: path.read_bytes()
            for pattern in ("slice-*.csv", "*.q", "*.xyz")
            for path in done.folder.glob(pattern)
        }
        assert {"grid.xyz", "000002.xyz", "000004.xyz", "000002.q", "000004.q"} < set(files)
        known = known or files
        assert files == known, layout
    for step in (2, 4):
        way = VELOCITY * STEP * step
        (box, box_blank), (fine, fine_blank) = grid(done.folder / f"{step:06}.xyz")
        (first_box, first_blank), (first_fine, _) = grid(done.folder / "grid.xyz")
        assert (box == first_box).all()
        assert fine == pytest.approx(first_fine + way[:, None, None], abs=1e-14)
        assert (box_blank != first_blank).any(), "holes go with the mesh"
        covered = box[:, box_blank == 0]
        assert covered.size > 0
        assert (covered > (LOW + way)[:, None]).all() and (covered < (HIGH + way)[:, None]).all()
        assert set(np.unique(fine_blank)) == {-1, 0, 1}
        line = rows(done, f"slice-y-0.37-{step:06}.csv")
        ours = line[line["zone"] == 2]
        assert ours["size"].sum() == pytest.approx(2.0, abs=0.11)  # corners of the mesh may be holes
        assert ours["x"].min() == pytest.approx(LOW[0] + way[0] + 0.05, abs=0.11)
        index = rows(done, f"slice-zone-2-j-11-{step:06}.csv")
        assert index["y"] == pytest.approx(np.full(len(index), way[1]), abs=1e-12)
    # The pressure along the cut is that of the square alone.
    alone = run_flow(vortex(4, moves=False, **{**output, "slices": ["y = 0.37"]}), tmp_path / "alone", "1x1")
    theirs = rows(alone, "slice-y-0.37-000004.csv")
    order = np.argsort(theirs["x"])
    ours = rows(done, "slice-y-0.37-000004.csv")
    beside = np.interp(ours["x"], theirs["x"][order], theirs["p"][order])
    assert np.ptp(beside) > 0.1
    assert ours["p"] == pytest.approx(beside, abs=8e-3)
