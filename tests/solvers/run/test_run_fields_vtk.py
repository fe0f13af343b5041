"""Field files as VTK reads them, and with it ParaView: what they hold is what the run had."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flow_cases import run_flow
from solver_cases import MPM_CASES, changed, plane, solver_program

sys.path.insert(0, str(MPM_CASES))
import points_file

CELLS, PATCH = (64, 48), (16, 12)


class Read:
    """What a file holds: the kind of data set, its arrays by where they belong and by name."""

    def __init__(self, reader: Any, to_numpy: Any) -> None:
        self.data = reader.GetOutputDataObject(0)
        self.kind = self.data.GetClassName()
        parts = {"whole": self.data.GetFieldData()}
        if hasattr(self.data, "GetCellData"):  # blocks have none together
            parts |= {"cells": self.data.GetCellData(), "points": self.data.GetPointData()}
        self.arrays = {
            (part, arrays.GetArrayName(i)): to_numpy(arrays.GetArray(i))
            for part, arrays in parts.items()
            for i in range(arrays.GetNumberOfArrays())
        }


@pytest.fixture(scope="module")
def read() -> Any:
    folder = os.environ.get("STRATA_TEST_VTK", "")
    sys.path.append(folder)
    try:
        reading = importlib.import_module("vtkmodules.vtkIOHDF")
        polygons = importlib.import_module("vtkmodules.vtkIOXML")
        to_numpy = importlib.import_module("vtkmodules.util.numpy_support").vtk_to_numpy
    except ImportError as error:
        pytest.skip(f"no VTK in STRATA_TEST_VTK={folder}: {error}")
    finally:
        sys.path.remove(folder)

    def open_file(path: Path) -> Read:
        reader = reading.vtkHDFReader() if path.suffix == ".vtkhdf" else polygons.vtkXMLPolyDataReader()
        assert reader.CanReadFile(str(path))
        reader.SetFileName(str(path))
        reader.Update()
        assert reader.GetErrorCode() == 0
        return Read(reader, to_numpy)

    return open_file


def shown(run: Any, case: Path, out: Path, *words: object, layout: str = "1x1") -> None:
    done = run(case, "--out", out, *words, layout=layout, check=False)
    if "made without HDF5" in done.stderr:
        pytest.skip("built without HDF5")
    assert done.returncode == 0, done.stderr


def test_fields_on_cells_and_faces_are_images_with_the_values_of_the_checkpoint(run, tmp_path, read):
    add = '\n[output]\nsteps = 10\nfields = ["temperature", "velocity x"]\n'
    cells, patch = str(list(CELLS)), str(list(PATCH))
    case = changed(tmp_path, "advection", add, cells=cells, patch=patch, error="1.0")
    out = tmp_path / "out"
    shown(run, case, out, "--steps", 20, "--checkpoint", 20, layout="2x1")
    spacing = (1 / CELLS[0], 1 / CELLS[1])

    image = read(out / "fields" / "grid-000020.vtkhdf")
    assert image.kind == "vtkImageData"
    assert image.data.GetExtent() == (0, CELLS[0], 0, CELLS[1], 0, 1)
    assert image.data.GetSpacing()[:2] == pytest.approx(spacing)
    temperature = image.arrays["cells", "temperature"]
    assert (temperature == plane(out / "checkpoint-000020", "temperature", CELLS, PATCH).ravel()).all()
    assert len(np.unique(temperature)) > 1000  # else a wrong place would not be seen
    rows = (out / "series.csv").read_text().splitlines()
    assert image.arrays["whole", "TimeValue"] == [float(rows[-1].split(",")[1])]

    # A cell around each face: half a cell to either side, one more of them along x.
    faces = read(out / "fields" / "grid-x-faces-000020.vtkhdf")
    assert faces.data.GetExtent() == (0, CELLS[0] + 1, 0, CELLS[1], 0, 1)
    assert faces.data.GetOrigin()[:2] == pytest.approx((-spacing[0] / 2, 0))
    assert faces.arrays["cells", "velocity x"].shape == ((CELLS[0] + 1) * CELLS[1],)


def test_particles_are_points_with_all_their_values(run, tmp_path, read):
    shown(run, MPM_CASES / "disks.toml", tmp_path / "out", "--steps", 20, "--fields", 20)
    (path,) = (tmp_path / "out" / "fields").glob("*-000020.vtkhdf")
    points, own = read(path), points_file.read(path)
    assert points.kind == "vtkPolyData"
    count = len(own["Points"])
    assert points.data.GetNumberOfPoints() == points.data.GetNumberOfVerts() == count > 400
    for i in (0, count // 2, count - 1):
        assert points.data.GetPoint(i) == tuple(own["Points"][i])
    for name in ("mass", "velocity", "material", "deformation gradient"):
        assert (points.arrays["points", name] == own[name]).all()


def test_all_files_of_a_series_open(run, tmp_path, read):
    case = changed(tmp_path, "heat", "\n[output]\nsteps = 10\n", cells="[16, 16, 16]", patch="[8, 8, 8]")
    shown(run, case, tmp_path / "out", "--steps", 30)
    files = sorted((tmp_path / "out" / "fields").glob("*.vtkhdf"))
    times = [read(path).arrays["whole", "TimeValue"][0] for path in files]
    assert len(files) == 4
    assert (np.diff(times) > 0).all()


def test_slices_are_lines_or_polygons_with_the_flow_at_their_points(front, tmp_path, read):
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")
    for cells in ([6, 5], [6, 5, 4]):
        sides = [f"{axis}-{end}" for axis in "xyz"[: len(cells)] for end in ("min", "max")]
        patch = [3] * len(cells)
        case = {
            "solver": "flow",
            "grid": {"kind": "brick", "dimensions": len(cells), "cells": cells, "patch": patch, "wave": 0.05},
            "flow": {"mach": 0.4},
            "time": {"iterations": 2},
            "output": {"slices": ["x = 0.37", "1: j = 2"]},
            "boundary": {side: {"kind": "far-field"} for side in sides},
        }
        folder = run_flow(case, tmp_path / str(len(cells)), "2x1").folder
        for name, axis in (("x-0.37", 0), ("zone-1-j-2", 1)):
            cut = read(folder / f"slice-{name}-000002.vtp")
            rows = np.genfromtxt(folder / f"slice-{name}-000002.csv", delimiter=",", names=True)
            assert cut.kind == "vtkPolyData"
            assert cut.data.GetNumberOfCells() == len(cut.arrays["cells", "zone"]) >= len(rows)
            assert (cut.arrays["cells", "zone"] == 1).all()
            named = {tuple(cell) for cell in cut.arrays["cells", "cell"]}
            assert named == {(int(row["i"]), int(row["j"]), int(row["k"])) for row in rows}
            assert cut.arrays["whole", "TimeValue"] == [2.0]
            values = [cut.arrays["points", of] for of in ("density", "pressure")]
            assert np.allclose(values, [[1.0], [1 / 1.4]], rtol=1e-12)
            assert np.allclose(cut.arrays["points", "velocity"], [0.4, 0, 0], atol=1e-12)
            # The middle of the polygons of a cell lies where its row has it, but for what areas weigh.
            size = cut.data.GetLength()
            for n in range(cut.data.GetNumberOfCells()):
                corners = cut.data.GetCell(n).GetPoints()
                points = np.array([corners.GetPoint(c) for c in range(corners.GetNumberOfPoints())])
                assert len(points) == 2 if len(cells) == 2 else len(points) in (3, 4)
                (row,) = (
                    row
                    for row in rows
                    if (row["i"], row["j"], row["k"]) == tuple(cut.arrays["cells", "cell"][n])
                )
                middle = np.array([row["x"], row["y"], row["z"]])
                assert np.linalg.norm(points.mean(axis=0) - middle) < 0.3 * size
                if axis == 0:
                    assert points[:, 0] == pytest.approx(0.37, rel=1e-12)


PLATE = """
import numpy as np
from strata.graph.program import Block, Case, Solver, drive

case = Case("bent", "A bent plate with a hole.")


def declare(graph, case):
    grid = graph.grid("plate", (6, 4), (3, 2))
    x, y = (graph.field(name, grid, on="nodes", kept=True) for name in ("x", "y"))
    hole, heat = graph.field("hole", grid, kept=True), graph.field("plate.heat", grid, kept=True)
    time = graph.scalar("time", "max", history=1)

    @graph.start(grid, makes={"x": x, "y": y, "hole": hole, "heat": heat})
    def first(here):
        k, j, i = here.cells
        nodes = here["x"].shape
        at_y, at_x = np.mgrid[j.start : j.start + nodes[1], i.start : i.start + nodes[2]]
        here["x"][:], here["y"][:] = at_x + 0.25 * at_y**2, at_y
        cell_y, cell_x = np.mgrid[j, i]
        here["hole"][:], here["heat"][:] = cell_x != 2, cell_x + 10 * cell_y

    @graph.step(grid, needs={"before": time.previous()}, contributes={"time": time})
    def clock(here):
        here["time"][0] = here["before"][0] + 1

    return Solver(time=time, end=2, curvilinear={"bent": [Block(grid, %s, blank=hole)]})


if __name__ == "__main__":
    drive(case, declare)
"""


def python_run(run: Any, tmp_path: Path, word: str, text: str = PLATE, **more: Any) -> Any:
    """The solver `text`, in which `word` stands for its %s."""
    name = "bent" if text is PLATE else "strip"
    (tmp_path / "bent.py").write_text(text.replace("%s", word))
    (tmp_path / "bent.toml").write_text(f'solver = "{name}"\n[output]\nsteps = 1\n')
    environment = os.environ | {"STRATA_PYTHON": sys.executable}
    words = (tmp_path / "bent.py", tmp_path / "bent.toml", "--out", tmp_path / "out")
    return run(*words, layout="2x1", env=environment, **more)


def test_a_solver_in_python_shows_curvilinear_blocks_with_a_hole(run, tmp_path, read):
    done = python_run(run, tmp_path, "(x, y)", check=False)
    if "made without HDF5" in done.stderr or "graphs from Python were not built" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    whole = read(tmp_path / "out" / "fields" / "bent-000002.vtkhdf").data
    block = whole.GetBlock(0)
    if block is None:
        pytest.skip("this VTK knows no structured grids in VTKHDF: 9.7 does")
    points = [block.GetPoint(n) for n in range(block.GetNumberOfPoints())]
    assert points == [(i + 0.25 * j * j, j, 0) for j in range(5) for i in range(7)]
    heat = block.GetCellData().GetArray("heat")
    assert [heat.GetValue(c) for c in range(24)] == [i + 10 * j for j in range(4) for i in range(6)]
    assert [block.IsCellVisible(c) for c in range(24)] == [i != 2 for _ in range(4) for i in range(6)]


MESH = """
import numpy as np
from strata.graph.program import Case, Mesh, Solver, drive

case = Case("strip", "A strip of triangles, more of them on each patch.")


def declare(graph, case):
    parts = graph.grid("parts", (3,), (1,))
    points = [patch + 3 for patch in range(parts.patches)]
    x, y = (graph.list(name, parts, points, kept=True) for name in ("x", "y"))
    corners = graph.list("corners", parts, [3 * (n - 2) for n in points], dtype=%s, kept=True)
    heat = graph.list("heat", parts, [n - 2 for n in points], dtype="int64", kept=True)
    time = graph.scalar("time", "max", history=1)

    @graph.start(parts, makes={"x": x, "y": y, "corners": corners, "heat": heat})
    def first(here):
        n = np.arange(here["x"].size)
        here["x"][:], here["y"][:] = n // 2, n % 2 + 2 * here.patch
        cells = np.arange(here["heat"].size)
        here["corners"][:] = (cells[:, None] + np.arange(3)).ravel()
        here["heat"][:] = 2**53 + 1 + cells  # no float64 is 2**53 + 1

    @graph.step(parts, needs={"before": time.previous()}, contributes={"time": time})
    def clock(here):
        here["time"][0] = here["before"][0] + 1

    return Solver(time=time, end=2, unstructured={"strip": Mesh(parts, (x, y), corners, cells=5)})


if __name__ == "__main__":
    drive(case, declare)
"""


def test_a_solver_in_python_shows_cells_of_a_mesh_by_lists_of_whole_numbers(run, tmp_path, read):
    done = python_run(run, tmp_path, "'int32'", text=MESH, check=False)
    if "made without HDF5" in done.stderr or "graphs from Python were not built" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    whole = read(tmp_path / "out" / "fields" / "strip-000002.vtkhdf").data
    assert whole.GetNumberOfCells() == 1 + 2 + 3
    points, heat = [], []
    for cell in range(6):
        corners = whole.GetCell(cell).GetPoints()
        points.append([corners.GetPoint(n) for n in range(corners.GetNumberOfPoints())])
        heat.append(whole.GetCellData().GetArray("heat").GetValue(cell))
    parts = [(patch, cell) for patch in range(3) for cell in range(patch + 1)]
    assert points == [[(n // 2, n % 2 + 2 * patch, 0) for n in range(c, c + 3)] for patch, c in parts]
    assert heat == [2**53 + 1 + c for _, c in parts]


def test_a_mesh_in_python_whose_corners_are_no_whole_numbers_is_refused(run, tmp_path):
    done = python_run(run, tmp_path, "'float64'", text=MESH, check=False)
    if "graphs from Python" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 2
    assert "shape 'strip': 'corners'" in done.stderr
    assert "i64 or i32" in done.stderr


def test_a_shape_in_python_that_cannot_be_says_what_may_be(run, tmp_path):
    done = python_run(run, tmp_path, "(x, hole)", check=False)
    if "graphs from Python" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 2
    assert "shape 'bent': 'hole' cannot be its coordinates" in done.stderr
    assert "a field on nodes of 'plate' of f64 or f32" in done.stderr
