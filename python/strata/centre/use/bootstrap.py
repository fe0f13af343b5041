"""Intervals of figures of use: days are drawn again, in blocks.

A job's figures are not independent of its neighbours': one long job makes others wait, and jobs come in
batches. Days are nearly so, but for the pattern of a week and for what lasts for days. So blocks of seven
days are drawn (moving blocks: H. R. Kuensch, Annals of Statistics 17 (1989) 1217; joined at the ends: Politis
and Romano 1992), and each figure, a ratio of sums over days or a quantile, is computed anew from each
drawing. With less than four such blocks single days are drawn, with less than seven days there is no
interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DRAWN = 1000
BLOCK = 7
LEAST = 7
_LEVELS = (0.025, 0.975)
Interval = tuple[float | None, float | None]
NONE: Interval = (None, None)


@dataclass(frozen=True)
class Draws:
    """How often each day is in each of DRAWN drawings; no rows for too few days."""

    times: np.ndarray

    @property
    def any(self) -> bool:
        return len(self.times) > 0


def block_of(days: int) -> int:
    """How many days are drawn together."""
    return BLOCK if days >= 4 * BLOCK else 1


def draws(days: int, seed: int = 1) -> Draws:
    if days < LEAST:
        return Draws(np.zeros((0, days), np.float32))
    block = block_of(days)
    random = np.random.default_rng([seed, days])
    blocks = -(-days // block)
    first = random.integers(0, days, (DRAWN, blocks))
    at = (first[:, :, None] + np.arange(block)).reshape(DRAWN, -1)[:, :days] % days
    times = np.zeros((DRAWN, days), np.float32)
    np.add.at(times, (np.arange(DRAWN)[:, None], at), 1)
    return Draws(times)


def ratios(drawn: Draws, top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    """sum(top) / sum(bottom) of each drawing; NaN where that is none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return (drawn.times @ top) / (drawn.times @ bottom)


def quantiles(drawn: Draws, counts: np.ndarray, edges: np.ndarray, q: float) -> np.ndarray:
    """The quantile of each drawing, from a histogram of each day: `counts` has a row for each."""
    sums = np.cumsum(drawn.times @ counts.astype(np.float32), axis=1, dtype=float)
    wanted = q * sums[:, -1]
    place = np.argmax(sums >= np.maximum(wanted, 1e-9)[:, None], axis=1)
    row = np.arange(len(sums))
    before = np.where(place > 0, sums[row, place - 1], 0.0)
    here = sums[row, place] - before
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(here > 0, (wanted - before) / here, 0.0)
    value = edges[place] + part * (edges[place + 1] - edges[place])
    return np.where(sums[:, -1] > 0, value, np.nan)


def interval(values: np.ndarray, around: float | None = None) -> Interval:
    """The middle 95 % of drawings; `around` the figure itself, which no rounding leaves outside."""
    good = values[np.isfinite(values)]
    if not len(good):
        return NONE
    low, high = (float(v) for v in np.quantile(good, _LEVELS))
    return (low, high) if around is None else (min(low, around), max(high, around))
