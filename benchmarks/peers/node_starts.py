#!/usr/bin/env python3
"""What it costs to start ranks on nodes: `strata launch --nodes` beside plain srun, in jobs of a cluster in a
box, in turn.

    STRATA_BIN=build/.../bin/strata benchmarks/peers/node_starts.py               # 4 nodes, 4 to 256 ranks
    benchmarks/peers/node_starts.py --nodes 2 --ranks 2 64 --blocks 20 --plot starts.svg

With more ranks than cores they share them. The program is `true`: the time is that of the start and of the
end. Nothing else should run meanwhile. Ends with 1 where ours takes more than 1.1 times as long.
"""

from __future__ import annotations

import argparse
import sys
import uuid
from pathlib import Path

from compare import OURS, Comparison, Contender, common_options, compared, front, output_of

ALLOWED = 0.1


class Job:
    """A cluster, and commands that are timed on its login node, within a job that has all nodes."""

    def __init__(self, nodes: int) -> None:
        self.name, self.nodes = f"starts-{uuid.uuid4().hex[:8]}", nodes
        output_of([str(front()), "cluster", "up", "--name", self.name, "--nodes", str(nodes)])

    def seconds(self, *command: str) -> dict[str, float]:
        """From the start of the command to its end."""
        timed = 'a=$(date +%s.%N); "$@" >&2 || exit; echo $a $(date +%s.%N)'
        job = ["salloc", "--quiet", f"--nodes={self.nodes}", "--overcommit", "sh", "-c", timed, "timed"]
        shell = [str(front()), "cluster", "shell", "--name", self.name, "login", "--"]
        began, ended = map(float, output_of([*shell, *job, *command]).split()[-2:])
        return {"": 1e3 * (ended - began)}

    def end(self) -> None:
        output_of([str(front()), "cluster", "down", "--name", self.name])


def comparisons(job: Job, ranks: list[int]) -> list[Comparison]:
    found = []
    for number in ranks:
        srun = ["srun", f"--nodes={job.nodes}", f"--ntasks={number}", "--overcommit", "--cpu-bind=none"]
        mine = [
            str(front()),
            "launch",
            "--nodes",
            str(job.nodes),
            "--layout",
            f"{number}x1",
            "--bind",
            "none",
        ]
        contenders = [
            Contender(OURS, lambda words=mine: job.seconds(*words, "--", "true")),
            Contender("srun", lambda words=srun: job.seconds(*words, "true")),
        ]
        found.append(Comparison(f"{number} ranks on {job.nodes} nodes", "ms", False, ALLOWED, contenders))
    return found


def draw(done: list[Comparison], ranks: list[int], path: Path) -> None:
    """Medians with their spread against the number of ranks."""
    from statistics import median

    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for i, name in enumerate((OURS, "srun")):
        values = [c.contenders[i].values[""] for c in done]
        axes.plot(ranks, [median(v) for v in values], marker="o", label=name)
        axes.fill_between(ranks, [min(v) for v in values], [max(v) for v in values], alpha=0.2)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("ranks")
    axes.set_ylabel("start to end, ms")
    axes.legend()
    figure.savefig(path)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=4, metavar="N")
    parser.add_argument("--ranks", type=int, nargs="+", default=[4, 16, 64, 256], metavar="N")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture of the table")
    common_options(parser, 6)
    given = parser.parse_args()
    job = Job(given.nodes)
    try:
        made = comparisons(job, given.ranks)
        status = compared([made], given)
    finally:
        job.end()
    if given.plot:
        draw(made, given.ranks, given.plot)
    return status


if __name__ == "__main__":
    sys.exit(main())
