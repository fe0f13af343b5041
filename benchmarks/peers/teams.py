#!/usr/bin/env python3
"""Strata's teams beside MPI, OpenMP and POSIX threads: interleaved launches, medians, ratio to the best peer.

    benchmarks/peers/teams.py                          # barriers of 2 and 16, a flag, a neighbour's 2 MiB
    benchmarks/peers/teams.py barrier --blocks 15 --table teams.md

MPI's part is cases/studies/programs/messages.c, compiled by the mpicc of each MPI that is installed (Debian's
names: mpicc.openmpi, mpicc.mpich). Members are bound to a core each; 16 share the cores there are. Nothing
else should run meanwhile.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from compare import HERE, OURS, Comparison, Contender, common_options, compared, cores, ours, output_of

MESSAGES = HERE.parents[1] / "cases" / "studies" / "programs" / "messages.c"
MPIS = {"Open MPI": "openmpi", "MPICH": "mpich"}
ALLOWED = 0.05


def mpi_programs(folder: Path) -> dict[str, Callable[[str], Contender]]:
    """Of each MPI that is here: what asks its program one question, between two ranks."""
    found = {}
    for name, suffix in MPIS.items():
        if shutil.which(f"mpicc.{suffix}") is None or shutil.which(f"mpirun.{suffix}") is None:
            print(f"left out: {name}: no mpicc.{suffix}")
            continue
        program = folder / suffix
        output_of([f"mpicc.{suffix}", "-O3", "-march=native", str(MESSAGES), "-o", str(program)])
        bind = ["--bind-to", "core"]

        def asks(
            question: str,
            name: str = name,
            start: tuple[str, ...] = (f"mpirun.{suffix}", "-n", "2", *bind, str(program)),
        ) -> Contender:
            window = ", shared window" if question.endswith("window") else ""
            return Contender(name + window, lambda: {"": float(output_of([*start, question]).split()[1])})

        found[name] = asks
    return found


def team(benchmark: str, figure: str, kind: str, *options: str) -> Callable[[], dict[str, float]]:
    return ours(
        f"1x{len(cores()) if figure == 'barrier' else 2}",
        benchmark,
        figure,
        "--quick",
        "--kind",
        kind,
        *options,
    )


def barriers(mpis: dict[str, Callable[[str], Contender]]) -> list[Comparison]:
    found = []
    for members in (2, 16):
        number = ("--members", str(members))
        kinds = ["central", "pthread", "std", "openmp" if members <= len(cores()) else "openmp-passive"]
        contenders = [Contender(OURS, team("team-barrier", "barrier", "team", *number))]
        contenders += [Contender(kind, team("team-barrier", "barrier", kind, *number)) for kind in kinds]
        if members == 2:
            contenders += [asks("barrier") for asks in mpis.values()]
        found.append(Comparison(f"barrier of {members}", "ns", False, ALLOWED, contenders))
    return found


def flags(mpis: dict[str, Callable[[str], Contender]]) -> list[Comparison]:
    kinds = ["line", "line-pause", "line-fence"]
    contenders = [Contender(OURS, team("team-flag", "flag", "arena"))]
    contenders += [Contender(f"bare {kind}", team("team-flag", "flag", kind)) for kind in kinds]
    contenders += [asks(question) for asks in mpis.values() for question in ("flag", "flag-window")]
    return [Comparison("flag, one way", "ns", False, 0.1, contenders)]


def reads(mpis: dict[str, Callable[[str], Contender]]) -> list[Comparison]:
    contenders = [Contender(OURS, team("team-read", "read", "in-place"))]
    contenders += [asks(question) for asks in mpis.values() for question in ("read", "read-window")]
    return [Comparison("a neighbour's 2 MiB", "GB/s", True, ALLOWED, contenders)]


def main() -> int:
    makers = {"barrier": barriers, "flag": flags, "read": reads}
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n")[0],
        epilog=(__doc__ or "").partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(makers)}; without names all")
    common_options(parser)
    given = parser.parse_args()
    for kind in given.kinds:
        if kind not in makers:
            parser.error(f"unknown: {kind}; there are {', '.join(makers)}")
    if len(cores()) < 2:
        sys.exit("error: two cores are needed")
    with tempfile.TemporaryDirectory() as folder:
        mpis = mpi_programs(Path(folder))
        return compared((makers[kind](mpis) for kind in given.kinds or makers), given)


if __name__ == "__main__":
    sys.exit(main())
