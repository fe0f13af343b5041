"""The lift of a rectangular wing in linear theory, by a lattice of horseshoe vortices (J. J. Bertin and M. L.
Smith, Aerodynamics for Engineers, 1979, section 6-5), in subsonic flow by Goethert's rule.
"""

from __future__ import annotations

import math

import numpy as np


def lattice_slope(aspect: float, along: int, across: int) -> float:
    """Of the lift coefficient over radians, of a thin rectangular wing of chord 1 in incompressible flow."""
    half = aspect / 2
    ends = half * np.sin(math.pi / 2 * np.linspace(-1, 1, across + 1))  # closer at the tips
    left, right = (np.tile(each, along) for each in (ends[:-1], ends[1:]))
    front = np.repeat(np.arange(along) / along, across)
    bound, seen = front + 0.25 / along, front + 0.75 / along
    middle = 0.5 * (left + right)

    def trailing(y: np.ndarray) -> np.ndarray:
        """Downwash of a vortex that begins at (bound, y) and goes downstream, with what is bound up to y."""
        dx, dy = seen[:, None] - bound, middle[:, None] - y
        return (1 + np.hypot(dx, dy) / dx) / dy

    downwash = (trailing(left) - trailing(right)) / (4 * math.pi)
    strength = np.linalg.solve(downwash, np.ones(along * across))
    return float(2 * (strength * (right - left)).sum() / aspect)


def plate_slope(aspect: float, mach: float) -> float:
    """Two lattices, whose error falls with the panels' number."""
    beta = math.sqrt(1 - mach**2)
    coarse, fine = lattice_slope(beta * aspect, 4, 24), lattice_slope(beta * aspect, 8, 48)
    return (2 * fine - coarse) / beta


def wing_slope(aspect: float, mach: float, section: float) -> float:
    """Of a wing whose section has the slope `section` by itself in incompressible flow: what is induced adds
    to the angle, and thickness changes the section alone (Prandtl's lifting line).
    """
    beta = math.sqrt(1 - mach**2)
    return 1 / (1 / plate_slope(aspect, mach) + beta / section - beta / (2 * math.pi))
