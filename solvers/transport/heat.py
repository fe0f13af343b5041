#!/usr/bin/env python3
"""Heat conduction as in this folder's tasks.cpp, with NumPy kernels: the same bits as the native solver.

    strata run solvers/transport/heat.py cases/transport/heat.toml --layout 4x1 --out run

In each process one kernel runs at a time, since it holds Python's lock.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import numpy as np

from strata.graph import Graph, Here, Label
from strata.graph.program import Case, Figure, Finished, Solver, Verification, drive

Slices = tuple[slice, slice, slice]


def schema() -> Case:
    """The keys of the native solver's cases that are about heat."""
    case = Case("transport", "Heat conduction on a structured grid, second order, in Python.")
    case.key("equation", type=str, choices=["heat"], meaning="dT/dt = kappa lap T")
    grid_keys(case, "else the borders are insulated walls")
    case.key("heat.diffusivity", 1.0, unit="m2/s", least=0, above_least=True, meaning="kappa")
    case.key("profile.kind", "cosines", choices=["cosines"], meaning="background + product of cosines")
    case.key(
        "profile.waves",
        [1] * 3,
        entries=(2, 3),
        least=0,
        most=1000,
        meaning="whole waves (half between walls)",
    )
    case.key("profile.background", 1.0, unit="K", meaning="what the profile is added to")
    run_keys(case, cfl=0.9)
    return case


def grid_keys(case: Case, periodic: str) -> None:
    """The section [grid] of every case of this solver."""
    some = {"entries": (2, 3)}
    case.key("grid.cells", type=list[int], least=4, most=1 << 20, **some, meaning="in each direction")
    case.key(
        "grid.patch",
        [1 << 20, 32, 32],
        least=2,
        most=1 << 20,
        **some,
        meaning="cells of a patch, or the grid's",
    )
    case.key("grid.size", [1.0] * 3, unit="m", least=0, above_least=True, **some, meaning="of the domain")
    case.key("grid.periodic", True, meaning=periodic)


def run_keys(case: Case, cfl: float) -> None:
    """The sections [time] and [verify] of every case of this solver."""
    case.key(
        "time.end",
        type=float,
        unit="s",
        least=0,
        above_least=True,
        restart="end",
        same_with=("advection.flow", ["rotation", "vortex"]),
        meaning="when the run ends",
    )
    case.key("time.cfl", cfl, least=0, most=4, above_least=True, meaning="share of the largest stable step")
    case.key(
        "verify.error",
        0.0,
        unit="K",
        least=0,
        decides=False,
        meaning="largest root-mean-square error against the exact solution; 0: not compared",
    )


def of_directions(case: Case, *lists: str) -> tuple[list[int], list[int], list[float]]:
    """Cells, patch and size of the domain, with an entry for each direction of the grid. `lists`: further
    keys that need as many.
    """
    count = len(case["grid.cells"])
    for key in ("grid.patch", "grid.size", *lists):
        if len(case[key]) < count:
            case.refuse(key, "an entry for each direction of the grid is needed", f"{count} entries")
    return case["grid.cells"], case["grid.patch"][:count], case["grid.size"][:count]


class Heat:
    """The numbers of a case, and plain functions of them."""

    def __init__(self, case: Case) -> None:
        self.cells, self.patch, size = of_directions(case, "profile.waves")
        self.periodic, self.kappa = case["grid.periodic"], case["heat.diffusivity"]
        self.background, self.end, self.cfl = case["profile.background"], case["time.end"], case["time.cfl"]
        self.directions = range(len(self.cells))
        self.h = [size[d] / self.cells[d] for d in self.directions]
        factor = (2 if self.periodic else 1) * math.pi
        self.k = [factor * case["profile.waves"][d] / size[d] for d in self.directions]

    def cosines(self, cells: Slices) -> np.ndarray:
        """The product of cosines at the centres of some cells: [z, y, x]."""
        product = np.ones((1, 1, 1))
        for d in self.directions:
            along = cells[2 - d]
            values = [math.cos(self.k[d] * ((i + 0.5) * self.h[d])) for i in range(along.start, along.stop)]
            product = product * np.reshape(values, [-1 if axis == 2 - d else 1 for axis in range(3)])
        return product

    def exact(self, cells: Slices) -> np.ndarray:
        """At the end."""
        k2 = 0.0
        for k in self.k:
            k2 += k * k
        return self.background + math.exp(-self.kappa * k2 * self.end) * self.cosines(cells)

    def conducted(self, old: np.ndarray, inner: Slices, dt: float) -> np.ndarray:
        """T + kappa dt lap T of the cells `inner`, by central differences."""
        r = [self.kappa * dt / (self.h[d] * self.h[d]) for d in self.directions]
        terms = []
        for d in self.directions:
            below, above = (shifted(inner, 2 - d, by) for by in (-1, 1))
            terms.append(r[d] * (old[below] + old[above]))
        return (1 - 2 * sum(r)) * old[inner] + reduce(np.add, terms)


def shifted(part: Slices, axis: int, by: int) -> Slices:
    moved = list(part)
    moved[axis] = slice(part[axis].start + by, part[axis].stop + by)
    return moved[0], moved[1], moved[2]


def extend_to_walls(values: np.ndarray, inner: Slices) -> None:
    """The layers beyond the domain get the value of the nearest cell: no gradient at the wall."""
    for axis in range(3):
        first, last = inner[axis].start, inner[axis].stop - 1
        for beyond, nearest in (
            (slice(0, first), slice(first, first + 1)),
            (slice(last + 1, values.shape[axis]), slice(last, last + 1)),
        ):
            to, of = list(inner), list(inner)
            to[axis], of[axis] = beyond, nearest
            values[tuple(to)] = values[tuple(of)]


MOST_AWAY = 10.0  # K from the background, as in tasks.cpp: ten times as far as the first values


def expect_stable(here: Here, values: np.ndarray, background: float, cfl: float) -> None:
    """Ends the run where values are no numbers, or farther from the background than steps that are stable
    bring them.
    """
    away = np.abs(values - background)
    if away.max() <= MOST_AWAY:
        return
    k, j, i = np.unravel_index(np.argmax(np.nan_to_num(away, nan=np.inf)), away.shape)
    first = [here.cells[axis].start for axis in range(3)]
    here.fail(
        f"the step is unstable: 'temperature' is {values[k, j, i]:.4g} K in cell "
        f"({first[2] + i}, {first[1] + j}, {first[0] + k}), and the first values were within 1 K of "
        f"{background:g} (allowed: {MOST_AWAY:g} K). Steps are stable up to time.cfl = 1; the case has "
        f"{cfl:g}"
    )


def declare_clock(graph: Graph, rate: Label, dt: Label, time: Label, end: float, cfl: float) -> None:
    """Steps of cfl / rate, the last one to the end."""
    about = "step as a share of the largest stable one"
    share = graph.parameter("cfl", cfl, least=1e-3, most=4, about=about)

    @graph.once(needs={"rate": rate, "before": time.previous()}, makes={"dt": dt, "time": time})
    def advance_clock(here: Here) -> None:
        left = end - here["before"][0]
        wanted = share.value * (1 / here["rate"][0])
        last = left <= wanted * (1 + 1e-6)  # a millionth of a step is no step of its own
        here["dt"][0] = left if last else wanted
        here["time"][0] = end if last else here["before"][0] + wanted


def against_exact(
    case: Case, error: Callable[[Finished], float]
) -> Callable[[Finished], Verification] | None:
    """What makes the result count, where the case says how large its error may be."""
    if not case["verify.error"] > 0:
        return None
    what = "root-mean-square error against the exact solution, in K"
    return lambda run: Verification(what, error(run), case["verify.error"], "verify.error of the case")


def declare(graph: Graph, case: Case) -> Solver:
    heat = Heat(case)
    graph.in_program_order()
    grid = graph.grid("grid", heat.cells, heat.patch, [heat.periodic] * len(heat.cells), heat.h)
    T = graph.field("temperature", grid, history=1, border=0 if heat.periodic else 1, unit="K")
    rate = graph.scalar("stable rate", unit="1/s")
    dt, time = graph.scalar("dt", unit="s"), graph.scalar("time", history=1, unit="s")
    least, most = graph.scalar("least", "min", unit="K"), graph.scalar("most", "max", unit="K")

    @graph.start(grid, makes={"T": T})
    def initial_temperature(here: Here) -> None:
        inner = here.inner("T")
        here["T"][inner] = heat.background + heat.cosines(here.cells)
        extend_to_walls(here["T"], inner)

    @graph.once(at_start=True, makes={"rate": rate})
    def stable_rate(here: Here) -> None:
        here["rate"][0] = 0.0
        for h in heat.h:
            here["rate"][0] += 2 * heat.kappa / (h * h)

    declare_clock(graph, rate, dt, time, heat.end, heat.cfl)

    @graph.step(
        grid,
        needs={"dt": dt, "old": T.previous(ghosts=1, corners=False)},
        makes={"T": T},
        contributes={"least": least, "most": most},
        flops=13,
        bytes=16,
    )
    def conduct(here: Here) -> None:
        old, inner = here["old"], here.inner("old")
        new = heat.conducted(old, inner, here["dt"][0])
        expect_stable(here, new, heat.background, heat.cfl)
        here["T"][here.inner("T")] = new
        extend_to_walls(here["T"], here.inner("T"))
        here["least"][0], here["most"][0] = new.min(), new.max()

    def error(run: Finished) -> float:
        sum = run.sum(T, grid, lambda cells, values: (values - heat.exact(cells)) ** 2)
        return math.sqrt(sum / math.prod(heat.cells))

    return Solver(
        time=time,
        end=heat.end,
        series=[dt, least, most],
        verify=against_exact(case, error),
        figures=lambda run: [Figure("error", error(run), "K", higher_is_better=False)],
    )


if __name__ == "__main__":
    drive(schema(), declare)
