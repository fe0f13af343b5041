"""Matplotlib draws with sentinel colours; the SVG text then gets CSS variables (inside the page) or plain
colours (as a file).

Text stays text (small, searchable, in the reader's font); ids get the plot's key in front, since many plots
share one page.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# name: (sentinel, light, dark). The sentinels are colours that no colour map contains by accident.
PALETTE: dict[str, tuple[str, str, str]] = {
    "ink": ("#010203", "#1b2430", "#e5e9ef"),
    "soft": ("#010204", "#5a6675", "#9aa6b5"),
    "line": ("#010205", "#d5dbe3", "#343e4b"),
    "page": ("#010206", "#ffffff", "#12171e"),
    "c1": ("#010207", "#2563a8", "#6ea8e6"),
    "c2": ("#010208", "#b9651b", "#e09a57"),
    "c3": ("#010209", "#24815f", "#5cc09c"),
    "c4": ("#01020a", "#7b52a6", "#b697dd"),
    "c5": ("#01020b", "#a8324a", "#e5818f"),
    "c6": ("#01020c", "#5f7183", "#93a5b6"),
}
INK, SOFT, LINE, PAGE = (PALETTE[k][0] for k in ("ink", "soft", "line", "page"))
SERIES = tuple(PALETTE[f"c{i}"][0] for i in range(1, 7))
SCALE = 1.38  # CSS pixels for each point of a plot: 9 pt letters come out as 12.4 px
FONT = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif'

_SETTINGS: Any = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.labelsize": 9.0,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "axes.linewidth": 0.8,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.0,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.unicode_minus": True,
    "xtick.minor.visible": False,
    "ytick.minor.visible": False,
    "mathtext.default": "regular",
}


@contextmanager
def canvas(width: float = 7.4, height: float = 3.5, **grid: Any) -> Iterator[tuple[Any, Any]]:
    """A figure and its axes in the report's style; no global state of Matplotlib is left changed."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure, figure.subplots(**grid)


def finish(figure: Any, key: str) -> str:
    """The figure as themed SVG text."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({**_SETTINGS, "svg.hashsalt": key}):
        # savefig() does the same after a hidden first drawing, which costs as much as the one that counts.
        figure.get_layout_engine().execute(figure)
        figure.set_layout_engine("none")
        figure.canvas.print_svg(out, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _tidy(out.getvalue(), key)


def _tidy(svg: str, key: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.S)
    # A style element inside the page would hold for the whole page: its rule moves to the drawing's own root.
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, count=1, flags=re.S)
    svg = svg.replace("<svg ", '<svg stroke-linejoin="round" stroke-linecap="butt" ', 1)
    for name, (sentinel, _, _) in PALETTE.items():
        svg = svg.replace(sentinel, f"var(--{name})")
    svg = re.sub(r"(font(?:-family)?: ?[^;\"]*?)'DejaVu Sans'(?:, [^;\"]*)?", r"\1var(--sans)", svg)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{key}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{key}-\1)", svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    box = re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+)', svg)
    if box:  # never larger than the widest plot would be, so that letters have one size on the page
        svg = svg.replace("<svg ", f'<svg style="max-width:{float(box.group(1)) * SCALE:.0f}px" ', 1)
    return re.sub(r"\n\s*", "\n", svg).strip()


def standalone(svg: str, dark: bool = False) -> str:
    """The same drawing with plain colours on an opaque ground: readable in any viewer, on any page."""
    for name, (_, light, night) in PALETTE.items():
        svg = svg.replace(f"var(--{name})", night if dark else light)
    svg = svg.replace("var(--sans)", FONT.replace('"', "'"))
    box = re.search(r'viewBox="([\d.\- ]+)"', svg)
    if box:
        _, _, width, height = (float(v) for v in box.group(1).split())
        ground = PALETTE["page"][2 if dark else 1]
        end = svg.index(">") + 1
        head = svg[: end - 1]
        head += "" if " width=" in head else f' width="{width:g}" height="{height:g}"'
        svg = head + f'><rect width="{width:g}" height="{height:g}" fill="{ground}"/>' + svg[end:]
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + svg + "\n"


def variables(dark: bool = False) -> str:
    """The palette as CSS declarations."""
    return "".join(f"--{name}:{night if dark else light};" for name, (_, light, night) in PALETTE.items())
