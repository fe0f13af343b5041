"""Flows whose answers are known, as cases, and runs of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from strata.errors import StrataError
from strata.flow import surface
from strata.flow.surface import Surface
from strata.run import series
from strata.run.case import Case, run_case
from strata.run.series import Series

FLOW = Path(__file__).resolve().parent / "flow"
PLATE_X = 0.970084071  # where NASA compares Cf


def grid_of_nasa(name: str) -> dict[str, Any]:
    return {
        "kind": "file",
        "file": str(FLOW / f"{name}.p2dfmt.xz"),
        "map": str(FLOW / f"{name}.nmf"),
        "dimensions": 2,
    }


def plate(points: str, **time: Any) -> Case:
    """NASA's plate: M = 0.2, Re = 5e6, 540 R."""
    levels = {"35x25": 4, "69x49": 3, "137x97": 2}[points]
    return {
        "solver": "flow",
        "grid": grid_of_nasa(f"flatplate_clust2_{levels}levelsdown_{points}"),
        "flow": {"equations": "rans", "mach": 0.2, "reynolds": 5e6, "temperature": 300.0, "nu_tilde": 3.0},
        "time": time,
        "reference": {"area": 2.0},
        "boundary": {
            "subsonic_inflow_pt": {
                "kind": "total-inflow",
                "total_pressure": 1.02828,
                "total_temperature": 1.008,
            },
            "back_pressure": {"kind": "pressure-outflow", "pressure": 1.0},
            "symmetry_z_strong": {"kind": "symmetry"},
            "viscous_solid": {"kind": "wall"},
            "farfield_riem": {"kind": "far-field"},
        },
    }


def airfoil(points: str, **time: Any) -> Case:
    """NASA's NACA 0012 at 10 degrees: M = 0.15, Re = 6e6, 540 R; the scheme of the recorded runs of CFL3D."""
    return {
        "solver": "flow",
        "grid": grid_of_nasa(f"n0012_{points.replace('x', '-')}"),
        "flow": {
            "equations": "rans",
            "mach": 0.15,
            "reynolds": 6e6,
            "alpha": 10.0,
            "temperature": 300.0,
            "nu_tilde": 3.0,
        },
        "time": time,
        "boundary": {"viscous_solid": {"kind": "wall"}, "farfield_riem": {"kind": "far-field"}},
    }


SECTION_MACH = 0.3
SECTION_SIZES = {"coarse": ([64, 12, 24], [56, 48]), "fine": ([128, 24, 48], [112, 96])}


def section(
    size: str, overlaps: bool, motion: dict[str, Any], grid: dict[str, Any] | None = None, **more: Any
) -> Case:
    """NACA 0012 without friction: in a C-grid of 30 chords; or in a smaller one that moves over a background
    at rest. `motion`: of the airfoil; `grid`: keys of its grid."""
    cells, around = SECTION_SIZES[size]
    made: dict[str, Any] = {"kind": "airfoil", "cells": cells, "first": 4e-3, "first_along": 5e-3}
    made |= grid or {}
    case: Case = {
        "solver": "flow",
        "flow": {"mach": SECTION_MACH},
        "reference": {"moment_centre": [0.25, 0.0]},
        "boundary": {},
    }
    if overlaps:
        near = made | {"farfield": 3.0, "cells": [*made["cells"][:2], made["cells"][2] * 3 // 4]}
        case["mesh"] = {
            "airfoil": near | ({"motion": motion} if motion else {}),
            "background": {"kind": "brick", "cells": [around[0], around[1]], "stretch": 4.0}
            | {"low": [-30.0, -30.0], "high": [31.0, 30.0]},
        }
        case["boundary"] = {
            f"background-{face}": {"kind": "far-field"} for face in ("x-min", "x-max", "y-min", "y-max")
        } | {f"airfoil-{face}": {"kind": "overset"} for face in ("farfield", "outflow")}
        case["boundary"]["airfoil-wall"] = {"kind": "slip-wall"}
    else:
        case["grid"] = made | {"farfield": 30.0} | ({"motion": motion} if motion else {})
        case["boundary"] = {"farfield": {"kind": "far-field"}, "outflow": {"kind": "far-field"}}
        case["boundary"]["wall"] = {"kind": "slip-wall"}
    return case | more


@dataclass
class Done:
    """A run that is over."""

    folder: Path

    @cached_property
    def series(self) -> Series:
        return series.read(self.folder)

    @cached_property
    def walls(self) -> Surface:
        return surface.newest(self.folder)

    def last(self, name: str) -> float:
        return float(self.series[name][-1])

    def settled(self, name: str) -> float:
        """How much a number has moved over the last tenth of the rows, as a share of it."""
        values = self.series[name]
        return float(np.ptp(values[-len(values) // 10 :]) / abs(values[-1]))


def write_plot3d(path: Path, zones: list[np.ndarray], conditions: str = "") -> None:
    """Arrays [component, i, j(, k)] as formatted PLOT3D; with `conditions` (Mach, alpha, Re, time) as Q."""
    lines = [str(len(zones)), *(" ".join(map(str, zone.shape[1:])) for zone in zones)]
    for zone in zones:
        if conditions:
            lines.append(conditions)
        lines += [f"{v:.17g}" for component in zone for v in component.ravel(order="F")]
    path.write_text("\n".join(lines) + "\n")


def swirl(x: np.ndarray, mach: float) -> np.ndarray:
    """A swirl that is not the same all around, but in each quarter: density, momentum, energy."""
    r, angle = np.hypot(x[1], x[2]), np.arctan2(x[2], x[1])
    u_x, u_r = mach * (1 + 0.1 * np.cos(4 * angle)), 0.02 * np.sin(4 * angle)
    u_a = 0.1 / r
    rho = 1 + 0.05 * np.sin(4 * angle)
    u = np.stack([u_x, u_r * np.cos(angle) - u_a * np.sin(angle), u_r * np.sin(angle) + u_a * np.cos(angle)])
    p = 1 / 1.4 - 0.5 * 0.01 / r**2
    return np.stack([rho, *(rho * u), p / 0.4 + 0.5 * rho * (u**2).sum(0)])


def at_end(folder: Path) -> dict[str, np.ndarray]:
    """The values of the last checkpoint of a run of one patch, by the name of the label."""
    checkpoint = max(folder.glob("checkpoint-*"))
    names = [label["name"] for label in json.loads((checkpoint / "checkpoint.json").read_text())["labels"]]
    found: dict[str, np.ndarray] = {}
    for index in checkpoint.glob("part-*.index"):
        data = index.with_suffix(".data").read_bytes()
        for chunk in map(json.loads, index.read_text().splitlines()):
            if "label" in chunk and chunk["generation"] == 0 and chunk["bytes"] % 8 == 0:
                values = np.frombuffer(data, np.float64, chunk["bytes"] // 8, chunk["offset"])
                found[names[chunk["label"]]] = values
    return found


def wake_length(folder: Path, around: int, out: int) -> float:
    """Of the eddies behind a cylinder of diameter 1 at the origin, from its rear point: where u along the
    wake's middle changes its sign. From the checkpoint of an O-grid in one patch, joined with itself there.
    """
    found = at_end(folder)
    # Nodes of both ends of the plane's one cell across; the state has two layers beyond wall and far field.
    x = found["x"].reshape(2, -1, out + 1, around + 1)[0, 0]
    q = found["q"].reshape(4, -1, around)
    beyond = (q.shape[1] - out) // 2
    q = q[:, beyond : beyond + out]
    u = 0.5 * (q[1, :, 0] / q[0, :, 0] + q[1, :, -1] / q[0, :, -1])
    at = 0.25 * (x[:-1, 0] + x[1:, 0] + x[:-1, 1] + x[1:, 1])
    turns = np.flatnonzero((u[:-1] < 0) & (u[1:] >= 0))
    assert len(turns) == 1, "one place where the flow turns"
    n = int(turns[0])
    return float(at[n] - u[n] * (at[n + 1] - at[n]) / (u[n + 1] - u[n]) - 0.5)


def run_flow(case: Case, folder: Path, layout: str = "1x2", *options: str) -> Done:
    try:
        run_case(case, folder, layout, options, check=False)  # what counts is compared by the test
    except StrataError as error:
        if "without liblzma" in (error.given or ""):
            pytest.skip("built without liblzma")
        raise
    return Done(folder)


def cfl3d(name: str) -> dict[str, Any]:
    """What CFL3D found (tests/solvers/flow/cfl3d)."""
    return json.loads((FLOW / "cfl3d" / f"{name}.json").read_text())


def records(path: Path) -> list[bytes]:
    """Of a file that Fortran wrote."""
    data, found, at = path.read_bytes(), [], 0
    while at < len(data):
        length = int(np.frombuffer(data, np.int32, 1, at)[0])
        found.append(data[at + 4 : at + 4 + length])
        at += length + 8
    return found
