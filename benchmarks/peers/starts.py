#!/usr/bin/env python3
"""What it costs to start a program bound to a core: Strata's launcher beside taskset, numactl, hwloc-bind and
likwid-pin, interleaved in random order, whole processes from spawn to end.

    STRATA_BIN=build/.../bin/strata benchmarks/peers/starts.py
    benchmarks/peers/starts.py --blocks 200 --without likwid-pin

Peers that are not installed are named and left out; without any it ends with status 3. Nothing else should
run meanwhile.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path


def spawn(command: list[str], environment: dict[str, str], null: int) -> float:
    """Milliseconds from the start of a command to its end."""
    quiet = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
    begin = time.perf_counter()
    pid = os.posix_spawn(command[0], command, environment, file_actions=quiet)
    _, status = os.waitpid(pid, 0)
    elapsed = time.perf_counter() - begin
    if status != 0:
        raise RuntimeError(f"{' '.join(command)}: status {os.waitstatus_to_exitcode(status)}")
    return 1000 * elapsed


def contenders(front: str, core: int) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Name, command and what its environment has beside ours. Without a home there is no cache."""
    program = shutil.which("true") or "/bin/true"
    wanted = {
        "true": ([program], {}),
        "strata --version": ([front, "--version"], {}),
        "strata launch": ([front, "launch", "--", program], {}),
        "strata launch, no cache": ([front, "launch", "--", program], {"HOME": "", "XDG_CACHE_HOME": ""}),
        "taskset": (["taskset", "-c", str(core), program], {}),
        "numactl": (["numactl", f"--physcpubind={core}", program], {}),
        "hwloc-bind": (["hwloc-bind", f"os:{core}", "--", program], {}),
        "likwid-pin": (["likwid-pin", "-q", "-c", str(core), program], {}),
    }
    found = {}
    for name, (command, settings) in wanted.items():
        path = shutil.which(command[0])
        if path is None:
            print(f"left out: {command[0]} is not installed")
            continue
        found[name] = ([path, *command[1:]], settings)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--blocks", type=int, default=60, help="starts of each command (60)")
    parser.add_argument("--without", action="append", default=[], metavar="NAME", help="leave one out")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    named = os.environ.get("STRATA_BIN") or shutil.which("strata")
    if not named:
        sys.exit("no strata on PATH: activate a build, or set STRATA_BIN to the front")
    rng = random.Random(given.seed)
    commands = contenders(str(Path(named).resolve()), min(os.sched_getaffinity(0)))
    for name in given.without:
        commands.pop(name, None)
    times: dict[str, list[float]] = {name: [] for name in commands}
    null = os.open("/dev/null", os.O_RDWR)
    with tempfile.TemporaryDirectory() as home:
        ours = {**os.environ, "HOME": home, "XDG_CACHE_HOME": home}
        for block in range(given.blocks + 1):
            for name in rng.sample(list(commands), len(commands)):
                command, settings = commands[name]
                elapsed = spawn(command, {**ours, **settings}, null)
                if block > 0:  # the first fills page cache and topology cache
                    times[name].append(elapsed)
    os.close(null)
    base = statistics.median(times["true"]) if "true" in times else 0.0
    print(f"\n| command, n={given.blocks} | median [min, max], ms | beyond true |\n| --- | --- | --- |")
    for name, each in times.items():
        median = statistics.median(each)
        print(f"| {name} | {median:.2f} [{min(each):.2f}, {max(each):.2f}] | {median - base:.2f} |")
    if not times.keys() & {"taskset", "numactl", "hwloc-bind", "likwid-pin"}:
        print("\nno peer is installed")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
