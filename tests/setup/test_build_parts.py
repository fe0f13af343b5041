"""Parts of the build: each is built when it is first asked for, and nowhere where that would harm."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sample

from strata import solvers

SOLVERS = solvers.in_folder(sample.ROOT / "solvers")

# A program of the table's part `npb`, beside the front.
FURTHER = """\
add_executable(strata-npb ../further.cpp)
"""


@pytest.fixture(scope="module")
def parted(tmp_path_factory: pytest.TempPathFactory, quick_python: Path) -> sample.Checkout:
    checkout = sample.make(tmp_path_factory.mktemp("parted") / "a checkout", quick_python)
    (checkout.root / "cli" / "CMakeLists.txt").write_text(sample.CMAKE + FURTHER)
    (checkout.root / "further.cpp").write_text("int main() {}\n")
    return checkout


def ask(checkout: sample.Checkout, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """As the front does that lacks the part `npb`: it becomes this."""
    part = str(checkout.root / "setup" / "part.sh")
    return checkout.run(part, "npb", *words, entry="bash", **environment)


def tree(done: subprocess.CompletedProcess[str]) -> Path:
    return Path(sample.facts(done)["exe"]).parents[1]


def parts(done: subprocess.CompletedProcess[str]) -> list[str]:
    return (tree(done) / "share" / "strata" / "parts").read_text().split()


def has_program(done: subprocess.CompletedProcess[str]) -> bool:
    return (tree(done) / "libexec" / "strata" / "strata-npb").is_file()


def test_setup_builds_the_first_part_alone(parted: sample.Checkout) -> None:
    done = parted.run()
    assert parts(done) == ["first"]
    assert not has_program(done)


@pytest.mark.parametrize(
    "under",
    [{"STRATA_RUN": "strata-run"}, {"OMPI_COMM_WORLD_SIZE": "2"}, {"PMI_SIZE": "2"}, {"no compiler": ""}],
    ids=lambda under: next(iter(under)),
)
def test_a_part_is_not_built_below_a_launch_by_ranks_or_without_a_compiler(
    parted: sample.Checkout, tmp_path: Path, under: dict[str, str]
) -> None:
    parted.run()
    before = parted.trees()
    if "no compiler" in under:
        under = {"PATH": sample.without_compiler(tmp_path / "bin")}
    done = ask(parted, "word", **under)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("strata: error: the part npb of Strata is not built") == 1
    assert "./strata setup --all" in done.stderr.splitlines()[-1]
    assert parted.trees() == before
    second = ask(parted, OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="1")
    assert (second.returncode, second.stderr) == (1, ""), "of many ranks one says it"


def test_a_part_that_is_asked_for_is_built_once_and_its_command_starts_anew(parted: sample.Checkout) -> None:
    parted.run()
    done = ask(parted, "bench", "a word")
    assert [line for line in done.stdout.splitlines() if line.startswith("argument=")] == [
        "argument=bench",
        "argument=a word",
    ]
    assert "npb, the NAS Parallel Benchmarks; about " in done.stderr
    found = subprocess.run(["grep", "-c", "Building CXX"], input=log(parted), capture_output=True, text=True)
    assert found.stdout.strip() == "1", "what the first part has compiled is not compiled again"
    assert parts(done) == ["first", "npb"]
    assert has_program(done)
    later = ask(parted)
    assert later.stderr == ""
    assert tree(later) == tree(done)

    parted.say("second")
    try:
        changed = parted.run()
        assert "rebuilding" in changed.stderr
        assert parts(changed) == ["first", "npb"]
        assert has_program(changed)
    finally:
        parted.say("first")


def log(checkout: sample.Checkout) -> str:
    name = f"setup-{os.uname().nodename}.log"
    return (checkout.root / "build" / name).read_text()


def test_all_parts_are_built_where_all_are_asked_for(ready: sample.Checkout) -> None:
    done = ready.run("setup", "--all")
    assert done.returncode == 0, done.stderr
    table = (ready.root / "setup" / "parts.csv").read_text().splitlines()[1:]
    assert parts(ready.run()) == [line.split(",")[0] for line in table]
    again = ready.run("setup", "--al")
    assert again.returncode == 1
    assert "--all" in again.stderr


def test_what_comes_later_is_just_what_is_named() -> None:
    """SciPy comes when a command first needs it; OpenBLAS, whose wheel's name begins alike, at first."""
    root = sample.ROOT
    script = 'STRATA_ROOT=$1 base_python=$2; . "$1/setup/venv.sh"; requirements "$3"'
    named = {}
    for group in ("project", "data"):
        words = ["bash", "-c", script, "bash", str(root), sys.executable, group]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        named[group] = {line.split(">")[0] for line in done.stdout.split()}
    assert {"numpy", "matplotlib", "scipy-openblas32"} <= named["project"]
    assert {"scipy", "pandas"} <= named["data"]
    assert not named["project"] & named["data"]


def test_the_part_of_each_solver_gets_what_its_manifest_needs() -> None:
    """Else a solver that is asked for first is not built, and nobody says why."""
    script = """
STRATA_ROOT=$1
. "$1/setup/pieces.sh"
read_pieces
for piece in "${piece_names[@]}"; do
    for part in ${piece_part[$piece]}; do echo "$part $piece"; done
done"""
    words = ["bash", "-uc", script, "bash", str(sample.ROOT)]
    asked = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert {"graph hdf5", "python hdf5", "solver hdf5", "first hwloc"} <= set(asked)
    assert len(asked) == len(set(asked))
    for solver in SOLVERS.values():
        assert {f"{solver.part} {piece}" for piece in solver.needs} <= set(asked), solver.name
        assert {"tomlplusplus", "hdf5", "metis", "papi", "valgrind"} <= set(solver.needs), "what runs use"


def parts_of_programs() -> dict[str, str]:
    lines = (sample.ROOT / "setup" / "parts.csv").read_text().splitlines()[1:]
    return {name: line.split(",")[0] for line in lines for name in line.rsplit(",", 1)[1].split()}


def test_each_program_of_a_solver_belongs_to_its_part_and_its_manifest_has_it() -> None:
    """What parts.csv does not name is built by the first command of all, whatever that is: kernels of solvers
    would make it wait for minutes.
    """
    named = parts_of_programs()
    for name, solver in SOLVERS.items():
        folders = (sample.ROOT / "solvers" / name, sample.ROOT / "benchmarks" / "solvers" / name)
        texts = [path.read_text() for folder in folders for path in folder.rglob("CMakeLists.txt")]
        programs = {
            program
            for text in texts
            for program in re.findall(
                r"(?:add_executable|strata_solver|strata_measures)\((strata-[a-z-]+)[ \n]", text
            )
        }
        assert programs == set(solver.all_programs()), name
        assert {program: named.get(program, "first") for program in programs} == dict.fromkeys(
            programs, solver.part
        )
    assert set(SOLVERS) == {
        path.parent.name
        for path in (sample.ROOT / "solvers").glob("*/CMakeLists.txt")
        if "strata_solver(" in path.read_text()
    }
