"""Matplotlib draws with sentinel colours; the SVG text then gets CSS variables (inside the page) or plain
colours (as a file). Names in plots are anybody's: they are shown as they are, without formulas and control
characters.

Text stays text (small, searchable, in the reader's font); ids get the plot's key in front, since many plots
share one page.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from strata.report.document import key_of

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
    "text.parse_math": False,  # a $ in a name begins no formula, which would end the report where it is none
}

# What a terminal obeys, what turns the direction of text, and what XML has no place for.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_RAISED = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")


def shown(text: str) -> str:
    """What would be obeyed is written out: `\\x1b` for an escape. Names in results may be anybody's."""
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _matplotlib() -> Any:
    """Matplotlib, which as it is imported reads the matplotlibrc of the current folder. Anybody may have put
    one there: a FIFO, or settings by which LaTeX reads other files.
    """
    if "matplotlib" in sys.modules or not os.access(".", os.X_OK):  # closed: it finds nothing there either
        import matplotlib

        return matplotlib
    here = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.chdir("/")
        import matplotlib
    finally:
        os.fchdir(here)
        os.close(here)
    return matplotlib


@contextmanager
def _settings(**more: Any) -> Iterator[None]:
    """A report's settings above Matplotlib's own, whatever a matplotlibrc said."""
    matplotlib = _matplotlib()
    with matplotlib.rc_context():
        defaults = {name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"}
        dict.update(matplotlib.rcParams, defaults)  # they are valid, and looking costs milliseconds
        matplotlib.rcParams.update({**_SETTINGS, **more})
        yield


@contextmanager
def canvas(width: float = 7.4, height: float = 3.5, **grid: Any) -> Iterator[tuple[Any, Any]]:
    """A figure and its axes in the report's style; no global state of Matplotlib is left changed."""
    with _settings():
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure, figure.subplots(**grid)


def finish(figure: Any, key: str) -> str:
    """The figure as themed SVG text."""
    key = key_of(key)
    out = io.StringIO()
    with _settings(**{"svg.hashsalt": key}):
        _show_literally(figure)
        # savefig() does the same after a hidden first drawing, which costs as much as the one that counts.
        figure.get_layout_engine().execute(figure)
        figure.set_layout_engine("none")
        figure.canvas.print_svg(out, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _tidy(out.getvalue(), key)


def _show_literally(figure: Any) -> None:
    """All words of a figure as shown() writes them, those at ticks too."""
    from matplotlib.text import Text
    from matplotlib.ticker import Formatter, LogFormatter

    class Shown(Formatter):
        """The words of another formatter. Matplotlib's own for powers are formulas, $10^{3}$: these become
        plain text with raised digits.
        """

        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def __call__(self, x: float, pos: int | None = None) -> str:
            return self._plain(self.inner(x, pos))

        def format_ticks(self, values: Any) -> list[str]:
            return [self._plain(text) for text in self.inner.format_ticks(values)]

        def get_offset(self) -> str:
            return shown(self.inner.get_offset())

        def set_locs(self, locs: Any) -> None:
            self.inner.set_locs(locs)

        def _plain(self, text: str) -> str:
            return shown(_without_formula(text) if isinstance(self.inner, LogFormatter) else text)

    for text in figure.findobj(Text):
        if text.get_text() != (plain := shown(text.get_text())):
            text.set_text(plain)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if not isinstance(axis.get_major_formatter(), Shown):
                axis.set_major_formatter(Shown(axis.get_major_formatter()))
                axis.set_minor_formatter(Shown(axis.get_minor_formatter()))


def _without_formula(power: str) -> str:
    r"""`$\\mathdefault{2\\times10^{-3}}$` as plain text."""
    found = re.fullmatch(r"\$\\mathdefault\{(?:(.*)\\times)?(.*)\^\{(.*)\}\}\$", power)
    if found is None:
        return power
    factor = f"{found[1]} × " if found[1] else ""
    return f"{factor}{found[2]}{found[3].translate(_RAISED)}"


def _tidy(svg: str, key: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.S)
    # A style element inside the page would hold for the whole page: its rule moves to the drawing's own root.
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, count=1, flags=re.S)
    svg = svg.replace("<svg ", '<svg stroke-linejoin="round" stroke-linecap="butt" ', 1)
    svg = _TAG.sub(lambda tag: _themed(tag[0], key), svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    box = re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+)', svg)
    if box:  # never larger than the widest plot would be, so that letters have one size on the page
        svg = svg.replace("<svg ", f'<svg style="max-width:{float(box.group(1)) * SCALE:.0f}px" ', 1)
    return re.sub(r"\n\s*", "\n", svg).strip()


_TAG = re.compile("<[^>]+>")  # Matplotlib writes no > in a tag but its last one
_NAMES = {sentinel: name for name, (sentinel, _, _) in PALETTE.items()}
_SENTINEL = re.compile("|".join(_NAMES))


def _themed(tag: str, key: str) -> str:
    """One tag. Words between tags are names, and stay as they are."""
    tag = _SENTINEL.sub(lambda found: f"var(--{_NAMES[found[0]]})", tag)
    if "DejaVu" in tag:
        tag = re.sub(r"(font(?:-family)?: ?[^;\"]*?)'DejaVu Sans'(?:, [^;\"]*)?", r"\1var(--sans)", tag)
    tag = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', tag)
    return re.sub(r'(href="|url\()#', rf"\1#{key}-", tag)


def standalone(svg: str, dark: bool = False) -> str:
    """The same drawing with plain colours on an opaque ground: readable in any viewer, on any page."""
    colours = {name: night if dark else light for name, (_, light, night) in PALETTE.items()}
    values = {**colours, "sans": FONT.replace('"', "'")}
    of_name = re.compile(rf"var\(--({'|'.join(values)})\)")
    svg = _TAG.sub(lambda tag: of_name.sub(lambda found: values[found[1]], tag[0]), svg)
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
