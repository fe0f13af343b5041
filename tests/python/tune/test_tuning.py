"""A whole tuning with a runner that answers from a table, and what is said of programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import synthetic_machines as machines

from strata.errors import StrataError
from strata.measure.background import Background
from strata.measure.plan import Task
from strata.measure.progress import Progress
from strata.measure.ranks import Ratio
from strata.measure.runner import Launched
from strata.measure.store import Sample
from strata.measure.summary import UNVERIFIED
from strata.tune import table, tuner
from strata.tune.candidates import Candidate
from strata.tune.program import Kind, kind_of
from strata.tune.race import Launch, Race
from strata.tune.traps import BINDS, CROWDED, ELSEWHERE, SECOND, TrapsSeen, measured
from strata.tune.tuner import Request, Tuner, check


def record(wall_s: float, **more: Any) -> dict[str, Any]:
    base = {
        "wall_s": wall_s,
        "timed_out": False,
        "agrees": True,
        "libraries": ["/lib/libgomp.so.1"],
        "threads": [],
    }
    return {**base, **more}


class Table:
    """Launches take what the table says of their layout, a little more each time; unknown ones take 1 s."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds
        self.launches: list[str] = []

    def run(self, task: Task, tick: Callable[[], None]) -> Launched:
        self.launches.append(task.id)
        wall = self.seconds.get(task.id, 1.0) * (1 + 0.001 * (len(self.launches) % 7))
        if wall < 0:
            return Launched(record(0.1), None, "exit code 1: not with this many", {"wall_s": 0.1})
        figures = {"figures": [{"name": "metric", "value": 1.0 / wall}]} if task.patterns else None
        return Launched(record(wall), figures, None, {"wall_s": wall})


def tune(
    monkeypatch: pytest.MonkeyPatch, seconds: dict[str, float], **asked: Any
) -> tuple[tuner.Outcome, list[Sample], Request]:
    program = {"mpi": "", "openmp": "libgomp.so.1", "command": ["./a.out"], "path": ""}
    monkeypatch.setattr(tuner, "linked", lambda front, words: program)
    request = Request(("./a.out",), **{"budget_s": 400.0, **asked})
    kept: list[Sample] = []
    launcher = Tuner(request, Table(seconds), kept.append, Progress())
    outcome = tuner.tune(request, machines.two_cores(), launcher, "strata", 1, lambda text: None)
    return outcome, kept, request


FAST = {"1x2, bind core": 0.5, "1x2, bind core, huge pages on": 0.3, "1x1, bind core": -1.0}


def test_the_best_layout_then_its_best_pages_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome, kept, request = tune(monkeypatch, FAST)
    assert outcome.kind.name == "openmp"
    assert outcome.verdict.winner == "1x2, bind core, huge pages on"
    assert outcome.verdict.margin is not None
    assert outcome.verdict.margin.value == pytest.approx(0.3, rel=0.02)
    text = table.text(outcome, request)
    assert "winner:    1x2, bind core, huge pages on" in text
    assert "use:       strata launch --layout 1x2 --huge-pages on -- ./a.out" in text
    assert "exit code 1: not with this many" in text
    document = json.loads(json.dumps(table.document(outcome, request)))
    assert document["winner"] == outcome.verdict.winner
    assert (
        len(kept)
        == sum(
            len(s["screening"]) + len(s["final"]) + bool(s["failed"]) for r in document["races"] for s in r
        )
        + 1
    )


def test_how_much_faster_is_said_with_its_interval_as_less_or_more(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome, _, request = tune(monkeypatch, FAST)
    less = r"70\.\d % less time than the default \(between (69|70)\.\d % less and 7\d\.\d % less, at 9\d"
    assert re.match(less, table.margin_text(outcome, request)), table.margin_text(outcome, request)
    margin = Ratio(0.828, 0.422, 1.09, 0.988)
    unsure = SimpleNamespace(verdict=SimpleNamespace(margin=margin))
    assert table.margin_text(unsure, request) == (
        "17.2 % less time than the default (between 9.0 % more and 57.8 % less, at 98.8 % confidence)"
    )


def test_where_more_is_better_the_same_layout_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome, _, request = tune(monkeypatch, FAST, metric=r"rate (\S+)", better="higher")
    assert outcome.verdict.winner == "1x2, bind core, huge pages on"
    assert "1 / figure" in table.text(outcome, request)


def test_of_layouts_that_tie_the_simplest_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    alike = {
        "1x2, bind core": 0.5,
        "1x2, bind core, huge pages on": 0.5,
        "1x2, bind core, huge pages off": 0.5,
    }
    outcome, _, request = tune(monkeypatch, alike)
    assert outcome.verdict.winner is None
    assert "use:       strata launch --layout 1x2 -- ./a.out\n" in table.text(outcome, request)


def test_a_tie_of_layouts_that_are_far_apart_by_their_medians_gives_the_line_of_the_fastest() -> None:
    """Too few launches tell them apart; the default is then not what one is told to use."""
    default, fast = Candidate(1, 2, bind="none"), Candidate(1, 2)
    race = Race([default.id, fast.id], default.id, 1e6)
    loud = [1.0, 1.1, 0.9, 1.0, 1.2, 0.4]
    for name, cost in ((default.id, 1.3), (fast.id, 1.0)):
        for i, factor in enumerate(loud):
            race.record(Launch(name, i, True), cost * factor, 1.0)
    outcome = tuner.Outcome(Kind("openmp", ""), default, [({default.id: default, fast.id: fast}, race)])
    assert outcome.verdict.winner is None and outcome.fastest == fast
    assert default.id in outcome.verdict.tied
    assert table.best_line(outcome, Request(("./a.out",)), fast) == "strata launch --layout 1x2 -- ./a.out"


def test_a_small_budget_names_no_winner_and_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome, _, request = tune(monkeypatch, FAST, budget_s=12.0)
    assert outcome.verdict.winner is None
    assert outcome.seconds <= 16
    assert "no winner" in table.text(outcome, request)


def test_nothing_better_than_the_default_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome, _, request = tune(monkeypatch, {"1x2, bind none": 0.4})
    assert outcome.verdict.winner == "1x2, bind none"
    assert "no layout that was tried beats it" in table.text(outcome, request)


class Timed(Table):
    """As the launcher does: what takes longer than its time limit is ended."""

    def run(self, task: Task, tick: Callable[[], None]) -> Launched:
        launched = super().run(task, tick)
        assert launched.record is not None
        wall = launched.record["wall_s"]
        if wall <= task.timeout_s:
            return launched
        return Launched(record(task.timeout_s, timed_out=True), None, None, {"wall_s": task.timeout_s})


def test_a_default_many_times_as_slow_is_never_ended_and_its_margin_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "Table", Timed)
    slow = {"1x2, bind none": 30.0, "1x2, bind core": 2.0, "1x2, bind numa": 2.4, "1x1, bind core": 9.0}
    outcome, _, _ = tune(monkeypatch, slow, budget_s=2000.0)
    assert outcome.fastest is not None and outcome.verdict.margin is not None
    assert outcome.verdict.margin.value < 0.1
    ended = outcome.races[0][1].standings["1x1, bind core"]
    assert ended.out is not None and not ended.final


def test_a_command_that_fails_alone_is_told_before_any_race(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StrataError, match="fails where nothing is asked of it"):
        tune(monkeypatch, {"1x2, bind none": -1.0})


def thread(pid: int, cpu_s: float) -> dict[str, Any]:
    return {"pid": pid, "tid": pid, "cpu_s": cpu_s}


@pytest.mark.parametrize(
    "program, seen, name",
    [
        ({"mpi": "Open MPI", "openmp": ""}, {}, "mpi"),
        ({"mpi": "MPICH", "openmp": "libgomp.so.1"}, {}, "hybrid"),
        ({"mpi": "", "openmp": "libomp.so.5"}, {}, "openmp"),
        ({"mpi": "", "openmp": ""}, {"libraries": ["/opt/libopenblas.so.0"]}, "openmp"),
        ({"mpi": "", "openmp": ""}, {"threads": [thread(1, 1.0), thread(2, 0.9)]}, "forking"),
        ({"mpi": "", "openmp": ""}, {"threads": [thread(1, 1.0), thread(1, 0.9)]}, "forking"),
        ({"mpi": "", "openmp": ""}, {"threads": [thread(1, 1.0), thread(2, 0.02)]}, "serial"),
    ],
)
def test_kinds_of_programs(program: dict[str, Any], seen: dict[str, Any], name: str) -> None:
    assert kind_of(program, seen).name == name


PROMISED = [{"rank": 0, "threads": ["0", "1"], "memory": "as inherited"}]


def bound(pid: int, tid: int, allowed: str, cpu_s: float = 1.0) -> dict[str, Any]:
    return {"pid": pid, "tid": tid, "rank": 0, "allowed": allowed, "cpu_s": cpu_s}


def codes(seen: dict[str, Any], threads: int = 2, held: bool = True) -> list[str]:
    return [trap.code for trap in measured(seen, threads, held)]


def test_a_thread_that_is_elsewhere_than_its_layout_says_binds_itself() -> None:
    away = record(1.0, agrees=False, promised=PROMISED, threads=[bound(7, 7, "3")])
    assert codes(away) == [BINDS]
    assert "PU 3, the layout gives its process PU 0-1" in measured(away, 2, True)[0].text
    # Held to one of its own cores by the layout that is as promised; by nobody it is the program's doing.
    narrowed = record(1.0, promised=PROMISED, threads=[bound(7, 7, "1")])
    assert codes(narrowed) == []
    assert codes(narrowed, held=False) == [BINDS]


def test_pages_that_lie_elsewhere_than_their_policy_says_are_a_trap_and_unverified_ones_are_told() -> None:
    said = "100 % of the pages of process 0 lie in memory P#3, promised was only in memory P#1"
    away = record(1.0, agrees=False, pages={"agrees": False, "disagreement": said})
    assert codes(away) == [ELSEWHERE]
    assert said in measured(away, 2, True)[0].text
    forbidden = {"agrees": None, "verdict": "placement unverified: mbind: Operation not permitted"}
    unknown = record(1.0, agrees=None, pages=forbidden)
    assert codes(unknown) == [UNVERIFIED]
    assert "placement unverified: mbind" in measured(unknown, 2, True)[0].text
    for verdict in ("as promised", "nothing promised"):
        assert codes(record(1.0, pages={"agrees": verdict[0] == "a" or None, "verdict": verdict})) == []


def test_a_binding_that_few_launches_of_a_layout_show_is_not_told() -> None:
    """hwloc, inside many an MPI, binds a thread to each PU in turn while it looks at the machine."""
    narrowed = measured(record(1.0, promised=PROMISED, threads=[bound(7, 7, "1")]), 2, False)
    seen = TrapsSeen.of(())
    seen.add(narrowed, "1x2, bind none")
    assert seen.all() == []
    for _ in range(3):
        seen.add([], "1x2, bind none")
    seen.add(narrowed, "1x2, bind none")
    assert seen.all() == []  # in two of five
    seen.add(narrowed, "1x2, bind none")
    assert [trap.code for trap in seen.all()] == [BINDS]


def test_two_runtimes_and_too_many_threads_are_told_apart() -> None:
    two = record(1.0, libraries=["/a/libgomp.so.1", "/b/libiomp5.so", "/c/openblas-pthread/libopenblas.so.0"])
    assert codes(two) == [SECOND]
    assert "libgomp, libiomp5, OpenBLAS built for POSIX threads" in measured(two, 2, True)[0].text
    many = record(1.0, promised=PROMISED, threads=[bound(5, 5 + i, "0-1") for i in range(4)])
    assert codes(many) == [CROWDED]
    assert "4 threads of a process computed, the layout gives it 2" in measured(many, 2, True)[0].text
    assert codes(record(1.0, threads=[thread(5, 1.0)] * 2)) == []


def test_processes_one_after_another_are_no_crowd() -> None:
    four = [bound(5 + i, 5 + i, "0-1", 0.5) for i in range(4)]
    for at_once, expected in (4, [CROWDED]), (2, []), (0, []):
        seen = record(1.0, promised=PROMISED, threads=four, computing_at_once=at_once)
        assert codes(seen, held=False) == expected


@pytest.mark.parametrize(
    "asked, said",
    [
        ({"command": ()}, "no command to tune"),
        ({"kind": "quantum"}, "unknown kind of program"),
        ({"metric": "("}, "not a regular expression"),
        ({"metric": "no group"}, "needs one group"),
    ],
)
def test_bad_input_is_answered(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(StrataError, match=said):
        check(Request(**{"command": ("true",), **asked}))


PROGRAM = {"mpi": "", "openmp": "libgomp.so.1", "command": ["./a.out"], "path": ""}


class Neighbour(Table):
    """The same beside somebody who takes so much of its CPUs."""

    def __init__(self, seconds: dict[str, float], share: float) -> None:
        super().__init__(seconds)
        self.share = share

    def run(self, task: Task, tick: Callable[[], None]) -> Launched:
        launched = super().run(task, tick)
        cpu = {"own_s": 1.0, "others_s": self.share, "others_share": self.share}
        return Launched(
            {**(launched.record or {}), "cpu": cpu}, launched.result, launched.failed, launched.system
        )


@pytest.mark.parametrize("steady", [False, True])
def test_a_disturbed_launch_is_made_again_once_unless_the_background_is_as_large(
    monkeypatch: pytest.MonkeyPatch, steady: bool
) -> None:
    monkeypatch.setattr(tuner, "linked", lambda front, words: PROGRAM)
    kept: list[Sample] = []
    request = Request(("./a.out",), budget_s=400.0)
    runner = Neighbour({"1x2, bind core": 0.5}, 0.2)
    launcher = Tuner(request, runner, kept.append, Progress())
    launcher.set_background(Background({0: 0.0, 1: 0.0}, {0: 0.2, 1: 0.2}) if steady else None)
    outcome = tuner.tune(request, machines.two_cores(), launcher, "strata", 1, lambda text: None)
    again = sum(s.attempt for s in kept)
    assert again == 0 if steady else again == len(kept) / 2
    said = table.text(outcome, request)
    assert (
        re.search(r"^disturbed: [1-9]\d* of \d+ launches of the final$", said, re.M)
        and "final, disturbed in " in said
    )
    assert all(
        s["disturbed"] == len(s["final"]) for r in table.document(outcome, request)["races"] for s in r
    )


def test_a_clock_that_drops_is_a_disturbance(monkeypatch: pytest.MonkeyPatch) -> None:
    class Throttled(Table):
        def run(self, task: Task, tick: Callable[[], None]) -> Launched:
            launched = super().run(task, tick)
            ghz = 3.0 if len(self.launches) < 8 else 2.0
            return Launched(
                {**(launched.record or {}), "clock": {"before_ghz": 3.0, "after_ghz": ghz}}, None, None, {}
            )

    monkeypatch.setattr(tuner, "linked", lambda front, words: PROGRAM)
    kept: list[Sample] = []
    request = Request(("./a.out",), budget_s=60.0)
    launcher = Tuner(request, Throttled({}), kept.append, Progress())
    tuner.tune(request, machines.two_cores(), launcher, "strata", 1, lambda text: None)
    assert not any(s.tainted for s in kept[:7])
    assert all([r["code"] for r in s.tainted] == ["clock"] for s in kept[7:]) and len(kept) > 7
