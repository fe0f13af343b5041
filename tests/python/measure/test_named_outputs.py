"""What a user names as an output stays what it is where it is no plain file: FIFOs, devices, links,
descriptors.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from strata import own_folders
from strata.characterize import session
from strata.draw import show
from strata.errors import StrataError
from strata.measure.files import would_replace, write_atomically, write_named
from strata.study import data

TEXT = "whole\n"


def read_from(fifo: Path, write: Callable[[], object]) -> str:
    """What comes out of a FIFO while something writes into it."""
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(fifo.read_text()), daemon=True)
    reader.start()
    write()
    assert stat.S_ISFIFO(fifo.lstat().st_mode), "a file was put in its place"
    reader.join(20)
    return found[0]


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


def test_a_fifo_is_written_into(fifo: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("fifo")
    assert read_from(fifo, lambda: write_named(fifo, TEXT)) == TEXT
    assert read_from(fifo, lambda: write_named(tmp_path / "link", TEXT.encode())) == TEXT
    assert (tmp_path / "link").is_symlink() and not would_replace(fifo)


def test_a_table_of_a_study_goes_into_a_fifo(fifo: Path) -> None:
    assert "a,b" in read_from(fifo, lambda: data.write({"a": [1], "b": [2]}, "csv", fifo))


def test_a_device_stays_one(tmp_path: Path) -> None:
    """As root, a rename would have put a file in the place of /dev/null."""
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.write_text("")
    except OSError:
        if os.geteuid() == 0:
            pytest.skip("no devices can be made or opened here")
        device = Path("/dev/null")
    write_named(device, TEXT)
    assert stat.S_ISCHR(device.lstat().st_mode) and not would_replace(device)


def test_a_link_is_followed_and_what_it_leads_to_is_replaced_whole(tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    old = folder / "old"
    old.write_text("old")
    (tmp_path / "middle").symlink_to("there/old")
    (tmp_path / "link").symlink_to(tmp_path / "middle")
    before = old.stat().st_ino
    assert would_replace(tmp_path / "link")
    write_named(tmp_path / "link", TEXT)
    assert old.read_text() == TEXT and old.stat().st_ino != before, "replaced, never half written"
    assert (tmp_path / "link").is_symlink() and (tmp_path / "middle").is_symlink()
    assert [each.name for each in folder.iterdir()] == ["old"]
    (tmp_path / "dangling").symlink_to("there/new")
    assert not would_replace(tmp_path / "dangling")
    write_named(tmp_path / "dangling", TEXT)
    assert (folder / "new").read_text() == TEXT and (tmp_path / "dangling").is_symlink()


def test_links_in_a_circle_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(StrataError, match="symbolic links"):
        write_named(tmp_path / "a", TEXT)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_where_it_is(tmp_path: Path, name: str) -> None:
    """Also where it is a file: neither replaced, nor written over from its begin."""
    code = "import pathlib; from strata.measure.files import write_named; print('first')\n"
    code += f"write_named(pathlib.Path({name!r}), 'second\\n'); print('third')"
    whole = "first\nsecond\nthird\n"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == whole
    with (tmp_path / "out").open("w") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert (tmp_path / "out").read_text() == whole
    assert name == "/proc/self/fd/1" or Path(name).resolve().parent != Path("/dev"), "still a link"


def test_a_drawing_replaces_no_file_unless_it_is_forced_and_goes_into_a_fifo(
    tmp_path: Path, fifo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "load", lambda _: {"graph": "g"})
    monkeypatch.setattr(show, "graph_svg", lambda _: "<svg/>")
    source, there = tmp_path / "g.json", tmp_path / "there.svg"
    there.write_text("mine")
    with pytest.raises(StrataError, match="the file is there already"):
        show.run(show.Request(source, svg=there, json=True))
    show.run(show.Request(source, svg=there, json=True, force=True))
    assert there.read_text() == "<svg/>\n"
    assert read_from(fifo, lambda: show.run(show.Request(source, svg=fifo, json=True))) == "<svg/>\n"


# --- what another user has put there

as_root = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("setpriv") is None, reason="only root can become another user"
)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder like /tmp: everybody may make files there."""
    with tempfile.TemporaryDirectory(prefix="strata-test-") as folder:
        Path(folder).chmod(0o1777)
        yield Path(folder)


def nobody(*words: str | Path) -> None:
    drop = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--")
    subprocess.run([*drop, *map(str, words)], check=True)


@as_root
@pytest.mark.parametrize("way", ["in a shared folder", "in their own folder", "behind a link of mine"])
def test_a_link_of_another_user_is_replaced_and_not_followed(place: Path, tmp_path: Path, way: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = place
    if way == "in their own folder":
        folder = place / "theirs"
        nobody("mkdir", folder)
    link = folder / "out"
    nobody("ln", "-s", secret, link)
    named = link
    if way == "behind a link of mine":
        named = tmp_path / "mine"
        named.symlink_to(link)
    write_named(named, TEXT)
    assert secret.read_text() == "secret"
    assert not link.is_symlink() and link.read_text() == TEXT


@as_root
def test_a_fifo_of_another_user_holds_nobody_up(place: Path) -> None:
    nobody("mkfifo", place / "out")
    write_named(place / "out", TEXT)
    assert (place / "out").read_text() == TEXT


@as_root
def test_a_link_of_ones_own_in_a_shared_folder_is_followed(place: Path, tmp_path: Path) -> None:
    (place / "out").symlink_to(tmp_path / "file")
    write_named(place / "out", TEXT)
    assert (place / "out").is_symlink() and (tmp_path / "file").read_text() == TEXT


def test_a_name_that_is_too_long_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(StrataError, match="cannot write: the name is too long"):
        write_named(tmp_path / ("a" * 250), TEXT)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives links away")
@pytest.mark.parametrize("name", ["report", "report/figures"])
def test_no_report_goes_where_a_strangers_link_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def build(whole: object, scratch: Path, more: object) -> Path:
        (scratch / "figures").mkdir()
        (scratch / "figures" / "a.svg").write_text("new")
        (scratch / "report.html").write_text("new")
        return scratch / "report.html"

    monkeypatch.setattr("strata.report.build", build)
    results, site = tmp_path / "results", tmp_path / "site"
    (results / name).parent.mkdir(parents=True)
    site.mkdir()
    (results / name).symlink_to(site)
    assert session.build_report({}, results).read_text() == "new" and list(site.iterdir()), "of one's own"
    shutil.rmtree(site)
    site.mkdir()
    os.lchown(results / name, 65534, 65534)
    (results / name).parent.chmod(0o777)
    with pytest.raises(StrataError, match="another user's link"):
        session.build_report({}, results)
    assert list(site.iterdir()) == []


def test_a_file_goes_into_the_folder_that_was_there_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may rename a folder above puts a link in its place meanwhile."""
    out, elsewhere, moved = (tmp_path / name for name in ("out", "elsewhere", "moved"))
    out.mkdir()
    elsewhere.mkdir()
    make = own_folders.new

    def swapped(path: Path) -> int:
        out.rename(moved)
        out.symlink_to(elsewhere)
        return make(path)

    monkeypatch.setattr(own_folders, "new", swapped)
    write_atomically(out / "a.json", TEXT)
    assert list(elsewhere.iterdir()) == []
    assert [each.name for each in moved.iterdir()] == ["a.json"] and (moved / "a.json").read_text() == TEXT
