"""What holds for every machine that a file describes, whatever its shape: what is shown is what may be asked
for, and each line that is advised works there.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from launching import Launcher
from machine_shapes import Plan, Shape, build, draw

from strata.advice.findings import findings
from strata.advice.layouts import recommend
from strata.advice.samples import cpulist
from strata.draw.machine import machine_svg

# One of each kind that was once wrong, and cheap enough for every day.
EVERY_DAY = {
    "memories in turn over packages": Plan(2, 2, 1, memory="round robin", pus="round robin", distances=True),
    "POWER: memories 0 and 8, eight PUs a core": Plan(2, 1, 2, smt=8, memory="gaps", more="GPU"),
    "cores of one design with limits of their own": Plan(1, 1, 8, kinds="near"),
    "big and little cores, each with limits of their own": Plan(1, 1, 20, kinds="two ends", shared=10),
    "four PUs a core": Plan(1, 1, 3, smt=4, pus="shuffled"),
    "kinds of which nothing says which is faster": Plan(1, 1, 4, kinds="unordered", more="unknown"),
}
SEEDS = 120


class Machine:
    """A shape in a file, and the commands asked about it."""

    def __init__(self, shape: Shape, launcher: Launcher, folder: Path) -> None:
        self.shape, self.launcher = shape, launcher
        self.file = folder / "machine.xml"
        self.file.write_text(shape.xml)
        asked = [str(launcher.binary), "machine", "--input", str(self.file)]
        self.table = self._said([*asked, "--no-findings"])
        self.document: dict[str, Any] = json.loads(self._said([*asked, "--json"]))

    def _said(self, command: list[str]) -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (self.shape.name, command, done.stderr)
        return done.stdout

    def plan(self, *options: str) -> dict[str, Any]:
        """A dry run as a document."""
        whole = [*options, "--dry-run", "--json", "--machine", str(self.file)]
        done = self.launcher.run(*whole, program=["true"])
        assert done.returncode == 0, (self.shape.name, options, done.stderr)
        return dict(json.loads(done.stdout))

    def refused(self, *options: str) -> str:
        done = self.launcher.run(*options, "--dry-run", "--machine", str(self.file), program=["true"])
        assert done.returncode == 2, (self.shape.name, options, done.stdout)
        return done.stderr


def threads(plan: dict[str, Any]) -> list[list[int]]:
    """The PUs of each thread."""
    return [cpulist(thread["pus"]) for process in plan["processes"] for thread in process["threads"]]


def pages(plan: dict[str, Any]) -> list[set[int]]:
    """The memories of each process."""
    return [set(cpulist(process["memory"].rpartition("P#")[2])) for process in plan["processes"]]


def check_facts(machine: Machine) -> None:
    """The table and the document have every PU and every memory, each by the system's number."""
    shape, document = machine.shape, machine.document
    assert sorted(pu for core in document["cores"] for pu in core["pus"]) == shape.pus
    assert cpulist(document["allowed"]["pus"]) == shape.pus
    shown = [int(n) for n in re.findall(r"^memory (\d+) ", machine.table, re.M)]
    numbers = sorted(shape.memories)
    assert [m["os_index"] for m in document["memories"]] == numbers
    assert cpulist(document["allowed"]["memories"]) == numbers
    assert shown == (numbers if len(numbers) <= 16 else [])
    assert [m["index"] for m in document["memories"]] == list(range(len(numbers)))
    rows = re.findall(r"^(?:distances +| {13})memory (\d+) +[\d ]+$", machine.table, re.M)
    assert [int(n) for n in rows] == (shown if shape.distances else [])
    if shape.distances:  # 10 to itself, 20 and a step more for each further one
        for i, row in enumerate(document["distances"]["matrix"]):
            assert row == [10 if i == j else 20 + abs(i - j) for j in range(len(numbers))]
        assert len(document["distances"]["matrix"]) == len(numbers)
    assert max(1, len(document["core_kinds"])) == max(1, len(shape.kinds))
    if len(shape.kinds) > 1:
        of_pu = {pu: core["kind"] for core in document["cores"] for pu in core["pus"]}
        assert [{of_pu[pu] for pu in kind} for kind in shape.kinds] == [{k} for k in range(len(shape.kinds))]
    assert ("kind 1" in machine.table) == (len(shape.kinds) > 1)
    assert ("(performance)" in machine.table) == (len(shape.kinds) > 1 and shape.ordered)


def check_pus(machine: Machine) -> None:
    """Each core, and each PU, is given once; one more is refused with the number that there is."""
    shape = machine.shape
    used = threads(machine.plan("--layout", f"1x{len(shape.cores)}"))
    assert all(len(pus) == 1 for pus in used)
    owner = {pu: i for i, core in enumerate(shape.cores) for pu in core}
    assert sorted(owner[pus[0]] for pus in used) == list(range(len(shape.cores)))
    most = max(len(core) for core in shape.cores)
    used = threads(machine.plan("--layout", f"{len(shape.pus)}x1", "--smt", str(most)))
    assert sorted(pu for pus in used for pu in pus) == shape.pus
    assert f"allowed: {len(shape.cores)} core" in machine.refused("--layout", f"1x{len(shape.cores) + 1}")
    backwards = shape.pus[::-1]
    listed = machine.plan("--layout", f"1x{len(backwards)}", "--bind", ",".join(map(str, backwards)))
    assert threads(listed) == [[pu] for pu in backwards]
    absent = backwards[0] + 1
    assert f"of which {absent}" in machine.refused("--bind", str(absent))
    for width in ("cache", "numa", "package", "none"):
        whole = machine.plan("--layout", f"1x{len(shape.cores)}", "--bind", width)
        assert sorted({pu for pus in threads(whole) for pu in pus}) == shape.pus, (shape.name, width)


def check_memories(machine: Machine, most: int) -> None:
    """A memory that is shown is taken by its number, and a program beside it has it."""
    shape = machine.shape
    for number, pus in list(shape.memories.items())[:most]:
        assert pages(machine.plan("--memory", f"bind:{number}")) == [{number}]
        assert pages(machine.plan("--memory", f"interleave:os:{number}")) == [{number}]
        if pus:
            near = machine.plan("--bind", str(min(pus)), "--memory", "local")
            assert pages(near) == [shape.local(min(pus))], (shape.name, number)
            domain = near["processes"][0]["threads"][0]["domains"]
            lines = [x for x in machine.table.splitlines() if x.startswith(f"memory {number} ")]
            assert len(lines) == (1 if len(shape.memories) <= 16 else 0)
            if number in shape.local(min(pus)):
                assert all(f"domain {domain}:" in line for line in lines)
    numbers = ",".join(map(str, shape.memories))
    assert pages(machine.plan("--memory", f"bind:{numbers}")) == [set(shape.memories)]
    absent = max(shape.memories) + 1
    assert f"bind:{absent}, of which {absent}" in machine.refused("--memory", f"bind:{absent}")
    each = machine.plan("--layout", f"{len(shape.cores)}x1", "--memory", "local")
    for (pu,), memories in zip(threads(each), pages(each), strict=True):
        own = shape.local(pu)
        assert memories == own if own else memories, (shape.name, pu)


def check_kinds(machine: Machine) -> None:
    """The kinds share the cores out, and words for speed mean the first and the last where that is known."""
    shape = machine.shape
    if len(shape.kinds) < 2:
        assert len(threads(machine.plan("--core-kind", "performance"))) == 1
        return
    words = [str(number) for number in range(len(shape.kinds))]
    if shape.ordered:
        words[0], words[-1] = "efficiency", "performance"
    else:
        assert "not known" in machine.refused("--core-kind", "performance")
    for word, kind in zip(words, shape.kinds, strict=True):
        cores = sum(core[0] in kind for core in shape.cores)
        used = threads(machine.plan("--core-kind", word, "--layout", f"1x{cores}"))
        assert {pu for pus in used for pu in pus} <= kind
        assert len({tuple(pus) for pus in used}) == cores


def check_advice(machine: Machine) -> None:
    """Nothing unreadable is said, and each line for the launcher is one that it takes on this machine."""
    document = machine.document
    found, advice = findings(document), recommend(document)
    said = [part for f in found for part in (f.what, f.evidence, f.consequence, f.remedy)]
    said += [*advice.notes, *(line.command for start in advice.starts for line in start.lines)]
    for text in (*said, *machine.table.splitlines()):
        assert not re.search(r"\bnan\b|None|(?<!\d)-1\b|\{|unknown memory", text), (
            machine.shape.name,
            text,
        )
    lines = [line for text in said for line in re.findall(r"strata launch [^`]*?-- \./a\.out", text)]
    assert len(lines) >= 4
    for line in dict.fromkeys(lines):
        words = shlex.split(line)
        machine.plan(*words[2 : words.index("--")])
    pus = [int(n) for text in said for n in re.findall(r"taskset -c (\d+)", text)]
    assert pus and set(pus) <= set(machine.shape.pus)
    numbers = [int(n) for text in said for n in re.findall(r"(?:membind|preferred|bind:)=?(\d+)", text)]
    assert set(numbers) <= set(machine.shape.memories)
    assert numbers or all(machine.shape.memories.values()), "nothing says how to use memory without cores"
    assert machine_svg(document).startswith("<svg")


def check(shape: Shape, launcher: Launcher, folder: Path, most: int) -> None:
    machine = Machine(shape, launcher, folder)
    check_facts(machine)
    check_pus(machine)
    check_memories(machine, most)
    check_kinds(machine)
    check_advice(machine)


@pytest.mark.parametrize("name", EVERY_DAY)
def test_what_a_machine_of_odd_numbers_shows_is_what_it_takes(
    launcher: Launcher, tmp_path: Path, name: str
) -> None:
    check(build(EVERY_DAY[name]), launcher, tmp_path, 4)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_any_machine_shows_is_what_it_takes(launcher: Launcher, tmp_path: Path, seed: int) -> None:
    check(draw(seed), launcher, tmp_path, 8)
