"""What is added to a solver is written in four files at most beside a test, a case and a page: those that
solvers/README.md lists. Held by things that are there already: no other file of the product names them.
"""

from __future__ import annotations

import re
import subprocess

import pytest
from order import ROOT

MOST = 4
SOLVERS = ROOT / "solvers"
# What is there already, as code calls it, and the only files that may say so.
GIVEN = {
    "a constitutive model": (
        r"von[_-]mises",
        ("mpm/material.hpp", "mpm/materials.hpp", "mpm/materials.cpp", "mpm/plastic.hpp"),
    ),
    "a boundary condition": (
        r"Condition::pressure_outflow|\"pressure-outflow\"[,:]",
        (
            "flow/boundary/conditions.hpp",
            "flow/boundary/fill.cpp",
            "flow/settings.hpp",
            "flow/boundary_keys.cpp",
        ),
    ),
    "a grid generator": (
        r"\bCylinderGrid\b",
        ("../methods/curvilinear/bricks.cpp", "../methods/curvilinear/generate.hpp", "flow/grid_kinds.cpp"),
    ),
    "a form of trajectories": (
        r"\bdcd_format\b|\"dcd\"|\b_dcd\b",
        (
            "md/files/dcd_format.cpp",
            "md/CMakeLists.txt",
            "md/files/frame_format.hpp",
            "../python/strata/md/frames.py",
        ),
    ),
}
PATHS = ("solvers", "methods", "python/strata/md")


@pytest.fixture(scope="module")
def code() -> dict[str, str]:
    """The text of each source, header and list of sources of solvers and methods."""
    listed = subprocess.run(["git", "ls-files", *PATHS], cwd=ROOT, capture_output=True, text=True, check=True)
    kinds = (".cpp", ".hpp", ".py", "CMakeLists.txt")
    files = [file for file in listed.stdout.split() if file.endswith(kinds)]
    # Keys of former versions stay as they were: nothing new is written there.
    return {file: (ROOT / file).read_text() for file in files if not file.endswith("/former_keys.cpp")}


@pytest.mark.parametrize("what", GIVEN)
def test_what_is_added_to_a_solver_is_written_in_four_files(what: str, code: dict[str, str]) -> None:
    name, allowed = GIVEN[what]
    assert len(allowed) <= MOST
    found = {file for file, text in code.items() if re.search(name, text)}
    files = {(SOLVERS / file).resolve().relative_to(ROOT).as_posix() for file in allowed}
    assert found <= files, f"{what} is also named here: follow the table that has it instead"
    assert found, f"{name} is not there any more: hold the rule by another one"


def test_the_list_of_files_names_files_that_are_there() -> None:
    text = (SOLVERS / "README.md").read_text()
    table = text[text.index("## To add something to a solver") :]
    named = set(re.findall(r"`((?:methods|python|mpm|flow|md)/[\w/.]+\.(?:hpp|cpp|py|txt))`", table))
    named = {name for name in named if "NAME" not in name}
    assert len(named) > 10
    missing = {name for name in named if not (SOLVERS / name).is_file() and not (ROOT / name).is_file()}
    assert missing == set()
