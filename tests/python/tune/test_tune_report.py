"""The results folder of a tuning: its report says what the race found, and is made again from the folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import synthetic_machines as machines

from strata.errors import StrataError
from strata.measure import store
from strata.measure.plan import Plan, Policy, Task, identity
from strata.measure.progress import Progress
from strata.measure.runner import Launched
from strata.report.sections import tune as section
from strata.tune import results, table, tuner
from strata.tune.candidates import candidates
from strata.tune.traps import MPI, Trap
from strata.tune.tuner import Request, Tuner


class Steady:
    """Launches take what the layout's first matching word says, and a little more each time."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds
        self.made = 0

    def run(self, task: Task, tick: Callable[[], None]) -> Launched:
        self.made += 1
        wall = next((s for name, s in self.seconds.items() if name in task.id), 1.0)
        wall *= 1 + 0.002 * (self.made % 5)
        threads = [{"pid": 1, "tid": 1, "rank": 0, "allowed": "0-1", "cpu_s": wall}]
        seen = {"wall_s": wall, "timed_out": False, "agrees": True, "libraries": [], "threads": threads}
        figures = {"figures": [{"name": "metric", "value": 1 / wall, "unit": "", "better": "higher"}]}
        return Launched(seen, figures if task.patterns else None, None, {"wall_s": wall})


def folder(path: Path, seconds: dict[str, float], answered: bool = True, **asked: Any) -> store.Store:
    """A results folder as `strata tune` leaves it, of launches that took `seconds` by layout."""
    machine = machines.two_cores()
    request = Request(("./a.out", "case.in"), **{"budget_s": 300.0, "kind": "openmp", **asked})
    maker = Tuner(request, Steady({}), lambda sample: None, Progress())
    tasks = tuple(maker.task(c, 10.0) for c in candidates(machine, "openmp"))
    plan = Plan("tune", "tune", tasks, Policy(seed=3), identity(machine), "build")
    opened = store.create(path, plan, machine, {"schema": "strata.provenance/1"})
    launcher = Tuner(request, Steady(seconds), opened.add, Progress(), opened.add_task)
    outcome = tuner.tune(request, machine, launcher, "strata", 3, lambda text: None)
    outcome.traps.append(Trap(MPI, "a sentence of <the> trap", True, ()))
    if answered:
        results.write(opened, table.document(outcome, request))
    return opened


@pytest.fixture(autouse=True)
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    program = {"mpi": "", "openmp": "libgomp.so.1", "command": ["./a.out"], "path": ""}
    monkeypatch.setattr(tuner, "linked", lambda front, words: program)


WINS = {"1x2, bind core, huge pages on": 0.3, "1x2, bind core": 0.5, "1x1": 3.0}


def page(path: Path) -> str:
    return (path / "report" / "report.html").read_text()


def test_the_report_names_the_winner_its_margin_its_line_and_every_layout(tmp_path: Path) -> None:
    folder(tmp_path, WINS).close()
    text = page(tmp_path)
    assert "<strong>1x2, bind core, huge pages on</strong> wins" in text
    assert re.search(
        r"It takes (69|70|71)\.\d % less time than the default \(1x2, bind none\), between", text
    )
    assert "strata launch --layout 1x2 --huge-pages on -- ./a.out case.in" in text
    assert "times as slow as the best" in text
    assert "<strong>MPI binds by default</strong>: a sentence of &lt;the&gt; trap. Foreseen." in text
    assert text.count("<figure") == 3  # the final, screening, the machine
    found = json.loads((tmp_path / "tune.json").read_text())
    for race in found["races"]:
        for standing in race:
            assert standing["layout"] in text
    markdown = (tmp_path / "report" / "report.md").read_text()
    assert "**1x2, bind core, huge pages on** wins" in markdown


def test_a_tie_is_called_one_in_the_report(tmp_path: Path) -> None:
    folder(tmp_path, {"1x1": 3.0}).close()
    text = page(tmp_path)
    assert "No winner: a tie of" in text
    assert "wins:" not in text


def test_a_figure_where_more_is_better_is_shown_as_it_was_printed(tmp_path: Path) -> None:
    opened = folder(tmp_path, WINS, metric=r"rate (\S+)", better="higher")
    opened.close()
    found = json.loads((tmp_path / "tune.json").read_text())
    entrants = section._entrants(found, found["races"][-1])
    best = next(one for one in entrants if one.name == found["winner"])
    assert best.middle == pytest.approx(1 / 0.3, rel=0.02)
    assert "less cost (1 / figure)" in page(tmp_path)


def test_the_report_is_made_again_from_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder(tmp_path, WINS).close()
    before = page(tmp_path)
    (tmp_path / "report" / "report.html").unlink()
    (tmp_path / "summary.json").unlink()
    from strata.commands.results import rebuild

    assert rebuild(tmp_path) == 0
    assert page(tmp_path) == before
    assert json.loads((tmp_path / "summary.json").read_text())["kind"] == "tune"
    assert "faster than each of" in capsys.readouterr().out


def test_a_tuning_that_was_interrupted_is_reported_without_an_answer(tmp_path: Path) -> None:
    opened = folder(tmp_path, WINS, answered=False)
    assert results.rebuild(opened) == 0
    opened.close()
    assert "ended before it had an answer" in page(tmp_path)


def test_a_damaged_answer_is_told(tmp_path: Path) -> None:
    opened = folder(tmp_path, WINS)
    (tmp_path / "tune.json").write_text('{"schema": "strata.tune/1", ')
    with pytest.raises(StrataError, match="the file ends within its JSON"):
        results.rebuild(opened)
    opened.close()
