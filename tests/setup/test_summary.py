"""The table and the one line at the end of `./strata test`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import sample

NATIVE = """<testsuite><testcase name="a" status="run"/><testcase name="b" status="fail"><failure/></testcase>
<testcase name="c" status="disabled"><skipped/></testcase></testsuite>"""
PYTHON = """<testsuites><testsuite><testcase name="d"/><testcase name="e"><skipped/></testcase>
<testcase name="f">%s</testcase></testsuite></testsuites>"""


def summarise(*files: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(sample.ROOT / "setup" / "summary.py"), *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_adds_up_both_runners_and_fails_with_either(tmp_path: Path) -> None:
    (tmp_path / "native.xml").write_text(NATIVE)
    (tmp_path / "python.xml").write_text(PYTHON % "<error/>")
    done = summarise(tmp_path / "native.xml", tmp_path / "python.xml")
    assert done.stdout.splitlines()[-1] == "2 passed, 2 failed, 2 skipped"
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("content", "line", "code"),
    [
        (PYTHON % "", "2 passed, 0 failed, 1 skipped\n", 0),
        ("<testsuite/>", "0 passed, 0 failed, 0 skipped\n", 1),
    ],
)
def test_passes_only_when_something_ran(tmp_path: Path, content: str, line: str, code: int) -> None:
    (tmp_path / "one.xml").write_text(content)
    done = summarise(tmp_path / "one.xml")
    assert (done.stdout.splitlines(keepends=True)[-1], done.returncode) == (line, code)


TIMED = """<testsuite><testcase classname="tests.e2e.test_study" name="one" time="900.5"/>
<testcase classname="tests.e2e.test_study" name="two" time="900.5"/>
<testcase classname="tests.core.sub.test_small" name="three" time="0.25"/></testsuite>"""
BUILT = """<testsuite><testcase classname="base/a" name="base/a" status="run" time="2.0"/></testsuite>"""
LISTED = """{"tests": [{"name": "base/a", "properties":
[{"name": "WORKING_DIRECTORY", "value": "/any/cmake/tests/core/deeper"}]}]}"""


def test_each_folder_has_its_time_beside_its_budget(tmp_path: Path) -> None:
    for name, text in (("python.xml", TIMED), ("native.xml", BUILT), ("native.json", LISTED)):
        (tmp_path / name).write_text(text)
    head, *rows, total, last = summarise(*sorted(tmp_path.iterdir())).stdout.splitlines()
    assert head.split() == ["folder", "tests", "time", "budget"]
    slow, small = rows
    assert slow.split()[:4] == ["e2e", "2", "1801", "s"]
    assert slow.endswith("over its budget"), "half an hour is more than any folder may take"
    assert small.split()[:4] == ["core", "2", "2", "s"]
    assert not small.endswith("over its budget")
    assert total.split() == ["all", "4", "1803", "s"]
    assert last == "4 passed, 0 failed, 0 skipped"


def test_a_test_that_passes_by_itself_afterwards_counts_as_passed_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "native-1.xml").write_text(NATIVE)
    (tmp_path / "again-1.xml").write_text('<testsuite><testcase name="b" status="run"/></testsuite>')
    (tmp_path / "python-2.xml").write_text(PYTHON % "<failure/>")
    (tmp_path / "again-2.xml").write_text('<testsuite><testcase name="f"><failure/></testcase></testsuite>')
    done = summarise(*sorted(tmp_path.iterdir()))
    named, last = done.stdout.splitlines()[-2:]
    assert named.startswith("failed beside other tests, passed by itself") and named.endswith(" b")
    assert last == "3 passed, 1 failed, 2 skipped"
    assert done.returncode == 1, "f failed both times"
