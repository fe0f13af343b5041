"""Boxes that contain boxes: children flow from left to right and wrap; the size follows from the content.

Small on purpose: a drawing of a machine is nested rectangles, and no layout library is worth a dependency for
that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

# Mean advance of a sans-serif glyph relative to its size; a little wide, so that labels never touch the
# frame.
CHAR, CHAR_BOLD = 0.56, 0.63


@dataclass
class Box:
    """A rectangle with a title and children, or, without children, a leaf of at least `least_width` x
    `least_height`.
    """

    style: str
    title: str = ""
    lines: tuple[str, ...] = ()
    children: list[Box] = field(default_factory=list)
    least_width: float = 0.0
    least_height: float = 0.0
    even: bool = False  # all children as high as the highest
    font: float = 12.0
    pad: float = 8.0
    gap: float = 6.0
    columns: int | None = None
    tooltip: str = ""
    centred: bool = False
    dots: int = 0  # small marks along the lower edge, one for each hardware thread of a core
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0

    def arrange(self, most: float) -> None:
        """Sizes this box and places its children inside, using at most this width where they allow it."""
        head = self._head()
        text = max(
            (len(t) * (CHAR_BOLD if t == self.title else CHAR) * f for t, f in self._texts()), default=0.0
        )
        inner = max(0.0, most - 2 * self.pad)
        right = row_height = 0.0
        x, y, in_row = 0.0, head, 0
        for child in self.children:
            child.arrange(min(inner, child.least_width) if child.children and child.least_width else inner)
        tallest = max((child.height for child in self.children), default=0.0)
        for child in self.children:
            child.height = tallest if self.even else child.height
        columns = self.columns or self._balanced(inner)
        for child in self.children:
            full = columns is not None and in_row >= columns
            if in_row and (full or x + child.width > inner + 0.01):
                x, y, in_row, row_height = 0.0, y + row_height + self.gap, 0, 0.0
            child.x, child.y = self.pad + x, self.pad + y
            x += child.width + self.gap
            right, row_height, in_row = max(right, x - self.gap), max(row_height, child.height), in_row + 1
        bottom = y + row_height if self.children else head
        self.width = max(self.least_width, right + 2 * self.pad, text + 2 * self.pad)
        self.height = max(self.least_height, bottom + 2 * self.pad)

    def _balanced(self, inner: float) -> int | None:
        """Equal children in rows of equal length: eight in a row for seven become four and four."""
        widths = {round(child.width) for child in self.children}
        if len(widths) != 1 or len(self.children) < 3:
            return None
        fit = max(1, int((inner + self.gap) // (self.children[0].width + self.gap)))
        rows = -(-len(self.children) // fit)
        return -(-len(self.children) // rows)

    def _texts(self) -> list[tuple[str, float]]:
        return [
            (t, f)
            for t, f in ((self.title, self.font), *((line, self.font * 0.88) for line in self.lines))
            if t
        ]

    def _head(self) -> float:
        texts = self._texts()
        return sum(f * 1.35 for _, f in texts) + (2.0 if texts and self.children else 0.0)

    def svg(self) -> str:
        """This box and everything in it, as a group moved to its place."""
        parts = [f'<g transform="translate({self.x:.1f} {self.y:.1f})">']
        if self.tooltip:
            parts.append(f"<title>{escape(self.tooltip)}</title>")
        if self.style:
            parts.append(
                f'<rect class={quoteattr(self.style)} width="{self.width:.1f}" '
                f'height="{self.height:.1f}" rx="3"/>'
            )
        parts += self._text_svg()
        parts += [child.svg() for child in self.children]
        parts.append("</g>")
        return "".join(parts)

    def _text_svg(self) -> list[str]:
        texts, parts = self._texts(), []
        middle = self.centred and not self.children
        free = self.height - (4.0 if self.dots else 0.0)
        y = self.pad if not middle else 0.5 * (free - sum(f * 1.35 for _, f in texts))
        for i in range(self.dots):
            x = 0.5 * self.width + (i - 0.5 * (self.dots - 1)) * 6.0
            parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{self.height - 4:.1f}" r="1.4"/>')
        for i, (text, font) in enumerate(texts):
            y += font * 1.35
            where = f'x="{0.5 * self.width:.1f}" text-anchor="middle"' if middle else f'x="{self.pad:.1f}"'
            kind = "t" if i == 0 and self.title else "s"
            parts.append(
                f'<text class="{kind}" {where} y="{y - 0.35 * font:.1f}" '
                f'font-size="{font:g}">{escape(text)}</text>'
            )
        return parts
