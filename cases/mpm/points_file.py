"""Points of a run's `fields/points-*.vtkhdf`, by the HDF5 library that Strata was built with (ctypes).

import points_file
points = points_file.read("run/fields/points-000100.vtkhdf")
points["Points"], points["velocity"], ...    # one row a point
points_file.read_set("run/fields/grid-000100.vtkhdf", "CellData/temperature")    # [z, y, x], of a grid
"""

from __future__ import annotations

import ctypes
import ctypes.util
from ctypes import POINTER, c_char_p, c_int, c_int64, c_uint, c_void_p
from pathlib import Path

import numpy as np

ROOT = "/VTKHDF"


def _library() -> ctypes.CDLL:
    for name in ("hdf5_serial", "hdf5", "hdf5_openmpi"):
        found = ctypes.util.find_library(name)
        if found:
            break
    else:
        raise SystemExit("no HDF5 library is installed (see docs/install.md)")
    h5 = ctypes.CDLL(found)
    signatures = {
        "H5Fopen": (c_int64, [c_char_p, c_uint, c_int64]),
        "H5Gopen2": (c_int64, [c_int64, c_char_p, c_int64]),
        "H5Dopen2": (c_int64, [c_int64, c_char_p, c_int64]),
        "H5Dget_space": (c_int64, [c_int64]),
        "H5Sget_simple_extent_ndims": (c_int, [c_int64]),
        "H5Sget_simple_extent_dims": (c_int, [c_int64, POINTER(c_int64), c_void_p]),
        "H5Dread": (c_int, [c_int64, c_int64, c_int64, c_int64, c_int64, c_void_p]),
        "H5Fclose": (c_int, [c_int64]),
        "H5Literate2": (c_int, [c_int64, c_int, c_int, c_void_p, c_void_p, c_void_p]),
        "H5Literate": (c_int, [c_int64, c_int, c_int, c_void_p, c_void_p, c_void_p]),
    }
    for name, (result, arguments) in signatures.items():
        if hasattr(h5, name):
            function = getattr(h5, name)
            function.restype, function.argtypes = result, arguments
    h5.H5open()
    return h5


def _names(h5: ctypes.CDLL, group: int) -> list[str]:
    names: list[str] = []

    @ctypes.CFUNCTYPE(c_int, c_int64, c_char_p, c_void_p, c_void_p)
    def note(_group: int, name: bytes, _info: int, _data: int) -> int:
        names.append(name.decode())
        return 0

    walk = h5.H5Literate2 if hasattr(h5, "H5Literate2") else h5.H5Literate
    if walk(group, 0, 0, None, ctypes.cast(note, c_void_p), None) < 0:
        raise OSError("the groups of the file cannot be listed")
    return names


def _values(h5: ctypes.CDLL, file: int, name: str) -> np.ndarray:
    data = h5.H5Dopen2(file, name.encode(), 0)
    if data < 0:
        raise OSError(f"no data set {name}")
    space = h5.H5Dget_space(data)
    shape = (c_int64 * h5.H5Sget_simple_extent_ndims(space))()
    h5.H5Sget_simple_extent_dims(space, shape, None)
    values = np.empty(tuple(shape), dtype=np.float64)
    double = c_int64.in_dll(h5, "H5T_NATIVE_DOUBLE_g").value
    if h5.H5Dread(data, double, 0, 0, 0, values.ctypes.data_as(c_void_p)) < 0:
        raise OSError(f"{name} cannot be read")
    return values


def _open(h5: ctypes.CDLL, path: str | Path) -> int:
    file = h5.H5Fopen(str(path).encode(), 0, 0)
    if file < 0:
        raise OSError(f"{path} is no HDF5 file")
    return file


def read_set(path: str | Path, name: str) -> np.ndarray:
    """One data set of a field file, as doubles; `name` is below `/VTKHDF`."""
    h5 = _library()
    file = _open(h5, path)
    try:
        return _values(h5, file, f"{ROOT}/{name}")
    finally:
        h5.H5Fclose(file)


def read(path: str | Path) -> dict[str, np.ndarray]:
    """Arrays by name, in the order of the file, as doubles; "Points" has the positions (m)."""
    h5 = _library()
    file = _open(h5, path)
    try:
        group = h5.H5Gopen2(file, f"{ROOT}/PointData".encode(), 0)
        names = _names(h5, group)
        found = {name: _values(h5, file, f"{ROOT}/PointData/{name}") for name in names}
        found["Points"] = _values(h5, file, f"{ROOT}/Points")
    finally:
        h5.H5Fclose(file)
    return found


__all__ = ["read", "read_set"]
