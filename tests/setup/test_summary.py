"""The table and the one line at the end of `./strata test`."""

from __future__ import annotations

import datetime
import subprocess
import sys
from pathlib import Path

import pytest
import sample

sys.path.insert(0, str(sample.ROOT / "setup"))

import summary

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


def test_a_test_that_passes_when_run_again_counts_as_passed_and_is_named_apart(tmp_path: Path) -> None:
    (tmp_path / "native-1.xml").write_text(NATIVE)
    (tmp_path / "again-1.xml").write_text('<testsuite><testcase name="b" status="run"/></testsuite>')
    (tmp_path / "python-2.xml").write_text(PYTHON % "<failure/>")
    (tmp_path / "again-2.xml").write_text('<testsuite><testcase name="f"><failure/></testcase></testsuite>')
    done = summarise(*sorted(tmp_path.iterdir()))
    named, last = done.stdout.splitlines()[-2:]
    assert named == "1 failed and passed when run again: b (new: mend it, or list it in tests/README.md)"
    assert last == "3 passed, 1 failed, 2 skipped"
    assert done.returncode == 1, "f failed both times"


NOT_TRIED = """<testsuite><testcase name="a" status="notrun">
<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/><system-out>x.cpp:1: warning:
  cannot try: one memory

===</system-out></testcase>
<testcase name="b" status="disabled"/><testcase name="c" status="run"/></testsuite>"""
LEFT_OUT = """<testsuite><testcase name="d">
<skipped type="pytest.skip" message="one memory">x.py:2: one memory</skipped></testcase>
<testcase name="test_vtk"><skipped message="collection skipped">('x.py', 2, "Skipped: no VTK")</skipped>
</testcase></testsuite>"""


def test_the_lines_before_the_last_say_why_tests_were_skipped(tmp_path: Path) -> None:
    """The last one keeps its form, for what reads it."""
    (tmp_path / "native.xml").write_text(NOT_TRIED)
    (tmp_path / "python.xml").write_text(LEFT_OUT)
    (tmp_path / "more.xml").write_text(PYTHON % "<failure/>")
    (tmp_path / "again-2.xml").write_text('<testsuite><testcase name="f"/></testsuite>')
    *_, most, one, other, third, rerun, last = summarise(*sorted(tmp_path.iterdir())).stdout.splitlines()
    assert most == "skipped   2: one memory"
    assert sorted([one, other, third]) == [
        "skipped   1: disabled",
        "skipped   1: no VTK",
        "skipped   1: without a reason",
    ]
    assert rerun.startswith("1 failed and passed when run again: f ")
    assert last == "3 passed, 0 failed, 5 skipped"


def test_a_program_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    """CTest's file calls it skipped."""
    case = '<testcase name="a" status="notrun"><skipped message="Unable to find executable"/></testcase>'
    (tmp_path / "native.xml").write_text(f"<testsuite>{case}</testsuite>")
    assert summarise(tmp_path / "native.xml").stdout == (
        "folder        tests     time   budget\nother             1      0 s        -\n"
        "all               1      0 s\n0 passed, 1 failed, 0 skipped\n"
    )


SEEN_AGAIN = """A text.

| test | seen | cause |
| --- | --- | --- |
| `tests/e2e/test_one.py::test_two` | 2026-11-28 | it takes a port that another program may have |

| other | table |
"""


def test_the_list_of_tests_that_had_to_run_again_is_read() -> None:
    assert [row[0] for row in summary.listed(SEEN_AGAIN)] == ["`tests/e2e/test_one.py::test_two`"]
    assert summary.listed("no table") == []


def test_at_most_three_tests_are_known_to_need_a_second_run_each_with_date_and_cause() -> None:
    """One more is mended, or one of these."""
    text = (sample.ROOT / "tests" / "README.md").read_text()
    assert "\n| test | seen | cause |\n" in text
    rows = summary.listed(text)
    assert len(rows) <= 3
    native = "".join(path.read_text() for path in (sample.ROOT / "tests").rglob("*.cpp"))
    for name, seen, cause in rows:
        file, _, test = name.strip("`").partition("::")
        there = (sample.ROOT / file).read_text() if test else native
        assert (test.partition("[")[0] or file.partition("/")[2]) in there, f"{name} is no test any more"
        assert datetime.date.fromisoformat(seen)
        assert len(cause.split()) > 4, f"{name} has no cause"
