"""Claims about sums over time beside marking each second, and about intervals whose coverage is known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from strata.centre.use import occupancy
from strata.centre.use.account import Figure, Period, changes
from strata.centre.use.bootstrap import LEAST, draws, interval, quantiles, ratios
from strata.centre.use.occupancy import Steps, calendar, peak, per_bin, sweep

NO = Steps(np.zeros(0), np.zeros(0))


def random_jobs(seed: int, count: int, seconds: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    start = random.integers(0, seconds, count)
    end = np.minimum(start + random.integers(0, 400, count), seconds)
    return start.astype(float), end.astype(float), random.integers(1, 64, count).astype(float)


def marked(start: np.ndarray, end: np.ndarray, weight: np.ndarray, seconds: int) -> np.ndarray:
    marks = np.zeros(seconds)
    for a, b, w in zip(start.astype(int), end.astype(int), weight, strict=True):
        marks[a:b] += w
    return marks


def test_sums_of_bins_are_those_of_each_second() -> None:
    start, end, weight = random_jobs(1, 500, 5000)
    edges = np.array([0.0, 7, 1000, 1001, 3333, 5000])
    marks = marked(start, end, weight, 5000)
    expected = [marks[int(a) : int(b)].sum() for a, b in pairwise(edges)]
    assert list(per_bin(start, end, weight, edges)) == expected
    assert peak(start, end, weight) == marks.max()


@pytest.mark.parametrize("at_once", [64, 1 << 20])
def test_the_sweep_is_exact_with_a_machine_that_grows_and_parts_that_are_down(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(occupancy, "_AT_ONCE", at_once)
    start, end, weight = random_jobs(2, 300, 4000)
    marks = marked(start, end, weight, 4000)
    whole = np.where(np.arange(4000) < 1500, 1000.0, 2000.0)
    down = np.zeros(4000)
    down[100:900] += 0.25
    down[500:700] += 1.0
    down[2000:2600] += 0.5
    edges = np.array([0.0, 1200, 2500, 4000])
    found = sweep(
        start,
        end,
        weight,
        Steps(np.array([0.0, 1500]), np.array([1000.0, 1000])),
        Steps(np.array([100.0, 500, 700, 900, 2000, 2600]), np.array([0.25, 1, -1, -0.25, 0.5, -0.5])),
        edges,
    )
    available = np.maximum(whole * (1 - np.minimum(down, 1)), marks)
    for have, each in ((found.used, marks), (found.whole, whole), (found.available, available)):
        sums = [each[int(a) : int(b)].sum() for a, b in pairwise(edges)]
        assert have == pytest.approx(sums)
    assert found.peak == marks.max() and found.over == (marks > whole).sum()


def test_large_numbers_stay_exact() -> None:
    """Twenty years of a machine of a million processors: days are whole numbers still."""
    day, begin = 86400.0, 1767225600.0
    edges = begin + day * np.arange(7301)
    start = edges[:-1] + 3601
    found = per_bin(start, start + 7, np.full(7300, 1e6), edges)
    assert (found == 7e6).all()


def test_a_calendar_has_local_days_and_cuts() -> None:
    begin = 1767225600.0  # 2026-01-01 in UTC
    days = calendar(begin + 3600, begin + 3 * 86400, "UTC", [begin + 86400 + 60])
    assert list(np.diff(days.edges)) == [82800, 60, 86340, 86400]
    assert days.days == ["2026-01-01", "2026-01-02", "2026-01-02", "2026-01-03"]
    assert days.months == ["2026-01"]
    # Clocks of Beirut go forward at midnight: the day begins at one o'clock and has 23 hours.
    spring = calendar(1774562400.0, 1774562400.0 + 4 * 86400, "Asia/Beirut")
    assert 23 * 3600 in np.diff(spring.edges)


def test_intervals_hold_as_often_as_they_say() -> None:
    """Days with the correlation of 0.6 from one to the next: blocks hold, where single days would not."""
    random = np.random.default_rng(3)
    days, inside = 182, 0
    for k in range(200):
        noise = random.normal(size=days + 50)
        level = np.zeros(days + 50)
        for i in range(1, days + 50):
            level[i] = 0.6 * level[i - 1] + noise[i]
        top = 100 + 10 * level[50:]
        low, high = interval(ratios(draws(days, k), top, np.ones(days)))
        assert low is not None and high is not None
        inside += low <= 100 <= high
    assert 0.85 <= inside / 200 <= 0.99


def test_quantiles_of_drawings_are_about_the_quantile() -> None:
    random = np.random.default_rng(4)
    edges = np.r_[0.0, np.geomspace(1, 1e6, 200)]
    values = random.lognormal(6, 1, (60, 500))
    counts = np.stack([np.histogram(day, edges)[0] for day in values])
    drawn = quantiles(draws(60), counts, edges, 0.5)
    assert np.median(drawn) == pytest.approx(np.median(values), rel=0.05)
    low, high = interval(drawn)
    assert low is not None and high is not None and low < np.exp(6) < high


def test_too_few_days_have_no_interval() -> None:
    assert not draws(LEAST - 1).any and draws(LEAST).any
    assert interval(np.array([np.nan])) == (None, None)
    assert interval(np.array([1.0, 2.0]), 5.0)[1] == 5.0


def test_changes_that_are_none_are_told_rarely() -> None:
    """The 5 % are for all figures together: of 100 pairs of periods that are alike few tell any change."""
    random = np.random.default_rng(7)
    told = 0
    for k in range(100):
        periods = []
        for name, seed in (("before", 2), ("after", 3)):
            drawn = draws(56, 1000 * k + seed)
            days = random.normal(100, 10, (12, 56))
            figures = [
                Figure(str(i), "", "", d.mean(), drawn=ratios(drawn, d, np.ones(56)))
                for i, d in enumerate(days)
            ]
            periods.append(Period(name, 0, 56 * 86400, tuple(figures)))
        told += any(c.told for c in changes(*periods))
    assert told <= 10
