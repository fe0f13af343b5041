"""One flow on one zone and on eight: the forces are the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from flow_cases import Done, run_flow, write_plot3d
from solver_cases import solver_program

AROUND, OUT = 48, 32


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


def o_grid() -> np.ndarray:
    """Nodes [x y, i, j] around a cylinder of diameter 1, clockwise from behind, out to 20 diameters."""
    growth = 1.15 ** np.arange(OUT + 1)
    r = 0.5 + 19.5 * (growth - 1) / (growth[-1] - 1)
    angle = -2 * np.pi * (np.arange(AROUND + 1) % AROUND) / AROUND
    return np.stack([np.outer(np.cos(angle), r), np.outer(np.sin(angle), r)])


# How the axes of a zone lie: nodes, and which faces are then the inner and the outer one.
TURNS = (
    (lambda x: x, "j-min", "j-max"),
    (lambda x: x.transpose(0, 2, 1)[:, :, ::-1], "i-min", "i-max"),
    (lambda x: x[:, ::-1, ::-1], "j-max", "j-min"),
    (lambda x: x.transpose(0, 2, 1)[:, ::-1, :], "i-max", "i-min"),
)


def cylinder(folder: Path, parts: tuple[int, int], cut: list[int] | None = None) -> Done:
    folder.mkdir()
    x, zones, boundary = o_grid(), [], {}
    wide, deep = AROUND // parts[0], OUT // parts[1]
    for n in range(parts[0] * parts[1]):
        i, j = n % parts[0], n // parts[0]
        turn, inner, outer = TURNS[n % 4 if n < 4 else (n + 1) % 4]
        zones.append(turn(x[:, wide * i : wide * (i + 1) + 1, deep * j : deep * (j + 1) + 1]))
        if j == 0:
            boundary[f"{n + 1}:{inner}"] = {"kind": "wall"}
        if j == parts[1] - 1:
            boundary[f"{n + 1}:{outer}"] = {"kind": "far-field"}
    write_plot3d(folder / "grid.p3d", zones)
    grid = {"kind": "file", "file": str(folder / "grid.p3d"), "patch": [16, 16], "zone": cut or []}
    case = {
        "solver": "flow",
        "grid": grid,
        "flow": {"equations": "laminar", "mach": 0.2, "reynolds": 40.0, "alpha": 5.0},
        "time": {"iterations": 8000, "residual": 1e-11, "cfl": 10.0, "ramp": 50, "implicit": "lu-sgs"},
        "boundary": boundary,
    }
    return run_flow(case, folder / "run", "1x2")


def test_eight_zones_with_turned_axes_have_the_forces_of_one(tmp_path: Path) -> None:
    """Joined point by point, each face in the middle of the flow: nothing of a zone's end is left but the
    order in which iterations go. Forces are the same but for what is not converged.
    """
    one, eight = cylinder(tmp_path / "one", (1, 1)), cylinder(tmp_path / "eight", (4, 2))
    assert one.last("residual") < 1e-10 and eight.last("residual") < 1e-10
    print("drag", one.last("drag"), eight.last("drag"), "steps", len(one.series["drag"]))
    assert eight.last("drag") == pytest.approx(one.last("drag"), rel=1e-8)
    assert eight.last("lift") == pytest.approx(one.last("lift"), abs=1e-9)
    assert 1.4 < one.last("drag") < 1.8
    # Faces of walls in another order, each with the pressure that it has on one zone
    cp = [np.sort(done.walls["cp"]) for done in (one, eight)]
    assert cp[1] == pytest.approx(cp[0], abs=1e-6)
    # One zone that the case has cut; iterations are others, so it has been.
    shorter = cylinder(tmp_path / "shorter", (1, 1), [12, 16])
    assert shorter.last("drag") == pytest.approx(one.last("drag"), rel=1e-8)
    assert len(shorter.series["drag"]) != len(one.series["drag"])
