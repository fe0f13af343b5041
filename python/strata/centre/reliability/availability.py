"""Availability with an interval.

Time down is a sum of N outages that come at random with lengths d_i (a compound Poisson process): its
variance is estimated by sum d_i^2, so that ln of the unavailability has the standard error sqrt(sum d_i^2) /
sum d_i.
"""

from __future__ import annotations

import numpy as np


def interval(lengths: np.ndarray, period: float) -> tuple[float, float | None, float]:
    """Availability and its 95 % interval from the lengths of outages, both in days. Without an outage nothing
    says how long one would last: no lower end.
    """
    lengths = lengths[lengths > 0]
    down = float(lengths.sum()) / period
    if not len(lengths):
        return 1.0, None, 1.0
    spread = float(np.exp(1.96 * np.sqrt(np.sum(lengths**2)) / lengths.sum()))
    return 1 - down, max(0.0, 1 - down * spread), 1 - down / spread
