#!/usr/bin/env python3
"""`strata tune` on programs that Strata did not write: what it says of each, with the margin and the line.

    benchmarks/peers/tune_foreign.py                          # LAMMPS and HPCC, three minutes each
    benchmarks/peers/tune_foreign.py lammps --budget 4m
    benchmarks/peers/tune_foreign.py --also 'lulesh2.0 -s 30 -i 60' --metric 'Elapsed time *= *([0-9.e+]+)'

LAMMPS and HPC Challenge are Debian's packages (`sudo apt install lammps hpcc`); one that is not installed is
named and left out. --also adds any program that is already built, such as an OpenMP program from a public
repository. The input of LAMMPS is the Lennard-Jones melt of its documentation (reduced density 0.8442,
temperature 1.44, cut-off 2.5, NVE), of HPCC the one that its package brings, smaller. Everything is written
to a temporary folder, which is removed; --keep FOLDER keeps the results with their reports. Nothing else
should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compare import hpcc_input

ROOT = Path(__file__).resolve().parents[2]
MELT = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {edge} 0 {edge} 0 {edge}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 50
run {steps}
"""


@dataclass(frozen=True)
class Foreign:
    """A program, the options of `strata tune` that it needs, and the file that it reads from its folder."""

    name: str
    command: tuple[str, ...]
    options: tuple[str, ...] = ()
    input: tuple[str, str] | None = None
    package: str = ""

    @property
    def missing(self) -> str | None:
        """Why it cannot run here."""
        if shutil.which(self.command[0]):
            return None
        return f"{self.command[0]} is not installed" + (
            f" (apt install {self.package})" if self.package else ""
        )


def known(cores: int) -> dict[str, Foreign]:
    """The programs that packages bring. LAMMPS takes any number of processes; HPCC's input says two, and it
    is run as the input says.
    """
    melt = MELT.format(edge=16, steps=50)
    lammps = ("lmp", "-log", "none", "-in", "melt.in")
    found = {
        "lammps": Foreign(
            "LAMMPS, Lennard-Jones melt of 16 384 atoms",
            lammps,
            ("--metric", "Loop time of ([0-9.]+)"),
            ("melt.in", melt),
            "lammps",
        )
    }
    if cores >= 2 and shutil.which("hpcc"):
        made = ("hpccinf.txt", hpcc_input(1000))
        found["hpcc"] = Foreign("HPC Challenge, N = 1000", ("hpcc",), ("--processes", "2"), made, "hpcc")
    else:
        found["hpcc"] = Foreign("HPC Challenge", ("hpcc",), package="hpcc")
    return found


def strata() -> str:
    """The command: STRATA_BIN, or the entry of the checkout."""
    return os.environ.get("STRATA_BIN") or str(ROOT / "strata")


def tuned(program: Foreign, budget: str, folder: Path) -> dict[str, Any] | str:
    """What a tuning says: its tune.json, or why there is none."""
    work, results = folder / "work", folder / "results"
    work.mkdir(parents=True)
    if program.input:
        (work / program.input[0]).write_text(program.input[1])
    asked = [strata(), "tune", "--here", "--budget", budget, "--out", str(results), *program.options]
    environment = dict(os.environ)
    if os.geteuid() == 0:  # Open MPI refuses root unless told twice
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run([*asked, "--", *program.command], cwd=work, env=environment, stdout=subprocess.PIPE)
    answer = results / "tune.json"
    if not answer.exists():
        return f"no answer, exit status {done.returncode}"
    return dict(json.loads(answer.read_text()))


def said(found: dict[str, Any]) -> list[str]:
    """A tuning's answer in lines."""
    lines = [f"kind:    {found['kind']['name']} ({found['kind']['why']}); default {found['default']}"]
    lines.append(f"winner:  {found['winner'] or 'none'}: {found['why']}")
    margin = found["margin"]
    if margin is None:
        lines.append("margin:  none: nothing beats the default, or too few launches")
    else:
        low, high = (None if end is None else 100 * (1 - end) for end in (margin["high"], margin["low"]))
        ends = f" ({low:.1f} to {high:.1f} %)" if low is not None and high is not None else ""
        lines.append(f"margin:  {100 * (1 - margin['value']):.1f} % less than the default{ends}")
    lines.append(f"use:     {found['line']}")
    lines += [f"trap:    {trap['code']}: {trap['text']}" for trap in found["traps"]]
    lines.append(f"took {found['seconds']:.0f} s of launches of {found['budget_s']:.0f} s")
    return lines


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="lammps, hpcc (default: both)")
    parser.add_argument("--budget", default="3m", metavar="TIME", help="of each tuning (default 3m)")
    parser.add_argument("--also", metavar="COMMAND", help="a program of your own as well, in one word")
    parser.add_argument("--metric", default="wall", metavar="wall|REGEX", help="of --also")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep results and reports here")
    given = parser.parse_args(words)
    unknown = [name for name in given.names if name not in ("lammps", "hpcc")]
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; lammps and hpcc are known, --also adds others")
    return given


def main(words: Sequence[str] | None = None) -> int:
    """Tunes each and prints what was said; 1 where one that is here had no answer."""
    given = parsed(words)
    packaged = known(len(os.sched_getaffinity(0)))
    programs = [packaged[name] for name in given.names or ([] if given.also else packaged)]
    if given.also:
        own = shlex.split(given.also)
        path = shutil.which(own[0])
        own[0] = str(Path(path).resolve()) if path else own[0]
        programs.append(Foreign(given.also, tuple(own), ("--metric", given.metric)))
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tune-foreign-") as scratch:
        for i, program in enumerate(programs):
            print(f"\n## {program.name}\n", flush=True)
            if program.missing:
                print(f"left out: {program.missing}")
                continue
            folder = Path(given.keep or scratch).absolute() / f"{i}-{Path(program.command[0]).name}"
            found = tuned(program, given.budget, folder)
            failed += isinstance(found, str)
            print("\n".join([found] if isinstance(found, str) else said(found)), flush=True)
    if all(program.missing for program in programs):
        print("\nno program is here")
        return 3
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
