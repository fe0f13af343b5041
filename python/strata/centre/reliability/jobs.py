"""What interrupts cost jobs: the best checkpoint interval, and the node-hours that are lost all the same.

With the mean time between interrupts M, the time delta that a checkpoint takes and R that a restart takes:
Young's interval is sqrt(2 delta M) (J. W. Young, Comm. ACM 17 (1974) 530), Daly's

    tau = sqrt(2 delta M) [1 + (1/3) sqrt(delta / 2M) + (1/9) delta / 2M] - delta    for delta < 2M, else M,

and work that takes T_s by itself then takes T = M exp(R/M) (exp((tau + delta)/M) - 1) T_s / tau (J. T. Daly,
Future Generation Computer Systems 22 (2006) 303, equations 20 and 37).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MINUTES = 60.0


@dataclass(frozen=True)
class Interval:
    """For a job on `parts` parts: MTTI (days), Young's and Daly's intervals (minutes), the share of its time
    that is lost at Daly's.
    """

    parts: int
    mtti: float
    young: float
    daly: float
    lost: float
    lost_part_hours: float  # in a year of such jobs


def interval(parts: int, mtti: float, checkpoint: float, restart: float) -> Interval:
    """`mtti` in days, `checkpoint` and `restart` in minutes."""
    m = mtti * 24 * MINUTES
    young = math.sqrt(2 * checkpoint * m)
    x = checkpoint / (2 * m)
    daly = young * (1 + math.sqrt(x) / 3 + x / 9) - checkpoint if checkpoint < 2 * m else m
    return Interval(
        parts, mtti, young, daly, lost := lost_share(daly, m, checkpoint, restart), lost * parts * 24 * 365.25
    )


def lost_share(tau: float, m: float, checkpoint: float, restart: float) -> float:
    """The share of a job's time that is not work, all in minutes; 1 where it never ends."""
    exponent = (tau + checkpoint) / m
    if exponent > 500:
        return 1.0
    return 1 - 1 / (m * math.exp(min(restart / m, 500)) * math.expm1(exponent) / tau)
