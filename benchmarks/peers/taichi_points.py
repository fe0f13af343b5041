#!/usr/bin/env python3
"""The material point method in Taichi, on its CPU backend: points updated a second, in millions.

    taichi_points.py BLOCK THREADS SECONDS     # the rate
    taichi_points.py BLOCK THREADS exact       # the error against an exact solution

A bar of 2 BLOCK x BLOCK x BLOCK cells, eight points each, quadratic B-splines, APIC, neo-Hookean, doubles;
stress and transfer in one pass (MLS-MPM: Hu et al., ACM Trans. Graph. 37 (2018) 150, section 4). Prints the
rate, once momentum and mass on the grid are what the points have.

`exact`: the bar swings in its first mode, with a Poisson's ratio of 0, for a quarter of a period. With x from
its middle, which rests, and l = BLOCK cells, u = (v0 / w) sin(pi x / 2l) sin(w t), w = pi c / 2l: each half
is the bar of Strata's problem `axial` (Rao, Mechanical Vibrations, 5th ed. 2011, table 8.1). Prints the
root-mean-square error of u at the end, as a share of v0 / w.
"""

import math
import sys
import time

import numpy as np
import taichi as ti

BLOCK, THREADS = int(sys.argv[1]), int(sys.argv[2])
EXACT = sys.argv[3] == "exact"
SECONDS = 0.0 if EXACT else float(sys.argv[3])
ti.init(arch=ti.cpu, default_fp=ti.f64, cpu_max_num_threads=THREADS, log_level=ti.ERROR)

CELLS = (2 * BLOCK + 8, BLOCK + 8, BLOCK + 8)
POINTS = 16 * BLOCK**3
H, DENSITY, YOUNG, POISSON = 0.01, 1000.0, 1e6, 0.0 if EXACT else 0.3
MU, LAMBDA = YOUNG / (2 + 2 * POISSON), YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
VOLUME = H**3 / 8
MASS = DENSITY * VOLUME
SPEED = ((LAMBDA + 2 * MU) / DENSITY) ** 0.5
LENGTH = BLOCK * H  # of half of the bar
QUARTER = LENGTH / SPEED  # of a period
STEPS = math.ceil(QUARTER / (0.3 * H / SPEED))
DT = QUARTER / STEPS if EXACT else 0.3 * H / SPEED
V0 = 1e-3 * SPEED  # strains of a thousandth at most

MIDDLE = (BLOCK + 4) * H
x = ti.Vector.field(3, ti.f64, POINTS)
v = ti.Vector.field(3, ti.f64, POINTS)
C = ti.Matrix.field(3, 3, ti.f64, POINTS)
F = ti.Matrix.field(3, 3, ti.f64, POINTS)
grid = ti.Vector.field(4, ti.f64, CELLS)  # momentum, then velocity; mass


@ti.kernel
def fill():
    for p in x:
        cell, corner = p // 8, p % 8
        k, j, i = cell // (2 * BLOCK * BLOCK), cell // (2 * BLOCK) % BLOCK, cell % (2 * BLOCK)
        at = ti.Vector([i, j, k], ti.f64) + 4.25
        x[p] = H * (at + 0.5 * ti.Vector([corner % 2, corner // 2 % 2, corner // 4], ti.f64))
        v[p] = ti.Vector([0.01 * (x[p][0] / H - BLOCK - 4) / BLOCK, 0.0, 0.0])  # pulled apart, slowly
        F[p] = ti.Matrix.identity(ti.f64, 3)


@ti.kernel
def swing():
    for p in x:
        v[p] = ti.Vector([V0 * ti.sin(0.5 * math.pi * (x[p][0] - MIDDLE) / LENGTH), 0.0, 0.0])


@ti.func
def weights(fx):
    return [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]


@ti.kernel
def clear():
    for c in ti.grouped(grid):
        grid[c] = ti.Vector.zero(ti.f64, 4)


@ti.kernel
def to_grid():
    for p in x:
        base = ti.cast(x[p] / H - 0.5, ti.i32)
        fx = x[p] / H - ti.cast(base, ti.f64)
        w = weights(fx)
        F[p] = (ti.Matrix.identity(ti.f64, 3) + DT * C[p]) @ F[p]
        J = F[p].determinant()
        unit = ti.Matrix.identity(ti.f64, 3)
        tau = MU * (F[p] @ F[p].transpose() - unit) + LAMBDA * ti.log(J) * unit
        affine = MASS * C[p] - DT * VOLUME * 4 / H**2 * tau
        for o in ti.static(ti.grouped(ti.ndrange(3, 3, 3))):
            weight = w[o[0]][0] * w[o[1]][1] * w[o[2]][2]
            way = H * (ti.cast(o, ti.f64) - fx)
            moved = weight * (MASS * v[p] + affine @ way)
            grid[base + o] += ti.Vector([moved[0], moved[1], moved[2], weight * MASS])


@ti.kernel
def on_grid():
    for c in ti.grouped(grid):
        if grid[c][3] > 0:
            for d in ti.static(range(3)):
                grid[c][d] /= grid[c][3]


@ti.kernel
def to_points():
    for p in x:
        base = ti.cast(x[p] / H - 0.5, ti.i32)
        fx = x[p] / H - ti.cast(base, ti.f64)
        w = weights(fx)
        velocity = ti.Vector.zero(ti.f64, 3)
        affine = ti.Matrix.zero(ti.f64, 3, 3)
        for o in ti.static(ti.grouped(ti.ndrange(3, 3, 3))):
            weight = w[o[0]][0] * w[o[1]][1] * w[o[2]][2]
            at = grid[base + o]
            share = weight * ti.Vector([at[0], at[1], at[2]])
            velocity += share
            affine += 4 / H * share.outer_product(ti.cast(o, ti.f64) - fx)
        v[p], C[p] = velocity, affine
        x[p] += DT * velocity


def step() -> None:
    clear()
    to_grid()
    on_grid()
    to_points()


def error() -> float:
    """Of the displacement after a quarter of a period; nobody's rate counts where it is large."""
    fill()
    swing()
    start = x.to_numpy()
    for _ in range(STEPS):
        step()
    amplitude = V0 / (0.5 * math.pi * SPEED / LENGTH)
    wrong = x.to_numpy() - start
    wrong[:, 0] -= amplitude * np.sin(0.5 * math.pi * (start[:, 0] - MIDDLE) / LENGTH)
    return float(np.sqrt((wrong**2).sum(axis=1).mean()) / amplitude)


def main() -> int:
    if EXACT:
        print(error())
        return 0
    fill()
    for _ in range(3):
        step()
    weight = grid.to_numpy()[..., 3].sum()
    drift = abs(v.to_numpy().mean(axis=0)).max()
    if abs(weight / (POINTS * MASS) - 1) > 1e-12 or not drift < 1e-6:
        print(
            f"the bar's mass or momentum is not kept: {weight} of {POINTS * MASS} kg, {drift} m/s",
            file=sys.stderr,
        )
        return 1
    steps, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < SECONDS:
        step()
        ti.sync()
        steps += 1
    print(1e-6 * POINTS * steps / (time.perf_counter() - begin))
    return 0


if __name__ == "__main__":
    sys.exit(main())
