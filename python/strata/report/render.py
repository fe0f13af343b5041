"""One document, two looks: a self-contained HTML page and Markdown."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

import jinja2
from markupsafe import Markup

from strata.report.document import Document
from strata.report.figures.theme import FONT, shown, variables


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    env = jinja2.Environment(
        loader=jinja2.PackageLoader("strata.report"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        autoescape=jinja2.select_autoescape(["html.j2"]),
    )
    env.filters["inline"] = inline
    env.filters["cell"] = cell
    env.filters["mdtext"] = mdtext
    env.filters["fenced"] = fenced
    return env


def inline(text: str) -> Markup:
    """`code` and **strong** as HTML; all else escaped. Line ends are kept."""
    parts = []
    for i, piece in enumerate(text.split("`")):
        if i % 2:
            parts.append(f"<code>{escape(piece)}</code>")
        else:
            parts.append(
                re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(piece, quote=False)).replace(
                    "\n", "<br>"
                )
            )
    return Markup("".join(parts))


def cell(text: str) -> str:
    """A Markdown table cell: no bar and no line end may break the row."""
    return mdtext(text).replace("|", "\\|").replace("\n", "<br>")


def mdtext(text: str) -> str:
    """Plain text for Markdown: what would be markup there and is none here gets escaped outside `code`. An
    entity, and no backslash, keeps `<` from beginning a tag: nothing that stands before it can undo that.

    Code is what any reader of Markdown takes for code, as names may be a stranger's: it ends on its line, two
    backticks side by side begin none, nor does one behind a backslash.
    """
    pieces = (text.replace("`", _TICK) if "``" in text else text).split("`")
    if len(pieces) % 2 == 0:  # the last ` begins no code
        pieces[-2:] = [f"{pieces[-2]}{_TICK}{pieces[-1]}"]
    found = ""
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            plain = _plain(piece)
            last = i == len(pieces) - 1
            found += plain[:-1] + "&#92;" if plain.endswith("\\") and not last else plain
        else:
            found += f"{_TICK}{_plain(piece)}{_TICK}" if "\n" in piece else f"`{piece}`"
    return found


_TICK = "&#96;"


def _plain(text: str) -> str:
    return re.sub(r"(?<![*\\])([<_\[\]])", r"\\\1", re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text))


def fenced(line: str) -> str:
    """A line within a block of code, which it does not end."""
    return re.sub(r"(?m)^([^\S\n]*)```", r"\1` ``", line)


def html(document: Document) -> str:
    """The document as one self-contained HTML page."""
    page = _environment().get_template("report.html.j2")
    return shown(page.render(document=document, light=variables(), dark=variables(dark=True), font=FONT))


def markdown(document: Document) -> str:
    """The document as Markdown."""
    text = _environment().get_template("report.md.j2").render(document=document)
    return shown(re.sub(r"\n{3,}", "\n\n", text).strip()) + "\n"
