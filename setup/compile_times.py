"""Processor time of compiling and linking: records it, and prints it by folder.

    STRATA_COMPILE_TIMES=FILE ./strata setup --all   in a checkout without a build: each object's seconds
    python3 setup/compile_times.py FILE              by folder, and the dearest objects
    python3 setup/compile_times.py OLD NEW           two builds side by side
    python3 setup/compile_times.py --table FILE      compile_seconds.csv anew, from which set-up estimates
    python3 setup/compile_times.py --page            the table of docs/install.md, from compile_seconds.csv

Set-up makes this file the launcher of compiler and linker (`--record FILE COMMAND...`). It starts the
command, and adds a line to FILE: user and system seconds of the command and of what it started, its wall
seconds, its largest resident memory in KiB, and what it made. Its own time is not in them. A compiler cache
is left out meanwhile.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Made(NamedTuple):
    """An object file or a program, and the seconds that it took."""

    name: str
    user: float
    system: float
    wall: float
    kib: int

    @property
    def seconds(self) -> float:
        """Of a processor."""
        return self.user + self.system


def record(file: str, command: Sequence[str]) -> int:
    """Runs the command and adds its line to the file. Returns its exit status, 128 + N after signal N."""
    began = time.monotonic()
    child = os.spawnvp(os.P_NOWAIT, command[0], list(command))
    _, status, used = os.wait4(child, 0)
    made = command[command.index("-o") + 1] if "-o" in command[:-1] else ""
    wall = time.monotonic() - began
    line = f"{used.ru_utime:.3f},{used.ru_stime:.3f},{wall:.3f},{used.ru_maxrss},{made}\n"
    # One write to a file that is only added to: lines of several compilers do not mix.
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def read(file: Path) -> dict[str, Made]:
    """What was made, by its name; of what was made more than once, the last. ValueError for another file."""
    found = {}
    for number, line in enumerate(file.read_text().splitlines(), 1):
        fields = line.split(",", 4)
        try:
            user, system, wall, kib = float(fields[0]), float(fields[1]), float(fields[2]), int(fields[3])
            name = fields[4]
        except (IndexError, ValueError) as error:
            raise ValueError(f"{file}:{number}: this is no line of a compiler's times: {line!r}") from error
        if name:
            found[name] = Made(name, user, system, wall, kib)
    return found


def group(name: str) -> str:
    """Where the table counts it: the folder of its sources; precompiled headers and links by themselves."""
    if name.endswith(".gch"):
        return "precompiled headers"
    if not name.endswith(".o"):
        return "linking"
    before, _, after = name.partition("CMakeFiles/")
    folder = [*Path(before).parts, *Path(after.partition(".dir/")[2]).parts[:-1]]
    return "/".join([part for part in folder if part != "__"][:3]) or "build"


def table(old: dict[str, Made], new: dict[str, Made] | None) -> list[str]:
    """Seconds of a processor by folder, the dearest first; beside it a second build, and the ratio."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for which, made in enumerate((old, new or {})):
        for each in made.values():
            sums[group(each.name)][which] += each.seconds
            sums[group(each.name)][2] += which == 0
    head = f"{'folder':32} {'objects':>8} {'seconds':>9}"
    lines = [head if new is None else f"{head} {'second':>9} {'ratio':>6}"]

    def row(name: str, first: float, second: float, count: float) -> str:
        text = f"{name:32} {count:8.0f} {first:9.1f}"
        return text if new is None else f"{text} {second:9.1f} {second / first if first else 0:6.2f}"

    lines += [row(name, *values) for name, values in sorted(sums.items(), key=lambda item: -item[1][0])]
    return [*lines, row("all", *(sum(column) for column in zip(*sums.values(), strict=True)))]


def summary(made: dict[str, Made]) -> list[str]:
    """compile_seconds.csv: the mean of each group, and what takes more than twice as long and 3 s."""
    groups: dict[str, list[float]] = defaultdict(list)
    for each in made.values():
        groups[group(each.name)].append(each.seconds)
    means = {name: sum(seconds) / len(seconds) for name, seconds in groups.items()}
    rows = [f"{mean:.1f},{name}/" for name, mean in means.items()]
    rows += [
        f"{each.seconds:.1f},{each.name}"
        for each in made.values()
        if each.seconds > max(3.0, 2 * means[group(each.name)])
    ]
    return ["seconds,what", *sorted(rows, key=lambda row: row.partition(",")[2])]


def page(recorded: Path, rows: int = 12) -> list[str]:
    """The dearest folders and objects of compile_seconds.csv as a table of docs/install.md."""
    pairs = [line.partition(",")[::2] for line in recorded.read_text().splitlines()[1:]]
    dearest = sorted(pairs, key=lambda pair: (-float(pair[0]), pair[1]))
    folders = [(value, what.rstrip("/")) for value, what in dearest if what.endswith("/")][:rows]
    objects = [
        (value, group(what), Path(what).name.removesuffix(".o"))
        for value, what in dearest
        if not what.endswith("/")
    ][:rows]
    lines = ["| folder | seconds an object | object | seconds |", "| --- | ---: | --- | ---: |"]
    for (mean, folder), (seconds, place, name) in zip(folders, objects, strict=False):
        lines.append(f"| `{folder}` | {mean} | `{place}`: `{name}` | {seconds} |")
    return lines


def expected(recorded: Path, build: str, slowness: float, targets: Sequence[str]) -> list[str]:
    """For progress.py: what these targets still need, and the recorded seconds, times `slowness`."""
    seconds = {}
    for line in recorded.read_text().splitlines()[1:]:
        value, _, what = line.partition(",")
        seconds[what] = float(value) * slowness
    made = Path(build)
    ninja = re.search(r"(?m)^CMAKE_MAKE_PROGRAM:\w+=(.+)$", (made / "CMakeCache.txt").read_text())
    # Of a copy: by its own name ninja would only say that it has to look for new sources first.
    with tempfile.NamedTemporaryFile(suffix=".ninja") as copy:
        copy.write((made / "build.ninja").read_bytes())
        copy.flush()
        command = [ninja[1] if ninja else "ninja", "-C", build, "-f", copy.name, "-n", *targets]
        plan = subprocess.run(command, capture_output=True, text=True, check=False)
    names = re.findall(r"(?m)^\[\d+/\d+\] .*?(\S+)$", plan.stdout)
    mean = seconds.get("build/", 1.0)
    return [f"{seconds.get(name, seconds.get(group(name) + '/', mean)):.2f}\t{name}" for name in names]


def main(words: Sequence[str]) -> int:
    if words[:1] == ["--record"] and len(words) > 2:
        return record(words[1], words[2:])
    if words[:1] == ["--expect"] and len(words) > 3:
        here = Path(__file__).with_name("compile_seconds.csv")
        for line in expected(here, words[1], float(words[2]) / 100, words[3:]):
            print(line)
        return 0
    if words == ["--page"]:
        print("\n".join(page(Path(__file__).with_name("compile_seconds.csv"))))
        return 0
    if words[:1] == ["--table"] and len(words) == 2:
        print("\n".join(summary(read(Path(words[1])))))
        return 0
    if not 1 <= len(words) <= 2 or words[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        builds = [read(Path(word)) for word in words]
    except (OSError, ValueError) as error:
        print(f"compile_times.py: error: {error}", file=sys.stderr)
        return 2
    print("\n".join(table(builds[0], builds[1] if len(builds) > 1 else None)))
    print("\nthe dearest:")
    for each in sorted(builds[-1].values(), key=lambda made: -made.seconds)[:20]:
        print(f"{each.seconds:8.1f} s {each.kib // 1024:6} MiB  {each.name}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:  # `| head` has what it wants
        os._exit(0)
