"""`strata graph` on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import command

if TYPE_CHECKING:
    from strata.commands.parser import Commands


ABOUT = "what a solver's task graph is: a drawing, its critical path, its memory"


def graph(commands: Commands) -> None:
    """Declares `strata graph`."""
    parser = command(commands, "graph", ABOUT, [("strata graph show --help", "all of its options")])
    parser.add_argument("what", choices=("show",), help="show it")


def graph_show(commands: Commands) -> None:
    """Declares `strata graph show`."""
    parser = command(
        commands,
        "graph show",
        ABOUT,
        [
            ("strata graph show case.toml", "lists of the critical path and of the memory"),
            ("strata graph show --svg graph.svg case.toml", "and a drawing"),
            ("strata graph show --svg graph.svg -- ./my-solver case.toml", "of a program of one's own"),
            ("strata graph show --json case.toml > g.json", "the document: strata.graph/1"),
            ("strata graph show g.json", "of such a document"),
        ],
    )
    parser.add_argument(
        "source", type=Path, nargs="?", metavar="FILE", help="a case (.toml), or a document (.json)"
    )
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw it into FILE")
    parser.add_argument("--json", action="store_true", help="print the document instead of the lists")
    parser.add_argument("--force", action="store_true", help="write over FILE")
    parser.epilog = (
        f"{parser.epilog}\n\nA solver's program is started with --graph added to its arguments, prints its "
        'graph and runs no step.\nA case names its solver (solver = "NAME"); the program is then '
        "strata-NAME, or what `strata run` builds."
    )
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    from strata.draw.show import Request, run

    return run(
        Request(
            source=given.source,
            command=tuple(given.argv[given.argv.index("--") + 1 :]) if "--" in given.argv else (),
            svg=given.svg,
            json=given.json,
            force=given.force,
        )
    )
