"""Claims about intervals that may be looked at after every launch: they hold at all looks at once."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from strata.measure import sequential, stats
from strata.measure.stats import estimate


@pytest.mark.parametrize("most", [6, 7, 10, 12])
def test_no_look_misses_more_often_than_was_allowed_by_counting_every_path(most: int) -> None:
    ranks = sequential.ranks(most)
    missed = 0
    for coins in product((0, 1), repeat=most):
        below = 0
        for n, coin in enumerate(coins, start=1):
            below += coin
            k = ranks[n]
            if k is not None and (below < k or n - below < k):
                missed += 1
                break
    assert 0 < missed / 2**most <= 0.05


def test_with_one_look_it_is_the_ordinary_interval() -> None:
    assert sequential.rank_at(6, 6) == stats.rank_for(6) == 1


@pytest.mark.parametrize("most", [8, 24, 60, 200])
def test_it_is_never_narrower_than_the_ordinary_interval_and_hardly_wider_at_the_end(most: int) -> None:
    ranks = sequential.ranks(most)
    for n in range(1, most + 1):
        assert (ranks[n] or 0) <= (stats.rank_for(n) or 0)
    last = ranks[most]
    assert last is not None and last >= (stats.rank_for(most) or 0) - max(1, most // 50)


def _run(draw, most: int, target: float) -> tuple[bool, bool]:
    """Whether the true median 1 was missed by the interval at which a run stopped, sequential and plain."""
    outcome = []
    for sequentially in (True, False):
        values: list[float] = []
        missed = False
        generator = random.Random(draw)
        for _ in range(most):
            # two modes, as timings have: the median of the whole is 1
            values.append(1.0 + generator.choice((-0.02, 0.03)) * generator.random() * 2)
            known = estimate(values, most=most if sequentially else None)
            # the worst of all rules: to stop when the interval is apart from the truth
            missed = known.low is not None and not known.low <= 1.0 <= known.high
            if missed or (known.half_width is not None and known.half_width < target):
                break
        outcome.append(missed)
    return outcome[0], outcome[1]


def test_stopping_when_one_likes_what_one_sees_does_not_break_it_and_does_break_the_plain_one() -> None:
    runs = [_run(seed, 40, 0.001) for seed in range(600)]
    sequentially, plainly = (sum(r[i] for r in runs) / len(runs) for i in (0, 1))
    assert sequentially <= 0.05 + 3 * (0.05 * 0.95 / len(runs)) ** 0.5
    assert plainly > 0.08


def test_a_best_of_many_that_were_stopped_early_is_false_in_at_most_five_of_a_hundred() -> None:
    """k settings, all alike, each measured until its own interval is narrow, the best then named where its
    interval at 1 - 0.05/k is apart from every other's: what the studies do.
    """
    rng = np.random.default_rng(20261121)
    settings, most, runs, false = 5, 24, 800, 0
    for _ in range(runs):
        intervals = []
        for _ in range(settings):
            values = list(np.exp(0.05 * rng.standard_normal(most)))
            n = 8
            while n < most:
                half = estimate(values[:n], most=most).half_width
                if half is not None and half < 0.03:
                    break
                n += 1
            intervals.append(estimate(values[:n], 1 - 0.05 / settings, most))
        known = sorted((e for e in intervals if e.low is not None), key=lambda e: e.median)
        false += len(known) > 1 and all(known[0].high < other.low for other in known[1:])
    assert false / runs <= 0.05
