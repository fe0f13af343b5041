"""The drawing shows every core, memory and device of any machine, inside its frame."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from synthetic_machines import MACHINES

from strata.draw import machine_svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", MACHINES)
def test_every_core_memory_and_device_is_drawn(name: str) -> None:
    machine = MACHINES[name]()
    root = ET.fromstring(machine_svg(machine))
    titles = [t.text or "" for t in root.iter(f"{SVG}title")]
    assert sum(t.startswith("core ") for t in titles) == len(machine["cores"])
    assert sum(t.startswith("memory ") for t in titles) == len(machine["memories"])
    text = " ".join(t.text or "" for t in root.iter(f"{SVG}text"))
    for device in machine["devices"]:
        assert device["name"] in text


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
    ET.fromstring(machine_svg(machine))


def test_a_machine_with_the_least_known_is_drawn() -> None:
    machine = MACHINES["two-cores"]()
    for key in ("distances", "devices", "caches", "core_kinds", "cpu_model"):
        machine[key] = None
    machine["allowed"] = {}
    ET.fromstring(machine_svg(machine))
