"""Names of strangers (users, jobs, nodes, figures) are words in every file of a report, and never markup."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from strata import cli
from strata.report.build import write
from strata.report.document import (
    Block,
    Card,
    Cards,
    Code,
    Document,
    Heading,
    Notice,
    Plot,
    Points,
    Section,
    Table,
    Text,
    Tile,
    Tiles,
)
from strata.report.figures.theme import canvas, finish
from strata.report.render import mdtext

NAMES = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "]]><script>alert(1)</script>",
    "</style></title></pre><script>alert(1)</script>",
    "{{ 7*7 }}{% raw %}<script>",
    "<!-- <script>",
    "&lt;script&gt;",
    "```\n<script>alert(1)</script>",
    "$x^2$ <script>",
]
# Where Markdown's readers begin and end code, and where not: each would let a tag through.
CODE = ["`a\n\n<script>b`", "``a`b``<script>`d", "\\`<script>`", "`<script>", "`a` <script> `b`"]


class Tags(HTMLParser):
    """The tags of a page, with their attributes, and its words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def plot(name: str) -> Plot:
    with canvas() as (figure, axes):
        axes.plot([1, 2], [1, 2], label=name)
        axes.set_title(name)
        axes.set_xticks([1, 2], [name, name])
        figure.legend(loc="outside upper left")
        return Plot(name, name, finish(figure, name), name, name, number=1, reproduce=[name])


def document(name: str) -> Document:
    blocks: list[Block] = [
        Text(name),
        Heading(name),
        Notice("warning", name),
        Points([name]),
        Tiles([Tile(name, name, name, name, 0.5, name)]),
        Cards([Card("warning", name, name, name, name)]),
        Code([(name, name)]),
        Table((name, name), [(name, name)], frozenset([1]), name),
        Table((name, name), [(name, name)], caption=name, folded=True),
        plot(name),
    ]
    return Document(name, name, [(name, name)], name, [Section("first", name, blocks)])


def in_markdown(page: str) -> Iterator[str]:
    """What could be tags: all but code."""
    page = re.sub(r"^```sh\n.*?^```$", "", page, flags=re.M | re.S)
    assert "```" not in page, "a block of code was ended by what is in it"
    yield from re.findall(r"<[A-Za-z/!?][^>\n]*", re.sub(r"(?<!`)`(?!`)[^`\n]*`", "", page))


def check(folder: Path) -> Tags:
    page = Tags((folder / "report.html").read_text())
    assert not page.tags & {"script", "img", "iframe", "object", "a:href", "raw"}
    assert not [name for name in page.attributes if name.startswith("on")]
    assert set(in_markdown((folder / "report.md").read_text())) <= {"<br"}
    for path in (folder / "figures").iterdir():
        tree = ET.fromstring(path.read_text())
        assert not [e for e in tree.iter() if e.tag.endswith(("script", "foreignObject", "img"))], path
        assert not [a for e in tree.iter() for a in e.attrib if a.startswith("on")], path
    return page


@pytest.mark.parametrize("name", [*NAMES, *CODE, "../../x", "a\x00b\x1b[31m"])
def test_no_name_is_markup_in_any_file_of_a_report(tmp_path: Path, name: str) -> None:
    made = write(document(name), tmp_path / "a" / "b")
    page = check(made.parent)
    if name in NAMES and "\n" not in name:
        assert sum(name in words for words in page.words) > 5, "and it is shown as it is"
    assert {each.name for each in tmp_path.iterdir()} == {"a"}


@pytest.mark.parametrize("name", [*NAMES, *CODE])
def test_what_is_no_code_in_markdown_has_no_tags(name: str) -> None:
    assert list(in_markdown(mdtext(name).replace("```", ""))) == []


def test_a_fleets_report_of_strangers_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["centre", "fleet", "generate", "--nodes", "20", "--plant", "7:bandwidth:12%:3", "--out", "runs"]
    assert cli.main(words) == 0
    for path in (tmp_path / "runs").rglob("*.json"):
        run = json.loads(path.read_text())
        run["campaign"] = NAMES[0]
        run["hardware"] = {**run["hardware"], **{name: name for name in NAMES}}
        run["software"] = {name: name for name in NAMES}
        run["figures"] |= dict.fromkeys(NAMES[:4], run["figures"]["bandwidth"])
        run["absent"] = {name: name for name in NAMES}
        path.write_text(json.dumps(run))
    assert cli.main(["centre", "fleet", "report", "runs", "--out", "report"]) in (0, 1)
    page = check(tmp_path / "report")
    assert all(any(name in words for words in page.words) for name in NAMES[:4])
    for path in (tmp_path / "report").glob("*.json"):
        json.loads(path.read_text())
