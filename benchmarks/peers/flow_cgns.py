"""A CGNS file of a C grid about an airfoil, one cell deep, by libcgns.

Boundaries are those of NASA's grids: a wall, the cut behind it joined point by point, a far field around;
planes of symmetry on both sides. The mid-level library, version 3.4:
https://cgns.github.io/CGNS_docs_current/midlevel/.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from pathlib import Path

import numpy as np
from cfl3d import Flow
from numpy.typing import NDArray

# Values of the enumerations in cgnslib.h
WRITE, STRUCTURED, REAL_DOUBLE, POINT_RANGE = 1, 2, 4, 4
FAR_FIELD, SYMMETRY, VISCOUS_WALL = 7, 16, 22

Range = tuple[tuple[int, int, int], tuple[int, int, int]]


class Cgns:
    """Calls of libcgns; a failed one raises RuntimeError with what the library says."""

    def __init__(self, library: str | None) -> None:
        name = library or ctypes.util.find_library("cgns")
        if name is None:
            raise RuntimeError("no libcgns: name it by --cgns")
        self.library = ctypes.CDLL(name)
        self.library.cg_get_error.restype = ctypes.c_char_p

    def __call__(self, call: str, *given: object) -> None:
        words = [each.encode() if isinstance(each, str) else each for each in given]
        if getattr(self.library, call)(*words) != 0:
            raise RuntimeError(f"{call}: {self.library.cg_get_error().decode()}")

    def numbered(self, call: str, *given: object) -> int:
        """A call whose last argument is where it puts the number of what it has made."""
        number = ctypes.c_int()
        self(call, *given, ctypes.byref(number))
        return number.value


def ranges(flow: Flow) -> dict[str, tuple[int, Range]]:
    """Parts of the border that are boundaries: kind, and first and last point."""
    n, m = flow.points
    first, last = flow.wall
    return {
        "wall": (VISCOUS_WALL, ((first, 1, 1), (last, 1, 2))),
        "outflow_low": (FAR_FIELD, ((1, 1, 1), (1, m, 2))),
        "outflow_high": (FAR_FIELD, ((n, 1, 1), (n, m, 2))),
        "outer": (FAR_FIELD, ((1, m, 1), (n, m, 2))),
        "side_low": (SYMMETRY, ((1, 1, 1), (n, m, 1))),
        "side_high": (SYMMETRY, ((1, 1, 2), (n, m, 2))),
    }


def cut(flow: Flow) -> tuple[Range, Range]:
    """The lower side of the cut and the points of its upper side that are the same, in the same order."""
    n, first = flow.points[0], flow.wall[0]
    return ((1, 1, 1), (first, 1, 2)), ((n, 1, 1), (n + 1 - first, 1, 2))


def integers(values: object) -> ctypes.Array[ctypes.c_int]:
    """As the library takes them; an index has 32 bits."""
    flat = np.ravel(np.asarray(values)).tolist()
    return (ctypes.c_int * len(flat))(*flat)


def write_cgns(
    path: Path, flow: Flow, x: NDArray[np.float64], y: NDArray[np.float64], library: str | None = None
) -> None:
    """x and y: [j, i], as of cfl3d.read_grid. The third axis is one cell of length 1, right-handed."""
    n, m = flow.points
    across = (x[1, 0] - x[0, 0]) * (y[0, 1] - y[0, 0]) - (y[1, 0] - y[0, 0]) * (x[0, 1] - x[0, 0])
    depth = np.array([0.0, -np.sign(across)])[:, None, None]
    shape = (2, m, n)
    cgns = Cgns(library)
    file = cgns.numbered("cg_open", str(path), WRITE)
    base = cgns.numbered("cg_base_write", file, "Base", 3, 3)
    for family in ("wall", "far", "side"):
        cgns.numbered("cg_family_write", file, base, family)
    size = integers([[n, m, 2], [n - 1, m - 1, 1], [0, 0, 0]])
    zone = cgns.numbered("cg_zone_write", file, base, "zone", size, STRUCTURED)
    for name, values in (("X", x), ("Y", y), ("Z", depth)):
        data = np.ascontiguousarray(np.broadcast_to(values, shape), np.float64)
        at = data.ctypes.data_as(ctypes.c_void_p)
        cgns.numbered("cg_coord_write", file, base, zone, REAL_DOUBLE, f"Coordinate{name}", at)
    families = {VISCOUS_WALL: "wall", FAR_FIELD: "far", SYMMETRY: "side"}
    for name, (kind, points) in ranges(flow).items():
        given = (file, base, zone, name, kind, POINT_RANGE, 2, integers(points))
        boundary = cgns.numbered("cg_boco_write", *given)
        cgns("cg_goto", file, base, "Zone_t", zone, "ZoneBC_t", 1, "BC_t", boundary, "end")
        cgns("cg_famname_write", families[kind])
    low, high = cut(flow)
    # An axis of the other side for each of ours: both lead away from the cut, to opposite sides
    turned = integers([-1, -2, 3])
    for name, here, there in (("cut_low", low, high), ("cut_high", high, low)):
        given = (file, base, zone, name, "zone", integers(here), integers(there), turned)
        cgns.numbered("cg_1to1_write", *given)
    cgns("cg_close", file)
