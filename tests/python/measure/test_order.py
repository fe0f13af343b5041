"""Claims about the order of launches."""

from __future__ import annotations

from itertools import pairwise

from strata.measure.order import block_order

TASKS = [f"t{i}" for i in range(8)]


def test_a_block_holds_every_task_once() -> None:
    assert sorted(block_order(TASKS, 1, 3)) == TASKS


def test_the_order_is_the_same_for_the_same_seed_and_block_whatever_order_tasks_come_in() -> None:
    assert block_order(TASKS, 1, 3) == block_order(TASKS[::-1], 1, 3)


def test_blocks_attempts_and_seeds_are_shuffled_differently() -> None:
    orders = [tuple(block_order(TASKS, s, b, a)) for s in (1, 2) for b in (1, 2, 3) for a in (0, 1)]
    assert len(set(orders)) == len(orders)


def test_every_task_comes_first_about_equally_often() -> None:
    first = [block_order(TASKS, seed, 1)[0] for seed in range(4000)]
    counts = [first.count(t) for t in TASKS]
    # 500 expected, standard deviation 21: five of them.
    assert min(counts) > 395 and max(counts) < 605


def test_every_task_follows_every_other() -> None:
    pairs = {
        pair for block in range(200) for order in [block_order(TASKS, 5, block)] for pair in pairwise(order)
    }
    assert len(pairs) == 8 * 7
