"""`strata tune` on four memories: it names the layout that is known to be right.

The program is synthetic: it waits in proportion to the distance between the CPU that it is on and the memory
in which its pages really lie (programs/waits.cpp). The launches are made inside the virtual machine; the
race is decided outside of it, and its budget counts what the program waited: how fast the emulator is does
not matter.
"""

from __future__ import annotations

import base64
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from building import PROGRAMS
from machine import Machine

from strata.measure.plan import Task
from strata.measure.progress import Progress
from strata.measure.runner import Launched, find_figures
from strata.measure.store import Sample
from strata.tune import program, race, table, tuner
from strata.tune.tuner import Request, Tuner


class Inside:
    """Launches in the virtual machine: `strata launch` there, its record and output brought back."""

    def __init__(self, vm: Machine) -> None:
        self.vm = vm

    def run(self, task: Task, tick: Callable[[], None]) -> Launched:
        placed = ["--layout", task.layout, "--stride", str(task.stride), "--bind", task.bind, *task.options]
        watched = ["--record", "/tmp/record", "--timeout", "60"]
        line = shlex.join(["strata", "launch", *placed, *watched, "--", *task.command])
        after = "status=$?; tr -d '\\n' < /tmp/record; echo; cat /tmp/said; rm /tmp/record; exit $status"
        done = self.vm.run(f"{line} > /tmp/said; {after}")
        first, _, said = done.out.partition("\n")
        record = json.loads(first)
        if done.status:
            return Launched(record, None, f"exit code {done.status}: {done.err}", {"wall_s": 0.1})
        figures, missing = find_figures(task.patterns, said)
        waited = {"wall_s": figures[0]["value"]} if figures else {}
        return Launched(record, {"figures": figures} if figures else None, missing, waited)


def tune(
    vm: Machine,
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    words: Sequence[str],
    budget_s: float,
    kind: str | None = None,
) -> tuple[tuner.Outcome, list[Sample]]:
    """A whole tuning of `waits` by what it says that it waited."""
    compiler = os.environ.get("CXX") or shutil.which("c++")
    assert compiler is not None  # the fixture has built with it
    built = folder / "waits"
    command = [compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", "-s", "-fopenmp", "-o", str(built)]
    subprocess.run([*command, str(PROGRAMS / "waits.cpp")], check=True)
    vm.put("/tmp/encoded", base64.b64encode(built.read_bytes()).decode())
    assert (
        vm.run("base64 -d /tmp/encoded > /bin/waits && chmod 755 /bin/waits && rm /tmp/encoded").status == 0
    )

    def dry_run(front: str, command: Sequence[str]) -> dict[str, Any]:
        done = vm.run(
            shlex.join(["strata", "launch", "--bind", "none", "--dry-run", "--json", "--", *command])
        )
        assert done.status == 0, done.err
        return dict(json.loads(done.out))

    monkeypatch.setattr(program, "_dry_run", dry_run)
    machine = json.loads(vm.run("strata machine --json").out)
    request = Request(("waits", *words), metric=r"waited ([0-9.]+) s", budget_s=budget_s, kind=kind)
    kept: list[Sample] = []
    made = Tuner(request, Inside(vm), kept.append, Progress())
    outcome = tuner.tune(request, machine, made, "strata", 1, print)
    print(table.text(outcome, request))
    return outcome, kept


def test_a_serial_program_is_not_told_to_deal_its_pages(
    vm: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tidy: None
) -> None:
    """Its pages are beside it where it touches them; dealt over four memories they are 1.75 times as far."""
    outcome, kept = tune(vm, monkeypatch, tmp_path, ["--ms", "40"], 1.3, "serial")
    (_, race), *_ = outcome.races
    fastest = outcome.fastest
    assert fastest is not None and not fastest.memory, outcome.verdict
    costs = {name: standing.cost() for name, standing in race.standings.items()}
    dealt = costs["1x1, bind core, interleave:0-3"]
    # From domain 0 they are at (10 + 15 + 20 + 25) / 4, ten times as the distances are written. Beside the
    # one that is held on a core: on a busy machine the kernel may move the other one away from its pages.
    assert dealt / costs["1x1, bind core"] == pytest.approx(1.75, rel=0.02), costs
    assert not [sample.failed for sample in kept if sample.failed]


@pytest.mark.soak
def test_a_program_for_two_threads_beside_their_pages(
    vm: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tidy: None
) -> None:
    """Two threads of one domain find every page local; of eight, one waits for the far end of the machine."""
    monkeypatch.setattr(race, "WAVES", 0)  # pages are the other test's subject
    outcome, kept = tune(vm, monkeypatch, tmp_path, ["--ms", "240"], 11.0)
    assert outcome.kind.name == "openmp"
    fastest, margin = outcome.fastest, outcome.verdict.margin
    assert fastest is not None and margin is not None, outcome.verdict
    assert fastest.threads == 2, outcome.verdict
    # Not held, the default's two are now and then neighbours by chance: the interval's end may be wide.
    assert margin.value < 0.75, margin
    assert not [sample.failed for sample in kept if sample.failed]


@pytest.mark.soak
def test_a_table_that_one_thread_touched_is_dealt_over_the_memories(
    vm: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tidy: None
) -> None:
    """Eight threads share the work: pages of one memory are far for most of them, interleaved for none."""
    outcome, _ = tune(vm, monkeypatch, tmp_path, ["--share", "--ms", "1600"], 70.0)
    fastest, margin = outcome.fastest, outcome.verdict.margin
    assert fastest is not None and margin is not None and margin.high is not None, outcome.verdict
    assert (fastest.threads, fastest.memory) == (8, "interleave"), outcome.verdict
    assert margin.high < 0.97, margin
