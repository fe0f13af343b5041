"""`strata overset` on the command line."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import Parser, command

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def overset(commands: Commands) -> None:
    """Declares `strata overset`."""
    examples = [
        ("strata overset check cases/flow/overset-cylinder.toml", "the meshes of a case, before it is run"),
        (
            "strata overset check box=box.p3d wing=wing.p3d:wing.nmf",
            "grids from PLOT3D files, with the boundaries of a neutral map file",
        ),
    ]
    parser = command(
        commands, "overset", "meshes that overlap: holes, donors, orphans, before hours are spent", examples
    )
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    checked = command(
        verbs,
        "check",
        "what meshes make of each other: a report with pictures; status 1 where cells have no donor",
        examples,
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


def _run_check(given: argparse.Namespace) -> int:
    from strata.flow.overset import check

    more: list[str] = []
    for option in ("walls", "outer", "orphans"):
        value = getattr(given, option)
        if value is not None:
            more += [f"--{option}", str(value)]
    return check(given.grids, more, given.layout, given.out, "strata " + shlex.join(given.argv))
