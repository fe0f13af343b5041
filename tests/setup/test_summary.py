"""The one line at the end of `./strata test`."""

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
    assert done.stdout == "2 passed, 2 failed, 2 skipped\n"
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
    assert (done.stdout, done.returncode) == (line, code)
