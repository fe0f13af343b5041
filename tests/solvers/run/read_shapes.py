"""What shapes_shown writes, as VTK reads it: python read_shapes.py FOLDER STEP VTK

FOLDER has the field files, VTK is where VTK's wheel was unpacked. Compares every value with what the program
was told to write; ends with a status of 1 where one is another.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

try:
    import numpy as np
except ImportError as error:
    print(f"no NumPy: {error}")
    sys.exit(77)

Array = Any  # of NumPy
HIDDEN = 32  # vtkDataSetAttributes::HIDDENCELL


def grid(lo: tuple[int, int, int], hi: tuple[int, int, int], value: Callable[..., Any]) -> Array:
    """value(i, j, k) for all indices, x fastest."""
    ijk = [(i, j, k) for k in range(lo[2], hi[2]) for j in range(lo[1], hi[1]) for i in range(lo[0], hi[0])]
    return np.array([value(*at) for at in ijk], dtype=float)


class Reading:
    """One data object as VTK sees it: arrays of its points, cells and rows as numpy has them."""

    def __init__(self, data: Any, name: str) -> None:
        from vtkmodules.util.numpy_support import vtk_to_numpy

        self.data, self.name, self.to_numpy = data, name, vtk_to_numpy

    def arrays(self, of: str) -> dict[str, Array]:
        data = getattr(self.data, f"Get{of}Data")()
        return {
            data.GetArrayName(i): self.to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())
        }

    def expect(self, what: str, found: Any, expected: Any) -> None:
        found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
        if found.shape != expected.shape or not (found == expected).all():
            sys.exit(f"{self.name}: {what} is\n{found}\nand not\n{expected}")

    def expect_points(self, expected: Any) -> None:
        self.expect("points", self.to_numpy(self.data.GetPoints().GetData()), expected)

    def expect_arrays(self, of: str, **expected: Any) -> None:
        found = self.arrays(of)
        if set(found) != set(expected):
            sys.exit(f"{self.name}: {of} has {sorted(found)} and not {sorted(expected)}")
        for name, values in expected.items():
            self.expect(f"{of} {name}", found[name], values)

    def expect_cells(self, cells: Any, expected: list[list[int]]) -> None:
        ids = self.to_numpy(cells.GetConnectivityArray())
        offsets = self.to_numpy(cells.GetOffsetsArray())
        found = [list(map(int, ids[a:b])) for a, b in pairwise(offsets)]
        if found != expected:
            sys.exit(f"{self.name}: cells are {found} and not {expected}")

    def expect_kind(self, kind: str) -> None:
        if self.data.GetClassName() != kind:
            sys.exit(f"{self.name} is a {self.data.GetClassName()} and not a {kind}")


def check_blocks(blocks: list[Reading], step: int) -> None:
    solid, ring, pieces = blocks
    for block, name, size in (
        (solid, "solid", (7, 5, 4)),
        (ring, "ring", (9, 4, 1)),
        (pieces, "pieces", (5, 5, 1)),
    ):
        block.expect_kind("vtkStructuredGrid")
        if block.name != name:
            sys.exit(f"a block is called {block.name} and not {name}")
        dimensions = [0, 0, 0]
        block.data.GetDimensions(dimensions)
        block.expect("dimensions", dimensions, size)
    lo, nodes, cells = (-1, 0, 0), (6, 5, 4), (5, 4, 3)
    solid.expect_points(
        grid(lo, nodes, lambda i, j, k: (i + 0.125 * j * j, j + 0.25 * k, k + 0.0625 * i * j))
    )
    hidden = grid(lo, cells, lambda i, j, _: HIDDEN * (i == 2 and j > 0))
    solid.expect_arrays(
        "Cell",
        pressure=grid(lo, cells, lambda i, j, k: i + 10 * j + 100 * k + step),
        vtkGhostType=hidden,
    )
    if [solid.data.IsCellVisible(c) for c in range(len(hidden))] != [int(h == 0) for h in hidden]:
        sys.exit("solid: VTK shows other cells")
    velocity = grid(lo, nodes, lambda i, j, k: [i + 10 * j + 100 * k + 0.5 * c for c in range(3)])
    solid.expect_arrays("Point", velocity=velocity)
    lo = (0, 0, 0)
    ring.expect_points(
        grid(lo, (9, 4, 1), lambda i, j, _: ((j + 1) * (i % 8 - 3.5), (j + 1) * ((i % 8) ** 2 - 20), 0))
    )
    ring.expect_arrays("Cell", pressure=grid(lo, (8, 3, 1), lambda i, j, _: i + 10 * j + step))
    pieces.expect_points(grid(lo, (5, 5, 1), lambda i, j, _: (20 + i, j, 0)))


def check_wings(blocks: list[Reading], step: int) -> None:
    lows, highs = ((0, 0, 0), (2, -1, 0), (0, 0, 0)), ((6, 4, 2), (6, 5, 2), (6, 4, 2))
    for z, (block, lo, cells) in enumerate(zip(blocks, lows, highs, strict=True)):
        block.expect_kind("vtkStructuredGrid")
        if block.name != f"wing-{z:04}":
            sys.exit(f"zone {z} is called {block.name}")
        nodes, first = (cells[0] + 1, cells[1] + 1, cells[2] + 1), 1000 * z
        block.expect_points(grid(lo, nodes, lambda i, j, k, at=first: (at + i + 0.25 * j, j - 0.125 * k, k)))
        lift = grid(lo, nodes, lambda i, j, k, at=first: 0.5 * (at + i) + 10 * j + 100 * k)
        block.expect_arrays("Point", lift=lift)
        hidden = grid(lo, cells, lambda i, j, _, at=first: HIDDEN * (at + i != 1003 and j != 2))
        pressure = grid(lo, cells, lambda i, j, k, at=first: at + i + 10 * j + 100 * k + step)
        block.expect_arrays("Cell", pressure=pressure, vtkGhostType=hidden)


def check_zones(blocks: list[Reading]) -> None:
    for p, block in enumerate(blocks):
        block.expect_kind("vtkStructuredGrid")
        if block.name != f"zone-{p:04}":
            sys.exit(f"zone {p} is called {block.name}")
        n = np.arange((3 + p) * 4 * 3)
        x, y, z = 10 * p + n % (3 + p), n // (3 + p) % 4 * 0.5, n // (3 + p) // 4 * 0.25
        block.expect_points(np.stack([x, y, z], axis=1))
        block.expect_arrays("Point", **{"zone flux": np.stack([100.0 * p + n, 100 * p + n + 0.5], axis=1)})
        c = np.arange((2 + p) * 3 * 2)
        block.expect_arrays("Cell", **{"zone density": 1000 * p + c, "vtkGhostType": HIDDEN * (c % 5 == p)})
    if len(blocks) != 3:
        sys.exit(f"{len(blocks)} zones")


def check_mixed(mixed: Reading) -> None:
    mixed.expect_kind("vtkUnstructuredGrid")
    points, shifts, cells, heat, hidden = [], [], [], [], []
    for p in (0, 2, 3):
        first = len(points)
        for one in ([0, 1, 2, 3, 4, 5, 6, 7], [4, 5, 6, 9], [7, 8, 9]):
            heat.append(100 * p + len(cells) % 3)
            hidden.append(HIDDEN * (p == 2 and len(cells) % 3 == 1))
            cells.append([first + id for id in one])
        for n in range(10 + p):
            points.append([20 * p + n * (c + 1) % 7 for c in range(3)])
            shifts.append([100 * p + n + 0.25 * c for c in range(3)])
    mixed.expect_points(points)
    mixed.expect_cells(mixed.data.GetCells(), cells)
    mixed.expect("types", [mixed.data.GetCellType(c) for c in range(9)], [12, 10, 5] * 3)
    mixed.expect_arrays("Cell", **{"part heat": heat, "vtkGhostType": hidden})
    mixed.expect_arrays("Point", **{"part shift": shifts})


def check_tetrahedra(tets: Reading) -> None:
    tets.expect_kind("vtkUnstructuredGrid")
    ps = range(3)
    tets.expect_points([[3 * p + (n == c + 1) for c in range(3)] for p in ps for n in range(4)])
    tets.expect_cells(
        tets.data.GetCells(),
        [[4 * p + (n // 4 + n) % 4 for n in range(4 * t, 4 * t + 4)] for p in ps for t in range(4)],
    )
    tets.expect("types", [tets.data.GetCellType(c) for c in range(12)], [10] * 12)
    tets.expect_arrays("Point", **{"tet load": [p + 0.25 * n for p in ps for n in range(4)]})
    stress = [[p + 4 * n + 16 * c for c in range(6)] for p in ps for n in range(4)]
    tets.expect_arrays("Cell", **{"tet stress": stress})


def check_panels(skin: Reading, wires: Reading) -> None:
    ps = range(5)
    for data in (skin, wires):
        data.expect_kind("vtkPolyData")
        data.expect_points([[2 * p + n // 2, n % 2, 0] for p in ps for n in range(6)])
        data.expect_arrays("Point", **{"panel lift": [100 * p + n for p in ps for n in range(6)]})
    skin.expect_cells(skin.data.GetPolys(), [[6 * p + t + n for n in range(3)] for p in ps for t in range(4)])
    skin.expect_arrays("Cell", **{"panel load": [10 * p + t for p in ps for t in range(4)]})
    around, across = [0, 1, 3, 5, 4, 2, 0], [0, 5]
    cells = [[6 * p + n for n in one] for p in ps for one in (around, across)]
    wires.expect_cells(wires.data.GetLines(), cells)
    wires.expect_arrays("Cell", **{"wire force": [p - 0.5 * n for p in ps for n in range(2)]})


def check_growing(drops: Reading, films: Reading, numbers: Reading, step: int) -> None:
    cells = [(p, n) for p in range(3) for n in range((p + step) % 5)]
    points = [(p, n) for p in range(3) for n in range(3 * ((p + step) % 5))]
    drops.expect_kind("vtkPolyData")
    drops.expect_points([[100 * p + 2 * n, 100 * p + 2 * n + 1, 0] for p, n in points])
    drops.expect_cells(drops.data.GetPolys(), [[3 * c, 3 * c + 1, 3 * c + 2] for c in range(len(cells))])
    heat = [[10 * p + n, 10 * p + n + 0.5] for p, n in cells]
    number = [p - n for p, n in cells]
    drops.expect_arrays("Cell", **{"drop heat": heat, "drop number": number})
    drops.expect_arrays(
        "Point", **{"drop speed": [[100 * p + n + 0.25 * c for c in range(3)] for p, n in points]}
    )
    films.expect_kind("vtkUnstructuredGrid")
    films.expect_points([[100 * p + 2 * n, 100 * p + 2 * n + 1, 0] for p in range(3) for n in range(12)])
    begins = (0, 3, 7, 10, 14)
    expected = [[12 * p + (i + p) % 6 for i in range(begins[n], begins[n + 1])] for p, n in cells]
    films.expect_cells(films.data.GetCells(), expected)
    films.expect(
        "types", [films.data.GetCellType(c) for c in range(len(cells))], [(5, 10)[n % 2] for _, n in cells]
    )
    films.expect_arrays("Cell", **{"drop heat": heat, "drop number": number})
    speed = [[100 * p + n + 0.25 * c for c in range(3)] for p in range(3) for n in range(12)]
    films.expect_arrays("Point", **{"drop speed": speed})
    numbers.expect_kind("vtkTable")
    numbers.expect_arrays("Row", **{"drop number": number})


def check_probes(probes: Reading) -> None:
    probes.expect_kind("vtkTable")
    rows = [(p, n) for p in range(4) for n in range(p + 1)]
    speed = [[p + 0.5 * n + 0.125 * c for c in range(3)] for p, n in rows]
    probes.expect_arrays("Row", number=[10 * p + n for p, n in rows], speed=speed)


def main(folder: Path, step: int, vtk: str) -> None:
    sys.path.append(vtk)
    try:
        from vtkmodules.vtkCommonCore import vtkVersion
        from vtkmodules.vtkCommonDataModel import vtkCompositeDataSet
        from vtkmodules.vtkIOHDF import vtkHDFReader
    except ImportError as error:
        print(f"no VTK in {vtk}: {error}")
        sys.exit(77)

    version = vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion()
    if version < (9, 7):
        print(f"VTK {version[0]}.{version[1]} in {vtk} knows no structured grids in VTKHDF: 9.7 does")
        sys.exit(77)

    def read(name: str) -> Reading:
        path, reader = folder / f"{name}-{step:06}.vtkhdf", vtkHDFReader()
        if not reader.CanReadFile(str(path)):
            sys.exit(f"VTK cannot read {path}")
        reader.SetFileName(str(path))
        reader.Update()
        return Reading(reader.GetOutputDataObject(0), name)

    def blocks(name: str) -> list[Reading]:
        whole = read(name)
        whole.expect_kind("vtkMultiBlockDataSet")
        return [
            Reading(whole.data.GetBlock(b), whole.data.GetMetaData(b).Get(vtkCompositeDataSet.NAME()))
            for b in range(whole.data.GetNumberOfBlocks())
        ]

    check_blocks(blocks("blocks"), step)
    check_wings(blocks("wings"), step)
    check_zones(blocks("zones"))
    check_mixed(read("mixed"))
    check_tetrahedra(read("tetrahedra"))
    check_panels(read("skin"), read("wires"))
    check_growing(read("drops"), read("films"), read("numbers"), step)
    check_probes(read("probes"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
