#!/usr/bin/env python3
"""Advection as in this folder's tasks.cpp, with NumPy kernels: the same bits as the native solver.

    strata run solvers/transport/advection.py cases/transport/advection.toml --layout 4x1 --out run

In each process one kernel runs at a time, since it holds Python's lock.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from heat import (
    against_exact,
    declare_clock,
    expect_stable,
    extend_to_walls,
    grid_keys,
    of_directions,
    run_keys,
    shifted,
)

from strata.graph import Graph, Grid, Here, Label, Version
from strata.graph.program import Case, Figure, Finished, Solver, drive

Slices = tuple[slice, slice, slice]


def schema() -> Case:
    """The keys of the native solver's cases that are about advection of a Gaussian."""
    case = Case("transport", "Linear advection on a structured grid, second order, in Python.")
    some = {"entries": (2, 3)}
    case.key("equation", type=str, choices=["advection"], meaning="dT/dt + div(v T) = 0")
    grid_keys(case, "else the borders are walls without a gradient, open to the flow")
    case.key(
        "advection.flow",
        "uniform",
        choices=["uniform", "rotation", "vortex"],
        meaning="uniform: `velocity`; rotation: once; vortex: stretched and back (LeVeque 1996)",
    )
    case.key("advection.velocity", [1.0] * 3, unit="m/s", least=-1e9, most=1e9, **some, meaning="uniform")
    case.key("profile.kind", "gaussian", choices=["gaussian"], meaning="background + exp(-r2/width2)")
    case.key("profile.centre", [0.5, 0.75, 0.5], unit="m", **some, meaning="of the gaussian")
    case.key("profile.width", 0.1, unit="m", least=0, above_least=True, meaning="of the gaussian")
    case.key("profile.background", 1.0, unit="K", meaning="what the profile is added to")
    run_keys(case, cfl=0.5)
    return case


class Advection:
    """The numbers of a case, and plain functions of them. Arrays are [z, y, x]."""

    def __init__(self, case: Case) -> None:
        self.cells, self.patch, self.size = of_directions(case, "advection.velocity", "profile.centre")
        self.periodic, self.flow = case["grid.periodic"], case["advection.flow"]
        self.velocity, self.centre = case["advection.velocity"], case["profile.centre"]
        self.background, self.square_of_width = case["profile.background"], case["profile.width"] ** 2
        self.end, self.cfl = case["time.end"], case["time.cfl"]
        self.directions = range(len(self.cells))
        self.h = [self.size[d] / self.cells[d] for d in self.directions]
        if self.flow != "uniform" and len(self.cells) != 2:
            case.refuse(
                "advection.flow", "rotation and vortex are flows in a plane", "grid.cells with 2 entries"
            )
        self._need_cells(case)
        if case["verify.error"] > 0 and self.flow == "uniform" and not self.periodic:
            case.refuse("verify.error", "no exact solution is known for this case", "0, or periodic borders")

    def _need_cells(self, case: Case) -> None:
        """Refuses a Gaussian that no cell sees: at the middle of the nearest one it is nearly 0."""
        square = 0.0
        for d in self.directions:
            place = self.centre[d] / self.h[d] - 0.5
            nearest = round(place) if self.periodic else min(max(round(place), 0), self.cells[d] - 1)
            square += ((place - nearest) * self.h[d]) ** 2
        if math.exp(-square / self.square_of_width) < 1e-3:
            case.refuse(
                "profile.centre",
                f"no cell sees the gaussian: the nearest middle of one is {math.sqrt(square):.4g} m away, "
                f"and its width is {math.sqrt(self.square_of_width):.4g} m",
                "a centre in the domain, and a width of a cell or more (profile.width)",
            )

    def profile(self, cells: Slices, carried: list[float]) -> np.ndarray:
        """The Gaussian, moved on by `carried`, at the centres of some cells."""
        parts = []
        for d in range(3):
            along = cells[2 - d]
            squares = [0.0] * (along.stop - along.start)
            if d in self.directions:
                squares = [
                    self._square(d, (i + 0.5) * self.h[d] - carried[d])
                    for i in range(along.start, along.stop)
                ]
            parts.append(_along(d, squares))
        # math.exp, as the native solver: NumPy's may differ in the last bit.
        powers = -(parts[0] + parts[1] + parts[2]) / self.square_of_width
        return self.background + np.reshape([math.exp(power) for power in powers.flat], powers.shape)

    def exact(self, cells: Slices) -> np.ndarray:
        """At the end: rotation and vortex bring the profile to where it was."""
        uniform = self.flow == "uniform"
        return self.profile(cells, [self.velocity[d] * self.end if uniform else 0.0 for d in self.directions])

    def _square(self, d: int, x: float) -> float:
        """Of the distance from the centre: from the nearest image where the domain is periodic."""
        away = x - self.centre[d]
        if self.periodic:
            images = away / self.size[d]
            away -= self.size[d] * math.copysign(math.floor(abs(images) + 0.5), images)
        return away * away

    def stream_function(self, x: list[float], y: list[float]) -> np.ndarray:
        """v = (d psi/dy, -d psi/dx). Vortex: LeVeque, SIAM J. Numer. Anal. 33 (1996) 627, eq. 9.5."""
        if self.flow == "rotation":
            dx, dy = ([at - self.size[d] / 2 for at in points] for d, points in enumerate((x, y)))
            return (
                -math.pi / self.end * (_along(0, [at * at for at in dx]) + _along(1, [at * at for at in dy]))
            )
        a, b = (
            _along(d, [math.sin(math.pi * at / self.size[d]) for at in points])
            for d, points in enumerate((x, y))
        )
        return a * a * b * b * self.size[0] / math.pi

    def face_velocity(self, axis: int, faces: Slices) -> np.ndarray:
        """The mean over each face: from the stream function at its ends, so that divergences are zero."""
        if self.flow == "uniform":
            return np.full([part.stop - part.start for part in faces], self.velocity[axis])
        x, y = (
            [
                (i + (0.0 if d == axis else 0.5)) * self.h[d]
                for i in range(faces[2 - d].start, faces[2 - d].stop)
            ]
            for d in (0, 1)
        )
        h = self.h[1 - axis]
        if axis == 0:
            above, below = ([at + side * h / 2 for at in y] for side in (1, -1))
            return (self.stream_function(x, above) - self.stream_function(x, below)) / h
        right, left = ([at + side * h / 2 for at in x] for side in (1, -1))
        return -(self.stream_function(right, y) - self.stream_function(left, y)) / h

    def flow_factor(self, t: float) -> float:
        """The vortex turns back: cos(pi t / end)."""
        return math.cos(math.pi * t / self.end) if self.flow == "vortex" else 1.0

    def change(
        self, T: np.ndarray, inner: Slices, v: list[np.ndarray], faces: list[Slices], dt: float, factor: float
    ) -> np.ndarray:
        """dt div(v T) of the cells `inner`. `faces`: where the lower faces of these cells are in v."""
        sum: np.ndarray | None = None
        for d in self.directions:
            aa, a, b, bb, after = (T[shifted(inner, 2 - d, by)] for by in (-2, -1, 0, 1, 2))
            lower, upper = (factor * v[d][shifted(faces[d], 2 - d, by)] for by in (0, 1))
            term = dt / self.h[d] * (fromm_flux(a, b, bb, after, upper) - fromm_flux(aa, a, b, bb, lower))
            sum = term if sum is None else sum + term
        assert sum is not None
        return sum


def _along(d: int, values: list[float]) -> np.ndarray:
    return np.reshape(values, [-1 if axis == 2 - d else 1 for axis in range(3)])


def fromm_flux(aa: np.ndarray, a: np.ndarray, b: np.ndarray, bb: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Through the face between `a` and `b`: upwind with Fromm's slopes (J. Comput. Phys. 3 (1968) 176)."""
    return v * np.where(v < 0, b - 0.25 * (bb - a), a + 0.25 * (b - aa))


@dataclass(frozen=True)
class Labels:
    """What the tasks make of each other. `v`: the velocities on the faces across each direction."""

    grid: Grid
    T: Label
    T_star: Label
    v: list[Label]
    rate: Label
    dt: Label
    time: Label
    least: Label
    most: Label

    @property
    def velocities(self) -> dict[str, Version]:
        """Of each direction the patch's own faces, and the next ones."""
        directions = range(len(self.v))
        return {f"v{d}": self.v[d].newest(ghosts=[int(a == d) for a in directions]) for d in directions}


def labels_of(graph: Graph, flow: Advection) -> Labels:
    border = 0 if flow.periodic else 2
    grid = graph.grid("grid", flow.cells, flow.patch, [flow.periodic] * len(flow.cells), flow.h)
    return Labels(
        grid,
        T=graph.field("temperature", grid, history=1, border=border, unit="K"),
        T_star=graph.field("temperature, first stage", grid, border=border, unit="K"),
        v=[
            graph.field(f"velocity {'xyz'[d]}", grid, f"faces_{'xyz'[d]}", unit="m/s")
            for d in flow.directions
        ],
        rate=graph.scalar("stable rate", "max", unit="1/s"),
        dt=graph.scalar("dt", unit="s"),
        time=graph.scalar("time", history=1, unit="s"),
        least=graph.scalar("least", "min", unit="K"),
        most=graph.scalar("most", "max", unit="K"),
    )


def declare_start(graph: Graph, flow: Advection, of: Labels) -> None:
    @graph.start(of.grid, makes={"T": of.T})
    def initial_temperature(here: Here) -> None:
        inner = here.inner("T")
        here["T"][inner] = flow.profile(here.cells, [0.0] * len(of.v))
        extend_to_walls(here["T"], inner)

    def set_flow(d: int) -> Callable[[Here], None]:
        def kernel(here: Here) -> None:
            here["v"][:] = flow.face_velocity(d, here.box("v"))

        return kernel

    for d in flow.directions:
        graph.start(of.grid, makes={"v": of.v[d]}, name=f"flow {'xyz'[d]}")(set_flow(d))

    @graph.start(of.grid, needs=of.velocities, contributes={"rate": of.rate})
    def stable_rate(here: Here) -> None:
        sum = np.zeros(1)
        for d in flow.directions:
            at = here.inner(f"v{d}")
            speed = np.abs(here[f"v{d}"])
            sum = sum + np.maximum(speed[at], speed[shifted(at, 2 - d, 1)]) / flow.h[d]
        here["rate"][0] = sum.max()


def declare_stages(graph: Graph, flow: Advection, of: Labels) -> None:
    def stage(here: Here, weight: float, time: float) -> np.ndarray:
        """(1 - weight) T of the step before + weight (T moved on by dt): Shu and Osher, J. Comput. Phys. 77
        (1988) 439, eq. 2.16.
        """
        step, inner = here["dt"][0], here.inner("T")
        names = [f"v{d}" for d in flow.directions]
        change = flow.change(
            here["T"],
            inner,
            [here[name] for name in names],
            [here.inner(name) for name in names],
            step,
            flow.flow_factor(time),
        )
        new = (1 - weight) * here["before"][here.inner("before")] + weight * (here["T"][inner] - change)
        here["next"][here.inner("next")] = new
        extend_to_walls(here["next"], here.inner("next"))
        return new

    both = {"dt": of.dt, "time": of.time.previous(), "before": of.T.previous(), **of.velocities}

    @graph.step(
        of.grid,
        needs={**both, "T": of.T.previous(ghosts=2, corners=False)},
        makes={"next": of.T_star},
        name="advect, first stage",
    )
    def first(here: Here) -> None:
        stage(here, 1.0, here["time"][0])

    @graph.step(
        of.grid,
        needs={**both, "T": of.T_star.newest(ghosts=2, corners=False)},
        makes={"next": of.T},
        contributes={"least": of.least, "most": of.most},
        name="advect, second stage",
    )
    def second(here: Here) -> None:
        new = stage(here, 0.5, here["time"][0] + here["dt"][0])
        expect_stable(here, new, flow.background, flow.cfl)
        here["least"][0], here["most"][0] = new.min(), new.max()


def declare(graph: Graph, case: Case) -> Solver:
    flow = Advection(case)
    graph.in_program_order()
    of = labels_of(graph, flow)
    declare_start(graph, flow, of)
    declare_clock(graph, of.rate, of.dt, of.time, flow.end, flow.cfl)
    declare_stages(graph, flow, of)

    def error(run: Finished) -> float:
        sum = run.sum(of.T, of.grid, lambda cells, values: (values - flow.exact(cells)) ** 2)
        return math.sqrt(sum / math.prod(flow.cells))

    known = flow.flow != "uniform" or flow.periodic
    return Solver(
        time=of.time,
        end=flow.end,
        series=[of.dt, of.least, of.most],
        verify=against_exact(case, error),
        figures=lambda run: [Figure("error", error(run), "K", higher_is_better=False)] if known else [],
    )


if __name__ == "__main__":
    drive(schema(), declare)
