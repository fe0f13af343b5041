"""g(r), displacements, viscosity and profiles on data whose answers are known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.signal import lfilter

from strata.errors import StrataError
from strata.md.displacement import DisplacementSum, diffusion, in_infinite_box
from strata.md.frames import Frame
from strata.md.profile import ProfileSum
from strata.md.radial import RadialSum
from strata.md.viscosity import viscosity

BOX = np.array([9.0, 8.0, 10.0])


def test_an_ideal_gas_has_g_equal_to_1() -> None:
    rng = np.random.default_rng(1)
    total = RadialSum(width=0.1)
    for _ in range(40):  # positions outside the box count as their images inside
        total.add(Frame(rng.uniform(-1, 2, (400, 3)) * BOX, BOX))
    found = total.result()
    away = (found.g - 1)[3:] / found.error[3:]
    assert found.r[-1] == pytest.approx(3.95)
    assert np.abs(found.g[3:] - 1).max() < 0.05
    assert np.sqrt((away**2).mean()) == pytest.approx(1, abs=0.4)  # errors are as large as what is off
    density = 399 / BOX.prod()
    assert found.around[-1] == pytest.approx(density * 4 / 3 * np.pi * 4**3, rel=0.01)


def test_in_a_box_that_shrinks_g_ends_where_the_smallest_does() -> None:
    rng = np.random.default_rng(2)
    total = RadialSum(width=0.1)
    for frame in range(40):
        box = BOX * (1 - 0.004 * frame)
        total.add(Frame(rng.uniform(0, 1, (400, 3)) * box, box))
    found = total.result()
    assert found.r[-1] == pytest.approx(3.25)  # half of 8 * 0.844
    assert np.abs(found.g[10:] - 1).max() < 0.04


def test_a_box_that_changes_moves_no_atom() -> None:
    """Atoms that walk at random in it diffuse as in one that stays."""
    rng = np.random.default_rng(3)
    steps = rng.normal(0, 0.03, (200, 150, 3))
    path = rng.uniform(0, 1, (150, 3)) * BOX + np.cumsum(steps, axis=0)
    changing, still = DisplacementSum(lags=40, total=200), DisplacementSum(lags=40, total=200)
    for frame, at in enumerate(path):
        scale = 1 + 0.1 * np.sin(frame / 7)
        wrapped = np.mod(at, BOX)
        still.add(Frame(wrapped, BOX), float(frame))
        changing.add(Frame(scale * wrapped, scale * BOX), float(frame))
    assert changing.result().msd == pytest.approx(still.result().msd, rel=1e-9)
    assert still.result().msd[1] == pytest.approx(3 * 0.03**2, rel=0.05)


def test_a_lattice_has_its_shells() -> None:
    cells = np.array(list(itertools.product(range(5), repeat=3)))
    basis = np.array([[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]])
    at = (cells[:, None] + basis).reshape(-1, 3) * 1.6
    total = RadialSum(width=0.02)
    total.add(Frame(at + 3.3, np.full(3, 8.0), origin=np.full(3, 1.0)))
    found = total.result()
    near = 1.6 / np.sqrt(2)
    for shell, (distance, neighbours) in enumerate([(1, 12), (2, 6), (3, 24), (4, 12), (5, 24)]):
        r = near * np.sqrt(distance)
        assert found.g[np.abs(found.r - r).argmin()] > 1, shell
        until = np.interp(r + 0.05, found.r + 0.01, found.around)
        before = np.interp(r - 0.05, found.r + 0.01, found.around)
        assert until - before == pytest.approx(neighbours)


def test_unlike_species_have_their_own_g() -> None:
    rng = np.random.default_rng(2)
    a = rng.uniform(0, 1, (200, 3)) * BOX
    b = a + np.array([0.53, 0, 0])  # each b sits beside an a
    names = np.array(["a"] * 200 + ["b"] * 200, dtype=object)
    mixed, alike = RadialSum(0.1, pair=("a", "b")), RadialSum(0.1, pair=("a", "a"))
    for each in (mixed, alike):
        each.add(Frame(np.concatenate([a, b]), BOX, species=names))
    assert mixed.result().peak()[0] == pytest.approx(0.55)
    assert mixed.result().around[6] == pytest.approx(1 + 200 / BOX.prod() * 4 / 3 * np.pi * 0.7**3, abs=0.3)
    assert alike.result().around[6] < 1


def test_g_beyond_half_the_box_or_without_a_box_is_refused() -> None:
    frame = Frame(np.zeros((2, 3)), BOX)
    with pytest.raises(StrataError, match="too far"):
        RadialSum(reach=4.5).add(frame)
    with pytest.raises(StrataError, match="periodic box"):
        RadialSum().add(Frame(np.zeros((2, 3))))


def walk(d: float, steps: int, atoms: int, seed: int) -> np.ndarray:
    """Atoms that diffuse with D = d, a unit of time a step."""
    moves = np.random.default_rng(seed).normal(scale=np.sqrt(2 * d), size=(steps, atoms, 3))
    return np.cumsum(moves, axis=0)


def test_a_random_walk_has_its_diffusion_coefficient_across_the_faces_of_the_box() -> None:
    found = []
    for seed in range(12):
        path = walk(0.05, 500, 40, seed)
        total = DisplacementSum(lags=50, total=len(path))
        for step, at in enumerate(path):
            total.add(Frame(np.mod(at, BOX), BOX), 0.5 * step)
        found.append(diffusion(total.result()))
    exact = 0.1  # a step is half a unit of time
    off = np.array([one.value - exact for one in found])
    errors = np.array([one.error for one in found])
    assert np.mean([one.value for one in found]) == pytest.approx(exact, rel=0.02)
    assert np.sqrt((off**2).mean() / (errors**2).mean()) == pytest.approx(1, abs=0.45)
    assert np.mean([one.power for one in found]) == pytest.approx(1, abs=0.05)
    low, high = zip(*(one.interval() for one in found), strict=True)
    assert sum(a < exact < b for a, b in zip(low, high, strict=True)) >= 9


def test_atoms_that_fly_freely_move_with_the_square_of_time() -> None:
    v = np.random.default_rng(3).normal(size=(50, 3))
    total = DisplacementSum(lags=20, total=100)
    for step in range(100):
        total.add(Frame(np.mod(0.1 * step * v, BOX), BOX), 0.1 * step)
    found = total.result()
    assert found.msd == pytest.approx((v**2).sum(axis=1).mean() * found.t**2)
    assert diffusion(found).power == pytest.approx(2)


def test_species_are_followed_apart() -> None:
    names = np.array(["slow", "fast"] * 30, dtype=object)
    path = walk(1.0, 400, 60, 4) * np.where(names == "fast", 0.3, 0.1)[None, :, None]
    rates = {}
    for kind in ("slow", "fast"):
        total = DisplacementSum(lags=20, total=len(path), species=kind)
        for step, at in enumerate(path):
            total.add(Frame(np.mod(at, BOX), BOX, species=names), step)
        rates[kind] = diffusion(total.result()).value
    assert rates["fast"] / rates["slow"] == pytest.approx(9, rel=0.2)


def test_a_trajectory_that_is_too_short_is_refused() -> None:
    with pytest.raises(StrataError, match="too short"):
        DisplacementSum(lags=50, total=60)


def test_the_correction_for_images_is_that_of_yeh_and_hummer() -> None:
    assert in_infinite_box(0.03, 0.85, 2.0, 10.0) == pytest.approx(0.03 + 2.837297 * 0.85 / (120 * np.pi))


def stresses(rng: np.random.Generator, count: int, tau: float, sigma: float) -> np.ndarray:
    """A pressure tensor around 2 whose traceless part is an Ornstein-Uhlenbeck process in each component."""
    phi = np.exp(-1 / tau)

    def process(scale: float) -> np.ndarray:
        noise = rng.normal(size=count) * np.sqrt(1 - phi**2) * scale
        noise[0] /= np.sqrt(1 - phi**2)
        return lfilter([1], [1, -phi], noise)

    xy, xz, yz, one, other, trace = (process(sigma) for _ in range(6))
    # Two independent directions of the diagonal's traceless part, of the weight that isotropy asks for
    xx, yy = one + other / np.sqrt(3), -one + other / np.sqrt(3)
    zz = -2 * other / np.sqrt(3)
    return np.stack([xx + trace + 2, yy + trace + 2, zz + trace + 2, xy, xz, yz], axis=1)


def test_the_viscosity_of_a_known_process_is_found() -> None:
    rng = np.random.default_rng(8)
    tau, sigma, step = 25.0, 0.3, 0.01
    # The trapezoidal rule of exp(-t / tau) on whole numbers gives 1 / (2 tanh(1 / 2 tau)), not tau.
    exact = sigma**2 / (2 * np.tanh(1 / (2 * tau))) * step * 5.0
    found = [viscosity(stresses(rng, 40000, tau, sigma), step, 5.0) for _ in range(16)]
    mean = np.mean([one.value for one in found])
    assert mean == pytest.approx(exact, rel=0.04)
    off = np.array([one.value - exact for one in found])
    assert np.sqrt((off**2).mean() / np.mean([one.error**2 for one in found])) == pytest.approx(1, abs=0.5)
    assert found[0].correlation[0] == pytest.approx(sigma**2, rel=0.05)


def test_correlations_reach_to_the_longest_time_although_rounding_makes_it_a_step_less() -> None:
    series = stresses(np.random.default_rng(9), 500, 10, 1)
    times = (0.3, 0.6, 0.7, 1.2)  # 0.3 / 0.1 is 2.9999999999999996
    assert [viscosity(series, 0.1, 1.0, longest=t).t[-1] for t in times] == pytest.approx(times)


def test_a_cutoff_of_ones_own_is_taken() -> None:
    series = stresses(np.random.default_rng(9), 5000, 10, 1)
    found = viscosity(series, 0.01, 1.0, cutoff=0.2)
    assert (found.cutoff, found.value) == (pytest.approx(0.2), found.running[20])
    with pytest.raises(StrataError, match="cutoff"):
        viscosity(series, 0.01, 1.0, cutoff=99)
    with pytest.raises(StrataError, match="too short"):
        viscosity(series[:20], 0.01, 1.0)


def test_both_densities_of_a_slab_are_found_wherever_it_drifts() -> None:
    rng = np.random.default_rng(10)
    edge, length, half, thick = 8.0, 40.0, 8.0, 2.0
    z = np.linspace(-length / 2, length / 2, 4001)
    shape = 0.37 - 0.33 * np.tanh(2 * (np.abs(z) - half) / thick)
    share = np.cumsum(shape) / shape.sum()
    count = round(shape.mean() * edge * edge * length)
    total = ProfileSum()
    for frame in range(80):
        at = rng.uniform(0, edge, (count, 3))
        at[:, 2] = np.mod(np.interp(rng.uniform(size=count), share, z) + 0.7 * frame, length)
        total.add(Frame(at, np.array([edge, edge, length])))
    found = total.slab()
    assert found.liquid == pytest.approx(0.70, abs=4 * found.liquid_error)
    assert found.vapour == pytest.approx(0.04, abs=4 * found.vapour_error)
    assert 0 < found.liquid_error < 0.005 and 0 < found.vapour_error < 0.003
    assert (found.half_width, found.thickness) == (pytest.approx(half, 0.01), pytest.approx(thick, 0.1))
