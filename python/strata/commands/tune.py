"""`strata tune` on the command line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from strata.commands.parser import command, refuse_unused, results_folder
from strata.errors import StrataError

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def tune(commands: Commands) -> None:
    """Declares `strata tune`."""
    parser = command(
        commands,
        "tune",
        "race the layouts that make sense for a program here, and name the best with an interval",
        [
            ("strata tune -- ./a.out case.in", "by wall time, within ten minutes"),
            ("strata tune --budget 2m --metric 'Time: ([0-9.]+)' -- ./a.out", "by what it prints"),
            ("strata tune --metric 'rate ([0-9.e+]+)' --better higher -- ./a.out", "where more is better"),
            ("strata submit --nodes 4 -- tune --nodes 4 -- ./mpi.out", "over four nodes"),
            ("strata tune --dry-run -- ./a.out", "what would be raced"),
            ("strata tune --dry-run --machine node.xml -- ./a.out", "and on a machine described by lstopo"),
        ],
    )
    parser.add_argument("--metric", default="wall", metavar="wall|REGEX", help="wall time, or the last match")
    parser.add_argument(
        "--better", choices=("lower", "higher"), default="lower", help="of the REGEX's figure"
    )
    parser.add_argument("--budget", default="10m", metavar="TIME", help="launches in all (default 10m)")
    parser.add_argument(
        "--kind", metavar="KIND", help="serial, openmp, mpi, hybrid or forking (default: found)"
    )
    parser.add_argument(
        "--processes",
        metavar="LIST",
        help="numbers of processes that the program can have on a node, such as 1,2,4",
    )
    parser.add_argument(
        "--nodes", type=int, default=1, metavar="N", help="over so many nodes of a job: an MPI program"
    )
    parser.add_argument("--timeout", default="1h", metavar="TIME", help="the longest launch (default 1h)")
    results_folder(parser, "results folder (default: a new one)")
    parser.add_argument("--dry-run", action="store_true", help="print the layouts, launch nothing")
    parser.add_argument(
        "--machine", metavar="SOURCE", help="with --dry-run: another one, an hwloc XML file or synthetic:..."
    )
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the order (default: random, recorded)")
    parser.add_argument("--here", action="store_true", help="measure even where this looks like a login node")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- command args", help="the program")
    parser.set_defaults(run=_run_tune)


def _run_tune(given: argparse.Namespace) -> int:
    from strata.measure.progress import seconds
    from strata.tune.command import Request, run

    if given.metric == "wall":
        refuse_unused(given, ["--better"], "with the wall time", "--better with --metric REGEX")
    if given.kind in ("serial", "openmp", "forking"):
        refuse_unused(given, ["--processes"], f"with --kind {given.kind}", "--processes with mpi, hybrid")
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    try:
        processes = tuple(int(part) for part in given.processes.split(",")) if given.processes else ()
    except ValueError:
        raise StrataError(
            "not a list of numbers", at="--processes", given=given.processes, allowed="for example 1,2,4"
        ) from None
    if any(n < 1 for n in processes):
        raise StrataError("fewer than one process", at="--processes", given=given.processes, allowed=">= 1")
    return run(
        Request(
            command=tuple(command),
            metric=given.metric,
            better=given.better,
            budget_s=seconds(given.budget),
            kind=given.kind,
            processes=processes,
            results=given.results,
            dry_run=given.dry_run,
            machine=given.machine,
            here=given.here,
            seed=given.seed,
            timeout_s=seconds(given.timeout),
            nodes=given.nodes,
            argv=given.argv,
        )
    )
