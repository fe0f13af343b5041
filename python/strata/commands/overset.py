"""`strata overset` on the command line."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import Parser, command, native_words

if TYPE_CHECKING:
    from strata.commands.parser import Commands

_CHECKS = [
    ("strata overset check cases/flow/overset-cylinder.toml", "the meshes of a case, before it is run"),
    (
        "strata overset check box=box.p3d wing=wing.p3d:wing.nmf",
        "grids from PLOT3D files, with the boundaries of a neutral map file",
    ),
]
_MAPS = [
    ("strata overset map wing.p3d", "writes wing.nmf: joins, collapsed faces, and the faces to be named"),
    ("strata overset map duct.p3d --shift 0,0,1.5 --out duct.nmf", "one that is periodic along z"),
    (
        "strata overset map plane.p3d --dimensions 2",
        "a file with one cell across, as a grid in the plane",
    ),
]


def overset(commands: Commands) -> None:
    """Declares `strata overset`."""
    parser = command(
        commands,
        "overset",
        "meshes that overlap: holes, donors, orphans, before hours are spent",
        _CHECKS + _MAPS[:1],
    )
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    _check(verbs)
    _map(verbs)


def _check(verbs: Commands) -> None:
    checked = command(
        verbs,
        "check",
        "what meshes make of each other: a report with pictures; status 1 where cells have no donor",
        _CHECKS,
    )
    checked.add_argument(
        "grids",
        nargs="+",
        metavar="GRIDS",
        help="a case with tables [mesh.NAME]; or files, each NAME=GRID or NAME=GRID:MAP (PLOT3D, .nmf)",
    )
    checked.add_argument(
        "--walls",
        metavar="NAMES",
        help="with files: boundaries that are walls, such as wing-1:j-min, separated by commas",
    )
    checked.add_argument(
        "--outer",
        metavar="NAMES",
        help="with files: boundaries where the domain ends (else the first mesh's)",
    )
    checked.add_argument(
        "--orphans",
        type=int,
        metavar="N",
        help="with files: so many cells without a donor may be (default: 0)",
    )
    checked.add_argument("--layout", default="1x1", metavar="PxT", help="processes x threads (default: 1x1)")
    checked.add_argument("--out", type=Path, metavar="DIR", help="folder of the report (default: results)")
    checked.set_defaults(run=_run_check)


def _map(verbs: Commands) -> None:
    mapped = command(
        verbs,
        "map",
        "the neutral map file of a grid: joins that are found, and the names of all other faces",
        _MAPS,
    )
    mapped.add_argument("grid", type=Path, metavar="GRID", help="a PLOT3D file, also NAME.xz")
    mapped.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="the map; one that is there stays (default: GRID's name, .nmf)",
    )
    mapped.add_argument(
        "--form",
        metavar="WORDS",
        help='what is known of the file, as grid.form of a case: "unformatted big-endian"',
    )
    mapped.add_argument("--dimensions", metavar="N", help="2: a file with one cell across is a plane")
    mapped.add_argument(
        "--shift", metavar="X,Y,Z", help="faces that this shift takes onto each other are periodic"
    )
    mapped.add_argument(
        "--turn",
        metavar="DEGREES",
        help="the same of a turn about an axis through the origin; a map cannot say it, the case does",
    )
    mapped.add_argument("--turn-axis", metavar="AXIS", help="x, y or z (default: x)")
    mapped.set_defaults(run=_run_map)


def _run_map(given: argparse.Namespace) -> int:
    from strata.flow.overset import write_map

    options = ("--form", "--dimensions", "--shift", "--turn", "--turn-axis")
    return write_map(given.grid, given.out, native_words(given, options))


def _run_check(given: argparse.Namespace) -> int:
    from strata.flow.overset import check

    more = native_words(given, ("--walls", "--outer", "--orphans"))
    return check(given.grids, more, given.layout, given.out, "strata " + shlex.join(given.argv))
