"""Names of faces and indices are those of the grid's file, also where a zone is turned inside; what is
proposed for boundaries without a table can be pasted.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flow_cases import Done, run_flow, write_plot3d
from solver_cases import solver_program

from strata.flow.overset_cells import orphans, patches

AROUND, OUT = 32, 12


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


def o_grid(left: bool) -> np.ndarray:
    """Nodes [x y, i, j] around a cylinder of diameter 1, j outwards; left-handed: anticlockwise."""
    growth = 1.3 ** np.arange(OUT + 1)
    r = 0.5 + 9.5 * (growth - 1) / (growth[-1] - 1)
    angle = 2 * np.pi * (np.arange(AROUND + 1) % AROUND) / AROUND * (1 if left else -1)
    return np.stack([np.outer(np.cos(angle), r), np.outer(np.sin(angle), r)])


def flow(grid: Path, boundary: dict[str, Any], iterations: int = 3, **more: Any) -> dict[str, Any]:
    return {
        "solver": "flow",
        "grid": {"kind": "file", "file": str(grid), "patch": [16, 16], **more},
        "flow": {"equations": "laminar", "mach": 0.2, "reynolds": 40.0, "alpha": 5.0},
        "time": {"iterations": iterations, "cfl": 50.0},
        "boundary": boundary,
    }


def planes(zone: np.ndarray, across: int) -> np.ndarray:
    """A plane as a zone in space with two planes of nodes across an axis, as CFL3D has them."""
    shape = (3, *np.insert(zone.shape[1:], across, 2))
    space = np.zeros(shape)
    for plane in range(2):
        at = np.moveaxis(space, 1 + across, 0)[plane]
        at[0], at[1], at[2] = zone[0], zone[1], plane
    return space


def walls_of(done: Done) -> list[tuple[Any, ...]]:
    """Rows of the walls' file but for their order: zone, i, j, k, x, y."""
    columns = [done.walls[name] for name in ("zone", "i", "j", "k", "x", "y")]
    return sorted(
        (int(z), int(i), int(j), int(k), round(float(x), 9), round(float(y), 9))
        for z, i, j, k, x, y in zip(*columns, strict=True)
    )


FACES = {"1:j-min": {"kind": "wall"}, "1:j-max": {"kind": "far-field"}}


def test_a_left_handed_zone_has_the_names_of_its_file_and_the_same_drag(tmp_path: Path) -> None:
    ran = {}
    for name, left in (("right", False), ("left", True)):
        write_plot3d(tmp_path / f"{name}.p3d", [o_grid(left)])
        case = flow(tmp_path / f"{name}.p3d", FACES, 1200)
        case["flow"]["alpha"] = 0.0
        case["time"] |= {"residual": 1e-10}
        case["output"] = {"slices": ["1: j = 5", f"1: j = {OUT + 1}"], "plot3d": 10**6, "probes": [-2.0, 0.1]}
        ran[name] = run_flow(case, tmp_path / name, "1x1", "--series", "1")
    right, left = ran["right"], ran["left"]
    assert left.last("drag") == pytest.approx(right.last("drag"), rel=1e-7)
    assert right.last("drag") > 1  # the small circle is the wall
    assert left.last("p at 1") == pytest.approx(right.last("p at 1"), rel=1e-7)
    # The wall is the file's first row, whose cell i lies between nodes i and i + 1.
    for zone, i, j, k, x, y in walls_of(left):
        assert (zone, j, k) == (1, 1, 1)
        nodes = o_grid(True)[:, i - 1 : i + 1, 0].mean(axis=1)
        assert (x, y) == pytest.approx(tuple(nodes), abs=1e-8)
    # Slices by an index have the nodes of the file, and the cells above them (at the end those below).
    for j, cell in ((5, 5), (OUT + 1, OUT)):
        cut = np.genfromtxt(next(left.folder.glob(f"slice-zone-1-j-{j}-*.csv")), delimiter=",", names=True)
        assert len(cut) == AROUND and (cut["j"] == cell).all()
        for row in cut:
            i = int(row["i"])
            middle = o_grid(True)[:, i - 1 : i + 1, j - 1].mean(axis=1)
            assert (row["x"], row["y"]) == pytest.approx(tuple(middle), abs=1e-8)


@pytest.mark.parametrize("across", [0, 1, 2])
def test_planes_of_a_file_in_space_have_its_three_indices(front: str, tmp_path: Path, across: int) -> None:
    letters = [letter for axis, letter in enumerate("ijk") if axis != across]
    write_plot3d(tmp_path / "grid.p3d", [planes(o_grid(left=False), across)])
    boundary = {f"1:{letters[1]}-min": {"kind": "wall"}, f"1:{letters[1]}-max": {"kind": "far-field"}}
    case = flow(tmp_path / "grid.p3d", boundary, dimensions=2)
    case["output"] = {"slices": [f"1: {letters[1]} = 4"]}
    done = run_flow(case, tmp_path / "run", "1x1")
    at = {letter: done.walls[letter] for letter in "ijk"}
    assert (at["ijk"[across]] == 1).all() and (at[letters[1]] == 1).all()
    assert sorted(at[letters[0]]) == list(range(1, AROUND + 1))
    cut = np.genfromtxt(next(done.folder.glob("slice-zone-1-*.csv")), delimiter=",", names=True)
    assert (cut[letters[1]] == 4).all() and len(cut) == AROUND
    # Its map has the same faces, and gives the same flow.
    line = [front, "overset", "map", str(tmp_path / "grid.p3d"), "--dimensions", "2"]
    mapped = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert mapped.returncode == 0 and f"1:{letters[1]}-min " in mapped.stdout, mapped.stderr
    case["grid"]["map"] = str(tmp_path / "grid.nmf")
    again = run_flow(case, tmp_path / "mapped", "1x1")
    assert again.last("drag") == pytest.approx(done.last("drag"), rel=1e-12)
    number = {"i": 3, "j": 5, "k": 1}[letters[1]]
    (wall,) = [
        row for row in (tmp_path / "grid.nmf").read_text().splitlines() if f"'1:{letters[1]}-min'" in row
    ]
    if (across, letters) != (2, ["i", "j"]):  # that one has the map of a plane file
        assert wall.split()[1:3] == ["1", str(number)]


def start(front: str, case: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [front, "launch", "--layout", "1x1", "--", str(solver_program(front, "strata-flow")), str(case)]
    return subprocess.run([*line, *words], capture_output=True, text=True, timeout=120, check=False)


def write(path: Path, grid: str, more: str = "") -> Path:
    path.write_text(
        f'solver = "flow"\n[grid]\nkind = "file"\nfile = "{grid}"\n'
        f'[flow]\nequations = "laminar"\nmach = 0.2\nreynolds = 40.0\n[time]\niterations = 2\n{more}'
    )
    return path


def test_what_was_turned_is_said_in_the_first_line_of_a_quiet_run_too(front: str, tmp_path: Path) -> None:
    tables = '[boundary."1:j-min"]\nkind = "wall"\n[boundary."1:j-max"]\nkind = "far-field"\n'
    for left, words in itertools.product((False, True), ([], ["--quiet"])):
        write_plot3d(tmp_path / "grid.p3d", [o_grid(left)])
        done = start(front, write(tmp_path / "case.toml", "grid.p3d", tables), *words)
        assert done.returncode == 0, done.stderr
        first = done.stderr.splitlines()[:1]
        assert any("zone 1 of" in line and "is left-handed" in line for line in first) is left, done.stderr
        assert bool(first) is (left or not words)


def test_a_bad_cell_is_named_as_the_file_has_it(front: str, tmp_path: Path) -> None:
    tables = '[boundary."1:j-min"]\nkind = "wall"\n[boundary."1:j-max"]\nkind = "far-field"\n'
    for left in (False, True):
        grid = o_grid(left)
        grid[:, 4, 2] = grid[:, 4, 5]  # node (5, 3), beyond its neighbours
        write_plot3d(tmp_path / "grid.p3d", [grid])
        done = start(front, write(tmp_path / "case.toml", "grid.p3d", tables))
        found = re.search(r"cell \((\d+), (\d+)\) of zone 1 has no positive volume", done.stderr)
        assert found, done.stderr
        assert int(found[1]) in (4, 5) and int(found[2]) in (2, 3, 4, 5), found[0]


def test_orphans_of_a_left_handed_mesh_are_cells_of_its_file(front: str, tmp_path: Path) -> None:
    program = solver_program(front, "strata-overset")
    x = np.linspace(-3, 3, 25)
    write_plot3d(tmp_path / "box.p3d", [np.stack(np.meshgrid(x, x, indexing="ij"))])
    places = {}
    for name, left in (("right", False), ("left", True)):
        ring = o_grid(left)[:, :, :2]  # one that ends too close to its wall
        ring = np.stack([ring[:, :, 0] + (ring[:, :, 1] - ring[:, :, 0]) * t for t in (0, 0.4, 0.8, 1.2)], 2)
        write_plot3d(tmp_path / "ring.p3d", [ring])
        out = tmp_path / name
        line = [front, "launch", "--layout", "1x1", "--", str(program), f"box={tmp_path}/box.p3d"]
        line += [f"ring={tmp_path}/ring.p3d", "--walls", "ring-1:j-min", "--out", str(out)]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 1 and "the first orphan of zone" in done.stdout, done.stderr
        said = json.loads((out / "check.json").read_text())
        lost = [one for one in orphans(list(patches(out, said)), said["zones"]) if one[0] == 2]
        middles = 0.25 * (ring[:, 1:, 1:] + ring[:, :-1, 1:] + ring[:, 1:, :-1] + ring[:, :-1, :-1])
        places[name] = sorted(tuple(middles[:, i - 1, j - 1].round(9)) for _, i, j, _ in lost)
    assert places["left"] and places["left"] == places["right"]
    assert len(places["left"]) < 3 * AROUND  # not all cells of the ring


def test_all_boundaries_without_a_table_are_proposed_as_toml_that_runs(front: str, tmp_path: Path) -> None:
    grid = o_grid(left=True)
    write_plot3d(tmp_path / "grid.p3d", [grid[:, : AROUND // 2 + 1], grid[:, AROUND // 2 :]])
    case = write(tmp_path / "case.toml", "grid.p3d", '[boundary.lid]\nkind = "far-field"\n')
    done = start(front, case)
    assert done.returncode == 2
    assert "the case says nothing of 4 boundaries of its grid" in done.stderr
    assert (
        f"at: {case}" in done.stderr and "given: [boundary.lid], which the grid does not have" in done.stderr
    )
    proposed = done.stderr[done.stderr.index('[boundary."') :]
    tables = tomllib.loads(proposed)["boundary"]
    assert list(tables) == ["1:j-min", "1:j-max", "2:j-min", "2:j-max"]
    done = start(front, write(case, "grid.p3d", proposed))
    assert done.returncode == 0, done.stderr
    # A table too many is named as it stands in the case.
    done = start(front, write(case, "grid.p3d", proposed + '[boundary."3:j-min"]\nkind = "wall"\n'))
    assert done.returncode == 2
    assert 'the grid has no boundary for [boundary."3:j-min"]' in done.stderr
    assert "allowed: 1:j-max, 1:j-min, 2:j-max, 2:j-min" in done.stderr


def test_names_of_a_map_with_any_characters_are_proposed_as_toml(front: str, tmp_path: Path) -> None:
    write_plot3d(tmp_path / "grid.p3d", [o_grid(left=False)])
    (tmp_path / "grid.nmf").write_text(
        f"1\n1 2 {AROUND + 1} {OUT + 1}\n"
        f"'one-to-one' 1 5 1 {OUT + 1} 1 2  1 6 1 {OUT + 1} 1 2 false\n"
        f"'solid \"steel\" \\ skin' 1 1 1 2 1 {AROUND + 1}\n"
        f"'far.field' 1 2 1 2 1 {AROUND + 1}\n"
    )
    case = write(tmp_path / "case.toml", "grid.p3d")
    case.write_text(case.read_text().replace("[flow]", 'map = "grid.nmf"\n[flow]'))
    done = start(front, case)
    proposed = done.stderr[done.stderr.index("[boundary.") :]
    tables = tomllib.loads(proposed)["boundary"]
    assert tables == {'solid "steel" \\ skin': {"kind": "wall"}, "far.field": {"kind": "far-field"}}
    case.write_text(case.read_text() + proposed)
    done = start(front, case)
    assert done.returncode == 0, done.stderr
