"""Set-up on a machine without a network, from what was downloaded on another."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sample


def without_network() -> tuple[str, ...]:
    """Words before a command that take the network away from it, where this user may."""
    words = ("unshare", "--net") if shutil.which("unshare") else ()
    allowed = words and subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    return words if allowed else ()


@pytest.mark.usefixtures("package_index")
def test_a_machine_without_a_network_is_set_up_from_downloads(
    checkout: sample.Checkout, tmp_path: Path
) -> None:
    folder = tmp_path / "down loads"
    downloaded = checkout.run("setup", "--download", str(folder))
    assert downloaded.returncode == 0, downloaded.stderr
    assert "./strata setup --from FOLDER" in downloaded.stderr.splitlines()[-1]
    said = downloaded.stderr.splitlines()[-2].split()[-1]
    assert said == hashlib.sha256((folder / "SHA256SUMS").read_bytes()).hexdigest()
    assert checkout.builds() == [], "nothing was built"

    other = {"STRATA_IGNORE_SYSTEM": "cmake ninja hwloc fmt", "PIP_INDEX_URL": "http://127.0.0.1:9/"}
    other["STRATA_FROM_SHA256"] = said
    done = checkout.run("setup", "--from", str(folder), prefix=without_network(), **other)
    assert done.returncode == 0, done.stderr
    found = sample.facts(checkout.run(prefix=without_network(), **other))
    libraries = subprocess.run(["ldd", found["exe"]], capture_output=True, text=True, check=True).stdout
    assert str(checkout.root) in next(line for line in libraries.splitlines() if "libhwloc" in line)
    parts = Path(found["exe"]).parents[1] / "share" / "strata" / "parts"
    table = (sample.ROOT / "setup" / "parts.csv").read_text().splitlines()[1:]
    assert parts.read_text().split() == [line.split(",")[0] for line in table], (
        "all parts: none can come later"
    )


def test_downloads_for_another_machine_are_refused(checkout: sample.Checkout, tmp_path: Path) -> None:
    nothing = checkout.run("setup", "--from", str(tmp_path))
    assert nothing.returncode == 1
    assert "this is no folder of downloads" in nothing.stderr
    (tmp_path / "made-for").write_text("Python 2.7, pdp11\n")
    other = checkout.run("setup", "--from", str(tmp_path))
    assert other.returncode == 1
    assert "made for Python 2.7, pdp11" in other.stderr
    assert f"allowed: Python 3.{sys.version_info[1]}" in other.stderr
    assert "STRATA_BASE_PYTHON" in other.stderr.splitlines()[-1]


# --- who can have put it there


@pytest.fixture
def downloads() -> Iterator[Path]:
    """Downloads that nobody has downloaded, in a folder like /tmp, with their list."""
    with tempfile.TemporaryDirectory(prefix="strata-test-") as place:
        Path(place).chmod(0o1777)
        folder = Path(place, "down loads")
        (folder / "wheels").mkdir(parents=True)
        (folder / "wheels" / "a-1-py3-none-any.whl").write_text("a wheel\n")
        (folder / "wheels" / "b 2.whl").write_text("another\n")
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        (folder / "made-for").write_text(f"Python {version}, {platform.machine()}\n")
        write_list(folder)
        yield folder


def write_list(folder: Path) -> None:
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    lines = (f"{digest(folder / name)}  {name}\n" for name in names if name != "SHA256SUMS")
    (folder / "SHA256SUMS").write_text("".join(lines))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def used(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What --from does before anything is built."""
    sources = 'for part in key say own_folders pieces offline; do . "$1/$part.sh"; done; '
    script = sources + 'use_downloads "$2" && echo "PIP_FIND_LINKS=$PIP_FIND_LINKS"'
    known = {k: v for k, v in os.environ.items() if not k.startswith("STRATA_")}
    known["STRATA_BASE_PYTHON"] = sys.executable
    return subprocess.run(
        ["bash", "-uc", script, "bash", sample.ROOT / "setup", folder],
        env={**known, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def refused(folder: Path, **environment: str) -> str:
    done = used(folder, **environment)
    assert done.returncode == 1 and "PIP_FIND_LINKS" not in done.stdout, done.stdout + done.stderr
    assert done.stderr.count("strata: error:") == 1
    return done.stderr


def test_downloads_are_taken_as_they_are_listed_and_the_lists_digest_is_said(downloads: Path) -> None:
    expected = digest(downloads / "SHA256SUMS")
    for environment in ({}, {"STRATA_FROM_SHA256": expected}, {"STRATA_FROM_SHA256": expected.upper()}):
        done = used(downloads, **environment)
        assert done.returncode == 0 and "PIP_FIND_LINKS=file:///" in done.stdout, done.stderr
        assert expected in done.stderr


@pytest.mark.parametrize("how", ["changed", "added", "missing", "no list", "another list"])
def test_downloads_that_are_not_those_of_the_list_are_refused(downloads: Path, how: str) -> None:
    wheel, environment, said = downloads / "wheels" / "b 2.whl", {}, "not those of their list"
    if how == "changed":
        wheel.write_text("anothes\n")
    elif how == "added":
        (downloads / "wheels" / "c.whl").write_text("one more\n")
    elif how == "missing":
        wheel.unlink()
    elif how == "no list":
        (downloads / "SHA256SUMS").unlink()
        said = "no list of digests"
    else:  # all fits, and is not what was meant
        environment["STRATA_FROM_SHA256"] = digest(downloads / "SHA256SUMS")
        wheel.write_text("of somebody else\n")
        write_list(downloads)
        said = "not the downloads that were meant"
    error = refused(downloads, **environment)
    assert said in error
    if how in ("changed", "missing"):
        assert "given: wheels/b 2.whl" in error


@pytest.mark.parametrize("how", ["folder", "wheels", "a wheel", "everybody", "the group", "a link"])
@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_downloads_that_another_user_can_replace_are_refused(downloads: Path, how: str) -> None:
    wheel = downloads / "wheels" / "b 2.whl"
    named = {"folder": downloads, "wheels": downloads / "wheels"}.get(how, wheel)
    if how in ("everybody", "the group"):
        wheel.chmod(0o646 if how == "everybody" else 0o664)
    elif how == "a link":
        wheel.rename(downloads.parent / "elsewhere")
        wheel.symlink_to(downloads.parent / "elsewhere")
    else:
        os.chown(named, 65534, 65534)
    assert f"given:   {named}" in (error := refused(downloads)), error
    assert "another user can replace what is in this folder" in error


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_downloads_below_a_strangers_folder_are_refused(downloads: Path) -> None:
    """Who can rename a folder can put another one in its place."""
    theirs = downloads.parent / "theirs"
    subprocess.run(
        ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "mkdir", theirs], check=True
    )
    downloads.rename(theirs / "down")
    assert f"{theirs} belongs to user 65534" in refused(theirs / "down")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("how", ["a stranger's", "a stranger's link", "open to all"])
def test_builds_are_not_looked_for_where_a_stranger_can_put_one(
    checkout: sample.Checkout, downloads: Path, tmp_path: Path, how: str
) -> None:
    builds = downloads.parent / "builds"
    stranger = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"]
    words = ["ln", "-s", tmp_path, builds] if how == "a stranger's link" else ["mkdir", builds]
    subprocess.run([*(stranger if how.startswith("a stranger's") else []), *words], check=True)
    if how == "open to all":
        builds.chmod(0o777)
    for command in ([], ["setup"]):
        done = checkout.run(*command, STRATA_BUILDS=str(builds))
        assert done.returncode == 1 and "another user can replace the builds in this folder" in done.stderr
    assert not any(builds.glob("*.log"))
