"""How many cores saturate a memory, by samples of machines that do not exist, and the layout for that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import synthetic_machines as machines
from synthetic_summaries import SUMMARIES, Maker

from strata.advice.bandwidth import GAIN, saturation, sentence
from strata.advice.layouts import BOUND, recommend

Rate = Callable[[int], float]


def summary(
    machine: dict[str, Any], rate: Rate, numbers: Sequence[int], spread: float = 0.004
) -> dict[str, Any]:
    """STREAM with so many cores of the first domain, in eight blocks of interleaved launches."""
    maker = Maker(machine, 3, launches=8, spread=spread)
    for n in numbers:
        triad = maker.figure("triad", "GB/s", rate(n), blocks=list(range(8)))
        maker.task("stream", f"1x{n}", figures=[triad])
    return {"schema": "strata.summary/1", "machine": machine, "tasks": maker.tasks, "provenance": {}}


def fed(most: float) -> Rate:
    return lambda n: 10.0 * min(n, most)


def test_three_of_eight_cores_saturate_and_every_domain_gets_three() -> None:
    machine = machines.four_domains()
    known = summary(machine, fed(3), range(1, 9))
    found = saturation(machine, known)
    assert found is not None
    assert (found.cores, found.of) == (3, 8)
    assert found.fewer is not None and found.fewer[0] == 2
    assert found.fewer[1][0] == pytest.approx(2 / 3, rel=0.02)
    text = sentence(machine, found)
    assert text.startswith("3 cores saturate the memory of a domain of 8: STREAM triad 29.9 [")
    assert "For programs bound by memory bandwidth use 4x3" in text
    assert "the remaining 5 cores of each domain gain nothing there" in text
    start = recommend(machine, known).start(BOUND)
    assert start.layout == "4x3"
    lines = {line.tool: line.command for line in start.lines}
    # Two hardware threads a core, the second ones from 32 on: the first of three cores of each domain.
    held = "0-2,8-10,16-18,24-26"
    assert lines["strata"] == f"strata launch --layout 4x3 --bind {held} -- ./a.out"
    assert "ppr:1:numa:PE=3" in lines["Open MPI"] and "mpirun -n 4" in lines["Open MPI"]


def test_on_one_domain_the_first_cores_are_enough() -> None:
    machine = machines.hybrid_laptop()
    known = summary(machine, fed(4), range(1, 15))
    start = recommend(machine, known).start(BOUND)
    assert start.layout == "1x4"
    assert "the remaining 10 cores gain nothing there" in start.why
    lines = {line.tool: line.command for line in start.lines}
    assert lines["strata"] == "strata launch --layout 1x4 -- ./a.out"
    assert "OMP_PLACES='{0},{2},{4},{6}'" in lines["plain"]


def test_of_few_numbers_that_were_measured_the_smallest_that_is_enough_is_named() -> None:
    machine = machines.four_domains()
    found = saturation(machine, summary(machine, fed(3), (1, 2, 4, 8)))
    assert found is not None and found.cores == 4 and found.fewer is not None and found.fewer[0] == 2


def test_more_cores_that_make_it_slower_are_no_gain_either() -> None:
    machine = machines.four_domains()
    found = saturation(machine, summary(machine, lambda n: 30.0 - n if n > 3 else 10.0 * n, range(1, 9)))
    assert found is not None and found.cores == 3 and found.more[2] < 1.0
    assert "more cores reach 0.8" in sentence(machine, found)


@pytest.mark.parametrize(
    "rate, numbers, spread",
    [
        (lambda n: 10.0 * n, range(1, 9), 0.004),  # grows to the last core
        (lambda n: 10.0 * n**0.5, range(1, 9), 0.004),  # ever more slowly, but by 7 % from 7 to 8 cores
        (fed(3), range(1, 9), 0.1),  # alike by their medians, and the intervals hold a gain
        (fed(3), range(1, 7), 0.004),  # all of a domain were not measured
        (fed(3), (8,), 0.004),
    ],
)
def test_nothing_is_said_where_samples_do_not_carry_it(
    rate: Rate, numbers: Sequence[int], spread: float
) -> None:
    machine = machines.four_domains()
    known = summary(machine, rate, numbers, spread)
    assert saturation(machine, known) is None
    assert saturation(machine, None) is None
    with pytest.raises(StopIteration):
        recommend(machine, known).start(BOUND)


def test_the_statement_goes_with_the_interval_and_not_with_the_median() -> None:
    """The same medians: of eight cores the launches of two blocks reach more than GAIN beyond."""
    machine = machines.four_domains()
    known = summary(machine, fed(3), range(1, 9))
    assert saturation(machine, known) is not None
    last = next(t for t in known["tasks"] if t["layout"] == "1x8")["figures"][0]
    median = last["median"]
    last["samples"] = [s * (1 + 3 * GAIN) if i < 2 else s for i, s in enumerate(last["samples"])]
    last["high"] = max(last["samples"])
    assert last["median"] == median
    assert saturation(machine, known) is None


def test_a_quota_or_too_few_launches_say_nothing() -> None:
    machine = machines.four_domains()
    known = summary(machine, fed(3), range(1, 9))
    for task in known["tasks"]:
        task["figures"][0].update(n=4, low=None, high=None)
    assert saturation(machine, known) is None
    quota = machines.four_domains()
    quota["allowed"]["cgroup"]["cpu_quota"] = 8.0
    assert saturation(quota, summary(quota, fed(3), range(1, 9))) is None


def test_cores_of_others_do_not_count() -> None:
    """Of each domain only five cores are ours; of the last, two, which are too few for a process of three."""
    machine = machines.four_domains()
    machine["allowed"]["pus"] = "0-4,8-12,16-20,24-25"
    found = saturation(machine, summary(machine, fed(3), range(1, 6)))
    assert found is not None and (found.cores, found.of) == (3, 5)
    assert recommend(machine, summary(machine, fed(3), range(1, 6))).start(BOUND).layout == "3x3"


@pytest.mark.parametrize("name", SUMMARIES)
def test_other_machines_are_advised_as_before(name: str) -> None:
    known = SUMMARIES[name]()
    kinds = [start.kind for start in recommend(known["machine"], known).starts]
    assert kinds[:4] == ["serial", "OpenMP", "MPI", "hybrid"]
