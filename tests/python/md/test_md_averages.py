"""Averages of correlated series: errors beside those that are known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from strata.errors import StrataError
from strata.md.averages import autocorrelation, average, equilibrated, inefficiency


def ornstein_uhlenbeck(rng: np.random.Generator, count: int, phi: float, mean: float = 0.0) -> np.ndarray:
    """x(n+1) = phi x(n) + noise, stationary from the start, of variance 1."""
    from scipy.signal import lfilter

    noise = rng.normal(size=count) * np.sqrt(1 - phi**2)
    noise[0] /= np.sqrt(1 - phi**2)
    return mean + lfilter([1], [1, -phi], noise)


def exact_error(count: int, phi: float) -> float:
    """Of the mean of so many values of that process."""
    k = np.arange(1, count)
    return float(np.sqrt((1 + 2 * ((1 - k / count) * phi**k).sum()) / count))


@pytest.mark.parametrize("phi", [0.0, 0.9, 0.99])
@pytest.mark.parametrize("count", [1 << 15, 30001])
def test_the_error_of_a_correlated_series_is_the_exact_one(phi: float, count: int) -> None:
    rng = np.random.default_rng(7)
    found = [average(ornstein_uhlenbeck(rng, count, phi, 3.0)) for _ in range(60)]
    exact = exact_error(count, phi)
    ratio = np.sqrt(np.mean([one.error**2 for one in found])) / exact
    assert ratio == pytest.approx(1, abs=0.12)
    assert all(one.settled for one in found)
    covered = np.mean([one.interval()[0] < 3.0 < one.interval()[1] for one in found])
    assert covered >= 0.85  # of 60; 95 % are meant: fewer than 51 with a probability of 0.001


def test_the_naive_error_is_far_off_and_is_not_what_is_said() -> None:
    x = ornstein_uhlenbeck(np.random.default_rng(1), 1 << 16, 0.98)
    found = average(x)
    assert found.error > 7 * x.std() / np.sqrt(len(x))  # exactly: sqrt(1.98 / 0.02) = 9.95 times
    assert found.inefficiency == pytest.approx(1.98 / 0.02, rel=0.4)


def test_a_series_shorter_than_its_correlations_is_said_to_be() -> None:
    rng = np.random.default_rng(2)
    unsettled = [not average(ornstein_uhlenbeck(rng, 1000, 0.9999)).settled for _ in range(10)]
    assert sum(unsettled) >= 8


def test_a_constant_has_no_error() -> None:
    found = average(np.full(100, 2.5))
    assert (found.mean, found.error) == (2.5, 0.0)


def test_a_short_series_and_values_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(StrataError, match="too short"):
        average(np.zeros(5))
    with pytest.raises(StrataError, match="no numbers"):
        average(np.array([1.0] * 10 + [np.nan]))


def test_autocorrelations_are_sums_over_pairs() -> None:
    x = np.random.default_rng(3).normal(size=37)
    y = x - x.mean()
    plain = [np.mean(y[: len(y) - k] * y[k:]) for k in range(len(y))]
    assert autocorrelation(x) == pytest.approx(plain, abs=1e-12)


def test_the_inefficiency_is_the_exact_one() -> None:
    rng = np.random.default_rng(4)
    found = np.mean([inefficiency(ornstein_uhlenbeck(rng, 20000, 0.9)) for _ in range(40)])
    assert found == pytest.approx(1.9 / 0.1, rel=0.06)


@pytest.mark.parametrize("relaxation", [100, 500])
def test_equilibration_ends_when_the_transient_has_gone_below_the_noise(relaxation: int) -> None:
    rng = np.random.default_rng(5)
    t = np.arange(12000)
    found = []
    for _ in range(3):
        x = ornstein_uhlenbeck(rng, len(t), 0.9) + 20 * np.exp(-t / relaxation)
        found.append(equilibrated(x).start)
    # exp(-3) of it is left at three relaxations: as large as the noise
    assert 2 * relaxation < np.median(found) < 10 * relaxation


def test_of_a_stationary_series_little_is_lost() -> None:
    rng = np.random.default_rng(6)
    starts = [equilibrated(ornstein_uhlenbeck(rng, 5000, 0.8)).start for _ in range(8)]
    assert np.median(starts) < 1000
