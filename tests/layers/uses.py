"""What native files include of each other, and what Python's modules import of each other."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator

from order import ROOT

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
PACKAGE = ROOT / "python" / "strata"


def includes_of(files: dict[str, str]) -> dict[str, set[str]]:
    """For each file, by its path from the root, the files of the checkout that it includes."""
    found: dict[str, set[str]] = {}
    for name, text in files.items():
        beside = name.rpartition("/")[0]
        named = INCLUDE.findall(text)
        places = [place for each in named for place in (each, f"{beside}/{each}") if place in files]
        found[name] = set(places) - {name}
    return found


def imports_of(modules: dict[str, tuple[bool, str]]) -> dict[str, set[str]]:
    """For each module the innermost modules that its imports name; all may ask for the package's version."""
    found = {}
    for module, (package, text) in modules.items():
        used = set()
        for name in _imported(module, package, text):
            while name and name not in modules:
                name = name.rpartition(".")[0]
            used.add(name)
        found[module] = used - {"", "strata", module}
    return found


def _imported(module: str, package: bool, text: str) -> Iterator[str]:
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


def native_files() -> dict[str, str]:
    """The text of each native file of the checkout."""
    command = ["git", "ls-files", "*.cpp", "*.hpp", "*.h", "*.c"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name: (ROOT / name).read_text() for name in listed.stdout.split()}


def python_modules() -> dict[str, tuple[bool, str]]:
    """Of each module whether it is a package, and its text."""
    modules = {}
    for path in PACKAGE.rglob("*.py"):
        package = path.name == "__init__.py"
        inside = (path.parent if package else path.with_suffix("")).relative_to(PACKAGE.parent)
        modules[".".join(inside.parts)] = (package, path.read_text())
    return modules
