"""Claims about what a study's numbers may be said to show, and about its report."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from made_studies import around, cycles, figure, pages, study, task

from strata.advice import studies
from strata.advice.samples import interval_of
from strata.advice.studies import Entry, best_of
from strata.advice.views import statements
from strata.report.build import build
from strata.report.document import Plot
from strata.report.sections.study import study as section
from strata.report.source import Source, command_line


def entry(label: str, samples: list[float], better: str = "lower") -> Entry:
    f = figure("time", "s", samples, better)
    return Entry(label, {"id": label, "figures": [f]}, interval_of(f))


def test_the_best_of_several_is_named_where_its_interval_is_apart_from_all_others() -> None:
    found = best_of([entry("a", around(3)), entry("b", around(1)), entry("c", around(2))])
    assert [e.label for e in found.leaders] == ["b"] and [e.label for e in found.others] == ["a", "c"]
    higher = [entry(x, around(v), "higher") for x, v in (("a", 3), ("b", 1))]
    assert [e.label for e in best_of(higher).leaders] == ["a"]


def test_overlapping_intervals_are_a_tie_in_the_study_s_order() -> None:
    found = best_of([entry("a", around(1.001)), entry("b", around(1)), entry("c", around(2))])
    assert [e.label for e in found.leaders] == ["a", "b"]


def test_too_few_launches_for_so_many_settings_name_no_winner_and_say_how_many_it_takes() -> None:
    six = [entry(str(v), around(v, 6)) for v in (1, 2, 3)]
    found = best_of(six)
    assert not found.leaders and found.why == "1 has 6 launches, and it takes 7"
    assert best_of([entry(str(v), around(v, 7)) for v in (1, 2, 3)]).leaders[0].label == "1"


def test_among_equal_settings_a_false_winner_is_rare() -> None:
    rolls = random.Random(5)
    named = 0
    for _ in range(400):
        same = [entry(str(i), [rolls.lognormvariate(0, 0.3) for _ in range(12)]) for i in range(5)]
        named += len(best_of(same).leaders) == 1
    assert named <= 0.05 * 400


def test_what_it_took_to_reach_the_smallest_spread() -> None:
    (said,) = statements(cycles({"not pinned": 9000, "pinned": 2000, "pinned, exclusive": 500}))
    assert said.startswith(
        "The smallest spread (99th percentile over median) is that of pinned, exclusive, 500 ppm"
    )
    assert "apart from those of all 2 others" in said and "the farthest is not pinned with 9000 ppm" in said


def test_a_tie_is_called_a_tie_and_the_one_that_asks_for_least_is_enough() -> None:
    (said,) = statements(cycles({"not pinned": 9000, "pinned": 500.2, "pinned, exclusive": 500}))
    assert "is a tie of pinned and pinned, exclusive" in said
    assert "so pinned, which asks for least, is not shown to be worse" in said
    assert said.endswith("Apart from them is not pinned (9000 ppm).")
    (said,) = statements(cycles({"not pinned": 500.1, "pinned": 500.2, "pinned, exclusive": 500}))
    assert (
        "a tie of all 3 settings" in said
        and "so not pinned, which asks for least, is not shown to be worse" in said
    )


def test_a_small_spread_of_runs_that_were_slowed_is_told_as_such() -> None:
    whole = cycles({"not pinned": 900, "pinned": 500})
    slow = next(f for f in whole["tasks"][1]["figures"] if f["name"] == "median run")
    slow.update(figure("median run", "us", around(6000)))
    said = statements(whole)
    assert said[1].startswith(
        "The median run is not the same everywhere: 2000 µs (not pinned) to 6000 µs (pinned)"
    )


def test_runs_are_called_slowed_only_where_the_interval_of_their_ratio_says_so() -> None:
    whole = cycles({"not pinned": 900, "pinned": 500})
    slow = next(f for f in whole["tasks"][1]["figures"] if f["name"] == "median run")
    loud = [1900.0, 2000.0, 1950.0, 3000.0, 3000.0, 3000.0, 3000.0, 3000.0][: len(slow["samples"])]
    slow.update(figure("median run", "us", loud))
    assert slow["median"] > 1.2 * 2000
    assert not any("not the same everywhere" in said for said in statements(whole))


def test_pages_are_compared_pinned_against_not_in_each_mode_and_then_all() -> None:
    said = statements(pages())
    assert len([s for s in said if s.startswith("Time of a sweep, mode ")]) == 4
    assert "mode one: pinned takes 0.769" in said[0]
    (best,) = [s for s in said if s.startswith("The shortest sweep")]
    assert "a tie of threads, pinned and bind, pinned" in best
    assert not any("one memory" in s for s in said)


def test_one_memory_is_said_in_one_line() -> None:
    whole = pages()
    for t in whole["tasks"]:
        t["parameters"]["memories"] = 1
    assert sum("one memory" in s for s in statements(whole)) == 1


def test_any_program_is_compared_by_its_headline() -> None:
    tasks = [
        task(
            "mine", {"program": "mine", "n": "4", "setting": s}, [figure("rate", "1/s", around(v), "higher")]
        )
        for s, v in (("pinned", 5.0), ("free", 4.0))
    ]
    (said,) = statements(study("table", tasks, "two_cores"))
    assert said.startswith(
        "The highest rate of mine, 4 is that of pinned, 5 1/s: its interval is apart from that of free"
    )


def test_a_setting_that_is_not_available_is_said_with_its_reason() -> None:
    gone = {"setting": "pinned, exclusive", "layout": "1x1", "why": "not permitted here (cpuset)"}
    whole = cycles({"not pinned": 9000, "pinned": 500})
    whole["provenance"]["study"]["unavailable"] = [gone]
    assert statements(whole)[-1] == (
        "Not available here: pinned, exclusive (1x1): not permitted here (cpuset)."
    )


WHOLE = {
    "pages": pages,
    "cycles": lambda: cycles({"not pinned": 9000, "pinned": 2000, "pinned, exclusive": 500}),
    "table": lambda: {**pages(), "provenance": {"study": {"view": "table"}}},
}


@pytest.mark.parametrize("view", sorted(WHOLE))
def test_the_report_of_a_study_has_its_figures_and_every_median(view: str, tmp_path: Path) -> None:
    whole = WHOLE[view]()
    page = build(whole, tmp_path).read_text()
    assert "What was found" in page and "Characterization" not in page
    for said in statements(whole):
        assert said.split(":")[0].split("(")[0][:40] in page
    assert (tmp_path / "report.md").read_text().count("![") == page.count("<figcaption>")
    for t in whole["tasks"]:
        assert studies.label_of(t) in page


def test_pages_are_drawn_by_memory_only_where_there_are_several() -> None:
    def plots(whole: dict) -> list[str]:
        return [b.key for b in section(Source(whole)).blocks if isinstance(b, Plot)]

    whole = pages()
    assert plots(whole) == ["pages-time", "pages-memory"]
    for t in whole["tasks"]:
        t["matrices"] = [{**t["matrices"][0], "columns": [0], "values": [[500.0], [500.0]]}]
    assert plots(whole) == ["pages-time"]
    assert plots(WHOLE["cycles"]()) == ["cycles-tail-0", "cycles-spread"]


def test_a_setting_without_an_answer_is_named_in_the_report() -> None:
    whole = cycles({"not pinned": 9000, "pinned": 500})
    whole["tasks"].append(task("cycles", {"program": "cycles", "setting": "other"}, []))
    texts = [getattr(b, "text", "") for b in section(Source(whole)).blocks]
    assert "other: failed: it said no." in texts


def test_the_line_to_reproduce_carries_the_launcher_s_options() -> None:
    last = WHOLE["cycles"]()["tasks"][-1]
    assert command_line(last) == "strata launch --layout 1x8 --bind core --exclusive -- strata bench cycles"
