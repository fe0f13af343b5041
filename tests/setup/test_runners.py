"""What `./strata test` does with tests that fail: once more, by themselves."""

from __future__ import annotations

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
    results = tmp_path / "results"
    results.mkdir()
    script = (
        "failed=0 count=0 at_once=1 soak= results=$1 STRATA_ROOT=$2 STRATA_PYTHON=$3; say() { :; }; "
        f'. "$4/test_runners.sh"; {calls}; echo "failed=$failed"; "$3" "$4/summary.py" "$1"/*.xml'
    )
    words = [results, tmp_path, sys.executable, sample.ROOT / "setup"]
    command = ["bash", "-uc", script, "bash", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    failed = next((line for line in done.stdout.splitlines() if line.startswith("failed=")), done.stderr)
    return failed, "\n".join(done.stdout.splitlines()[-2:])


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
