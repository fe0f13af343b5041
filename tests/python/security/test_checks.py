"""Each way in which another user could change what this one runs is found, and nothing else is."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from strata import own_folders
from strata.security import checks

NOBODY = 65534
ROOT = os.geteuid() == 0


@pytest.fixture
def safe(tmp_path: Path) -> Path:
    """A folder below which nobody else can write, whatever the umask is."""
    tmp_path.chmod(0o755)
    return tmp_path


def test_settings_of_the_kernel_that_are_off_are_named_with_what_they_let_in(tmp_path: Path) -> None:
    for name in ("symlinks", "hardlinks", "fifos", "regular"):
        (tmp_path / f"protected_{name}").write_text("1\n")
    assert checks.links_are_protected(tmp_path).holds
    (tmp_path / "protected_symlinks").write_text("0\n")
    (tmp_path / "protected_regular").unlink()  # an older kernel
    found = checks.links_are_protected(tmp_path)
    assert found.holds is False
    assert found.remedy == "sudo sysctl fs.protected_symlinks=1 fs.protected_regular=1"
    assert "a link that a program of yours follows" in found.matters and "FIFO" not in found.matters


def test_a_shared_folder_without_the_sticky_bit_is_found(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    assert checks.shared_folders([tmp_path]).holds
    tmp_path.chmod(0o777)
    assert checks.shared_folders([tmp_path]).found == f"{tmp_path} lacks the sticky bit"


@pytest.mark.parametrize(
    ("variable", "value", "named"),
    [
        ("PATH", "/usr/bin::/bin", "PATH has an empty entry"),
        ("PATH", "/usr/bin:.", "PATH has .:"),
        ("LD_LIBRARY_PATH", "lib", "LD_LIBRARY_PATH has lib:"),
        ("PYTHONPATH", "/usr/lib:OPEN", "PYTHONPATH: others may write"),
        ("PYTHONPATH", "/usr/lib:", "PYTHONPATH has an empty entry"),
        ("PYTHONPATH", "lib", "PYTHONPATH has lib:"),
        ("LD_PRELOAD", "./a.so", "LD_PRELOAD has ./a.so:"),
        ("PATH", "/usr/bin:/tmp/strata-none/deep/bin", "is not there, and others may make it in /tmp"),
        ("LD_PRELOAD", "OPEN/a.so OPEN/b.so", "LD_PRELOAD: others may write"),
    ],
)
def test_search_paths_that_lead_to_others_are_found(
    safe: Path, variable: str, value: str, named: str
) -> None:
    (safe / "open").mkdir()
    (safe / "open").chmod(0o777)
    found = checks.search_paths({variable: value.replace("OPEN", str(safe / "open"))})
    assert found.holds is False and named in found.found


@pytest.mark.skipif(not ROOT, reason="only root gives files away")
@pytest.mark.parametrize(
    "way", ["a group", "one's own group", "one's own with another member", "a list of users"]
)
def test_a_folder_in_which_a_group_may_write_is_found(
    safe: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Of a user's own group, as many systems make one for each, only that user is a member."""
    folder = safe / "bin"
    folder.mkdir()
    user, group = pwd.getpwnam("games"), grp.getgrnam("users" if way == "a group" else "games")
    os.chown(folder, user.pw_uid, group.gr_gid)
    folder.chmod(0o775)
    if way == "a list of users":
        if not (setfacl := shutil.which("setfacl")):
            pytest.skip("no setfacl here")
        subprocess.run([setfacl, "-m", "u:65534:rwx", folder], check=True)
    if "member" in way:
        both = grp.struct_group((group.gr_name, "x", group.gr_gid, [user.pw_name, "bob"]))
        monkeypatch.setattr(grp, "getgrgid", lambda number: both)
    monkeypatch.setattr(os, "geteuid", lambda: user.pw_uid)
    assert own_folders.replaceable(folder) == ""
    why = own_folders.replaceable(folder, groups=True)
    assert why == ("" if way == "one's own group" else f"others may write {folder}")


def test_results_that_others_can_make_first_are_found(safe: Path) -> None:
    assert checks.results({"STRATA_RESULTS": str(safe / "none" / "results")}).holds
    found = checks.results({"STRATA_RESULTS": "/tmp/strata-none/results"})
    assert found.holds is False and "others may make it in /tmp" in found.found


def test_search_paths_of_the_system_hold() -> None:
    assert checks.search_paths({"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": ""}).holds


def test_one_file_among_strata_s_own_that_all_may_write_is_found(safe: Path) -> None:
    (safe / "lib" / "deep").mkdir(parents=True)
    module = safe / "lib" / "deep" / "module.py"
    module.touch(0o644)
    (safe / "lib" / "link").symlink_to(module)  # a link's own mode says nothing
    assert checks.own_files([safe / "lib"]).holds
    module.chmod(0o646)
    found = checks.own_files([safe / "lib"])
    assert found.holds is False and str(module) in found.found


def test_a_link_among_strata_s_own_files_to_where_others_may_write_is_found(safe: Path) -> None:
    """An environment's Python is a link, often to a folder of a user's."""
    (safe / "lib").mkdir()
    (safe / "open").mkdir()
    (safe / "open" / "python3").touch(0o755)
    for name in ("python", "python3", "python3.11", "python4"):
        (safe / "lib" / name).symlink_to(safe / "open" / "python3")
    assert checks.own_files([safe / "lib"]).holds
    (safe / "open").chmod(0o777)
    found = checks.own_files([safe / "lib"])
    assert found.holds is False and found.found == f"others may write {safe / 'open'}"


@pytest.mark.skipif(not ROOT, reason="only root gives files away")
def test_whoever_owns_strata_is_told_and_not_accused(safe: Path) -> None:
    (safe / "lib").mkdir()
    (safe / "lib" / "module.py").touch(0o644)
    os.chown(safe / "lib" / "module.py", NOBODY, NOBODY)
    found = checks.own_files([safe / "lib"])
    assert found.holds is None and "user nobody" in found.found


def test_a_mask_that_lets_all_write_new_files_is_found() -> None:
    before = os.umask(0)
    try:
        assert checks.new_files().holds is False
        os.umask(0o022)
        assert checks.new_files().holds
        assert os.umask(0o022) == 0o022, "and it stays as it was"
    finally:
        os.umask(before)


def test_users_who_are_trusted_by_a_variable_are_named() -> None:
    assert checks.trusted_users({}).holds
    assert "ada" in checks.trusted_users({"STRATA_TRUST": "ada"}).found
    assert checks.trusted_users({"STRATA_TRUST": "ada"}).holds is None


def test_the_command_ends_with_one_where_something_does_not_hold(safe: Path) -> None:
    (safe / "open").mkdir()
    (safe / "open").chmod(0o777)
    doctor = Path(checks.__file__).parents[1] / "doctor.py"
    environment = {"PATH": f"{safe / 'open'}:/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, doctor, "--security"], env=environment, cwd=safe, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stderr
    assert f"DOES NOT HOLD: PATH: others may write {safe / 'open'}" in done.stdout
    assert "do not hold, each with its remedy above" in done.stdout.splitlines()[-1]
    assert stat.S_IMODE((safe / "open").stat().st_mode) == 0o777, "nothing is changed"
