"""The layouts around a fast one, on machines that nobody here owns."""

from __future__ import annotations

from typing import Any

import pytest
import synthetic_machines as machines

from strata.tune.candidates import Candidate, candidates, distinct, pus_of
from strata.tune.near import ORDERS, dimensions, near, numbers, ordered
from strata.tune.search import NEAR, Search
from strata.tune.usable_cores import UsableCores

MACHINES = [make() for make in (*machines.MACHINES.values(), machines.eight_cores, machines.four_domains)]


@pytest.mark.parametrize("kind", ["serial", "openmp", "mpi", "hybrid", "forking"])
@pytest.mark.parametrize("machine", MACHINES)
def test_every_neighbour_fits_and_is_another_placement(machine: dict[str, Any], kind: str) -> None:
    usable = UsableCores.of(machine)
    for best in candidates(machine, kind):
        found = near(usable, kind, best)
        assert len({c.id for c in found}) == len(found) == len(distinct(usable, found, [best]))
        for c in found:
            most = usable.places(c.core_kind, c.smt)
            assert (c.places - 1) * c.stride < most or c.bind == "none", (best.id, c.id)
            if c.order:
                assert len(set(pus_of(usable, c))) == c.places
                assert not {"--smt", "--core-kind"} & set(c.options)  # the launcher takes them with no list
            if kind == "serial":
                assert c.places == 1
            if kind in ("openmp", "forking"):
                assert c.processes == 1
            if kind == "mpi":
                assert c.threads == 1


def test_numbers_lie_half_way_to_what_was_tried_and_one_beside() -> None:
    usable = UsableCores.of(machines.eight_cores())
    found = numbers(usable, "openmp", Candidate(1, 8), [(1, 8), (1, 4), (1, 2), (1, 1)])
    assert [c.layout for c in found if not c.order] == ["1x6", "1x7"]
    assert {c.id for c in found if c.order} == {"1x6, spread over domains"}
    assert {c.layout for c in numbers(usable, "mpi", Candidate(4, 1), [(8, 1), (2, 1)])} >= {
        "3x1",
        "6x1",
        "5x1",
    }
    assert all(c.places <= 8 for c in numbers(usable, "hybrid", Candidate(4, 2), []))


def test_orders_are_lists_of_pus_that_no_stride_gives() -> None:
    usable = UsableCores.of(machines.eight_cores())
    assert ordered(usable, Candidate(1, 6), "spread over domains") == Candidate(
        1, 6, bind="0-2,4-6", order="spread over domains"
    )
    turns = ordered(usable, Candidate(1, 6), "in turn over domains")
    assert turns is not None and turns.bind == "0,4,1,5,2,6"
    assert turns.line(["a"]) == "strata launch --layout 1x6 --bind 0,4,1,5,2,6 -- a"
    assert ordered(usable, Candidate(1, 8), "spread over domains") is None  # as they lie anyway
    whole = ordered(usable, Candidate(2, 3), "in turn over domains")
    assert whole is not None and whole.bind == "0-2,4-6"  # each process within a domain
    assert ordered(UsableCores.of(machines.two_cores()), Candidate(1, 2), ORDERS[0]) is None


def test_kinds_of_cores_siblings_and_pages_are_dimensions_where_the_machine_has_them() -> None:
    laptop = UsableCores.of(machines.hybrid_laptop())
    assert laptop.kinds == ("performance", "efficiency")
    found = dimensions(laptop, "openmp", Candidate(1, 14))
    assert {"1x6, bind core, performance cores", "1x8, bind core, efficiency cores"} <= {c.id for c in found}
    assert any(c.smt == 2 and c.threads == 20 for c in found)
    (doubled,) = [
        c for c in dimensions(laptop, "openmp", Candidate(1, 6, core_kind="performance")) if c.smt > 1
    ]
    assert doubled.options == ("--smt", "2", "--core-kind", "performance") and doubled.threads == 12
    assert {c.huge_pages for c in found} == {"", "on", "off"}
    plain = dimensions(UsableCores.of(machines.two_cores()), "openmp", Candidate(1, 2))
    assert {c.id for c in plain} == {"1x2, bind core, huge pages on", "1x2, bind core, huge pages off"}


def test_two_words_for_one_placement_are_raced_once() -> None:
    """The fast cores of this laptop are its first six: asking for their kind changes nothing."""
    usable = UsableCores.of(machines.hybrid_laptop())
    same = [Candidate(1, 6), Candidate(1, 6, core_kind="performance")]
    assert distinct(usable, same) == same[:1]
    assert distinct(usable, [Candidate(1, 6, core_kind="efficiency")], same) != []


def test_a_second_leader_of_another_size_brings_what_else_can_change_unless_it_is_far_behind() -> None:
    usable = UsableCores.of(machines.eight_cores())
    known = {c.id: c for c in (Candidate(1, 8), Candidate(1, 8, bind="numa"), Candidate(1, 4))}
    search = Search(usable, "openmp", known)
    ranked = [("1x8, bind core", 1.0), ("1x8, bind numa", 1.01), ("1x4, bind core", 1.2)]
    assert "1x4, bind core, huge pages on" in {c.id for c in search.newcomers(ranked)}
    ranked[-1] = ("1x4, bind core", NEAR + 0.1)
    assert "1x4, bind core, huge pages on" not in {c.id for c in search.newcomers(ranked)}
    assert search.plainer("1x8, bind numa") == "1x8, bind core" and search.plainer("1x8, bind core") is None
    joined = search.widen(ranked, 3)
    assert len(joined) == 3 and set(joined) <= set(search.known)
    assert not set(joined) & {c.id for c in search.newcomers(ranked)}
