"""likwid-pin's strings, compared with likwid-pin itself: here, and on machines that are only described."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from other_tools import MACHINES, Run

LIKWID = shutil.which("likwid-pin")
COMPILER = shutil.which("cc") or shutil.which("gcc")
needs_likwid = pytest.mark.skipif(
    LIKWID is None or COMPILER is None, reason="needs likwid-pin (Debian: likwid) and a C compiler"
)

# Each for two machines at least: with and without SMT siblings, one and several domains of a kind.
STRINGS = [
    *("N:0-7", "S0:3-0", "L:S0:2,0", "N:10-14", "0,3,5-7", "7-4", "S0", "D0:1", "M0:0-3"),
    *("E:S0:4", "E:S0:8:2:4", "E:N:6:1:2", "E:N:5:3:4", "E:N:4:1:2:1", "E:N:13"),
    *("S:scatter", "M:scatter", "N:scatter", "C:scatter:9", "S:balanced", "M:balanced:5"),
]
SEVERAL = ["S0:0-1@S1:2", "C1:0,2", "M3:0@M1:1", "E:M2:4", "E:S1:4:1:2", "C3", "M2:0@E:S0:3"]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("likwid") / "elsewhere.so"
    source = Path(__file__).with_name("likwid_elsewhere.c")
    assert COMPILER is not None
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def likwid_pin(expression: str, machine: Path, pus: int, library: Path) -> list[int]:
    environment = dict(
        os.environ, PUS=str(pus), LD_PRELOAD=str(library), HWLOC_XMLFILE=str(machine), HWLOC_THISSYSTEM="1"
    )
    done = subprocess.run(
        ["likwid-pin", "-c", expression, "-p"], capture_output=True, text=True, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [int(pu) for pu in done.stdout.strip().splitlines()[-1].split(",")]


def placed(strata: Run, expression: str, *options: str) -> list[list[int]]:
    """[process][thread] -> the system's number of its PU."""
    done = strata("launch", "--dry-run", "--json", "--bind", f"likwid:{expression}", *options, "--", "true")
    assert done.returncode == 0, done.stderr
    processes = json.loads(done.stdout)["processes"]
    return [[int(thread["pus"]) for thread in process["threads"]] for process in processes]


@needs_likwid
@pytest.mark.parametrize(
    ("machine", "pus", "strings"),
    [
        ("two-sockets-128-cores-smt.xml", 256, STRINGS + SEVERAL),
        ("gpu-node.xml", 32, STRINGS + SEVERAL),
        ("hybrid-6p-8e.xml", 20, STRINGS),
        ("epyc-256-cores-8-domains.xml", 256, STRINGS + SEVERAL),
    ],
)
def test_every_string_means_what_it_means_to_likwid(
    strata: Run, elsewhere: Path, machine: str, pus: int, strings: list[str]
) -> None:
    file = MACHINES / machine
    differ = {}
    for expression in strings:
        [ours], theirs = (
            placed(strata, expression, "--machine", str(file)),
            likwid_pin(expression, file, pus, elsewhere),
        )
        if ours != theirs:
            differ[expression] = (ours, theirs)
    assert not differ


@needs_likwid
def test_what_explain_prints_for_likwid_gives_the_placement_back(strata: Run, elsewhere: Path) -> None:
    file = MACHINES / "two-sockets-128-cores-smt.xml"
    for options in (["--layout", "1x6", "--stride", "20"], ["--layout", "1x5", "--smt", "2"]):
        words = ["--machine", str(file), *options, "--dry-run"]
        plan = json.loads(strata("launch", *words, "--json", "--", "true").stdout)
        promised = [int(thread["pus"]) for thread in plan["processes"][0]["threads"]]
        said = strata("launch", *words, "--", "true").stdout
        match = re.search(r"likwid-pin -c (\S+)", said)
        assert match, said
        assert likwid_pin(match[1], file, 256, elsewhere) == promised
    said = strata("launch", "--machine", file, "--dry-run", "--layout", "2x2", "--", "true").stdout
    assert "likwid-mpirun -np 2 -pin 0-1_2-3 " in said
    assert placed(strata, "0-1_2-3", "--machine", str(file)) == [[0, 1], [2, 3]]
    wide = strata("launch", "--machine", file, "--dry-run", "--bind", "numa", "--", "true").stdout
    assert "likwid   nothing" in wide and "likwid-pin -c" not in wide


@needs_likwid
def test_here_a_program_is_held_where_likwid_pin_would_hold_it(strata: Run) -> None:
    if len(os.sched_getaffinity(0)) < (os.cpu_count() or 1):
        pytest.skip("in a part of a machine likwid counts PUs anew")
    last = len(os.sched_getaffinity(0)) - 1
    show = ["grep", "Cpus_allowed_list", "/proc/self/status"]  # likwid-pin keeps no quotes
    for expression in ("N:0", f"S0:{last}", "E:N:1", f"{last}"):
        ours = strata("launch", "--bind", f"likwid:{expression}", "--", *show)
        theirs = subprocess.run(
            ["likwid-pin", "-q", "-c", expression, *show], capture_output=True, text=True, timeout=60
        )
        assert ours.returncode == 0, ours.stderr
        held = [line for line in theirs.stdout.splitlines() if line.startswith("Cpus_allowed_list")]
        assert [ours.stdout.strip()] == held


def test_a_string_sets_the_number_of_threads_and_a_wrong_one_is_one_error(strata: Run) -> None:
    show = ["sh", "-c", "echo $OMP_NUM_THREADS $STRATA_SIZE"]
    assert strata("launch", "--bind", "likwid:N:0", "--", *show).stdout.split() == ["1", "1"]
    refused = strata("launch", "--bind", "likwid:S7:0@N:0", "--", "true")
    assert refused.returncode == 2
    assert refused.stderr.count("strata: error:") == 1
    assert "of which S7:0" in refused.stderr and "allowed: N, " in refused.stderr
    both = strata("launch", "--bind", "likwid:N:0", "--smt", "2", "--", "true")
    assert both.returncode == 2 and "exclude each other" in both.stderr


def test_processes_of_a_string_and_of_the_launcher_in_the_command_must_agree(
    strata: Run, tmp_path: Path
) -> None:
    starter = tmp_path / "srun"  # known by its name; a dry run starts nothing
    starter.write_text("#!/bin/sh\nexit 1\n")
    starter.chmod(0o755)
    dry = ["--dry-run", "--json", "--machine", "synthetic:core:4 pu:1"]

    def planned(expression: str, n: int) -> subprocess.CompletedProcess[str]:
        return strata("launch", *dry, "--bind", f"likwid:{expression}", "--", starter, "-n", n, "true")

    dealt = planned("N:0-3", 2)
    assert dealt.returncode == 0, dealt.stderr
    assert [
        [thread["pus"] for thread in process["threads"]] for process in json.loads(dealt.stdout)["processes"]
    ] == [["0", "1"], ["2", "3"]]
    assert json.loads(planned("N:0_N:2", 2).stdout)["layout"] == "2x1"
    for expression, n in (("N:0_N:1_N:2", 2), ("N:0_N:1", 1)):
        refused = planned(expression, n)
        assert refused.returncode == 2 and "disagree" in refused.stderr, refused.stderr
    assert "cannot be dealt evenly" in planned("N:0-2", 2).stderr
