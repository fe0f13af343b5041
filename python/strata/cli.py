"""The Python side's command line: a thin layer over functions that a notebook can call.

Imports are made where they are needed.
"""

from __future__ import annotations

import _thread
import argparse
import importlib
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from strata.commands.parser import Parser
from strata.errors import USAGE, StrataError

COMPARE = "report compare"
SHOW = "graph show"
# Where each command's options are declared, by a function of its name.
MODULES = {
    "characterize": "measuring",
    "machine-measure": "measuring",
    "study": "study",
    "tune": "tune",
    "submit": "submit",
    "go-on": "go_on",
    "new": "new",
    "steer": "steer",
    "cluster": "cluster",
    "centre": "centre",
    "md": "md",
    "flow": "flow",
    "overset": "overset",
    "report": "results",
    COMPARE: "results",
    "results": "results",
    "findings": "results",
    "draw": "results",
    "graph": "graph",
    SHOW: "graph",
}
_STOPPED = 128  # an exit code from here on: a signal ended the command, which has said so last


def _say_in_all() -> None:
    """The last line of a command that took longer than a second, or the one before its error. The time counts
    from the command's first instruction on: the front and this are one process.
    """
    began = float(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]) / os.sysconf(
        "SC_CLK_TCK"
    )
    seconds = time.clock_gettime(time.CLOCK_BOOTTIME) - began
    if seconds > 1:
        from strata.measure.progress import duration

        sys.stdout.flush()
        sys.stderr.write(f"in all {duration(seconds)}\n")


def _interrupt_again(lost: Any) -> None:
    """An interrupt in a callback of the interpreter's own would be printed and forgotten: it comes again."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _thread.interrupt_main()
    else:
        sys.__unraisablehook__(lost)


def main(argv: Sequence[str]) -> int:
    """Runs one command; an error is printed here, once."""
    try:
        sys.unraisablehook = _interrupt_again
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # the front has blocked it
        code = _run(argv)
        if code < _STOPPED:
            _say_in_all()
        return code
    except StrataError as error:
        if error.code != USAGE:  # wrong input is refused before the command begins
            _say_in_all()
        sys.stderr.write(f"{error}\n")
        return error.code
    except BrokenPipeError:  # `| head`: not an error of ours; keep the interpreter from complaining at exit
        sys.stdout = None
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped\n")
        return 130


def _run(argv: Sequence[str]) -> int:
    if argv[:1] == ["doctor"]:
        from strata import doctor

        return int(doctor.main(list(argv[1:])) or 0)
    words = _words(argv)
    parsed = _parser(words).parse_args(words)
    run: Callable[[argparse.Namespace], int] = parsed.run
    parsed.argv = tuple(argv)
    return run(parsed)


def _words(argv: Sequence[str]) -> list[str]:
    """`report compare` is a command of its own: `report` alone takes a folder, so neither could tell them
    apart. A folder of that name is ./compare. So is `graph show`: argparse finds an optional file behind
    options only where no other word comes before them. What follows -- there is a program's command line,
    which the command takes from argv: argparse would take its first word for a file.
    """
    words = list(argv)
    if words[:1] in (["graph"], ["cluster"]) and "--" in words:
        words = words[: words.index("--")]
    two = " ".join(words[:2])
    return [two, *words[2:]] if two in (COMPARE, SHOW) else words


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of the command that is asked for, or of all of them where it is none."""
    parser = Parser(
        prog="strata", description="Commands of the Python side; `strata --help` lists all commands."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for name in [words[0]] if words and words[0] in MODULES else MODULES:
        module = importlib.import_module(f"strata.commands.{MODULES[name]}")
        getattr(module, name.replace("-", "_").replace(" ", "_"))(commands)
    commands.add_parser("doctor", help="what was found here and what each absence costs")
    return parser
