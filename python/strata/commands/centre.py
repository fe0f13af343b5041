"""`strata centre` on the command line."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.integrity import integrity
from strata.commands.parser import Parser, command

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def centre(commands: Commands) -> None:
    """Declares `strata centre`."""
    parser = command(
        commands,
        "centre",
        "for those who keep a machine in service: how reliable it is, and whether it computes right",
        [
            ("strata centre reliability outages.csv", "MTTI, availability, trends of each system: a report"),
            ("strata centre integrity --time 10m", "processors that nobody uses, tested: a report"),
            ("strata centre reliability --help", "where logs come from, and what is asked of them"),
        ],
    )
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    _reliability(verbs)
    _generate(verbs)
    integrity(verbs)


def _reliability(verbs: Commands) -> None:
    parser = command(
        verbs,
        "reliability",
        "what a log of outages says: days, events and MTTI by category, fits, trends, forecasts",
        [
            ("strata centre reliability outages.csv", "a report in outages-reliability/"),
            (
                "strata centre reliability outages.csv --since 1999-08-01",
                "and an account of the time from then on",
            ),
            ("sacctmgr -P show event start=2020-01-01 > events.txt", "Slurm's log of nodes"),
            ("strata centre reliability events.txt --from slurm --zone Europe/Berlin", "and what it says"),
            ("strata centre reliability LA-UR-05-7318.csv --from lanl", "the public data of LANL's systems"),
            ("strata centre reliability log.csv --json", "as JSON"),
        ],
    )
    parser.add_argument(
        "logs", type=Path, nargs="+", metavar="LOG", help="logs of outages; several are joined"
    )
    parser.add_argument(
        "--from",
        dest="form",
        metavar="FORM",
        help="lanl, slurm or nagios (default: Strata's own CSV or JSON)",
    )
    parser.add_argument("--since", metavar="TIME", help="a second account, from this time forward")
    parser.add_argument("--until", metavar="TIME", help="nothing after this time counts")
    parser.add_argument(
        "--zone", default="UTC", metavar="NAME", help="of times without an offset (default: UTC)"
    )
    parser.add_argument("--systems", metavar="A,B", help="these alone, as patterns of a shell (default: all)")
    parser.add_argument("--categories", type=Path, metavar="FILE", help="categories of your own, in TOML")
    parser.add_argument("--published", type=Path, metavar="FILE", help="published totals to compare with")
    parser.add_argument(
        "--forecast-parts", type=int, metavar="N", help="forecast for so many parts (default: twice)"
    )
    parser.add_argument("--checkpoint-time", default="5min", metavar="TIME", help="of a job (default: 5min)")
    parser.add_argument("--restart-time", default="10min", metavar="TIME", help="of a job (default: 10min)")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the report's folder (default: LOG-reliability)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON and write nothing")
    parser.set_defaults(run=_run_reliability)


def _run_reliability(given: argparse.Namespace) -> int:
    _needs()
    from strata.centre.reliability.command import Request, run

    request = Request(
        tuple(given.logs),
        given.form,
        given.out,
        given.since,
        given.until,
        given.zone,
        given.categories,
        given.systems,
        given.published,
        given.forecast_parts,
        given.checkpoint_time,
        given.restart_time,
        given.json,
    )
    return run(request, "strata " + shlex.join(given.argv))


def _needs() -> None:
    """pandas and SciPy, which come when a command first needs them."""
    from strata import paths

    for front in paths.fronts():
        paths.need_programs(front, ["data"])


def _generate(verbs: Commands) -> None:
    parser = command(
        verbs,
        "generate",
        "a log of outages that never were, with published totals: to try the report, and to check it",
        [
            (
                "strata centre generate cases/centre/origin2000_outages.csv --out log.csv",
                "NASA's systems of 1998 to 2000",
            )
        ],
    )
    parser.add_argument("totals", type=Path, metavar="TOTALS", help="published totals, as in cases/centre")
    parser.add_argument(
        "--since", default="1999-08-01", metavar="TIME", help="from when table 2 counts (default: 1999-08-01)"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="a new file")
    parser.set_defaults(run=_run_generate)


def _run_generate(given: argparse.Namespace) -> int:
    _needs()
    from strata.centre.reliability.command import generate

    return generate(given.totals, given.since, given.out)
