"""Mean squared displacement and the diffusion coefficient (Einstein), added up frame by frame."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from scipy import stats

from strata.errors import StrataError
from strata.md.frames import Frame

ORIGINS = 32  # frames that are kept as origins at one time
BLOCKS = 8  # groups of consecutive origins, whose spread is the error
FEWEST_BLOCKS = 3


@dataclass(frozen=True)
class Displacement:
    """<|r(t) - r(0)|^2> at times t, with standard errors; `blocks` has it for each group of origins."""

    t: np.ndarray
    msd: np.ndarray
    error: np.ndarray
    blocks: np.ndarray


@dataclass(frozen=True)
class Diffusion:
    """D from the slope between two times, with its standard error. `power`: d log(msd) / d log(t) there,
    which is 1 where atoms diffuse.
    """

    value: float
    error: float
    begin: float
    end: float
    power: float
    blocks: int

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        half = self.error * float(stats.t.ppf((1 + confidence) / 2, max(1, self.blocks - 1)))
        return self.value - half, self.value + half


class DisplacementSum:
    """Takes frames that are equally far apart in time; result() says the mean squared displacement up to
    a lag of `lags` frames.

    An atom may move by less than half the box between two frames: it is followed across the box's faces.
    Where the box changes, so does the measure: displacements are those in the first frame's box, without what
    the box itself does. Some frames are origins, at most ORIGINS of them in memory. `total`: how many frames
    will come.
    """

    def __init__(self, lags: int, total: int, species: str | None = None) -> None:
        if lags < 2 or total < 2 * lags:
            raise StrataError(
                "the trajectory is too short for this lag", given=f"{total} frames, {lags} lags",
                allowed="2 lags or more, and twice as many frames",
            )  # fmt: skip
        self.lags, self.species = lags, species
        self._every = -(-lags // ORIGINS)
        self._span = max(1, -(-(total - lags) // BLOCKS))
        self._sums = np.zeros((BLOCKS, lags + 1))
        self._counts = np.zeros((BLOCKS, lags + 1), dtype=int)
        self._origins: deque[tuple[int, np.ndarray]] = deque()
        self._at: np.ndarray | None = None  # followed across the box's faces
        self._wrapped: np.ndarray | None = None
        self._box: np.ndarray | None = None  # of the first frame
        self._number = 0
        self._times: list[float] = []

    def add(self, frame: Frame, time: float) -> None:
        """The next frame."""
        now = frame.of(self.species)
        box = frame.box
        if box is not None:
            self._box = box if self._box is None else self._box
            now, box = now * (self._box / box), self._box
        if self._at is None or self._wrapped is None:
            self._at = now.copy()
        else:
            if now.shape != self._at.shape:
                raise StrataError(
                    "the number of atoms changes between frames",
                    given=f"{len(self._at)} and {len(now)}",
                    allowed="the same atoms in all frames",
                )
            move = now - self._wrapped
            if box is not None:
                around = np.where(frame.periodic, box, np.inf)
                move -= np.where(np.isfinite(around), box, 0) * np.rint(move / around)
            self._at = self._at + move
        self._wrapped = now
        if len(self._times) <= self.lags:
            self._times.append(time)
        if self._number % self._every == 0 and self._number // self._span < BLOCKS:
            self._origins.append((self._number, self._at))
        while self._origins and self._number - self._origins[0][0] > self.lags:
            self._origins.popleft()
        for begin, before in self._origins:
            block, lag = begin // self._span, self._number - begin
            away = self._at - before
            self._sums[block, lag] += np.einsum("ij,ij->", away, away) / max(1, len(away))
            self._counts[block, lag] += 1
        self._number += 1

    def result(self) -> Displacement:
        """After the last frame."""
        whole = (self._counts > 0).all(axis=1)
        if whole.sum() < FEWEST_BLOCKS:
            raise StrataError(
                "the trajectory is too short for an error",
                given=f"{self._number} frames, {self.lags} lags",
                allowed="more frames (trajectory.steps of the case), or fewer lags",
            )
        blocks = self._sums[whole] / self._counts[whole]
        msd = self._sums[whole].sum(axis=0) / self._counts[whole].sum(axis=0)
        error = blocks.std(axis=0, ddof=1) / np.sqrt(len(blocks))
        times = np.array(self._times) - self._times[0]
        return Displacement(times, msd, error, blocks)


def diffusion(found: Displacement, begin: float | None = None, end: float | None = None) -> Diffusion:
    """D = slope / 6 between two lags; by default the last three quarters of all lags. Each group of origins
    gives a slope; the error is that of their mean.
    """
    begin = found.t[-1] / 4 if begin is None else begin
    end = found.t[-1] if end is None else end
    inside = (found.t >= begin * (1 - 1e-9)) & (found.t <= end * (1 + 1e-9)) & (found.t > 0)
    if inside.sum() < 2:
        raise StrataError(
            "no slope can be found there",
            given=f"{begin:g} to {end:g}",
            allowed=f"two lags at least, up to {found.t[-1]:g}",
        )
    t = found.t[inside]
    slopes = np.polyfit(t, found.blocks[:, inside].T, 1)[0] / 6
    moved = found.msd[inside]
    power = np.polyfit(np.log(t), np.log(moved), 1)[0] if (moved > 0).all() else 0.0
    return Diffusion(
        float(np.polyfit(t, moved, 1)[0] / 6),
        float(slopes.std(ddof=1) / np.sqrt(len(slopes))),
        float(begin),
        float(end),
        float(power),
        len(slopes),
    )


def in_infinite_box(
    d: float, temperature: float, viscosity: float, edge: float, boltzmann: float = 1.0
) -> float:
    """D without the drag of a periodic cube's images: D + 2.837297 k T / (6 pi eta L). I.-C. Yeh and
    G. Hummer, J. Phys. Chem. B 108, 15873 (2004), equation (12); all in one system of units.
    """
    return d + 2.837297 * boltzmann * temperature / (6 * np.pi * viscosity * edge)
