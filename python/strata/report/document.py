"""What a report is made of, apart from how it looks: the HTML page and the Markdown page are two renderings
of one document.

Text is plain, with `code` in backticks and **strong** in double asterisks; nothing else is markup.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal


def key_of(text: str) -> str:
    """The text as a part of names of files and of ids in a page, whatever a stranger's file said."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text)


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True)
class Notice:
    """A box that cannot be overlooked: 'synthetic', 'missing' or 'warning'."""

    tone: str
    text: str
    kind: Literal["notice"] = "notice"


@dataclass(frozen=True)
class Points:
    """A list of sentences."""

    items: Sequence[str]
    kind: Literal["points"] = "points"


@dataclass(frozen=True)
class Table:
    """`numeric` holds the columns that are set flush right; a cell is text."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: frozenset[int] = frozenset()
    caption: str = ""
    folded: bool = False
    kind: Literal["table"] = "table"


@dataclass(frozen=True)
class Plot:
    """`svg` carries colour variables; `says` is what may be concluded from it, `reproduce` the lines that
    measure it again.
    """

    key: str
    title: str
    svg: str
    caption: str = ""
    says: str = ""
    reproduce: Sequence[str] = ()
    number: int = 0
    wide: bool = False
    kind: Literal["plot"] = "plot"

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", key_of(self.key))


@dataclass(frozen=True)
class Tile:
    """One figure of the first glance, with its interval and the part of its bound."""

    label: str
    value: str
    unit: str
    note: str
    part: float | None = None  # of the bound, 0 to 1
    part_note: str = ""


@dataclass(frozen=True)
class Tiles:
    """Tiles in a row."""

    tiles: Sequence[Tile]
    kind: Literal["tiles"] = "tiles"


@dataclass(frozen=True)
class Card:
    """A finding."""

    severity: str
    what: str
    evidence: str
    consequence: str
    remedy: str


@dataclass(frozen=True)
class Cards:
    """Cards below each other."""

    cards: Sequence[Card]
    kind: Literal["cards"] = "cards"


@dataclass(frozen=True)
class Code:
    """Lines to paste: (label, command) pairs."""

    lines: Sequence[tuple[str, str]]
    kind: Literal["code"] = "code"


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: str
    kind: Literal["heading"] = "heading"


Block = Text | Notice | Points | Table | Plot | Tiles | Cards | Code | Heading


@dataclass
class Section:
    """A part of the report with a title; `ident` is what links to it."""

    ident: str
    title: str
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Document:
    """The whole report. `attention`: what a reader must know before anything else."""

    title: str
    subtitle: str
    facts: list[tuple[str, str]]
    attention: str | None
    sections: list[Section]

    def plots(self) -> list[Plot]:
        return [b for s in self.sections for b in s.blocks if isinstance(b, Plot)]


def numbered(sections: list[Section]) -> list[Section]:
    """The sections, their plots numbered from 1 on."""
    number = 0
    for section in sections:
        for i, block in enumerate(section.blocks):
            if isinstance(block, Plot):
                number += 1
                section.blocks[i] = replace(block, number=number)
    return sections
