"""Python keeps to its layers: imports go downwards, and in no circle, those inside functions too."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import order
import pytest

PACKAGE = order.ROOT / "python" / "strata"


def named(module: str, package: bool, text: str) -> Iterator[str]:
    """All that a module imports, by its full name; of `from a import b` both a.b and a."""
    parent = module if package else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = parent.rsplit(".", node.level - 1)[0] if node.level > 1 else parent
                base = f"{up}.{base}".rstrip(".")
            yield from (f"{base}.{alias.name}" for alias in node.names)


def uses_of(modules: dict[str, tuple[bool, str]]) -> dict[str, set[str]]:
    """For each module the innermost modules that its imports name; all may ask for the package's version."""
    found = {}
    for module, (package, text) in modules.items():
        used = set()
        for name in named(module, package, text):
            while name and name not in modules:
                name = name.rpartition(".")[0]
            used.add(name)
        found[module] = used - {"", "strata", module}
    return found


@pytest.fixture(scope="module")
def uses() -> dict[str, set[str]]:
    modules = {}
    for path in PACKAGE.rglob("*.py"):
        package = path.name == "__init__.py"
        inside = (path.parent if package else path.with_suffix("")).relative_to(PACKAGE.parent)
        modules[".".join(inside.parts)] = (package, path.read_text())
    modules_used = uses_of(modules)
    del modules_used["strata"]
    return modules_used


def test_a_module_imports_its_own_package_and_lower_ones(uses: dict[str, set[str]]) -> None:
    assert sum(map(len, uses.values())) > 300  # the imports were found
    assert order.breaches(uses, order.PYTHON, ".") == []


def test_no_module_comes_back_to_itself(uses: dict[str, set[str]]) -> None:
    assert order.circles(uses) == []


def test_each_room_is_there(uses: dict[str, set[str]]) -> None:
    present = {order.part(name, order.PYTHON, ".") for name in uses}
    assert {name for line in order.PYTHON for name in line} - present == set()


def test_a_way_up_and_a_circle_are_told() -> None:
    modules = {
        "strata": (True, ""),
        "strata.errors": (False, "def f():\n    from strata.measure import a\n"),
        "strata.measure": (True, ""),
        "strata.measure.a": (False, "from . import b\n"),
        "strata.measure.b": (False, "from strata.measure.a import anything\nimport strata.errors\n"),
        "strata.attic": (False, "import json\n"),
    }
    found = uses_of(modules)
    assert order.breaches(found, order.PYTHON, ".") == [
        "strata lies in no part",
        "strata.attic lies in no part",
        "strata.errors uses strata.measure.a: strata.measure is not below strata.errors",
    ]
    assert order.circles(found) == [["strata.errors", "strata.measure.a", "strata.measure.b"]]
