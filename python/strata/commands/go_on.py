"""`strata go-on` on the command line: what scripts of `strata submit --goes-on -- ./program` say."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import command

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def go_on(commands: Commands) -> None:
    """Declares `strata go-on`."""
    parser = command(
        commands,
        "go-on",
        "start a program, or go on from its last dump; on SIGUSR1 CRIU dumps it, and the job is queued again",
        [("exec strata go-on results/a -- ./a.out", "the last line of a job's script")],
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of its dumps, and of what it prints")
    parser.add_argument(
        "--time", metavar="LIMIT", help="what a job that is queued again asks for (Slurm's form)"
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- program args", help="what to start")
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    from strata.submit.keeper import run

    words = given.command[1:] if given.command[:1] == ["--"] else given.command
    return run(given.folder, words, given.time)
