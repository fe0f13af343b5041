"""Field files as VTK reads them, and with it ParaView: what they hold is what the run had."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from solver_cases import MPM_CASES, changed, plane

sys.path.insert(0, str(MPM_CASES))
import points_file

CELLS, PATCH = (64, 48), (16, 12)


class Read:
    """What a file holds: the kind of data set, its arrays by where they belong and by name."""

    def __init__(self, reader: Any, to_numpy: Any) -> None:
        self.data = reader.GetOutputDataObject(0)
        self.kind = self.data.GetClassName()
        parts = {
            "cells": self.data.GetCellData(),
            "points": self.data.GetPointData(),
            "whole": self.data.GetFieldData(),
        }
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
        to_numpy = importlib.import_module("vtkmodules.util.numpy_support").vtk_to_numpy
    except ImportError as error:
        pytest.skip(f"no VTK in STRATA_TEST_VTK={folder}: {error}")
    finally:
        sys.path.remove(folder)

    def open_file(path: Path) -> Read:
        reader = reading.vtkHDFReader()
        assert reader.CanReadFile(str(path))
        reader.SetFileName(str(path))
        reader.Update()
        assert reader.GetErrorCode() == 0
        return Read(reader, to_numpy)

    return open_file


def shown(run: Any, case: Path, out: Path, *words: object, layout: str = "1x1") -> None:
    done = run(case, "--out", out, *words, layout=layout, check=False)
    if "HDF5" in done.stderr:
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
