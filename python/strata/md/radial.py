"""The radial distribution function g(r), added up frame by frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from strata.errors import StrataError
from strata.md.averages import steps_within
from strata.md.frames import Frame

_AROUND = 500  # neighbours up to the default reach


@dataclass(frozen=True)
class Radial:
    """g at the middles r of shells, its standard error from blocks of frames, and how many atoms there are on
    average around one, up to the end of each shell.
    """

    r: np.ndarray
    g: np.ndarray
    error: np.ndarray
    around: np.ndarray
    frames: int

    def peak(self) -> tuple[float, float]:
        """Place and height of the highest shell."""
        at = int(self.g.argmax())
        return float(self.r[at]), float(self.g[at])


class RadialSum:
    """Takes frames; result() says g(r). Shells are `width` wide, up to `reach`: by default as far as
    some hundred neighbours are, and at most to half the shortest edge of the first frame's box. With `pair`
    the distances from one species to the other.

    Pairs of a species with itself are compared with N (N - 1) / V, so that the ideal gas has g = 1.
    """

    def __init__(
        self, width: float | None = None, reach: float | None = None, pair: tuple[str, str] | None = None
    ) -> None:
        self.width, self.reach, self.pair = width, reach, pair
        self._g: list[np.ndarray] = []
        self._around: list[np.ndarray] = []
        self._edges = np.zeros(0)
        self._half = np.inf  # of the smallest box

    def add(self, frame: Frame) -> None:
        """One more frame."""
        if frame.box is None or not all(frame.periodic):
            raise StrataError(
                "g(r) needs a periodic box",
                given="a frame with open boundaries",
                remedy="an open system has no density to compare with",
            )
        half = float(frame.box.min()) / 2
        self._half = min(self._half, half)
        if not len(self._edges):
            near = (3 * _AROUND * float(np.prod(frame.box)) / (4 * np.pi * max(1, len(frame)))) ** (1 / 3)
            reach = min(half, near) if self.reach is None else self.reach
            if not 0 < reach <= half * (1 + 1e-12):
                raise StrataError(
                    "g(r) is asked for too far",
                    at="reach",
                    given=f"{reach:g}",
                    allowed=f"above 0, up to half the box, {half:g}",
                )
            width = reach / 200 if self.width is None else self.width
            if not 0 < width <= reach:
                raise StrataError(
                    "not a width of shells",
                    at="width",
                    given=f"{width:g}",
                    allowed=f"above 0, up to {reach:g}",
                )
            self._edges = np.arange(0, steps_within(reach, width) + 1) * width
        one, other = self.pair or (None, None)
        a, b = (self._tree(frame, kind) for kind in (one, other))
        same = one == other
        within = a.count_neighbors(b, np.minimum(self._edges, np.nextafter(half, 0))).astype(float)
        if same:
            within -= a.n  # each atom with itself
        volume = float(np.prod(frame.box))
        expected = a.n * (b.n - same) / volume
        if expected <= 0:
            of = "atoms" if self.pair is None else " and ".join(self.pair)
            raise StrataError(
                "g(r) needs two atoms", given=f"{a.n} and {b.n} of {of}", allowed="1 pair or more"
            )
        shells = 4 / 3 * np.pi * np.diff(self._edges**3)
        self._g.append(np.diff(within) / (expected * shells))
        self._around.append(within[1:] / a.n)

    @staticmethod
    def _tree(frame: Frame, kind: str | None) -> cKDTree:
        assert frame.box is not None
        at = np.mod(frame.of(kind) - frame.origin, frame.box)
        at[at >= frame.box] = 0  # what mod has rounded up
        return cKDTree(at, boxsize=frame.box)

    def result(self, blocks: int = 10) -> Radial:
        """After the last frame. The error is that of the mean over blocks of consecutive frames."""
        if not self._g:
            raise StrataError("g(r) of no frames", given="0 frames", allowed="1 or more: add(frame)")
        # A box that has shrunk knows less.
        known = int((self._edges[1:] <= self._half * (1 + 1e-12)).sum())
        g = np.array(self._g)[:, :known]
        means = np.array([part.mean(axis=0) for part in np.array_split(g, min(blocks, len(g)))])
        error = np.full(g.shape[1], np.nan)
        if len(means) > 1:
            error = means.std(axis=0, ddof=1) / np.sqrt(len(means))
        middles = ((self._edges[1:] + self._edges[:-1]) / 2)[:known]
        return Radial(middles, g.mean(axis=0), error, np.mean(self._around, axis=0)[:known], len(g))
