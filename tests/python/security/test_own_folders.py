"""Who else can change or replace a file or folder, whatever lies above it, and by whatever link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from strata.own_folders import replaceable

NOBODY = 65534


@pytest.fixture
def safe(tmp_path: Path) -> Path:
    """A folder below which nobody else can write, whatever the umask is."""
    tmp_path.chmod(0o755)
    return tmp_path


def test_a_path_of_ones_own_cannot_be_replaced(safe: Path) -> None:
    (safe / "program").touch(0o755)
    assert replaceable(safe / "program") == ""
    assert replaceable(safe / "not" / "there") == ""


def test_what_others_may_write_is_named_the_file_or_a_folder_above_it(safe: Path) -> None:
    folder = safe / "bin"
    folder.mkdir()
    program = folder / "program"
    program.touch(0o755)
    program.chmod(0o757)
    assert replaceable(program) == f"others may write {program}"
    program.chmod(0o755)
    folder.chmod(0o777)
    assert replaceable(program) == f"others may write {folder}"
    folder.chmod(0o1777)  # as /tmp: nobody can replace what is another's
    assert replaceable(program) == ""
    assert replaceable(folder) == f"others may write {folder}", "but may put more into it"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_folder_of_another_user_is_named(safe: Path) -> None:
    (safe / "bin").mkdir()
    (safe / "bin" / "program").touch()
    os.chown(safe / "bin", NOBODY, NOBODY)
    assert replaceable(safe / "bin" / "program") == f"{safe / 'bin'} belongs to user {NOBODY}"


def test_a_link_counts_as_what_it_leads_to(safe: Path) -> None:
    (safe / "open").mkdir()
    (safe / "open").chmod(0o777)
    (safe / "bin").symlink_to("open")
    assert replaceable(safe / "bin") == f"others may write {safe / 'open'}"
