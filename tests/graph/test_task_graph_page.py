"""What docs/task-graph.md shows is what the programs of examples/graph are, and its pictures are those that
docs/images/task_graph.py draws.
"""

from __future__ import annotations

import re
import runpy
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "graph"
IMAGES = ROOT / "docs" / "images"
PAGE = (ROOT / "docs" / "task-graph.md").read_text()


def words(text: str) -> str:
    return " ".join(text.split())


def test_what_the_page_shows_is_what_its_programs_are() -> None:
    programs = [words(path.read_text()) for path in EXAMPLES.glob("*.cpp")]
    blocks = re.findall(r"```cpp\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) >= 10
    for block in blocks:
        assert any(words(block) in program for program in programs), block


def test_each_example_is_short_and_on_the_page() -> None:
    built = re.search(r"set\(programs ([^)]*)\)", (EXAMPLES / "CMakeLists.txt").read_text())
    assert built is not None
    assert sorted(built[1].split()) == sorted(path.stem for path in EXAMPLES.glob("*.cpp"))
    for path in EXAMPLES.glob("*.cpp"):
        most = {"conjugate": 80, "overset": 95, "shapes": 80, "lennard_jones": 230}.get(path.stem, 60)
        assert len(path.read_text().splitlines()) < most, path
        assert f"(../examples/graph/{path.name})" in PAGE, path


def test_the_pictures_are_those_that_the_program_draws() -> None:
    drawings = runpy.run_path(str(IMAGES / "task_graph.py"))["DRAWINGS"]
    assert set(re.findall(r"\(images/(graph-[a-z]+\.svg)\)", PAGE)) == set(drawings)
    for name, draw in drawings.items():
        drawn = draw().svg()
        assert (IMAGES / name).read_text() == drawn, f"{name}: run python docs/images/task_graph.py"
        assert ElementTree.fromstring(drawn).tag.endswith("svg") and len(drawn) < 50_000
