"""Whether a system becomes more reliable: the Crow-AMSAA model and tests of trend.

Interrupts at times t_1 < ... < t_n in (0, T] are counted by N(t) = lambda t^beta; beta below 1 is growth. For
observation that ends at a time fixed beforehand (L. H. Crow, 1974; MIL-HDBK-189C, 2011, section 5.6; IEC
61164):

    beta = n / sum ln(T / t_i),   2 n beta_true / beta ~ chi2(2n),   MTTI now = T / (n beta).

ln of the present MTTI has the variance 2/n: 1/n from the count, 1/n from beta. Given n, the ln(T / t_i) are
exponential times with the mean 1/beta, so the model's goodness of fit is that of an exponential distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.centre.reliability.fits import LEAST, exponential_fits

_TESTED = 500


@dataclass(frozen=True)
class Growth:
    """`beta` with its 95 % interval; `now` the MTTI at the end of observation (days) with its interval;
    `laplace` the test statistic, normal without a trend and negative with growth; `p_laplace`, `p_189`:
    two-sided probabilities without a trend (Laplace's test; MIL-HDBK-189's); `fits` of the model.
    """

    events: int
    beta: float
    beta_low: float
    beta_high: float
    now: float
    now_low: float
    now_high: float
    laplace: float
    p_laplace: float
    p_189: float
    fits: float

    @property
    def words(self) -> str:
        """What the tests say."""
        if self.p_189 >= 0.05 and self.p_laplace >= 0.05:
            return "no trend"
        side = "interrupts become rarer" if self.beta < 1 else "interrupts become more frequent"
        both = self.p_189 < 0.05 and self.p_laplace < 0.05
        return side if both else f"{side}, by one of two tests"


def growth(starts: np.ndarray, period: float) -> Growth | None:
    """The model of interrupts at `starts` (days of observation) in `period` days; None for too few."""
    from scipy.special import chdtr, gammaincinv, ndtr, ndtri

    times = starts[starts > 0]
    n = len(times)
    if n < LEAST:
        return None
    logs = np.log(period / times)
    beta = n / float(logs.sum())
    low, high = (float(beta * gammaincinv(n, q) / n) for q in (0.025, 0.975))
    now, spread = period / (n * beta), float(np.exp(ndtri(0.975) * np.sqrt(2 / n)))
    laplace = float((times.mean() - period / 2) / (period / np.sqrt(12 * n)))
    tail = float(chdtr(2 * n, 2 * n / beta))
    tested = logs if n <= _TESTED else np.random.default_rng(n).choice(logs, _TESTED, replace=False)
    return Growth(
        n,
        beta,
        low,
        high,
        now,
        now / spread,
        now * spread,
        laplace,
        float(2 * ndtr(-abs(laplace))),
        2 * min(tail, 1 - tail),
        exponential_fits(tested),
    )
