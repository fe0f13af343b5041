"""A new solver is named in four files beside its folder, cases, pages and tests; what they lack is said, and
what else has to know the solvers follows from their manifests.
"""

from __future__ import annotations

import csv
import re
import subprocess
import tomllib
from collections.abc import Mapping
from functools import cache

import pytest
from order import ROOT, SHIPPED
from solver_lists import LISTS, RECORDED, lacking, names_in_a_list, naming, own

from strata.solvers import Solver

ON_ONE_LINE = ("part", "needs")  # what CMake and bash read
WAVE = Solver(
    "wave",
    title="Waves",
    about="waves on a string",
    part="wave",
    program="strata-wave",
    measuring=("strata-wave-speed",),
    needs=("tomlplusplus",),
    cases=("wave",),
    pages=("wave.md", "wave-accuracy.md"),
)
NAMES = {*SHIPPED, "wave"}


@cache
def files() -> Mapping[str, str]:
    """The texts that may name solvers: all of the checkout but cases and tests."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    found = {}
    for name in listed:
        path = ROOT / name
        if name and not name.startswith(("cases/", "tests/")) and path.is_file():
            found[name] = path.read_text(encoding="utf-8", errors="replace")
    return found


@cache
def naming_files(name: str) -> set[str]:
    return naming(SHIPPED[name], files(), list(SHIPPED))


@pytest.mark.parametrize("name", SHIPPED)
def test_a_solver_is_named_in_four_files_beside_its_own(name: str) -> None:
    found = naming_files(name)
    assert f"solvers/{name}/solver.toml" in found, "the search finds something"
    others = sorted(file for file in found if not own(SHIPPED[name], file))
    assert set(others) <= set(LISTS), (
        "have it follow from the manifests (python/strata/solvers.py); if it is about this solver alone, "
        f"`elsewhere` in solvers/{name}/solver.toml may have it"
    )
    assert len(LISTS) <= 4


@pytest.mark.parametrize("name", SHIPPED)
def test_the_lists_have_each_solver(name: str) -> None:
    assert lacking(SHIPPED[name], files()) == [], "add these lines"


def test_what_is_about_one_solver_is_no_list_of_solvers() -> None:
    said = [each for solver in SHIPPED.values() for each in solver.elsewhere]
    assert {each for each in said if said.count(each) > len(SHIPPED) // 2} == set()
    for name, solver in SHIPPED.items():
        found = naming_files(name)
        idle = [
            each
            for each in solver.elsewhere
            if not any(file == each or file.startswith(f"{each}/") for file in found)
        ]
        assert idle == [], f"they do not name {name}"
    assert {*LISTS, *RECORDED} <= set(files())


@pytest.mark.parametrize("name", SHIPPED)
def test_what_a_manifest_names_is_there(name: str) -> None:
    solver = SHIPPED[name]
    places = [f"docs/{page}" for page in solver.pages] + [f"cases/{each}" for each in solver.cases]
    places += [f"tests/{each}" for each in solver.tested_by]
    assert [place for place in (*places, *solver.elsewhere) if not (ROOT / place).exists()] == []
    with (ROOT / "python" / "strata" / "pieces.csv").open(newline="") as file:
        assert set(solver.needs) <= {row["piece"] for row in csv.DictReader(file)}
    for folder in solver.cases:
        cases = sorted((ROOT / "cases" / folder).glob("*.toml"))
        assert cases and all(tomllib.loads(case.read_text())["solver"] == name for case in cases)


@pytest.mark.parametrize("name", SHIPPED)
def test_each_key_that_cmake_and_bash_read_is_one_plain_line(name: str) -> None:
    text = (ROOT / "solvers" / name / "solver.toml").read_text()
    for key in ON_ONE_LINE:
        lines = re.findall(rf"(?m)^{key}\b.*$", text)
        values = getattr(SHIPPED[name], key)
        if not lines:
            assert not values
            continue
        (line,) = lines
        assert re.fullmatch(r'\w+ = ("[a-z0-9_-]+"|\["[a-z0-9_-]+"(, "[a-z0-9_-]+")*\])( #[^"]*)?', line)
        assert re.findall(r'"([^"]+)"', line) == ([values] if key == "part" else list(values))


def test_a_wheel_has_each_part_that_a_command_can_ask_for() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]
    with (ROOT / "setup" / "parts.csv").open(newline="") as file:
        parts = [row["part"] for row in csv.DictReader(file)]
    of_solvers = {solver.part for solver in SHIPPED.values()}
    # Twins for valgrind and what a site alone needs are left to a checkout; `data` has no programs.
    assert {*wheel["install"]["components"], *of_solvers, "first", "simulated", "integrity", "data"} == {
        *parts,
        "Unspecified",
    }


def test_lines_that_a_new_solver_lacks_are_told() -> None:
    told = lacking(WAVE, files())
    assert told == [
        "setup/parts.csv: wave,SECONDS,waves on a string,strata-wave strata-wave-speed",
        "mkdocs.yml: - Waves: wave.md",
        "mkdocs.yml: - TITLE: wave-accuracy.md",
        "docs/index.md: | waves on a string | [Waves](wave.md) |",
        "docs/index.md: [TITLE](wave-accuracy.md)",
        "docs/restart.md: | `wave` | KEYS | KEYS |",
    ]
    assert {line.split(":")[0] for line in told} == set(LISTS)
    added = {file: text for file, text in files().items() if file in LISTS}
    for line in told:
        file, _, words = line.partition(": ")
        added[file] += words.replace("SECONDS", "60") + "\n"
    assert lacking(WAVE, added) == []
    assert naming(WAVE, added, NAMES) == set(LISTS)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.py", 'PROGRAMS = ("strata-wave",)'),
        ("a.toml", 'command = "{strata-wave-speed} --json {result}"'),
        ("a.py", "SOLVERS = ('wave', 'md')"),
        ("a.cpp", r'allowed("solver = \"wave\" before");'),
        ("a.cpp", 'folder("solvers/wave");'),
        ("CMakeLists.txt", "add_subdirectory(wave)"),
        ("CMakeLists.txt", "target_link_libraries(a PRIVATE strata_wave_grid)"),
        ("CMakeLists.txt", "foreach(solver IN ITEMS md mpm wave)"),
        ("a.sh", "for solver in wave mpm flow; do"),
        ("a.csv", "hdf5,optional,graph mpm md wave,libhdf5-dev"),
        ("a.md", "| `wave` | strings |"),
        ("solvers/README.md", "| `wave/` | strings |"),
        ("a.md", "| strings | [Waves](wave.md#sound) |"),
        ("a.md", "It has the solvers `md`, `mpm` and `wave`."),
        ("a.yml", "  - Waves: wave.md"),
    ],
)
def test_a_file_that_names_a_solver_is_found(file: str, text: str) -> None:
    assert naming(WAVE, {file: f"more\n{text}\nmore"}, NAMES) == {file}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.py", "# a wave that comes back"),
        ("a.cpp", '#include "solvers/wave/tasks.hpp"'),
        ("a.cpp", "namespace wave {}"),
        ("a.py", "from strata.wave import speed"),
        ("a.md", "`strata run cases/wave/string.toml`"),
        ("a.md", "The solver `wave` has what [waves](wave.md) need."),
        ("a.md", "| a case of `wave` | its length |"),
        ("a.md", "| `wave/` | a folder of somebody else's |"),
        ("a.txt", "npb/flow/wave.cpp md.md wave"),
    ],
)
def test_a_word_that_is_no_solver_is_not(file: str, text: str) -> None:
    assert naming(WAVE, {file: text}, NAMES) == set()
    assert names_in_a_list(text, NAMES) == set()
