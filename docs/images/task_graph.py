"""Draws the pictures of docs/task-graph.md into this folder: `python docs/images/task_graph.py`.

Each has a background of its own, light or dark as the reader's system is, so that it can be read on any page.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

STYLE = """
.page{fill:#fff;stroke:#d0d7de}text{font:14px sans-serif;fill:#1f2328}.note{font-size:12px;fill:#57606a}
.box{stroke:#57606a}.none{fill:none}.a{fill:#b6dcfe}.b{fill:#ffdfb6}.c{fill:#c6ebc6}.d{fill:#ead0f5}
.plain{fill:#f6f8fa}.line{stroke:#57606a;fill:none}.dashed{stroke-dasharray:5 4}.tip,.dot{fill:#57606a}
@media(prefers-color-scheme:dark){
.page{fill:#161b22;stroke:#30363d}text{fill:#e6edf3}.note{fill:#9ea7b3}.box,.line{stroke:#9ea7b3}
.a{fill:#174a75}.b{fill:#704412}.c{fill:#22552b}.d{fill:#55306b}.plain{fill:#21262d}.tip,.dot{fill:#9ea7b3}}
"""
PATCH = "abcd"  # the colours of patches 0 to 3


class Drawing:
    """An SVG picture of so many pixels, with what has been put on it."""

    def __init__(self, width: int, height: int, about: str) -> None:
        self._head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img"><title>{escape(about)}</title><style>{STYLE}</style>'
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
            'orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
        )
        self._parts: list[str] = []
        self.box(0.5, 0.5, width - 1, height - 1, "page")

    def box(
        self, x: float, y: float, width: float, height: float, kind: str = "none", text: str = ""
    ) -> None:
        """A rectangle, with a text in its middle."""
        frame = "page" if kind == "page" else f"box {kind}"
        self._parts.append(
            f'<rect class="{frame}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3"/>'
        )
        if text:
            self.text(x + width / 2, y + height / 2 + 5, text)

    def text(self, x: float, y: float, text: str, anchor: str = "middle", note: bool = False) -> None:
        kind = ' class="note"' if note else ""
        self._parts.append(f'<text{kind} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>')

    def note(self, x: float, y: float, text: str, anchor: str = "middle") -> None:
        self.text(x, y, text, anchor, note=True)

    def tag(self, x: float, y: float, text: str, kind: str) -> None:
        """A text that stands on lines, with their background around it."""
        width = 8 * len(text) + 6
        self._parts.append(
            f'<rect class="{kind}" x="{x - width / 2:g}" y="{y - 15:g}" width="{width}" height="20"/>'
        )
        self.text(x, y, text)

    def arrow(self, x: float, y: float, to_x: float, to_y: float, dashed: bool = False) -> None:
        kind = "line dashed" if dashed else "line"
        self._parts.append(
            f'<path class="{kind}" d="M{x:g} {y:g}L{to_x:g} {to_y:g}" marker-end="url(#tip)"/>'
        )

    def dot(self, x: float, y: float) -> None:
        self._parts.append(f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="4"/>')

    def svg(self) -> str:
        return self._head + "\n" + "\n".join(self._parts) + "\n</svg>\n"


def patches() -> Drawing:
    d = Drawing(680, 220, "Cells in patches, along one direction and in two")
    d.text(24, 32, "100 cells in patches of 32", "start")
    for p, (lo, hi) in enumerate([(0, 32), (32, 64), (64, 96), (96, 100)]):
        d.box(24 + 3 * lo, 48, 3 * (hi - lo), 40, PATCH[p], str(p))
        d.note(24 + 1.5 * (lo + hi), 106, f"{lo} to {hi - 1}")
    d.note(24, 150, "Patch 3 is smaller: four cells.", "start")
    d.note(24, 170, "Which process has which patch is not declared.", "start")
    d.text(416, 32, "12 x 8 cells in patches of 4 x 4", "start")
    for p in range(6):
        x, y = 416 + 76 * (p % 3), 124 - 76 * (p // 3)
        for cell in range(16):
            d.box(x + 19 * (cell % 4), y + 19 * (cell // 4), 19, 19, "abcdab"[p])
        d.tag(x + 38, y + 43, str(p), "abcdab"[p])
    d.note(660, 208, "x", "end")
    d.note(408, 60, "y", "end")
    return d


def ghosts() -> Drawing:
    d = Drawing(680, 210, "What a task on patch 1 sees of the label with one layer of ghosts")
    d.text(24, 30, "u of step s - 1: 32 cells in patches of 8", "start")
    size = 19
    for i in range(32):
        d.box(36 + size * i, 44, size, 26, PATCH[i // 8])
    for p in range(4):
        d.note(36 + size * (8 * p + 4), 86, f"patch {p}: {8 * p} to {8 * p + 7}")
    for i in range(7, 17):
        d.box(36 + size * i, 130, size, 26, PATCH[i // 8])
    for i in (7, 16):
        d.arrow(36 + size * (i + 0.5), 92, 36 + size * (i + 0.5), 128)
    d.tag(36 + size * 12, 148, "8 to 15", "b")
    d.note(36 + size * 7.5, 172, "ghost 7")
    d.note(36 + size * 16.5, 172, "ghost 16")
    d.note(36 + size * 12, 196, "what a task on patch 1 sees with need(u.previous(), ghosts(1))")
    return d


def versions() -> Drawing:
    d = Drawing(680, 190, "Three versions of a label within a step, who makes them and who reads them")
    for n, value in enumerate(("1", "2", "4")):
        x = 30 + 240 * n
        d.box(x, 40, 130, 44, "a", f"version {n}: u = {value}")
        if n < 2:
            d.arrow(x + 132, 62, x + 238, 62)
            d.text(x + 185, 52, ("add one", "double")[n])
    d.note(95, 104, "left by the step before")
    d.arrow(335, 86, 335, 126)
    d.box(285, 128, 100, 36, "plain", "look")
    d.arrow(387, 146, 455, 70, dashed=True)
    d.note(460, 130, "done before 'double' overwrites", "start")
    d.note(460, 147, "version 1 in the same memory", "start")
    return d


def history() -> Drawing:
    d = Drawing(680, 190, "A label with a history of two has three buffers that are used in turn")
    roles = ("previous(2)", "previous(1)", "made now")
    for buffer in range(3):
        d.text(24, 75 + 44 * buffer, f"buffer {buffer}", "start")
    for step in range(4):
        x = 110 + 138 * step
        d.text(x + 62, 34, f"step {step + 1}")
        for age, role in enumerate(roles):
            d.box(x, 52 + 44 * ((step + age) % 3), 124, 34, ("plain", "b", "a")[age], role)
    return d


def sums() -> Drawing:
    d = Drawing(680, 260, "A node where four patches meet has a part from each of them")
    size = 44
    for j in range(4):
        for i in range(6):
            d.box(50 + size * i, 216 - size * (j + 1), size, size, PATCH[i // 3 + 2 * (j // 2)])
    for p, (i, j) in enumerate([(1, 0.5), (5, 0.5), (1, 3.5), (5, 3.5)]):
        d.tag(50 + size * i, 221 - size * j, f"patch {p}", PATCH[p])
    for i in range(7):
        for j in range(5):
            d.dot(50 + size * i, 216 - size * j)
    for i, j in [(2.5, 1.5), (3.5, 1.5), (2.5, 2.5), (3.5, 2.5)]:
        to_x, to_y = 50 + size * (3 + 0.2 * (i - 3)), 216 - size * (2 + 0.2 * (j - 2))
        d.arrow(50 + size * i, 216 - size * j, to_x, to_y)
    d.text(350, 60, "Node (3, 2): 1/4 from a cell of each patch,", "start")
    d.text(350, 80, "added up in the order of patches:", "start")
    d.text(350, 112, "((1/4 + 1/4) + 1/4) + 1/4 = 1", "start")
    d.note(350, 152, "Each patch adds to an array of its own, which reaches one", "start")
    d.note(350, 170, "layer of nodes into the patches above and to the right.", "start")
    d.note(350, 188, "No patch writes to memory that another one writes to.", "start")
    d.note(50, 244, "6 x 4 cells, 7 x 5 nodes; the nodes on x = 3 are those of patches 1 and 3", "start")
    return d


def scalars() -> Drawing:
    d = Drawing(680, 180, "Contributions of patches are combined to one number, which tasks may need")
    for p in range(10):
        d.box(24 + 40 * p, 40, 34, 30, PATCH[p % 4], "0.1")
        d.arrow(41 + 40 * p, 72, 212 + 2 * p, 108)
    d.note(24, 30, "one contribution from each of ten patches", "start")
    d.box(150, 110, 150, 36, "plain", "sum: exactly 1")
    d.arrow(302, 128, 438, 128)
    d.note(370, 120, "need(total)")
    d.box(440, 110, 210, 36, "plain", "any task, on any patch")
    d.note(224, 166, "waits for all ten")
    return d


def particles() -> Drawing:
    d = Drawing(680, 230, "Eight particles before and after a step, and the patches that have them")
    size, left = 70, 60
    after = [(p + 0.5 + (p + 1) / 4) % 8 for p in range(8)]
    for y, title in ((46, "before step 1"), (146, "after it")):
        d.note(left, y - 8, title, "start")
        for patch in range(4):
            d.box(left + 2 * size * patch, y, 2 * size, 40, PATCH[patch])
    for p in range(8):
        x, to = left + size * (p + 0.5), left + size * after[p]
        d.dot(x, 66)
        d.dot(to, 164)
        d.text(x, 60, str(p))
        d.text(to, 184, str(p))
        d.arrow(x, 74, to if to > x else x + 60, 156 if to > x else 112)
    d.note(left + size * 8 - 40, 132, "to cells 0 and 1", "start")
    for patch, text in enumerate(("0, 6, 7", "1, 2", "3, 4", "5")):
        d.note(left + 2 * size * (patch + 0.5), 208, f"patch {patch}: {text}")
    return d


def scopes() -> Drawing:
    d = Drawing(680, 250, "Scopes within scopes: the start, the step and what is within it")
    d.box(20, 40, 110, 180, "plain")
    d.text(75, 32, "start, once")
    d.box(32, 60, 86, 34, "a", "zero")
    d.arrow(132, 130, 156, 130)
    d.box(158, 40, 502, 180, "plain")
    d.text(409, 32, "step, again and again")
    d.box(172, 113, 112, 34, "a", "divide by three")
    d.arrow(286, 130, 304, 130)
    d.box(306, 66, 258, 140)
    d.note(435, 84, "when: every third step")
    d.box(318, 113, 64, 34, "a", "add 1")
    d.arrow(384, 130, 406, 130)
    d.box(408, 96, 144, 66)
    d.note(480, 112, "subcycle: twice")
    d.box(440, 118, 80, 34, "a", "add 10")
    d.arrow(566, 130, 586, 130)
    d.box(588, 113, 60, 34, "a", "look")
    d.note(480, 176, "takes(count.at(1))")
    d.note(435, 198, "takes version 0 of 'count', makes version 1")
    return d


def relations() -> Drawing:
    d = Drawing(680, 250, "A patch of columns needs values from all patches of rows")
    size = 14
    d.text(24 + 6 * size, 32, "rows: 12 x 3 each")
    for p in range(4):
        d.box(24, 46 + size * 3 * (3 - p), 12 * size, 3 * size, PATCH[p], str(p))
        d.box(440 + 4 * size, 46 + size * 3 * (3 - p), 4 * size, 3 * size, PATCH[p])
        d.arrow(194, 46 + size * 3 * (3 - p) + 21, 438 + 4 * size, 46 + size * 3 * (3 - p) + 21)
    d.text(440 + 6 * size, 32, "columns: 4 x 12 each")
    for p in range(3):
        d.box(440 + 4 * size * p, 46, 4 * size, 12 * size)
        d.text(440 + 4 * size * (p + 0.5), 46 + 12 * size + 18, str(p))
    d.note(310, 62, "Overlap: the same indices")
    d.note(
        24,
        242,
        "Patch 1 of 'columns' sees a window of 4 x 12 values, from all four patches of 'rows'.",
        "start",
    )
    return d


def order() -> Drawing:
    d = Drawing(680, 180, "Two threads work on four patches; no step waits for the end of the one before")
    first = [(0, 1, 0, 1), (1, 1, 1, 1), (0, 2, 2, 1), (1, 2, 3, 1), (0, 3, 4, 1), (1, 3, 5, 1)]
    second = [(2, 1, 0, 1.8), (3, 1, 1.8, 1), (3, 2, 2.8, 1), (2, 2, 3.8, 1.2), (3, 3, 5, 1)]
    for row, tasks in enumerate((first, second)):
        y = 44 + 56 * row
        d.text(20, y + 25, f"thread {row}", "start")
        for patch, step, begin, length in tasks:
            d.box(100 + 92 * begin, y, 92 * length - 4, 40, PATCH[patch], f"{patch}, step {step}")
    d.arrow(100, 156, 655, 156)
    d.note(655, 172, "time", "end")
    d.note(100, 30, "task 'diffuse' on patches 0 to 3 of a line: (patch, step)", "start")
    return d


def upwind() -> Drawing:
    d = Drawing(680, 196, "Patches in the order of a sweep up along x and y: level after level")
    for column in range(4):
        for row in range(3):
            x, y = 60 + 84 * column, 122 - 48 * row
            d.box(x, y, 64, 32, PATCH[(column + row) % 4], str(column + row))
            if column < 3:
                d.arrow(x + 64, y + 16, x + 84, y + 16)
            if row < 2:
                d.arrow(x + 32, y, x + 32, y - 16)
    d.note(60, 176, "4 x 3 patches with their levels; an arrow: is waited for", "start")
    for thread, levels in enumerate(("0 1 2 2 3 4", "1 2 3 3 4 5")):
        y = 58 + 56 * thread
        d.text(420, y - 6, f"thread {thread}", "start")
        for at, level in enumerate(levels.split()):
            d.box(420 + 36 * (at + thread), y, 32, 28, PATCH[int(level) % 4], level)
    d.arrow(420, 156, 660, 156)
    d.note(660, 172, "time", "end")
    return d


DRAWINGS: dict[str, Callable[[], Drawing]] = {
    "graph-patches.svg": patches,
    "graph-ghosts.svg": ghosts,
    "graph-versions.svg": versions,
    "graph-history.svg": history,
    "graph-sums.svg": sums,
    "graph-scalars.svg": scalars,
    "graph-particles.svg": particles,
    "graph-scopes.svg": scopes,
    "graph-relations.svg": relations,
    "graph-order.svg": order,
    "graph-upwind.svg": upwind,
}

if __name__ == "__main__":
    for name, draw in DRAWINGS.items():
        Path(__file__).with_name(name).write_text(draw().svg())
