"""An MPI program that does not run with every number of processes says so in its own words."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
import synthetic_machines as machines
from simulated_programs import Laid, Simulated, tuned

from strata.errors import StrataError
from strata.tune import table, tuner
from strata.tune.candidates import Candidate

POWER = "exit code 2: number of ranks must be a power of two"


class Even:
    """All cores alike, and shared evenly."""

    def seconds(self, where: Laid) -> float:
        return 1 / sum(where.cores)


def power_of_two(c: Candidate) -> str | None:
    return POWER if c.processes & (c.processes - 1) else None


@pytest.fixture(autouse=True)
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    program = {"mpi": "Open MPI v4", "openmp": "", "command": ["./a.out"], "path": ""}
    monkeypatch.setattr(tuner, "linked", lambda front, words: program)


def run(
    refuses: Callable[[Candidate], str | None], cores: int = 6, kind: str = "mpi"
) -> tuple[tuner.Outcome, tuner.Request]:
    machine = machines.eight_cores()
    machine["allowed"]["pus"] = f"0-{cores - 1}"
    return tuned(machine, kind, Simulated(Even(), random.Random(1), refuses=refuses), 1, 60.0)


def test_six_cores_and_a_power_of_two_are_four_processes_and_the_others_are_quoted() -> None:
    outcome, request = run(power_of_two)
    assert outcome.default.id == "4x1, bind none"
    assert outcome.fastest is not None and outcome.fastest.processes == 4
    document = json.loads(json.dumps(table.document(outcome, request)))
    refused = {one["processes"]: one for one in document["refused"]}
    assert {6, 3} <= set(refused) and not {1, 2, 4} & set(refused)
    for one in refused.values():
        assert one["mark"] == "refused by the program"
        assert one["says"] == "number of ranks must be a power of two"
    failed = {s["layout"]: s["failed"] for race in document["races"] for s in race if s["failed"]}
    assert failed["6x1, bind none"] == "refused by the program: number of ranks must be a power of two"
    text = table.text(outcome, request)
    assert "6 processes: refused by the program: number of ranks must be a power of two" in text
    assert "1 process: refused" not in text


def test_a_number_that_is_refused_once_is_not_tried_with_other_layouts_of_later_waves() -> None:
    asked: list[int] = []

    def watched(c: Candidate) -> str | None:
        asked.append(c.processes)
        return power_of_two(c)

    outcome, _ = run(watched, 8)
    odd = [n for n in asked if n & (n - 1)]
    assert odd and all(odd.count(n) <= 4 for n in set(odd)), odd
    assert outcome.refusals.numbers == set(odd)


def test_a_program_that_always_fails_is_an_error_that_quotes_it() -> None:
    with pytest.raises(StrataError, match="fails where nothing is asked of it") as error:
        run(lambda c: "exit code 1: no licence")
    assert error.value.given is not None
    assert "no licence" in error.value.given and "with 6, 4" in error.value.given


def test_a_layout_that_fails_where_its_number_of_processes_runs_is_no_refusal() -> None:
    outcome, request = run(lambda c: "exit code 3: out of memory" if c.bind == "numa" else None)
    assert outcome.refusals.to_list() == []
    failed = [s["failed"] for race in table.document(outcome, request)["races"] for s in race if s["failed"]]
    assert failed and set(failed) == {"exit code 3: out of memory"}


def test_hybrid_programs_refuse_processes_whatever_their_threads() -> None:
    outcome, request = run(power_of_two, kind="hybrid")
    document: dict[str, Any] = table.document(outcome, request)
    assert 6 in {one["processes"] for one in document["refused"]}
    assert outcome.fastest is not None and outcome.fastest.processes in (1, 2, 4)
