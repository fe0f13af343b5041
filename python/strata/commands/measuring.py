"""`strata characterize` and `strata machine --measure` on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import command, refuse_unused, results_folder

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def _measuring_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--case", type=Path, metavar="FILE", help="another plan than cases/characterize/MODE.toml"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TASK",
        help="only this task of the case (may be repeated)",
    )
    results_folder(
        parser,
        "results folder; an existing one is resumed "
        "(default: a new one in $STRATA_RESULTS or ./strata-results)",
    )
    parser.add_argument(
        "--new", action="store_true", help="start afresh even where an unfinished run could be resumed"
    )
    parser.add_argument(
        "--accept-change",
        action="store_true",
        help="resume --out DIR although machine, binaries or plan changed (recorded)",
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="seed of the order (default: random, recorded in plan.json)"
    )
    parser.add_argument(
        "--budget",
        metavar="TIME",
        help="end within this, such as 3m, the report included: what does not fit is left out by importance",
    )
    parser.add_argument(
        "--strict", action="store_true", help="disturbed launches are no answer (exit status 1)"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the plan and its estimated time, measure nothing"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="print the table of all figures too, which the report has"
    )
    parser.add_argument("--here", action="store_true", help="measure even where this looks like a login node")


def characterize(commands: Commands) -> None:
    """Declares `strata characterize`."""
    parser = command(
        commands,
        "characterize",
        "measure what this machine can do and write a report",
        [
            (
                "strata characterize",
                "within 5 minutes on a small machine; Ctrl-C stops, the same line resumes",
            ),
            ("strata characterize --full", "everything, larger sizes, no time limit"),
            ("strata characterize --budget 2m", "within two minutes: what matters most"),
            ("strata characterize --dry-run", "what would run and how long it takes"),
            ("strata submit --nodes 4 -- characterize --nodes 4", "what lies between four nodes"),
            ("strata submit -p batch -- characterize", "on a node of the Slurm partition 'batch'"),
        ],
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--quick",
        dest="mode",
        action="store_const",
        const="quick",
        default="quick",
        help="the short plan (default)",
    )
    mode.add_argument("--full", dest="mode", action="store_const", const="full", help="the long plan")
    parser.add_argument(
        "--nodes",
        type=int,
        default=1,
        metavar="N",
        help="the messages between so many nodes of a job: every pair, rings, rates, collectives",
    )
    _measuring_options(parser)
    parser.set_defaults(run=_run_characterize, kind="characterize")


def machine_measure(commands: Commands) -> None:
    """Declares `strata machine-measure`, which `strata machine --measure` becomes."""
    parser = command(
        commands,
        "machine-measure",
        "measure the machine itself: latency, cache lines, domains, bandwidth by cores, noise",
        [
            ("strata machine --measure", "the short plan"),
            ("strata machine --measure --full", "larger sizes, every pair of cores within the budget"),
        ],
    )
    parser.add_argument(
        "--full",
        dest="mode",
        action="store_const",
        const="machine-full",
        default="machine",
        help="the long plan",
    )
    _measuring_options(parser)
    parser.set_defaults(run=_run_characterize, kind="machine", nodes=1)


def _run_characterize(given: argparse.Namespace) -> int:
    from strata.characterize.command import Request, run
    from strata.measure.progress import seconds

    if given.case is not None:
        refuse_unused(given, ["--full"], "with --case", "a plan by its name, or by --case FILE")
    elif given.nodes > 1:
        refuse_unused(given, ["--full"], f"with --nodes {given.nodes}", "one plan for nodes")
    if given.results is None:
        refuse_unused(given, ["--accept-change"], "without --out", "--out DIR --accept-change")

    return run(
        Request(
            kind=given.kind,
            mode=given.mode,
            case=given.case,
            results=given.results,
            new=given.new,
            accept_change=given.accept_change,
            here=given.here,
            dry_run=given.dry_run,
            seed=given.seed,
            only=tuple(given.only),
            budget_s=seconds(given.budget) if given.budget is not None else None,
            strict=given.strict,
            verbose=given.verbose,
            nodes=given.nodes,
            argv=given.argv,
        )
    )
