#!/usr/bin/env python3
"""Molecular dynamics beside GROMACS and LAMMPS: million atom-steps a second of a Lennard-Jones liquid.

    benchmarks/peers/md.py --gmx gmx --lmp lmp
    benchmarks/peers/md.py --cutoffs 2.5 --cores 1 --blocks 3 --table md.md
    benchmarks/peers/md.py --drift 100000 --gmx gmx --lmp lmp       # how well each conserves energy

Density 0.8442, start from fcc at temperature 1.44, time step 0.005, potential shifted to 0 at the cutoff,
lists made anew at fixed intervals, with the skin that a drift of the energy allows: GROMACS's estimate and
ours get the same drift, LAMMPS the skin of its own benchmark (0.3). Whole steps are compared: forces,
pruning, rebuilding, integration, by each program's own clock. All run one box of as many atoms a core.
GROMACS in mixed precision has a table of its own, LAMMPS in double another. Peers that are not here are named
and left out. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import shutil
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


# -- Strata


def strata_case(
    folder: Path,
    side: tuple[int, int, int],
    cutoff: float,
    precision: str,
    steps: int,
    given: argparse.Namespace,
) -> Path:
    case = folder / f"{precision}.toml"
    case.write_text(
        f"""solver = "md"
[system]
lattice = "fcc"
cells = [{side[0]}, {side[1]}, {side[2]}]
density = {DENSITY}
temperature = {TEMPERATURE}
seed = 87287
[pair]
cutoff = {cutoff}
shift = "energy"
precision = "{precision}"
[neighbours]
every = {given.every}
drift = {given.tolerance}
[time]
step = {STEP}
steps = {steps}
"""
    )
    return case


def strata(
    folder: Path, case: Path, program: str, threads: int, series: int = 0
) -> Callable[[], dict[str, float]]:
    def run() -> dict[str, float]:
        out = folder / "strata"
        shutil.rmtree(out, ignore_errors=True)
        words = ["run", str(case), "--layout", f"1x{threads}", "--out", str(out)]
        output_of([program, *words, "--series", str(series), "--quiet"])  # fails where it is not verified
        result = json.loads((out / "result.json").read_text())
        figures = {each["name"]: each["value"] for each in result["figures"]}
        return {"": 1e-6 * figures["particles updated"]}

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


def lammps_input(folder: Path, side: tuple[int, int, int], cutoff: float, steps: int, every: int = 0) -> None:
    """Two runs, of which the second is timed; with `every` one run with its energies."""
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
thermo {every}
run {steps}
{"" if every else f"run {steps}"}
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
    contenders = {}
    for precision in ("mixed", "double"):
        case = strata_case(folder, side, cutoff, precision, steps, given)
        contenders[precision] = [Contender(OURS, strata(folder, case, given.strata, used))]
    if given.gmx:
        gromacs_input(folder, given.gmx, side, cutoff, given.tolerance)
        contenders["mixed"].append(Contender("GROMACS", gromacs(folder, given.gmx, atoms, steps, used)))
    if given.lmp:
        lammps_input(folder, side, cutoff, max(50, steps // 4))
        for name, suffix in suffixes(given.lmp, used).items():
            runs = lammps(folder, given.lmp, atoms, suffix, used)
            contenders["double"].append(Contender(f"LAMMPS {name}", runs))
    what = f"cutoff {cutoff:g}, {atoms} atoms, {used} core{'s' if used > 1 else ''}"
    return [
        Comparison(f"{what}, mixed precision", "M atom-steps/s", True, 0.0, contenders["mixed"]),
        Comparison(f"{what}, double", "M atom-steps/s", True, -0.5, contenders["double"]),
    ]


# -- How well energy is conserved


def slope(times: list[float], energies: list[float]) -> float:
    mean_t, mean_e = sum(times) / len(times), sum(energies) / len(energies)
    above = sum((t - mean_t) * (e - mean_e) for t, e in zip(times, energies, strict=True))
    return above / sum((t - mean_t) ** 2 for t in times)


def strata_drift(
    folder: Path, given: argparse.Namespace, side: tuple[int, int, int], cutoff: float, precision: str
) -> float:
    case = strata_case(folder, side, cutoff, precision, given.drift, given)
    strata(folder, case, given.strata, 1, series=given.drift // 1000)()
    with (folder / "strata" / "series.csv").open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    energy = next(name for name in rows[0] if name.startswith("conserved energy"))
    steps = [float(row["step"]) * STEP for row in rows]
    atoms = 4 * side[0] * side[1] * side[2]
    return slope(steps, [float(row[energy]) / atoms for row in rows])


def gromacs_drift(
    folder: Path, given: argparse.Namespace, side: tuple[int, int, int], cutoff: float
) -> float:
    atoms = gromacs_input(folder, given.gmx, side, cutoff, given.tolerance)
    gromacs(folder, given.gmx, atoms, given.drift, 1)()
    output_of([given.gmx, "energy", "-f", "out.edr", "-o", "energy.xvg"], cwd=folder, given="Total-Energy\n")
    lines = [line.split() for line in (folder / "energy.xvg").read_text().splitlines()]
    rows = [(float(line[0]), float(line[1])) for line in lines if line and line[0][0] not in "#@"]
    return slope([t for t, _ in rows], [e / atoms for _, e in rows])


def lammps_drift(
    folder: Path, given: argparse.Namespace, side: tuple[int, int, int], cutoff: float, suffix: list[str]
) -> float:
    lammps_input(folder, side, cutoff, given.drift, every=given.drift // 1000)
    said = output_of(
        [given.lmp, "-in", "in.lj", "-log", "none", "-nocite", *suffix], {"OMP_NUM_THREADS": "1"}, folder
    )
    rows = [line.split() for line in said.splitlines() if re.fullmatch(r"\s*\d+(\s+[-+.\de]+){5}\s*", line)]
    return slope([float(row[0]) * STEP for row in rows], [float(row[4]) for row in rows])


def drifts(made: Path, given: argparse.Namespace) -> None:
    """Prints how the energy of an atom changes in a unit of time, over many steps of a small box."""
    side = (given.drift_side,) * 3
    print("| cutoff | program | drift of an atom's energy, epsilon/tau |\n| --- | --- | ---: |")
    for cutoff in given.cutoffs:
        folder = made / f"drift-{cutoff}"
        folder.mkdir()
        for precision in ("mixed", "double"):
            found = strata_drift(folder, given, side, cutoff, precision)
            print(f"| {cutoff:g} | strata, {precision} | {found:.2g} |", flush=True)
        if given.gmx:
            found = gromacs_drift(folder, given, side, cutoff)
            print(f"| {cutoff:g} | GROMACS | {found:.2g} |", flush=True)
        for name, suffix in suffixes(given.lmp, 1).items() if given.lmp else ():
            found = lammps_drift(folder, given, side, cutoff, suffix)
            print(f"| {cutoff:g} | LAMMPS {name} | {found:.2g} |", flush=True)


def program(named: str) -> str | None:
    found = shutil.which(named)
    if found is None:
        print(f"left out: no {named}")
    return found and str(Path(found).resolve())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--strata", default="strata", help="the command (strata)")
    parser.add_argument("--every", type=int, default=20, help="our lists are made anew in so many steps (20)")
    parser.add_argument("--gmx", type=program, default=None, help="GROMACS, mixed precision")
    parser.add_argument("--lmp", type=program, default=None, help="LAMMPS")
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.005,
        help="the drift of an atom's energy, in epsilon/tau, that skins allow: GROMACS's "
        "verlet-buffer-tolerance (0.005, its default) and our neighbours.drift",
    )
    parser.add_argument("--cutoffs", type=float, nargs="+", default=[2.5, 5.0])
    parser.add_argument("--cores", type=int, nargs="+", default=sorted({1, len(cores())}))
    parser.add_argument("--side", type=int, default=20, help="cells of four atoms along a core's box (20)")
    parser.add_argument("--steps", type=int, default=2000, help="of GROMACS at cutoff 2.5 (2000)")
    parser.add_argument(
        "--drift", type=int, default=0, metavar="STEPS", help="measure drifts, of so many steps"
    )
    parser.add_argument("--drift-side", type=int, default=10, help="cells along the box of that (10)")
    common_options(parser, blocks=5)
    given = parser.parse_args()
    given.strata = program(given.strata) or sys.exit("install strata, and name it: --strata")
    with tempfile.TemporaryDirectory() as made:
        if given.drift:
            drifts(Path(made), given)
            return 0
        groups = (
            comparisons(Path(made), given, cutoff, used) for cutoff in given.cutoffs for used in given.cores
        )
        return compared(groups, given)


if __name__ == "__main__":
    sys.exit(main())
