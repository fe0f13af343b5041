#!/usr/bin/env python3
"""Memory of compressible flow beside CFL3D's: bytes that one more cell takes.

    benchmarks/peers/flow_memory.py --cfl3d cfl3d_seq

RANS with Spalart and Allmaras' model in two dimensions on one core, on C-grids around an airfoil of two
sizes: the memory of the one less that of the other, by the difference of the numbers of cells. So what a
program takes whatever the grid is left out. Ours is what is resident at most (getrusage(2)), CFL3D's what it
says itself that it has allocated, on NASA's grids of 3,584 and 14,336 cells. What else runs does not matter.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import cfl3d
from md import program
from md_memory import resident

CASE = """solver = "flow"
[grid]
kind = "airfoil"
cells = [{around}, 128, {out}]
patch = [64, 32]
[flow]
equations = "rans"
mach = 0.15
reynolds = 6e6
[time]
iterations = 3
{time}
[boundary.wall]
kind = "wall"
[boundary.farfield]
kind = "far-field"
[boundary.outflow]
kind = "far-field"
"""
SIZES = {(512, 128): 98304, (1024, 256): 327680}
WAYS = {
    "LU-SGS": 'implicit = "lu-sgs"',
    "lines": 'implicit = "lines"',
    "lines, three grids": "multigrid = 3",
}


def strata(front: str, time: str) -> Callable[[Path], float]:
    """Bytes of a cell."""

    def run(folder: Path) -> float:
        case, found = folder / "case.toml", []
        for number, (around, out) in enumerate(SIZES):
            case.write_text(CASE.format(around=around, out=out, time=time))
            words = ["run", str(case), "--layout", "1x1", "--out", str(folder / f"out{number}")]
            found.append(resident([front, *words, "--series", "0", "--quiet"], folder))
        cells = list(SIZES.values())
        return (found[1] - found[0]) / (cells[1] - cells[0])

    return run


def peer(command: str, how: cfl3d.How) -> Callable[[Path], float]:
    """Bytes of a cell."""

    def run(folder: Path) -> float:
        found, cells = [], []
        for name in ("naca-113x33", "naca-225x65"):
            flow = cfl3d.FLOWS[name]
            x, z = cfl3d.read_grid(cfl3d.GRIDS / f"{flow.grid}.p2dfmt.xz")
            cfl3d.write_grid(folder / "grid.bin", x, z)
            (folder / "cfl3d.inp").write_text(cfl3d.input_text(flow, how))
            with (folder / "cfl3d.inp").open() as words:
                subprocess.run([command], stdin=words, cwd=folder, capture_output=True, check=True)
            said = re.search(r"memory allocation: +([\d.]+) Mbytes", (folder / "cfl3d.out").read_text())
            if said is None:
                raise RuntimeError(f"{command}: it does not say what memory it has allocated")
            found.append(1e6 * float(said[1]))
            cells.append((x.shape[0] - 1) * (x.shape[1] - 1))
        return (found[1] - found[0]) / (cells[1] - cells[0])

    return run


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--strata", default="strata", help="the command (strata)")
    parser.add_argument("--cfl3d", type=program, default=None, help="CFL3D (cfl3d_seq)")
    given = parser.parse_args()
    front = program(given.strata) or sys.exit("install strata, and name it: --strata")
    runs = {f"strata, {name}": strata(front, time) for name, time in WAYS.items()}
    if given.cfl3d:
        runs["CFL3D, scalar factors"] = peer(given.cfl3d, cfl3d.How((3,), 1, 5.0))
        runs["CFL3D, block factors, three grids"] = peer(given.cfl3d, cfl3d.How((3,), 3, 5.0, diagonal=False))
    print("| program | bytes a cell |\n| --- | ---: |")
    for name, run in runs.items():
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {name} | {run(Path(folder)):.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
