"""Claims about study files and their plans: every mistake is one message with place, given and allowed."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import machine

from strata.advice import panels
from strata.advice.studies import group_of
from strata.errors import StrataError
from strata.measure import plan as plans
from strata.measure import progress, sequential, stats
from strata.measure.plan import Pattern, identity
from strata.measure.runner import find_figures
from strata.paths import PROGRAMS
from strata.study import planner, settings
from strata.study.case import Study, read

GOOD = """
schema = "strata.study/1"
name = "mine"
launches = 12

[[program]]
name = "sleep"
command = "sleep {seconds}"
values = { seconds = [0.01, "0.02"] }
expected_s = 2

[[program]]
name = "rate"
command = "sh -c 'echo rate: 5 {{x}}'"

[[program.figure]]
name = "rate"
pattern = 'rate: ([0-9.]+)'
unit = "1/s"

[[layout]]
name = "pinned"
layouts = ["1x1", "1xN"]

[[layout]]
name = "alone"
options = ["--own-share", "--exclusive"]
programs = ["rate"]
"""
CASES = Path(__file__).resolve().parents[3] / "cases" / "studies"


def study(tmp_path: Path, text: str = GOOD) -> Study:
    path = tmp_path / "study.toml"
    path.write_text(text)
    return read(path)


def made(what: Study, cores: int = 2, refused: dict | None = None, budget: float | None = None, **more):
    facts = machine(cores)
    given = {"programs": PROGRAMS, "seed": 1, **more}
    return planner.build(
        what, facts, identity(facts), "build", refused=refused or {}, budget_s=budget, **given
    )


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        (('name = "sleep"', 'nam = "sleep"'), 7, "did you mean `name`"),
        (("{seconds}", "{second}"), 8, "a placeholder without a value"),
        (("sleep {seconds}", "sleep 1"), 9, "does not use"),
        (("sh -c 'echo", "sh -c echo"), 14, "quotes do not match"),
        (('values = { seconds = [0.01, "0.02"] }', "values = { seconds = [] }"), 9, "{n = [1, 2]}"),
        (("([0-9.]+)", "([0-9.]+"), 18, "not a regular expression"),
        (("([0-9.]+)", "[0-9.]+"), 18, "needs one group"),
        (('unit = "1/s"', 'units = "1/s"'), 19, "did you mean `unit`"),
        (('name = "rate"\ncommand', 'name = "sleep"\ncommand'), 13, "two programs have the same name"),
        (('layouts = ["1x1", "1xN"]', 'layouts = ["1y1"]'), 23, "PxT"),
        (('"--own-share", ', '"--bind=core", '), 27, "not one of a layout"),
        (('programs = ["rate"]', 'programs = ["rates"]'), 28, "no such program"),
        (("launches = 12", "launches = 3"), 4, "an integer >= 6"),
        (("launches = 12", "view = \"pie\""), 4, "table | series | panels | strong | weak | pages | cycles"),
        (("launches = 12", "[limits]\nothers = 1"), 4, "others_share"),
        (("expected_s = 2", 'crowded = "second"'), 10, "true, seconds"),
        (("expected_s = 2", 'crowded = "seconds"'), 10, "not a number of threads"),
        (("expected_s = 2", "crowded = 3"), 10, "true, or the name of a value"),
        (("strata.study/1", "strata.study/9"), 2, "strata.study/1"),
        (("launches = 12", "launches = "), 4, "not TOML"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_file_line_given_and_allowed(
    tmp_path: Path, change: tuple[str, str], line: int, said: str
) -> None:
    assert change[0] in GOOD
    with pytest.raises(StrataError) as caught:
        study(tmp_path, GOOD.replace(*change, 1))
    text = str(caught.value)
    assert re.search(rf"study\.toml:{line}\b", text) and said in text, text


def test_every_combination_of_values_runs_under_every_layout_that_is_meant_for_it(tmp_path: Path) -> None:
    tasks = made(study(tmp_path)).plan.tasks
    assert [t.id for t in tasks] == [
        "sleep-0.01/pinned/1x1",
        "sleep-0.01/pinned/1x2",
        "sleep-0.02/pinned/1x1",
        "sleep-0.02/pinned/1x2",
        "rate/pinned/1x1",
        "rate/pinned/1x2",
        "rate/alone/1x1",
    ]
    assert tasks[0].command == ("sleep", "0.01") and tasks[0].options == ("--own-share",)
    assert tasks[-1].options == ("--own-share", "--exclusive")
    assert tasks[-1].command == ("sh", "-c", "echo rate: 5 {x}")
    assert tasks[1].labels == {
        "program": "sleep",
        "seconds": "0.01",
        "setting": "pinned",
        "layout": "1x2",
    }


CROWDED = """
schema = "strata.study/1"
name = "turns"

[[program]]
name = "team"
command = "true {n}"
values = { n = [2, 4, 16] }
crowded = "n"

[[program]]
name = "always"
command = "true"
crowded = true

[[program]]
name = "never"
command = "true"

[[layout]]
name = "pinned"
layouts = ["1xN"]
"""


def test_more_threads_than_the_layout_s_are_known_for_each_machine(tmp_path: Path) -> None:
    def crowded(cores: int) -> set[str]:
        return {t.id.split("/")[0] for t in made(study(tmp_path, CROWDED), cores).plan.tasks if t.crowded}

    assert crowded(2) == {"team-4", "team-16", "always"}
    assert crowded(8) == {"team-16", "always"}


def test_that_threads_take_turns_is_part_of_the_plan(tmp_path: Path) -> None:
    plan = made(study(tmp_path, CROWDED)).plan
    assert plans.load(plans.dump(plan), tmp_path) == plan
    first = plan.tasks[0]
    assert replace(plan, tasks=(replace(first, crowded=True), *plan.tasks[1:])).hash != plan.hash
    assert "crowded" not in plans.to_dict(plan)["tasks"][0]


def test_a_setting_that_the_launcher_refuses_is_left_out_with_its_reason(tmp_path: Path) -> None:
    what = study(tmp_path)
    alone = next(s for s in settings.settings_of(what, machine(2)) if s.name == "alone")
    found = made(what, refused={alone: "not permitted here"})
    assert not [t for t in found.plan.tasks if "alone" in t.id]
    assert found.unavailable == [{"setting": "alone", "layout": "1x1", "why": "not permitted here"}]
    assert found.notes == ["alone (1x1): not permitted here"]


def test_when_nothing_is_left_the_reasons_are_the_error(tmp_path: Path) -> None:
    what = study(tmp_path)
    every = dict.fromkeys(settings.settings_of(what, machine(2)), "the kernel says no")
    with pytest.raises(StrataError, match="no layout of this study") as caught:
        made(what, refused=every)
    assert caught.value.code == 1 and "the kernel says no" in str(caught.value)


def test_a_budget_takes_launches_away_but_never_those_that_an_interval_needs(tmp_path: Path) -> None:
    what = study(tmp_path)  # 4 x 2 s + 3 x 1 s for one launch of each
    assert made(what).plan.policy.launches == 12
    assert made(what, budget=1000).plan.policy.launches == 12
    assert made(what, budget=100).plan.policy.launches == 8
    assert made(what, budget=5).plan.policy.launches == 6


def test_where_the_budget_is_too_small_the_short_command_runs_and_the_range_stays_whole(
    tmp_path: Path,
) -> None:
    text = GOOD.replace('command = "', 'short = "true {seconds}"\nshort_s = 0.25\ncommand = "', 1)
    assert "short = " in text
    whole, short = made(study(tmp_path, text)), made(study(tmp_path, text), budget=1.0)
    assert not whole.shortened and short.shortened
    words = {t.command[0] for t in short.plan.tasks if t.labels["program"] == short.shortened[0]}
    assert words == {"true"} and all(t.expected_s == 0.25 for t in short.plan.tasks if t.command[0] == "true")


@pytest.mark.parametrize(
    ("count", "order"), [(1, [0]), (2, [0, 1]), (3, [0, 2, 1]), (5, [0, 4, 2, 1, 3]), (0, [])]
)
def test_the_middle_of_a_series_is_left_out_before_its_ends(count: int, order: list[int]) -> None:
    assert planner._from_the_ends(count) == order
    many = planner._from_the_ends(11)
    assert sorted(many) == list(range(11)) and many[:3] == [0, 10, 5]


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    what = study(tmp_path, GOOD.replace("sleep {seconds}", "no-such-program {seconds}"))
    with pytest.raises(StrataError, match="not there") as caught:
        made(what)
    assert "study.toml:8 command" in str(caught.value)


def test_what_was_not_built_is_left_out_and_said(tmp_path: Path) -> None:
    text = GOOD.replace("sleep {seconds}", "{strata-bench-mpi} rings {seconds} --json {result}")
    found = made(study(tmp_path, text), programs=("strata-bench",))
    assert {t.id.split("/")[0] for t in found.plan.tasks} == {"rate"}
    assert any("strata-bench-mpi was not built" in note for note in found.notes)


def test_a_study_s_plan_survives_its_file_and_other_plans_keep_their_hash(tmp_path: Path) -> None:
    plan = made(study(tmp_path)).plan
    assert plans.load(plans.dump(plan), tmp_path) == plan
    task = plan.tasks[0]
    assert replace(plan, tasks=(replace(task, options=()), *plan.tasks[1:])).hash != plan.hash
    plain = plans.Task("x/1x1/core/s1", "x", ("true",), "1x1")
    content = plans.to_dict(replace(plan, tasks=(plain,)))["tasks"][0]
    assert not {"options", "patterns", "labels"} & set(content)


def test_the_last_match_in_the_output_is_the_figure() -> None:
    rate = Pattern("rate", r"^rate: (\S+)$", "1/s", "higher")
    figures, missing = find_figures([rate], "rate: 1\nrate: 2.5\nend")
    assert missing is None
    assert figures == [{"name": "rate", "value": 2.5, "unit": "1/s", "better": "higher"}]
    assert "nothing in its output" in (find_figures([rate], "speed: 1")[1] or "")
    assert "no number" in (find_figures([rate], "rate: fast")[1] or "")
    assert "no number" in (find_figures([rate], "rate: nan")[1] or "")


@pytest.mark.parametrize("path", sorted(CASES.glob("*.toml")), ids=lambda p: p.stem)
@pytest.mark.parametrize("cores", [1, 2, 256])
def test_the_studies_we_ship_are_valid_and_open_with_their_command(path: Path, cores: int) -> None:
    if cores == 1 and path.stem in ("distance", "message-rate", "rings", "stride"):
        with pytest.raises(StrataError, match="no layout of this study is possible here"):
            made(read(path), cores)
        return
    plan = made(read(path), cores).plan
    assert path.read_text().startswith(f"# ./strata study run {path.stem}\n")
    assert read(path).name == path.stem
    # Enough launches to name the best of all settings that are compared, see advice/studies.py.
    groups = Counter(group_of({"labels": task.labels}) for task in plan.tasks)
    if read(path).plots:
        told = [{"labels": t.labels, "layout": t.layout, "stride": t.stride} for t in plan.tasks]
        groups = Counter({"a panel": panels.compared(told, read(path).plots)})
    launches, policy = plan.policy.launches, plan.policy
    if policy.precision is None:
        assert stats.rank_for(launches, stats.simultaneous(max(groups.values()))) is not None
    else:
        level = stats.simultaneous(policy.compared)
        assert sequential.rank_at(launches, policy.most, level) is not None


@pytest.mark.parametrize(("text", "value"), [("90", 90), ("90s", 90), ("5m", 300), ("1.5h", 5400)])
def test_a_budget_is_a_time(text: str, value: float) -> None:
    assert progress.seconds(text) == value


@pytest.mark.parametrize("text", ["", "5x", "-5m", "0", "m"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(StrataError, match="not a time"):
        progress.seconds(text)
