#!/usr/bin/env python3
"""Memory of molecular dynamics beside LAMMPS's: bytes that one more atom takes.

    benchmarks/peers/md_memory.py --lmp lmp
    benchmarks/peers/md_memory.py --cutoffs 2.5 --sides 20 40 --patch-atoms 32000

The liquid of md.py on one core, in two sizes: what is resident at most (as getrusage(2) says it of the
program and all that it starts), the difference by the difference of the numbers of atoms. So what a program
takes whatever the atoms is left out. What else runs does not matter.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from compare import cores
from md import lammps_input, program, strata_case, suffixes


def resident(command: Sequence[str], folder: Path, environment: dict[str, str] | None = None) -> int:
    """Bytes that were resident at most. RuntimeError where the program fails."""
    with (folder / "said").open("w+") as said:
        started = subprocess.Popen(
            ["taskset", "-c", str(cores()[0]), *command],
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdout=said,
            stderr=said,
        )
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        if status != 0:
            said.seek(0)
            raise RuntimeError(f"{' '.join(command)}: {said.read()[-500:]}")
    return used.ru_maxrss * 1024


def strata(given: argparse.Namespace, cutoff: float, precision: str) -> Callable[[int, Path], int]:
    def run(side: int, folder: Path) -> int:
        case = strata_case(folder, (side, side, side), cutoff, precision, given.steps, given)
        text = case.read_text()
        if given.patch_atoms:
            text = text.replace("[system]", f"[system]\npatch_atoms = {given.patch_atoms}")
        case.write_text(text)
        words = ["run", str(case), "--layout", "1x1", "--out", str(folder / "out")]
        return resident([given.strata, *words, "--series", "0", "--quiet"], folder)

    return run


def lammps(given: argparse.Namespace, cutoff: float, suffix: list[str]) -> Callable[[int, Path], int]:
    def run(side: int, folder: Path) -> int:
        lammps_input(folder, (side, side, side), cutoff, max(1, given.steps // 2))
        words = ["-in", "in.lj", "-log", "none", "-nocite", *suffix]
        return resident([given.lmp, *words], folder, {"OMP_NUM_THREADS": "1"})

    return run


def contenders(given: argparse.Namespace, cutoff: float) -> dict[str, Callable[[int, Path], int]]:
    found = {f"strata, {precision}": strata(given, cutoff, precision) for precision in ("mixed", "double")}
    for name, suffix in suffixes(given.lmp, 1).items() if given.lmp else ():
        found[f"LAMMPS {name}"] = lammps(given, cutoff, suffix)
        if "double" in suffix:
            mixed = ["mixed" if word == "double" else word for word in suffix]
            found["LAMMPS intel, mixed"] = lammps(given, cutoff, mixed)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--strata", default="strata", help="the command (strata)")
    parser.add_argument("--lmp", type=program, default=None, help="LAMMPS")
    parser.add_argument("--cutoffs", type=float, nargs="+", default=[2.5, 5.0])
    parser.add_argument("--sides", type=int, nargs=2, default=[20, 40], help="cells of four atoms (20 40)")
    parser.add_argument("--steps", type=int, default=60, help="of each run (60)")
    parser.add_argument("--patch-atoms", type=int, default=0, help="of our patches (the solver's default)")
    given = parser.parse_args()
    given.strata = program(given.strata) or sys.exit("install strata, and name it: --strata")
    given.every, given.tolerance = 20, 0.005
    small, large = sorted(given.sides)
    print("| cutoff | program | bytes an atom |\n| --- | --- | ---: |")
    for cutoff in given.cutoffs:
        for name, run in contenders(given, cutoff).items():
            with tempfile.TemporaryDirectory() as folder:
                few, many = (run(side, Path(folder)) for side in (small, large))
            print(f"| {cutoff:g} | {name} | {(many - few) / (4 * (large**3 - small**3)):.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
