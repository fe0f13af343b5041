#!/usr/bin/env python3
"""Who finds a bit that flips in memory, and how soon: strata-integrity beside stressapptest and stress-ng.

    STRATA_BIN=build/.../bin/strata benchmarks/peers/integrity_faults.py --trials 30 --table faults.md

A trial starts one of them on one core with the same amount of memory. After a random time the injector of
tests/integrity flips one bit, drawn blindly over all writable pages that the program has in memory. A debug
register says whether the byte was read or written first: what is overwritten before it is read nobody can
find. A trial ends with the detection, or after --seconds. The order within a block is random. Peers that are
not installed are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import select
import shutil
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "integrity"))
from faults import binomial, built


@dataclass(frozen=True)
class Peer:
    """How a program is started, and what it says when it has found something."""

    name: str
    words: list[str]
    finding: str
    version: str


@dataclass(frozen=True)
class Trial:
    """`access`: which came first to the flipped byte. `seconds`: from the flip to a finding; None: never."""

    access: str
    seconds: float | None


def peers(memory: int, core: int, seconds: int) -> list[Peer]:
    """Those that are here; how long each runs is a bit longer than a trial."""
    found = []
    if (program := built("strata-integrity")) is not None:
        words = [str(program), "--cgroup", "none", "--no-yield", "--kernels", "march"]
        words += ["--cores", str(core), "--memory", f"{memory}MiB", "--time", f"{seconds + 10}s"]
        found.append(Peer("strata-integrity", words, '"suspect"', ""))
    pin = ["taskset", "-c", str(core)]
    if shutil.which("stressapptest"):
        words = [*pin, "stressapptest", "-M", str(memory), "-s", str(seconds + 10), "-m", "1"]
        found.append(
            Peer("stressapptest", words, "Report Error|miscompare", _version("stressapptest", "--help"))
        )
    if shutil.which("stress-ng"):
        words = [*pin, "stress-ng", "--vm", "1", "--vm-bytes", f"{memory}M", "--vm-keep", "--verify"]
        words += ["--timeout", f"{seconds + 10}s"]
        found.append(Peer("stress-ng", words, "fail:|bit error", _version("stress-ng", "--version")))
    return found


def _version(*words: str) -> str:
    said = subprocess.run(words, capture_output=True, text=True)
    match = re.search(r"(?:revision|version) ([\w.]+)", said.stdout + said.stderr)
    return match.group(1).removesuffix("_autoconf") if match else "?"


def trial(peer: Peer, seconds: int, seed: int) -> Trial:
    """One run with one flip."""
    with subprocess.Popen(peer.words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
        found = threading.Event()
        when: list[float] = []

        def listen() -> None:
            assert program.stdout is not None
            for line in program.stdout:
                if re.search(peer.finding, line) and not when:
                    when.append(time.time())
                    found.set()

        threading.Thread(target=listen, daemon=True).start()
        words = [str(built("integrity_inject")), "once", str(program.pid), "--seed", str(seed)]
        after = 2 + 2 * random.random()  # after it has filled its memory
        words += ["--after", str(after), "--watch", str(seconds)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as injector:
            assert injector.stdout is not None
            flipped = json.loads(injector.stdout.readline())
            access = ""
            until = time.monotonic() + seconds
            while not found.wait(0.05) and time.monotonic() < until and access != "write":
                if not access and select.select([injector.stdout], [], [], 0)[0]:
                    access = json.loads(injector.stdout.readline())["first"]
            injector.terminate()
            if found.is_set():
                access = "read"
        _end(program)
    return Trial(access or "none", when[0] - float(flipped["time"]) if when else None)


def _end(program: subprocess.Popen[str]) -> None:
    children = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
    program.terminate()
    try:
        program.wait(5)
    except subprocess.TimeoutExpired:
        for child in children:
            if Path(f"/proc/{child}").exists():
                os.kill(int(child), 9)
        program.kill()


def row(peer: Peer, trials: list[Trial]) -> str:
    found = [t.seconds for t in trials if t.seconds is not None]
    overwritten = sum(t.access == "write" for t in trials if t.seconds is None)
    unread = sum(t.access in ("none", "ended") for t in trials if t.seconds is None)
    used = len(trials) - overwritten - unread
    low, high = binomial(len(found), used) if used else (0.0, 1.0)
    rate = f"{100 * len(found) / used:.0f} % ({100 * low:.0f} to {100 * high:.0f})" if used else "-"
    mean = f"{statistics.mean(found):.2f}" if found else "-"
    name = f"{peer.name} {peer.version}".strip()
    cells = [name, len(trials), len(found), overwritten, unread, used - len(found), rate, mean]
    return "| " + " | ".join(map(str, cells)) + " |"


HEAD = (
    "| program | flips | found | overwritten first | never accessed | read and not found "
    "| found of those read (95 %) | mean time to detection, s |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |"
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=30, metavar="N", help="of each (default: 30)")
    parser.add_argument("--memory", type=int, default=64, metavar="MIB", help="default: 64")
    parser.add_argument("--seconds", type=int, default=10, help="to wait for a detection (default: 10)")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", type=Path, metavar="FILE")
    given = parser.parse_args()
    if built("integrity_inject") is None:
        print("the injector is not built: ./strata test builds it", file=sys.stderr)
        return 3
    every = peers(given.memory, given.core, given.seconds)
    if len(every) < 2:
        print("stressapptest and stress-ng are not installed: nothing was compared", file=sys.stderr)
        return 3
    random.seed(given.seed)
    done: dict[str, list[Trial]] = {peer.name: [] for peer in every}
    for block in range(given.trials):
        for peer in random.sample(every, len(every)):
            one = trial(peer, given.seconds, given.seed * 1000 + block)
            done[peer.name].append(one)
            said = "not found" if one.seconds is None else f"found after {one.seconds:.2f} s"
            print(f"[{block + 1}/{given.trials}] {peer.name}: {said}, {one.access} first", file=sys.stderr)
    table = "\n".join([HEAD, *(row(peer, done[peer.name]) for peer in every)])
    print(table)
    if given.table:
        given.table.write_text(table + "\n")
    ours = [t.seconds for t in done["strata-integrity"]]
    return 0 if any(s is not None for s in ours) else 1


if __name__ == "__main__":
    sys.exit(main())
