"""`strata centre` on the command line."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.fleet import fleet
from strata.commands.integrity import integrity
from strata.commands.parser import Parser, command, refuse_unused
from strata.errors import StrataError

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def centre(commands: Commands) -> None:
    """Declares `strata centre`."""
    parser = command(
        commands,
        "centre",
        "for those who keep a machine in service: reliability, wrong answers, use, slow nodes",
        [
            ("strata centre reliability outages.csv", "MTTI, availability, trends of each system: a report"),
            ("strata centre integrity --time 10m", "processors that nobody uses, tested: a report"),
            ("strata centre use jobs.txt", "utilisation, widths, waits, waste from a log of jobs: a report"),
            (
                "strata centre sample daemon --folder /var/spool/strata",
                "what a node and its jobs do, over time",
            ),
            ("strata centre fleet report fleet", "which node is slow, by quick runs on each"),
            ("strata centre use --help", "where logs come from, and what is asked of them"),
        ],
    )
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    _reliability(verbs)
    _use(verbs)
    _sample(verbs)
    _generate(verbs)
    fleet(verbs)
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


_NO_REPORT = "with --json, which writes no report"


def _run_reliability(given: argparse.Namespace) -> int:
    if given.json:
        refuse_unused(given, ["--out"], _NO_REPORT, "one of them")
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


_USES = [
    ("strata centre use --live", "asks sacct of this cluster: the last 30 days"),
    ("sacct -P -a -X -D -S 2026-01-01 -o ... > jobs.txt", "a dump; docs/use.md has the columns"),
    (
        "strata centre use jobs.txt --since 2026-03-01",
        "a report in jobs-use/; before and after a date",
    ),
    ("strata centre use 202603* --from pbs --zone Europe/Berlin", "PBS's accounting of a month"),
    ("strata centre use CTC-SP2-1996-3.1-cln.swf.gz", "a log of the Parallel Workloads Archive"),
    ("strata centre use jobs.txt --outages down.csv", "with what was down"),
    ("strata centre use jobs.txt --samples /nfs/samples", "and the sustained rate"),
    ("strata centre use jobs.txt --widths 1-1023,1024-4114 --wide 1024", "classes of your own"),
    ("strata centre use jobs.txt --anonymise --out public", "no name of a user, group or program"),
    ("strata centre generate --jobs 100000 --out trace.swf", "a trace to try it with"),
]


def _use(verbs: Commands) -> None:
    parser = command(
        verbs,
        "use",
        "what a log of jobs says: utilisation, widths, waits, slowdown, waste, interrupts of jobs",
        _USES,
    )
    parser.add_argument("logs", type=Path, nargs="*", metavar="LOG", help="logs of jobs; several are joined")
    parser.add_argument("--live", action="store_true", help="ask sacct and sacctmgr of this machine instead")
    parser.add_argument(
        "--from",
        dest="form",
        metavar="FORM",
        help="slurm, pbs or swf (default: what the first line looks like)",
    )
    parser.add_argument(
        "--begin", metavar="TIME", help="nothing before this time counts (--live: 30 days ago)"
    )
    parser.add_argument("--until", metavar="TIME", help="nothing after this time counts")
    parser.add_argument("--since", metavar="TIME", help="compare before and after this time")
    parser.add_argument(
        "--zone", metavar="NAME", help="of days, and of times without an offset (default: the log's, or UTC)"
    )
    parser.add_argument(
        "--parts",
        metavar="N",
        help=(
            "processors of the machine; 2090,4180@2006-12-01: from a date on (default: as the log says, "
            "else the most in use)"
        ),
    )
    parser.add_argument(
        "--wide", type=int, metavar="N", help="jobs of N processors and more are wide (default: a quarter)"
    )
    parser.add_argument("--widths", metavar="A-B,C-D", help="classes of widths (default: powers of two)")
    _add_other_logs(parser)
    parser.add_argument(
        "--leave-out-damaged",
        dest="lenient",
        action="store_true",
        help="leave damaged rows out, and say how many, instead of refusing the log",
    )
    parser.add_argument("--anonymise", action="store_true", help="users, groups, programs and jobs by number")
    parser.add_argument("--out", type=Path, metavar="DIR", help="the report's folder (default: LOG-use)")
    parser.add_argument("--json", action="store_true", help="print JSON and write nothing")
    parser.set_defaults(run=_run_use)


def _add_other_logs(parser: Parser) -> None:
    """What a report of use has beside the log of jobs."""
    parser.add_argument(
        "--outages",
        type=Path,
        nargs="+",
        default=[],
        metavar="LOG",
        help="when the machine, or nodes, were down",
    )
    parser.add_argument(
        "--outages-from",
        dest="outages_form",
        metavar="FORM",
        help="their form, as `centre reliability --from`",
    )
    parser.add_argument(
        "--categories", type=Path, metavar="FILE", help="categories of outages of your own, in TOML"
    )
    parser.add_argument("--system", metavar="NAME", help="of several clusters this one")
    parser.add_argument("--samples", type=Path, metavar="DIR", help="what `centre sample` wrote")


def _run_use(given: argparse.Namespace) -> int:
    if given.json:
        refuse_unused(given, ["--out"], _NO_REPORT, "one of them")
    if not given.outages:
        refuse_unused(given, ["--outages-from"], "without --outages", "--outages LOG --outages-from FORM")
        if not given.live:
            refuse_unused(given, ["--categories"], "without --outages", "--outages LOG --categories FILE")
    _needs()
    from strata.centre.use.command import Request, run

    request = Request(
        tuple(given.logs),
        given.form,
        given.live,
        given.out,
        given.begin,
        given.until,
        given.since,
        given.zone,
        given.parts,
        given.wide,
        given.widths,
        tuple(given.outages),
        given.outages_form,
        given.system,
        given.samples,
        given.categories,
        given.lenient,
        given.anonymise,
        given.json,
    )
    return run(request, "strata " + shlex.join(given.argv))


def _sample(verbs: Commands) -> None:
    parser = command(
        verbs,
        "sample",
        "samples of what nodes and jobs do: CPU, memory, I/O, and operations where they can be counted",
        [
            (
                "strata centre sample daemon --folder /var/spool/strata",
                "a node and all jobs on it, until SIGTERM",
            ),
            ("strata centre sample prolog --folder /var/spool/strata", "in Slurm's Prolog: one job"),
            ("strata centre sample epilog --folder /var/spool/strata", "in Slurm's Epilog"),
            (
                "strata centre sample show /var/spool/strata",
                "what was sampled last, and which columns are empty",
            ),
            ("strata centre use jobs.txt --samples /var/spool/strata", "the report"),
        ],
    )
    parser.add_argument(
        "what",
        choices=("daemon", "prolog", "epilog", "show"),
        metavar="WHAT",
        help="daemon, prolog, epilog or show",
    )
    parser.add_argument("place", type=Path, nargs="?", metavar="DIR", help="the folder, for show")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where this node's file lies (NODE.ring)")
    parser.add_argument(
        "--interval", default="30s", metavar="TIME", help="from sample to sample (default: 30s)"
    )
    parser.add_argument(
        "--size",
        default="32MiB",
        metavar="SIZE",
        help="of the file; the oldest samples give way (default: 32MiB)",
    )
    parser.add_argument(
        "--job", metavar="ID", help="for prolog and epilog (default: SLURM_JOB_ID, PBS_JOBID)"
    )
    parser.set_defaults(run=_run_sample)


def _run_sample(given: argparse.Namespace) -> int:
    from strata.centre.sampling.command import run

    if given.what == "daemon":
        refuse_unused(given, ["--job"], "with daemon, which samples all jobs", "--job with prolog, epilog")
    if given.what == "show":
        own = ["--interval", "--size", "--job"]
        refuse_unused(given, own, "with show, which takes no samples", "a folder")
    if given.place is not None and given.what in ("daemon", "show"):  # others never fail a job
        refuse_unused(given, ["--folder"], f"beside the folder {given.place}", "one folder")
    return run(given.what, given.folder or given.place, given.interval, given.size, given.job)


def _generate(verbs: Commands) -> None:
    parser = command(
        verbs,
        "generate",
        "a log of outages or of jobs that never were: to try the reports, and to check them",
        [
            (
                "strata centre generate cases/centre/origin2000_outages.csv --out log.csv",
                "outages of NASA's systems of 1998 to 2000",
            ),
            ("strata centre generate --jobs 100000 --out trace.swf", "jobs of a machine of 4136 processors"),
        ],
    )
    parser.add_argument(
        "totals", type=Path, nargs="?", metavar="TOTALS", help="published totals, as in cases/centre"
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="so many jobs instead, in the Standard Workload Format"
    )
    parser.add_argument(
        "--parts", type=int, default=4136, metavar="N", help="processors of their machine (default: 4136)"
    )
    parser.add_argument(
        "--since", default="1999-08-01", metavar="TIME", help="from when table 2 counts (default: 1999-08-01)"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="a new file")
    parser.set_defaults(run=_run_generate)


def _run_generate(given: argparse.Namespace) -> int:
    if (given.totals is None) == (given.jobs is None):
        raise StrataError(
            "either TOTALS, or --jobs",
            at="strata centre generate",
            given="neither" if given.jobs is None else "both",
            allowed="one of them",
        )
    if given.jobs is not None:
        refuse_unused(given, ["--since"], "with --jobs", "--since with TOTALS")
    else:
        refuse_unused(given, ["--parts"], "with TOTALS", "--parts with --jobs N")
    _needs()
    if given.jobs is not None:
        from strata.centre.jobs.generate import generate as jobs

        jobs(given.jobs, given.parts, given.out)
        print(f"made up a log of {given.jobs} jobs: {given.out}")
        return 0
    from strata.centre.reliability.command import generate

    return generate(given.totals, given.since, given.out)
