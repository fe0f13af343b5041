"""Faults injected into the workers of strata-integrity: how many each kernel finds, and how soon.

python tests/integrity/faults.py --count 1000 --table faults.md      # all kernels of one core
python tests/integrity/faults.py --kernels avx512 --seconds 60
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

# Kernels for two cores.
PAIRS = ("pingpong", "atomics")


def built(name: str) -> Path | None:
    """A program of the build, also of one that was installed from."""
    front = Path(os.environ.get("STRATA_BIN") or shutil.which("strata") or "strata").resolve()
    builds = [front.parents[1], front.parents[2] / "cmake"]
    if "STRATA_BUILD" in os.environ:
        builds.insert(0, Path(os.environ["STRATA_BUILD"], "cmake"))
    places = ("tests/integrity", "libexec/strata", "benchmarks/integrity", "benchmarks")
    return next((p for b in builds for place in places if (p := b / place / name).is_file()), None)


@dataclass(frozen=True)
class Fault:
    """What became of one fault; `place` is integer, vector, memory, or stuck."""

    place: str
    name: str
    verdict: str
    by: str
    rounds: int
    cpu_s: float
    line: str


@dataclass(frozen=True)
class Summary:
    """Faults of one kernel. `used`: those that were not masked."""

    faults: Sequence[Fault]

    def count(self, verdict: str, *by: str) -> int:
        return sum(f.verdict == verdict and (not by or f.by in by) for f in self.faults)

    @property
    def used(self) -> int:
        return len(self.faults) - self.count("masked")

    @property
    def rate(self) -> float:
        return self.count("found") / self.used if self.used else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        return binomial(self.count("found"), self.used)

    @property
    def seconds(self) -> float:
        """Mean CPU time of the worker from a fault to its detection."""
        found = [f.cpu_s for f in self.faults if f.verdict == "found"]
        return mean(found) if found else math.nan


def binomial(found: int, of: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's exact interval (Biometrika 26, 1934)."""
    tail = (1 - level) / 2

    ways = [math.lgamma(of + 1) - math.lgamma(i + 1) - math.lgamma(of - i + 1) for i in range(of + 1)]

    def at_most(k: int, p: float) -> float:
        yes, no = math.log(p), math.log1p(-p)
        return sum(math.exp(ways[i] + i * yes + (of - i) * no) for i in range(k + 1))

    def where(rises: bool, k: int) -> float:
        low, high = 0.0, 1.0
        for _ in range(40):
            p = (low + high) / 2
            too_low = 1 - at_most(k - 1, p) < tail if rises else at_most(k, p) > tail
            low, high = (p, high) if too_low else (low, p)
        return low

    return (0.0 if found == 0 else where(True, found), 1.0 if found == of else where(False, found))


def inject(worker: Sequence[str], *options: str, timeout: float | None = 600) -> Summary:
    """Runs the injector on a worker of a program, or on both sides of a pair. RuntimeError if it cannot."""
    sides = ["--pair"] if {*PAIRS, "pair"} & set(worker) else []
    words = [str(built("integrity_inject")), "twins", *sides, *options, "--", *worker]
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return read(done.stdout.splitlines())


def read(lines: Iterable[str]) -> Summary:
    faults = []
    for line in lines:
        event = json.loads(line)
        if event["event"] == "fault":
            faults.append(
                Fault(
                    *(event[k] for k in ("place", "name", "verdict", "by", "rounds")),
                    1e-9 * event["cpu_ns"],
                    line,
                )
            )
    return Summary(faults)


def worker(kernel: str, core: int, memory: str = "1MiB") -> list[str]:
    """A pass that does not give way: what is injected must not wait for a quiet machine.

    A kernel for two cores gets another one beside `core`.
    """
    program = str(built("strata-integrity"))
    cores = str(core)
    if kernel in PAIRS:
        cores += f",{min(os.sched_getaffinity(0) - {core}, default=core)}"
    return [
        program,
        "--cgroup",
        "none",
        "--no-yield",
        "--cores",
        cores,
        "--kernels",
        kernel,
        "--memory",
        memory,
    ]


def kernels() -> list[str]:
    """Those that can run here."""
    program = str(built("strata-integrity"))
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines() if "(not here: " not in line]
    return [name for name in names if name not in PAIRS or len(os.sched_getaffinity(0)) > 1]


def row(kernel: str, found: Summary) -> str:
    low, high = found.interval
    cells = [
        kernel,
        len(found.faults),
        found.count("masked"),
        found.count("found", "check"),
        found.count("found", "crash", "exit"),
        found.count("found", "hang"),
        found.count("missed"),
        f"{100 * found.rate:.1f} % ({100 * low:.1f} to {100 * high:.1f})",
        f"{1e3 * found.seconds:.1f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


HEAD = (
    "| kernel | injected | masked | found by its check | by a crash | by the watchdog | missed "
    "| found of what was used (95 %) | CPU time until found, ms |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |"
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kernels", metavar="A,B", help="default: all that can run here")
    parser.add_argument("--count", type=int, default=1000, help="faults in each kernel (default: 1000)")
    parser.add_argument("--seconds", type=float, default=0, help="at most so long for each kernel")
    parser.add_argument("--stuck", action="store_true", help="stuck lanes instead of flipped bits")
    parser.add_argument("--places", default="integer,vector,memory", help="default: all three, a third each")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--files", type=Path, nargs="*", help="sums up what the injector wrote before, by kernel"
    )
    parser.add_argument("--table", type=Path, metavar="FILE")
    given = parser.parse_args()
    options = ["--count", str(given.count), "--seconds", str(given.seconds), "--seed", str(given.seed)]
    options += ["--stuck"] if given.stuck else ["--places", given.places]
    lines = [HEAD]
    print(HEAD, flush=True)
    missed: Counter[str] = Counter()
    known = [each for each in kernels() if not (given.stuck and each in PAIRS)]
    for kernel in given.kernels.split(",") if given.kernels else known:
        try:
            if given.files:
                mine = [f for f in given.files if f.name.split(".")[0] == kernel]
                texts = [line for f in mine for line in f.read_text().splitlines() if line.startswith("{")]
                found = read(texts)
            else:
                found = inject(worker(kernel, given.core), *options, timeout=None)
        except RuntimeError as error:
            print(f"{kernel}: {error}", file=sys.stderr)
            continue
        if not found.faults:
            continue
        lines.append(row(kernel, found))
        print(lines[-1], flush=True)
        for fault in found.faults:
            if fault.verdict == "missed":
                missed[kernel] += 1
                print(f"  missed: {fault.line}", file=sys.stderr)
    if given.table:
        given.table.write_text("\n".join(lines) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
