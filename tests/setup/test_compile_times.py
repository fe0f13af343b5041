"""setup/compile_times.py: what compiling takes, recorded and added up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "setup" / "compile_times.py"
sys.path.insert(0, str(PROGRAM.parent))
import compile_times  # noqa: E402

OBJECT = "core/graph/CMakeFiles/strata_graph.dir/expand/plan.cpp.o"
LINES = f"""\
1.500,0.500,2.100,204800,{OBJECT}
6.000,0.400,6.500,300000,CMakeFiles/strata_pch_1.dir/cmake_pch.hxx.gch
0.200,0.050,0.300,90000,cli/strata
9.000,1.000,10.000,300000,core/graph/CMakeFiles/strata_graph.dir/expand/halos/halo.cpp.o
"""


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_command_is_recorded_with_its_seconds_its_object_and_its_exit_status(tmp_path: Path) -> None:
    spins = "import sys, time\nwhile time.process_time() < 0.2: pass\nsys.exit(int(sys.argv[3]))"
    times = tmp_path / "times"
    for status in (0, 3):
        done = run("--record", times, sys.executable, "-c", spins, "-o", f"made{status}", status)
        assert done.returncode == status
    made = compile_times.read(times)
    assert list(made) == ["made0", "made3"]
    # What it used is the command's own, which is more than it says of itself.
    assert all(each.seconds >= 0.2 and each.kib > 1000 for each in made.values())


def test_a_compiler_that_is_killed_counts_as_failed(tmp_path: Path) -> None:
    done = run("--record", tmp_path / "times", "sh", "-c", "kill -9 $$")
    assert done.returncode == 128 + 9


def test_the_table_adds_up_folders_and_sets_two_builds_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "old").write_text(LINES)
    (tmp_path / "new").write_text(LINES.replace("1.500,0.500", "0.500,0.500"))
    done = run(tmp_path / "old", tmp_path / "new")
    rows = {line.rsplit(None, 4)[0].strip(): line.split()[-4:] for line in done.stdout.splitlines() if line}
    assert rows["core/graph/expand"] == ["2", "12.0", "11.0", "0.92"]
    assert rows["precompiled headers"] == ["1", "6.4", "6.4", "1.00"]
    assert rows["linking"] == ["1", "0.2", "0.2", "1.00"]
    assert rows["all"] == ["4", "18.6", "17.6", "0.95"]


def test_a_file_of_something_else_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "other").write_text(LINES + "hello\n")
    done = run(tmp_path / "other")
    assert done.returncode == 2
    assert f"{tmp_path / 'other'}:5" in done.stderr


def test_what_is_expected_comes_from_the_record_by_name_or_by_folder(tmp_path: Path) -> None:
    record = tmp_path / "times"
    record.write_text(LINES.replace("9.000,1.000", "29.000,1.000") + LINES.replace("plan.cpp", "values.cpp"))
    table = tmp_path / "seconds.csv"
    table.write_text("\n".join(compile_times.summary(compile_times.read(record))))
    build = tmp_path / "build"
    build.mkdir()
    cache = Path(os.environ["STRATA_BUILD"], "cmake", "CMakeCache.txt").read_text()
    (build / "CMakeCache.txt").write_text(cache)
    halo = OBJECT.replace("plan", "halos/halo")
    # As CMake writes it where folders are searched for sources: each call begins with making the file anew.
    (build / "build.ninja").write_text(
        "rule any\n  command = false\n  description = Building CXX object $out\n"
        "rule again\n  command = false\n  generator = 1\nbuild force: phony\nbuild build.ninja: again force\n"
        f"build {OBJECT}: any\nbuild {halo}: any\nbuild cli/strata: any {OBJECT} {halo}\n"
        "build other: any\nbuild all: phony cli/strata\nbuild nothing: phony\n"
    )
    rows = [line.split("\t") for line in compile_times.expected(table, str(build), 2.0, ["all"])]
    seconds = {name: float(value) for value, name in rows}
    assert seconds == {
        OBJECT: pytest.approx(2 * (2.0 + 2.0 + 10.0) / 3, abs=0.2),  # the mean of its folder
        OBJECT.replace("plan", "halos/halo"): pytest.approx(2 * 10.0, abs=0.2),
        "cli/strata": pytest.approx(2 * 0.25, abs=0.2),
    }
    done = run("--expect", build, 100, "nothing")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(("seconds", "measured", "expected"), [(10, 0, 10), (70, 1, 140)])
def test_how_fast_the_compiler_is_is_measured_only_where_there_is_much_to_compile(
    tmp_path: Path, seconds: int, measured: int, expected: int
) -> None:
    """The text that is compiled for it takes about as long as one changed file of a small project."""
    lists, compiler = tmp_path / "python", tmp_path / "compiler"
    lists.write_text(f"#!/bin/sh\nprintf '{seconds}.00\\tmain.cpp.o\\n'\n")
    # Some twice as slow as recorded: 800 ms are 100 %.
    compiler.write_text(f"#!/bin/sh\necho called >>'{tmp_path}/calls'\nsleep 1.6\n")
    for program in (lists, compiler):
        program.chmod(0o755)
    script = '. "$1/build.sh"; expect all; echo "$REPLY"'
    places = {"STRATA_ROOT": str(ROOT), "STRATA_BUILD": str(tmp_path), "strata_log": str(tmp_path / "log")}
    programs = {"CXX": str(compiler), "base_python": str(lists)}
    done = subprocess.run(
        ["bash", "-uc", script, "bash", str(PROGRAM.parent)],
        env=os.environ | places | programs,
        capture_output=True,
        text=True,
        check=True,
    )
    calls = tmp_path / "calls"
    assert (calls.read_text().count("called") if calls.exists() else 0) == measured, done.stderr
    assert int(done.stdout) >= expected


def test_the_page_of_installation_has_the_table_of_the_record(tmp_path: Path) -> None:
    printed = run("--page").stdout
    assert printed.startswith("| folder | seconds an object |") and len(printed.splitlines()) == 14
    text = (ROOT / "docs" / "install.md").read_text()
    assert f"\n{printed}\n" in text, "docs/install.md: paste what setup/compile_times.py --page prints"
    record = tmp_path / "record.csv"
    record.write_text(f"seconds,what\n2.5,core/graph/expand/\n9.0,{OBJECT}\n0.5,cli/\n")
    assert compile_times.page(record)[2:] == [
        "| `core/graph/expand` | 2.5 | `core/graph/expand`: `plan.cpp` | 9.0 |"
    ]
