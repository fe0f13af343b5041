"""What is called a change, and how often that is wrong."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import pytest
from made_results import pairs

from strata.compare.pairs import Pair
from strata.compare.verdicts import HOLM, JOINT, judge, limit, method_for
from strata.measure import multiple_testing

ALIKE = [1.0] * 30


@pytest.mark.parametrize(("launches", "runs", "noise"), [(8, 250, 0.03), (12, 250, 0.2), (6, 120, 0.03)])
def test_among_figures_that_are_all_alike_a_change_is_named_in_at_most_one_of_twenty(
    monkeypatch: pytest.MonkeyPatch, launches: int, runs: int, noise: float
) -> None:
    monkeypatch.setattr(multiple_testing, "step_down", partial(multiple_testing.step_down, permutations=499))
    chance = random.Random(launches)
    wrong = 0
    for _ in range(runs):
        judged = judge(pairs(chance, ALIKE, launches, noise), 0.03)
        assert judged.method == (JOINT if launches == 6 else HOLM)
        wrong += bool(judged.of("improved") or judged.of("regressed"))
    assert wrong / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5


def test_a_tenth_slower_is_found_beside_three_per_cent_of_noise() -> None:
    chance = random.Random(5)
    runs, found, alarms = 200, 0, 0
    for _ in range(runs):
        judged = judge(pairs(chance, [1.1, *ALIKE[1:]], 12, 0.03), 0.03)
        found += judged.verdicts[0].word == "regressed"
        alarms += any(v.word != "unchanged" and v.word != "undecided" for v in judged.verdicts[1:])
    assert found / runs >= 0.9
    assert alarms / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5


def test_worse_by_exactly_the_threshold_is_not_worse_by_more() -> None:
    chance = random.Random(6)
    runs, alarms, regressed = 200, 0, 0
    for _ in range(runs):
        judged = judge(pairs(chance, [1.03] * 10, 12, 0.01), 0.03)
        alarms += any(v.beyond for v in judged.verdicts)
        regressed += len(judged.of("regressed"))
    assert alarms / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5
    assert regressed > 5 * runs  # they did change, and that is said


def test_beyond_means_that_the_whole_interval_is() -> None:
    chance = random.Random(8)
    seen = 0
    for factor in (1.02, 1.04, 1.06, 1.1, 0.9):
        for v in judge(pairs(chance, [factor] * 10, 12, 0.01), 0.03).verdicts:
            assert not v.beyond or v.low > 1.03
            assert v.word != "unchanged" or (v.low >= 0.97 and v.high <= 1.03)
            assert v.word not in ("improved", "regressed") or v.p_family <= 0.05
            seen += v.beyond
    assert seen >= 20


def test_direction_is_the_figure_s_own() -> None:
    (slow,) = pairs(random.Random(1), [1.2], 12, 0.01)
    rate = replace(slow, better="higher")
    assert [judge([p], 0.03).verdicts[0].word for p in (slow, rate)] == ["regressed", "improved"]
    less = replace(rate, before=slow.after, after=slow.before)
    (verdict,) = judge([less], 0.03).verdicts
    assert verdict.word == "regressed" and verdict.beyond and verdict.high < limit("higher", 0.03) == 0.97


def test_both_methods_name_the_change_and_six_launches_of_many_figures_take_the_joint_one() -> None:
    assert method_for([(6, 6)] * 23) == HOLM
    assert method_for([(6, 6)] * 24) == JOINT  # 24 x 2/924 > 0.05
    assert method_for([(7, 7)] * 85) == HOLM
    for launches, expected in ((6, JOINT), (12, HOLM)):
        judged = judge(pairs(random.Random(4), [*ALIKE, 1.3], launches, 0.01), 0.03)
        assert judged.method == expected
        assert judged.verdicts[-1].word == "regressed" and judged.verdicts[-1].beyond


def test_too_few_launches_to_say_gives_about_the_number_that_would() -> None:
    chance = random.Random(9)
    (verdict,) = judge(pairs(chance, [1.03], 8, 0.05), 0.03).verdicts
    assert verdict.word == "undecided" and verdict.launches is not None and verdict.launches > 8
    decided = 0
    for _ in range(60):
        (again,) = judge(pairs(chance, [1.0], 4 * verdict.launches, 0.05), 0.03).verdicts
        decided += again.word != "undecided"
    assert decided >= 30


def test_values_that_never_move_are_unchanged() -> None:
    def still(a: float, b: float) -> Pair:
        return Pair("t", "moves", "", "lower", True, (a,) * 6, (b,) * 6)

    assert [judge([still(v, v)], 0.03).verdicts[0].word for v in (0.0, 5.0)] == ["unchanged"] * 2
    (moved,) = judge([still(5.0, 6.0)], 0.03).verdicts
    assert moved.word == "regressed" and moved.beyond and moved.low == pytest.approx(1.2)
