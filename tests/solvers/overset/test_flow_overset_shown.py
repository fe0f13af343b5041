"""What files and series show of a flow on meshes that overlap: cells that are computed, and no others."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flow_cases import Done, records, run_flow
from solver_cases import solver_program

from strata.errors import StrataError
from strata.run.case import Case

BOX, FINE = (32, 16), (32, 20)  # cells, 0.25 and 0.0625 wide
FINE_LOW, FINE_HIGH = np.array([-1.0, 0.0]), np.array([1.0, 1.25])
WITHIN_LOW, WITHIN_HIGH = np.array([-2.0, 0.25]), np.array([2.0, 3.25])  # in files


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


def centre(i: int, j: int) -> np.ndarray:
    """Of a cell of the fine mesh, from 0."""
    return FINE_LOW + (FINE_HIGH - FINE_LOW) * (np.array([i, j]) + 0.5) / FINE


def over_a_wall(steps: int = 4, **more: Any) -> Case:
    """A vortex over a wall, of which a finer mesh has a part."""
    faces = ("x-min", "x-max", "y-max")
    case: Case = {
        "solver": "flow",
        "mesh": {
            "box": {"kind": "brick", "cells": list(BOX), "low": [-4.0, 0.0], "high": [4.0, 4.0]}
            | {"patch": [8, 8], "cuts": False},
            "fine": {"kind": "brick", "cells": list(FINE), "low": list(FINE_LOW), "high": list(FINE_HIGH)}
            | {"patch": [16, 10], "cuts": False, "on": "box"},
        },
        "flow": {"mach": 0.5, "initial": "vortex"},
        "initial": {"strength": 2.0, "centre": [-0.6, 1.0]},
        "time": {
            "kind": "unsteady",
            "step": 0.1,
            "end": 0.1 * steps,
            "cfl": 1000.0,
            "subiterations": 20,
            "drop": 1e-3,
        },
        "boundary": {
            "box-y-min": {"kind": "slip-wall"},
            "fine-y-min": {"kind": "slip-wall"},
            **{f"box-{face}": {"kind": "far-field"} for face in faces},
            **{f"fine-{face}": {"kind": "overset"} for face in faces},
        },
    }
    return case | more


def rows(done: Done, pattern: str) -> np.ndarray:
    return np.genfromtxt(max(done.folder.glob(pattern)), delimiter=",", names=True)


def test_files_and_probes_have_computed_cells(tmp_path: Path) -> None:
    # The middle of a fine cell; the wall's; and one in the fringe of the fine mesh that the box computes.
    probes = [*centre(9, 13), *centre(12, 0), *centre(0, 5)]
    output = {"slices": ["y = 0.3", "1: j = 2"], "probes": probes, "average": 0.0}
    done = run_flow(over_a_wall(output=output), tmp_path / "run", "1x1", "--series", "1")
    walls = rows(done, "surface-*.csv")
    within = np.abs(walls["x"]) < 0.6
    assert (walls["zone"][within] == 2).all(), "the finer mesh has the wall there"
    assert (walls["zone"][np.abs(walls["x"]) > 1.0] == 1).all()
    assert len(walls) < BOX[0] + FINE[0] - 4
    # Each place once, but for receptors beside computed cells of both.
    for pattern in ("slice-y-0.3-*.csv", "slice-zone-1-j-2-*.csv"):
        cut = rows(done, pattern)
        box = cut[cut["zone"] == 1]
        assert (np.abs(box["x"]) > 0.2).all(), "covered cells are left out"
        assert (np.abs(box["x"]) < 1.0).any(), "receptors are not"
    plane = rows(done, "slice-y-0.3-*.csv")
    assert 8 <= plane["size"].sum() < 8 + 2 - 0.4
    # A vortex that has moved shows in the fine mesh alone, not as the state that covered cells began with.
    order = np.argsort(plane["x"])
    jumps = np.abs(np.diff(plane["p"][order]))
    assert jumps.max() < 0.15 * np.ptp(plane["p"])
    # Probe 1 and 2 have the fine cell's own values, at its centre: those of the surface are of the same cell.
    for column in ("rho", "u", "v", "p"):
        values = [done.last(f"{column} at {n}") for n in (1, 2, 3)]
        assert np.isfinite(values).all()
    first = walls[(walls["zone"] == 2) & (walls["i"] == 13)]
    pressure = 1 / 1.4 + 0.5 * 0.5**2 * float(first["cp"][0])
    assert done.last("p at 2") == pytest.approx(pressure, rel=1e-2)
    assert done.last("rho at 1") != done.last("rho at 3")


def test_a_probe_in_a_hole_alone_is_refused(tmp_path: Path) -> None:
    case = over_a_wall(output={"probes": [0.0, 0.0]})
    case["mesh"] = {
        "box": {"kind": "brick", "cells": [24, 24], "low": [-3.0, -3.0], "high": [3.0, 3.0]},
        "ring": {"kind": "cylinder", "cells": [48, 16], "farfield": 1.5, "first": 0.04},
    }
    case["boundary"] = {
        "ring-wall": {"kind": "slip-wall"},
        "ring-farfield": {"kind": "overset"},
        **{f"box-{face}": {"kind": "far-field"} for face in ("x-min", "x-max", "y-min", "y-max")},
    }
    case["time"] = {"iterations": 2}
    case["flow"] = {"mach": 0.3}
    with pytest.raises(StrataError, match=r"no cell holds probe 1 at \(0, 0, 0\) but holes"):
        run_flow(case, tmp_path / "run", "1x1")


def test_files_are_the_same_on_every_layout(tmp_path: Path) -> None:
    case = over_a_wall()
    case["output"] = {"slices": ["y = 0.3"], "probes": list(centre(9, 13)), "plot3d": 2, "surface": 2}
    known: dict[str, bytes] = {}
    for layout in ("1x1", "4x1", "1x2"):
        done = run_flow(case, tmp_path / layout, layout, "--bind", "none")
        files = {
            path.name: path.read_bytes()
            for pattern in ("*.csv", "*.q", "grid.xyz")
            for path in done.folder.glob(pattern)
        }
        assert len(files) >= 6
        known = known or files
        assert files == known, layout


def blanks(folder: Path) -> list[np.ndarray]:
    """iblank of each zone, [i, j]."""
    _, sizes, *zones = records(folder / "grid.xyz")
    points = np.frombuffer(sizes, np.int32).reshape(-1, 2)
    return [
        np.frombuffer(zone, np.int32, n * m, 16 * n * m).reshape((n, m), order="F")
        for (n, m), zone in zip(points, zones, strict=True)
    ]


def test_plot3d_has_iblank_and_a_run_begins_from_its_state(tmp_path: Path) -> None:
    probes = list(centre(9, 13))
    output = {"plot3d": 4, "probes": probes}
    first = run_flow(over_a_wall(output=output), tmp_path / "first", "1x2", "--series", "1")
    box, fine = blanks(first.folder)
    assert box.shape == (33, 17) and fine.shape == (33, 21)
    assert set(np.unique(box)) == {-2, 0, 1} and set(np.unique(fine)) == {-1, 0, 1}
    assert box[16, 1] == 0 and box[0, 0] == 1, "covered by the fine mesh; far from it"
    assert (fine[2:-2, -1] == -1).all() and (fine[0, :-2] == -1).all(), "the mesh ends there, in zone 1"
    assert fine[0, -1] == 0, "no computed cell sees the corner"
    assert fine[16, 0] == 1, "at the wall that it computes"
    # Nodes of receptors lie between computed ones and holes.
    near = np.argwhere(box == 0)
    for i, j in near:
        assert 1 not in box[max(0, i - 1) : i + 2, max(0, j - 1) : j + 2]

    start = {"mach": 0.5, "start": str(first.folder / "000004.q")}
    again = run_flow(over_a_wall(1, flow=start, output=output), tmp_path / "again", "1x1", "--series", "1")
    rest = run_flow(over_a_wall(5, output=output), tmp_path / "rest", "1x1", "--series", "1")
    for column in ("rho at 1", "u at 1", "v at 1", "p at 1"):
        # Nodes have means of cells: a vortex is smeared a little.
        assert again.last(column) == pytest.approx(rest.last(column), abs=0.01)
    assert abs(rest.last("v at 1")) > 0.02, "a flow that turns"


def write_grid(
    path: Path, cells: tuple[int, int], low: np.ndarray, high: np.ndarray, blank: np.ndarray
) -> None:
    x, y = np.meshgrid(
        *(np.linspace(a, b, n + 1) for a, b, n in zip(low, high, cells, strict=True)), indexing="ij"
    )
    numbers = [f"{v:.17g}" for of in (x, y) for v in of.ravel(order="F")]
    path.write_text(
        "\n".join(["1", f"{x.shape[0]} {x.shape[1]}", *numbers, *map(str, blank.ravel(order="F"))]) + "\n"
    )


def check(front: str, folder: Path, blank: np.ndarray) -> tuple[int, str, dict[str, Any]]:
    write_grid(folder / "box.p3d", BOX, np.array([-4.0, 0.0]), np.array([4.0, 4.0]), blank)
    write_grid(folder / "fine.p3d", FINE, WITHIN_LOW, WITHIN_HIGH, np.ones((33, 21), int))
    out = folder / "check"
    line = [front, "overset", "check", f"box={folder}/box.p3d", f"fine={folder}/fine.p3d", "--out", str(out)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120)
    found = json.loads((out / "check.json").read_text()) if (out / "check.json").exists() else {}
    return done.returncode, done.stdout + done.stderr, found


def test_iblank_of_files_makes_holes_at_once(front: str, tmp_path: Path) -> None:
    blank = np.ones((33, 17), int)
    blank[15:18, 6:8] = 0  # within the fine mesh
    status, said, found = check(front, tmp_path, blank)
    assert status == 0, said
    assert found["zones"][0]["holes"] == 4 * 3, "all cells that touch these nodes"
    assert found["zones"][0]["receptors"] > 0
    blank[30, 10] = 0  # where nothing else is: around it no cell can be a receptor
    status, said, found = check(front, tmp_path, blank)
    assert status == 1 and "the first orphan of zone 1 (box) is cell (" in said
    blank[30, 10] = 7
    status, said, _ = check(front, tmp_path, blank)
    assert status != 0 and "iblank of node (31, 11, 1) of zone 1 means nothing" in said
