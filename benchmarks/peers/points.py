#!/usr/bin/env python3
"""Strata's material point method beside Taichi's: interleaved launches, medians, ratio to the peer.

    benchmarks/peers/points.py --taichi VENV/bin/python
    benchmarks/peers/points.py --taichi VENV/bin/python --blocks 10 --edges 16

Quadratic B-splines, APIC, neo-Hookean, doubles, bars of 2n x n x n cells with eight points each; --fused for
`method.fused` instead of six tasks. The Python named by --taichi has Taichi (pip install taichi==1.7.4, in an
environment of its own). Ends with status 1 where ours is less than three times as fast. Nothing else should
run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from compare import HERE, OURS, Comparison, Contender, common_options, compared, cores, front, words

SECONDS = 2.0
TIMES = 1.0 - 3.0  # as a lag: three times the peer's rate
SPACING = 0.01  # m
STEP = 0.3 * SPACING / 36.7  # s: cfl over the speed of waves in this rubber


def bar(n: int, steps: int, fused: bool) -> str:
    """A case: the bar with four cells of room around it, flying, and pulled at both ends."""
    cells = [2 * n + 8, n + 8, n + 8]
    low, high = 4 * SPACING, [(c - 4) * SPACING for c in cells]
    return f"""solver = "mpm"
[grid]
cells = {cells}
patch = [8, 8, 8]
size = {[c * SPACING for c in cells]}
[method]
shape = "quadratic"
transfer = "apic"
fused = {str(fused).lower()}
[materials]
law = ["neo-hookean"]
density = [1000.0]
young = [1e6]
poisson = [0.3]
[bodies]
shapes = ["box {low} {low} {low} {high[0]} {high[1]} {high[2]}"]
per_cell = [2, 2, 2]
velocity = [0.5, 0.0, 0.0]
[loads]
pull = 1.0
[time]
end = {steps * STEP}
cfl = 0.3
[verify]
energy = 0.02
"""


def our_rate(n: int, threads: int, fused: bool) -> Callable[[], dict[str, float]]:
    points = 16 * n**3
    steps = max(20, int(SECONDS * 8e6 * threads / points))

    def run() -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            case, out = Path(folder) / "bar.toml", Path(folder) / "out"
            case.write_text(bar(n, steps, fused))
            words([str(front()), "run", str(case), "--layout", f"1x{threads}", "--quiet", "--out", str(out)])
            result = json.loads((out / "result.json").read_text())
        step = next(f["value"] for f in result["figures"] if f["name"] == "time of a step")
        return {"": 1e-6 * points / step}

    return run


def taichi_rate(python: str, n: int, threads: int) -> Callable[[], dict[str, float]]:
    mask = ",".join(map(str, cores()[:threads]))
    program = [
        "taskset",
        "-c",
        mask,
        python,
        str(HERE / "taichi_points.py"),
        str(n),
        str(threads),
        str(SECONDS),
    ]
    return lambda: {"": float(words(program).split()[-1])}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--taichi", required=True, metavar="PYTHON", help="an interpreter that has Taichi")
    parser.add_argument("--edges", type=int, nargs="+", default=[16, 40], help="n of the bars (16 40)")
    parser.add_argument("--fused", action="store_true", help="stress and transfer in one task")
    common_options(parser, blocks=5)
    given = parser.parse_args()
    comparisons = [
        Comparison(
            f"{16 * n**3} points, {threads} threads",
            "Mpoint/s",
            True,
            TIMES,
            [
                Contender(OURS, our_rate(n, threads, given.fused)),
                Contender("Taichi", taichi_rate(given.taichi, n, threads)),
            ],
        )
        for n in given.edges
        for threads in sorted({1, len(cores())})
    ]
    return compared([comparisons], given)


if __name__ == "__main__":
    sys.exit(main())
