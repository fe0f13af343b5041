"""From the document of a resolved graph (strata.graph/1) to a drawing.

Scopes are boxes with tasks in them, labels stand on the edges, the critical path is marked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from xml.sax.saxutils import escape

from strata.advice.words import count, size
from strata.draw.boxes import CHAR, CHAR_BOLD
from strata.draw.layers import Link, Node, arrange

Graph = Mapping[str, Any]

FONT, SMALL = 12.0, 10.5
LINE = 1.35
PAD, HEAD = 14.0, 24.0
LOOP = 16.0  # beside a task, for its arrow to itself
MOST_LINES = 5  # of what an edge carries; the rest is counted, and all of it told on pointing at it

STYLE = """
.strata-graph{--g-ink:var(--ink,#1b2430);--g-soft:var(--soft,#5a6675);--g-line:var(--line,#c9d1db);
--g-panel:var(--panel,#f4f6f9);--g-page:var(--page,#ffffff);--g-task:var(--c1,#2f6fae);
--g-sum:var(--c3,#2a8a6d);--g-way:var(--c2,#b9651b)}
@media (prefers-color-scheme:dark){.strata-graph{--g-ink:var(--ink,#e5e9ef);--g-soft:var(--soft,#9aa6b5);
--g-line:var(--line,#3b4654);--g-panel:var(--panel,#1b222b);--g-page:var(--page,#12171e);
--g-task:var(--c1,#6aa7e0);--g-sum:var(--c3,#57bd9c);--g-way:var(--c2,#dd944f)}}
.strata-graph text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
fill:var(--g-ink)}
.strata-graph .t{font-weight:600}
.strata-graph .s{fill:var(--g-soft)}
.strata-graph .page{fill:var(--g-page)}
.strata-graph .scope{fill:var(--g-panel);stroke:var(--g-line)}
.strata-graph .inner{stroke-dasharray:5 3}
.strata-graph .task{fill:var(--g-page);stroke:var(--g-task)}
.strata-graph .made{fill:var(--g-page);stroke:var(--g-sum);stroke-dasharray:4 2}
.strata-graph .way{stroke:var(--g-way);stroke-width:2.4}
.strata-graph .edge{fill:none;stroke:var(--g-soft);stroke-opacity:.65}
.strata-graph .edge.on{stroke:var(--g-way);stroke-opacity:1;stroke-width:2.2}
.strata-graph .under{fill:var(--g-panel)}
.strata-graph marker path{fill:var(--g-soft)}
.strata-graph marker.on path{fill:var(--g-way)}
"""


@dataclass
class Drawn:
    """A task or a scope with its text and what is in it, placed within what contains it."""

    title: str
    lines: list[str]
    style: str
    tip: str = ""
    inside: list[tuple[Node, Drawn]] = field(default_factory=list)
    links: list[tuple[Link, list[str], bool]] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0
    head: float = 0.0
    loop: bool = False  # needs what it makes itself, on other patches


def graph_svg(graph: Graph) -> str:
    """The drawing as one SVG element, light and dark by itself."""
    view = _View(graph)
    scopes = [view.scope(s) for s in graph["scopes"] if s["parent"] < 0 and s["order"]]
    title = f"{graph['graph']}: {summary(graph)}"
    y, parts = 38.0, []
    width = len(title) * CHAR_BOLD * 14 + 2 * PAD
    for scope in scopes:
        parts.append(f'<g transform="translate({PAD:.1f} {y:.1f})">{_svg(scope)}</g>')
        width = max(width, scope.width + 2 * PAD)
        y += scope.height + PAD
    legend = (
        "An arrow carries a label (its version, if not 0) to who needs it; within a task: what comes from "
        "rounds before or from outside. An arrow to itself: patches in order, upwind ones first. Orange: the "
        "critical path."
    )
    width = max(width, len(legend) * SMALL * 0.5 + 2 * PAD)
    head = (
        '<svg class="strata-graph" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {width:.0f} {y + 22:.0f}" width="{width:.0f}" height="{y + 22:.0f}" role="img" '
        f'aria-label="{escape(title)}">'
        f"<style>{STYLE}</style><defs>"
        + "".join(
            f'<marker id="{name}" class="{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0.5 8 4 0 7.5z"/></marker>'
            for name, kind in (("strata-to", ""), ("strata-way", "on"))
        )
        + "</defs>"
    )
    return (
        f'{head}<rect class="page" width="100%" height="100%"/>'
        f'<text class="t" x="{PAD:.0f}" y="25" font-size="14">{escape(title)}</text>{"".join(parts)}'
        f'<text class="s" x="{PAD:.0f}" y="{y + 8:.0f}" font-size="{SMALL:g}">{escape(legend)}</text></svg>'
    )


def summary(graph: Graph) -> str:
    """'12 tasks in 2 scopes, 3.1 MB a patch, 200 MB in all'."""
    memory = graph["memory"]
    scopes = sum(bool(s["order"]) for s in graph["scopes"])
    return (
        f"{count(len(graph['tasks']), 'task')} in {count(scopes, 'scope')}, "
        f"{size(memory['bytes_per_patch'])} a patch, {size(memory['bytes'])} in all"
    )


def label_text(edge: Mapping[str, Any]) -> str:
    """'velocity v1, ghosts 2'."""
    text = str(edge["label"])
    if edge["version"]:
        text += f" v{edge['version']}"
    return text + (f", {edge['through']}" if edge.get("through") else "")


class _View:
    def __init__(self, graph: Graph) -> None:
        self.tasks = graph["tasks"]
        self.scopes = graph["scopes"]
        self.edges = graph["edges"]
        self.way = list(graph["critical_path"])
        self.steps = set(pairwise(self.way))

    def child(self, scope: int, task: int) -> tuple[str, int] | None:
        """What a task is in a scope: itself, the inner scope that has it, or nothing."""
        at = self.tasks[task]["scope"]
        if at == scope:
            return ("task", task)
        while at >= 0 and self.scopes[at]["parent"] != scope:
            at = self.scopes[at]["parent"]
        return ("scope", at) if at >= 0 else None

    def scope(self, scope: Mapping[str, Any]) -> Drawn:
        number = scope["id"]
        rounds = {
            "start": "once, before the first step",
            "step": "each step",
            "repeat": f"repeated until {scope.get('decided_by')} says so, at most {scope['most']} times",
            "when": f"where {scope.get('decided_by')} says so",
            "subcycle": count(scope["most"], "round"),
        }[scope["form"]]
        drawn = Drawn(scope["name"], [rounds], "scope inner" if scope["parent"] >= 0 else "scope")
        drawn.head = HEAD + 4
        nodes: dict[tuple[str, int], Node] = {}
        for entry in scope["order"]:
            kind, key = next(iter(entry.items()))
            inner = self.scope(self.scopes[key]) if kind == "scope" else self.task(key, number)
            if kind == "task":
                _fit(inner)
            nodes[kind, key] = Node((kind, key), inner.width, inner.height)
            drawn.inside.append((nodes[kind, key], inner))
        texts: dict[tuple[Any, Any], list[str]] = {}
        marked = set()
        for edge in self.edges:
            a, b = self.child(number, edge["from"]), self.child(number, edge["to"])
            if a is None or b is None or a == b or edge["lag"]:
                continue
            if (kind := list(nodes)).index(a) > kind.index(b):
                continue  # what a scope within leaves for the next round
            text = texts.setdefault((a, b), [])
            if label_text(edge) not in text:
                text.append(label_text(edge))
            if (edge["from"], edge["to"]) in self.steps:
                marked.add((a, b))
        for kind, key in list(nodes):  # what decides whether an inner scope runs
            inner = self.scopes[key] if kind == "scope" else {"form": ""}
            by = (
                self.child(number, inner["decided_by_task"])
                if inner.get("decided_by_task", -1) >= 0
                else None
            )
            order = list(nodes)
            if inner["form"] == "when" and by in nodes and order.index(by) < order.index((kind, key)):
                texts.setdefault((by, (kind, key)), []).append(f"{inner['decided_by']} decides")
                if any(a == inner["decided_by_task"] for a, b in self.steps if self.child(key, b)):
                    marked.add((by, (kind, key)))
        for (a, b), lines in texts.items():
            shown = _shortened(lines)
            link = Link(a, b, max(len(t) for t in shown) * SMALL * CHAR + 8, len(shown) * SMALL * LINE + 2)
            drawn.links.append((link, lines, (a, b) in marked))
        wide, high = arrange(list(nodes.values()), [link for link, _, _ in drawn.links], 18.0, 15.0)
        title = len(drawn.title) * FONT * CHAR_BOLD + len(rounds) * SMALL * CHAR + 12
        drawn.width = max(wide, title) + 2 * PAD
        drawn.height = high + 2 * PAD + drawn.head
        return drawn

    def task(self, task: int, scope: int) -> Drawn:
        it = self.tasks[task]
        lines: list[str] = []
        for edge in self.edges:
            outside = self.tasks[edge["from"]]["scope"] != scope
            itself = edge["from"] == task and not edge["lag"]
            if edge["to"] != task or not (edge["lag"] or outside or itself):
                continue
            line = f"{'↻' if itself else '←'} {label_text(edge)}"
            line += f", {count(edge['lag'], 'round')} before" if edge["lag"] else ""
            if line not in lines:
                lines.append(line)
        for use in it["uses"]:
            if use["maker"] < 0 and use["access"] == "need":
                lines.append(f"← {label_text({**use, 'version': 0})}, from the start")
        style = "task" if it["what"] == "task" else "made"
        if task in self.way:
            style += " way"
        tip = [it["name"], f"on {it['family']}" if it.get("family") else it["what"]]
        for use in it["uses"]:
            back = f", {use['back']} before" if use["back"] else ""
            tip.append(f"{use['access']} {label_text(use)}{back}")
        drawn = Drawn(it["name"], _shortened(lines), style, "\n".join(tip))
        drawn.loop = any(edge["from"] == edge["to"] == task and not edge["lag"] for edge in self.edges)
        return drawn


def _shortened(lines: Sequence[str]) -> list[str]:
    if len(lines) <= MOST_LINES:
        return list(lines)
    return [*lines[: MOST_LINES - 1], f"and {len(lines) - MOST_LINES + 1} more"]


def _fit(task: Drawn) -> None:
    texts = [len(task.title) * FONT * CHAR_BOLD, *(len(t) * SMALL * CHAR for t in task.lines)]
    task.width = max(texts) + 18 + (LOOP if task.loop else 0)
    task.height = FONT * LINE + len(task.lines) * SMALL * LINE + 11


def _svg(it: Drawn) -> str:
    tip = f"<title>{escape(it.tip)}</title>" if it.tip else ""
    wide = it.width - (LOOP if it.loop else 0)
    box = f'<rect class="{it.style}" width="{wide:.1f}" height="{it.height:.1f}" rx="4"/>'
    if it.loop:  # on the right side, from below to above
        y, bend = it.height / 2, wide + 1.3 * LOOP
        box += (
            f'<path class="edge" d="M{wide:.1f} {y + 7:.1f}C{bend:.1f} {y + 10:.1f} {bend:.1f} {y - 10:.1f} '
            f'{wide:.1f} {y - 7:.1f}" marker-end="url(#strata-to)"/>'
        )
    if not it.head:
        text = [f'<text class="t" x="9" y="{5 + FONT:.1f}" font-size="{FONT:g}">{escape(it.title)}</text>']
        for i, line in enumerate(it.lines):
            y = 5 + FONT * LINE + (i + 0.85) * SMALL * LINE
            text.append(f'<text class="s" x="9" y="{y:.1f}" font-size="{SMALL:g}">{escape(line)}</text>')
        return tip + box + "".join(text)
    x = PAD + len(it.title) * FONT * CHAR_BOLD + 8
    parts = [
        box,
        f'<text class="t" x="{PAD:g}" y="19" font-size="{FONT:g}">{escape(it.title)}</text>',
        f'<text class="s" x="{x:.1f}" y="19" font-size="{SMALL:g}">{escape(it.lines[0])}</text>',
        f'<g transform="translate({PAD:g} {PAD + it.head:.1f})">',
    ]
    at = {node.key: node for node, _ in it.inside}
    # Marked ones last, so that they lie above the others; texts above all lines.
    for link, _, on in sorted(it.links, key=lambda each: each[2]):
        parts.append(_line(at[link.start], link, at[link.end], on))
    for link, lines, _ in it.links:
        parts.append(_words(link, lines))
    for node, inner in it.inside:
        parts.append(
            f'<g transform="translate({node.x - node.width / 2:.1f} {node.y:.1f})">{_svg(inner)}</g>'
        )
    return "".join([*parts, "</g>"])


def _line(start: Node, link: Link, end: Node, on: bool) -> str:
    points = [(start.x, start.y + start.height)]
    for place in link.through:
        points.append((place.x, place.y))
        if place.height:
            points.append((place.x, place.y + place.height))
    points.append((end.x, end.y))
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = 0.5 * (y1 - y0)
        path += f"C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}"
    kind, to = ("edge on", "strata-way") if on else ("edge", "strata-to")
    return f'<path class="{kind}" d="{path}" marker-end="url(#{to})"/>'


def _words(link: Link, lines: list[str]) -> str:
    place = link.through[0]
    parts = [
        f"<g><title>{escape(chr(10).join(lines))}</title>"
        f'<rect class="under" x="{place.x - place.width / 2:.1f}" y="{place.y:.1f}" '
        f'width="{place.width:.1f}" height="{place.height:.1f}" rx="3"/>'
    ]
    for i, line in enumerate(_shortened(lines)):
        parts.append(
            f'<text class="s" x="{place.x:.1f}" y="{place.y + (i + 0.8) * SMALL * LINE:.1f}" '
            f'text-anchor="middle" font-size="{SMALL:g}">{escape(line)}</text>'
        )
    return "".join([*parts, "</g>"])
