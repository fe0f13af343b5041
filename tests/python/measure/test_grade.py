"""Claims about answers on machines that are never quiet: always an answer, and its grade says how good it
is.
"""

from __future__ import annotations

import math
import random
import time

import pytest
from fakes import Listener, plan, task
from simulated import Machine

from strata.measure import background, grade, stats, taint
from strata.measure.background import Background
from strata.measure.campaign import Campaign
from strata.measure.plan import Plan, Policy
from strata.measure.summary import summarize
from strata.measure.taint import Limits

LIMITS = Limits()


def thirty_two(**policy) -> Plan:
    """As many settings as a quick characterization has, on one and two cores."""
    tasks = tuple(task(f"r{100 + i}", id=f"t{i:02}", layout="1x2" if i % 2 else "1x1") for i in range(32))
    return Plan("characterize", "test", tasks, Policy(**{"seed": 7, **policy}), {"digest": "m"}, "b")


def measured(opened, machine: Machine) -> dict:
    """The summary of a whole campaign on this machine."""
    done = Campaign(
        opened,
        machine,
        Listener(),
        settle=lambda patience: 0.0,
        look=machine.background,
        clock=lambda: machine.now,
    )
    done.run()
    return summarize(opened, [done.standing(t) for t in done.plan.tasks], {}, {})


def both(share: float) -> dict[int, float]:
    return {0: share, 1: share}


def figure(entry: dict) -> dict:
    return entry["figures"][0]


@pytest.mark.parametrize("steal", [0.0, 0.02, 0.05, 0.12])
@pytest.mark.parametrize("where", ["alike", "one core"])
def test_every_setting_is_answered_with_six_launches_and_graded(make_store, steal: float, where: str) -> None:
    machine = Machine(steal=both(steal) if where == "alike" else {0: steal, 1: 0.0})
    whole = measured(make_store(thirty_two(repeats=6, budget_s=255.0)), machine)
    assert all(t["answered"] and figure(t)["n"] >= 6 and figure(t)["low"] is not None for t in whole["tasks"])
    # A steady background is not repeated against: nothing costs much more than its seven launches.
    assert machine.launches <= 1.1 * 7 * 32 and machine.now <= 1.1 * 255.0
    grades = {t["grade"] for t in whole["tasks"]}
    if steal == 0.0:
        assert grades == {"undisturbed"} and whole["background"]["told"] is None
    if steal >= 0.05:
        assert "disturbed" in grades
        told = whole["background"]["told"]
        assert "other users of this machine took" in told and ("of every CPU" in told) == (where == "alike")
        assert ("of CPU 0 (" in told) == (where == "one core")
        assert whole["background"]["local"] == (where == "one core")
        first = next(t for t in whole["tasks"] if t["grade"] == "disturbed")
        assert "other users of this machine took" in first["disturbed_by"][0]
        calm = figure(first)["calm"]
        assert calm["n"] == math.ceil(figure(first)["n"] / 2) and calm["low"] is None


def test_at_five_percent_steal_alike_ninety_percent_agree_with_the_quiet_medians(make_store) -> None:
    """Rates relative to each other agree; the machine itself is slower by what was taken, and the grade says
    so.
    """
    quiet = measured(make_store(thirty_two(), "quiet"), Machine(seed=1, scatter=0.03))
    shared = measured(make_store(thirty_two(), "shared"), Machine(steal=both(0.05), seed=2, scatter=0.03))
    answered = [t for t in shared["tasks"] if t["answered"] and figure(t)["n"] >= 6]
    assert len(answered) >= 30
    agree = 0
    for a, b in zip(quiet["tasks"], shared["tasks"], strict=True):
        x, y = figure(a), figure(b)
        inside = x["low"] <= y["high"] and y["low"] <= x["high"]
        agree += inside or (b["grade"] == "disturbed" and y["median"] < x["median"])
    assert agree >= 0.9 * 32
    marked = [t for t in shared["tasks"] if t["grade"] == "disturbed"]
    assert marked and all(t["disturbed_by"] for t in marked)


def test_a_neighbour_that_comes_later_is_repeated_against_and_then_graded(make_store) -> None:
    machine = Machine(others=both(0.3), since=60.0)
    whole = measured(make_store(plan(["r100", "r200"], repeats=6, launches=6)), machine)
    assert all(t["grade"] == "undisturbed" for t in whole["tasks"])  # it was over before the neighbour came
    machine = Machine(others=both(0.3), since=6.0)
    whole = measured(make_store(plan(["r100", "r200"], repeats=6, launches=6), "later"), machine)
    assert all(t["answered"] and t["grade"] == "disturbed" for t in whole["tasks"])
    assert all(t["launches"] == 12 and figure(t)["n"] == 12 for t in whole["tasks"])
    assert all(figure(t)["calm"]["n"] == 6 and figure(t)["calm"]["low"] is not None for t in whole["tasks"])
    assert whole["background"]["told"] is None


def test_the_background_is_measured_once_and_a_resumed_run_goes_on_with_it(make_store) -> None:
    looked = []

    def run(machine: Machine) -> Campaign:
        opened = make_store(plan(["r100"]))

        def look() -> Background | None:
            looked.append(1)
            return machine.background()

        done = Campaign(
            opened, machine, Listener(), settle=lambda p: 0.0, look=look, clock=lambda: machine.now
        )
        done.run()
        return done

    first = run(Machine(steal=both(0.05)))
    hashed = first.plan.hash
    again = run(Machine(steal=both(0.12)))
    assert len(looked) == 1 and again.plan.hash == hashed
    assert again.background == first.background and again.limits.steal_share > LIMITS.steal_share


def test_on_a_quiet_machine_the_limits_are_those_that_were_fixed(make_store) -> None:
    assert Background({0: 0.005, 1: 0.0}, {0: 0.0, 1: 0.005}, 15.0, 0.2).raised(LIMITS) == LIMITS


def test_strict_keeps_the_fixed_limits_whatever_the_background(make_store) -> None:
    machine = Machine(steal=both(0.12))
    whole = measured(make_store(plan(["r100"], repeats=3, strict=True)), machine)
    (one,) = whole["tasks"]
    assert not one["answered"] and one["grade"] == "none" and one["launches"] == 9
    assert figure(one)["median"] is None


def test_the_least_disturbed_half_is_chosen_by_meters_and_never_by_time(make_store) -> None:
    """The launches with the least steal are the slowest here: a choice by time would take the others."""
    from fakes import ScriptedRunner, record, result

    from strata.measure.runner import Launched

    shares = [0.10, 0.03, 0.11, 0.04, 0.12, 0.05, 0.13]

    def answer(t, n: int) -> Launched:
        share = shares[n % 7]
        cpu = {"own_s": 0.9, "others_s": 0.0, "others_share": 0.0, "steal_s": share, "steal_share": share}
        return Launched(record(cpu=cpu), result(1000.0 * share), None)

    opened = make_store(plan(["a"], repeats=0))
    done = Campaign(opened, ScriptedRunner(answer), Listener(), settle=lambda p: 0.0, look=lambda: None)
    done.run()
    (one,) = summarize(opened, [done.standing(t) for t in done.plan.tasks], {}, {})["tasks"]
    assert one["grade"] == "disturbed" and figure(one)["n"] == 6
    assert figure(one)["calm"] == {"n": 3, "median": 40.0, "low": None, "high": None}


def test_what_has_no_figure_of_its_layout_is_in_no_median(make_store) -> None:
    from fakes import ScriptedRunner, record, result

    from strata.measure.runner import Launched

    def answer(t, n: int) -> Launched:
        return Launched(record(agrees=n != 3), result(1.0 if n == 3 else 10.0), None)

    opened = make_store(plan(["a"], repeats=0))
    done = Campaign(opened, ScriptedRunner(answer), Listener(), settle=lambda p: 0.0, look=lambda: None)
    done.run()
    (one,) = summarize(opened, [done.standing(t) for t in done.plan.tasks], {}, {})["tasks"]
    assert figure(one)["min"] == 10.0 and figure(one)["n"] == 5


def proc_stat(busy: dict[int, float], steal: dict[int, float], since: float) -> str:
    """/proc/stat of CPUs that work and are stolen from at these rates."""
    passed = time.monotonic() - since
    lines = ["cpu  0 0 0 0 0 0 0 0 0 0"]
    for cpu, rate in busy.items():
        worked, stolen = (int(1e4 + 100 * of * passed) for of in (rate, steal[cpu]))
        lines.append(f"cpu{cpu} {worked} 0 0 0 0 0 0 {stolen} 0 0")
    return "\n".join(lines)


def test_the_background_is_read_from_proc_stat_with_all_cores_busy() -> None:
    import os

    cpus = sorted(os.sched_getaffinity(0))[:2]
    since = time.monotonic()
    steal = {cpu: 0.10 * (i + 1) for i, cpu in enumerate(cpus)}
    busy = dict.fromkeys(cpus, 0.5)
    seen = background.measure(set(cpus), 0.6, lambda: proc_stat(busy, steal, since))
    assert seen is not None and set(seen.steal) == set(cpus)
    for cpu in cpus:
        assert seen.steal[cpu] == pytest.approx(steal[cpu], abs=0.05)
    assert all(0.0 <= share <= 0.5 for share in seen.others.values())
    assert Background.from_dict(seen.to_dict()).in_words(LIMITS) is not None


def test_where_proc_stat_is_hidden_there_is_no_background() -> None:
    def hidden() -> str:
        raise PermissionError

    assert background.measure({0}, 0.01, hidden) is None


# -- comparing two settings ------------------------------------------------------------------------------


def test_drift_that_falls_on_whole_blocks_does_not_hide_a_difference() -> None:
    drift = [1.0, 0.7, 1.2, 0.9, 1.1, 0.8]
    a = {k: 10.5 * d for k, d in enumerate(drift)}
    b = {k: 10.0 * d * (1 + 0.002 * (k % 3)) for k, d in enumerate(drift)}
    found = stats.block_ratio(a, b, 10)
    assert found is not None and found.side == 1 and found.low is not None and found.low > 1.03
    alone = stats.estimate(list(a.values())), stats.estimate(list(b.values()))
    assert alone[0].low < alone[1].high, "their own intervals overlap"


def test_fewer_than_six_shared_blocks_carry_no_winner() -> None:
    found = stats.block_ratio({k: 2.0 + 0.01 * k for k in range(5)}, dict.fromkeys(range(9), 1.0))
    assert found is not None and found.side == 0 and found.blocks == 5
    assert stats.block_ratio({1: 1.0}, {2: 1.0}) is None


@pytest.mark.parametrize("shape", ["normal", "log-normal", "two modes"])
@pytest.mark.parametrize("comparisons", [1, 10])
def test_equal_settings_seldom_have_a_winner(shape: str, comparisons: int) -> None:
    """In at most 5 % of families; counted over families so many that chance cannot fail the test (1e-6)."""
    draw = random.Random(3)
    sample = {
        "normal": lambda: draw.gauss(100, 2),
        "log-normal": lambda: 100 * math.exp(draw.gauss(0, 0.05)),
        "two modes": lambda: draw.choice((90.0, 110.0)) + draw.gauss(0, 0.5),
    }[shape]
    families, false = 1500, 0
    for _ in range(families):
        first = {k: sample() for k in range(6)}
        ratios = (
            stats.block_ratio(first, {k: sample() for k in range(6)}, comparisons) for _ in range(comparisons)
        )
        false += any(r is not None and r.side for r in ratios)
    assert false <= families * 0.05 + 5 * math.sqrt(families * 0.05 * 0.95)


def test_students_t_is_that_of_the_tables() -> None:
    known = [(0.95, 1, 12.706), (0.95, 2, 4.303), (0.95, 5, 2.571), (0.99, 5, 4.032), (0.95, 30, 2.042)]
    for level, freedom, t in known:
        assert stats.student(level, freedom) == pytest.approx(t, abs=6e-4)


def test_a_repeat_after_the_last_block_stands_for_the_block_it_repeats() -> None:
    from strata.measure.campaign import ROUNDS_END
    from strata.measure.store import Sample

    def sample(block: int, attempt: int = 0) -> Sample:
        return Sample("a", block, attempt, "", None, None, (), None, {})

    assert grade.blocks([sample(1), sample(3), sample(3, 1), sample(ROUNDS_END, 1)], ROUNDS_END) == [
        1,
        None,
        3,
        2,
    ]


def test_a_meter_that_is_far_over_its_limit_counts_more_than_one_that_is_near() -> None:
    from fakes import record

    near = taint.score(record(), LIMITS, {})
    far = taint.score(record(switches={"involuntary": 600}), LIMITS, {})
    assert near < 1.0 < far
