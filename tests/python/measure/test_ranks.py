"""The exact rank test and its interval, against what is known and by simulation."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from strata.measure.ranks import least_p, p_differs, p_lower, ratio


def test_probabilities_are_those_of_counting_all_orders() -> None:
    for n, m in ((1, 1), (2, 3), (4, 4), (3, 6)):
        values = list(range(n + m))
        a = [0.5, *range(2, n + 1)][:n]
        b = [v for v in values if v not in a][:m]
        u = sum(x > y for x in a for y in b)
        orders = list(itertools.combinations(values, n))
        at_most = 0
        for chosen in orders:
            rest = [v for v in values if v not in chosen]
            at_most += sum(x > y for x in chosen for y in rest) <= u
        assert p_lower(a, b) == pytest.approx(at_most / len(orders))


def test_the_clearest_order_of_six_and_six_has_its_tabled_probability() -> None:
    # 1 / C(12, 6): Mann and Whitney's table for n = m = 6, U = 0.
    assert p_lower([1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]) == pytest.approx(1 / 924)
    assert p_lower([7, 8, 9], [1, 2, 3]) == 1.0


def test_ties_speak_against_the_claim() -> None:
    assert p_lower([1, 1, 1], [1, 1, 1]) == 1.0
    assert p_lower([], [1.0]) == 1.0


def test_the_test_is_wrong_as_often_as_it_says() -> None:
    chance = random.Random(1)
    wrong = sum(
        p_lower([chance.expovariate(1) for _ in range(8)], [chance.expovariate(1) for _ in range(8)]) <= 0.05
        for _ in range(4000)
    )
    assert wrong / 4000 == pytest.approx(0.05, abs=0.012)


def test_the_interval_holds_the_ratio_as_often_as_it_says() -> None:
    chance = random.Random(2)
    held = 0
    for _ in range(1500):
        a = [0.8 * chance.lognormvariate(0, 0.1) for _ in range(8)]
        b = [chance.lognormvariate(0, 0.1) for _ in range(8)]
        found = ratio(a, b)
        assert found.low is not None and found.high is not None
        held += found.low <= 0.8 <= found.high
    assert held / 1500 >= 0.94
    assert ratio([1.0], [2.0]).low is None
    assert ratio([1.0], [2.0]).value == pytest.approx(0.5)


def test_large_sets_are_judged_as_by_counting() -> None:
    from strata.measure import ranks

    exact = sum(ranks._counts(80, 90)[:3001]) / math.comb(170, 80)
    assert ranks.EXACT >= 80 * 90
    assert ranks._normal(80, 90).cdf(3000.5) == pytest.approx(exact, rel=0.01)
    chance = random.Random(4)
    a = [chance.lognormvariate(0, 0.1) for _ in range(150)]
    b = [chance.lognormvariate(0, 0.1) for _ in range(150)]
    found = ratio(a, b)
    assert found.low is not None and found.high is not None and found.low < found.value < found.high
    # Inverted: moved to an end of its interval, one side is just not significant, and beyond it is.
    for end, expected in ((found.high * 0.9999, False), (found.high * 1.0001, True)):
        assert (ranks.p_differs([x / end for x in a], b) <= 0.05) is expected


def test_the_least_probability_is_that_of_the_clearest_order() -> None:
    assert least_p(6, 6) == pytest.approx(2 / 924) == pytest.approx(p_differs([1] * 6, [2] * 6))
    assert p_differs([1.0, 2, 3], [1.0, 2, 3]) == 1.0
