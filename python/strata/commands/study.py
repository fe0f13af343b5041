"""`strata study` on the command line."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import Parser, command, refuse_unused

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def study(commands: Commands) -> None:
    """Declares `strata study`."""
    parser = command(
        commands,
        "study",
        "run programs under several layouts, interleaved and repeated, and report the difference",
        [
            ("strata study list", "the studies that come with Strata"),
            ("strata study run pages", "where pages lie and threads run, and what it costs"),
            ("strata study run my.toml --budget 10m", "your own programs; docs/studies.md has the keys"),
            ("strata study status", "how far the newest one is"),
            ("strata study show strata-results/DIR", "what was found, also before the end"),
            ("strata study uncertainty cases/flow/naca0012.toml", "how certain the forces of a flow are"),
            ("strata study export strata-results/DIR --out samples.csv", "every sample; .json, .parquet"),
        ],
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True, parser_class=Parser)
    _run(actions)
    listing = actions.add_parser("list", help="the studies that come with Strata")
    listing.set_defaults(run=_list_studies)
    state = actions.add_parser("status", help="how far a study is, also while it runs")
    state.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="default: the newest results")
    state.set_defaults(run=_study_status)
    export = actions.add_parser("export", help="every sample as CSV, JSON or Parquet")
    export.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="default: the newest results")
    export.add_argument(
        "--format", metavar="FORMAT", help="csv, json or parquet (default: by the name of --out, else csv)"
    )
    export.add_argument("--out", type=Path, metavar="FILE", help="default: standard output")
    export.set_defaults(run=_export_study)
    show = actions.add_parser("show", help="what a results folder holds, in a table and in sentences")
    show.add_argument("folder", type=Path, metavar="FOLDER", help="results folder of a study")
    show.set_defaults(run=_show_study)
    _uncertainty(actions)


def _run(actions: Commands) -> None:
    run = actions.add_parser("run", help="measure, and write a report", description="Runs a study.")
    run.add_argument("study", metavar="NAME|FILE", help="one of `strata study list`, or a TOML file")
    run.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="results folder; an existing one is resumed (default: a new one in $STRATA_RESULTS or "
        "./strata-results)",
    )
    run.add_argument(
        "--budget",
        metavar="TIME",
        help="end within this, such as 5m, the report included: fewer launches where there were more than 6, "
        "then fewer settings",
    )
    run.add_argument("--strict", action="store_true", help="disturbed launches are no answer (exit status 1)")
    run.add_argument("--dry-run", action="store_true", help="print the plan and its estimated time")
    run.add_argument(
        "--machine", metavar="SOURCE", help="with --dry-run: another one, an hwloc XML file or synthetic:..."
    )
    run.add_argument("--new", action="store_true", help="start afresh even where a run could be resumed")
    run.add_argument(
        "--accept-change",
        action="store_true",
        help="resume --out FOLDER although something changed (recorded)",
    )
    run.add_argument("--seed", type=int, metavar="N", help="seed of the order (default: random, recorded)")
    run.add_argument(
        "--verbose", action="store_true", help="print the table of all figures too, which the report has"
    )
    run.add_argument("--here", action="store_true", help="measure even where this looks like a login node")
    run.set_defaults(run=_run_study)


def _uncertainty(actions: Commands) -> None:
    certain = command(
        actions,
        "uncertainty",
        "coefficients of a steady flow with error bars: grids, iteration, far field",
        [
            ("strata study uncertainty cases/flow/naca0012.toml", 'such as "Cd = 0.01227 +- 0.00004"'),
            ("strata study uncertainty CASE --grids 4 --layout 1x2", "a longer series of grids, two threads"),
        ],
    )
    certain.add_argument("case", type=Path, metavar="CASE", help='a steady case of solver "flow"')
    certain.add_argument(
        "--grids",
        type=int,
        default=3,
        metavar="N",
        help="that of the case and coarser ones, each of every second point of the one before (default: 3)",
    )
    certain.add_argument("--layout", default="1x1", metavar="PxT", help="of the runs (default: 1x1)")
    certain.add_argument(
        "--no-far-field",
        dest="far_field",
        action="store_false",
        help="leave out the run with the far field twice as far away",
    )
    certain.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="of the runs and the report; runs that are there are taken (default: strata-results/"
        "uncertainty-CASE)",
    )
    certain.set_defaults(run=_run_uncertainty)


def _run_uncertainty(given: argparse.Namespace) -> int:
    from strata.flow.command import study as certain
    from strata.flow.uncertainty import Asked

    asked = Asked(
        given.case,
        given.grids,
        given.layout,
        far_field=given.far_field,
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
    return certain(asked, given.out, "strata " + shlex.join(given.argv))


def _run_study(given: argparse.Namespace) -> int:
    from strata.measure.progress import seconds
    from strata.study.command import Request, run

    if given.out is None:
        refuse_unused(given, ["--accept-change"], "without --out", "--out FOLDER --accept-change")
    return run(
        Request(
            study=given.study,
            out=given.out,
            budget_s=seconds(given.budget) if given.budget is not None else None,
            strict=given.strict,
            verbose=given.verbose,
            dry_run=given.dry_run,
            machine=given.machine,
            new=given.new,
            accept_change=given.accept_change,
            here=given.here,
            seed=given.seed,
            argv=given.argv,
        )
    )


def _list_studies(given: argparse.Namespace) -> int:
    from strata.study.command import show_list

    return show_list()


def _show_study(given: argparse.Namespace) -> int:
    from strata.study.command import show

    return show(given.folder)


def _study_status(given: argparse.Namespace) -> int:
    from strata.characterize.listing import newest
    from strata.scripts import visible_lines
    from strata.study.status import status, text

    sys.stdout.write(visible_lines(text(status(given.folder or newest()))))
    return 0


def _export_study(given: argparse.Namespace) -> int:
    from strata.characterize.listing import newest
    from strata.study.data import export

    ending = given.out.suffix.lstrip(".") if given.out else ""
    made = export(given.folder or newest(), given.format or ending or "csv", given.out)
    if made is not None:
        print(made)
    return 0
