"""Reads a plot of the report back: its axes by the numbers at their ticks, then what stands where."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

import numpy as np

SVG = "{http://www.w3.org/2000/svg}"
UNITS = {"": 1.0, "B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}


def number(text: str) -> float:
    """'16 KiB' and the like."""
    found = re.fullmatch(r"([\d.]+) ?([KMG]?i?B)?", text.replace("\u2009", ""))
    assert found, text
    return float(found[1]) * UNITS[found[2] or ""]


@dataclass(frozen=True)
class Line:
    """What one drawing call left: a path or markers, in the plot's units; and its colour's name."""

    colour: str
    path: np.ndarray
    marks: np.ndarray


@dataclass
class Axes:
    """One panel. `words` are (x, y, text) in drawing coordinates, but for those of ticks and the legend;
    `names` what stands at ticks that have no mark.
    """

    ticks: dict[str, list[tuple[float, str]]] = field(default_factory=lambda: {"x": [], "y": []})
    names: dict[str, list[tuple[float, str]]] = field(default_factory=lambda: {"x": [], "y": []})
    lines: list[Line] = field(default_factory=list)
    bands: dict[str, np.ndarray] = field(default_factory=dict)
    words: list[tuple[float, float, str]] = field(default_factory=list)
    legend: dict[str, str] = field(default_factory=dict)  # colour of each label

    def of(self, axis: str, place: float | np.ndarray, log: bool) -> np.ndarray:
        """The value at a place of the drawing, by the ticks that have a number."""
        known = [(at, number(said)) for at, said in self.ticks[axis] if said]
        at, value = (np.array(each) for each in zip(*known, strict=True))
        value = np.log(value) if log else value
        assert len(at) > 1
        slope, shift = np.polyfit(at, value, 1)
        # Ticks that were not where their numbers say would show here.
        assert np.abs(slope * at + shift - value).max() < 1e-3 * max(1.0, np.ptp(value))
        found = slope * np.asarray(place) + shift
        return np.exp(found) if log else found

    def values(self, places: np.ndarray, log: tuple[bool, bool]) -> np.ndarray:
        return np.stack([self.of("x", places[:, 0], log[0]), self.of("y", places[:, 1], log[1])], axis=1)

    def marks(self, log: tuple[bool, bool]) -> dict[str, np.ndarray]:
        """Points that carry a marker, by the colour of their curve."""
        return {line.colour: self.values(line.marks, log) for line in self.lines if len(line.marks)}


def _colour(element: ET.Element) -> str:
    found = re.search(r"(?:stroke|fill): var\(--(\w+)\)", element.get("style") or "")
    return found[1] if found else ""


def _points(path: str) -> np.ndarray:
    return np.array(re.findall(r"[ML] (\S+) (\S+)", path), dtype=float).reshape(-1, 2)


def _place(element: ET.Element) -> tuple[float, float]:
    if element.get("x") is not None:
        return float(element.get("x") or 0), float(element.get("y") or 0)
    found = re.match(r"translate\((\S+) ([^)\s]+)\)", element.get("transform") or "")
    assert found, element.attrib
    return float(found[1]), float(found[2])


def _line(group: ET.Element) -> Line:
    marks = [_place(use) for use in group.iter(f"{SVG}use")]
    path = next((each for each in group.findall(f"{SVG}path")), None)
    drawn = path if path is not None else next(group.iter(f"{SVG}use"))
    points = _points(path.get("d") or "") if path is not None else np.zeros((0, 2))
    return Line(_colour(drawn), points, np.array(marks).reshape(-1, 2))


def _said(element: ET.Element) -> str:
    return "".join("".join(text.itertext()) for text in element.iter(f"{SVG}text"))


def _read_tick(tick: ET.Element, way: str, axes: Axes) -> None:
    mark, text = next(tick.iter(f"{SVG}use"), None), next(tick.iter(f"{SVG}text"), None)
    if mark is not None:
        axes.ticks[way].append((_place(mark)["xy".index(way)], _said(tick)))
    elif text is not None:
        axes.names[way].append((_place(text)["xy".index(way)], _said(tick)))


def read(svg: str) -> list[Axes]:
    """The panels of a plot, in their order."""
    found = []
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        if not re.search(r"-axes_\d+$", group.get("id") or ""):
            continue
        axes = Axes()
        for child in group:
            name = (child.get("id") or "").rpartition("-")[2]
            kind = name.rpartition("_")[0]
            if kind == "matplotlib.axis":
                way = "x" if name.endswith("_1") else "y"
                for tick in child:
                    if "tick_" in (tick.get("id") or ""):
                        _read_tick(tick, way, axes)
            elif kind == "line2d":
                axes.lines.append(_line(child))
            elif "PolyCollection" in kind:
                (outline,), (use,) = child.iter(f"{SVG}path"), child.iter(f"{SVG}use")
                axes.bands[_colour(use)] = _points(outline.get("d") or "") + _place(use)
            elif kind == "text":
                for text in child.iter(f"{SVG}text"):
                    axes.words.append((*_place(text), "".join(text.itertext())))
            elif kind == "legend":
                labels = [_said(each) for each in child if "-text_" in (each.get("id") or "")]
                lines = [_line(each) for each in child if "-line2d_" in (each.get("id") or "")]
                axes.legend = {label: line.colour for label, line in zip(labels, lines, strict=True)}
        found.append(axes)
    return found
