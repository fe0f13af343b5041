"""Meshes in three dimensions as planes cut them, for the pictures of `strata overset check`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from strata.flow import overset_figures
from strata.flow.overset_cells import COMPUTED, RECEPTOR, Patch
from strata.flow.overset_cuts import Plane, cut, planes


def brick(zone: int, low: list[float], high: list[float], cells: list[int], status: int = COMPUTED) -> Patch:
    """A wavy box: its inner nodes lie off the lines of a grid."""
    lines = [np.linspace(a, b, n + 1) for a, b, n in zip(low, high, cells, strict=True)]
    z, y, x = np.meshgrid(*reversed(lines), indexing="ij")
    wave = 0.02 * np.prod(
        [np.sin(np.pi * (v - a) / (b - a)) for v, a, b in zip((x, y, z), low, high, strict=True)], axis=0
    )
    nodes = np.stack([x + wave, y - wave, z + wave])
    return Patch(zone, (0, 0, 0), np.full(tuple(reversed(cells)), status, np.int32), nodes)


def area(polygon: np.ndarray) -> float:
    x, y = polygon.T
    return 0.5 * abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_plane_cuts_a_wavy_box_wholly(axis: int) -> None:
    box = brick(0, [0, 0, 0], [1, 2, 3], [5, 6, 7])
    polygons, status = cut(box, Plane(axis, 0.41))
    assert len(polygons) == len(status) and (status == COMPUTED).all()
    assert sum(area(p) for p in polygons) == pytest.approx([6, 3, 2][axis], rel=1e-3)
    assert cut(box, Plane(axis, -0.1))[0] == []


def found(cutting: list[int]) -> dict[str, Any]:
    return {
        "dimensions": 3,
        "meshes": ["blade", "box"],
        "cutting": cutting,
        "zones": [{"mesh": 0, "cells": [8, 4, 4]}, {"mesh": 1, "cells": [6, 6, 6]}],
    }


def test_the_first_plane_shows_the_sections_of_the_mesh_with_walls() -> None:
    blade, box = (
        brick(0, [1, -0.5, -0.4], [5, 0.5, 0.4], [8, 4, 4], RECEPTOR),
        brick(1, [-6, -6, -6], [6, 6, 6], [6, 6, 6]),
    )
    first, *others = planes([blade, box], found([0]))
    assert first.axis == 0 and first.place == pytest.approx(3, abs=1e-4)  # aside of nodes at 3
    assert first.place != 3 and first.across == (1, 2)
    assert [plane.axis for plane in others] == [1, 2]
    assert planes([blade, box], found([1]))[0].axis == 2  # a cube
    assert planes([blade, box], found([]))[0].axis == 0  # the smaller mesh

    drawn = {key: (title, svg) for key, title, svg in overset_figures.pictures([blade, box], found([0]))}
    assert list(drawn) == ["mesh-0", "mesh-1", "meshes", "meshes-y", "meshes-z"]
    assert drawn["mesh-0"][0] == "blade: where meshes meet, x = 3"
    assert ">y<" in drawn["meshes"][1] and ">z<" in drawn["meshes"][1] and ">x<" not in drawn["meshes"][1]
