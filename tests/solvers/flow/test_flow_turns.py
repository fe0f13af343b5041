"""Compressible flow that is periodic by rotation: a sector stands for the whole annulus."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from flow_cases import Done, run_flow, swirl, write_plot3d
from solver_cases import solver_program

from strata.run.case import Case

CELLS = (10, 6, 6)  # along the axis, out, around a sector


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


def nodes(sector: int, sectors: int) -> np.ndarray:
    """x, y, z at nodes, of a duct between a hub with a hump and a casing."""
    s, t, a = np.meshgrid(*(np.linspace(0, 1, n + 1) for n in CELLS), indexing="ij")
    hub = 1 + 0.05 * np.sin(np.pi * s) ** 2
    r = hub + (1.5 - hub) * (t + 0.3 * t * (t - 1))
    angle = 2 * np.pi / sectors * (sector + a)
    return np.stack([s, r * np.cos(angle), r * np.sin(angle)])


def write(folder: Path, sectors: list[int], of: int, mach: float) -> None:
    zones = [nodes(n, of) for n in sectors]
    write_plot3d(folder / "grid.p3d", zones)
    write_plot3d(folder / "start.q", [swirl(x, mach) for x in zones], f"{mach} 0 1e4 0")


def annulus(
    folder: Path,
    zones: int,
    sectors: int,
    iterations: int,
    layout: str = "1x2",
    alpha: float = 0.0,
    **grid: object,
) -> Done:
    folder.mkdir()
    mach = 0.3
    write(folder, list(range(zones)), sectors, mach)
    case: Case = {
        "solver": "flow",
        "grid": {"kind": "file", "file": str(folder / "grid.p3d"), "patch": [5, 6, 4], **grid},
        "flow": {
            "equations": "rans",
            "mach": mach,
            "reynolds": 1e4,
            "start": str(folder / "start.q"),
            "alpha": alpha,
        },
        "time": {"iterations": iterations, "cfl": 5.0, "implicit": "lines"},
        "output": {"probes": [0.45, 1.2, 0.02, 0.65, 0.03, 1.25]},
        "boundary": {
            f"{zone + 1}:{face}": {"kind": kind}
            for zone in range(zones)
            for face, kind in (
                ("i-min", "far-field"),
                ("i-max", "pressure-outflow"),
                ("j-min", "wall"),
                ("j-max", "wall"),
            )
        },
    }
    return run_flow(case, folder / "run", layout, "--series", "1", "--bind", "none")


def test_a_sector_of_a_quarter_is_the_whole_annulus(tmp_path: Path) -> None:
    """Places, velocities, gradients and the change of each iteration: but for rounding."""
    whole = annulus(tmp_path / "whole", 4, 4, 20)
    sector = annulus(tmp_path / "sector", 1, 4, 20, turn=90.0)
    for name in ("residual", "residual momentum", "residual energy", "residual nu"):
        assert sector.series[name] == pytest.approx(whole.series[name], rel=1e-8)
    for name in ("u at 1", "v at 1", "w at 1", "p at 1", "u at 2", "v at 2", "w at 2", "rho at 2"):
        assert sector.series[name] == pytest.approx(whole.series[name], rel=1e-9, abs=1e-11)
    assert 4 * sector.last("drag") == pytest.approx(whole.last("drag"), rel=1e-8)
    assert sector.series["residual"][0] > 0.02, "a flow that moves"


def test_two_sectors_that_turn_back_are_as_one(tmp_path: Path) -> None:
    """The other way round, and with a zone between: 45 degrees make no quarter of this flow, 180 do."""
    one = annulus(tmp_path / "one", 1, 4, 10, turn=-90.0)
    two = annulus(tmp_path / "two", 2, 4, 10, turn=180.0)
    assert two.series["residual"] == pytest.approx(one.series["residual"], rel=1e-8)
    assert 2 * one.last("drag") == pytest.approx(two.last("drag"), rel=1e-8)


def test_a_sector_has_the_same_bits_on_every_layout(tmp_path: Path) -> None:
    texts = [
        (annulus(tmp_path / layout, 1, 4, 4, layout, turn=90.0).folder / "series.csv").read_text()
        for layout in ("1x1", "2x1", "1x2", "4x1")
    ]
    assert len(texts[0].splitlines()) == 5 and len(set(texts)) == 1


def test_a_turn_that_fits_no_face_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"grid\.turn"):
        annulus(tmp_path / "wrong", 1, 4, 1, turn=60.0)


def test_a_far_field_across_the_axis_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"(?s)across the axis of grid.turn.*flow\.alpha"):
        annulus(tmp_path / "across", 1, 4, 1, turn=90.0, alpha=3.0)


def turning(folder: Path, frame: bool, steps: int) -> np.ndarray:
    """Density, velocity and pressure at t = 0.6 at a place of a quarter of the annulus that turns, without
    friction: in a frame that turns with it, or on a grid that moves."""
    folder.mkdir()
    write(folder, [0], 4, 0.3)
    end, rate, at = 0.6, 0.4, 0.3
    turned = 0.0 if frame else rate * end
    case: Case = {
        "solver": "flow",
        "grid": {"kind": "file", "file": str(folder / "grid.p3d"), "turn": 90.0},
        "flow": {"mach": 0.3, "start": str(folder / "start.q")},
        "time": {"kind": "unsteady", "step": end / steps, "end": end - 1e-9, "cfl": 50.0, "cfl_start": 50.0}
        | {"subiterations": 60, "drop": 1e-6},
        "output": {"probes": [0.45, 1.2 * np.cos(at + turned), 1.2 * np.sin(at + turned)]},
        "boundary": {
            "1:i-min": {"kind": "far-field"},
            "1:i-max": {"kind": "pressure-outflow"},
            "1:j-min": {"kind": "slip-wall"},
            "1:j-max": {"kind": "slip-wall"},
        },
    }
    if frame:
        case["frame"] = {"rotation_rate": rate, "axis": "x"}
    else:
        case["grid"]["motion"] = {"kind": "rotation", "rate": rate, "axis": [1.0, 0.0, 0.0]}
    done = run_flow(case, folder / "run", "1x2", "--series", "1", "--bind", "none")
    rho, u, v, w, p = (done.last(f"{name} at 1") for name in ("rho", "u", "v", "w", "p"))
    c, s = np.cos(turned), np.sin(turned)
    return np.array([rho, u, c * v + s * w, c * w - s * v, p])


def test_a_sector_that_turns_has_the_flow_of_a_frame_that_turns_with_it(tmp_path: Path) -> None:
    """Both see the same faces move; what differs is how time steps follow what turns, of second order."""
    off = []
    for steps in (16, 32):
        grid, frame = (turning(tmp_path / f"{steps}{frame}", frame, steps) for frame in (False, True))
        off.append(abs(grid - frame).max())
    assert off[0] < 1e-4
    assert off[0] / off[1] > 3.4, off
