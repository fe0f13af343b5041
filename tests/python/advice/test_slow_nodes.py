"""Claims about slow nodes and slow pairs of nodes, on matrices made for them."""

from __future__ import annotations

import random

import pytest

from strata.advice.nodes import Outliers, outliers, slow_nodes


def matrix(nodes: int, usual: float = 1.5, scatter: float = 0.05, seed: int = 1) -> list[list[float | None]]:
    """Symmetric, with values within some scatter of the usual one."""
    draw = random.Random(seed)
    values: list[list[float | None]] = [[None] * nodes for _ in range(nodes)]
    for i in range(nodes):
        for j in range(i):
            values[i][j] = values[j][i] = usual * draw.uniform(1 - scatter, 1 + scatter)
    return values


def names(nodes: int) -> list[str]:
    return [f"n{i}" for i in range(nodes)]


def slowed(values: list[list[float | None]], i: int, j: int, factor: float) -> None:
    values[i][j] = values[j][i] = (values[i][j] or 0.0) * factor


@pytest.mark.parametrize("nodes", [4, 16, 64])
def test_scatter_is_no_outlier(nodes: int) -> None:
    for seed in range(50):
        for smaller in (True, False):
            found = outliers(matrix(nodes, seed=seed), names(nodes), smaller)
            assert found.nodes == () and found.pairs == ()


@pytest.mark.parametrize("nodes", [4, 16, 64])
def test_a_node_whose_pairs_are_all_slow_is_named_and_not_its_pairs(nodes: int) -> None:
    for seed in range(50):
        values = matrix(nodes, seed=seed)
        for j in range(nodes):
            if j != 2:
                slowed(values, 2, j, 1.5)
        found = outliers(values, names(nodes), smaller_is_better=True)
        assert [n for n, _, _ in found.nodes] == ["n2"] and found.pairs == ()
        assert found.nodes[0][2] == pytest.approx(1.5, rel=0.12)


@pytest.mark.parametrize("nodes", [4, 16, 64])
def test_one_bad_link_is_a_pair(nodes: int) -> None:
    for seed in range(50):
        values = matrix(nodes, usual=12.0, seed=seed)
        slowed(values, 1, 3, 0.5)  # of the bandwidth
        found = outliers(values, names(nodes), smaller_is_better=False)
        assert found.nodes == () and [(a, b) for a, b, _, _ in found.pairs] == [("n1", "n3")]


def test_what_is_better_than_the_others_is_no_outlier() -> None:
    values = matrix(8)
    slowed(values, 1, 3, 0.2)
    assert outliers(values, names(8), smaller_is_better=True).pairs == ()


def test_of_two_nodes_nothing_can_be_told() -> None:
    assert outliers([[None, 9.0], [9.0, None]], names(2), True) == Outliers(9.0, (), ())


def summary(hosts: str) -> dict[str, object]:
    values = matrix(4)
    for j in (0, 1, 3):
        slowed(values, 2, j, 10)
    one = {"name": "latency", "unit": "us", "rows": [0, 1, 2, 3], "columns": [0, 1, 2, 3], "values": values}
    task = {"id": "pingpong/4x1", "benchmark": "pingpong", "parameters": {"hosts": hosts}, "matrices": [one]}
    return {"tasks": [task]}


def test_a_slow_node_is_a_finding_where_a_process_was_on_each() -> None:
    (said,) = slow_nodes({}, summary("a b c d"))
    assert said.code == "slow-nodes-latency" and "c (" in said.evidence and "--exclude=c" in said.remedy
    assert not list(slow_nodes({}, summary("a a b b"))) and not list(slow_nodes({}, summary("")))
