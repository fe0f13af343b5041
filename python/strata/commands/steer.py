"""`strata steer` on the command line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import command

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def steer(commands: Commands) -> None:
    """Declares `strata steer`."""
    parser = command(
        commands,
        "steer",
        "ask a run that goes on how far it is, change its parameters, have it write a checkpoint or stop",
        [
            ("strata steer results/heat", "step, time, rate and how long it still takes"),
            ("strata steer results/heat get parameters", "what can be changed, and within which range"),
            ("strata steer results/heat set cfl=0.3", "applies before the step that is named"),
            ("strata steer results/heat get series 20", "the last 20 rows of its time series"),
            ("strata steer results/heat checkpoint", "write one now"),
            ("strata steer results/heat stop", "end in order after the current step"),
            ("strata steer results/heat --json", "the answer as it came"),
        ],
    )
    parser.add_argument("folder", type=Path, metavar="RUN", help="the run's results folder")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="[get] status, parameters or series [N]; set NAME=VALUE ...; checkpoint; stop (default: status)",
    )
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument(
        "--timeout", type=float, default=30.0, metavar="S", help="wait so long for an answer (default 30 s)"
    )
    parser.set_defaults(run=_run_steer)


def _run_steer(given: argparse.Namespace) -> int:
    from strata.run.steer import steer as do

    sys.stdout.write(do(given.folder, given.words, as_json=given.json, timeout_s=given.timeout) + "\n")
    return 0
