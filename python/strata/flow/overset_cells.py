"""The cells of meshes that overlap, as strata-overset writes them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strata import documents
from strata.errors import FAILED, StrataError, why

HOLE, COMPUTED, RECEPTOR, ORPHAN = range(4)
_HEAD = 28  # bytes before the cells of a patch


@dataclass(frozen=True)
class Patch:
    """Cells lo to hi of a zone: their status, and their nodes (dimensions, nk, nj, ni)."""

    zone: int
    lo: tuple[int, int, int]
    status: NDArray[np.int32]  # (nk, nj, ni)
    nodes: NDArray[np.float64]


def patches(folder: Path, found: dict[str, Any]) -> Iterator[Patch]:
    """The patches in the files of all processes. Raises StrataError where one is truncated."""
    dimensions = int(found["dimensions"])
    for number in range(int(found["files"])):
        path = folder / f"cells-{number}.bin"
        try:
            with documents.opened(path) as file:  # a plain file
                data = file.read()
        except OSError as error:
            raise _damaged("the cells cannot be read", path, why(error)) from None
        at = 0
        while at < len(data):
            if at + _HEAD > len(data):
                raise _damaged("the file is truncated", path, f"{len(data)} bytes")
            head = np.frombuffer(data, np.int32, 7, at)
            at += head.nbytes
            low, high = (tuple(map(int, head[begin : begin + 3])) for begin in (1, 4))
            size = tuple(h - n for n, h in zip(low, high, strict=True))[::-1]
            if not 0 <= int(head[0]) < len(found["zones"]):
                raise _damaged("a patch names a zone that is not there", path, f"zone {head[0] + 1}")
            if min(size) < 0:
                raise _damaged("a patch ends before it begins", path, f"cells {low} to {high}")
            points = tuple(n + (1 if dimensions == 3 or axis > 0 else 0) for axis, n in enumerate(size))
            count, nodes = math.prod(size), math.prod(points)
            if at + 4 * count + 8 * dimensions * nodes > len(data):
                raise _damaged("the file is truncated", path, f"{len(data)} bytes")
            status = np.frombuffer(data, np.int32, count, at).reshape(size)
            at += status.nbytes
            place = np.frombuffer(data, np.float64, dimensions * nodes, at).reshape(dimensions, *points)
            at += place.nbytes
            yield Patch(int(head[0]), low, status, place)


def _damaged(what: str, path: Path, given: str) -> StrataError:
    return StrataError(what, at=str(path), given=given, remedy="run the case again", code=FAILED)


def orphans(all_patches: Sequence[Patch], zones: Sequence[dict[str, Any]]) -> list[tuple[int, int, int, int]]:
    """Zone and cell of each orphan in its file, counted from 1. `zones`: those of check.json."""
    found = []
    for patch in all_patches:
        zone = zones[patch.zone]
        for index in np.argwhere(patch.status == ORPHAN)[:, ::-1]:
            cell = list(zone["first_cell"])
            for axis, there in enumerate(zone["axes"]):
                step = zone["next_cell"][there] - zone["first_cell"][there]
                cell[there] += step * (int(index[axis]) + patch.lo[axis])
            found.append((zone["given_zone"], *cell))
    return sorted(found)
