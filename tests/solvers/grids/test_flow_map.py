"""Maps of grids that have none: the map that `strata overset map` finds is the one that is known."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flow_cases import run_flow, write_plot3d
from solver_cases import solver_program

Array = np.ndarray
FACE_NUMBER = {2: 1, 0: 3, 1: 5}  # of the lower face across an axis; the upper one follows


@pytest.fixture(autouse=True)
def _built(front: str) -> None:
    for program in ("strata-flow", "strata-overset"):
        if solver_program(front, program) is None:
            pytest.skip("the solver of compressible flow is not built")


@dataclass
class Zone:
    """Nodes [component, i, j, k], and the number of each place [i, j, k]: one place, one number."""

    nodes: Array
    places: Array

    def turned(self, order: tuple[int, int, int], back: tuple[bool, bool, bool]) -> Zone:
        """The same with its indices in another order, some of them from the last one down."""
        at = tuple(slice(None, None, -1 if b else 1) for b in back)
        return Zone(
            self.nodes.transpose(0, *(1 + axis for axis in order))[(slice(None), *at)],
            self.places.transpose(order)[at],
        )

    def part(self, *ranges: tuple[int, int]) -> Zone:
        at = tuple(slice(low, high + 1) for low, high in ranges)
        return Zone(self.nodes[(slice(None), *at)], self.places[at])


@dataclass
class Face:
    zone: int
    axis: int
    upper: bool
    places: Array  # along the two indices of the face, in the order of maps
    nodes: Array
    taken: Array = field(init=False)  # cells

    def __post_init__(self) -> None:
        self.taken = np.zeros(tuple(n - 1 for n in self.places.shape), bool)

    def side(self, begin: Array, end: Array) -> str:
        number = FACE_NUMBER[self.axis] + self.upper
        return f"{self.zone + 1} {number}  {begin[0] + 1} {end[0] + 1}  {begin[1] + 1} {end[1] + 1}"

    def take(self, begin: Array, end: Array) -> None:
        low, high = np.minimum(begin, end), np.maximum(begin, end)
        assert not self.taken[low[0] : high[0], low[1] : high[1]].any()
        self.taken[low[0] : high[0], low[1] : high[1]] = True


def faces_of(zones: list[Zone], plane: bool) -> list[Face]:
    found = []
    for number, zone in enumerate(zones):
        for axis, upper in itertools.product(range(3), (False, True)):
            if plane and axis == 0:
                continue
            first, second = (axis + 1) % 3, (axis + 2) % 3
            here = np.take(zone.places, -1 if upper else 0, axis=axis)
            nodes = np.take(zone.nodes, -1 if upper else 0, axis=axis + 1)
            if first > second:
                here, nodes = here.T, nodes.transpose(0, 2, 1)
            found.append(Face(number, axis, upper, here, nodes))
    return found


def rectangle(face: Face, other: Face) -> tuple[Array, Array] | None:
    """The first and the last point of the cells that a face has in common with another one."""
    common = np.isin(face.places, other.places)
    cells = common[1:, 1:] & common[1:, :-1] & common[:-1, 1:] & common[:-1, :-1]
    if not cells.any():
        return None
    at = np.argwhere(cells)
    low, high = at.min(axis=0), at.max(axis=0) + 1
    return (low, high) if len(at) == np.prod(high - low) else None


def joined(one: Face, other: Face) -> str | None:
    """The line of the rectangle that two faces have in common, if there is one."""
    here, there = rectangle(one, other), rectangle(other, one)
    if here is None or there is None:
        return None
    begin, end = here
    wanted = one.places[begin[0] : end[0] + 1, begin[1] : end[1] + 1]
    for swapped, back0, back1 in itertools.product((False, True), repeat=3):
        low, high = np.where([back0, back1], there[::-1], there)
        steps = [-1 if back else 1 for back in (back0, back1)]
        rows, columns = (np.arange(low[a], high[a] + steps[a], steps[a]) for a in range(2))
        found = other.places[np.ix_(rows, columns)]
        if np.array_equal(wanted, found.T if swapped else found):
            one.take(begin, end)
            other.take(low, high)
            return f"'one-to-one' {one.side(begin, end)}  {other.side(low, high)} {swapped}".lower()
    return None


def known_map(zones: list[Zone], plane: bool) -> tuple[str, dict[str, Array]]:
    """The text of the map, and the middle of each boundary by its name. In the plane the first index is the
    one that the grid does not have.
    """
    lines = [f"{len(zones)}"]
    lines += [f"{n + 1} " + " ".join(map(str, zone.places.shape)) for n, zone in enumerate(zones)]
    faces = faces_of(zones, plane)
    boundaries = {}

    def is_collapsed(face: Face) -> bool:
        return (face.places == face.places[:1]).all() or (face.places == face.places[:, :1]).all()

    for one, other in itertools.combinations([f for f in faces if not is_collapsed(f)], 2):
        if line := joined(one, other):
            lines.append(line)
    for face in faces:
        free = np.argwhere(~face.taken)
        if not len(free):
            continue
        low, high = free.min(axis=0), free.max(axis=0) + 1
        assert len(free) == np.prod(high - low)
        letter = "ijk"[face.axis - 1 if plane else face.axis]
        name = (
            "collapsed"
            if is_collapsed(face)
            else f"{face.zone + 1}:{letter}-{'max' if face.upper else 'min'}"
        )
        lines.append(f"'{name}' {face.side(low, high)}")
        boundaries[name] = face.nodes[:, (low[0] + high[0]) // 2, (low[1] + high[1]) // 2]
    return "\n".join(lines) + "\n", boundaries


def ring(around: int, out: int) -> Zone:
    """Around a cylinder of diameter 1: indices across the plane, around (clockwise), outwards."""
    r = 0.5 * 1.25 ** np.arange(out + 1)
    angle = -2 * np.pi * np.arange(around + 1) / around
    angle[-1] = 0
    flat = np.stack([np.outer(np.cos(angle), r), np.outer(np.sin(angle), r)])
    number = np.arange((around + 1) * (out + 1)).reshape(around + 1, out + 1)
    number[-1] = number[0]
    return Zone(np.stack([flat, flat], axis=1), np.stack([number, number + number.size]))


def pipe(out: int, around: int, along: int) -> Zone:
    """A pipe of radius 1 about x: outwards from its axis, around, along."""
    r, phi = np.linspace(0, 1, out + 1), 2 * np.pi * np.arange(around + 1) / around
    phi[-1] = 0
    x = np.linspace(0, 2, along + 1)
    nodes = np.stack(np.broadcast_arrays(
        x[None, None, :], (r[:, None] * np.cos(phi))[:, :, None], (r[:, None] * np.sin(phi))[:, :, None]
    ))  # fmt: skip
    places = np.arange(nodes[0].size).reshape(nodes[0].shape)
    places[:, -1] = places[:, 0]
    places[0] = places[0, :1]
    return Zone(nodes, places)


def one_ring() -> list[Zone]:
    return [ring(24, 10).turned((0, 1, 2), (False, True, False))]  # left-handed


def three_of_a_ring() -> list[Zone]:
    whole = ring(24, 10)
    return [
        whole.part((0, 1), (0, 10), (0, 10)),  # touches two zones at either end
        whole.part((0, 1), (10, 24), (0, 4)).turned((0, 2, 1), (False, True, True)),
        whole.part((0, 1), (10, 24), (4, 10)).turned((0, 1, 2), (False, False, True)),
    ]


def one_pipe() -> list[Zone]:
    return [pipe(4, 12, 6)]


def three_of_a_pipe() -> list[Zone]:
    whole = pipe(4, 12, 6)
    return [
        whole.part((0, 4), (0, 12), (0, 3)).turned((1, 2, 0), (False, True, False)),
        whole.part((0, 4), (0, 5), (3, 6)).turned((2, 0, 1), (True, False, True)),
        whole.part((0, 4), (5, 12), (3, 6)).turned((0, 2, 1), (False, False, True)),
    ]


def kind_at(place: Array, plane: bool) -> str:
    r = np.hypot(*place[-2:])
    if plane:
        return "wall" if r < 0.51 else "far-field"
    return "slip-wall" if r > 0.9 else "far-field"


def case(grid: Path, plane: bool, boundaries: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {
        "solver": "flow",
        "grid": {"kind": "file", "file": str(grid), **keys},
        "flow": {"equations": "laminar" if plane else "euler", "mach": 0.3, "reynolds": 100.0, "alpha": 3.0},
        "time": {"iterations": 6, "cfl": 5.0},
        "boundary": boundaries,
    }


def map_of(front: str, *words: object) -> subprocess.CompletedProcess[str]:
    line = [front, "overset", "map", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("make", [one_ring, three_of_a_ring, one_pipe, three_of_a_pipe])
def test_the_map_that_is_found_gives_the_flow_of_the_known_map(
    front: str, tmp_path: Path, make: Callable[[], list[Zone]]
) -> None:
    zones = make()
    plane = "ring" in make.__name__
    write_plot3d(tmp_path / "grid.p3d", [zone.nodes[:, 0] if plane else zone.nodes for zone in zones])
    text, middles = known_map(zones, plane)
    (tmp_path / "known.nmf").write_text(text)
    done = map_of(front, tmp_path / "grid.p3d", "--out", tmp_path / "found.nmf")
    assert done.returncode == 0, done.stderr
    found = (tmp_path / "found.nmf").read_text()
    for name in middles:
        assert f"'{name}'" in found and name in done.stdout
    assert found.count("'one-to-one'") == text.count("'one-to-one'")
    assert ("zone" in done.stdout and "left-handed" in done.stdout) is (make is not one_pipe)
    kinds: dict[str, Any] = {name: {"kind": kind_at(at, plane)} for name, at in middles.items()}
    if not plane:
        kinds["collapsed"] = {"kind": "axis"}
    grid = tmp_path / "grid.p3d"
    runs = [
        run_flow(
            case(grid, plane, kinds, map=str(tmp_path / f"{name}.nmf")),
            tmp_path / name,
            "1x1",
            "--series",
            "1",
        )
        for name in ("known", "found")
    ]
    runs.append(run_flow(case(grid, plane, kinds), tmp_path / "without", "1x1", "--series", "1"))
    known = runs[0]
    assert known.last("drag") != 0 or not plane
    for other in runs[1:]:
        for column in ("residual", "lift", "drag"):
            assert other.series[column] == pytest.approx(known.series[column], rel=1e-9, abs=1e-13), column


def test_a_shift_is_written_as_periodic_and_a_turn_is_left_to_the_case(front: str, tmp_path: Path) -> None:
    quarter = pipe(4, 12, 6).part((1, 4), (0, 3), (0, 6))
    write_plot3d(tmp_path / "grid.p3d", [quarter.nodes])
    done = map_of(front, tmp_path / "grid.p3d", "--shift=-2,0,0", "--turn", "90")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "grid.nmf").read_text()
    assert text.count("'periodic'") == 1 and "1:k-min" not in text
    assert "joins by the turn are left out (1)" in done.stdout and "1:j-min" not in text
    kinds = {"1:i-min": {"kind": "slip-wall"}, "1:i-max": {"kind": "slip-wall"}}
    runs = [
        run_flow(
            case(tmp_path / "grid.p3d", False, kinds, turn=90.0, turn_axis="x", **more),
            tmp_path / name,
            "1x1",
        )
        for name, more in (("map", {"map": str(tmp_path / "grid.nmf")}), ("none", {"shift": [2.0, 0.0, 0.0]}))
    ]
    assert runs[0].last("residual") == pytest.approx(runs[1].last("residual"), rel=1e-9)


def test_a_map_that_is_there_and_words_that_say_nothing_are_refused(front: str, tmp_path: Path) -> None:
    write_plot3d(tmp_path / "grid.p3d", [ring(8, 4).nodes[:, 0]])
    (tmp_path / "grid.nmf").write_text("mine")
    for words, says in (
        ([], "the map file is there already"),
        (["--out", "absent/new.nmf"], "the map file cannot be written"),
        (["--out", "new.nmf", "--shift", "1,2,3,4"], "--shift has a number for each dimension"),
        (["--out", "new.nmf", "--turn-axis", "w", "--turn", "30"], "--turn-axis"),
        (["--out", "new.nmf", "--form", "binary"], "binary"),
    ):
        done = subprocess.run(
            [front, "overset", "map", "grid.p3d", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2 and says in done.stderr, done.stderr
        assert not (tmp_path / "new.nmf").exists()
    assert (tmp_path / "grid.nmf").read_text() == "mine"
    assert not list(tmp_path.glob("**/*.partial"))
