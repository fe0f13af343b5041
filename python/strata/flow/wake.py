"""Vortices as pictures: the Q criterion in planes, and surfaces on which it has a value, seen from aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strata.flow.slices import VORTEX, Slice
from strata.flow.surface import Surface
from strata.report.figures.theme import canvas, finish

_Array = NDArray[np.float64]
_PIXELS = 900  # of the longer side of a picture
_MARGIN = 0.04
_POWER = 0.4  # of Q, for brightness: old vortices are weak


@dataclass(frozen=True)
class Rotor:
    """What pictures need to know of one: its axis (0 to 2), its tips' radius, how many sectors it has."""

    axis: int
    radius: float
    sectors: int
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)


def plane(key: str, cut: Slice, rotor: Rotor | None) -> str:
    """The Q criterion where it is above 0, in a plane; about a rotor's axis over the radius of its tips."""
    flat = _flat(cut, rotor)
    rotates = cut.kind == "azimuth" and rotor is not None
    box = _OF_ROTOR if rotates else _where(flat, cut[VORTEX])
    image = _painted(flat, np.maximum(cut[VORTEX], 0.0), box)
    high = _bright(flat, cut, box)
    with canvas(7.4, min(7.0, 1.0 + 5.6 * (box[3] - box[2]) / (box[1] - box[0]))) as (figure, axes):
        from matplotlib.colors import PowerNorm

        axes.grid(False)
        norm = PowerNorm(_POWER, 0.0, high, clip=True)
        drawn = axes.imshow(image, extent=box, origin="lower", cmap="magma", norm=norm)
        axes.set_aspect("equal")
        axes.set_xlabel(flat.names[0])
        axes.set_ylabel(flat.names[1])
        ticks = [high * share ** (1 / _POWER) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
        bar = figure.colorbar(drawn, ax=axes, label="Q", shrink=0.8, ticks=ticks, format="%.1e")
        bar.ax.minorticks_off()
        return finish(figure, key)


_Box = tuple[float, float, float, float]  # left, right, low, high
_OF_ROTOR = (0.0, 1.25, -0.6, 0.25)  # in radii: the part of a wake in which tip vortices are told apart


@dataclass(frozen=True)
class _Flat:
    """Pieces in the plane of a picture: places, half of their extents, names of the axes."""

    right: _Array
    up: _Array
    half: _Array  # (2, pieces)
    names: tuple[str, str]


def _flat(cut: Slice, rotor: Rotor | None) -> _Flat:
    if cut.kind == "azimuth" and rotor is not None:
        away = cut.places - np.array(rotor.centre)
        radius = np.hypot(away[:, (rotor.axis + 1) % 3], away[:, (rotor.axis + 2) % 3])
        right, up = radius / rotor.radius, away[:, rotor.axis] / rotor.radius
        names = ("r / R", f"{'xyz'[rotor.axis]} / R")
        return _Flat(right, up, _halves(cut, right, up, 1 / rotor.radius), names)
    a, b = {"x": ("y", "z"), "y": ("x", "z")}.get(cut.kind, ("x", "y"))
    return _Flat(cut[a], cut[b], _halves(cut, cut[a], cut[b], 1.0), (a, b))


def _halves(cut: Slice, right: _Array, up: _Array, unit: float) -> _Array:
    """Half of the extents of pieces, by the distance to neighbours; of squares where there are none."""
    index = np.stack([cut[name] for name in ("zone", "i", "j", "k")], axis=1).astype(int)
    at = {tuple(row): n for n, row in enumerate(index.tolist())}
    halves = np.zeros((2, len(cut)))
    for axis in (1, 2, 3):
        step = np.eye(4, dtype=int)[axis]
        pairs = [(n, at.get(tuple((index[n] + step).tolist()), -1)) for n in range(len(cut))]
        one, two = np.array([pair for pair in pairs if pair[1] >= 0], int).reshape(-1, 2).T
        away = 0.5 * np.abs(np.stack([right[two] - right[one], up[two] - up[one]]))
        for places in (one, two):
            for d in range(2):
                np.maximum.at(halves[d], places, away[d])
    square = 0.5 * unit * np.sqrt(cut["size"])
    return np.where(halves > 0.02 * square, halves, square)


def _where(flat: _Flat, strength: _Array) -> _Box:
    """Around what turns, and a little more."""
    most = float(strength.max(initial=0.0))
    some = strength > 1e-3 * most if most > 0 else np.ones(len(flat.right), bool)
    places = np.stack([flat.right[some], flat.up[some]])
    low, high = places.min(axis=1), places.max(axis=1)
    more = _MARGIN * float((high - low).max()) + 1e-12
    low, high = low - more, high + more
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def _bright(flat: _Flat, cut: Slice, box: _Box) -> float:
    """From here on all is equally bright: what turns at walls would leave vortices dark."""
    strength = cut[VORTEX]
    seen = (flat.right > box[0]) & (flat.right < box[1]) & (flat.up > box[2]) & (flat.up < box[3])
    seen &= strength > 0
    if not seen.any():
        return 1.0
    order = np.argsort(strength[seen])
    share = np.cumsum(cut["size"][seen][order]) / cut["size"][seen].sum()
    return float(strength[seen][order][min(int(np.searchsorted(share, 0.995)), len(order) - 1)])


def _painted(flat: _Flat, values: _Array, box: _Box) -> _Array:
    """Each piece as a rectangle of its extents, small ones over large ones."""
    left, right, low, high = box
    scale = _PIXELS / max(right - left, high - low)
    columns, rows = max(2, round(scale * (right - left))), max(2, round(scale * (high - low)))
    image = np.full((rows, columns), np.nan)
    middle = np.stack([flat.right - left, flat.up - low])
    first = np.floor(scale * (middle - flat.half)).astype(int)
    last = np.ceil(scale * (middle + flat.half)).astype(int)
    for n in np.argsort(-flat.half.prod(axis=0)):
        (a, c), (b, d) = first[:, n], last[:, n]
        if b > 0 and d > 0 and a < columns and c < rows:
            image[max(0, c) : d, max(0, a) : b] = values[n]
    return image


_ELEVATION, _TURN = 28.0, -55.0  # degrees: from where surfaces are seen
_WALL, _VORTEX = (0.62, 0.64, 0.68), (0.20, 0.45, 0.70)


def surface(key: str, cut: Slice, walls: Surface | None, rotor: Rotor | None) -> str:
    """A surface on which Q has a value, and walls, from above and aside; of a rotor all sectors. Each
    piece is a disc of its area; the light falls by the slope of what is in front.
    """
    axis = rotor.axis if rotor else 2
    copies = rotor.sectors if rotor else 1
    sheet = np.concatenate([_turned(cut.places, axis, n / copies) for n in range(copies)])
    body = _wall_places(walls)
    body = np.concatenate([_turned(body, axis, n / copies) for n in range(copies)])
    reach = np.tile(np.sqrt(cut["size"] / np.pi), copies)
    if rotor is not None:  # without what lies far away, such as the ends of a hub
        near = np.linalg.norm(sheet - np.array(rotor.centre), axis=1) < 1.6 * rotor.radius
        if near.any():
            sheet, reach = sheet[near], reach[near]
        body = body[np.linalg.norm(body - np.array(rotor.centre), axis=1) < 1.05 * rotor.radius]
        body = body[np.abs(body[:, axis] - rotor.centre[axis]) < 0.25 * rotor.radius]
    seen, own = _seen(sheet, axis), _seen(body, axis)
    both = np.concatenate([seen[:, :2], own[:, :2]])
    low, high = both.min(axis=0), both.max(axis=0)
    more = _MARGIN * float((high - low).max()) + 1e-12
    low, high = low - more, high + more
    scale = _PIXELS / float((high - low).max())
    columns, rows = np.maximum(2, np.round(scale * (high - low)).astype(int))
    depth = np.full((rows, columns), -np.inf)
    kind = np.zeros((rows, columns), int)
    _put(depth, kind, scale * (own[:, :2] - low), scale * own[:, 2], np.ones(len(own)), 1)
    _put(depth, kind, scale * (seen[:, :2] - low), scale * seen[:, 2], 1.25 * scale * reach, 2)
    with canvas(7.4, min(7.0, 7.2 * rows / columns)) as (figure, axes):
        axes.imshow(_lit(depth, kind), origin="lower")
        axes.set_axis_off()
        return finish(figure, key)


def _turned(places: _Array, axis: int, share: float) -> _Array:
    """About a coordinate axis by a share of a full turn."""
    angle = 2 * np.pi * share
    b, c = (axis + 1) % 3, (axis + 2) % 3
    turned = places.copy()
    turned[:, b] = np.cos(angle) * places[:, b] - np.sin(angle) * places[:, c]
    turned[:, c] = np.sin(angle) * places[:, b] + np.cos(angle) * places[:, c]
    return turned


def _wall_places(walls: Surface | None) -> _Array:
    """Many places on walls: between the centres of four faces beside each other."""
    if walls is None:
        return np.empty((0, 3))
    index = np.stack([walls[name] for name in ("zone", "i", "j", "k")], axis=1).astype(int)
    places = np.stack([walls[name] for name in ("x", "y", "z")], axis=1)
    at = {tuple(row): place for row, place in zip(index.tolist(), places, strict=True)}
    share = np.linspace(0.0, 1.0, 9)
    u, v = (m.ravel()[:, None] for m in np.meshgrid(share, share))
    found = [places]
    for (zone, i, j, k), here in at.items():
        for a, b in (((1, 0, 0), (0, 1, 0)), ((1, 0, 0), (0, 0, 1)), ((0, 1, 0), (0, 0, 1))):
            one = at.get((zone, i + a[0], j + a[1], k + a[2]))
            two = at.get((zone, i + b[0], j + b[1], k + b[2]))
            far = at.get((zone, i + a[0] + b[0], j + a[1] + b[1], k + a[2] + b[2]))
            if one is not None and two is not None and far is not None:
                found.append((1 - u) * (1 - v) * here + u * (1 - v) * one + (1 - u) * v * two + u * v * far)
    return np.concatenate(found)


def _seen(places: _Array, axis: int) -> _Array:
    """To the right, upwards, and towards the one who looks."""
    turn, rise = np.radians(_TURN), np.radians(_ELEVATION)
    b, c, up = places[:, (axis + 1) % 3], places[:, (axis + 2) % 3], places[:, axis]
    right = np.cos(turn) * c - np.sin(turn) * b
    near = np.cos(turn) * b + np.sin(turn) * c
    return np.stack(
        [right, np.cos(rise) * up - np.sin(rise) * near, np.sin(rise) * up + np.cos(rise) * near], axis=1
    )


def _put(depth: _Array, kind: NDArray[np.int_], at: _Array, near: _Array, radius: _Array, what: int) -> None:
    """Discs into the picture, where nothing is in front of them."""
    rows, columns = depth.shape
    whole = np.clip(np.ceil(radius), 1, 40).astype(int)
    for size in np.unique(whole):
        chosen = whole == size
        x, y = np.round(at[chosen]).astype(int).T
        for dx in range(-size, size + 1):
            for dy in range(-size, size + 1):
                # The last term rounds discs off, so that their edges do not stand out of those beside them.
                if dx * dx + dy * dy > size * size:
                    continue
                a, b = x + dx, y + dy
                within = (a >= 0) & (b >= 0) & (a < columns) & (b < rows)
                cell = b[within] * columns + a[within]
                height = near[chosen][within] - 0.2 * (dx * dx + dy * dy) / size
                flat, kinds = depth.reshape(-1), kind.reshape(-1)
                np.maximum.at(flat, cell, height)
                kinds[cell[flat[cell] == height]] = what


def _lit(depth: _Array, kind: NDArray[np.int_]) -> _Array:
    """Colours by what is seen, brighter where it faces the light, paler far away; clear where nothing is."""
    there = kind > 0
    smooth = _smoothed(np.where(there, depth, 0.0), there.astype(float))
    dy, dx = np.gradient(smooth)
    length = np.sqrt(dx * dx + dy * dy + 1)
    light = np.clip((0.35 * -dx + 0.45 * -dy + 0.82) / length, 0.0, 1.0)
    shade = (0.35 + 0.65 * light)[..., None]
    colour = np.where((kind == 1)[..., None], np.array(_WALL), np.array(_VORTEX))
    if there.any():
        low, high = float(depth[there].min()), float(depth[there].max())
        far = np.where(there, (high - depth) / max(high - low, 1e-12), 0.0)[..., None]
        colour = colour + 0.35 * far * (1 - colour)
    return np.concatenate([np.clip(colour * shade, 0, 1), there[..., None].astype(float)], axis=2)


def _smoothed(values: _Array, weight: _Array) -> _Array:
    """Means over the pixels around that have something in them."""
    for _ in range(3):
        sums, counts = np.zeros_like(values), np.zeros_like(weight)
        padded, weights = np.pad(values * weight, 1), np.pad(weight, 1)
        for dy in range(3):
            for dx in range(3):
                sums += padded[dy : dy + values.shape[0], dx : dx + values.shape[1]]
                counts += weights[dy : dy + values.shape[0], dx : dx + values.shape[1]]
        values = np.where(weight > 0, sums / np.maximum(counts, 1), 0.0)
    return values


def drawn(cuts: Sequence[Slice], rotor: Rotor | None) -> list[Slice]:
    """Those of which there are pictures: planes and surfaces of Q in space of runs that have it, with pieces;
    half planes about the axis of a rotor.
    """
    kinds = {"x", "y", "z", "q"} | ({"azimuth"} if rotor is not None else set())
    return [cut for cut in cuts if VORTEX in cut and cut.kind in kinds and len(cut) > 3 and _in_space(cut)]


def _in_space(cut: Slice) -> bool:
    """Whether its pieces are areas: those of plane flows are lines, all at one z."""
    return cut.kind in ("z", "azimuth") or bool((cut["z"] != cut["z"][0]).any())
