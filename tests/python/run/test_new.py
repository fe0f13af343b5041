"""`strata new`: which names it takes, and that a folder is there whole or not at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from strata.errors import FAILED, USAGE, StrataError
from strata.run import new as module
from strata.run.new import new


def refused(folder: Path, *, python: bool = False) -> StrataError:
    with pytest.raises(StrataError) as raised:
        new(folder, python=python)
    return raised.value


@pytest.mark.parametrize(
    ("name", "python", "why"),
    [
        ("Wave", False, "given: Wave"),
        ("2d", False, "given: 2d"),
        ("a-b", False, "given: a-b"),
        ("a b", True, "given: a b"),
        ("w" * 65, False, "up to 64 characters"),
        *((name, name != "md", "a solver of Strata's own") for name in ("flow", "md", "mpm", "transport")),
        ("install", False, "a target of CMake's own"),
        ("lambda", True, "a word of Python's own"),
        ("numpy", True, "a module of Python's"),
        ("queue", True, "a module of Python's"),
    ],
)
def test_a_name_that_cannot_be_a_solvers_is_refused_and_nothing_is_written(tmp_path, name, python, why):
    error = refused(tmp_path / name, python=python)
    assert error.code == USAGE
    assert why in str(error)
    assert "lower-case letters, digits and _" in str(error)
    assert list(tmp_path.iterdir()) == []


def test_names_that_only_solvers_in_python_must_not_have(tmp_path):
    assert "numpy.cpp" in new(tmp_path / "numpy", python=False)


@pytest.mark.parametrize("kind", ["folder", "file", "link to nothing"])
def test_what_is_there_is_never_written_over(tmp_path, kind):
    there = tmp_path / "wave"
    if kind == "folder":
        there.mkdir()
    elif kind == "file":
        there.write_text("mine")
    else:
        there.symlink_to("nowhere")
    assert "the folder is there already" in str(refused(there))
    assert list(tmp_path.iterdir()) == [there]
    assert not there.is_dir() or not list(there.iterdir())


def test_a_disk_that_fills_up_leaves_nothing(tmp_path, monkeypatch):
    written = []

    def full(path: Path, text: str, **_: object) -> None:
        if written:
            raise OSError(28, "No space left on device")
        written.append(path)
        path.touch()

    monkeypatch.setattr(module.Path, "write_text", full)
    error = refused(tmp_path / "wave")
    assert error.code == FAILED and str(error.given).startswith("the disk is full: free")
    assert written, "the failure came half way"
    assert list(tmp_path.iterdir()) == []


def test_no_folder_to_write_in(tmp_path):
    assert "there is no folder to write it in" in str(refused(tmp_path / "nowhere" / "wave"))


@pytest.mark.parametrize("python", [False, True], ids=["C++", "Python"])
def test_what_is_written_names_the_solver_throughout_and_is_well_formed(tmp_path, python):
    folder = tmp_path / "waves2"
    files = new(folder, python=python)
    assert sorted(path.name for path in folder.iterdir()) == sorted(files)
    for path in folder.iterdir():
        text = path.read_text()
        assert not {"NAME", "SOURCE", "BUILD_ROW", "STRATA_COMMAND"} & set(text.replace("_", " ").split())
        assert "NAME" not in text
    source = folder / ("waves2.py" if python else "waves2.cpp")
    lines = source.read_text().splitlines()
    assert len(lines) <= 90, "a solver that is read in a minute"
    ruff = Path(sys.executable).with_name("ruff")
    if ruff.exists():
        words = [ruff, "format", "--check", "--line-length", "110", *folder.glob("*.py")]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
