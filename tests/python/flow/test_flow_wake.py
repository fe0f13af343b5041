"""Slices of runs, pictures of vortices in them, and sections of rotors beside recorded ones."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from strata.errors import StrataError
from strata.flow import command, rotor, slices, surface, wake

HEAD = "x,y,z,size,rho,u,v,w,p,vorticity_x,vorticity_y,vorticity_z,q_criterion,zone,i,j,k\n"
PARAMETERS = {
    "case": "rotor.toml",
    "frame.radius": "6",
    "frame.tip_mach": "-0.4",
    "frame.axis": '"z"',
    "frame.centre": "[0, 0, 0]",
    "mesh.blade.turn": "0",
    "mesh.sector.turn": "180",
}


def rows(places: np.ndarray, q: np.ndarray) -> str:
    return "".join(
        f"{x},{y},{z},0.01,1,0,0,0,0.7,0,0,1,{v},1,{n},1,1\n"
        for n, ((x, y, z), v) in enumerate(zip(places, q, strict=True))
    )


def made_run(folder: Path) -> Path:
    """A rotor's: a vortex at r = 5 in a half plane, and a tube around it."""
    folder.mkdir()
    r, z = (m.ravel() for m in np.meshgrid(np.arange(0.05, 7, 0.1), np.arange(-3.05, 1, 0.1)))
    turn = np.radians(60)
    half = np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)
    strength = np.exp(-((r - 5) ** 2 + (z + 1) ** 2) / 0.1) - 0.1
    (folder / "slice-azimuth-60-000010.csv").write_text(HEAD + rows(half, strength))
    (folder / "slice-azimuth-60-000004.csv").write_text(HEAD)
    along, around = (m.ravel() for m in np.meshgrid(np.linspace(0, 3, 90), np.linspace(0, 6.2, 24)))
    radius = 5 + 0.3 * np.cos(around)
    tube = np.stack([radius * np.cos(along), radius * np.sin(along), 0.3 * np.sin(around) - 1], axis=1)
    (folder / "slice-q-0.01-000010.csv").write_text(HEAD + rows(tube, np.full(len(tube), 0.01)))
    (folder / "slice-x-1-000010.csv").write_text(
        "x,y,z,size,rho,u,v,w,p,zone,i,j,k\n1,0,0,1,1,0,0,0,0.7,1,1,1,1\n"
    )
    walls = "".join(f"{2 + 0.5 * i},{0.3 * j},0,0,0,0,0,0,1,{i},{j},1\n" for i in range(8) for j in range(3))
    (folder / "surface-000010.csv").write_text("x,y,z,cp,cfx,cfy,cfz,yplus,zone,i,j,k\n" + walls)
    (folder / "series.csv").write_text(
        "step,time [1],residual,lift,thrust\n1,1,1,0.1,0.004\n2,2,0.5,0.1,0.005\n"
    )
    figures = [{"name": f"section lift at {at} of the radius", "value": at / 3} for at in (0.5, 0.68, 0.96)]
    (folder / "result.json").write_text(json.dumps({"figures": figures, "parameters": PARAMETERS}))
    return folder


def test_the_last_slice_of_each_name_is_read(tmp_path: Path) -> None:
    found = slices.newest(made_run(tmp_path / "run"))
    assert [(cut.name, cut.step, cut.kind) for cut in found] == [
        ("azimuth-60", 10, "azimuth"),
        ("q-0.01", 10, "q"),
        ("x-1", 10, "x"),
    ]
    assert found[0].value == 60 and found[1].value == 0.01
    turning = rotor.of_result({"parameters": PARAMETERS})
    assert [cut.name for cut in wake.drawn(found, turning)] == ["azimuth-60", "q-0.01"]  # the other has no Q
    assert [cut.name for cut in wake.drawn(found, None)] == ["q-0.01"]  # half planes are about a rotor's axis
    line = {name: found[1].columns[name] * (name != "z") for name in found[1].columns}
    assert wake.drawn([dataclasses.replace(found[1], columns=line)], turning) == []  # of a plane flow
    bad = tmp_path / "slice-x-2-000001.csv"
    bad.write_text("a,b\n1,2\n")
    with pytest.raises(StrataError, match="not a slice"):
        slices.read(bad)


def test_a_rotor_is_known_by_the_keys_of_its_run() -> None:
    found = rotor.of_result({"parameters": PARAMETERS})
    assert found is not None and (found.axis, found.radius, found.sectors) == (2, 6.0, 2)
    assert rotor.of_result({"parameters": {"frame.radius": "6", "frame.tip_mach": "0"}}) is None
    assert rotor.of_result({}) is None


def test_a_vortex_is_bright_where_it_is(tmp_path: Path) -> None:
    cut = slices.newest(made_run(tmp_path / "run"))[0]
    flat = wake._flat(cut, rotor.of_result({"parameters": PARAMETERS}))
    box = (0.0, 1.25, -0.6, 0.25)
    image = wake._painted(flat, cut["q_criterion"], box)
    row, column = np.unravel_index(np.nanargmax(image), image.shape)
    assert column / image.shape[1] * 1.25 == pytest.approx(5 / 6, abs=0.02)
    assert row / image.shape[0] * 0.85 - 0.6 == pytest.approx(-1 / 6, abs=0.02)
    assert 0.3 < np.isfinite(image).mean() < 1  # the plane ends within the picture


def test_a_surface_hides_what_lies_behind_it() -> None:
    depth, kind = np.full((40, 40), -np.inf), np.zeros((40, 40), int)
    wake._put(depth, kind, np.array([[20.0, 20.0]]), np.array([1.0]), np.array([8.0]), 1)
    wake._put(depth, kind, np.array([[24.0, 20.0]]), np.array([50.0]), np.array([3.0]), 2)
    wake._put(depth, kind, np.array([[16.0, 20.0]]), np.array([-50.0]), np.array([3.0]), 2)
    assert kind[20, 24] == 2 and kind[20, 16] == 1 and kind[20, 20] == 1 and kind[0, 0] == 0
    picture = wake._lit(depth, kind)
    assert picture.shape == (40, 40, 4) and picture[0, 0, 3] == 0 and picture[20, 20, 3] == 1


def test_a_report_has_sections_beside_the_measurement_and_vortices(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run")
    measured = tmp_path / "measured.dat"
    measured.write_text('variables="r/R","cl"\nzone, t="measured"\n0.5 0.2\n0.9 0.3\n')
    assert command.show(run, [measured], "", None, "strata flow show run") == 0
    found = rotor.sections(json.loads((run / "result.json").read_text()))
    assert found == [(0.5, pytest.approx(0.5 / 3)), (0.68, pytest.approx(0.68 / 3)), (0.96, 0.32)]
    # Between recorded stations it is linear; beyond them nothing is known.
    table = rotor.beside(found, surface.recorded(measured)[0])
    assert [row[2] for row in table] == ["0.2000", "0.2450", ""]
    page = (run / "report" / "report.html").read_text()
    assert ">CT<" in page and "0.005" in page
    assert "Sections of the blades" in page and "-16.7 %" in page and ">measured<" in page
    assert "Q criterion, azimuth = 60 degrees" in page and "Surface Q = 0.01" in page
    names = {path.name for path in (run / "report" / "figures").glob("*.svg")}
    assert {"sections.svg", "vortices-azimuth-60.svg", "vortices-q-0_01.svg"} <= names
