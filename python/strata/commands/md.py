"""`strata md` on the command line."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import Parser, command
from strata.errors import StrataError

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def md(commands: Commands) -> None:
    """Declares `strata md`."""
    parser = command(
        commands,
        "md",
        "molecular dynamics: what a run says (analyse), structures of other programs (convert)",
        [
            ("strata md analyse RUN", "averages, g(r), diffusion, viscosity, with errors: a report"),
            ("strata md convert protein.pdb start.xyz", "PDB, GRO and more, by MDAnalysis"),
        ],
    )
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    _analyse(verbs)
    _convert(verbs)


def _analyse(verbs: Commands) -> None:
    parser = command(
        verbs,
        "analyse",
        "averages with errors, drift, g(r), diffusion, viscosity of a run: a report with plots",
        [
            ("strata md analyse RUN", "a report in RUN/analysis"),
            ("strata md analyse RUN --begin 20000", "values count from this step on"),
            ("strata md analyse RUN --trajectory RUN/atoms.dcd --longest 5", "lags up to 5 units of time"),
            ("strata md analyse RUN --slab z", "and the densities of a slab of liquid in its vapour"),
            ("strata md analyse RUN --json", "as JSON, and nothing is written"),
        ],
    )
    parser.add_argument("folder", type=Path, metavar="RUN", help="folder that `strata run --out` wrote")
    parser.add_argument(
        "--trajectory", type=Path, metavar="FILE", help=".xyz or .dcd (default: the first in RUN)"
    )
    parser.add_argument(
        "--begin", type=int, metavar="STEP", help="first step that counts (default: detected)"
    )
    parser.add_argument("--units", choices=("lj", "metal", "real"), help="(default: those of the series)")
    parser.add_argument("--volume", type=float, metavar="V", help="of the box, where no trajectory says it")
    parser.add_argument("--slab", choices=("x", "y", "z"), help="normal of a slab of liquid")
    parser.add_argument(
        "--longest", type=float, metavar="T", help="time of the longest displacement and correlation"
    )
    parser.add_argument("--cutoff", type=float, metavar="T", help="where the viscosity's integral ends")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="folder of the report (default: RUN/analysis)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON and write nothing")
    parser.set_defaults(run=_run_analyse)


def _run_analyse(given: argparse.Namespace) -> int:
    from strata import paths

    for front in paths.fronts():
        paths.need_programs(front, ["data"])  # SciPy, which comes when a command first needs it
    from strata.md.analysis import Asked
    from strata.md.command import analyse_run

    asked = Asked(
        given.folder,
        given.trajectory,
        given.begin,
        given.units,
        given.volume,
        given.slab,
        given.longest,
        given.cutoff,
    )
    for option in ("volume", "longest", "cutoff"):
        value = getattr(given, option)
        if value is not None and not value > 0:
            raise StrataError("not a positive number", at=f"--{option}", given=str(value), allowed="above 0")
    return analyse_run(asked, given.out, given.json, "strata " + shlex.join(given.argv))


def _convert(verbs: Commands) -> None:
    parser = command(
        verbs,
        "convert",
        "a structure that MDAnalysis reads, as extended XYZ or LAMMPS data for a case",
        [
            ("strata md convert protein.pdb start.xyz", "atoms, box and names as extended XYZ"),
            ("strata md convert water.gro water.data", "as a LAMMPS data file, with masses"),
            ("strata md convert a.pdb a.xyz --select 'name CA'", "a part, in MDAnalysis's words"),
        ],
    )
    parser.add_argument("structure", type=Path, metavar="FILE", help="PDB, GRO, ... (MDAnalysis's formats)")
    parser.add_argument("out", type=Path, metavar="OUT", help="a new file: .xyz or .data")
    parser.add_argument("--select", default="all", metavar="WORDS", help="which atoms (default: all)")
    parser.add_argument(
        "--box", type=float, nargs=3, metavar=("X", "Y", "Z"), help="edges, where the file has no box"
    )
    parser.set_defaults(run=_run_convert)


def _run_convert(given: argparse.Namespace) -> int:
    from strata.md.convert import convert
    from strata.scripts import visible

    what, said = convert(given.structure, given.out, given.select, given.box)
    print(visible(f"{what}: {given.out}"))
    for line in said:
        print(visible(f"note: {line}"))
    return 0
