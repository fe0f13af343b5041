#!/usr/bin/env python3
"""Strata's NAS Parallel Benchmarks beside NASA's and NPB-CPP's with OpenMP, built with the flags of ours.

    benchmarks/peers/npb.py --nasa NPB3.4.2/NPB3.4-OMP --cpp NPB-CPP/NPB-OMP
    benchmarks/peers/npb.py --nasa DIR --benchmarks sp bt lu --add-flags='-fPIC -ftls-model=global-dynamic'
    benchmarks/peers/npb.py --nasa DIR --cpp DIR --classes A B --blocks 10 --table npb.md
    benchmarks/peers/npb.py --zones NPB3.3.1-MZ/NPB3.3-MZ-MPI --benchmarks bt sp lu   # strata bench npb-mz
    benchmarks/peers/npb.py --models graph openmp team --benchmarks lu --classes W A

The sources are the user's (https://www.nas.nasa.gov/software/npb.html, https://github.com/GMAP/NPB-CPP) and
stay as they are: copies are built in a folder that is removed, with gfortran, gcc and g++ and the
optimization flags that our own result names. Each block launches every program once, in random order, threads
bound to cores; a launch that does not verify is an error. NASA's SP and BT need the flags of the second
example to link with -march=native, class C of NPB-CPP -mcmodel=medium. Benchmarks over zones are NASA's for
MPI and OpenMP, with mpif90, as one process. --models compares our own programs: the first model is ours,
the others are its peers. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shlex
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from compare import BEHIND, GOOD, NO_PEER, cores, front, openmp, ours, output_of

BENCHMARKS = ("ep", "mg", "cg", "ft", "is", "sp", "bt", "lu")
ZONED = ("bt", "sp", "lu")
NASA, CPP, ZONES = "NASA", "NPB-CPP", "NASA, zones"


@dataclass
class Row:
    """One benchmark, class and number of threads: how each program is started, and its Mop/s, one a block.

    `benchmark`: as NASA's sources call it, "lu" or, over zones, "lu-mz".
    `shares`: what ours must move and what its loops do move, as shares of the triad of the same block.
    """

    benchmark: str
    size: str
    threads: int
    programs: dict[str, Callable[[], float]]
    rates: dict[str, list[float]] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)
    shares: list[tuple[float, float]] = field(default_factory=list)

    def ratios(self) -> list[float]:
        """Ours to the better peer, block by block: a drift of the machine meets all of a block alike."""
        peers = [rates for name, rates in self.rates.items() if name != "ours"]
        return [mine / max(theirs) for mine, *theirs in zip(self.rates["ours"], *peers, strict=True)]


def our_result(benchmark: str, size: str, threads: int, model: str = "") -> dict:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        name, zoned, _ = benchmark.partition("-mz")
        suite = "npb-mz" if zoned else "npb"
        command = [str(front()), "bench", suite, name, "--class", size, "--layout", f"1x{threads}"]
        if model:
            command += ["--model", model]
        output_of([*command, "--json", str(file)])
        return json.loads(file.read_text())


def our_rate(
    benchmark: str, size: str, threads: int, memory: dict[str, float], model: str = ""
) -> Callable[[], float]:
    """Mop/s of a launch; `memory` gets what it moves, in GB/s, where it says so."""

    def run() -> float:
        found = our_result(benchmark, size, threads, model)["figures"]
        figures = {f["name"]: float(f["value"]) for f in found}
        memory.update({name: figures[name] for name in ("compulsory bytes", "bytes") if name in figures})
        return figures["Mop/s total"]

    return run


def peer_rate(program: Path, threads: int) -> Callable[[], float]:
    def run() -> float:
        said = output_of([str(program)], openmp(threads))
        rate = re.search(r"Mop/s total\s*=\s*([0-9.eE+]+)", said)
        if not rate or not re.search(r"Verification\s*=\s*SUCCESSFUL", said):
            raise RuntimeError(f"{program.name}: not verified")
        return float(rate[1])

    return run


def optimization(flags: str) -> list[str]:
    """Of a compiler's flags those that change the code."""
    return [flag for flag in flags.split() if flag.startswith(("-O", "-m", "-f"))]


def make_def(flags: list[str], cxx: bool, zoned: bool = False) -> str:
    """What their makefiles include: all compilers with the same flags."""
    text = " ".join([*flags, "-fopenmp"])
    settings = {
        "FC": "gfortran",
        "F77": "mpif90 -fallow-argument-mismatch",
        "FLINK": "$(F77)" if zoned else "gfortran",
        "FFLAGS": text,
        "FLINKFLAGS": text,
        "CC": "g++ -std=c++14" if cxx else "gcc",
        "CLINK": "g++" if cxx else "gcc",
        "CFLAGS": text,
        "CLINKFLAGS": text,
        "C_LIB": "-lm",
        "C_INC": "-I../common",
        "UCC": "g++ -fopenmp" if cxx else "gcc",
        "BINDIR": "../bin",
        "RAND": "randdp" if cxx else "randi8",
        "WTIME": "wtime.cpp" if cxx else "wtime.c",
    }
    return "".join(f"{name} = {value}\n" for name, value in settings.items())


def built(sources: Path, folder: Path, wanted: list[tuple[str, str]], flags: list[str]) -> Iterator[Path]:
    """The programs made of a copy of the sources, in the order in which they are wanted."""
    cxx = (sources / "sys" / "setparams.cpp").exists()
    shutil.copytree(sources, folder)
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "config" / "make.def").write_text(make_def(flags, cxx, wanted[0][0].endswith("-mz")))
    for benchmark, size in wanted:
        # What a copy brings along may be another machine's.
        for old in [*folder.glob("*/*.o"), *folder.glob("*/*.mod"), *folder.glob("sys/setparams")]:
            old.unlink()
        output_of(["make", "-C", str(folder / "sys"), "setparams"])
        output_of(["make", "-C", str(folder / benchmark.upper()), f"CLASS={size}"])
        (program,) = folder.glob(f"bin/{benchmark}.{size}*")
        yield program


def version(sources: Path) -> str:
    """As the sources say it."""
    said = next((sources / "sys").glob("setparams.c*")).read_text(errors="replace")
    found = re.search(r'#define VERSION "([^"]+)"', said)
    return found[1] if found else "of an unknown version"


def peers_of(given: argparse.Namespace) -> dict[str, Path]:
    """The peers of this run and where their sources are."""
    named = {NASA: given.nasa, CPP: given.cpp, ZONES: given.zones}
    return {name: sources for name, sources in named.items() if sources is not None}


def rows_of(given: argparse.Namespace, folder: Path, flags: list[str]) -> list[Row]:
    suffix = "-mz" if given.zones else ""
    wanted = [(benchmark + suffix, size) for size in given.classes for benchmark in given.benchmarks]
    programs: dict[str, list[Path]] = {}
    for i, (name, sources) in enumerate(peers_of(given).items()):
        print(f"building {name} {version(sources)}: {len(wanted)} programs", file=sys.stderr)
        programs[name] = list(built(sources, folder / str(i), wanted, flags))
    rows = []
    for i, (benchmark, size) in enumerate(wanted):
        for threads in given.threads:
            row = Row(benchmark, size, threads, {})
            mine, *others = given.models or [""]
            row.programs["ours"] = our_rate(benchmark, size, threads, row.memory, mine)
            row.programs |= {model: our_rate(benchmark, size, threads, {}, model) for model in others}
            row.programs |= {name: peer_rate(made[i], threads) for name, made in programs.items()}
            rows.append(row)
    return rows


def measure(rows: list[Row], blocks: int, rng: random.Random) -> None:
    """All programs of all rows, once a block, and the triad; says how long it still takes."""
    launches = [(row, name) for row in rows for name in row.programs]
    triads = {row.threads: ours(f"1x{row.threads}", "stream", "triad", "--quick") for row in rows}
    began = time.monotonic()
    for block in range(blocks):
        roof = {threads: triad()["triad"] for threads, triad in triads.items()}
        for row, name in rng.sample(launches, len(launches)):
            row.rates.setdefault(name, []).append(row.programs[name]())
        for row in rows:
            if len(row.memory) == 2:
                must, does = (row.memory[name] / roof[row.threads] for name in ("compulsory bytes", "bytes"))
                row.shares.append((must, does))
        left = (time.monotonic() - began) / (block + 1) * (blocks - block - 1)
        print(f"block {block + 1} of {blocks}, about {left / 60:.0f} min left", file=sys.stderr, flush=True)


def table(rows: list[Row], peers: list[str]) -> str:
    head = [
        "",
        "threads",
        "ours",
        *peers,
        "ours / best [smallest, largest]",
        "must move, does move: of the triad",
    ]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    for row in rows:
        cells = [f"{row.benchmark.upper()} {row.size}", str(row.threads)]
        for name in ("ours", *peers):
            rates = row.rates[name]
            cells.append(f"{statistics.median(rates):.0f} [{min(rates):.0f}, {max(rates):.0f}]")
        ratios = row.ratios() if peers else []
        cells.append(
            f"{statistics.median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]" if ratios else "-"
        )
        must, does = ([100 * share[i] for share in row.shares] for i in (0, 1))
        cells.append(f"{statistics.median(must):.0f} %, {statistics.median(does):.0f} %" if must else "-")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n")[0],
        epilog=(__doc__ or "").partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--nasa", type=Path, metavar="DIR", help="the folder NPB3.4-OMP of NASA's sources")
    parser.add_argument("--cpp", type=Path, metavar="DIR", help="the folder NPB-OMP of NPB-CPP")
    parser.add_argument(
        "--zones", type=Path, metavar="DIR", help="the folder NPB3.3-MZ-MPI of NASA's sources"
    )
    parser.add_argument("--models", nargs="+", metavar="MODEL", help="of strata bench npb: ours, its peers")
    parser.add_argument("--benchmarks", nargs="+", choices=BENCHMARKS, default=["cg", "mg", "ft"])
    parser.add_argument("--classes", nargs="+", choices=list("SWABCD"), default=["A"])
    parser.add_argument("--threads", nargs="+", type=int, default=sorted({1, len(cores())}))
    parser.add_argument("--blocks", type=int, default=6, help="launches of each program (6)")
    parser.add_argument("--add-flags", default="", metavar="FLAGS", help="for the peers, beside ours")
    parser.add_argument("--least", type=float, default=0.0, help="of every ours / best; else status 1")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the table here as well")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.zones and (given.nasa or given.cpp or not set(given.benchmarks) <= set(ZONED)):
        parser.error(
            f"--zones has a table of its own: without --nasa and --cpp, --benchmarks of {', '.join(ZONED)}"
        )
    for option, sources in (("--nasa", given.nasa), ("--cpp", given.cpp), ("--zones", given.zones)):
        if sources is not None and not (sources / "config").is_dir():
            parser.error(f"{option} {sources}: no folder `config` there, as the sources of NPB have one")
    return given


def main() -> int:
    given = parsed()
    flags = optimization(our_result("is", "S", 1)["provenance"]["flags"])
    flags += shlex.split(given.add_flags)
    peers = peers_of(given)
    try:
        with tempfile.TemporaryDirectory() as made:
            rows = rows_of(given, Path(made), flags)
            measure(rows, given.blocks, random.Random(given.seed))
    except RuntimeError as error:
        sys.exit(f"error: {error}")
    named = [f"{name} {version(sources)}" for name, sources in peers.items()]
    compiler = f"gcc {output_of(['gcc', '-dumpfullversion']).strip()}, {' '.join(flags)}"
    others = [*(given.models or [])[1:], *peers]
    ours_is = f"ours: --model {given.models[0]}; " if given.models else ""
    named += others[: len(others) - len(peers)]
    text = (
        f"Mop/s, n={given.blocks}; {ours_is}{', '.join(named) or 'no peer'}; {compiler}\n\n"
        f"{table(rows, others)}"
    )
    print(text, end="")
    if given.table:
        given.table.write_text(text)
    if not others:
        print("\nno peer: --nasa DIR, --cpp DIR or --zones DIR name their sources")
        return NO_PEER
    missed = [row for row in rows if statistics.median(row.ratios()) < given.least]
    return BEHIND if missed else GOOD


if __name__ == "__main__":
    sys.exit(main())
