"""Linear theories of the lift of a section that pitches about its quarter chord, each by its own equations.

Lift coefficients over the amplitude of the angle, as complex amplitudes; k = omega c / 2 U.
"""

from __future__ import annotations

import math

import numpy as np

# -- A plate in incompressible flow


def bessel(order: int, x: float) -> tuple[float, float]:
    """J and Y of order 0 or 1, by their integrals (Abramowitz and Stegun 9.1.22)."""
    angle = (np.arange(4000) + 0.5) * math.pi / 4000
    t = (np.arange(20000) + 0.5) * 12.0 / 20000
    j = np.mean(np.cos(order * angle - x * np.sin(angle)))
    y = np.mean(np.sin(x * np.sin(angle) - order * angle))
    tail = (np.exp(order * t) + (-1) ** order * np.exp(-order * t)) * np.exp(-x * np.sinh(t))
    return float(j), float(y - tail.sum() * 12.0 / 20000 / math.pi)


def hankel(order: int, x: float) -> complex:
    """Of the second kind."""
    j, y = bessel(order, x)
    return j - 1j * y


def theodorsen(k: float) -> complex:
    """C(k) = H1 / (H1 + i H0), Hankel functions of the second kind (Theodorsen, NACA Report 496, 1935)."""
    return hankel(1, k) / (hankel(1, k) + 1j * hankel(0, k))


def lift_of_plate(k: float) -> complex:
    """Circulation, and the mass of air that goes with the plate (Theodorsen's a = -1/2)."""
    return 2 * math.pi * (theodorsen(k) * (1 + 1j * k) + 0.5 * (1j * k - 0.5 * k**2))


# -- A plate in subsonic flow


def small_hankel(order: int, x: np.ndarray) -> np.ndarray:
    """Of the second kind, for 0 < x < 1 (Abramowitz and Stegun 9.1.10, 9.1.11)."""
    j, y = np.zeros_like(x), np.zeros_like(x)
    harmonic = 0.0
    for m in range(8):
        term = (-1) ** m * (x / 2) ** (2 * m + order) / (math.factorial(m) * math.factorial(m + order))
        j += term
        y -= term * (2 * harmonic + (1 / (m + 1) if order else 0))
        harmonic += 1 / (m + 1)
    y += 2 * (np.log(x / 2) + np.euler_gamma) * j
    if order:
        y -= 2 / x
    return j - 1j * y / math.pi


def possio_kernel(x: np.ndarray, k: float, mach: float) -> np.ndarray:
    """What a lift of rho U^2 at 0 does to the upwash over U at x, in half chords (Possio, L'Aerotecnica 18
    (1938) 441; as in Bisplinghoff, Ashley and Halfman, Aeroelasticity, 1955, section 6-4).
    """
    beta = math.sqrt(1 - mach**2)
    s = k * x / beta**2
    direct = 1j * mach * np.sign(s) * small_hankel(1, mach * abs(s)) - small_hankel(0, mach * abs(s))
    # The integral of exp(i u) H0(M |u|) from 0 to s, with u = s t^3, so that its logarithm does no harm.
    t = (np.arange(400) + 0.5) / 400
    u = s[:, None] * t**3
    wake = np.mean(np.exp(1j * u) * small_hankel(0, mach * abs(u)) * 3 * t**2, axis=1) * s
    wake = 2 / (math.pi * beta) * math.log((1 + beta) / mach) + wake
    return k / (4 * beta) * (np.exp(1j * mach**2 * s) * direct + 1j * beta**2 * np.exp(-1j * k * x) * wake)


def lift_of_plate_in_subsonic_flow(k: float, mach: float, panels: int = 80) -> complex:
    """Possio's equation with the lift of each panel at its quarter and the upwash at its third quarter."""
    h = 2 / panels
    apart = np.arange(1 - panels, panels)
    by_distance = possio_kernel(h * (apart + 0.5), k, mach)
    n = np.arange(panels)
    upwash = -(1 + 1j * k * (-1 + h * (n + 0.75) + 0.5))
    return complex(np.linalg.solve(by_distance[n[:, None] - n + panels - 1], upwash).sum())


# -- A thick section in incompressible flow


def section(thickness: float, panels: int) -> np.ndarray:
    """Nodes of a symmetric NACA four-digit section with a closed tail, against the clock from there."""
    angle = np.linspace(0, 2 * math.pi, panels + 1)
    x = 0.5 * (1 + np.cos(angle))
    y = 5 * thickness * (0.2969 * np.sqrt(x) - 0.126 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    y[[0, -1]] = 0
    return np.stack([x, np.where(angle <= math.pi, y, -y)], axis=1)


def influence(at: np.ndarray, begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integrals over panels of log(r) / 2 pi, and of its derivative along the normal to their right."""
    length = np.hypot(*(end - begin).T)
    t = (end - begin) / length[:, None]
    rx, ry = at[:, None, 0] - begin[:, 0], at[:, None, 1] - begin[:, 1]
    x, y = rx * t[:, 0] + ry * t[:, 1], rx * t[:, 1] - ry * t[:, 0]
    y = np.where(abs(y) < 1e-13, 0, y)
    angle = np.where(y == 0, 0, np.arctan2(y, x - length) - np.arctan2(y, x))
    logs = 0.5 * x * np.log(x**2 + y**2) - 0.5 * (x - length) * np.log((x - length) ** 2 + y**2)
    return (logs - length + y * angle) / (2 * math.pi), -angle / (2 * math.pi)


def lift_by_panels(thickness: float, k: float, panels: int, pivot: float = 0.25) -> complex:
    """A small pitch beside the steady potential flow, by Green's formula with constant panels. The wake goes
    along the chord's line with the steady flow's speed there; the potential's step at the tail is its
    strength there (Kutta and Joukowski).
    """
    nodes = section(thickness, panels)
    begin, end = nodes[:-1], nodes[1:]
    middle, length = 0.5 * (begin + end), np.hypot(*(end - begin).T)
    t = (end - begin) / length[:, None]
    normal = np.stack([t[:, 1], -t[:, 0]], axis=1)
    source, dipole = influence(middle, begin, end)
    matrix = 0.5 * np.eye(panels) + dipole
    along = np.cumsum(length) - 0.5 * length
    steady = np.linalg.solve(matrix, source @ -normal[:, 0])
    speed = t[:, 0] + np.gradient(steady, along)

    omega = 2 * k
    ends, step = [1.0], length[0]
    while ends[-1] < 1 + 60 * math.pi / omega:
        ends.append(ends[-1] + step)
        step = min(1.05 * step, 0.25)
    x = np.array(ends)
    wake = np.stack([x, np.zeros_like(x)], axis=1)
    _, on_wake = influence(middle, wake[1:], wake[:-1])  # the normal is up
    centre, half = 0.5 * (wake[1:] + wake[:-1]), 0.02 * np.diff(x)
    potentials = []
    for sign in (1, -1):
        s, d = influence(centre + sign * half[:, None] * np.array([1.0, 0.0]), begin, end)
        potentials.append(s @ -normal[:, 0] - d @ steady)
    passes = np.diff(x) / (1 + (potentials[0] - potentials[1]) / (2 * half))
    since = np.cumsum(passes) - 0.5 * passes
    share = np.clip((centre[:, 0] - 1) / (x[-1] - 1), 0, 1)
    fades = np.where(share > 0.5, 0.5 * (1 + np.cos(math.pi * (2 * share - 1))), 1)

    # The flow that the section sees beside the steady one, nose up: the stream's turn less its own speed.
    rate = 1j * omega
    seen = np.stack([-rate * middle[:, 1], 1 + rate * (middle[:, 0] - pivot)], axis=1)
    unsteady = matrix.astype(complex)
    strength = on_wake @ (fades * np.exp(-1j * omega * since))
    unsteady[:, 0] += strength  # the potential above the tail less that below
    unsteady[:, -1] -= strength
    potential = np.linalg.solve(unsteady, source @ -(normal * seen).sum(1))
    tangential = np.gradient(potential, along) + (t * seen).sum(1)
    pressure = -1j * omega * potential - speed * tangential + seen[:, 0]
    return complex(-2 * (pressure * normal[:, 1] * length).sum())


def lift_of_section(thickness: float, k: float) -> complex:
    """From 200 and 400 panels, which are of first order."""
    return 2 * lift_by_panels(thickness, k, 400) - lift_by_panels(thickness, k, 200)
