"""`strata cluster` on the command line."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import Parser, command

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def cluster(commands: Commands) -> None:
    """Declares `strata cluster`."""
    parser = command(
        commands,
        "cluster",
        "a cluster in a box: real Slurm on nodes that are namespaces of this machine",
        [
            ("strata cluster up --nodes 4", "four nodes with a Slurm, in a few seconds"),
            ("strata cluster shell login", "a shell where srun, sbatch and squeue meet it"),
            ("strata cluster shell login -- srun -N 4 hostname", "one command there"),
            ("strata cluster status", "nodes, links, and what Slurm says of them"),
            ("strata cluster kill n2", "n2 crashes; start n2 boots it again"),
            ("strata cluster cut n3", "the link of n3 is cut; mend n3 joins it"),
            ("strata cluster down", "nothing is left"),
        ],
    )
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    up = _verb(verbs, "up", "start a cluster")
    up.add_argument("--nodes", type=int, default=4, metavar="N", help="default: 4")
    up.add_argument("--link", metavar="RATE", help="speed of each link, such as 1gbit (default: unlimited)")
    up.add_argument("--latency", metavar="TIME", help="added from node to node, such as 50us")
    up.add_argument("--cpus", type=int, metavar="N", help="cores of a node (default: a share)")
    up.add_argument(
        "--memory",
        metavar="SIZES",
        help="limit of a node, such as 2GiB (default: a share); 2GiB,1GiB: of n1, and of each other",
    )
    up.add_argument(
        "--switches", type=int, default=1, metavar="N", help="of the network as Slurm knows it (default: 1)"
    )
    up.add_argument(
        "--share",
        action="append",
        type=Path,
        default=[],
        metavar="FOLDER",
        help="a folder below /tmp or /dev/shm that all nodes are to see; elsewhere they see all files",
    )
    up.add_argument("--no-accounting", action="store_true", help="up a second earlier, without sacct")
    up.add_argument("--stay", action="store_true", help="stay until Ctrl-C, and end the cluster with it")
    up.set_defaults(run=_up)
    status = _verb(verbs, "status", "nodes, links, and what Slurm says of them")
    status.add_argument("--json", action="store_true", help="as JSON")
    status.set_defaults(run=_status)
    shell = _verb(verbs, "shell", "a shell on a node, or the command after --")
    shell.add_argument("node", nargs="?", default="login", metavar="NODE", help="default: login")
    shell.set_defaults(run=_shell)
    for verb, text in {
        "kill": "a node crashes: its first process is killed",
        "start": "boot a node that was killed",
        "cut": "cut the link of a node",
        "mend": "join a link that was cut",
    }.items():
        each = _verb(verbs, verb, text)
        each.add_argument("node", metavar="LINK" if verb in ("cut", "mend") else "NODE", help="n1, n2, ...")
        each.set_defaults(run=_do, verb=verb)
    _verb(verbs, "down", "end the cluster").set_defaults(run=_down)


def _verb(verbs: Commands, name: str, text: str) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=text, description=text[:1].upper() + text[1:] + ".")
    parser.add_argument("--name", default="box", help="of the cluster, where several are up (default: box)")
    return parser


def _up(given: argparse.Namespace) -> int:
    from strata.cluster.ask import down, status
    from strata.cluster.shown import shown
    from strata.cluster.start import up

    made = up(
        given.name,
        given.nodes,
        link=given.link,
        latency=given.latency,
        cpus=given.cpus,
        memory=given.memory,
        switches=given.switches,
        share=given.share,
        accounting=not given.no_accounting,
        stay=given.stay,
    )
    try:
        print(shown(status(given.name)), flush=True)
        if given.stay:
            made.wait()
    except KeyboardInterrupt:
        if not given.stay:
            down(given.name)
        made.end()
        raise
    return 0


def _status(given: argparse.Namespace) -> int:
    from strata.cluster.ask import status
    from strata.cluster.shown import shown

    about = status(given.name)
    print(json.dumps(about) if given.json else shown(about))
    return 0


def _shell(given: argparse.Namespace) -> int:
    from strata.cluster.enter import run

    words = list(given.argv)
    words = words[words.index("--") + 1 :] if "--" in words else []
    sys.stdout.flush()
    code = run(given.name, given.node, words or [os.environ.get("SHELL") or "/bin/sh"])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # the program has said all


def _do(given: argparse.Namespace) -> int:
    from strata.cluster.ask import ask

    ask(given.name, {"do": given.verb, "node": given.node})
    return 0


def _down(given: argparse.Namespace) -> int:
    from strata.cluster.ask import down

    down(given.name)
    return 0
