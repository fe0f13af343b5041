"""Which figures stand beside each other; nothing is dropped in silence."""

from __future__ import annotations

import re
from typing import Any

import pytest
from made_results import figure, noisy, task

from strata.compare.pairs import Selection, experiment, factor, match

TIME = figure("time", noisy(2.0))
RATE = figure("rate", noisy(50.0), "GB/s", "higher")


def matched(a: list[dict[str, Any]], b: list[dict[str, Any]], **wish: Any):
    return match({t["id"]: t for t in a}, {t["id"]: t for t in b}, Selection(**wish))


def test_headline_figures_are_compared_and_with_all_every_one() -> None:
    both = [task("solve/1x2", [TIME, RATE])]
    assert [p.figure for p in matched(both, both).pairs] == ["time"]
    every = matched(both, both, everything=True).pairs
    assert [(p.figure, p.gate) for p in every] == [("time", True), ("rate", False)]
    named = matched(both, both, figure=re.compile("^ra")).pairs
    assert [(p.figure, p.gate) for p in named] == [("rate", True)]


def test_every_task_and_figure_of_both_sides_is_in_exactly_one_list() -> None:
    before = [task("both", [TIME]), task("gone", [TIME]), task("changed", [TIME]), task("few", [TIME])]
    after = [
        task("both", [TIME]),
        task("new", [TIME]),
        task("changed", [TIME], parameters={"n": 128}),
        task("few", [figure("time", noisy(2.0, 5))]),
    ]
    found = matched(before, after)
    assert [p.task for p in found.pairs] == ["both"]
    assert (found.only_before, found.only_after) == (["gone"], ["new"])
    why = {left.task: left.why for left in found.not_compared}
    assert why["changed"] == "not the same experiment: n was 64, is 128"
    assert why["few"] == "too few launches with an answer: 12 before, 5 after; it takes 6 on each side"
    only = matched(before, after, task=re.compile("^(gone|both)$"))
    assert ([p.task for p in only.pairs], only.only_before, only.not_compared) == (["both"], ["gone"], [])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"benchmark": "other"}, "benchmark was solve, is other"),
        ({"layout": "2x1"}, "layout was 1x2, is 2x1"),
        ({"stride": 2}, "stride was 1, is 2"),
        ({"bind": "none"}, "bind was core, is none"),
        ({"options": []}, "options was --own-share, is none"),
        ({"labels": {"mode": "one"}}, "labels was none, is mode=one"),
        ({"command": ["{strata-bench}", "solve", "--quick"]}, "command was"),
        ({"parameters": {"n": 65}}, "n was 64, is 65"),
    ],
)
def test_what_makes_another_experiment_is_named(change: dict[str, Any], said: str) -> None:
    differs = experiment(task("solve", [TIME]), task("solve", [TIME], **change))
    assert len(differs) == 1 and differs[0].startswith(said)


def test_the_folder_of_a_program_and_what_it_found_make_no_other_experiment() -> None:
    a = task("solve", [TIME], command=["/old/solver", "in"], parameters={"n": 1, "counter_ghz": 2.5})
    b = task("solve", [TIME], command=["/new/solver", "in"], parameters={"n": 1, "counter_ghz": 2.7, "m": 2})
    assert experiment(a, b) == []


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("GB/s", "GB/s", 1.0), ("GB/s", "MB/s", 1e-3), ("ns", "us", 1e3), ("ns", "µs", 1e3),
        ("s", "ms", 1e-3), ("Gb/s", "MB/s", None),
        ("GF/s", "GFlop/s", 1.0), ("MLUP/s", "GLUP/s", 1e3), ("J", "kJ", 1e3), ("MiB", "GiB", 1024.0),
        ("GB/s", "GF/s", None), ("s", "GB/s", None), ("1/s", "s", None), ("", "s", None), ("%", "ppm", None),
        ("Gb/s", "GB/s", None), ("", "", 1.0), (None, "", 1.0),
    ],
)  # fmt: skip
def test_units_that_differ_in_their_prefix_alone_are_converted(
    a: str | None, b: str | None, expected: float | None
) -> None:
    assert factor(a, b) == (None if expected is None else pytest.approx(expected))


def test_a_converted_figure_is_the_same_figure() -> None:
    micro = figure("time", [1e6 * s for s in TIME["samples"]], "us")
    (pair,) = matched([task("t", [TIME])], [task("t", [micro])]).pairs
    assert pair.unit == "s" and pair.after == pytest.approx(pair.before)


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        (figure("time", noisy(2.0), "GB/s"), "unit"),
        (figure("time", noisy(2.0), "s", "higher"), "experiment"),
        (figure("time", [0.0, *noisy(2.0)]), "zero"),
        (figure("else", noisy(2.0)), "absent"),
    ],
)
def test_unlike_figures_are_listed_with_the_reason(other: dict[str, Any], kind: str) -> None:
    found = matched([task("t", [TIME])], [task("t", [other])])
    assert not found.pairs and found.not_compared[0].kind == kind
    assert {left.figure for left in found.not_compared} == {TIME["name"], other["name"]}
