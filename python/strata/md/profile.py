"""Density along one direction, and the two densities of a slab of liquid in its vapour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import curve_fit

from strata.errors import FAILED, StrataError
from strata.md.averages import average
from strata.md.frames import Frame


@dataclass(frozen=True)
class Slab:
    """Densities of both phases, and where the interface is by a fit of tanh. The densities are means over the
    frames away from the interfaces; of a phase that is nowhere wide enough for that, the fit's.
    """

    z: np.ndarray
    density: np.ndarray
    liquid: float
    liquid_error: float
    vapour: float
    vapour_error: float
    half_width: float
    thickness: float

    def curve(self, z: np.ndarray) -> np.ndarray:
        return _shape(np.abs(z), self.liquid, self.vapour, self.half_width, self.thickness)


def _shape(z: np.ndarray, liquid: float, vapour: float, half: float, thick: float) -> np.ndarray:
    return (liquid + vapour) / 2 - (liquid - vapour) / 2 * np.tanh(2 * (z - half) / thick)


class ProfileSum:
    """Takes frames; slab() says the densities. Each frame is first moved so that the dense part is in the
    middle: its place is the phase of the density's first Fourier component.
    """

    def __init__(self, axis: int = 2, bins: int = 200) -> None:
        self.axis, self.bins = axis, bins
        self._profiles: list[np.ndarray] = []
        self._length = 0.0

    def add(self, frame: Frame) -> None:
        """One more frame."""
        if frame.box is None:
            raise StrataError(
                "a profile needs a box",
                given=f"frame {len(self._profiles) + 1} without one",
                allowed="frames with a box (Lattice of extended XYZ, unit cells of DCD)",
            )
        length = float(frame.box[self.axis])
        at = (frame.positions[:, self.axis] - frame.origin[self.axis]) / length
        middle = np.angle(np.exp(2j * np.pi * at).sum()) / (2 * np.pi)
        counted, _ = np.histogram(np.mod(at - middle + 0.5, 1.0), self.bins, (0, 1))
        self._profiles.append(counted * self.bins / float(np.prod(frame.box)))
        self._length += length

    def slab(self, blocks: int = 10) -> Slab:
        """After the last frame."""
        if not self._profiles:
            raise StrataError("a profile of no frames", given="0 frames", allowed="1 or more: add(frame)")
        length = self._length / len(self._profiles)
        z = ((np.arange(self.bins) + 0.5) / self.bins - 0.5) * length
        whole = np.array(self._profiles)
        mean = whole.mean(axis=0)
        *fitted, half, thick = self._fit(z, mean)
        # At these distances from the interface the curve is within 4 of 10,000 of the liquid's density, and
        # within 1 of 1,000 of the vapour's. A fit alone finds the vapour 1 % too thin: its tail is no tanh.
        inside = np.abs(z) < half - 2 * thick, np.abs(z) > half + 2.5 * thick
        parts = np.array_split(whole, min(blocks, len(whole)))
        found, errors = [], []
        for phase, region in enumerate(inside):
            wide = region.sum() * 20 >= self.bins
            values = whole[:, region].mean(axis=1) if wide else None
            each = np.array([self._fit(z, part.mean(axis=0))[phase] for part in parts])
            found.append(float(fitted[phase] if values is None else values.mean()))
            if values is not None and len(values) >= 100:
                errors.append(average(values).error)
            else:
                each = each if values is None else values
                errors.append(float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else np.nan)
        return Slab(z, mean, found[0], errors[0], found[1], errors[1], half, thick)

    @staticmethod
    def _fit(z: np.ndarray, density: np.ndarray) -> tuple[float, float, float, float]:
        high, low = np.percentile(density, [90, 10])
        half = z[-1] * float((density > (high + low) / 2).mean())
        try:
            found, _ = curve_fit(_shape, np.abs(z), density, (high, low, half, z[-1] / 10), maxfev=20000)
        except RuntimeError:
            raise StrataError(
                "no two densities can be told apart",
                given=f"densities from {density.min():g} to {density.max():g} along the axis",
                allowed="a slab of liquid beside its vapour, across the axis that is asked for (--slab)",
                code=FAILED,
            ) from None
        return float(found[0]), float(found[1]), float(found[2]), float(abs(found[3]))
