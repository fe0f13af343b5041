"""In Python: what a label alone means in a graph in program order, and a quantity that a case lacks."""

from __future__ import annotations

import numpy as np
import pytest

from strata.errors import StrataError


def small(graphs, ordered=True):
    graph = graphs.Graph("small")
    if ordered:
        graph.in_program_order()
    grid = graph.grid("grid", (8, 8), (4, 4), periodic=(True, True))
    return graph, grid


def declared(graphs, ordered):
    """Two changes of u in a step, with a reader between and after them; a sweep in place. Without program
    order by the numbers of versions, and in another order.
    """
    graph, grid = small(graphs, ordered)
    u, w, v = (graph.field(name, grid, kept=True) for name in "uwv")
    total = graph.scalar("total", "sum")

    def named(label, version, **how):
        return label.newest(**how) if ordered else label.at(version, **how)

    @graph.start(grid, makes={"u": u, "v": v})
    def begin(here):
        here["u"][:] = np.arange(16).reshape(1, 4, 4)
        here["v"][:] = here.patch

    @graph.step(grid, modifies={"u": named(u, 0)})
    def double(here):
        here["u"][:] *= 2

    @graph.step(grid, needs={"u": named(u, 1, ghosts=1, corners=False)}, makes={"w": w})
    def look(here):
        here["w"][:] = here.near("u", 1) + here.near("u", 0, 1)

    @graph.step(grid, modifies={"u": named(u, 1, ghosts=1)}, needs={"w": named(w, 0)})
    def add(here):
        here["u"][here.inner("u")] += here["w"]

    @graph.step(
        grid,
        needs={"u": u if ordered else u.at(2)},
        modifies={"v": v if ordered else v.at(0)},
        contributes={"total": total},
    )
    def sum_up(here):
        here["v"][:] += here["u"]
        here["total"][0] = here["v"].sum()

    return graph, u, total


def test_a_label_alone_is_its_newest_version_and_lowers_to_the_records_of_the_numbers(graphs):
    documents, values = [], []
    for ordered in (True, False):
        graph, u, total = declared(graphs, ordered)
        documents.append(graph.inspect().document)
        run = graphs.Simulation(graph)
        run.start()
        run.advance(3)
        values.append((run.value(total), [run.values(u, patch).tobytes() for patch in range(4)]))
    assert documents[0] == documents[1]
    assert values[0] == values[1]
    uses = {task["name"]: task["uses"] for task in documents[0]["tasks"]}
    assert [use["version"] for use in uses["sum up"] if use["label"] == "u"] == [2]


def test_what_a_task_needs_upwind_is_what_it_makes_itself_in_place(graphs):
    documents = []
    for ordered in (True, False):
        graph = graphs.Graph("sweep")
        if ordered:
            graph.in_program_order()
        grid = graph.grid("grid", (8, 8), (4, 4))
        u = graph.field("u", grid, kept=True)
        graph.start(grid, makes={"u": u})(lambda here: here["u"].fill(1.0))
        graph.step(grid, modifies={"u": u}, name="first")(lambda here: None)
        before, now = (u.upwind((0, 1)), u) if ordered else (u.upwind((0, 1), version=2), u.at(1))
        graph.step(grid, needs={"before": before}, modifies={"u": now}, name="second")(lambda here: None)
        documents.append(graph.inspect().document)
    assert documents[0] == documents[1]
    assert [e["label"] for e in documents[0]["edges"] if e["from"] == e["to"] and not e["lag"]] == ["u"]


def test_without_program_order_a_label_alone_is_version_0_whatever_the_order(graphs):
    graph, grid = small(graphs, ordered=False)
    u = graph.field("u", grid, kept=True)
    graph.step(grid, needs={"u": u}, name="look")(lambda here: None)
    graph.step(grid, modifies={"u": u}, name="change")(lambda here: None)
    graph.step(grid, needs={"u": u, "around": u.newest(ghosts=1)}, name="look again")(lambda here: None)
    graph.start(grid, makes={"u": u}, name="begin")(lambda here: None)
    uses = {task["name"]: task["uses"] for task in graph.inspect().document["tasks"]}
    assert {use["version"] for name in ("look", "change", "look again") for use in uses[name]} <= {0, 1}
    assert [use["version"] for use in uses["look again"]] == [0, 0]


def test_a_label_alone_that_a_later_task_makes_is_refused(graphs):
    graph, grid = small(graphs)
    u = graph.field("u", grid, history=1)
    graph.step(grid, needs={"u": u}, name="reader")(lambda here: None)
    with pytest.raises(StrataError, match="needs 'u'") as caught:
        graph.step(grid, makes={"u": u}, name="maker")(lambda here: None)
    assert "'reader'" in caught.value.message and "'maker'" in caught.value.message
    assert "label.previous()" in caught.value.remedy


def test_a_graph_is_put_in_program_order_before_its_first_task(graphs):
    graph, grid = small(graphs, ordered=False)
    graph.start(grid, makes={"u": graph.field("u", grid)})(lambda here: None)
    with pytest.raises(StrataError, match="after its first task"):
        graph.in_program_order()


def test_a_quantity_that_the_case_does_not_have_shows_an_empty_array(graphs):
    graph, grid = small(graphs)
    u = graph.field("u", grid, kept=True)
    nu = None
    seen = []
    graph.start(grid, makes={"u": u, "nu": nu})(lambda here: here["u"].fill(2.0))

    @graph.step(
        grid,
        needs={"around": nu and nu.previous(ghosts=1)},
        modifies={"u": u, "nu": nu},
        contributes={"most": None},
        name="change",
    )
    def change(here):
        here["nu"][:] = 7.0
        here["u"][here.inner("u")] += 1
        seen.append((here["around"].size, here["nu"].shape, here.box("nu"), here.near("around", 1).size))

    uses = {task["name"]: task["uses"] for task in graph.inspect().document["tasks"]}
    assert [use["label"] for use in uses["change"]] == ["u"]
    run = graphs.Simulation(graph)
    run.start()
    run.advance(1)
    assert np.all(run.values(u, 0) == 3)
    assert seen == [(0, (0, 0, 0), (slice(0, 0),) * 3, 0)] * 4
