"""`strata centre fleet` on the command line."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import Parser, command, refuse_unused

if TYPE_CHECKING:
    from strata.commands.parser import Commands

VERBS = ("quick", "submit", "report", "generate")


def fleet(verbs: Commands) -> None:
    """Declares `strata centre fleet`."""
    parser = command(
        verbs,
        "fleet",
        "which node is slow: a quick run on each, and their robust outliers with their history",
        [
            ("strata centre fleet submit --out fleet", "the quick run on all nodes, by Slurm"),
            (
                "strata centre fleet report fleet",
                "who is slow, and why; exit code 1 where anyone is, 4 where nodes are to be measured again",
            ),
            ("strata centre fleet quick --out fleet", "the quick run on this node alone"),
            ("strata centre fleet report --help", "drain lines, Prometheus, JSON"),
        ],
    )
    own = parser.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    _quick(own)
    _submit(own)
    _report(own)
    _generate(own)


def _quick(verbs: Commands) -> None:
    parser = command(
        verbs,
        "quick",
        "measures this node in less than a minute: DGEMM, clock, each core, each memory domain, integrity",
        [
            ("strata centre fleet quick --out fleet", "a file in fleet/NODE/"),
            (
                "srun -N 400 --ntasks-per-node=1 strata centre fleet quick --out fleet",
                "on 400 nodes of a job",
            ),
        ],
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of all nodes and runs")
    parser.add_argument(
        "--campaign", metavar="NAME", help="runs of one name belong together (default: of one day)"
    )
    parser.add_argument("--here", action="store_true", help="measure a login node all the same")
    parser.add_argument("--quiet", action="store_true", help="print the file alone")
    parser.set_defaults(run=_run_quick)


def _run_quick(given: argparse.Namespace) -> int:
    from strata.centre.fleet.quick import quick
    from strata.site import slurm

    if slurm.is_login_node() and not given.here:
        raise slurm.refusal("strata centre fleet quick")

    def say(text: str) -> None:
        if not given.quiet:
            print(f"fleet: {text}", file=sys.stderr, flush=True)

    print(quick(given.out, given.campaign, say))
    return 0


def _submit(verbs: Commands) -> None:
    parser = command(
        verbs,
        "submit",
        "the quick run on nodes of a Slurm cluster: in an allocation on all of them, else a job for each",
        [
            ("strata centre fleet submit --out fleet", "all nodes of the default partition"),
            ("strata centre fleet submit --nodes n17,n[40-43] --out fleet", "these"),
            (
                "strata centre fleet submit --again --out fleet",
                "those that were slow in their newest run, not beyond chance",
            ),
            ("strata centre fleet submit --out fleet --dry-run", "print the script"),
        ],
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder of all nodes and runs, seen by all"
    )
    parser.add_argument(
        "--nodes", metavar="LIST", help="such as n17,n[40-43] (default: all of the partition)"
    )
    parser.add_argument(
        "--again", action="store_true", help="those that a report of --out wants measured again"
    )
    parser.add_argument("-p", "--partition", metavar="NAME", help="default: the site's, or Slurm's")
    parser.add_argument("--account", metavar="NAME", help="whom the jobs are charged to")
    parser.add_argument("--site", type=Path, metavar="FILE", help="site.toml (default: see docs/cluster.md)")
    parser.add_argument("--dry-run", action="store_true", help="print the script, submit nothing")
    parser.set_defaults(run=_run_submit)


def _run_submit(given: argparse.Namespace) -> int:
    from strata.centre.fleet.submit import Wanted, submit

    nodes = given.nodes
    if given.again:
        refuse_unused(given, ["--nodes"], "with --again, which says which nodes", "one of them")
        from strata.centre.fleet.command import Request, fleet

        nodes = ",".join(a.name for a in fleet(Request((given.out,))).again)
        if not nodes:
            print("no node is to be measured again")
            return 0
    wanted = Wanted(given.out, nodes, given.partition, given.account, given.site, given.dry_run)
    return submit(wanted, given.argv)


def _report(verbs: Commands) -> None:
    parser = command(
        verbs,
        "report",
        "who is slow, and why: a report of all runs in folders; exit code 1 where there is a suspect, 4 "
        "where there is none and nodes are to be measured again, 0 where neither",
        [
            ("strata centre fleet report fleet", "a report in fleet-report/"),
            ("strata centre fleet report fleet --drain", "and a line of scontrol for each suspect"),
            ("strata centre fleet report fleet --drain-now", "which is performed"),
            ("strata centre fleet report fleet --prometheus /var/lib/node_exporter/fleet.prom", "metrics"),
            ("strata centre fleet report fleet --json", "as JSON"),
        ],
    )
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR", help="folders or files of runs")
    parser.add_argument("--out", type=Path, metavar="DIR", help="the report's folder (default: fleet-report)")
    parser.add_argument(
        "--least", default="5%", metavar="SHARE", help="slower by less is no finding (default: 5%%)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON and write no report")
    parser.add_argument("--prometheus", type=Path, metavar="FILE", help="metrics for the node exporter")
    parser.add_argument("--drain", action="store_true", help="print a line of scontrol for each suspect")
    parser.add_argument("--drain-now", action="store_true", help="print and perform them")
    parser.add_argument(
        "--drain-most", type=int, metavar="N", help="perform up to N (default: 1, or 5%% of the nodes)"
    )
    parser.add_argument("--skip-damaged", action="store_true", help="leave damaged files out, and say which")
    parser.set_defaults(run=_run_report)


def _run_report(given: argparse.Namespace) -> int:
    from strata.centre.fleet.command import Request, report

    if given.json:
        refuse_unused(given, ["--out"], "with --json, which writes no report", "one of them")
    if not given.drain_now:
        refuse_unused(given, ["--drain-most"], "without --drain-now", "--drain-now --drain-most N")
    request = Request(
        tuple(given.folders),
        given.out,
        given.least,
        given.json,
        given.prometheus,
        given.drain,
        given.drain_now,
        given.drain_most,
        given.skip_damaged,
    )
    return report(request, "strata " + shlex.join(given.argv))


def _generate(verbs: Commands) -> None:
    parser = command(
        verbs,
        "generate",
        "a fleet that never was, with planted faults: to try the report, and to check it",
        [
            (
                "strata centre fleet generate --nodes 400 --plant 17:bandwidth:12%:3 --out fleet",
                "node 17 lost 12 % of a domain's bandwidth three runs ago",
            )
        ],
    )
    parser.add_argument("--nodes", type=int, default=400, metavar="N", help="how many (default: 400)")
    parser.add_argument("--runs", type=int, default=8, metavar="N", help="of each, a week apart (default: 8)")
    parser.add_argument(
        "--plant",
        action="append",
        default=[],
        metavar="FAULT",
        help="NODE:KIND:SIZE:RUNS; kinds bandwidth, core, clock, latency, dgemm",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the noise (default: 1)")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
    parser.set_defaults(run=_run_generate)


def _run_generate(given: argparse.Namespace) -> int:
    from strata.centre.fleet.command import planted, write_generated

    faults = planted(given.plant, given.nodes, given.runs)
    return write_generated(given.out, given.nodes, given.runs, faults, given.seed)
