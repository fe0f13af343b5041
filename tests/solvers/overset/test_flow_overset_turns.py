"""Meshes that overlap where flow is periodic by rotation: a sector, a mesh across its join, and the whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flow_cases import Done, run_flow, swirl, write_plot3d
from solver_cases import solver_program

from strata.run.case import Case

SECTORS = 4
PROBES = {
    # In a box; in what it covers beyond the join of the sector; far from it.
    "still": [0.51, 1.26, 0.02, 0.51, 1.26, -0.1, 0.51, 0.9, 0.92],
    # In a box; where it comes to; far from it.
    "moving": [0.51, 1.2, 0.15, 0.51, 1.1, 0.6, 0.51, 0.4, 1.2],
}
ANNULUS, BOX = (10, 9, 10), (10, 10, 10)  # cells along the axis, out, around


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


def places(cells: tuple[int, ...], low: list[float], high: list[float], sector: int) -> np.ndarray:
    """x, y, z at nodes, between these values of x, the radius and the angle in sectors."""
    s, t, a = np.meshgrid(
        *(np.linspace(x, y, n + 1) for x, y, n in zip(low, high, cells, strict=True)), indexing="ij"
    )
    r = t + 0.03 * np.sin(np.pi * s) ** 2 * (1.5 - t)
    angle = 2 * np.pi / SECTORS * (sector + a)
    return np.stack([s, r * np.cos(angle), r * np.sin(angle)])


def turning(rate: float) -> dict[str, Any]:
    """The motion of a mesh, about the axis."""
    return {"motion": {"kind": "rotation", "rate": rate, "axis": [1.0, 0.0, 0.0]}}


def run(folder: Path, sectors: int, iterations: int, layout: str = "1x2", moves: bool = False) -> Done:
    """On so many of the sectors, each with a box across its lower join. `moves`: so many time steps, in which
    sectors turn slowly, and boxes faster."""
    folder.mkdir()
    annulus = [places(ANNULUS, [0.0, 1.0, 0.0], [1.0, 1.5, 1.0], n) for n in range(sectors)]
    boxes = [places(BOX, [0.25, 1.12, -0.27], [0.75, 1.4, 0.26], n) for n in range(sectors)]
    write_plot3d(folder / "annulus.p3d", annulus)
    for n, box in enumerate(boxes):
        write_plot3d(folder / f"box{n}.p3d", [box])
    write_plot3d(folder / "start.q", [swirl(x, 0.3) for x in annulus + boxes], "0.3 0 1e4 0")
    turn = {"turn": 360.0 / SECTORS} if sectors < SECTORS else {}
    sector, box = (turning(0.1), turning(0.9)) if moves else ({}, {})
    time: dict[str, Any] = {"iterations": iterations, "cfl": 5.0}
    if moves:
        time = {"kind": "unsteady", "step": 0.06, "end": 0.06 * iterations}
        time |= {"cfl": 20.0, "cfl_start": 20.0, "subiterations": 6, "drop": 0.0}
    faces = ("i-min", "i-max", "j-min", "j-max", "k-min", "k-max")
    kinds = ("far-field", "pressure-outflow", "slip-wall", "slip-wall")
    case: Case = {
        "solver": "flow",
        "mesh": {
            "annulus": {
                "kind": "file",
                "file": str(folder / "annulus.p3d"),
                "patch": [5, 9, 4],
                "cuts": False,
            }
            | turn
            | sector,
            **{
                f"box{n}": {"kind": "file", "file": str(folder / f"box{n}.p3d"), "patch": [10, 5, 4]} | box
                for n in range(sectors)
            },
        },
        "flow": {"mach": 0.3, "start": str(folder / "start.q")},
        "time": time,
        "output": {"probes": PROBES["moving" if moves else "still"]},
        "boundary": {
            **{
                f"annulus-{n + 1}:{face}": {"kind": kind}
                for n in range(sectors)
                for face, kind in zip(faces, kinds, strict=False)
            },
            **{f"box{n}-1:{face}": {"kind": "overset"} for n in range(sectors) for face in faces},
        },
    }
    return run_flow(case, folder / "run", layout, "--series", "1", "--bind", "none")


def test_a_sector_with_a_mesh_across_its_join_is_the_whole(tmp_path: Path) -> None:
    """Which cells are computed, what receptors get on both sides of the join, and velocities turned back."""
    whole = run(tmp_path / "whole", SECTORS, 12)
    sector = run(tmp_path / "sector", 1, 12)
    for name in ("residual", "residual momentum", "residual energy"):
        assert sector.series[name] == pytest.approx(whole.series[name], rel=1e-8)
    for column in ("rho", "u", "v", "w", "p"):
        for point in (1, 2, 3):
            name = f"{column} at {point}"
            assert sector.series[name] == pytest.approx(whole.series[name], rel=1e-9, abs=1e-10)
    assert np.ptp(whole.series["w at 2"]) > 1e-4, "a flow that moves"


def test_a_sector_that_turns_is_the_whole_that_turns(tmp_path: Path) -> None:
    """Partners across joins, donors in other sectors in each step, cells that come out from under a box."""
    whole = run(tmp_path / "whole", SECTORS, 6, moves=True)
    sector = run(tmp_path / "sector", 1, 6, moves=True)
    for name in ("residual", "residual momentum", "residual energy"):
        assert sector.series[name] == pytest.approx(whole.series[name], rel=1e-7)
    for column in ("rho", "u", "v", "w", "p"):
        for point in (1, 2, 3):
            name = f"{column} at {point}"
            assert sector.series[name] == pytest.approx(whole.series[name], rel=1e-8, abs=1e-9)
    assert np.ptp(whole.series["w at 2"]) > 1e-4, "a flow that moves"


@pytest.mark.parametrize("moves", [False, True])
def test_it_has_the_same_bits_on_every_layout(tmp_path: Path, moves: bool) -> None:
    texts = [
        (run(tmp_path / layout, 1, 4, layout, moves).folder / "series.csv").read_text()
        for layout in (("1x1", "2x1", "1x2") if moves else ("1x1", "2x1", "4x1"))
    ]
    assert len(texts[0].splitlines()) == 5 and len(set(texts)) == 1
