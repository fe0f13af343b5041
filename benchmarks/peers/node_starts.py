#!/usr/bin/env python3
"""What it costs to start ranks on nodes: `strata launch --nodes` beside plain srun, in jobs of a cluster in a
box, in turn.

    STRATA_BIN=build/.../bin/strata benchmarks/peers/node_starts.py               # 4 nodes, 4 to 256 ranks
    benchmarks/peers/node_starts.py --nodes 2 8 --ranks 8 64 --blocks 20 --plot starts.svg

With more ranks than cores they share them. The program is `true`: the time is that of the start and of the
end. Nothing else should run meanwhile. At the end there is one table of all; its ratio is the median of the
blocks' ratios, beside the smallest and the largest. Ends with 1 where ours takes more than 1.1 times as
long.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import uuid
from collections.abc import Iterator
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


def rows(done: dict[tuple[int, int], Comparison]) -> list[tuple[str, ...]]:
    """A line for each number of nodes and ranks: medians in ms, and the ratio block by block."""
    found: list[tuple[str, ...]] = [("nodes", "ranks", "strata, ms", "srun, ms", "ratio", "blocks' ratios")]
    for (nodes, ranks), comparison in done.items():
        medians = [f"{statistics.median(c.values['']):.1f}" for c in comparison.contenders]
        ratios = comparison.ratios()
        between = f"{min(ratios):.2f} to {max(ratios):.2f}"
        found.append((str(nodes), str(ranks), *medians, f"{statistics.median(ratios):.2f}", between))
    return found


def aligned(lines: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    )


def draw(done: dict[tuple[int, int], Comparison], path: Path) -> None:
    """Above the medians against the number of ranks, with their spread, a colour for each number of nodes;
    below the ratio of each block's pair, and what is meant."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot, ticker

    figure, (times, ratios) = pyplot.subplots(2, 1, figsize=(6, 6), sharex=True, height_ratios=(2, 1))
    for colour, nodes in enumerate(dict.fromkeys(n for n, _ in done)):
        ranks = [r for n, r in done if n == nodes]
        of_nodes = [done[nodes, r] for r in ranks]
        for i, (name, style) in enumerate(((OURS, "-"), ("srun", "--"))):
            values = [c.contenders[i].values[""] for c in of_nodes]
            medians = [statistics.median(v) for v in values]
            label = f"{name}, {nodes} nodes"
            times.plot(ranks, medians, style, marker="o", color=f"C{colour}", label=label)
            low, high = [min(v) for v in values], [max(v) for v in values]
            times.fill_between(ranks, low, high, color=f"C{colour}", alpha=0.15)
        for r, comparison in zip(ranks, of_nodes, strict=True):
            pairs = comparison.ratios()
            ratios.plot([r] * len(pairs), pairs, ".", color=f"C{colour}", alpha=0.4)
        ratios.plot(ranks, [statistics.median(c.ratios()) for c in of_nodes], color=f"C{colour}")
    ratios.axhline(1 + ALLOWED, color="grey", linestyle=":")
    times.set(xscale="log", yscale="log", ylabel="start to end, ms")
    ratios.set(xlabel="ranks", ylabel="strata / srun")
    ticks = sorted({r for _, r in done})
    ratios.set_xticks(ticks, [str(tick) for tick in ticks])
    ratios.minorticks_off()
    for each in (times.yaxis.set_major_formatter, times.yaxis.set_minor_formatter):
        each(ticker.FormatStrFormatter("%g"))
    times.legend()
    figure.tight_layout()
    figure.savefig(path)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, nargs="+", default=[4], metavar="N")
    parser.add_argument("--ranks", type=int, nargs="+", default=[4, 16, 64, 256], metavar="N")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture of the table")
    common_options(parser, 6)
    given = parser.parse_args()
    done: dict[tuple[int, int], Comparison] = {}

    def groups() -> Iterator[list[Comparison]]:
        for nodes in given.nodes:
            job = Job(nodes)
            try:
                ranks = [number for number in given.ranks if number >= nodes]
                made = comparisons(job, ranks)
                yield made
                done.update({(nodes, number): each for number, each in zip(ranks, made, strict=True)})
            finally:
                job.end()

    status = compared(groups(), given)
    print("\n" + aligned(rows(done)))
    if given.plot:
        draw(done, given.plot)
    return status


if __name__ == "__main__":
    sys.exit(main())
