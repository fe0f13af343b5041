#!/usr/bin/env python3
"""Strata's benchmarks beside their peers in the same run: interleaved launches, medians, ratio to the best.

    benchmarks/peers/compare.py                        # all that is here, six blocks
    benchmarks/peers/compare.py triad dgemm --blocks 10
    benchmarks/peers/compare.py --table machine.md     # the table of docs/performance.md

Peers that are not installed are named and left out: likwid-bench (Debian package likwid), OpenBLAS, an MPI.
Three small programs beside this file are compiled with cc and mpicc. Nothing else should run meanwhile. Ends
with 1 where ours is further behind than its limit, with 3 where a comparison had no peer.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = ("triad", "dgemm", "pingpong")
OURS = "strata"
# Exit statuses: a comparison without a peer has compared nothing, and says so.
GOOD, BEHIND, NO_PEER = 0, 1, 3


@dataclass
class Contender:
    """One program in one comparison: how it is started and how its figures are read."""

    name: str
    run: Callable[[], dict[str, float]]
    values: dict[str, list[float]] = field(default_factory=dict)


@dataclass
class Comparison:
    """Programs that are asked one question; whether `higher` is better, and the lag allowed (`limit`)."""

    title: str
    unit: str
    higher: bool
    limit: float | None
    contenders: list[Contender]

    def peers(self) -> list[Contender]:
        return [c for c in self.contenders if c.name != OURS and c.values]

    def allowed(self) -> float:
        """The ratio of ours to the best peer's that the limit allows: 0.95 for 5 % where higher is better."""
        assert self.limit is not None
        return 1 - self.limit if self.higher else 1 + self.limit

    def ratios(self) -> list[float]:
        """Ours to the best peer of each block: a drift of the machine meets all of a block alike."""
        (mine,) = [c.values[""] for c in self.contenders if c.name == OURS]
        best = max if self.higher else min
        blocks = zip(mine, *(c.values[""] for c in self.peers()), strict=True)
        return [own / best(theirs) for own, *theirs in blocks]


def output_of(
    command: Sequence[str],
    environment: dict[str, str] | None = None,
    cwd: Path | None = None,
    given: str | None = None,
) -> str:
    """What it prints; `given` is its input. RuntimeError where it fails."""
    settings = {**os.environ, **(environment or {})}
    if os.geteuid() == 0:  # Open MPI refuses root unless told twice
        settings |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(list(command), capture_output=True, text=True, env=settings, cwd=cwd, input=given)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def front() -> Path:
    named = os.environ.get("STRATA_BIN") or shutil.which("strata")
    if not named:
        sys.exit("no strata on PATH: activate a build, or set STRATA_BIN to the front")
    return Path(named).resolve()


def ours(layout: str, benchmark: str, figure: str, *options: str) -> Callable[[], dict[str, float]]:
    """A fresh launch of ours under a layout, bound."""

    def run() -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "result.json"
            output_of([str(front()), "bench", "--layout", layout, benchmark, *options, "--json", str(file)])
            result = json.loads(file.read_text())
        return {f["name"]: float(f["value"]) for f in result["figures"] if f["name"] == figure}

    return run


def number(
    command: Sequence[str], environment: dict[str, str] | None = None
) -> Callable[[], dict[str, float]]:
    """A program that prints one number."""
    return lambda: {"": float(output_of(command, environment).split()[-1])}


def cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def openmp(threads: int) -> dict[str, str]:
    places = ",".join(f"{{{core}}}" for core in cores()[:threads])
    return {"OMP_NUM_THREADS": str(threads), "OMP_PLACES": places, "OMP_PROC_BIND": "close"}


def compiled(folder: Path, source: str, *flags: str, compiler: str = "cc") -> str | None:
    """The program made of a source beside this file, or none without a compiler for it."""
    if shutil.which(compiler) is None:
        print(f"left out: {source}: no {compiler}")
        return None
    program = folder / Path(source).stem
    output_of([compiler, "-O3", str(HERE / source), "-o", str(program), *flags])
    return str(program)


# -- triad


def array_bytes() -> int:
    """As large as ours, so that all move the same: four times the last-level cache."""
    sizes = [p.read_text().strip() for p in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    factor = {"K": 1 << 10, "M": 1 << 20}
    return 4 * max((int(s[:-1]) * factor[s[-1]] for s in sizes), default=32 << 20)


def likwid(kernel: str, threads: int) -> Callable[[], dict[str, float]]:
    group = f"S0:{3 * array_bytes() // 1000}kB:{threads}:1:1"

    def run() -> dict[str, float]:
        found = re.search(r"MByte/s:\s+([0-9.]+)", output_of(["likwid-bench", "-t", kernel, "-w", group]))
        if not found:
            raise RuntimeError(f"likwid-bench -t {kernel}: no rate")
        return {"": float(found[1]) / 1000}

    return run


def likwid_kernels() -> list[str]:
    """Its triads in STREAM's sense (a = b + q c; its own 'triad' has four arrays), for this processor."""
    if shutil.which("likwid-bench") is None:
        print("left out: likwid-bench is not installed")
        return []
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    wanted = ["stream_mem", "stream"]
    if " avx512f " in flags:
        wanted = ["stream_mem_avx512", "stream_avx512"]
    elif " avx " in flags:
        wanted = ["stream_mem_avx", "stream_avx"]
    have = output_of(["likwid-bench", "-a"])
    return [w for w in wanted if re.search(rf"^{w} ", have, re.MULTILINE)]


def triads(folder: Path) -> list[Comparison]:
    plain = compiled(folder, "nontemporal_triad.c", "-march=native", "-fopenmp")
    kernels = likwid_kernels()
    found = []
    for threads in sorted({1, len(cores())}):
        contenders = [Contender(OURS, ours(f"1x{threads}", "stream", "triad", "--quick"))]
        if plain:
            contenders.append(
                Contender("non-temporal loop", number([plain, str(array_bytes()), "20"], openmp(threads)))
            )
        contenders += [Contender(f"likwid-bench {k}", likwid(k, threads)) for k in kernels]
        found.append(Comparison(f"triad, {threads} threads", "GB/s", True, 0.03, contenders))
    return found


# -- DGEMM


def dgemms(folder: Path, n: int) -> list[Comparison]:
    direct = compiled(folder, "direct_dgemm.c", "-ldl")
    listed = [p for p in os.environ.get("STRATA_BLAS_CANDIDATES", "").split(":") if p]
    libraries = [*listed, "libopenblas.so.0"]
    found = []
    for threads in sorted({1, len(cores())}):
        contenders = [Contender(OURS, ours(f"1x{threads}", "dgemm", "dgemm", "--n", str(n)))]
        mask = ",".join(map(str, cores()[:threads]))
        for library in libraries if direct else []:
            # env -u: what somebody exported for another program would be measured otherwise.
            clean = ["env", "-u", "OPENBLAS_CORETYPE", "-u", "OPENBLAS_L2_SIZE", "taskset", "-c", mask]
            command = [*clean, str(direct), library, str(n), "4"]
            setting = {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
            contenders.append(Contender(f"{Path(library).name} directly", number(command, setting)))
        found.append(Comparison(f"DGEMM n={n}, {threads} threads", "GF/s", True, 0.05, contenders))
    return found


# -- messages


def pingpongs(folder: Path) -> list[Comparison]:
    if len(cores()) < 2 or shutil.which("mpirun") is None:
        print("left out: ping-pong: two cores and an MPI are needed")
        return []
    minimal = compiled(folder, "minimal_pingpong.c", compiler="mpicc")
    start = ["mpirun", "-n", "2", "--bind-to", "core"]
    latency = [Contender(OURS, ours("2x1", "pingpong", "latency", "--quick"))]
    bandwidth = [Contender(OURS, ours("2x1", "pingpong", "bandwidth", "--quick"))]
    if minimal:
        latency.append(Contender("minimal MPI loop", number([*start, minimal, "8", "1000", "200"])))

        def rate() -> dict[str, float]:
            microseconds = float(output_of([*start, minimal, "2000000", "10", "20"]).split()[-1])
            return {"": 2e6 / microseconds * 1e-3}

        bandwidth.append(Contender("minimal MPI loop", rate))
    return [
        Comparison("ping-pong latency, 8 B", "us", False, 0.05, latency),
        Comparison("ping-pong bandwidth, 2 MB", "GB/s", True, 0.05, bandwidth),
    ]


# -- running and telling


def spread(values: Sequence[float]) -> str:
    return f"{shown(statistics.median(values))} [{shown(min(values))}, {shown(max(values))}]"


def shown(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def measure(comparison: Comparison, blocks: int, rng: random.Random) -> None:
    """Each block launches every contender once, in random order: a drift of the machine meets all alike."""
    if all(contender.values for contender in comparison.contenders):
        return  # with others of the same launches
    for _ in range(blocks):
        for contender in rng.sample(comparison.contenders, len(comparison.contenders)):
            for value in contender.run().values():
                contender.values.setdefault("", []).append(value)


def tell(comparison: Comparison) -> int:
    """Prints the table. GOOD: ours is within its limit of the best peer's median; else BEHIND, or NO_PEER."""
    medians = {c.name: statistics.median(c.values[""]) for c in comparison.contenders}
    peers = {name: value for name, value in medians.items() if name != OURS}
    print(f"\n## {comparison.title}, {comparison.unit}\n")
    print("| program | median [min, max] | ours / it |\n| --- | --- | --- |")
    for contender in comparison.contenders:
        ratio = medians[OURS] / medians[contender.name]
        print(f"| {contender.name} | {spread(contender.values[''])} | {ratio:.3f} |")
    if not peers:
        print("\nno peer is installed")
        return NO_PEER
    if comparison.limit is None:
        return GOOD
    best = (max if comparison.higher else min)(peers.values())
    ratio, allowed = medians[OURS] / best, comparison.allowed()
    within = ratio >= allowed if comparison.higher else ratio <= allowed
    bound = "at least" if comparison.higher else "at most"
    verdict = "as it is meant to be" if within else "NOT as it is meant to be"
    print(f"\nours is {ratio:.3f} of the best peer's, {bound} {allowed:.2f} is meant: {verdict}", flush=True)
    return GOOD if within else BEHIND


def table(comparisons: Sequence[Comparison]) -> str:
    """All of them, a line each; the last columns are ratios block by block, and what was allowed."""
    lines = [
        "| | ours | peers | ours / best [smallest, largest] | limit |",
        "| --- | --- | --- | --- | --- |",
    ]
    for of in comparisons:
        (mine,) = [c for c in of.contenders if c.name == OURS]
        peers = "; ".join(f"{peer.name} {shown(statistics.median(peer.values['']))}" for peer in of.peers())
        ratios = of.ratios() if peers else []
        ratio = f"{statistics.median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]" if ratios else "-"
        ratio += "" if of.higher else " of the time"
        limit = "" if of.limit is None else f"{of.allowed():.2f}"
        lines.append(
            f"| {of.title}, {of.unit} | {spread(mine.values[''])} | {peers or 'none'} | {ratio} | {limit} |"
        )
    return "\n".join(lines) + "\n"


def common_options(parser: argparse.ArgumentParser, blocks: int = 6) -> None:
    """What every comparison can be told."""
    parser.add_argument("--blocks", type=int, default=blocks, help=f"launches of each program ({blocks})")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write all of it there as one table")
    parser.add_argument("--seed", type=int, default=1)


def compared(groups: Iterable[Sequence[Comparison]], given: argparse.Namespace) -> int:
    """Measures and tells each comparison, writes the table, and returns the exit status of all together."""
    told: list[int] = []
    done: list[Comparison] = []
    rng = random.Random(given.seed)
    for group in groups:
        told += [] if group else [NO_PEER]
        for comparison in group:
            measure(comparison, given.blocks, rng)
            told.append(tell(comparison))
            done.append(comparison)
    if given.table:
        given.table.write_text(f"n={given.blocks}; {toolchain()}\n\n{table(done)}")
    return status_of(told)


def toolchain() -> str:
    """The compilers and libraries that peers are made with, by what they say of themselves."""
    asked = {"gcc": ["-dumpfullversion"], "mpirun": ["--version"], "likwid-bench": ["-v"]}
    found = {
        name: output_of([name, *how]).splitlines()[0] for name, how in asked.items() if shutil.which(name)
    }
    return "; ".join(f"{name} {said}" if name == "gcc" else said for name, said in found.items())


def status_of(told: Sequence[int]) -> int:
    """Of all comparisons together: one that is behind says more than one that had no peer."""
    return BEHIND if BEHIND in told else NO_PEER if NO_PEER in told or not told else GOOD


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("kinds", nargs="*", default=[], help=f"of {', '.join(KINDS)}; without names all")
    parser.add_argument("--n", type=int, default=4000, help="order of DGEMM's matrices (4000)")
    common_options(parser)
    given = parser.parse_args()
    for kind in given.kinds:
        if kind not in KINDS:
            parser.error(f"unknown: {kind}; there are {', '.join(KINDS)}")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        makers = {
            "triad": lambda: triads(folder),
            "dgemm": lambda: dgemms(folder, given.n),
            "pingpong": lambda: pingpongs(folder),
        }
        return compared((makers[kind]() for kind in given.kinds or KINDS), given)


if __name__ == "__main__":
    sys.exit(main())
