"""`strata centre integrity` on the command line."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import command, native_words, refuse_unused
from strata.errors import StrataError

if TYPE_CHECKING:
    from strata.centre.integrity.command import Request
    from strata.commands.parser import Commands


def integrity(verbs: Commands) -> None:
    """Declares `strata centre integrity`."""
    parser = command(
        verbs,
        "integrity",
        "tests processors that nobody uses by kernels whose right answers are known",
        [
            ("strata centre integrity --time 10m", "all free cores for ten minutes, and a report"),
            ("strata centre integrity", "until Ctrl-C or SIGTERM"),
            ("strata centre integrity --cores 0-3 --kernels avx512,dgemm --rounds 100", "some of them"),
            ("strata centre integrity --replay avx512:0x2f00c0ffee:3", "a finding again"),
            ("strata centre integrity --report", "what all passes found, without another one"),
            ("strata centre integrity --prometheus /var/lib/node_exporter/strata.prom", "and metrics"),
            ("strata centre integrity --units strata-units", "files for systemd, cron and Slurm"),
            ("strata centre integrity --clear", "after a repair: earlier findings speak no more against it"),
        ],
    )
    run = parser.add_argument_group("the pass")
    run.add_argument("--time", metavar="T", help="how long, such as 10m (default: until a signal)")
    run.add_argument("--rounds", type=int, metavar="N", help="of each kernel on each core, then it ends")
    run.add_argument("--kernels", metavar="NAMES", help="with commas between (default: all that can run)")
    run.add_argument("--cores", metavar="LIST", help="CPUs such as 0-3,8 (default: one of each core)")
    run.add_argument(
        "--memory", metavar="SIZE", help="under test, of all cores (default: half of what is free)"
    )
    run.add_argument("--seed", metavar="N", help="where all data come from (default: drawn, and said)")
    run.add_argument("--replay", metavar="WHAT", help="findings again: KERNEL:SEED[:CPU], or a file of them")
    give = parser.add_argument_group("giving way to others")
    give.add_argument("--cgroup", metavar="none|FOLDER", help="no group of its own, or one below this folder")
    give.add_argument("--alone", action="store_true", help="runs only while nobody else runs at all")
    give.add_argument("--no-yield", action="store_true", help="leaves giving way to the scheduler alone")
    made = parser.add_argument_group("what is made of it")
    made.add_argument(
        "--state",
        type=Path,
        metavar="FOLDER",
        help="history (default: ~/.local/state/strata/integrity, for root /var/lib/strata/integrity)",
    )
    made.add_argument(
        "--out", type=Path, metavar="DIR", help="folder of the report (default: that of the history)"
    )
    made.add_argument("--prometheus", type=Path, metavar="FILE", help="metrics, for the text file collector")
    made.add_argument(
        "--offline-pages", action="store_true", help="takes pages of bad memory off line (root)"
    )
    made.add_argument("--json", action="store_true", help="print JSON instead of making a report")
    other = parser.add_argument_group("instead of a pass").add_mutually_exclusive_group()
    other.add_argument("--report", action="store_true", help="the report of all passes so far")
    other.add_argument("--clear", action="store_true", help="findings until now were seen to")
    other.add_argument(
        "--units", type=Path, metavar="FOLDER", help="writes systemd units, a line for cron, Slurm's hook"
    )
    other.add_argument(
        "--check", action="store_true", help="says why no jobs should run here and ends with 1, or with 0"
    )
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    from strata import paths
    from strata.centre.integrity import command as integrity

    if given.rounds is not None and given.rounds < 1:
        raise StrataError(
            "not a number of rounds", at="--rounds", given=str(given.rounds), allowed="1 or more"
        )
    _check_used(given)
    request = _request(given)
    typed = "strata " + shlex.join(given.argv)
    if given.clear:
        return integrity.clear(request)
    if given.check:
        return integrity.check(request)
    if given.report:
        return integrity.show(request, typed)
    if given.units is not None:
        return integrity.write_units(request, given.units, paths.command(), given.memory)
    return integrity.run(request, typed)


_OF_PASSES = (
    *("--time", "--rounds", "--kernels", "--cores", "--memory", "--seed", "--replay"),
    *("--cgroup", "--alone", "--no-yield", "--offline-pages"),
)


def _check_used(given: argparse.Namespace) -> None:
    """Options of a pass have no meaning without one, nor those of the report where none is made."""
    made = ["--out", "--json"]
    if given.report:
        refuse_unused(given, _OF_PASSES, "with --report, which makes no pass", "options of the report")
    if given.clear or given.check:
        which = "--clear" if given.clear else "--check"
        refuse_unused(given, [*_OF_PASSES, "--prometheus", *made], f"with {which}", "--state")
    if given.units is not None:
        refuse_unused(given, made, "with --units", "options of the passes that the units start")
    elif given.json:
        refuse_unused(given, ["--out"], "with --json, which writes no report", "one of them")


def _request(given: argparse.Namespace) -> Request:
    from strata.centre.integrity.command import Request

    native = ("--rounds", "--kernels", "--cores", "--memory", "--seed", "--replay", "--cgroup", "--alone")
    words = native_words(given, (*native, "--no-yield"))
    return Request(
        tuple(words), given.time, given.state, given.out, given.prometheus, given.offline_pages, given.json
    )
