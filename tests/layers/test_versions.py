"""Solvers and methods declare tasks in program order, in C++ and in Python: no number stands for a version of
a label, under any name.
"""

from __future__ import annotations

import re

import pytest
from order import ROOT

NUMBERED = re.compile(
    r"""\.at\(\s*(?:\d+|[^()]*\d\s*(?::[^()]*)?|\w*[vV]ersion\w*[^()]*)\)  # u.at(1), u.at(first ? 0 : 1)
    | \.at\(\s*\d+\s*,\s*(?:ghosts|corners)\b  # Python: u.at(0, ghosts=2)
    | \bversion=\d  # Python: u.upwind((0, 1), version=1)
    | \b(?:Typed)?Version\s*(?:<[^<>]*>\s*)?(?:\w+\s*)?\{  # TypedVersion<double, Kind::field> v{...}
    | \bint\s+\w*_version\b  # as an argument
    | (?:\.|->)takes\(""",
    re.VERBOSE,
)
# Not of labels: the value of a solution, a table, a spline or a grid at a place.
PLACES = re.compile(r"\b(?:initial|exact|vortex_|tube_|splines|wall|fitted|map|c)\.at\(")


def numbered(text: str) -> list[str]:
    """The lines with a version that is a number."""
    code = re.sub(r"//[^\n]*", "", text)
    return [line.strip() for line in code.splitlines() if NUMBERED.search(PLACES.sub("", line))]


def test_no_number_reaches_a_version_in_solvers_and_methods() -> None:
    kinds, folders = ("*.cpp", "*.hpp", "*.py"), (ROOT / "solvers", ROOT / "methods")
    files = [file for kind in kinds for folder in folders for file in folder.rglob(kind)]
    files += (ROOT / "python" / "strata" / "run" / "templates").glob("*.in")
    assert len(files) > 200
    found = {
        str(file.relative_to(ROOT)): lines for file in files if (lines := numbered(file.read_text("utf-8")))
    }
    assert found == {}, "a label alone is its newest version; what was there before is label.previous()"


@pytest.mark.parametrize(
    "line",
    [
        "auto q = task.need(l.q.at(1));",
        "auto q = task.need(l.q.at(first ? 0 : 1), ghosts(1));",
        "auto v = task.modify(l.v.at(v_version + 1));",
        "void kick(const Step& step, int v_version);",
        "scope.takes(l.x.last());",
        "const TypedVersion<double, Kind::field> of{{id, 1, 0}};",
        "return TypedVersion<double, Kind::field>{{id, 1, 0}};",
        'needs={"rate": rate.at(0)}',
        'needs={"T": T.at(0, ghosts=2, corners=False)}',
        "v.at(0, ghosts=[int(a == d) for a in directions])",
        'needs={"before": u.upwind((0, 1), version=2)}',
    ],
)
def test_numbers_of_versions_are_found(line: str) -> None:
    assert numbered(line) == [line]


@pytest.mark.parametrize(
    "line", ["task.need(l.q.previous());", "return exact.at(x, 0);", "// u.at(1)", "all.at(n);"]
)
def test_other_lines_are_not(line: str) -> None:
    assert numbered(line) == []
