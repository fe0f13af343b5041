"""`strata flow` on the command line."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import Parser, command

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def flow(commands: Commands) -> None:
    """Declares `strata flow`."""
    parser = command(
        commands,
        "flow",
        "compressible flow: what a run says, beside recorded curves",
        [
            ("strata flow show RUN", "forces, Cp, Cf and convergence: a report with plots"),
            ("strata flow show RUN --beside cp.dat --beside cf.dat", "and recorded curves in them"),
            ("strata flow show RUN --beside caradonna-tung.dat", "a rotor's sections beside measured ones"),
        ],
    )
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    shown = command(
        verbs,
        "show",
        "forces, Cp and Cf, sections of blades, vortices, residuals of a run: a report with plots",
        [
            (
                "strata flow show RUN --beside n0012cp_cfl3d_sa.dat.xz --only alpha=10",
                "with NASA's curve for that angle in the plot",
            )
        ],
    )
    shown.add_argument("folder", type=Path, metavar="RUN", help="folder that `strata run --out` wrote")
    shown.add_argument(
        "--beside",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help='curves of Cp or Cf over x: variables="x","cp" and zones, as NASA writes them, or "r/R","cl" of '
        "a rotor's sections; also .xz",
    )
    shown.add_argument(
        "--only",
        default="",
        metavar="WORD",
        help="of these, the curves whose names have it (such as alpha=10)",
    )
    shown.add_argument("--out", type=Path, metavar="DIR", help="folder of the report (default: RUN/report)")
    shown.set_defaults(run=_run_show)


def _run_show(given: argparse.Namespace) -> int:
    from strata.flow.command import show

    return show(given.folder, given.beside, given.only, given.out, "strata " + shlex.join(given.argv))
