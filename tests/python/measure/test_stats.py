"""Claims about medians and their intervals."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb

import pytest

from strata.advice.samples import Interval, winner
from strata.measure import stats


def exact_coverage(n: int, k: int) -> Fraction:
    """P(k <= number of samples below the median <= n - k), in fractions: written from the definition, not
    from the code.
    """
    return Fraction(sum(comb(n, i) for i in range(k, n - k + 1)), 2**n)


@pytest.mark.parametrize("n", range(2, 41))
def test_coverage_is_the_exact_binomial(n: int) -> None:
    for k in range(1, n // 2 + 1):
        assert stats.coverage(n, k) == pytest.approx(float(exact_coverage(n, k)), abs=1e-15)


@pytest.mark.parametrize("n", range(1, 60))
def test_the_rank_is_the_largest_that_keeps_95_percent(n: int) -> None:
    good = [k for k in range(1, n // 2 + 1) if exact_coverage(n, k) >= Fraction(95, 100)]
    assert stats.rank_for(n) == (max(good) if good else None)


def test_five_launches_cannot_give_an_interval_and_six_can() -> None:
    assert stats.rank_for(5) is None and exact_coverage(5, 1) == Fraction(15, 16)
    assert stats.rank_for(6) == 1 and exact_coverage(6, 1) == Fraction(31, 32)
    assert next(n for n in range(1, 50) if stats.rank_for(n) is not None) == stats.LEAST


def test_ranks_agree_with_the_published_table() -> None:
    # Conover (1999), table A3 / binomial quantiles: ranks of the 95 % interval of a median.
    assert {n: stats.rank_for(n) for n in (8, 9, 12, 15, 20, 25, 30)} == {
        8: 1,
        9: 2,
        12: 3,
        15: 4,
        20: 6,
        25: 8,
        30: 10,
    }


def test_the_interval_of_six_is_minimum_to_maximum() -> None:
    known = stats.estimate([3, 1, 2, 6, 5, 4])
    assert (known.low, known.high, known.median, known.confidence) == (1, 6, 3.5, 0.96875)
    assert known.samples == (3, 1, 2, 6, 5, 4)  # raw, in the order taken


def test_below_six_there_is_a_median_and_no_interval() -> None:
    known = stats.estimate([3, 1, 2, 5, 4])
    assert known.median == 3 and known.low is None and known.high is None and known.confidence is None
    assert known.note == "n=5<6: no interval"
    assert stats.estimate([]).note == "no undisturbed measurement"


def test_a_sample_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError):
        stats.estimate([1.0, float("nan")])


@pytest.mark.parametrize("n", [6, 7, 10, 17])
@pytest.mark.parametrize("shape", ["lognormal", "bimodal", "uniform"])
def test_simulated_coverage_matches_for_skewed_and_bimodal_samples(n: int, shape: str) -> None:
    source = random.Random(f"{n}{shape}")
    draw = {
        "lognormal": lambda: source.lognormvariate(0, 1),
        "bimodal": lambda: source.gauss(0, 1) if source.random() < 0.5 else source.gauss(10, 1),
        "uniform": source.random,
    }[shape]
    true = {"lognormal": 1.0, "bimodal": 5.0, "uniform": 0.5}[shape]
    trials = 4000
    held = 0
    for _ in range(trials):
        known = stats.estimate([draw() for _ in range(n)])
        assert known.low is not None and known.high is not None
        held += known.low <= true <= known.high
    expected = stats.coverage(n, stats.rank_for(n) or 0)
    spread = (expected * (1 - expected) / trials) ** 0.5
    # 4 standard errors each way: fails for a rank off by one, which moves coverage by 8 % or more at these n.
    assert abs(held / trials - expected) < 4 * spread
    assert expected >= 0.95


def known(*values: float) -> Interval:
    """A figure whose launches were not interleaved with others."""
    of = stats.estimate(values)
    return Interval("rate", "GB/s", "higher", of.n, of.median, of.low, of.high)


def test_a_winner_is_named_only_when_intervals_are_apart() -> None:
    fast, slow, between = known(10, 11, 12, 13, 14, 15), known(1, 2, 3, 4, 5, 6), known(5, 6, 7, 8, 9, 10)
    assert winner(fast, slow) == "a"
    assert winner(slow, fast) == "b"
    assert winner(replace(fast, better="lower"), slow) == "b"
    assert winner(slow, between) is None
    assert winner(between, fast) is None  # touching at 10 is not apart


def test_without_an_interval_there_is_no_winner() -> None:
    assert winner(known(10, 11, 12, 13, 14), known(1, 2, 3, 4, 5, 6)) is None


def test_equal_programs_win_falsely_as_rarely_as_documented() -> None:
    # All 924 ways to split 12 ranks into two sets of six: two of them are apart.
    apart = 0
    total = 0
    for mask in product((0, 1), repeat=12):
        if sum(mask) != 6:
            continue
        a = [rank for rank in range(12) if mask[rank]]
        b = [rank for rank in range(12) if not mask[rank]]
        total += 1
        apart += winner(known(*a), known(*b)) is not None
    assert (apart, total) == (2, comb(12, 6))


@pytest.mark.parametrize("n", [1023, 1024, 1025, 4000])
def test_thousands_of_launches_have_an_interval_too(n: int) -> None:
    """Where 2^n is no floating-point number any more."""
    k = stats.rank_for(n)
    assert k is not None and exact_coverage(n, k) >= Fraction(95, 100) > exact_coverage(n, k + 1)
    assert stats.coverage(n, k) == pytest.approx(float(exact_coverage(n, k)), abs=1e-15)
