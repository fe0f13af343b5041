"""Claims about the statistics: published examples, SciPy's own fits, and samples whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest

from strata.centre.reliability import availability, fits, jobs
from strata.centre.reliability.account import mtti
from strata.centre.reliability.growth import growth
from strata.centre.reliability.parts import part_law
from strata.centre.reliability.uptimes import Times

# Lieblein and Zelen's ball bearings: revolutions in millions. J. F. Lawless, Statistical Models and Methods
# for Lifetime Data, 2nd ed., example 5.2.2: shape 2.10, scale 81.9.
BEARINGS = [
    17.88,
    28.92,
    33.0,
    41.52,
    42.12,
    45.6,
    48.48,
    51.84,
    51.96,
    54.12,
    55.56,
    67.8,
    68.64,
    68.64,
    68.88,
    84.12,
    93.12,
    98.64,
    105.12,
    105.84,
    127.92,
    128.04,
    173.4,
]


def test_the_weibull_fit_of_the_ball_bearings() -> None:
    times = np.array(BEARINGS)
    shape = fits._shape(np.log(times), len(times))
    scale = np.mean(times**shape) ** (1 / shape)
    assert (shape, scale) == pytest.approx((2.10, 81.9), rel=3e-3)


def test_the_censored_fit_is_scipys() -> None:
    from scipy.stats import CensoredData, weibull_min

    random = np.random.default_rng(3)
    gaps = 10 * random.weibull(0.7, size=40)
    still = np.array([25.0, 3.0, 11.0])
    found = fits.fit(Times("any", gaps, still))
    assert found is not None
    shape, _, scale = weibull_min.fit(CensoredData(uncensored=gaps, right=still), floc=0)
    assert (found.shape, found.scale) == pytest.approx((shape, scale), rel=1e-4)
    assert found.mean == pytest.approx((gaps.sum() + 39.0) / 40)
    assert (found.of, found.times, found.censored) == ("any", 40, 3)


def test_intervals_of_the_shape_hold_it_as_often_as_they_say() -> None:
    random = np.random.default_rng(7)
    held = 0
    for _ in range(300):
        logs = np.log(random.weibull(0.8, size=25))
        shape = fits._shape(logs, 25)
        low, high = fits._interval(shape, fits._likelihood(shape, logs, 25), logs, 25)
        held += low <= 0.8 <= high
    assert 0.90 <= held / 300 <= 0.985  # 95 %, within four standard errors


def test_goodness_of_fit_refuses_what_does_not_fit_and_little_else() -> None:
    random = np.random.default_rng(11)
    refused = [fits.exponential_fits(random.exponential(size=30)) < 0.05 for _ in range(100)]
    assert 0 < sum(refused) <= 14  # 5 expected
    clusters = np.where(random.random(200) < 0.5, 0.01, 30.0) * random.exponential(size=200)
    assert fits.exponential_fits(clusters) < 0.01
    assert fits._weibull_fits(clusters) < 0.05
    assert fits._weibull_fits(5 * random.weibull(0.6, size=200)) > 0.05


def test_growth_by_the_formulas_of_the_handbook() -> None:
    # 22 failures of a system under development in 620 hours, of a text on Crow's model: beta 0.6142.
    times = [
        2.7,
        10.3,
        12.5,
        30.6,
        57.0,
        61.3,
        80.0,
        109.5,
        125.0,
        128.6,
        143.8,
        167.9,
        229.2,
        296.7,
        320.6,
        328.2,
        366.2,
        396.7,
        421.1,
        438.2,
        501.2,
        620.0,
    ]
    found = growth(np.array(times), 620.0)
    assert found is not None
    assert found.beta == pytest.approx(0.6142, abs=5e-5)
    assert found.now == pytest.approx(620 / (22 * 0.6142), rel=1e-4)
    assert found.beta_low < 0.6142 < found.beta_high < 1
    assert found.laplace == pytest.approx((np.mean(times) - 310) / (620 / np.sqrt(12 * 22)))
    assert "rarer" in found.words


def test_no_trend_is_seen_where_there_is_none() -> None:
    random = np.random.default_rng(13)
    found = [growth(np.sort(random.uniform(0, 500, 40)), 500.0) for _ in range(200)]
    refused = [one is not None and one.p_189 < 0.05 for one in found]
    assert 1 <= sum(refused) <= 22  # 10 expected


def test_the_interval_of_an_mtti_without_events_has_no_upper_end() -> None:
    assert mtti(100.0, 0) == (None, pytest.approx(100 / 3.689, rel=1e-3), None)  # Garwood: 3.689 of none


def test_part_count() -> None:
    law = part_law([8, 64, 512], [10, 80, 640], [100.0, 100.0, 100.0])
    assert law is not None and law.exponent == pytest.approx(1.0) and law.low < 1 < law.high
    assert law.mtti(1024)[0] == pytest.approx(100 / 1280)
    assert law.dispersion == pytest.approx(0.0, abs=1e-9)
    wild = part_law([8, 64, 512], [10, 400, 640], [100.0, 100.0, 100.0])
    assert wild is not None and wild.dispersion > 50 and wild.low < 0 < wild.high
    assert part_law([8, 64], [1, 2], [1.0, 1.0]) is None
    assert part_law([8, 8, 8], [1, 2, 3], [1.0, 1.0, 1.0]) is None


def test_dalys_interval_loses_least() -> None:
    for m in (60.0, 600.0, 10000.0):  # minutes
        found = jobs.interval(512, m / 1440, 5.0, 10.0)
        best = min(jobs.lost_share(tau, m, 5.0, 10.0) for tau in np.geomspace(1, 20 * m, 4000))
        assert found.lost == pytest.approx(best, rel=2e-3)
        assert found.young == pytest.approx(np.sqrt(10 * m))
    assert jobs.interval(1, 5.0 / 1440 / 2, 5.0, 10.0).daly == pytest.approx(
        2.5
    )  # delta is 2 M: the MTTI itself


def test_lost_time_is_what_a_simulation_loses() -> None:
    random = np.random.default_rng(17)
    m, tau, checkpoint, restart = 300.0, 50.0, 5.0, 10.0
    segments, total = 4000, 0.0
    for _ in range(segments):
        while (failure := random.exponential(m)) < tau + checkpoint:
            total += failure
            while (again := random.exponential(m)) < restart:  # a restart may fail, too
                total += again
            total += restart
        total += tau + checkpoint
    lost = 1 - segments * tau / total
    assert jobs.lost_share(tau, m, checkpoint, restart) == pytest.approx(lost, abs=0.01)


def test_availability_and_how_often_its_interval_holds() -> None:
    assert availability.interval(np.zeros(0), 100.0) == (1.0, None, 1.0)
    random, held = np.random.default_rng(19), 0
    for _ in range(400):
        lengths = random.exponential(0.1, size=random.poisson(60))
        value, low, high = availability.interval(lengths, 300.0)
        assert low is not None and value == pytest.approx(1 - lengths.sum() / 300)
        held += low <= 1 - 60 * 0.1 / 300 <= high
    assert 0.91 <= held / 400 <= 0.985
