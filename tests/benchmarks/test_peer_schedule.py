"""The step that benchmarks/peers/flow_zones.py plays on many processors: beside what can be said by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks" / "peers"))

from schedule import Machine, Rates, Work, crews, hilbert, owners_along_curve, step_time

CELLS = 8**3
RATES = Rates(residual=4.0, forward=2.0, backward=3.0, update=1.0, each_byte=0.0, each_task=0.0)


def row(patches: int) -> Work:
    """A zone of cubes of 8 cells each along x."""
    return Work.of_zones([(8 * patches, 8, 8)], np.zeros((1, 3)), (8, 8, 8), [])


def boxes(zones: int) -> Work:
    """Zones of a patch each."""
    centres = 8.0 * np.arange(3 * zones).reshape(zones, 3)
    return Work.of_zones([(8, 8, 8)] * zones, centres, (8, 8, 8), [])


def test_one_core_takes_the_sum_of_all_tasks() -> None:
    step = step_time(row(5), np.zeros(5, dtype=int), RATES, Machine((1,)))
    assert step.seconds == pytest.approx(5 * CELLS * (4 + 2 + 3 + 1))
    assert step.waiting == pytest.approx(0)


@pytest.mark.parametrize("machine", [Machine((1,) * 4), Machine((4,))])
def test_sweeps_of_a_zone_follow_each_other(machine: Machine) -> None:
    """Four patches in a row on four cores: residuals and updates at once, sweeps one after the other."""
    owners = np.arange(4) % len(machine.threads)
    step = step_time(row(4), owners, RATES, machine)
    assert step.seconds == pytest.approx(CELLS * (4 + 4 * 2 + 4 * 3 + 1))
    assert step.waiting == pytest.approx(1 - 4 * 10 / (4 * 25))


def test_sweeps_of_a_zone_that_is_cut_are_shorter() -> None:
    """In two halves of two patches; values go on between them as before."""
    cut = Work.of_zones([(32, 8, 8)], np.zeros((1, 3)), (8, 8, 8), [], sweep=16)
    assert cut.before == [[], [0], [], [2]] and cut.faces == row(4).faces
    step = step_time(cut, np.arange(4), RATES, Machine((1,) * 4))
    assert step.seconds == pytest.approx(CELLS * (4 + 2 * 2 + 2 * 3 + 1))


def test_zones_that_know_nothing_of_each_other_scale() -> None:
    work = boxes(8)
    step = step_time(work, owners_along_curve(work, (1,) * 8), RATES, Machine((1,) * 8))
    assert step.seconds == pytest.approx(CELLS * 10)


def test_what_lies_with_another_process_is_copied_and_takes_a_message() -> None:
    """Two patches on two nodes: 64 cells of the face, 6 numbers of 8 bytes; two layers for the residual."""
    rates = Rates(4.0, 2.0, 3.0, 1.0, each_byte=0.1, each_task=7.0)
    machine = Machine((1, 1), node=1, latency=100.0)
    step = step_time(row(2), np.array([0, 1]), rates, machine)
    copy = 0.1 * 8 * 6 * 64
    # Update, a message, residual, the first sweep of both, a message between, the second, a decision.
    path = CELLS * (1 + 4 + 2 * 2 + 2 * 3) + (2 + 1 + 1) * copy + (2 + 2 + 2) * 7
    assert step.seconds == pytest.approx(path + (1 + 2) * 100 + 2 * 100)
    assert 0 < step.exchange < step.waiting


def test_interpolated_cells_cost_their_receiver() -> None:
    """A common surface of 100 points: two layers of 50 each way."""
    pair = Work.of_zones([(8, 8, 8)] * 2, np.array([[0.0, 0, 0], [4.0, 4, 4]]), (8, 8, 8), [(0, 1, 100)])
    assert [[cells for _, cells in each] for each in pair.received] == [[100], [100]]
    step = step_time(pair, np.array([0, 1]), RATES, Machine((1, 1), donor=5.0))
    assert step.seconds == pytest.approx(CELLS * 10 + 100 * 5.0)


def test_the_curve_goes_from_each_cube_to_one_beside_it() -> None:
    places = np.array(list(np.ndindex(8, 8, 8)))
    along = places[np.argsort(hilbert(places, bits=3))]
    assert (np.abs(np.diff(along, axis=0)).sum(axis=1) == 1).all()


def test_loads_follow_the_threads() -> None:
    team = crews(10, 4)
    assert team == (5, 5)
    assert sorted(crews(508, 16)) == [15] * 4 + [16] * 28
    owners = owners_along_curve(boxes(12), (1, 3))
    assert np.bincount(owners).tolist() == [3, 9]


def test_an_owner_that_is_no_process_is_refused() -> None:
    with pytest.raises(ValueError, match="0 to 0"):
        step_time(row(2), np.array([0, 1]), RATES, Machine((1,)))
