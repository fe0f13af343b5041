"""Claims about the loop: how often, in which order, what is repeated, when it gives up, how it resumes."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from fakes import Listener, ScriptedRunner, disturbed, good, plan, record, result

from strata.errors import StrataError
from strata.measure.campaign import Campaign
from strata.measure.plan import Task
from strata.measure.runner import Launched
from strata.measure.signals import Interrupted
from strata.measure.summary import summarize


def campaign(opened, answer, settle=lambda patience: 0.0):
    """A campaign whose clock goes by the launches' walls, on a machine whose background nobody looks at."""
    runner, listener = ScriptedRunner(answer), Listener()
    made = Campaign(opened, runner, listener, settle=settle, look=lambda: None, clock=lambda: runner.now)
    return made, runner, listener


def summary_of(done: Campaign) -> dict:
    return summarize(done.store, [done.standing(t) for t in done.plan.tasks], {}, {})


def test_every_task_gets_one_warm_up_and_six_launches_that_count(make_store) -> None:
    done, runner, _ = campaign(make_store(plan(["a", "b", "c"])), lambda t, n: good())
    done.run()
    assert Counter(runner.order) == {f"{n}/1x1/core/s1": 7 for n in "abc"}
    assert all(f["n"] == 6 for t in summary_of(done)["tasks"] for f in t["figures"])


def test_the_warm_up_value_is_not_in_the_median(make_store) -> None:
    done, _, _ = campaign(make_store(plan(["a"])), lambda t, n: good(1000.0 if n == 0 else 10.0 + n))
    done.run()
    (figure,) = summary_of(done)["tasks"][0]["figures"]
    assert (figure["min"], figure["max"], figure["median"]) == (11.0, 16.0, 13.5)


def test_launches_interleave_in_blocks_and_blocks_differ(make_store) -> None:
    names = [f"t{i}" for i in range(6)]
    done, runner, _ = campaign(make_store(plan(names)), lambda t, n: good())
    done.run()
    blocks = [tuple(runner.order[i : i + 6]) for i in range(0, len(runner.order), 6)]
    assert all(len(set(block)) == 6 for block in blocks)
    assert len(set(blocks)) == len(blocks)


def test_what_takes_turns_on_purpose_is_answered_and_the_same_beside_a_neighbour_is_not(make_store) -> None:
    turns = record(switches={"voluntary": 5, "involuntary": 90_000})
    whole = plan(["a", "b"])
    tasks = (replace(whole.tasks[0], crowded=True), whole.tasks[1])
    answer = Launched(turns, result(1.0), None)
    done, _, _ = campaign(make_store(replace(whole, tasks=tasks)), lambda t, n: answer)
    done.run()
    crowded, other = summary_of(done)["tasks"]
    assert (crowded["undisturbed"], crowded["crowded"], crowded["tainted"]) == (True, True, 0)
    assert (other["grade"], other["reasons"]) == ("disturbed", {"switches": other["launches"]})
    done, _, _ = campaign(make_store(replace(whole, tasks=tasks), "beside"), lambda t, n: disturbed())
    done.run()
    assert not any(task["undisturbed"] for task in summary_of(done)["tasks"])


def test_a_disturbed_launch_is_kept_counted_shown_and_repeated(make_store) -> None:
    done, runner, _ = campaign(
        make_store(plan(["a"])), lambda t, n: disturbed() if n in (2, 3) else good(10.0 + n)
    )
    done.run()
    (task,) = summary_of(done)["tasks"]
    assert runner.order.count("a/1x1/core/s1") == 1 + 6 + 2
    assert (task["launches"], task["tainted"], task["undisturbed"]) == (8, 2, True)
    assert task["reasons"] == {"others": 2, "switches": 2, "pressure": 2}
    assert task["figures"][0]["n"] == 6 and task["figures"][0]["tainted_samples"] == [5.0, 5.0]
    assert 5.0 not in task["figures"][0]["samples"]
    assert len(done.store.samples) == 9


def test_repeats_are_bounded_and_then_a_strict_answer_is_no_undisturbed_measurement(make_store) -> None:
    done, runner, _ = campaign(
        make_store(plan(["a", "b"], repeats=3, strict=True)),
        lambda t, n: disturbed() if t.benchmark == "a" else good(),
    )
    done.run()
    a, b = summary_of(done)["tasks"]
    assert Counter(runner.order) == {"a/1x1/core/s1": 1 + 6 + 3, "b/1x1/core/s1": 7}
    assert a["status"] == "disturbed in 9 of 9 launches" and not a["answered"] and a["grade"] == "none"
    assert a["figures"][0]["n"] == 0 and a["figures"][0]["median"] is None and a["figures"][0]["low"] is None
    assert len(a["figures"][0]["tainted_samples"]) == 9
    assert b["undisturbed"]


def test_fewer_than_six_undisturbed_give_a_median_without_an_interval(make_store) -> None:
    done, _, _ = campaign(
        make_store(plan(["a"], repeats=1, strict=True)),
        lambda t, n: disturbed() if n in (1, 2, 3) else good(10.0 + n),
    )
    done.run()
    (figure,) = summary_of(done)["tasks"][0]["figures"]
    assert figure["n"] == 4 and figure["low"] is None and figure["note"] == "n=4<6: no interval"


def test_before_a_repeat_the_engine_waits_for_quiet_within_its_patience(make_store) -> None:
    asked: list[float] = []

    def settle(patience: float) -> float:
        asked.append(patience)
        return 20.0

    done, _, _ = campaign(
        make_store(plan(["a"], patience_s=50.0)),
        lambda t, n: disturbed() if n in (1, 2, 3, 4, 5) else good(),
        settle,
    )
    done.run()
    assert asked == [50.0, 30.0, 10.0]  # then the patience is used up, and launches go on without waiting


def test_a_command_that_fails_twice_is_not_launched_again(make_store) -> None:
    failed = Launched(record(exit_code=3), None, "exit code 3: no such benchmark")
    done, runner, _ = campaign(
        make_store(plan(["a", "b"])), lambda t, n: failed if t.benchmark == "a" else good()
    )
    done.run()
    assert Counter(runner.order)["a/1x1/core/s1"] == 2
    assert summary_of(done)["tasks"][0]["status"] == "failed: exit code 3: no such benchmark"


def test_a_command_that_hangs_is_given_up_after_two_time_limits(make_store) -> None:
    done, runner, _ = campaign(
        make_store(plan(["a"])), lambda t, n: Launched(record(timed_out=True, wall_s=60.0), None, None)
    )
    done.run()
    assert len(runner.order) == 2 and "time limit" in summary_of(done)["tasks"][0]["status"]


def test_one_failure_among_good_launches_is_repeated_and_counted(make_store) -> None:
    failed = Launched(record(exit_code=1), None, "exit code 1: lost a rank")
    done, _, _ = campaign(make_store(plan(["a"])), lambda t, n: failed if n == 3 else good())
    done.run()
    (task,) = summary_of(done)["tasks"]
    assert task["failed"] == 1 and task["undisturbed"] and task["figures"][0]["n"] == 6


def test_an_unverified_result_has_no_figure(make_store) -> None:
    wrong = {**result(10.0), "verified": False, "figures": []}
    done, _, _ = campaign(
        make_store(plan(["a"])), lambda t, n: Launched(record(exit_code=1), wrong, "verification failed")
    )
    done.run()
    (task,) = summary_of(done)["tasks"]
    assert task["figures"] == [] and "verification failed" in task["status"]


def interrupted_after(count: int):
    launches = 0

    def answer(t: Task, n: int) -> Launched:
        nonlocal launches
        launches += 1
        if launches > count:
            raise Interrupted(2)
        return good(10.0 + n)

    return answer


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 10, 14, 20])
def test_an_interrupted_plan_resumes_and_ends_with_the_same_set(make_store, count: int) -> None:
    whole, runner, _ = campaign(make_store(plan(["a", "b", "c"]), "whole"), lambda t, n: good(10.0))
    whole.run()
    first = make_store(plan(["a", "b", "c"]), "parts")
    begun, before, _ = campaign(first, interrupted_after(count))
    with pytest.raises(Interrupted):
        begun.run()
    first.close()
    again = make_store(plan(["a", "b", "c"], seed=99), "parts")  # the seed it began with is kept
    resumed, after, _ = campaign(again, lambda t, n: good(10.0))
    resumed.run()
    assert before.order[:count] + after.order == runner.order
    assert [(s.task, s.block, s.attempt) for s in again.samples] == [
        (s.task, s.block, s.attempt) for s in whole.store.samples
    ]


def test_a_finished_plan_launches_nothing_more(make_store) -> None:
    first, _, _ = campaign(make_store(plan(["a"])), lambda t, n: good())
    first.run()
    first.store.close()
    again, runner, _ = campaign(make_store(plan(["a"])), lambda t, n: good())
    again.run()
    assert runner.order == []


@pytest.mark.parametrize(
    ("other", "changed"),
    [
        ({"build": "other"}, "binaries"),
        ({"machine": {"digest": "other"}}, "machine"),
    ],
)
def test_another_machine_or_binary_is_not_mixed_in_unless_told(make_store, tmp_path, other, changed) -> None:
    from dataclasses import replace

    from strata.measure import store

    make_store(plan(["a"])).close()
    with pytest.raises(StrataError) as caught:
        make_store(replace(plan(["a"]), **other))
    assert changed in str(caught.value) and "--accept-change" in str(caught.value)
    told = store.resume(tmp_path / "results", replace(plan(["a"]), **other), accept_change=True)
    assert any(e["event"] == "changed" and changed in e["what"] for e in told.events)


def test_an_edited_plan_is_refused(make_store, tmp_path) -> None:
    make_store(plan(["a"])).close()
    path = tmp_path / "results" / "plan.json"
    path.write_text(path.read_text().replace('"others_share": 0.02', '"others_share": 0.9'))
    with pytest.raises(StrataError, match="not as it was written"):
        make_store(plan(["a"]))


@pytest.mark.parametrize(
    "part",
    [
        {"policy": ["abc"]},
        {"policy": 7},
        {"policy": {"limits": []}},
        {"tasks": "ab"},
        {"tasks": [[]]},
        {"kind": []},
    ],
)
def test_a_plan_of_other_values_is_refused_and_passed_over(make_store, tmp_path, part) -> None:
    """It may be a stranger's, among the results where an unfinished measurement is looked for."""
    from strata.measure import store

    make_store(plan(["a"])).close()
    path = tmp_path / "results" / "plan.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | part))
    with pytest.raises(StrataError, match="not as it was written"):
        store.read_plan(path.parent)
    assert store.find_unfinished(tmp_path, plan(["a"]), print) is None


def test_the_clock_is_judged_against_the_warm_up_and_the_reference_is_kept(make_store) -> None:
    def answer(t: Task, n: int) -> Launched:
        slow = n == 3
        return Launched(
            record(clock={"before_ghz": 3.0, "after_ghz": 2.0 if slow else 3.0}), result(10.0), None
        )

    done, _, _ = campaign(make_store(plan(["a", "b"])), answer)
    done.run()
    assert [e["ghz"] for e in done.store.events if e["event"] == "clock"] == [3.0]
    assert [t["reasons"] for t in summary_of(done)["tasks"]] == [{"clock": 1}, {"clock": 1}]


def slow_plan(**policy):
    from dataclasses import replace

    made = plan(["a", "b", "c"], **policy)
    drops = {"a": 0, "b": 1, "c": 2}
    return replace(made, tasks=tuple(replace(t, drop=drops[t.benchmark]) for t in made.tasks))


def test_optional_tasks_are_left_out_in_the_stated_order_until_the_budget_fits(make_store) -> None:
    # Each launch takes 1 s: three warm-ups, then 18; for 16 s one task must go, and it is the one with the
    # largest drop.
    done, runner, listener = campaign(make_store(slow_plan(budget_s=16.0)), lambda t, n: good())
    done.run()
    assert Counter(runner.order) == {"a/1x1/core/s1": 7, "b/1x1/core/s1": 7, "c/1x1/core/s1": 1}
    whole = summary_of(done)
    assert [e["task"] for e in whole["left_out"]] == ["c/1x1/core/s1"] and "budget" in whole["left_out"][0][
        "why"
    ]
    assert "left out, to end within 16 s: c/1x1/core/s1" in listener.said
    assert whole["tasks"][2]["status"].startswith("left out")


def test_where_it_is_is_said_by_settings_and_rounds_and_the_time_left_shrinks(make_store) -> None:
    done, _, listener = campaign(make_store(plan(["a", "b", "c"])), lambda t, n: good())
    done.run()
    said = [f"{step.doing} {step.place}" for step in listener.steps]
    assert said[:4] == [
        "warming up: 1 of 3",
        "warming up: 2 of 3",
        "warming up: 3 of 3",
        "measuring 1 of 3, round 1 of 6",
    ]
    assert said[-1] == "measuring 3 of 3, round 6 of 6"
    left = [step.remaining_s for step in listener.steps]
    assert left == sorted(left, reverse=True) and left[-1] == 1.0, "the last launch takes a second"


def test_a_repeat_is_said_as_one_and_counts_what_is_repeated_alone(make_store) -> None:
    def answer(task: Task, n: int) -> Launched:
        return disturbed() if task.benchmark == "b" and n == 1 else good()

    done, _, listener = campaign(make_store(plan(["a", "b"])), answer)
    done.run()
    said = [f"{step.doing} {step.place}" for step in listener.steps]
    assert said.count("repeating 1 of 1, round 1 of 6") == 1 and sum("repeating" in s for s in said) == 1


def test_never_fewer_than_six_launches_whatever_the_budget(make_store) -> None:
    done, runner, _ = campaign(make_store(slow_plan(budget_s=1.0)), lambda t, n: good())
    done.run()
    assert Counter(runner.order) == {"a/1x1/core/s1": 7}  # the estimates alone said so


def test_launches_beyond_six_go_before_tasks_when_the_budget_is_small(make_store) -> None:
    # 1 s a launch: three to warm up and 3 x 10 would be 33 s; 25 s leave seven launches of each.
    done, runner, listener = campaign(make_store(slow_plan(launches=10, budget_s=25.0)), lambda t, n: good())
    done.run()
    assert set(Counter(runner.order).values()) == {1 + 7}
    assert any("launches of each setting instead of 10, to end within 25 s" in text for text in listener.said)
    assert not summary_of(done)["left_out"]


def test_a_budget_is_kept_to_a_tenth_also_when_launches_get_slower(make_store) -> None:
    slow = [1.0]

    def slower(task: Task, n: int) -> Launched:
        slow[0] = min(2.0, slow[0] * 1.02)
        return Launched(record(wall_s=slow[0]), result(10.0), None)

    names = [f"t{i}" for i in range(12)]
    done, runner, _ = campaign(make_store(plan(names, budget_s=84.0)), slower)
    done.run()
    assert runner.now <= 1.1 * 84.0
    assert len(summary_of(done)["left_out"]) < 12


def test_when_the_time_is_up_disturbed_launches_are_not_repeated_any_more(make_store) -> None:
    short = plan(["a", "b"], budget_s=18.0, repeats=12, strict=True)
    done, runner, listener = campaign(make_store(short), lambda t, n: disturbed())
    done.run()
    counts = Counter(runner.order)
    assert all(7 <= counts[t.id] < 1 + 6 + 12 for t in short.tasks)
    assert sum(counts.values()) == 18
    assert any("not repeated any more" in text for text in listener.said)
    assert summary_of(done)["tasks"][0]["status"].endswith("the time was up")

    again, resumed, _ = campaign(make_store(short), lambda t, n: good())
    again.run()
    assert resumed.order and all(t["undisturbed"] for t in summary_of(again)["tasks"])


def test_the_remaining_time_goes_down_to_one_launch(make_store) -> None:
    done, _, listener = campaign(make_store(plan(["a", "b"])), lambda t, n: good())
    done.run()
    assert listener.remaining[-1] == pytest.approx(1.0)
    assert listener.remaining[2:] == sorted(listener.remaining[2:], reverse=True)


def test_curves_and_matrices_become_medians_with_intervals(make_store) -> None:
    done, _, _ = campaign(make_store(plan(["a"])), lambda t, n: good(10.0 + n))
    done.run()
    (task,) = summary_of(done)["tasks"]
    assert task["curves"][0]["points"] == [[1024, 13.5, 11.0, 16.0], [2048, 27.0, 22.0, 32.0]]
    assert task["matrices"][0]["values"] == [[None, 13.5], [13.5, None]]
    assert task["matrices"][0]["low"] == [[None, 11.0], [11.0, None]]


def _noisy(scale: float):
    """An answer whose values lie within +-scale of 10, different in every launch."""
    return lambda t, n: good(10.0 * (1 + scale * (((n * 0.618034) % 1.0) - 0.5) * 2))


def test_a_task_ends_when_its_interval_is_narrow_enough_and_others_go_on(make_store) -> None:
    steady, noisy = _noisy(0.001), _noisy(0.3)
    done, _, _ = campaign(
        make_store(plan(["a", "b"], precision=0.02, most=30)),
        lambda t, n: steady(t, n) if t.benchmark == "a" else noisy(t, n),
    )
    done.run()
    a, b = (t["figures"][0] for t in summary_of(done)["tasks"])
    assert a["n"] == 8  # the first look that has an interval, of 30
    assert b["n"] == 30 and b["low"] is not None
    assert summary_of(done)["policy"]["precision"] == 0.02


def test_an_interrupted_run_with_precision_goes_on_where_it_was(make_store) -> None:
    opened = make_store(plan(["a"], precision=0.02, most=30))
    done, runner, _ = campaign(opened, _noisy(0.02))
    done.run()
    again, other, _ = campaign(opened, _noisy(0.02))
    again.run()
    assert runner.order and not other.order


def test_precision_is_given_up_when_the_time_is_over_but_never_six_launches(make_store) -> None:
    done, _, listener = campaign(
        make_store(plan(["a"], precision=1e-9, most=500, budget_s=1e-6)), _noisy(0.2)
    )
    done.run()
    (task,) = summary_of(done)["tasks"]
    assert task["undisturbed"] and task["figures"][0]["n"] == 6
    assert any("stay less precise" in text for text in listener.said)
