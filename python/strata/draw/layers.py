"""Layered drawings: nodes in rows, each below those that it follows, with edges kept apart and short.

Sugiyama's method (Sugiyama, Tagawa, Toda 1981) as far as a task graph needs it: rows by the longest way,
what an edge says as a node of its own between them, order within rows by the mean of the neighbours, places
that minimise the sum of squared distances to them (pool adjacent violators).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

SWEEPS = 24


@dataclass
class Node:
    """What has a size and gets a place: its middle `x`, its upper edge `y`."""

    key: object
    width: float
    height: float
    row: int = 0
    x: float = 0.0
    y: float = 0.0
    label: bool = False  # a place on an edge


@dataclass
class Link:
    """From one key to another, with a text of this size on it; gets the places that its line goes through."""

    start: object
    end: object
    width: float = 0.0
    height: float = 0.0
    through: list[Node] = field(default_factory=list)


def arrange(nodes: Sequence[Node], links: Sequence[Link], gap_x: float, gap_y: float) -> tuple[float, float]:
    """Gives places to nodes and links, within (0, 0) and the size that is returned."""
    at = {node.key: node for node in nodes}
    _rows(at, links)
    rows: list[list[Node]] = [[] for _ in range(max((node.row for node in nodes), default=0) + 1)]
    for node in nodes:
        rows[node.row].append(node)
    above: dict[int, list[Node]] = {}
    below: dict[int, list[Node]] = {}

    def join(upper: Node, lower: Node) -> None:
        below.setdefault(id(upper), []).append(lower)
        above.setdefault(id(lower), []).append(upper)

    for link in links:
        last = at[link.start]
        for row in range(last.row + 1, at[link.end].row):
            first = not link.through
            place = Node(None, link.width if first else 4.0, link.height if first else 0.0, row, label=True)
            link.through.append(place)
            rows[row].append(place)
            join(last, place)
            last = place
        join(last, at[link.end])
    _order(rows, above, below)
    _places(rows, above, below, gap_x)
    left = min((n.x - n.width / 2 for row in rows for n in row), default=0.0)
    y = 0.0
    for row in rows:
        height = max((n.height for n in row), default=0.0)
        for node in row:
            if node.label and not node.height:  # an edge that passes goes straight by the others of the row
                node.height = height
            node.x -= left
            node.y = y + (height - node.height) / 2
        y += height + (gap_y if row else 0.0)
    right = max((n.x + n.width / 2 for row in rows for n in row), default=0.0)
    return right, max(0.0, y - gap_y)


def _rows(at: dict[object, Node], links: Sequence[Link]) -> None:
    """Rows by the longest way from a node that follows nobody; every second row is for edges."""
    into: dict[object, list[object]] = {key: [] for key in at}
    for link in links:
        into[link.end].append(link.start)
    done: dict[object, int] = {}
    for key in at:  # without recursion: a graph may be a long chain
        stack = [key]
        while stack:
            top = stack[-1]
            missing = [k for k in into[top] if k not in done]
            if top in done or not missing:
                stack.pop()
                done.setdefault(top, max((done[k] + 2 for k in into[top]), default=0))
            else:
                stack += missing
    for key, node in at.items():
        node.row = done[key]


def _order(rows: list[list[Node]], above: dict[int, list[Node]], below: dict[int, list[Node]]) -> None:
    def sweep(order: Sequence[list[Node]], near: dict[int, list[Node]], place: dict[int, float]) -> None:
        for row in order:
            means = {
                id(n): sum(place[id(m)] for m in near[id(n)]) / len(near[id(n)])
                if near.get(id(n))
                else place[id(n)]
                for n in row
            }
            row.sort(key=lambda n: means[id(n)])
            for i, node in enumerate(row):
                place[id(node)] = (i + 0.5) / len(row)

    place = {id(n): (i + 0.5) / len(row) for row in rows for i, n in enumerate(row)}
    best, fewest = [list(row) for row in rows], _crossings(rows, below)
    for turn in range(SWEEPS):
        if turn % 2 == 0:
            sweep(rows, above, place)
        else:
            sweep(rows[::-1], below, place)
        crossings = _crossings(rows, below)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
        if fewest == 0:
            break
    for row, good in zip(rows, best, strict=True):
        row[:] = good


def _crossings(rows: list[list[Node]], below: dict[int, list[Node]]) -> int:
    count = 0
    for upper, lower in pairwise(rows):
        place = {id(n): i for i, n in enumerate(lower)}
        ends = [sorted(place[id(m)] for m in below.get(id(n), []) if id(m) in place) for n in upper]
        for i, mine in enumerate(ends):
            for others in ends[i + 1 :]:
                count += sum(1 for a in mine for b in others if b < a)
    return count


def _places(
    rows: list[list[Node]], above: dict[int, list[Node]], below: dict[int, list[Node]], gap: float
) -> None:
    for row in rows:
        x = 0.0
        for node in row:
            node.x = x + node.width / 2
            x += node.width + gap
    for turn in range(SWEEPS):
        down = turn % 2 == 0
        for row in rows if down else rows[::-1]:
            wanted = []
            for node in row:
                # Those that were just placed; in the last turns all neighbours, which centres.
                near = (above if down else below).get(id(node), [])
                if turn >= SWEEPS - 4:
                    near = above.get(id(node), []) + below.get(id(node), [])
                wanted.append(sum(m.x for m in near) / len(near) if near else node.x)
            _apart(row, wanted, gap)


def _apart(row: list[Node], wanted: list[float], gap: float) -> None:
    """The places nearest to those wanted (least squares) in which nobody overlaps and the order stays."""
    offset, offsets = 0.0, []
    for i, node in enumerate(row):
        if i:
            offset += (row[i - 1].width + node.width) / 2 + gap
        offsets.append(offset)
    pools: list[list[float]] = []  # mean, count
    for want, off in zip(wanted, offsets, strict=True):
        pools.append([want - off, 1.0])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, n = pools.pop()
            pools[-1] = [(pools[-1][0] * pools[-1][1] + mean * n) / (pools[-1][1] + n), pools[-1][1] + n]
    i = 0
    for mean, n in pools:
        for _ in range(int(n)):
            row[i].x = mean + offsets[i]
            i += 1
