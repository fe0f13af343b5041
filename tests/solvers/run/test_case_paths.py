"""Files that a case names lie beside it or in the current directory; an error says where they were sought."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from solver_cases import MD_CASES, SOFT, crystal

ATOMS = """two atoms

2 atoms
1 atom types
0 9 xlo xhi
0 9 ylo yhi
0 9 zlo zhi

Atoms # atomic

1 1 2.0 2.0 2.0
2 1 4.0 4.0 4.0
"""
MD = """solver = "md"
[system]
file = "parts/atoms.data"
temperature = 0
[time]
steps = 1
"""
TABLE = """PAIR
N 3 R 0.5 2.0

1 0.5 1.0 1.0
2 1.25 0.5 0.5
3 2.0 0.0 0.0
"""
TABULATED = f"""{crystal(0)}form = "table"
file = "parts/pair.table"
sections = ["X X PAIR"]
[time]
steps = 1
"""
STL = "solid tetrahedron\n" + "".join(
    "facet normal 0 0 0\nouter loop\n"
    + "".join(f"vertex {corner}\n" for corner in face)
    + "endloop\nendfacet\n"
    for face in (
        ("0 0 0", "0 1 0", "1 0 0"),
        ("0 0 0", "1 0 0", "0 0 1"),
        ("0 0 0", "0 0 1", "0 1 0"),
        ("1 0 0", "0 1 0", "0 0 1"),
    )
)
MPM = f"""solver = "mpm"
[grid]
cells = [6, 6, 6]
size = [3.0, 3.0, 3.0]
{SOFT}[[bodies]]
shape = "stl"
file = "parts/body.stl"
move = [1, 1, 1]
scale = 1.0
velocity = [0.1, 0.0, 0.0]
[time]
end = 1e-4
[verify]
energy = 1.0
"""
NODES = [(i, j, k) for k in range(2) for j in range(3) for i in range(3)]
GRID = "1\n3 3 2\n" + "\n".join(" ".join(str(node[d]) for node in NODES) for d in range(3)) + "\n"
FLOW = """solver = "flow"
[grid]
kind = "file"
file = "parts/box.xyz"
[flow]
equations = "euler"
mach = 0.5
[time]
kind = "steady"
iterations = 1
""" + "".join(
    f'[boundary."1:{face}"]\nkind = "far-field"\n'
    for face in (f"{i}-{end}" for i in "ijk" for end in ("min", "max"))
)
# solver -> the case, the key that names a file and its line, the file, and its text
NAMED = {
    "md": (MD, "system.file", 3, "atoms.data", ATOMS),
    "md, a table": (TABULATED, "pair.file", 8, "pair.table", TABLE),
    "mpm": (MPM, "bodies[0].file", 12, "body.stl", STL),
    "flow": (FLOW, "grid.file", 4, "box.xyz", GRID),
}


def strata(front: str, file: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [front, "run", str(file), "--steps", "1", "--quiet"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd)


@pytest.mark.parametrize("name", NAMED)
def test_a_file_is_looked_for_beside_the_case_and_then_in_the_current_directory(front, tmp_path, name):
    text, key, line, file, content = NAMED[name]
    beside, elsewhere = tmp_path / "cases", tmp_path / "elsewhere"
    for folder in (beside, elsewhere):
        (folder / "parts").mkdir(parents=True)
    case = beside / "case.toml"
    case.write_text(text)
    done = strata(front, case, elsewhere)
    assert done.returncode == 2
    assert "there is no such file" in done.stderr
    assert f"at: {case}:{line} {key}\n" in done.stderr
    assert f"given: parts/{file}\n" in done.stderr
    for folder in (beside, elsewhere):
        assert f"{folder}/parts/{file}" in done.stderr
    (elsewhere / "parts" / file).write_text(content)
    here = strata(front, case, elsewhere)
    assert here.returncode == 0, here.stderr
    (elsewhere / "parts" / file).write_text("neither atoms nor a grid")
    (beside / "parts" / file).write_text(content)
    there = strata(front, case, elsewhere)
    assert there.returncode == 0, there.stderr


def test_a_case_of_ours_runs_from_any_folder(front, tmp_path):
    done = strata(front, MD_CASES / "copper.toml", tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_solver_in_python_finds_files_in_the_same_way(front, tmp_path):
    program = tmp_path / "reading.py"
    program.write_text(
        """
from strata.graph.program import Case, Solver, drive
case = Case("reading", "reads a number")
case.key("number.file", type=str, meaning="where it is")
def declare(graph, case):
    number = float(case.path("number.file", case["number.file"]).read_text())
    return Solver(time=graph.clock(number), end=number)
drive(case, declare)
"""
    )
    case = tmp_path / "cases" / "case.toml"
    case.parent.mkdir()
    case.write_text('solver = "reading"\n[number]\nfile = "half.txt"\n')

    def run() -> subprocess.CompletedProcess[str]:
        command = [front, "run", str(program), str(case), "--quiet"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)

    done = run()
    assert done.returncode == 2
    assert f"at: {case}:3 number.file\n" in done.stderr
    (case.parent / "half.txt").write_text("0.5")
    done = run()
    assert done.returncode == 0, done.stderr
    assert ", 1 step to t = 0.5 s" in done.stdout
