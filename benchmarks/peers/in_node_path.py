#!/usr/bin/env python3
"""What a program that could run on several nodes pays for it on one: the time of a step beside that of the
same objects linked without the library for several nodes, in pairs of launches in random order.

    PYTHON benchmarks/peers/in_node_path.py BUILD                      # heat and mpm on 1x1, 1x2 and 2x1
    benchmarks/peers/in_node_path.py BUILD --layouts 2x1 --blocks 60

BUILD is the build folder of CMake (build/.../cmake), with its tests, which have both programs; PYTHON the
interpreter of the build. Nothing else should run meanwhile. Ends with 1 where a ratio's interval of 95 % does
not hold 1, or is wider than 2 % on either side.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from compare import BEHIND, GOOD, common_options, output_of

from strata.measure.stats import BlockRatio, block_ratio

ROOT = Path(__file__).resolve().parents[2]
WIDEST = 0.02  # half of an interval
CASES = {  # a case and its steps, of which it has more: half a second of them
    "transport": ("transport/heat", 1300),
    "mpm": ("mpm/bar", 25),
}
LINKED = ("nodes", "one-node")


def step_seconds(program: Path, case: Path, steps: int, layout: str) -> float:
    """The mean time of a step of one launch."""
    with tempfile.TemporaryDirectory() as out:
        words = [str(program), str(case), "--steps", str(steps), "--quiet", "--out", out]
        output_of(words, {"STRATA_LAYOUT": layout})
        result = json.loads((Path(out) / "result.json").read_text())
    return float(result["steps_s"]) / steps


def compared(build: Path, name: str, layout: str, blocks: int, rng: random.Random) -> BlockRatio:
    case, steps = CASES[name]
    seconds: dict[str, dict[int, float]] = {linked: {} for linked in LINKED}
    for block in range(blocks):
        for linked in rng.sample(LINKED, len(LINKED)):
            program = build / "tests" / "solvers" / linked / f"strata-{name}"
            seconds[linked][block] = step_seconds(program, ROOT / "cases" / f"{case}.toml", steps, layout)
    ratio = block_ratio(*(seconds[linked] for linked in LINKED))
    assert ratio is not None
    return ratio


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=Path, metavar="BUILD")
    parser.add_argument("--layouts", nargs="+", default=["1x1", "1x2", "2x1"], metavar="PxT")
    parser.add_argument("--solvers", nargs="+", default=list(CASES), choices=CASES)
    common_options(parser, 30)
    given = parser.parse_args()
    if given.blocks < 6:
        parser.error("an interval needs six launches or more: --blocks 6")
    rng, status = random.Random(given.seed), GOOD
    lines = ["| solver | layout | with / without | half-width | |", "| --- | --- | --- | --- | --- |"]
    for name in given.solvers:
        for layout in given.layouts:
            ratio = compared(given.build, name, layout, given.blocks, rng)
            assert ratio.low is not None and ratio.high is not None
            half = (ratio.high - ratio.low) / 2
            good = ratio.side == 0 and half <= WIDEST
            status = status if good else BEHIND
            interval = f"{ratio.value:.4f} [{ratio.low:.4f}, {ratio.high:.4f}]"
            lines.append(
                f"| {name} | {layout} | {interval} | {100 * half:.2f} % | {'' if good else 'MISSED'} |"
            )
            print(lines[-1], flush=True)
    if given.table:
        given.table.write_text(f"n={given.blocks}\n\n" + "\n".join(lines) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
