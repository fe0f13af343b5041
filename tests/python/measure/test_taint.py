"""Claims about what counts as disturbed."""

from __future__ import annotations

from typing import Any

import pytest
from fakes import busy_record, record

from strata.errors import StrataError
from strata.measure.taint import Limits, judge

LIMITS = Limits()


def codes(found: list[Any]) -> set[str]:
    return {r.code for r in found}


def test_a_quiet_launch_is_not_tainted() -> None:
    assert judge(record(), LIMITS, 3.0, {"others_s": 0.02, "wall_s": 1.0}) == []


def test_a_busy_neighbour_shows_in_share_switches_and_pressure() -> None:
    assert codes(judge(busy_record(), LIMITS, 3.0)) == {"others", "switches", "pressure"}


def cpu(others: float = 0.0, steal: float = 0.0) -> dict[str, float]:
    """A launch of 10 s on one CPU."""
    return {
        "own_s": 9.0,
        "others_s": others,
        "others_share": others / 10,
        "steal_s": steal,
        "steal_share": steal / 10,
    }


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"cpu": cpu(others=0.9), "wall_s": 10.0}, "others"),
        ({"cpu": cpu(steal=0.9), "wall_s": 10.0}, "steal"),
        ({"switches": {"voluntary": 0, "involuntary": 250}}, "switches"),
        ({"pressure": {"cpu_some_us": 900_000}}, "pressure"),
        ({"clock": {"before_ghz": 3.0, "after_ghz": 2.5}}, "clock"),
        ({"clock": {"before_ghz": 2.5, "after_ghz": 3.0}}, "clock"),
        ({"agrees": False, "disagreement": "two threads on PU 0"}, "placement"),
        ({"timed_out": True}, "timed-out"),
    ],
)  # fmt: skip
def test_each_limit_taints_by_itself_and_says_why(change: dict[str, Any], code: str) -> None:
    found = judge(record(**change), LIMITS, 3.0)
    assert codes(found) == {code}
    assert found[0].text


def test_work_beside_the_run_taints_because_it_shares_the_memory() -> None:
    assert codes(judge(record(), LIMITS, 3.0, {"others_s": 1.0, "wall_s": 1.0})) == {"elsewhere"}


def test_a_daemon_that_had_to_wait_for_the_run_is_no_disturbance_of_it() -> None:
    # Two threads at full load for a second, others 0.8 %: 0.44 s of pressure is what others felt.
    assert judge(record(pressure={"cpu_some_us": 440_000}), LIMITS, 3.0) == []


def test_the_start_of_an_mpi_job_is_not_a_neighbour() -> None:
    start = {"switches": {"voluntary": 2400, "involuntary": 290}, "cpu": cpu() | {"own_s": 0.2}}
    assert judge(record(layout="2x1", **start), LIMITS, 3.0) == []
    assert codes(judge(record(layout="1x2", **start), LIMITS, 3.0)) == {"switches"}


def test_daemons_of_a_large_node_do_not_taint_and_a_neighbour_there_does() -> None:
    assert judge(record(), LIMITS, 3.0, {"others_s": 5.0, "wall_s": 10.0, "cpus": 256}) == []
    assert codes(judge(record(), LIMITS, 3.0, {"others_s": 10.0, "wall_s": 10.0, "cpus": 256})) == {
        "elsewhere"
    }


def test_threads_that_take_turns_on_purpose_are_no_neighbour_to_themselves() -> None:
    turns = {"switches": {"voluntary": 9, "involuntary": 90_000}, "pressure": {"cpu_some_us": 990_000}}
    assert codes(judge(record(**turns), LIMITS, 3.0)) == {"switches", "pressure"}
    assert judge(record(**turns), LIMITS, 3.0, crowded=True) == []


def test_beside_threads_that_take_turns_a_neighbour_is_still_seen() -> None:
    assert codes(judge(busy_record(), LIMITS, 3.0, crowded=True)) == {"others"}
    beside = {"others_s": 1.0, "wall_s": 1.0}
    assert codes(judge(record(), LIMITS, 3.0, beside, crowded=True)) == {"elsewhere"}
    for change, code in (
        ({"cpu": cpu(steal=0.9), "wall_s": 10.0}, "steal"),
        ({"clock": {"before_ghz": 2.5, "after_ghz": 3.0}}, "clock"),
        ({"agrees": False}, "placement"),
        ({"timed_out": True}, "timed-out"),
    ):
        assert codes(judge(record(**change), LIMITS, 3.0, crowded=True)) == {code}


def test_one_tick_in_a_short_run_is_not_a_neighbour() -> None:
    # 0.1 s on one CPU with one tick of 10 ms for others reads as 10 %.
    short = {"own_s": 0.09, "others_s": 0.01, "others_share": 0.1, "steal_s": 0.0, "steal_share": 0.0}
    assert judge(record(cpu=short, wall_s=0.1), LIMITS, 3.0) == []


def test_a_real_neighbour_in_a_short_run_is_seen() -> None:
    short = {"own_s": 0.1, "others_s": 0.1, "others_share": 0.5, "steal_s": 0.0, "steal_share": 0.0}
    assert "others" in codes(judge(record(cpu=short, wall_s=0.2), LIMITS, 3.0))


def test_what_a_system_does_not_tell_is_not_held_against_a_launch() -> None:
    bare = {"wall_s": 1.0, "cpu": None, "switches": None, "pressure": None, "clock": None, "agrees": None}
    assert judge(bare, LIMITS, 3.0) == []


def test_without_a_reference_no_clock_is_low() -> None:
    assert judge(record(clock={"before_ghz": 1.0, "after_ghz": 1.0}), LIMITS, None) == []


def test_a_rising_clock_is_no_reason() -> None:
    assert judge(record(clock={"before_ghz": 3.6, "after_ghz": 3.6}), LIMITS, 3.0) == []


def test_an_unknown_limit_is_refused_with_the_known_ones() -> None:
    with pytest.raises(StrataError) as caught:
        Limits.from_dict({"other_share": 0.1}, "quick.toml:7")
    assert (
        "other_share" in str(caught.value)
        and "others_share" in str(caught.value)
        and "quick.toml:7" in str(caught.value)
    )


@pytest.mark.parametrize("value", [-0.1, float("nan"), True, "much"])
def test_a_limit_that_is_no_number_is_refused(value: object) -> None:
    """Nothing is more than nan: every launch would count as undisturbed."""
    with pytest.raises(StrataError, match="a taint limit is a number"):
        Limits.from_dict({"others_share": value}, "quick.toml:7")


def test_limits_survive_the_way_through_json() -> None:
    assert Limits.from_dict(Limits(others_share=0.5).to_dict(), "plan.json") == Limits(others_share=0.5)
