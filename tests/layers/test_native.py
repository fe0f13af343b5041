"""Native code keeps to its layers: #include goes downwards, and in no circle."""

from __future__ import annotations

import re
import subprocess

import order
import pytest

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def uses_of(files: dict[str, str]) -> dict[str, set[str]]:
    """For each file, by its path from the root, the files of the checkout that it includes."""
    found: dict[str, set[str]] = {}
    for name, text in files.items():
        beside = name.rpartition("/")[0]
        named = INCLUDE.findall(text)
        places = [place for each in named for place in (each, f"{beside}/{each}") if place in files]
        found[name] = set(places) - {name}
    return found


@pytest.fixture(scope="module")
def uses() -> dict[str, set[str]]:
    listed = subprocess.run(
        ["git", "ls-files", "*.cpp", "*.hpp", "*.h", "*.c"],
        cwd=order.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return uses_of({name: (order.ROOT / name).read_text() for name in listed.stdout.split()})


def test_a_file_includes_its_own_folder_and_lower_ones(uses: dict[str, set[str]]) -> None:
    assert sum(map(len, uses.values())) > 1000  # the includes were found
    assert order.breaches(uses, order.NATIVE, "/") == []


def test_no_header_comes_back_to_itself(uses: dict[str, set[str]]) -> None:
    assert order.circles(uses) == []


def test_each_room_is_there(uses: dict[str, set[str]]) -> None:
    present = {order.part(name, order.NATIVE, "/") for name in uses}
    assert {name for line in order.NATIVE for name in line} - present == set()


def test_a_way_up_and_a_circle_are_told() -> None:
    files = {
        "core/base/a.hpp": '#include "core/launch/b.hpp"\n',
        "core/launch/b.hpp": '#  include "c.hpp"\n// #include "core/team/d.hpp"\n',
        "core/launch/c.hpp": '#include "core/launch/b.hpp"\n',
        "core/team/d.hpp": '#include "core/base/a.hpp"\n#include <vector>\n',
        "core/nowhere/e.hpp": "",
    }
    found = uses_of(files)
    assert order.breaches(found, order.NATIVE, "/") == [
        "core/base/a.hpp uses core/launch/b.hpp: core/launch is not below core/base",
        "core/nowhere/e.hpp lies in no part",
    ]
    assert order.circles(found) == [["core/launch/b.hpp", "core/launch/c.hpp"]]
