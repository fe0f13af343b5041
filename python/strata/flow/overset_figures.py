"""Pictures of meshes that overlap: each cell by what it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strata.flow.overset_cells import COMPUTED, ORPHAN, RECEPTOR, Patch
from strata.report.figures.theme import INK, LINE, SERIES, canvas, finish

_COLOURS = {COMPUTED: SERIES[0], RECEPTOR: SERIES[1], ORPHAN: SERIES[4]}
_NAMES = {COMPUTED: "computed", RECEPTOR: "receptors", ORPHAN: "orphans"}
_DRAWN = 40_000  # cells of a picture


def pictures(patches: Sequence[Patch], found: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Key, title and SVG: all meshes where they meet, then each mesh. Of three dimensions the middle plane of
    each zone along its third axis.
    """
    drawn = [_flat(patch, found) for patch in patches]
    flat = [one for one in drawn if one is not None]
    box = _where_they_meet(flat)
    for number, name in enumerate(found["meshes"]):
        these = [one for one in flat if found["zones"][one[0]]["mesh"] == number]
        yield f"mesh-{number}", f"{name}: where meshes meet", _picture(f"mesh-{number}", these, box)
    yield "meshes", "Computed cells of all meshes", _picture("meshes", flat, box, computed_only=True)


_Flat = tuple[int, NDArray[np.float64], NDArray[np.int32]]


def _flat(patch: Patch, found: dict[str, Any]) -> _Flat | None:
    """Zone, corners (cells, 4, 2) and status of the cells in the plane that is drawn."""
    nodes, status = patch.nodes, patch.status
    if nodes.shape[0] == 3:
        middle = found["zones"][patch.zone]["cells"][2] // 2 - patch.lo[2]
        if not 0 <= middle < status.shape[0]:
            return None
        place, kinds = nodes[:2, middle], status[middle]
    else:
        place, kinds = nodes[:, 0], status[0]
    corners = np.stack(
        [place[:, :-1, :-1], place[:, :-1, 1:], place[:, 1:, 1:], place[:, 1:, :-1]], axis=-1
    )  # (2, nj, ni, 4)
    return patch.zone, corners.transpose(1, 2, 3, 0).reshape(-1, 4, 2), kinds.reshape(-1)


def _where_they_meet(flat: Sequence[_Flat]) -> tuple[float, float, float, float]:
    """The box around receptors and orphans, and a little more; around all cells where there are none."""
    some = [corners[(kinds == RECEPTOR) | (kinds == ORPHAN)] for _, corners, kinds in flat]
    chosen = [c for c in some if len(c)] or [corners for _, corners, _ in flat]
    all_places = np.concatenate([c.reshape(-1, 2) for c in chosen])
    low, high = all_places.min(axis=0), all_places.max(axis=0)
    more = 0.08 * float((high - low).max())
    return float(low[0]) - more, float(high[0]) + more, float(low[1]) - more, float(high[1]) + more


def _picture(
    key: str,
    flat: Sequence[_Flat],
    box: tuple[float, float, float, float],
    computed_only: bool = False,
) -> str:
    from matplotlib.collections import PolyCollection

    left, right, low, high = box
    height = min(9.0, max(3.0, 7.4 * (high - low) / (right - left) + 0.6))
    with canvas(7.4, height) as (figure, axes):
        axes.grid(False)
        names: dict[str, str] = {}
        for turn, (zone, corners, kinds) in enumerate(flat):
            middle = corners.mean(axis=1)
            seen = (
                (middle[:, 0] > left) & (middle[:, 0] < right) & (middle[:, 1] > low) & (middle[:, 1] < high)
            )
            for kind, colour in _COLOURS.items():
                if computed_only and kind != COMPUTED:
                    continue
                chosen = corners[seen & (kinds == kind)][:_DRAWN]
                if not len(chosen):
                    continue
                shade = SERIES[zone % len(SERIES)] if computed_only else colour
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
        axes.set_xlabel("x")
        axes.set_ylabel("y")
        for name, colour in names.items():
            axes.plot([], [], "s", color=colour, label=name)
        if names:
            axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)
        return finish(figure, key)
