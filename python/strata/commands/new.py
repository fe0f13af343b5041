"""`strata new` on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import command

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def new(commands: Commands) -> None:
    """Declares `strata new`."""
    parser = command(
        commands,
        "new",
        "a solver of your own to begin with: a folder that runs",
        [
            ("strata new wave", "a solver in C++: wave/wave.cpp, a case, a test, a CMakeLists.txt"),
            ("strata new ripple --python", "the same in Python, with NumPy: ripple/ripple.py"),
            ("strata run wave/case.toml --layout 2x1", "builds it where its sources changed, and runs it"),
            ("python3 wave/test_wave.py", "its order of accuracy against an exact solution"),
        ],
    )
    parser.add_argument("folder", type=Path, metavar="NAME", help="the solver's name, and the folder's")
    parser.add_argument("--python", action="store_true", help="in Python instead of C++")
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    from strata.run.new import new, told

    print(told(given.folder, new(given.folder, python=given.python)))
    return 0
