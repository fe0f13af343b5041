"""Formulas of the documentation's pages as MathML: a hook of MkDocs (mkdocs.yml).

Pages hold TeX between dollar signs, as GitHub draws it. The extension `pymdownx.arithmatex` finds it, and
this hook replaces it when the site is built. Browsers draw MathML by themselves: the reader needs no script
and no network. The font lies in the style sheet.
"""

from __future__ import annotations

import re
from base64 import b64encode
from html import unescape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
BLOCK = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


def mathml(tex: str, display: str, page: str) -> str:
    """A formula as MathML; one that cannot be read is an error that names page and formula."""
    try:
        made = convert(tex, display=display)
    except Exception as error:  # the library has no class that its errors share
        raise PluginError(f"{page}: this formula cannot be read ({error!r}): {tex}") from error
    if "\\" in made:  # what the library does not know it passes on as it was
        raise PluginError(f"{page}: this formula has a command that latex2mathml does not know: {tex}")
    return made


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Called by MkDocs with each page once its Markdown has become HTML."""
    name = page.file.src_uri
    html = BLOCK.sub(
        lambda found: f'<div class="formula">{mathml(unescape(found[1]), "block", name)}</div>', html
    )
    return INLINE.sub(lambda found: mathml(unescape(found[1]), "inline", name), html)


def on_post_build(config: Any, **_: Any) -> None:
    """Called by MkDocs at the end: the font of formulas becomes a part of the style sheet."""
    assets = Path(config.site_dir) / "assets"
    font = b64encode((assets / "math.woff2").read_bytes()).decode()
    sheet = assets / "site.css"
    sheet.write_text(sheet.read_text().replace('"math.woff2"', f"data:font/woff2;base64,{font}"))
