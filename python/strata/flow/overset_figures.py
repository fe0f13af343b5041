"""Pictures of meshes that overlap: each cell by what it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strata.flow.overset_cells import COMPUTED, ORPHAN, RECEPTOR, Patch
from strata.flow.overset_cuts import AXES, Plane, cut, planes
from strata.report.figures.theme import INK, LINE, SERIES, canvas, finish

_COLOURS = {COMPUTED: SERIES[0], RECEPTOR: SERIES[1], ORPHAN: SERIES[4]}
_NAMES = {COMPUTED: "computed", RECEPTOR: "receptors", ORPHAN: "orphans"}
_DRAWN = 40_000  # cells of a kind in a picture

_Box = tuple[float, float, float, float]  # left, right, low, high


@dataclass(frozen=True)
class _Flat:
    """Cells of a patch in the plane of a picture: their corners and status."""

    mesh: int
    polygons: Sequence[NDArray[np.float64]]
    status: NDArray[np.int32]

    def middles(self) -> NDArray[np.float64]:
        return np.array([polygon.mean(axis=0) for polygon in self.polygons]).reshape(-1, 2)


def pictures(patches: Sequence[Patch], found: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Key, title and SVG: each mesh where they meet, then the computed cells of all. In three dimensions as
    one plane cuts all of them; two further planes across it show the computed cells of all.
    """
    if found["dimensions"] == 2:
        flat = [_whole(patch, found) for patch in patches]
        yield from _each_and_all(flat, found, "", ("x", "y"))
        return
    first, *others = planes(patches, found)
    yield from _each_and_all(_cut(patches, first, found), found, f", {first.name}", _axes(first))
    for plane in others:
        flat = _cut(patches, plane, found)
        key = f"meshes-{AXES[plane.axis]}"
        title = f"Computed cells of all meshes, {plane.name}"
        yield key, title, _picture(key, flat, _where_they_meet(flat), _axes(plane), computed_only=True)


def _axes(plane: Plane) -> tuple[str, str]:
    right, up = plane.across
    return AXES[right], AXES[up]


def _each_and_all(
    flat: Sequence[_Flat], found: dict[str, Any], where: str, axes: tuple[str, str]
) -> Iterator[tuple[str, str, str]]:
    box = _where_they_meet(flat)
    for number, name in enumerate(found["meshes"]):
        these = [one for one in flat if one.mesh == number]
        key = f"mesh-{number}"
        yield key, f"{name}: where meshes meet{where}", _picture(key, these, box, axes)
    yield (
        "meshes",
        f"Computed cells of all meshes{where}",
        _picture("meshes", flat, box, axes, computed_only=True),
    )


def _whole(patch: Patch, found: dict[str, Any]) -> _Flat:
    place = patch.nodes[:, 0]
    corners = np.stack(
        [place[:, :-1, :-1], place[:, :-1, 1:], place[:, 1:, 1:], place[:, 1:, :-1]], axis=-1
    )  # (2, nj, ni, 4)
    cells = list(corners.transpose(1, 2, 3, 0).reshape(-1, 4, 2))
    return _Flat(found["zones"][patch.zone]["mesh"], cells, patch.status.reshape(-1))


def _cut(patches: Sequence[Patch], plane: Plane, found: dict[str, Any]) -> list[_Flat]:
    return [_Flat(found["zones"][patch.zone]["mesh"], *cut(patch, plane)) for patch in patches]


def _where_they_meet(flat: Sequence[_Flat]) -> _Box:
    """The box around receptors and orphans, and a little more; around all cells where there are none."""
    places = [
        polygon
        for one in flat
        for polygon, kind in zip(one.polygons, one.status, strict=True)
        if kind in (RECEPTOR, ORPHAN)
    ] or [polygon for one in flat for polygon in one.polygons]
    all_places = np.concatenate(places)
    low, high = all_places.min(axis=0), all_places.max(axis=0)
    more = 0.08 * float((high - low).max())
    return float(low[0]) - more, float(high[0]) + more, float(low[1]) - more, float(high[1]) + more


def _picture(
    key: str, flat: Sequence[_Flat], box: _Box, axes_names: tuple[str, str], computed_only: bool = False
) -> str:
    from matplotlib.collections import PolyCollection

    left, right, low, high = box
    height = min(9.0, max(3.0, 7.4 * (high - low) / (right - left) + 0.6))
    with canvas(7.4, height) as (figure, axes):
        axes.grid(False)
        names: dict[str, str] = {}
        for turn, one in enumerate(flat):
            middle = one.middles()
            seen = (
                (middle[:, 0] > left) & (middle[:, 0] < right) & (middle[:, 1] > low) & (middle[:, 1] < high)
            )
            for kind, colour in _COLOURS.items():
                if computed_only and kind != COMPUTED:
                    continue
                chosen = [one.polygons[n] for n in np.flatnonzero(seen & (one.status == kind))[:_DRAWN]]
                if not chosen:
                    continue
                shade = SERIES[one.mesh % len(SERIES)] if computed_only else colour
                axes.add_collection(
                    PolyCollection(
                        chosen,
                        facecolors=shade,
                        edgecolors=LINE if not computed_only else INK,
                        linewidths=0.25,
                        alpha=0.45 if computed_only else 0.8,
                        zorder=2 + turn * 1e-3,
                    )
                )
                if not computed_only:
                    names[_NAMES[kind]] = colour
        axes.set_xlim(left, right)
        axes.set_ylim(low, high)
        axes.set_aspect("equal")
        axes.set_xlabel(axes_names[0])
        axes.set_ylabel(axes_names[1])
        for name, colour in names.items():
            axes.plot([], [], "s", color=colour, label=name)
        if names:
            axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)
        return finish(figure, key)
