#!/usr/bin/env python3
"""NASA's CFL3D on the grids of the Turbulence Modeling Resource: its input, a run, and what it found.

    benchmarks/peers/cfl3d.py plate-35x25 --cfl3d cfl3d_seq --grids DIR --out plate.json
    benchmarks/peers/cfl3d.py naca-113x33 --levels 3 --cycles 3000 --cfl 5
    benchmarks/peers/cfl3d.py plate-35x25 --model sst-v --levels 3 --cycles 6000
    benchmarks/peers/cfl3d.py naca-113x33 --scan 0.0221232   # its best time to a drag within 0.1 %
    benchmarks/peers/cfl3d.py naca-113x33 --show          # the input file

Roe's scheme with kappa = 1/3 and no limiter, all viscous terms, Spalart-Allmaras (or Menter's SST) with
advection of first order. Times are of the process (user and system), by getrusage. How to build it:
benchmarks/peers/README.md.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
GRIDS = HERE.parents[1] / "tests" / "solvers" / "flow"
VERSION = "nasa/CFL3D 776d5169 (12 August 2022)"


@dataclass(frozen=True)
class Flow:
    """One flow on one grid; `wall`: its first and last point (from 1) along the first index."""

    grid: str
    points: tuple[int, int]
    wall: tuple[int, int]
    mach: float
    reynolds: float  # of a unit length of the grid
    alpha: float
    area: float
    plate: bool

    @property
    def cells(self) -> int:
        return (self.points[0] - 1) * (self.points[1] - 1)

    @property
    def coarser(self) -> int:
        """How often all ranges of the grid can be halved."""
        counts = [self.points[0] - 1, self.points[1] - 1, self.wall[0] - 1, self.wall[1] - 1]
        return min(4, *((n & -n).bit_length() - 1 for n in counts))


def _plate(name: str, points: tuple[int, int], edge: int) -> Flow:
    return Flow(f"flatplate_clust2_{name}", points, (edge, points[0]), 0.2, 5e6, 0.0, 2.0, True)


def _naca(points: tuple[int, int], edge: int) -> Flow:
    name = f"n0012_{points[0]}-{points[1]}"
    return Flow(name, points, (edge, points[0] + 1 - edge), 0.15, 6e6, 10.0, 1.0, False)


FLOWS = {
    "plate-35x25": _plate("4levelsdown_35x25", (35, 25), 7),
    "plate-69x49": _plate("3levelsdown_69x49", (69, 49), 13),
    "plate-137x97": _plate("2levelsdown_137x97", (137, 97), 25),
    "naca-113x33": _naca((113, 33), 25),
    "naca-225x65": _naca((225, 65), 49),
}


@dataclass(frozen=True)
class How:
    """How CFL3D iterates: cycles on each grid of a sequence from coarse to fine, levels of multigrid."""

    cycles: tuple[int, ...] = (2000,)
    levels: int = 1
    cfl: float = 5.0
    turbulence_cfl: float = 0.0  # times that of the flow; 0: CFL3D's own, 10
    diagonal: bool = True  # scalar (diagonalised) or block factors
    order: int = 1  # of the advection of Spalart and Allmaras's variable
    w_cycle: bool = True
    laminar_before_plate: bool = False
    model: str = "sa"  # or "sst" (production by the strain rate), "sst-v" (by the vorticity)

    def words(self) -> str:
        factors = "scalar" if self.diagonal else "block"
        cycles = "+".join(map(str, self.cycles))
        return f"{cycles} cycles, {self.levels} levels, CFL {self.cfl:g}, {factors} factors"


def read_grid(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """x and y, [j, i], of a formatted two-dimensional PLOT3D grid of one block."""
    words = lzma.decompress(path.read_bytes()).split()
    assert words[0] == b"1", f"{path}: one block is expected"
    n, m = int(words[1]), int(words[2])
    values = np.array(words[3:], np.float64).reshape(2, m, n)
    return values[0], values[1]


def write_grid(path: Path, x: np.ndarray, z: np.ndarray) -> None:
    """As CFL3D reads it: unformatted, three-dimensional, two planes y = 0 and -1."""

    def record(data: bytes) -> bytes:
        mark = struct.pack("<i", len(data))
        return mark + data + mark

    m, n = x.shape
    both = [np.repeat(x[:, :, None], 2, axis=2), np.zeros((m, n, 2)), np.repeat(z[:, :, None], 2, axis=2)]
    both[1][:, :, 1] = -1.0
    data = b"".join(each.astype("<f8").tobytes() for each in both)
    path.write_bytes(record(struct.pack("<i", 1)) + record(struct.pack("<3i", 2, n, m)) + record(data))


class InputFile:
    """The lines of CFL3D's input: names of columns, and values below them."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def row(self, *values: object) -> None:
        self.lines.append("  " + " ".join(f"{value:>9}" for value in values))

    def table(self, head: str, *values: object) -> None:
        self.lines.append("  " + head)
        self.row(*values)

    def face(self, name: str, *segments: tuple[int, tuple[int, int], dict[str, float]]) -> None:
        """A face's boundary conditions: of each segment its kind, its range and its data."""
        self.lines.append(f"  {name}: GRID SEGMENT BCTYPE STA END STA END NDATA")
        for number, (kind, (begin, end), data) in enumerate(segments, 1):
            span = (begin, end) if name in ("I0", "IDIM") else (0, 0, begin, end)
            self.row(1, number, kind, *(*span, 0, 0)[:4], len(data))
            if data:
                self.table(" ".join(data), *data.values())


def _add_files(to: InputFile, flow: Flow, how: How) -> None:
    """Names of files, and keywords that its columns do not have."""
    lines = ["I/O FILES", "grid.bin", "plot3dg.bin", "plot3dq.bin", "cfl3d.out", "cfl3d.res", "cfl3d.turres"]
    lines += ["cfl3d.blomax", "cfl3d.out15", "cfl3d.prout", "cfl3d.out20", "ovrlp.bin", "patch.bin"]
    lines += ["restart.bin", ">", "ifullns 1"]
    if how.model == "sa":
        lines += ["tur10 3.0", f"iturbord {how.order}"]
    else:  # k and omega of the far field are CFL3D's own, 9e-9 and 1e-6
        lines += [f"iturbord {how.order}", f"ikoprod {int(how.model == 'sst')}"]
    if how.turbulence_cfl:
        lines += [f"cflturb{n} {how.turbulence_cfl}" for n in range(1, 2 if how.model == "sa" else 3)]
    to.lines += [*lines, "<", f" {flow.grid}"]


def _add_flow(to: InputFile, flow: Flow, how: How, coarser: int) -> None:
    """The state at infinity, the grid and the scheme."""
    first, _ = flow.wall
    n, m = flow.points
    state = (flow.mach, flow.alpha, 0.0, flow.reynolds / 1e6, 540.0, 0, 0)
    to.table("XMACH ALPHA BETA REUE,MIL TINF,DR IALPH IHSTRY", *state)
    to.table("SREF CREF BREF XMC YMC ZMC", flow.area, flow.area, 1.0, 0.0, 0.0, 0.0)
    to.table("DT IREST IFLAGTS FMAX IUNST CFLTAU", -how.cfl, 0, 0, 5.0, 0, 10.0)
    to.table("NGRID NPLOT3D NPRINT NWREST ICHK I2D NTSTEP ITA", -1, 1, 1, 1000000, 0, 1, 1, 1)
    viscous = 5 if how.model == "sa" else 7
    to.table("NCG IEM IADVANCE IFORCE IVISC(I) IVISC(J) IVISC(K)", coarser, 0, 0, "001", 0, viscous, viscous)
    to.table("IDIM JDIM KDIM", 2, n, m)
    laminar = (1, 2, 1, first, 1, m) if flow.plate and how.laminar_before_plate else (0,) * 6
    to.table("ILAMLO ILAMHI JLAMLO JLAMHI KLAMLO KLAMHI", *laminar)
    to.table("INEWG IGRIDC IS JS KS IE JE KE", *(0,) * 8)
    diagonal = int(how.diagonal)
    to.table("IDIAG(I) IDIAG(J) IDIAG(K) IFLIM(I) IFLIM(J) IFLIM(K)", *(diagonal,) * 3, 0, 0, 0)
    third = "0.3333333333333333"
    to.table("IFDS(I) IFDS(J) IFDS(K) RKAP0(I) RKAP0(J) RKAP0(K)", 1, 1, 1, third, third, third)


def _add_faces(to: InputFile, flow: Flow) -> None:
    first, last = flow.wall
    n, _ = flow.points
    parts = 2 if flow.plate else 3
    to.table("GRID NBCI0 NBCIDIM NBCJ0 NBCJDIM NBCK0 NBCKDIM IOVRLP", 1, 1, 1, 1, 1, parts, 1, 0)
    everywhere = (0, 0)
    wall = (2004, (first, last), {"TWTYPE": 0.0, "CQ": 0.0})
    to.face("I0", (1001, everywhere, {}))
    to.face("IDIM", (1002, everywhere, {}))
    if flow.plate:
        total = {"PTOT": 1.02828, "TTOT": 1.008, "ALPHA": 0.0, "BETA": 0.0}
        to.face("J0", (2009, everywhere, total))
        to.face("JDIM", (2002, everywhere, {"P/PINF": 1.0}))
        to.face("K0", (1001, (1, first), {}), wall)
    else:
        to.face("J0", (1003, everywhere, {}))
        to.face("JDIM", (1003, everywhere, {}))
        to.face("K0", (0, (1, first), {}), wall, (0, (last, n), {}))
    to.face("KDIM", (1003, everywhere, {}))


def _add_iteration(to: InputFile, how: How) -> None:
    """Multigrid, smoothing of residuals, and the sequence of grids."""
    sequence = len(how.cycles)
    to.table("MSEQ MGFLAG ICONSF MTT NGAM", sequence, int(how.levels > 1), 0, 0, 2 if how.w_cycle else 1)
    head = "ISSC EPSSSC(1) EPSSSC(2) EPSSSC(3) ISSR EPSSSR(1) EPSSSR(2) EPSSSR(3)"
    to.table(head, *(0, 0.3, 0.3, 0.3) * 2)
    to.lines.append("  NCYC MGLEVG NEMGL NITFO")
    for at, cycles in enumerate(how.cycles):
        levels = max(1, how.levels - (sequence - 1 - at))
        to.lines.append(f"  {cycles:>9} {levels:>9} 0 0")
    to.lines.append("  MIT1 MIT2 MIT3 MIT4 MIT5 MIT6 MIT7 MIT8")
    to.lines += ["  1 1 1 1 1 1 1 1"] * sequence


def _add_cuts_and_output(to: InputFile, flow: Flow) -> None:
    """Where a C-grid meets itself, and what is printed."""
    first, last = flow.wall
    n, _ = flow.points
    to.lines += ["  1-1 BLOCKING DATA:", "  NBLI", f"  {0 if flow.plate else 1}"]
    head = "  NUMBER GRID : ISTA JSTA KSTA IEND JEND KEND ISVA1 ISVA2"
    to.lines.append(head)
    if not flow.plate:
        to.lines.append(f"  1 1 1 1 1 2 {first} 1 1 2")
    to.lines.append(head)
    if not flow.plate:
        to.lines.append(f"  1 1 1 {n} 1 2 {last} 1 1 2")
    to.lines += ["  PATCH SURFACE DATA:", "  NINTER", "  0"]
    head = "  GRID IPTYPE ISTART IEND IINC JSTART JEND JINC KSTART KEND KINC"
    to.lines += ["  PLOT3D OUTPUT:", head, "  1 0 0 0 0 0 0 0 0 0 0", "  IMOVIE", "  0"]
    to.lines += ["  PRINT OUT:", head, f"  1 0 1 1 1 {first} {last} 1 1 1 1"]
    to.lines += ["  CONTROL SURFACE:", "  NCS", "  0"]
    to.lines += ["  GRID ISTART IEND JSTART JEND KSTART KEND IWALL INORM"]


def input_text(flow: Flow, how: How) -> str:
    """The input file. Throws ValueError where the grid has too few coarser ones."""
    coarser = max(how.levels, len(how.cycles)) - 1
    if coarser > flow.coarser:
        raise ValueError(f"{flow.grid} has {flow.coarser} coarser grids, not {coarser}")
    made = InputFile()
    _add_files(made, flow, how)
    _add_flow(made, flow, how, coarser)
    _add_faces(made, flow)
    _add_iteration(made, how)
    _add_cuts_and_output(made, flow)
    return "\n".join(made.lines) + "\n"


@dataclass
class Found:
    """What a run found. History: residual (decimal logarithm), lift, drag of each cycle."""

    flow: Flow
    how: How
    cpu: float
    history: np.ndarray
    forces: dict[str, float]
    wall: dict[str, list[float]] = field(default_factory=dict)
    seconds: float = 0  # of the program alone

    @property
    def cycles(self) -> int:
        return len(self.history)

    def as_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "grid": self.flow.grid,
            "how": self.how.words(),
            "cycles": self.cycles,
            "cpu_seconds_of_a_cycle": self.cpu / self.cycles,
            "log10_residual": float(self.history[-1, 0]),
            "forces": self.forces,
            "wall": self.wall,
        }


def run(flow: Flow, how: How, program: str, grids: Path, keep: Path | None = None) -> Found:
    folder = Path(tempfile.mkdtemp(prefix="cfl3d-"))
    try:
        write_grid(folder / "grid.bin", *read_grid(grids / f"{flow.grid}.p2dfmt.xz"))
        (folder / "cfl3d.inp").write_text(input_text(flow, how))
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        with (folder / "cfl3d.inp").open() as given:
            done = subprocess.run(
                [program], stdin=given, capture_output=True, text=True, cwd=folder, check=False
            )
        after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found = replace(parsed(flow, how, cpu, folder), seconds=seconds)
        if not len(found.history):
            said = (folder / "cfl3d.error").read_text() if (folder / "cfl3d.error").exists() else done.stderr
            raise RuntimeError(f"{how.words()}: CFL3D ended early: {' '.join(said.split())[-60:]}")
        return found
    finally:
        if keep is not None:
            shutil.copytree(folder, keep, dirs_exist_ok=True)
        shutil.rmtree(folder)


NUMBER = r"[-+]?\d+\.\d+E[-+]\d+"


def parsed(flow: Flow, how: How, cpu: float, folder: Path) -> Found:
    rows = []
    history = folder / "cfl3d.res"
    for line in history.read_text().splitlines() if history.exists() else ():
        words = line.split()
        if len(words) == 6 and words[0].isdigit():
            rows.append([float(word) for word in words[1:4]])
    forces = {}
    text = (folder / "cfl3d.out").read_text()
    found = re.findall(rf"CL +CD +CDp +CDv[^\n]*\n\s*({NUMBER})\s+({NUMBER})\s+({NUMBER})\s+({NUMBER})", text)
    if found:
        forces = dict(zip(("cl", "cd", "cd_pressure", "cd_viscous"), map(float, found[-1]), strict=True))
    return Found(flow, how, cpu, np.array(rows), forces, wall_of(folder / "cfl3d.prout"))


def wall_of(path: Path) -> dict[str, list[float]]:
    """The table of the wall: x, z, Cp or P/Pinf, Cf, y+."""
    columns: list[str] = []
    rows: list[list[float]] = []
    for line in path.read_text().splitlines() if path.exists() else ():
        words = line.split()
        if words[:3] == ["I", "J", "K"]:
            columns, rows = words, (rows if "Cf" not in words else [])
        elif columns and "Cf" in columns and len(words) == len(columns):
            rows.append([float(word) for word in words])
    if not rows:
        return {}
    table = np.array(rows)
    return {name: table[:, columns.index(name)].tolist() for name in ("X", "Z", "P/Pinf", "Cf", "yplus")}


def settled_after(found: Found, drag: float, within: float = 1e-3) -> int | None:
    """How many cycles it takes until the drag stays within a share of its limit."""
    off = np.abs(found.history[:, 2] / drag - 1) > within
    last = int(np.flatnonzero(off)[-1]) + 1 if off.any() else 0
    return None if last >= found.cycles - 5 else last + 1


def candidates(flow: Flow) -> list[How]:
    """What the scan tries: levels of multigrid, a sequence of grids before, CFL numbers, kinds of factors."""
    found = []
    for levels in range(1, flow.coarser + 2):
        for cfl in (2.0, 5.0, 10.0, 20.0):
            found.append(How((1500 if levels > 1 else 8000,), levels, cfl))
    for levels in range(2, flow.coarser + 2):
        for cfl in (2.0, 5.0, 10.0):
            found.append(How((1500,), levels, cfl, diagonal=False))
            # Full multigrid: 100 cycles on each coarser grid first
            found.append(How((*(100,) * (levels - 1), 1500), levels, cfl))
            found.append(How((*(100,) * (levels - 1), 1500), levels, cfl, diagonal=False))
    return found


def scan(flow: Flow, program: str, grids: Path, drag: float) -> list[dict[str, Any]]:
    """CPU seconds until the drag stays within 0.1 % of `drag`, of each candidate; the fastest first."""
    rows = []
    for how in candidates(flow):
        try:
            long = run(flow, how, program, grids)
        except RuntimeError as error:
            print(error, flush=True)
            continue
        needed = settled_after(long, drag) if np.isfinite(long.history).all() else None
        if needed is None:
            print(f"{how.words()}: not within 0.1 %", flush=True)
            continue
        before = sum(how.cycles[:-1])
        short = replace(how, cycles=(*how.cycles[:-1], max(1, needed - before)))
        timed = run(flow, short, program, grids)
        rows.append({"how": short.words(), "cycles": needed, "cpu_seconds": timed.cpu, "way": how})
        print(f"{short.words()}: {timed.cpu:.2f} CPU seconds", flush=True)
    return sorted(rows, key=lambda row: row["cpu_seconds"])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("flow", choices=sorted(FLOWS))
    parser.add_argument("--cfl3d", default=os.environ.get("STRATA_CFL3D", "cfl3d_seq"))
    parser.add_argument("--grids", type=Path, default=GRIDS, help="folder of NASA's grids (*.p2dfmt.xz)")
    parser.add_argument("--cycles", type=int, nargs="+", default=[2000], help="on each grid of the sequence")
    parser.add_argument("--levels", type=int, default=1, help="of multigrid")
    parser.add_argument("--cfl", type=float, default=5.0)
    parser.add_argument("--turbulence-cfl", type=float, default=0.0)
    parser.add_argument("--block", action="store_true", help="block factors, not scalar ones")
    parser.add_argument("--second-order", action="store_true", help="advection of the turbulence variable")
    parser.add_argument("--laminar-before-plate", action="store_true")
    parser.add_argument("--model", choices=("sa", "sst", "sst-v"), default="sa")
    parser.add_argument("--keep", type=Path, help="copy its folder here")
    parser.add_argument("--out", type=Path, help="what was found, as JSON")
    parser.add_argument(
        "--scan", type=float, metavar="CD", help="time to this drag within 0.1 %%, by many ways"
    )
    parser.add_argument("--show", action="store_true", help="print the input file")
    given = parser.parse_args()
    flow = FLOWS[given.flow]
    how = How(
        cycles=tuple(given.cycles),
        levels=given.levels,
        cfl=given.cfl,
        turbulence_cfl=given.turbulence_cfl,
        diagonal=not given.block,
        order=2 if given.second_order else 1,
        laminar_before_plate=given.laminar_before_plate,
        model=given.model,
    )
    if given.show:
        sys.stdout.write(input_text(flow, how))
        return 0
    if given.scan:
        rows = scan(flow, given.cfl3d, given.grids, given.scan)
        if given.out:
            told = [{key: row[key] for key in row if key != "way"} for row in rows]
            given.out.write_text(
                json.dumps({"version": VERSION, "grid": flow.grid, "scan": told}, indent=1) + "\n"
            )
        return 0
    found = run(flow, how, given.cfl3d, given.grids, given.keep)
    made = {**found.as_json(), "input": input_text(flow, how)}
    if given.out:
        given.out.write_text(json.dumps(made, indent=1) + "\n")
    print(f"{given.flow}: {how.words()}: {found.forces}, log10 residual {found.history[-1, 0]:.2f}")
    print(
        f"{found.cpu:.2f} CPU seconds, {1e6 * found.cpu / found.cycles / flow.cells:.3f} us a cell and cycle"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
