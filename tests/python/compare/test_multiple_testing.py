"""Many claims at once: the two step-down procedures against what is known and by simulation."""

from __future__ import annotations

import random

import pytest

from strata.measure.multiple_testing import Pair, holm, step_down


def test_holm_gives_the_adjusted_values_of_a_worked_example() -> None:
    # Four claims at 0.01, 0.04, 0.03, 0.005: 4 x 0.005, 3 x 0.01, 2 x 0.03, and 0.04 no less than that.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_one_pair_of_six_and_six_gets_its_exact_permutation_probability() -> None:
    low, high = [1.0, 2, 3, 4, 5, 6], [17.0, 18, 19, 20, 21, 22]
    assert step_down([Pair(low, high)])[0] == pytest.approx(2 / 924, abs=0.0015)
    assert step_down([Pair(low, high)], one_sided=True)[0] == pytest.approx(1 / 924, abs=0.0011)
    assert step_down([Pair(high, low)], one_sided=True)[0] == pytest.approx(1.0, abs=0.001)
    assert step_down([]) == []


def test_a_large_change_is_found_among_many_figures_of_six_launches() -> None:
    chance = random.Random(3)
    same = [
        Pair([chance.gauss(0, 1) for _ in range(6)], [chance.gauss(0, 1) for _ in range(6)], i)
        for i in range(40)
    ]
    changed = Pair(
        [chance.gauss(0, 1) for _ in range(6)], [30 + chance.gauss(0, 1) for _ in range(6)], "changed"
    )
    adjusted = step_down([*same, changed], permutations=1999)
    assert adjusted[-1] < 0.01 < 0.05 < min(adjusted[:-1])


def test_permutations_are_wrong_as_often_as_they_say() -> None:
    chance = random.Random(7)
    runs, wrong = 400, 0
    for _ in range(runs):
        made = [
            Pair([chance.expovariate(1) for _ in range(6)], [chance.expovariate(1) for _ in range(6)], i // 2)
            for i in range(20)
        ]
        wrong += min(step_down(made, permutations=499)) <= 0.05
    assert wrong / runs <= 0.05 + 2.5 * (0.05 * 0.95 / runs) ** 0.5
    assert wrong > 0  # or the level would not be used


def test_samples_without_scatter_are_alike_or_beyond_all_bounds() -> None:
    constant = Pair([0.1 + 0.2] * 6, [0.3] * 6, "alike")
    moved = Pair([1.0] * 6, [1.1] * 6, "moved")
    alike, apart = step_down([constant, moved], permutations=1999)
    assert alike == 1.0
    assert apart < 0.01


def test_the_answer_to_the_same_samples_is_always_the_same() -> None:
    made = [Pair([1.0, 2, 3, 4, 5, 6], [2.0, 3, 4, 5, 6, 7.5], i) for i in range(3)]
    assert step_down(made) == step_down(made)
