"""The drawing of any machine: what is in it, where that lies and what is written there."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest
from synthetic_machines import MACHINES

from strata.draw import machine_svg

SVG = "{http://www.w3.org/2000/svg}"
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


@dataclass(frozen=True)
class Drawn:
    """A rectangle of the drawing and what stands in it, but for what stands in rectangles inside."""

    style: str
    tooltip: str
    texts: tuple[str, ...]
    dots: int
    corners: tuple[float, float, float, float]

    def __contains__(self, other: Drawn) -> bool:
        a, b, slack = self.corners, other.corners, 0.11  # coordinates are printed with one decimal
        return a[0] <= b[0] + slack and a[1] <= b[1] + slack and a[2] >= b[2] - slack and a[3] >= b[3] - slack

    def size(self, number: int = 0) -> float:
        """Bytes, said by the text of this number among those that end in some."""
        said = [re.search(r"([\d.]+) ([KMGT]?i?B)$", text.removesuffix(" free")) for text in self.texts]
        value, unit = [found for found in said if found][number].groups()
        return float(value) * UNITS[unit]


def drawn(element: ET.Element, x: float = 0.0, y: float = 0.0) -> list[Drawn]:
    """All boxes, those outside before those in them."""
    moved = re.match(r"translate\(([\d.-]+) ([\d.-]+)\)", element.get("transform") or "")
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    found = []
    rect = element.find(f"{SVG}rect")
    if element.tag == f"{SVG}g" and rect is not None:
        width, height = float(rect.get("width") or 0), float(rect.get("height") or 0)
        texts = tuple("".join(text.itertext()) for text in element.findall(f"{SVG}text"))
        dots = len(element.findall(f"{SVG}circle"))
        tooltip = element.findtext(f"{SVG}title") or ""
        found.append(Drawn(rect.get("class") or "", tooltip, texts, dots, (x, y, x + width, y + height)))
    for child in element:
        found += drawn(child, x, y)
    return found


def boxes(machine: dict[str, Any]) -> list[Drawn]:
    return drawn(ET.fromstring(machine_svg(machine)))


def numbers(cpus: str) -> set[int]:
    """'0-2,5': 0, 1, 2, 5"""
    ends = [[int(end) for end in part.split("-")] for part in cpus.split(",")]
    return {cpu for each in ends for cpu in range(each[0], each[-1] + 1)}


def around(box: Drawn, every: Iterable[Drawn], style: str) -> Drawn:
    """The one box of this style that a box lies in."""
    (found,) = [each for each in every if each.style == style and box in each]
    return found


@pytest.mark.parametrize("name", MACHINES)
def test_each_core_lies_in_its_domain_and_package_and_names_its_cpus(name: str) -> None:
    machine = MACHINES[name]()
    every = boxes(machine)
    cores = [box for box in every if box.tooltip.startswith("core ")]
    assert len(cores) == len(machine["cores"])
    may = numbers(machine["allowed"]["pus"])
    for core in machine["cores"]:
        (box,) = [each for each in cores if each.tooltip.startswith(f"core {core['index']}, ")]
        cpus, *refused = box.tooltip.partition("CPUs ")[2].split(", not allowed")
        assert numbers(cpus) == set(core["pus"])
        assert bool(refused) == (box.style == "off") == (not may & set(core["pus"]))
        if not refused:
            assert box.style == f"core k{core['kind']}"
        assert around(box, every, "domain").texts[0] == f"Domain {core['domain']}"
        assert around(box, every, "package").texts == (f"Package {core['package']}",)
        if len(machine["cores"]) <= 16:  # few enough that each has its parts
            assert box.texts[0] == f"Core {core['index']}"
            inside = [each for each in every if each in box and each is not box]
            assert [each.texts for each in inside] == [(f"CPU {cpu}",) for cpu in core["pus"]]
            if core["max_mhz"]:
                assert box.texts[-1] == f"{core['max_mhz'] / 1000:.1f} GHz"
        else:
            assert box.texts == (str(core["index"]),)
            assert box.dots == (len(core["pus"]) if len(core["pus"]) > 1 else 0)
    for domain in machine["domains"]:
        (box,) = [
            each for each in every if each.style == "domain" and each.texts[0] == f"Domain {domain['index']}"
        ]
        held, cpus = box.texts[1].split(", CPUs ")
        assert int(held.split()[0]) == len(domain["cores"]) and numbers(cpus) == numbers(domain["pus"])


@pytest.mark.parametrize("name", MACHINES)
def test_a_shared_cache_surrounds_its_cores_and_says_its_level_and_size(name: str) -> None:
    machine = MACHINES[name]()
    every = boxes(machine)
    cores = {int(box.tooltip[5:].split(",")[0]): box for box in every if box.tooltip.startswith("core ")}
    found = Counter(
        (box.texts[0].split()[0], box.size(), frozenset(n for n, core in cores.items() if core in box))
        for box in every
        if box.style == "cache"
    )
    # A cache of several domains is drawn in each of them, around the cores of that one.
    expected: Counter[tuple[str, float, frozenset[int]]] = Counter()
    for cache in machine["caches"]:
        for domain in machine["domains"] if len(cache["cores"]) > 1 else []:
            if members := frozenset(cache["cores"]) & frozenset(domain["cores"]):
                expected[f"L{cache['level']}", cache["size_bytes"], members] += 1
    assert found == expected
    for n, core in cores.items():
        own = [c for c in machine["caches"] if c["cores"] == [n]] if len(cores) <= 16 else []
        said = {text.split()[0]: core.size(k) for k, text in enumerate(core.texts[1 : 1 + len(own)])}
        names = {f"L{c['level']}{'d' if c['type'] == 'data' else ''}": c["size_bytes"] for c in own}
        assert said == names


@pytest.mark.parametrize("name", MACHINES)
def test_memories_and_devices_lie_in_their_domain_with_what_they_are(name: str) -> None:
    machine = MACHINES[name]()
    every = boxes(machine)
    assert sum(box.tooltip.startswith("memory ") for box in every) == len(machine["memories"])
    for memory in machine["memories"]:
        tooltip = f"memory {memory['os_index']}"
        (box,) = [each for each in every if each.tooltip == tooltip]
        near = memory["nearest_domain"] if memory["domain"] is None else memory["domain"]
        assert around(box, every, "domain").texts[0] == f"Domain {near}"
        assert box.texts[0].startswith(memory["kind"]) and box.size(0) == memory["total_bytes"]
        free = re.search(r"([\d.]+) ([GM]iB) free", box.texts[1])
        assert free, box.texts
        assert float(free[1]) * UNITS[free[2]] == pytest.approx(memory["free_bytes"], rel=5e-3)
        assert ("no cores of its own" in box.texts[1]) == (memory["domain"] is None)
        assert (memory["kind"] in box.style.split()) == (memory["kind"] == "HBM")
    assert sum(box.style == "device" for box in every) == len(machine["devices"])
    for device in machine["devices"]:
        (box,) = [each for each in every if each.texts == (f"{device['type']}: {device['name']}",)]
        assert box.style == "device" and box.tooltip == device["info"]
        if device["domain"] is None:
            assert not any(each.style == "domain" and box in each for each in every)
        else:
            assert around(box, every, "domain").texts[0] == f"Domain {device['domain']}"


@pytest.mark.parametrize("name", MACHINES)
def test_distances_stand_in_the_row_and_column_of_their_memories(name: str) -> None:
    """Of a table that is not the same from both sides. Darker is farther."""
    machine = MACHINES[name]()
    table = machine["distances"]
    for i, row in enumerate(table["matrix"]):
        row[:] = [value + (3 * i + j) * (i != j) for j, value in enumerate(row)]
    root = ET.fromstring(machine_svg(machine))
    cells = [
        tuple(float(rect.get(key) or 0) for key in ("x", "y", "width", "height", "fill-opacity"))
        for rect in root.findall(f"{SVG}rect")
        if rect.get("class") == "near"
    ]
    if len(table["memories"]) < 2:
        assert cells == []
        return
    columns, rows = (sorted({cell[axis] for cell in cells}) for axis in (0, 1))
    wide, high = cells[0][2:4]
    found, shade, names = {}, {}, {"row": {}, "column": {}}
    for text in root.findall(f"{SVG}text"):
        x, y, said = float(text.get("x") or 0), float(text.get("y") or 0), text.text or ""
        row = next((n for n, top in enumerate(rows) if top <= y <= top + high), None)
        column = next((n for n, left in enumerate(columns) if left <= x <= left + wide), None)
        if row is not None and column is not None:
            found[row, column] = float(said)
        elif row is not None and x < columns[0]:
            names["row"][row] = int(said)
        elif column is not None and rows[-1] + high < y < rows[-1] + high + 20:
            names["column"][column] = int(said)
    for x, y, _, _, opacity in cells:
        shade[rows.index(y), columns.index(x)] = opacity
    for axis in names.values():
        assert [axis[n] for n in range(len(axis))] == table["memories"]
    known = {(i, j): value for i, row in enumerate(table["matrix"]) for j, value in enumerate(row)}
    assert found == known and len(shade) == len(known)
    for at, value in known.items():
        assert all(shade[at] < shade[other] for other, far in known.items() if far > value)


def rectangles(
    element: ET.Element, x: float = 0.0, y: float = 0.0
) -> list[tuple[float, float, float, float]]:
    """All rectangles with absolute corners."""
    moved = re.match(r"translate\(([\d.-]+) ([\d.-]+)\)", element.get("transform") or "")
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    found = []
    if element.tag == f"{SVG}rect" and "%" not in str(element.get("width")):
        left, top = x + float(element.get("x") or 0), y + float(element.get("y") or 0)
        found.append(
            (left, top, left + float(element.get("width") or 0), top + float(element.get("height") or 0))
        )
    for child in element:
        found += rectangles(child, x, y)
    return found


@pytest.mark.parametrize("name", MACHINES)
def test_nothing_leaves_the_frame(name: str) -> None:
    root = ET.fromstring(machine_svg(MACHINES[name]()))
    _, _, width, height = (float(v) for v in str(root.get("viewBox")).split())
    for left, top, right, bottom in rectangles(root):
        assert 0 <= left < right <= width + 0.5
        assert 0 <= top < bottom <= height + 0.5


@pytest.mark.parametrize("name", MACHINES)
def test_boxes_either_contain_each_other_or_are_apart(name: str) -> None:
    boxes = sorted(set(rectangles(ET.fromstring(machine_svg(MACHINES[name]())))))
    slack = 0.11  # coordinates are printed with one decimal
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            if b[0] >= a[2] - slack:
                break  # sorted by left edge: none of the rest can meet a
            apart = b[1] >= a[3] - slack or b[3] <= a[1] + slack
            b_in_a = b[2] <= a[2] + slack and b[1] >= a[1] - slack and b[3] <= a[3] + slack
            a_in_b = (
                abs(a[0] - b[0]) < slack
                and a[2] <= b[2] + slack
                and b[1] <= a[1] + slack
                and b[3] >= a[3] - slack
            )
            assert apart or b_in_a or a_in_b, (a, b)


def test_cores_of_others_are_grey_and_say_so() -> None:
    svg = machine_svg(MACHINES["high-bandwidth"]())
    assert svg.count("not allowed to this process</title>") == 28
    assert "core not allowed to this process</text>" in svg


def test_a_memory_without_cores_is_told_apart() -> None:
    assert machine_svg(MACHINES["high-bandwidth"]()).count("no cores of its own") == 4


def test_names_from_the_system_cannot_break_the_drawing() -> None:
    machine = MACHINES["two-cores"]()
    machine["cpu_model"] = 'A <b>"B"</b> & C'
    machine["devices"][0]["name"] = "<eth&0>"
    root = ET.fromstring(machine_svg(machine))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert 'A <b>"B"</b> & C' in texts and "network: <eth&0>" in texts
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        "svg",
        "style",
        "rect",
        "g",
        "title",
        "text",
    }


def test_a_machine_with_the_least_known_is_drawn() -> None:
    machine = MACHINES["two-cores"]()
    for key in ("distances", "devices", "caches", "core_kinds", "cpu_model"):
        machine[key] = None
    machine["allowed"] = {}
    every = boxes(machine)
    styles = Counter(box.style for box in every if box.style)
    assert styles == {"package": 1, "domain": 1, "core k0": 2, "pu": 2, "memory": 1}
    texts = [text.text for text in ET.fromstring(machine_svg(machine)).iter(f"{SVG}text")]
    assert texts[:2] == ["Processor", "1 package, 1 domain, 2 cores, 24 GiB memory"]


def test_memories_are_drawn_by_the_systems_numbers() -> None:
    machine = MACHINES["bad-module"]()
    for memory in machine["memories"]:
        memory["os_index"] = 8 * memory["index"]  # as on POWER
    svg = machine_svg(machine)
    tips = {e.text for e in ET.fromstring(svg).iter(f"{SVG}title")}
    assert {"memory 0", "memory 8", "memory 16", "memory 24"} <= tips
    below = svg[svg.index("Distances between memories") :]
    assert ">24</text>" in below and ">3</text>" not in below
