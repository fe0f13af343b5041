"""The report of a comparison: one document, two pages, and sentences that come from its numbers."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from made_results import figure, noisy, pairs, saved, task, whole

from strata.compare import words
from strata.compare.command import Request, compare, report
from strata.compare.verdicts import judge


@pytest.fixture
def compared(tmp_path: Path) -> dict[str, Any]:
    """One figure of each verdict, one task of one side alone, and one that is another experiment."""
    before, after = [], []
    for name, factor, noise in (
        ("slow", 1.2, 0.01),
        ("fast", 0.7, 0.01),
        ("same", 1.0, 0.005),
        ("open", 1.02, 0.08),
        ("twice", 2.5, 0.01),
    ):
        before.append(task(f"{name}/1x2", [figure("time", noisy(1.0, seed=1, noise=noise))]))
        after.append(task(f"{name}/1x2", [figure("time", noisy(factor, seed=2, noise=noise))]))
    before.append(task("gone/1x2", [figure("time", noisy(1.0))]))
    before.append(task("other/1x2", [figure("time", noisy(1.0))]))
    after.append(task("other/1x2", [figure("time", noisy(1.0))], parameters={"n": 128}))
    a, b = (saved(whole(t), tmp_path / f"{n}.json") for n, t in (("before|1", before), ("<b>after", after)))
    return compare(Request(a, b))


def test_sentences_say_what_the_numbers_say(compared: dict[str, Any]) -> None:
    verdicts = {c["task"]: c["verdict"] for c in compared["comparisons"]}
    assert verdicts == {
        "slow/1x2": "regressed",
        "fast/1x2": "improved",
        "same/1x2": "unchanged",
        "open/1x2": "undecided",
        "twice/1x2": "regressed",
    }
    said = "\n".join(words.statements(compared))
    assert "Of 5 figures, 2 regressed by more than 3 %, 1 improved, 1 unchanged within ±3 %" in said
    assert re.search(r"time of `slow/1x2` rose by (19|20|21) % \(between", said)
    assert re.search(r"time of `fast/1x2` fell by (29|30|31) %", said)
    assert re.search(r"time of `twice/1x2` is 2\.[45]\d* times what it was", said)
    assert "1 figure is undecided" in said and "launches on each side" in said


def test_both_pages_hold_every_figure_and_everything_that_was_left(
    compared: dict[str, Any], tmp_path: Path
) -> None:
    page = report(compared, tmp_path / "out")
    html, markdown = page.read_text(), (tmp_path / "out" / "report.md").read_text()
    for name in ("slow", "fast", "same", "open", "twice", "gone", "other"):
        assert f"{name}/1x2" in html and f"{name}/1x2" in markdown
    for text in (html, markdown):
        assert "n was 64, is 128" in text and "Holm" in text
        assert "synthetic" in text  # the fixtures' machine is
    assert "<b>after" not in html and "&lt;b&gt;after" in html
    order = [html.index(f'id="{name}"') for name in ("differences", "changes", "left", "method")]
    assert order == sorted(order)


def test_the_plot_is_drawn_in_both_themes_with_a_row_a_figure(
    compared: dict[str, Any], tmp_path: Path
) -> None:
    report(compared, tmp_path / "out")
    alone = (tmp_path / "out" / "figures" / "comparison.svg").read_text()
    ElementTree.fromstring(alone.split("\n", 1)[1])
    inline = (tmp_path / "out" / "report.html").read_text()
    drawing = inline[inline.index("<svg") : inline.index("</svg>")]
    assert "#0102" not in drawing and "var(--c5)" in drawing and "var(--ink)" in drawing
    assert all(drawing.count(f"{n}/1x2: time") == 1 for n in ("slow", "fast", "same", "open", "twice"))
    assert "worse by more than 3 %" in drawing and "Less is better" in drawing


def test_without_any_change_the_report_says_so_first(tmp_path: Path) -> None:
    tasks = [task("a", [figure("time", noisy(1.0, noise=0.002))])]
    a, b = (saved(whole(tasks), tmp_path / f"{n}.json") for n in "ab")
    same = compare(Request(a, b))
    assert words.statements(same)[0] == "No significant change. Of 1 figure, 1 unchanged within ±3 %."
    markdown = report(same, tmp_path / "out").with_name("report.md").read_text()
    assert "Nothing that was recorded differs" in markdown


def test_many_figures_are_in_the_table_and_the_plot_has_the_largest_changes(tmp_path: Path) -> None:
    before = [task(f"t{i}", [figure("time", noisy(1.0, seed=i))]) for i in range(60)]
    after = [task(f"t{i}", [figure("time", noisy(1.5 if i == 59 else 1.0, seed=i + 100))]) for i in range(60)]
    a, b = (saved(whole(t), tmp_path / f"{n}.json") for n, t in (("a", before), ("b", after)))
    html = report(compare(Request(a, b)), tmp_path / "out").read_text()
    drawing = html[html.index("<svg") : html.index("</svg>")]
    assert "t59: time" in drawing and len(re.findall(r">t\d+: time<", drawing)) == 40
    assert "20 more figures of smaller changes are in the table alone" in html and "(60 rows)" in html


@pytest.mark.parametrize("factors", [[1.0], [1.0, 1.5, 40.0], [0.001, 1.0], [1.0001] * 3])
def test_any_range_of_ratios_has_ticks_that_can_be_read(factors: list[float]) -> None:
    from strata.report.figures.forest import Panel, Row, forest

    made = judge(pairs(random.Random(1), factors, 8, 0.01), 0.03).verdicts
    rows = [Row(v.pair.task, v.ratio, v.low, v.high, v.word) for v in made]
    svg = forest("key", [Panel("Less is better", 1.03, rows)], "3 %")
    ticks = re.findall(r'id="key-xtick_\d+"', svg)
    assert 3 <= len(ticks) <= 12
