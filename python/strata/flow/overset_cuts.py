"""Cells of three-dimensional meshes as a plane cuts them: polygons in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strata.flow.overset_cells import Patch

AXES = "xyz"


@dataclass(frozen=True)
class Plane:
    """All places whose coordinate along an axis is this."""

    axis: int
    place: float

    @property
    def across(self) -> tuple[int, int]:
        """The plane's own axes: to the right and upwards."""
        return ((1, 2), (0, 2), (0, 1))[self.axis]

    @property
    def name(self) -> str:
        return f"{AXES[self.axis]} = {self.place:.4g}"


def planes(patches: Sequence[Patch], found: dict[str, Any]) -> list[Plane]:
    """Through the middle of the first mesh whose walls cut others (else of the mesh that takes the least
    room): first across its longest way, which shows the sections of a wing or a blade, then the others.
    """
    boxes = _boxes(patches, found)
    walls = found.get("cutting") or []
    mesh = walls[0] if walls else min(boxes, key=lambda m: float(np.prod(boxes[m][1] - boxes[m][0])))
    low, high = boxes[mesh]
    # Of equal ways the last one counts: bodies lie along z more often than not.
    longest = 2 - int(np.argmax((high - low)[::-1].round(9)))
    order = [longest, *(axis for axis in range(3) if axis != longest)]
    return [Plane(axis, _aside(patches, axis, 0.5 * float(low[axis] + high[axis]))) for axis in order]


def _boxes(
    patches: Sequence[Patch], found: dict[str, Any]
) -> dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    boxes: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    for patch in patches:
        mesh = found["zones"][patch.zone]["mesh"]
        low, high = patch.nodes.min(axis=(1, 2, 3)), patch.nodes.max(axis=(1, 2, 3))
        if mesh in boxes:
            low, high = np.minimum(low, boxes[mesh][0]), np.maximum(high, boxes[mesh][1])
        boxes[mesh] = low, high
    return boxes


def _aside(patches: Sequence[Patch], axis: int, place: float) -> float:
    """A place that is no layer of nodes, where a plane would show cells on one side alone."""
    extent = max(float(np.ptp(patch.nodes[axis])) for patch in patches)
    near = min(float(np.abs(patch.nodes[axis] - place).min()) for patch in patches)
    return place if near > 1e-9 * extent else place + 1e-6 * extent


# Corners of a cell by (i, j, k), i fastest, and its edges.
_CORNERS = [(n & 1, n >> 1 & 1, n >> 2) for n in range(8)]
_EDGES = np.array([(a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit])


def cut(patch: Patch, plane: Plane) -> tuple[list[NDArray[np.float64]], NDArray[np.int32]]:
    """Polygons (corners, 2) of the patch's cells in the plane, and the status of each."""
    above = patch.nodes[plane.axis] >= plane.place
    count = sum(_corner(above, c).astype(np.int8) for c in _CORNERS)
    cells = np.argwhere((count > 0) & (count < 8))
    if not len(cells):
        return [], np.empty(0, np.int32)
    k, j, i = cells.T
    corners = np.stack([patch.nodes[:, k + c, j + b, i + a] for a, b, c in _CORNERS], axis=-1)  # (3, n, 8)
    height = corners[plane.axis] - plane.place
    start, end = height[:, _EDGES[:, 0]], height[:, _EDGES[:, 1]]
    crossed = (start >= 0) != (end >= 0)
    share = np.where(crossed, start / np.where(crossed, start - end, 1.0), 0.0)
    right, up = plane.across
    points = np.stack(
        [
            corners[axis][:, _EDGES[:, 0]]
            + share * (corners[axis][:, _EDGES[:, 1]] - corners[axis][:, _EDGES[:, 0]])
            for axis in (right, up)
        ],
        axis=-1,
    )  # (n, edges, 2)
    weight = crossed[..., None] / crossed.sum(axis=1)[:, None, None]
    middle = (points * weight).sum(axis=1)
    away = points - middle[:, None]
    # In the order in which one meets them around the middle.
    angle = np.where(crossed, np.arctan2(away[..., 1], away[..., 0]), np.inf)
    order = np.argsort(angle, axis=1, kind="stable")
    points = np.take_along_axis(points, order[..., None], axis=1)
    polygons = [row[:number] for row, number in zip(points, crossed.sum(axis=1), strict=True)]
    return polygons, patch.status[k, j, i]


def _corner(values: NDArray[Any], at: tuple[int, int, int]) -> NDArray[Any]:
    a, b, c = at
    nk, nj, ni = (n - 1 for n in values.shape)
    return values[c : c + nk, b : b + nj, a : a + ni]
