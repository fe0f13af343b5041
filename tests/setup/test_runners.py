"""What `./strata test` does with tests that fail: once more, by themselves."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sample

# Fails as long as there is no file that the first run leaves.
FAILS_ONCE = """
from pathlib import Path

def test_passes(): pass

def test_fails_once():
    seen = Path(__file__).with_name("seen")
    assert seen.exists() or seen.write_text("once") == 0
"""
ALWAYS = "\n".join(f"def test_{i}(): assert False" for i in range(6))
CTEST = """add_test(passes "true")
add_test(fails_once "sh" "-c" "test -e {seen} || { touch {seen}; false; }")
"""


def after(tmp_path: Path, calls: str) -> tuple[str, str]:
    """What `calls` of the runners leave: whether it failed, and the summary's end."""
    done = run(tmp_path, calls)
    failed = next((line for line in done.stdout.splitlines() if line.startswith("failed=")), done.stderr)
    return failed, "\n".join(done.stdout.splitlines()[-2:])


def run(tmp_path: Path, calls: str) -> subprocess.CompletedProcess[str]:
    results = tmp_path / "results"
    results.mkdir()
    script = (
        "failed=0 count=0 at_once=1 soak= results=$1 STRATA_ROOT=$2 STRATA_PYTHON=$3; say() { :; }; "
        f'. "$4/test_runners.sh"; {calls}; echo "failed=$failed"; "$3" "$4/summary.py" "$1"/*.xml'
    )
    words = [results, tmp_path, sys.executable, sample.ROOT / "setup"]
    command = ["bash", "-uc", script, "bash", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_what_fails_once_passes_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(FAILS_ONCE)
    failed, end = after(tmp_path, f"run_pytest '' 0 '' {tmp_path}/test_it.py")
    assert failed == "failed=0"
    assert end.startswith("1 failed and passed when run again: test_it.py::test_fails_once ")
    assert end.endswith("2 passed, 0 failed, 0 skipped")


def test_native_tests_too(tmp_path: Path) -> None:
    build = tmp_path / "build"
    build.mkdir()
    (build / "CTestTestfile.cmake").write_text(CTEST.replace("{seen}", str(tmp_path / "seen")))
    failed, end = after(tmp_path, f"run_native {build}")
    assert failed == "failed=0"
    assert end.startswith("1 failed and passed when run again: fails_once ") and end.endswith(
        "2 passed, 0 failed, 0 skipped"
    )


@pytest.mark.parametrize(("tests", "again"), [(ALWAYS, False), ("def test_one(): assert False", True)])
def test_what_is_broken_fails(tmp_path: Path, tests: str, again: bool) -> None:
    """Many at once are not tried again."""
    (tmp_path / "test_it.py").write_text(tests)
    failed, end = after(tmp_path, f"run_pytest '' 0 '' {tmp_path}/test_it.py")
    assert failed == "failed=1" and "0 passed" in end
    assert bool(list((tmp_path / "results").glob("again-*.xml"))) == again


SAYS_SO = """
from pathlib import Path

def test_it():
    with Path("said").open("a") as file:
        print(__name__, file=file)
"""


def tests_beside_the_conftest(tmp_path: Path, *names: str) -> None:
    for name in names:
        file = tmp_path / "tests" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(SAYS_SO)
    for name in ("conftest.py", "late.txt"):
        shutil.copy(sample.ROOT / "tests" / name, tmp_path / "tests")
    marks = [f'    "{name}: said in pyproject.toml"' for name in ("alone", "late", "soak")]
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\nmarkers =\n{chr(10).join(marks)}\npythonpath = {sample.ROOT}/tests/fixtures\n".replace(
            '"', ""
        )
    )


def test_those_that_wait_for_the_compiler_run_after_those_that_do_not_and_all_run_once(
    tmp_path: Path,
) -> None:
    pytest.importorskip("xdist")
    tests_beside_the_conftest(tmp_path, "python/test_first.py", "team/test_second.py")
    calls = f"cd {tmp_path}; at_once=2; run_early tests; cp said said_early; run_python '' tests; unset early"
    failed, end = after(tmp_path, calls)
    assert failed == "failed=0" and end.endswith("2 passed, 0 failed, 0 skipped")
    assert (tmp_path / "said_early").read_text() == "test_first\n"
    assert (tmp_path / "said").read_text() == "test_first\ntest_second\n"


def test_what_fails_while_the_compiler_runs_is_tried_again_when_it_has_ended(tmp_path: Path) -> None:
    test = "from pathlib import Path\ndef test_one(): assert Path(__file__).with_name('compiled').exists()"
    (tmp_path / "test_it.py").write_text(test)
    waits = f"wait() {{ touch {tmp_path}/compiled; builtin wait $1; }}; true & compiling=$!"
    failed, end = after(tmp_path, f"{waits}; run_pytest '' 0 '' {tmp_path}/test_it.py")
    assert failed == "failed=0" and "again: test_it.py::test_one " in end


def test_how_far_they_are_is_said_and_the_exit_code_stays(tmp_path: Path) -> None:
    """In the form of the first line that comes without a terminal; beside other work a test may be over by
    then.
    """
    tests_beside_the_conftest(tmp_path, "python/test_first.py")
    (tmp_path / "tests" / "python" / "test_first.py").write_text(
        "def test_a(): pass\ndef test_b(): assert False\n"
    )
    (tmp_path / "seconds").write_text("300\ttests/python/test_first.py\n")
    done = run(tmp_path, f"cd {tmp_path}; records={tmp_path}/seconds; run_pytest '' 0 '' tests")
    first = r"strata: tests in Python (0 of 2, about 10 min|1 of 2, about \d+ (min|s)) left\n"
    assert re.match(first, done.stderr), done.stderr
    assert "failed=1\n" in done.stdout and "FAILED tests/python/test_first.py::test_b\n" in done.stdout
    assert "@done" not in done.stdout


def test_native_tests_say_how_far_they_are_too(tmp_path: Path) -> None:
    (tmp_path / "CTestTestfile.cmake").write_text('add_test(base/one "true")\nadd_test(base/two "false")\n')
    (tmp_path / "seconds").write_text("90\tbase\n240\tbase/two\n")
    done = run(tmp_path, f"records={tmp_path}/none:{tmp_path}/seconds; run_native {tmp_path}")
    assert "strata: native tests 0 of 2, about 6 min left\n" in done.stderr
    assert "failed=1\n" in done.stdout and "Passed" not in done.stdout and "***Failed" in done.stdout


def test_a_test_that_starts_a_native_test_program_is_late() -> None:
    """Else it is tried before the program is there, and counts as skipped."""
    lines = (sample.ROOT / "tests" / "late.txt").read_text().splitlines()
    late_folders = tuple(line for line in lines if line and not line.startswith("#"))
    starts = re.compile(
        r'built\(\s*"tests"|find_built|from faults import|from building import|STRATA_BUILD.*tests'
    )
    tests = sample.ROOT / "tests"
    users = [
        str(file.relative_to(tests))
        for file in tests.rglob("test_*.py")
        if file != Path(__file__) and starts.search(file.read_text())
    ]
    late = [name for name in users if name.startswith(late_folders)]
    assert len(late) >= 8, "they are still found"
    assert sorted(set(users) - set(late)) == []
