#!/usr/bin/env python3
"""Strata's stencil and message rate beside their peers: interleaved launches, medians, ratio to the peer.

    benchmarks/peers/programs.py                                    # both, six blocks
    benchmarks/peers/programs.py message-rate --osu DIR/osu_mbw_mr
    benchmarks/peers/programs.py stencil --blocks 10

osu_mbw_mr is taken from PATH or --osu and left out where it is absent: no system packages it; built from the
OSU micro-benchmarks with ./configure CC=mpicc && make, with the MPI that Strata was built with. The stencil
stands beside plain_heat.c, compiled with cc. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from compare import (
    OURS,
    Comparison,
    Contender,
    common_options,
    compared,
    compiled,
    cores,
    front,
    number,
    openmp,
    ours,
    output_of,
)

SIZES = {8: "Mmsg/s", 1024: "Mmsg/s", 65536: "GB/s", 2097152: "GB/s"}


def our_rate(processes: int, size: int) -> Callable[[], dict[str, float]]:
    """The point of our curve at one size, in messages or in bytes a second."""

    def run() -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "result.json"
            bench = [str(front()), "bench", "--layout", f"{processes}x1", "message-rate", "--pairs", "far"]
            output_of([*bench, "--bytes", f"{size},{size}", "--json", str(file)])
            curves = json.loads(file.read_text())["curves"]
        return {"": float(curves[SIZES[size] == "GB/s"]["points"][0][1])}

    return run


def osu_rate(program: str, processes: int, size: int) -> Callable[[], dict[str, float]]:
    """Its line for one size: bytes, MB/s, messages/s."""

    def run() -> dict[str, float]:
        start = ["mpirun", "-n", str(processes), "--bind-to", "core"]
        for line in output_of([*start, program]).splitlines():
            found = line.split()
            if found and found[0] == str(size):
                return {"": float(found[1]) * 1e-3 if SIZES[size] == "GB/s" else float(found[2]) * 1e-6}
        raise RuntimeError(f"{program}: no line for {size} B")

    return run


def message_rates(program: str | None) -> list[Comparison]:
    processes = len(cores()) // 2 * 2
    if processes < 2 or shutil.which("mpirun") is None:
        print("left out: message rate: two cores and an MPI are needed")
        return []
    if program is None:
        print("left out: osu_mbw_mr is not on PATH: --osu FILE")
    found = []
    for size, unit in SIZES.items():
        contenders = [Contender(OURS, our_rate(processes, size))]
        if program:
            contenders.append(Contender("osu_mbw_mr", osu_rate(program, processes, size)))
        found.append(
            Comparison(f"messages of {size} B, {processes // 2} pairs", unit, True, 0.05, contenders)
        )
    return found


def stencils(folder: Path, n: int) -> list[Comparison]:
    plain = compiled(folder, "plain_heat.c", "-march=native", "-fopenmp", "-lm")
    found = []
    for threads in sorted({1, len(cores())}):
        mine = ours(f"1x{threads}", "stencil", "cell updates", "--n", str(n))
        contenders = [Contender(OURS, mine)]
        if plain:
            contenders.append(Contender("plain loops", number([plain, str(n), "20", "7"], openmp(threads))))
        found.append(Comparison(f"stencil n={n}, {threads} threads", "Mcell/s", True, 0.05, contenders))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("kinds", nargs="*", default=[], help="of stencil, message-rate; without names both")
    parser.add_argument("--n", type=int, default=200, help="edge of the stencil's cube (200)")
    parser.add_argument("--osu", default=shutil.which("osu_mbw_mr"), help="the program osu_mbw_mr")
    common_options(parser)
    given = parser.parse_args()
    makers = {
        "stencil": lambda: stencils(Path(made), given.n),
        "message-rate": lambda: message_rates(given.osu),
    }
    for kind in given.kinds:
        if kind not in makers:
            parser.error(f"unknown: {kind}; there are {', '.join(makers)}")
    with tempfile.TemporaryDirectory() as made:
        return compared((makers[kind]() for kind in given.kinds or makers), given)


if __name__ == "__main__":
    sys.exit(main())
