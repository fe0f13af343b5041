#!/usr/bin/env python3
"""Molecular dynamics beside GROMACS and LAMMPS: million atom-steps a second of a Lennard-Jones liquid.

    benchmarks/peers/md.py --pairs build/.../solvers/strata-md-pairs --gmx gmx --lmp lmp
    benchmarks/peers/md.py --cutoffs 2.5 --cores 1 --blocks 3 --table md.md

Density 0.8442, start from fcc at temperature 1.44, time step 0.005, potential shifted to 0 at the cutoff,
lists rebuilt at fixed intervals. Whole steps are compared: forces, pruning, rebuilding, integration. Ours is
so far the driver of the pair kernels: one box a core. A peer runs one box of as many atoms a core on all.
GROMACS in mixed precision has a table of its own, LAMMPS in double another. Peers that are not here are named
and left out. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from compare import OURS, Comparison, Contender, common_options, compared, cores, output_of

DENSITY, TEMPERATURE, STEP = 0.8442, 1.44, 0.005
CELL = (4 / DENSITY) ** (1 / 3)
BASIS = ((0.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.5, 0.0, 0.5), (0.0, 0.5, 0.5))
BOLTZMANN = 0.008314462618  # kJ/(mol K): with 1 nm, 1 u and 1 kJ/mol GROMACS's time is in units of 1 ps


def rates(found: str, atoms: int, steps_per_second: str) -> dict[str, float]:
    said = re.findall(steps_per_second, found)
    if not said:
        raise RuntimeError(f"no rate in what was printed: {found[-500:]}")
    return {"": 1e-6 * atoms * float(said[-1])}


def ours(
    program: str, side: int, cutoff: float, precision: str, cores_used: int
) -> Callable[[], dict[str, float]]:
    def run() -> dict[str, float]:
        command = [program, "--side", str(side), "--cutoff", str(cutoff), "--precision", precision]
        started = [
            subprocess.Popen(
                ["taskset", "-c", str(core), *command],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for core in cores()[:cores_used]
        ]
        total = 0.0
        for one in started:
            out, err = one.communicate()
            if one.returncode != 0:
                raise RuntimeError(f"{program}: {err.strip()}")
            total += json.loads(out)["million_steps_per_s"]
        return {"": total}

    return run


# -- GROMACS


def gromacs_input(
    folder: Path, gmx: str, side: tuple[int, int, int], cutoff: float, tolerance: float = 0.005
) -> int:
    """Writes run.tpr; returns the number of atoms."""
    cells = [(a, b, c) for a in range(side[0]) for b in range(side[1]) for c in range(side[2])]
    places = [tuple((cell[d] + at[d]) * CELL for d in range(3)) for cell in cells for at in BASIS]
    lines = [
        f"{(n + 1) % 100000:5d}{'AR':<5s}{'A':>5s}{(n + 1) % 100000:5d}" + "".join(f"{x:8.3f}" for x in at)
        for n, at in enumerate(places)
    ]
    box = " ".join(f"{n * CELL:.5f}" for n in side)
    (folder / "conf.gro").write_text("\n".join(["fcc", str(len(places)), *lines, box]) + "\n")
    (folder / "topol.top").write_text(
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nA 18 1.0 0.0 A 1.0 1.0\n[ moleculetype ]\nAR 1\n"
        f"[ atoms ]\n1 A 1 AR A 1 0.0 1.0\n[ system ]\nfcc\n[ molecules ]\nAR {len(places)}\n"
    )
    keys = {
        "integrator": "md",
        "dt": STEP,
        "nsteps": 100000,
        "cutoff-scheme": "Verlet",
        "rvdw": cutoff,
        "rcoulomb": cutoff,
        "vdw-modifier": "Potential-shift",
        "gen-vel": "yes",
        "gen-temp": TEMPERATURE / BOLTZMANN,
        "nstenergy": 100,
        "nstcalcenergy": 100,
        "nstlog": 1000,
        "verlet-buffer-tolerance": tolerance,
    }
    (folder / "run.mdp").write_text("".join(f"{key} = {value}\n" for key, value in keys.items()))
    output_of([gmx, "grompp", "-f", "run.mdp", "-o", "run.tpr", "-maxwarn", "5"], cwd=folder)
    return len(places)


def gromacs(folder: Path, gmx: str, atoms: int, steps: int, threads: int) -> Callable[[], dict[str, float]]:
    def run() -> dict[str, float]:
        pinned = ["taskset", "-c", ",".join(map(str, cores()[:threads]))]
        command = [gmx, "mdrun", "-s", "run.tpr", "-ntmpi", "1", "-ntomp", str(threads), "-pin", "off"]
        output_of(
            [*pinned, *command, "-noconfout", "-nsteps", str(steps), "-resethway", "-deffnm", "out"],
            cwd=folder,
        )
        log = (folder / "out.log").read_text()
        said = re.findall(r"Performance:\s+([0-9.]+)", log)
        if not said:
            raise RuntimeError(f"GROMACS: no rate in {folder / 'out.log'}")
        return {"": 1e-6 * atoms * float(said[-1]) * 1000 / STEP / 86400}

    return run


# -- LAMMPS


def lammps_input(folder: Path, side: tuple[int, int, int], cutoff: float, steps: int) -> None:
    (folder / "in.lj").write_text(
        f"""units lj
atom_style atomic
lattice fcc {DENSITY}
region box block 0 {side[0]} 0 {side[1]} 0 {side[2]}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create {TEMPERATURE} 87287 loop geom
pair_style lj/cut {cutoff}
pair_coeff 1 1 1.0 1.0 {cutoff}
pair_modify shift yes
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
timestep {STEP}
run {steps}
run {steps}
"""
    )


def lammps(
    folder: Path, lmp: str, atoms: int, suffix: list[str], threads: int
) -> Callable[[], dict[str, float]]:
    def run() -> dict[str, float]:
        mask = ",".join(map(str, cores()[:threads]))
        said = output_of(
            ["taskset", "-c", mask, lmp, "-in", "in.lj", "-log", "none", "-nocite", *suffix],
            {"OMP_NUM_THREADS": str(threads)},
            folder,
        )
        return rates(said, atoms, r"([0-9.]+) timesteps/s")

    return run


def suffixes(lmp: str, threads: int) -> dict[str, list[str]]:
    """Of LAMMPS's accelerator packages those that this one has and that use so many threads."""
    known = output_of([lmp, "-h"])
    found = {}
    if "lj/cut/opt" in known and threads == 1:
        found["opt"] = ["-sf", "opt"]
    if "lj/cut/omp" in known and threads > 1:
        found["omp"] = ["-sf", "omp", "-pk", "omp", str(threads)]
    if "lj/cut/intel" in known:
        found["intel, double"] = ["-sf", "intel", "-pk", "intel", "0", "mode", "double", "omp", str(threads)]
    return found or {"plain": []}


def comparisons(made: Path, given: argparse.Namespace, cutoff: float, used: int) -> list[Comparison]:
    side = (given.side, given.side, given.side * used)
    atoms = 4 * side[0] * side[1] * side[2]
    steps = max(100, int(given.steps * (2.5 / cutoff) ** 3))
    folder = made / f"{cutoff}-{used}"
    folder.mkdir()
    mixed = [Contender(OURS, ours(given.pairs, given.side, cutoff, "mixed", used))]
    double = [Contender(OURS, ours(given.pairs, given.side, cutoff, "full", used))]
    if given.gmx:
        gromacs_input(folder, given.gmx, side, cutoff, given.tolerance)
        mixed.append(Contender("GROMACS", gromacs(folder, given.gmx, atoms, steps, used)))
    if given.lmp:
        lammps_input(folder, side, cutoff, max(50, steps // 4))
        for name, suffix in suffixes(given.lmp, used).items():
            double.append(Contender(f"LAMMPS {name}", lammps(folder, given.lmp, atoms, suffix, used)))
    what = f"cutoff {cutoff:g}, {atoms} atoms, {used} core{'s' if used > 1 else ''}"
    return [
        Comparison(f"{what}, mixed precision", "M atom-steps/s", True, 0.0, mixed),
        Comparison(f"{what}, double", "M atom-steps/s", True, -0.5, double),
    ]


def program(named: str) -> str | None:
    found = shutil.which(named)
    if found is None:
        print(f"left out: no {named}")
    return found and str(Path(found).resolve())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pairs", default="strata-md-pairs", help="the driver of the pair kernels")
    parser.add_argument("--gmx", type=program, default=None, help="GROMACS, mixed precision")
    parser.add_argument("--lmp", type=program, default=None, help="LAMMPS")
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.005,
        help="GROMACS's verlet-buffer-tolerance in epsilon/tau (0.005, its default): the drift it allows",
    )
    parser.add_argument("--cutoffs", type=float, nargs="+", default=[2.5, 5.0])
    parser.add_argument("--cores", type=int, nargs="+", default=sorted({1, len(cores())}))
    parser.add_argument("--side", type=int, default=20, help="cells of four atoms along a core's box (20)")
    parser.add_argument("--steps", type=int, default=2000, help="of GROMACS at cutoff 2.5 (2000)")
    common_options(parser, blocks=5)
    given = parser.parse_args()
    given.pairs = program(given.pairs) or sys.exit("build strata-md-pairs, and name it: --pairs")
    with tempfile.TemporaryDirectory() as made:
        groups = (
            comparisons(Path(made), given, cutoff, used) for cutoff in given.cutoffs for used in given.cores
        )
        return compared(groups, given)


if __name__ == "__main__":
    sys.exit(main())
