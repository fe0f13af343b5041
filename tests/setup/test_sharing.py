"""Tests that share what is costly to start go to one worker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"
SAYS_ITS_WORKER = """
import os, pathlib, time
import pytest
@pytest.mark.parametrize("i", range(6))
def test_it(i):
    time.sleep(0.05)
    (pathlib.Path("said") / f"{__name__} {i}").write_text(os.environ["PYTEST_XDIST_WORKER"])
"""


def test_a_group_of_tests_stays_on_one_worker_and_the_groups_are_shared_out(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    files = {"numa": ["test_a", "test_b"], "graph": ["test_c", "test_d"]}
    (tmp_path / "said").mkdir()
    for folder, names in files.items():
        (tmp_path / "tests" / folder).mkdir(parents=True)
        for name in names:
            (tmp_path / "tests" / folder / f"{name}.py").write_text(SAYS_ITS_WORKER)
    for file in (CONFTEST, CONFTEST.with_name("late.txt")):
        shutil.copy(file, tmp_path / "tests")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    words = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--rootdir", str(tmp_path), "tests"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = {p.name: p.read_text() for p in (tmp_path / "said").iterdir()}
    workers = {file: {said[f"{file} {i}"] for i in range(6)} for names in files.values() for file in names}
    assert all(len(found) == 1 for found in workers.values()), said
    assert workers["test_a"] == workers["test_b"], "of a folder that shares a virtual machine"
    assert set(said.values()) == {"gw0", "gw1"}
