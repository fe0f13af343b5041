#!/usr/bin/env python3
"""Strata's benchmarks beside HPC Challenge's own program: interleaved launches, medians, ratio to hpcc.

    benchmarks/peers/hpcc.py                           # six launches of hpcc, each half a minute
    benchmarks/peers/hpcc.py --blocks 10 --table hpcc.md

Every figure that both have, on two cores: all of hpcc's come from one launch, each of ours from one of its
own. HPCC derives some sizes from its input: docs/benchmarks.md says which. hpcc is Debian's package of that
name; nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from compare import OURS, Comparison, Contender, array_bytes, common_options, compared, cores, ours, output_of

# Theirs -> layout, benchmark, figure of ours, units of ours in one of theirs, whether more is better
HPCC_FIGURES = {
    "SingleSTREAM_Triad": ("1x1", "stream", "triad", 1.0, True),
    "StarSTREAM_Triad": ("2x1", "stream", "triad, a process", 1.0, True),
    "SingleDGEMM_Gflops": ("1x1", "dgemm", "dgemm", 1.0, True),
    "AvgPingPongLatency_usec": ("2x1", "pingpong", "latency", 1.0, False),
    "AvgPingPongBandwidth_GBytes": ("2x1", "pingpong", "bandwidth", 1.0, True),
    "NaturallyOrderedRingLatency_usec": ("2x1", "rings", "natural ring latency", 1.0, False),
    "NaturallyOrderedRingBandwidth_GBytes": ("2x1", "rings", "natural ring bandwidth", 1.0, True),
    "RandomlyOrderedRingLatency_usec": ("2x1", "rings", "random ring latency", 1.0, False),
    "RandomlyOrderedRingBandwidth_GBytes": ("2x1", "rings", "random ring bandwidth", 1.0, True),
    "PTRANS_GBs": ("2x1", "ptrans", "ptrans", 1.0, True),
    "MPIFFT_Gflops": ("2x1", "mpifft", "mpifft", 1.0, True),
    "HPL_Tflops": ("2x1", "hpl", "hpl", 1000.0, True),
}
# By the end of a figure's name in HPCC's output.
UNITS = {
    "Triad": "GB/s",
    "Gflops": "GF/s",
    "Tflops": "GF/s",
    "usec": "us",
    "GBytes": "GB/s",
    "GBs": "GB/s",
}
HPL_BLOCK = 192


def hpcc_input(order: int) -> str:
    """The sample of its package, with one problem on a grid of 1 x 2, and blocks that suit a BLAS of today.

    PTRANS, which takes the same blocks, is also tried with those of the sample; its best counts.
    """
    sample = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text().splitlines()
    put = {
        4: "1",
        5: str(order),
        7: str(HPL_BLOCK),
        9: "1",
        10: "1",
        11: "2",
        34: "1",
        35: sample[7].split()[0],
    }
    return "\n".join(put.get(i, line) for i, line in enumerate(sample)) + "\n"


def hpl_options(order: int) -> list[str]:
    """The same system in the same blocks on the same grid."""
    return ["--n", str(order), "--nb", str(HPL_BLOCK), "--grid", "1x2"]


def hpcc(order: int) -> Callable[[], dict[str, float]]:
    def run() -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "hpccinf.txt").write_text(hpcc_input(order))
            output_of(["mpirun", "-n", "2", "--bind-to", "core", "hpcc"], cwd=Path(folder))
            text = (Path(folder) / "hpccoutf.txt").read_text()
        return {k: float(v) for k, v in re.findall(r"^(\w+)=([0-9.eE+-]+)$", text, re.MULTILINE)}

    return run


def linked_blas(program: str) -> str:
    """The BLAS that the system's linker finds for a program: Debian's alternatives choose it."""
    found = re.search(r"lib(?:open)?blas\S* => (\S+)", output_of(["ldd", str(shutil.which(program))]))
    return str(Path(found[1]).resolve()) if found else "within the program"


def hpcc_comparisons(blocks: int, rng: random.Random) -> list[Comparison]:
    """Every figure that both have. HPCC derives some sizes from its input: see docs/benchmarks.md."""
    if shutil.which("hpcc") is None or len(cores()) < 2:
        print("left out: hpcc is not installed, or there is one core")
        return []
    order = round((2 * 3 * array_bytes() / 8) ** 0.5) + 200  # so that its vectors are as long as ours
    theirs: dict[str, list[float]] = {}
    mine: dict[str, list[float]] = {}
    for block in range(blocks):
        tasks: list[str] = [*HPCC_FIGURES, ""]
        rng.shuffle(tasks)
        for task in tasks:
            if task == "":
                for name, value in hpcc(order)().items():
                    factor = HPCC_FIGURES[name][3] if name in HPCC_FIGURES else 1.0
                    theirs.setdefault(name, []).append(factor * value)
            else:
                layout, benchmark, figure, _, _ = HPCC_FIGURES[task]
                options = hpl_options(order) if benchmark == "hpl" else ["--quick"]
                mine.setdefault(task, []).extend(ours(layout, benchmark, figure, *options)().values())
        print(f"  hpcc: block {block + 1} of {blocks}", file=sys.stderr)
    print(f"hpcc: N={order}, two ranks; its BLAS: {linked_blas('hpcc')}", file=sys.stderr)
    found = []
    for name, (_, _, figure, factor, higher) in HPCC_FIGURES.items():
        if mine.get(name) and theirs.get(name):
            both = [Contender(OURS, dict, {"": mine[name]}), Contender("hpcc", dict, {"": theirs[name]})]
            label = name if factor == 1 else f"{name} x {factor:g}"
            found.append(
                Comparison(f"{label} ({figure})", UNITS[name.rpartition("_")[2]], higher, None, both)
            )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n")[0],
        epilog=(__doc__ or "").partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    common_options(parser)
    given = parser.parse_args()
    return compared([hpcc_comparisons(given.blocks, random.Random(given.seed))], given)


if __name__ == "__main__":
    sys.exit(main())
