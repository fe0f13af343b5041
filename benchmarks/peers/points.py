#!/usr/bin/env python3
"""Strata's material point method beside Taichi's: interleaved launches, medians, ratio to the peer.

    benchmarks/peers/points.py --taichi VENV/bin/python
    benchmarks/peers/points.py --taichi VENV/bin/python --blocks 10 --edges 16

Quadratic B-splines, APIC, neo-Hookean, doubles, bars of 2n x n x n cells with eight points each; --fused for
`method.fused` instead of six tasks. The Python named by --taichi has Taichi (pip install taichi==1.7.4, in an
environment of its own). Before any rate counts both swing the same bar for a quarter of a period, and are
compared with the same exact solution: no rate of what is wrong. Ends with status 1 where ours is less than
three times as fast, or wrong. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from compare import (
    BEHIND,
    HERE,
    OURS,
    Comparison,
    Contender,
    common_options,
    compared,
    cores,
    front,
    output_of,
)

SECONDS = 2.0
TIMES = 1.0 - 3.0  # as a lag: three times the peer's rate
SPACING = 0.01  # m
EDGE = 16  # cells of the bar that is compared with the exact solution
ERROR = 0.002  # of the amplitude: twice what Taichi's has with so many cells
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
[[materials]]
law = "neo-hookean"
density = 1000.0
young = 1e6
poisson = 0.3
[particles]
per_cell = [2, 2, 2]
[[bodies]]
shape = "box"
from = {[low, low, low]}
to = {[*high]}
velocity = [0.5, 0.0, 0.0]
[loads]
pull = 1.0
[time]
end = {steps * STEP}
cfl = 0.3
[verify]
energy = 0.02
"""


def swinging(n: int, fused: bool) -> str:
    """A case: half of Taichi's bar, whose middle rests, in its first mode for a quarter of a period. At
    strains of a thousandth the linear law, for which the solution is exact, and the neo-Hookean one are the
    same.
    """
    speed = 1000.0**0.5  # m/s: sqrt(E / density), with a Poisson's ratio of 0
    return f"""solver = "mpm"
[[walls]]
side = "x"
kind = "fixed"
[grid]
cells = {[n + 4, n, n]}
patch = [8, 8, 8]
size = {[(n + 4) * SPACING, n * SPACING, n * SPACING]}
[method]
shape = "quadratic"
transfer = "apic"
fused = {str(fused).lower()}
[[materials]]
law = "linear"
density = 1000.0
young = 1e6
poisson = 0.0
[particles]
per_cell = [2, 2, 2]
[[bodies]]
shape = "box"
from = [0.0, 0.0, 0.0]
to = {[n * SPACING] * 3}
[exact]
problem = "axial"
amplitude = {1e-3 * speed}
[time]
end = {n * SPACING / speed}
cfl = 0.3
[verify]
error = 1.0 # judged with the peer's
"""


def our_error(n: int, threads: int, fused: bool) -> float:
    """Of the displacement, as a share of its amplitude."""
    with tempfile.TemporaryDirectory() as folder:
        case, out = Path(folder) / "swinging.toml", Path(folder) / "out"
        case.write_text(swinging(n, fused))
        output_of([str(front()), "run", str(case), "--layout", f"1x{threads}", "--quiet", "--out", str(out)])
        figures = json.loads((out / "result.json").read_text())["figures"]
    return float(next(f["value"] for f in figures if f["name"] == "error"))


def taichi_error(python: str, n: int, threads: int) -> float:
    """The same of Taichi's whole bar."""
    program = [python, str(HERE / "taichi_points.py"), str(n), str(threads), "exact"]
    return float(output_of(program).split()[-1])


def right(name: str, error: Callable[[], float]) -> bool:
    """Whether a program's rate counts; said either way."""
    try:
        found = error()
    except (RuntimeError, ValueError) as failed:
        print(f"left out: {name}: no result to compare with the exact solution: {failed}")
        return False
    good = found <= ERROR  # not a number is not right
    print(f"{name}: {100 * found:.3g} % of the exact solution's amplitude off, {100 * ERROR:g} % are allowed")
    if not good:
        print(f"left out: {name}: its rate does not count")
    return good


def our_rate(n: int, threads: int, fused: bool) -> Callable[[], dict[str, float]]:
    points = 16 * n**3
    steps = max(20, int(SECONDS * 8e6 * threads / points))

    def run() -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            case, out = Path(folder) / "bar.toml", Path(folder) / "out"
            case.write_text(bar(n, steps, fused))
            output_of(
                [str(front()), "run", str(case), "--layout", f"1x{threads}", "--quiet", "--out", str(out)]
            )
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
    return lambda: {"": float(output_of(program).split()[-1])}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--taichi", required=True, metavar="PYTHON", help="an interpreter that has Taichi")
    parser.add_argument("--edges", type=int, nargs="+", default=[16, 40], help="n of the bars (16 40)")
    parser.add_argument("--fused", action="store_true", help="stress and transfer in one task")
    common_options(parser, blocks=5)
    given = parser.parse_args()
    threads = len(cores())
    if not right(OURS, lambda: our_error(EDGE, threads, given.fused)):
        return BEHIND
    peer = right("Taichi", lambda: taichi_error(given.taichi, EDGE, threads))
    comparisons = []
    for n in given.edges:
        for threads in sorted({1, len(cores())}):
            contenders = [Contender(OURS, our_rate(n, threads, given.fused))]
            if peer:
                contenders.append(Contender("Taichi", taichi_rate(given.taichi, n, threads)))
            title = f"{16 * n**3} points, {threads} threads"
            comparisons.append(Comparison(title, "Mpoint/s", True, TIMES, contenders))
    return compared([comparisons], given)


if __name__ == "__main__":
    sys.exit(main())
