#!/usr/bin/env python3
"""Connectivity of grids that overlap beside TIOGA's (https://github.com/jsitaraman/tioga), on the same grids.

A turned, finer box of wavy cells in a box. Both find receptors and donors; no flow is computed. Strata's time
is that of the start of its program less that of the same start without connectivity (nodes read, metrics),
TIOGA's that of profile() and performConnectivity(). Strata's unknowns lie at centres of cells, TIOGA's at
nodes.

The driver is made by hand, against a checkout of TIOGA whose sources were compiled into libtioga.a:

    mpicxx -O3 -march=native -I TIOGA/src tioga_driver.cpp -L . -ltioga -lgfortran -o tioga_driver
    STRATA_BIN=build/.../bin/strata benchmarks/peers/overset.py --driver ./tioga_driver
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Grid = NDArray[np.float64]  # (3, nk, nj, ni): nodes


def box(cells: int, low: float, high: float, wave: float, turn: float) -> Grid:
    """A cube of cells, its inner nodes moved by waves of this share of its side, turned about z (radians)."""
    t = np.linspace(0.0, 1.0, cells + 1)
    z, y, x = np.meshgrid(t, t, t, indexing="ij")
    moved = wave * np.sin(np.pi * x) * np.sin(np.pi * y) * np.sin(np.pi * z)
    x, y, z = (low + (high - low) * (each + moved) for each in (x, y, z))
    middle, c, s = (low + high) / 2, np.cos(turn), np.sin(turn)
    dx, dy = x - middle, y - middle
    return np.stack([middle + c * dx - s * dy, middle + s * dx + c * dy, z])


def write_plot3d(path: Path, grid: Grid) -> None:
    """One zone, unformatted, in double precision."""
    size = np.array(grid.shape[:0:-1], np.int32)
    with path.open("wb") as to:
        for record in (np.array([1], np.int32), size, np.ascontiguousarray(grid)):
            mark = np.array([record.nbytes], np.int32).tobytes()
            to.write(mark + record.tobytes() + mark)


def write_for_tioga(path: Path, grid: Grid, ends_within: bool) -> None:
    """What tioga_driver.cpp reads."""
    size = np.array(grid.shape[:0:-1], np.int32)
    numbers = np.arange(np.prod(size)).reshape(grid.shape[1:])
    on_side = np.zeros(numbers.shape, bool)
    if ends_within:
        for axis in range(3):
            at = np.moveaxis(on_side, axis, 0)
            at[0] = at[-1] = True
    outer = numbers[on_side].astype(np.int32)
    with path.open("wb") as to:
        to.write(size.tobytes() + np.ascontiguousarray(grid).tobytes())
        to.write(np.array([len(outer)], np.int32).tobytes() + outer.tobytes())


def ours(front: str, program: Path, folder: Path, layout: str) -> dict[str, Any]:
    """One launch of Strata's program: seconds, cells, receptors, orphans."""
    out = folder / "check"
    subprocess.run(
        [front, "launch", "--layout", layout, "--", str(program), f"a={folder}/a.p3d", f"b={folder}/b.p3d",
         "--orphans", "1000000", "--times", "--out", str(out)],
        check=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    found = json.loads((out / "check.json").read_text(encoding="utf-8"))
    zones = found["zones"]
    return {
        "seconds": found["seconds"] - found["seconds_of_metrics"],
        "points": sum(int(np.prod(zone["cells"])) for zone in zones),
        **{name: sum(zone[name] for zone in zones) for name in ("receptors", "orphans")},
    }


def theirs(driver: Path, folder: Path) -> dict[str, Any]:
    """One launch of TIOGA's."""
    said = subprocess.run(
        [str(driver), str(folder / "a.bin"), str(folder / "b.bin")],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    return {"points": found.pop("nodes"), **found}


def main() -> int:
    """Launches both by turns and prints medians; status 1 where ours has more orphans."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", type=Path, required=True, help="the compiled tioga_driver.cpp")
    parser.add_argument("--cells", type=int, default=81, metavar="N", help="of each box along each side")
    parser.add_argument("--blocks", type=int, default=5, metavar="N", help="launches of each")
    parser.add_argument(
        "--layout", default="1x1", metavar="PxT", help="of Strata's program; TIOGA has one process"
    )
    given = parser.parse_args()
    front = os.environ.get("STRATA_BIN", "strata")
    places = [
        Path(front).resolve().parent.parent / part / "strata-overset"
        for part in ("libexec/strata", "solvers")
    ]
    program = next((place for place in places if place.is_file()), None)
    if program is None:
        print(
            f"strata-overset lies in none of {', '.join(map(str, places))}: set STRATA_BIN", file=sys.stderr
        )
        return 3
    if not given.driver.is_file():
        print(f"{given.driver} is not there: compile tioga_driver.cpp first (--help)", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory(prefix="strata-overset-") as name:
        folder = Path(name)
        outer, inner = box(given.cells, 0.0, 1.0, 0.02, 0.0), box(given.cells, 0.24, 0.77, 0.02, 0.4)
        for short, grid in (("a", outer), ("b", inner)):
            write_plot3d(folder / f"{short}.p3d", grid)
            write_for_tioga(folder / f"{short}.bin", grid, short == "b")
        runs: dict[str, list[dict[str, Any]]] = {"Strata": [], "TIOGA": []}
        for _ in range(given.blocks):
            runs["Strata"].append(ours(front, program, folder, given.layout))
            runs["TIOGA"].append(theirs(given.driver.resolve(), folder))
    print(
        f"{'':<8} {'points':>10} {'receptors':>10} {'orphans':>8} {'median s':>10} {'least':>8} {'most':>8}"
    )
    for who, all_runs in runs.items():
        seconds = [each["seconds"] for each in all_runs]
        last = all_runs[-1]
        print(
            f"{who:<8} {last['points']:>10} {last['receptors']:>10} {last['orphans']:>8} "
            f"{statistics.median(seconds):>10.3f} {min(seconds):>8.3f} {max(seconds):>8.3f}"
        )
    return 0 if runs["Strata"][-1]["orphans"] <= runs["TIOGA"][-1]["orphans"] else 1


if __name__ == "__main__":
    sys.exit(main())
