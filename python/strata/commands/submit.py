"""`strata submit` on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import command

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def submit(commands: Commands) -> None:
    """Declares `strata submit`."""
    parser = command(
        commands,
        "submit",
        "send a command to nodes of a Slurm cluster, by a script that says why",
        [
            ("strata submit -- characterize", "a report of a node of the default partition"),
            ("strata submit --time 2h -- run case.toml --layout 16x4 --out run", "a run on one node"),
            ("strata submit --nodes 4 --time 2h -- run case.toml --layout 64x4", "on four"),
            (
                "strata submit --time 4h --time-min 30m --goes-on -- run case.toml --out run",
                "as much time as there is, then queued again",
            ),
            ("strata submit --nodes 2 --layout 32x4 --time 1h -- ./a.out", "a program of your own"),
            ("strata submit --goes-on --time 4h --layout 1x16 -- ./a.out", "the same, by CRIU"),
            (
                "strata submit --nodes 4 --first-node-memory 512GiB --time 1h -- run case.toml --layout 64x4",
                "rank 0 lies on a node with more memory",
            ),
            ("strata submit --array 1-9 --time 1h -- run case-{task}.toml --out run-{task}", "nine jobs"),
            ("strata submit --dry-run -- characterize --full", "print the script"),
        ],
    )
    parser.add_argument("--nodes", type=_count, default=1, metavar="N", help="whole nodes (default 1)")
    parser.add_argument(
        "--layout",
        metavar="PxT",
        help="of a program, or of run, launch, bench: processes of all nodes x threads",
    )
    parser.add_argument("-p", "--partition", metavar="NAME", help="default: the site's, or Slurm's")
    parser.add_argument(
        "-t", "--time", metavar="TIME", help="such as 90m or 2h (default: by the command's plan)"
    )
    parser.add_argument("--time-min", metavar="TIME", help="less will do where it lets the job start earlier")
    parser.add_argument(
        "--goes-on",
        action="store_true",
        help="before its time is over a run writes a checkpoint, and CRIU dumps any other program on one "
        "node; the job is queued again, and goes on",
    )
    parser.add_argument("--account", metavar="NAME", help="whom the job is charged to")
    parser.add_argument("--qos", metavar="NAME", help="quality of service")
    parser.add_argument("--constraint", metavar="LIST", help="features that its nodes must have")
    parser.add_argument("--reservation", metavar="NAME", help="nodes that were reserved")
    parser.add_argument("--switches", metavar="N[@TIME]", help="nodes below so few switches; wait so long")
    parser.add_argument(
        "--first-node-memory", metavar="SIZE", help="one node has so much, such as 512GiB; rank 0 lies there"
    )
    parser.add_argument("--array", metavar="LIST", help="such as 1-9: a job for each; {task} is its number")
    parser.add_argument("--site", type=Path, metavar="FILE", help="site.toml (default: see docs/cluster.md)")
    parser.add_argument("--dry-run", action="store_true", help="print the script, submit nothing")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- command args", help="what to run")
    parser.set_defaults(run=_run)


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number of nodes: 1 or more")
    return value


def _run(given: argparse.Namespace) -> int:
    from strata.cluster.quantities import size
    from strata.measure.progress import seconds
    from strata.submit.command import run
    from strata.submit.request import Request

    def time(text: str | None, at: str) -> float | None:
        return seconds(text, at) if text is not None else None

    words = given.command[1:] if given.command[:1] == ["--"] else given.command
    return run(
        Request(
            words=tuple(words),
            layout=given.layout,
            nodes=given.nodes,
            partition=given.partition,
            time_s=time(given.time, "--time"),
            time_min_s=time(given.time_min, "--time-min"),
            account=given.account,
            qos=given.qos,
            constraint=given.constraint,
            reservation=given.reservation,
            switches=given.switches,
            first_node_memory=size(given.first_node_memory, "--first-node-memory")
            if given.first_node_memory
            else None,
            array=given.array,
            goes_on=given.goes_on,
            site=given.site,
            dry_run=given.dry_run,
            argv=given.argv,
        )
    )
