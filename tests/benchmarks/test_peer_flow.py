"""CFL3D as a peer: what is written for it and read from it. The program itself need not be here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks" / "peers"))

import cfl3d  # noqa: E402
import flow_cgns  # noqa: E402

NACA = cfl3d.FLOWS["naca-113x33"]


def test_its_grid_has_two_planes_of_nasas(tmp_path: Path) -> None:
    x, z = cfl3d.read_grid(cfl3d.GRIDS / f"{NACA.grid}.p2dfmt.xz")
    assert x.shape == (33, 113)
    assert x[0].min() == pytest.approx(0, abs=1e-6)  # the nose, on the wall
    cfl3d.write_grid(tmp_path / "grid.bin", x, z)
    words = np.fromfile(tmp_path / "grid.bin", "<i4", 8)
    assert words.tolist() == [4, 1, 4, 12, 2, 113, 33, 12]
    values = np.fromfile(tmp_path / "grid.bin", "<f8", offset=36)[: 3 * 2 * x.size]
    assert np.array_equal(values.reshape(3, 33, 113, 2)[2, :, :, 1], z)


def test_its_input_is_the_one_of_the_recorded_runs() -> None:
    """So what is recorded can be made again: version, input and figures belong together."""
    for name, flow in cfl3d.FLOWS.items():
        kept = json.loads((cfl3d.GRIDS / "cfl3d" / f"{name}.json").read_text())
        assert kept["version"] == cfl3d.VERSION
        cycles = tuple(int(word) for word in kept["how"].split()[0].split("+"))
        levels = int(kept["how"].split(", ")[1].split()[0])
        assert cfl3d.input_text(flow, cfl3d.How(cycles, levels, 5.0)) == kept["input"]
        assert kept["log10_residual"] < -10


def test_more_grids_than_can_be_halved_are_refused() -> None:
    assert NACA.coarser == 3
    with pytest.raises(ValueError, match="3 coarser"):
        cfl3d.input_text(NACA, cfl3d.How((10,), 5))


def test_the_drag_counts_as_found_when_it_stays_within_the_limit() -> None:
    drag = np.array([2.0, 1.0005, 1.01, 1.0009, *[1.0] * 20])
    history = np.column_stack([drag, drag, drag])
    found = cfl3d.Found(NACA, cfl3d.How(), 1.0, history, {})
    assert cfl3d.settled_after(found, 1.0) == 4
    found.history[-1, 2] = 1.1
    assert cfl3d.settled_after(found, 1.0) is None


def test_a_grid_for_adflow_is_joined_where_it_is_cut() -> None:
    """Points of both sides of the cut are the same; what is left of the border has one boundary each."""
    low, high = flow_cgns.cut(NACA)
    x, z = cfl3d.read_grid(cfl3d.GRIDS / f"{NACA.grid}.p2dfmt.xz")
    here = range(low[0][0], low[1][0] + 1)
    there = range(high[0][0], high[1][0] - 1, -1)
    assert len(here) == len(there) == NACA.wall[0]
    for a, b in zip(here, there, strict=True):
        assert (x[0, a - 1], z[0, a - 1]) == pytest.approx((x[0, b - 1], z[0, b - 1]), abs=1e-12)
    covered = 0
    for begin, end in [*(part for _, part in flow_cgns.ranges(NACA).values()), low, high]:
        covered += int(np.prod([max(1, abs(b - a)) for a, b in zip(begin, end, strict=True)]))
    n, m = NACA.points
    assert covered == 2 * ((n - 1) * (m - 1) + (n - 1) + (m - 1))
