"""Folders for results where everybody may make some, as in /tmp: another user may make one of any name first,
or put a link there, before a command is typed or while it runs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from strata import own_folders
from strata.characterize.session import build_report, fresh_folder
from strata.compare import command as compare
from strata.errors import StrataError
from strata.measure import plan as plans
from strata.measure import store
from strata.report.build import write as write_report
from strata.report.document import Document
from strata.submit import keeper
from strata.submit.dumps import USED, Dumps, as_it_was

as_root = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("setpriv") is None, reason="only root can become another user"
)
PUT = "another user has put a"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder like /tmp: everybody may make files there."""
    with tempfile.TemporaryDirectory(prefix="strata-test-") as folder:
        Path(folder).chmod(0o1777)
        yield Path(folder)


def nobody(*words: str | Path) -> None:
    drop = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--")
    subprocess.run([*drop, *map(str, words)], check=True)


def report(folder: Path) -> None:
    write_report(Document("a", "b", [], None, []), folder)


def results(folder: Path) -> None:
    plan = plans.Plan("k", "n", (), plans.Policy(), {}, "")
    store.create(folder, plan, {"schema": "strata.machine/1"}, {"schema": "strata.provenance/1"}).close()


def dump(folder: Path) -> None:
    Dumps(folder).add(lambda _: pytest.fail("the program's memory was written"))


WRITERS: list[Callable[[Path], None]] = [own_folders.make_results, results, report, dump]


@as_root
@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("way", ["a folder", "a folder above it", "a link", "a link above it"])
def test_nothing_is_written_where_a_stranger_was_first(
    place: Path, tmp_path: Path, write: Callable[[Path], None], way: str
) -> None:
    folder = place / "results"
    if way == "a folder":
        nobody("mkdir", "-m", "777", folder)
    elif way == "a folder above it":
        nobody("mkdir", "-m", "777", folder)
        folder /= "mine"
    else:
        nobody("ln", "-s", tmp_path, folder)
        folder = folder if way == "a link" else folder / "mine"
    with pytest.raises(StrataError, match=PUT) as found:
        write(folder)
    assert "belongs to user 65534" in str(found.value.given)
    assert not list((place / "results").iterdir()) and not list(tmp_path.iterdir())


@as_root
@pytest.mark.parametrize("link", [False, True])
def test_nor_where_one_comes_between_the_look_and_the_making(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: bool
) -> None:
    made = os.mkdir

    def raced(path: str | Path, *more: int) -> None:
        if Path(path) == place / "results":
            nobody(*(["ln", "-s", tmp_path] if link else ["mkdir", "-m", "777"]), path)
        made(path, *more)

    monkeypatch.setattr(os, "mkdir", raced)
    with pytest.raises(StrataError, match=PUT):
        results(place / "results")
    assert not list(tmp_path.iterdir())


@as_root
def test_a_program_that_goes_on_cuts_no_file_to_which_a_strangers_link_leads(tmp_path: Path) -> None:
    theirs, kept = tmp_path / "theirs", tmp_path / "kept"
    theirs.mkdir()
    kept.write_text("all of it")
    (theirs / "out").symlink_to(kept)
    for each in (theirs, theirs / "out"):
        os.lchown(each, 65534, 65534)
    (tmp_path / USED).touch()
    with pytest.raises(StrataError, match=f"{PUT} link"):
        as_it_was(tmp_path, {str(theirs / "out"): 3})
    assert kept.read_text() == "all of it"
    assert as_it_was(tmp_path, {str(kept): 3}) and kept.read_text() == "all"


@as_root
def test_no_file_is_cut_off_for_one_that_a_stranger_swaps_after_the_look(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.chmod(0o755)
    theirs, kept = place / "theirs", tmp_path / "kept"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    for each in (theirs / "out", kept):
        each.write_text("all of it")
    (tmp_path / USED).touch()
    looked = own_folders.need_not_put

    def swapped(path: Path) -> None:
        looked(path)
        nobody("ln", "-sf", kept, path)

    monkeypatch.setattr(own_folders, "need_not_put", swapped)
    with pytest.raises(StrataError, match="another user can have put a link"):
        as_it_was(tmp_path, {str(theirs / "out"): 3})
    assert kept.read_text() == "all of it"


@as_root
def test_a_job_that_goes_on_keeps_nothing_in_a_strangers_folder(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody("mkdir", "-m", "777", place / "job")
    monkeypatch.setattr(keeper.criu, "find", lambda: None)
    with pytest.raises(StrataError, match=PUT):
        keeper.run(place / "job", ["true"])


@as_root
def test_nobody_goes_on_with_results_that_a_stranger_has_laid_there(place: Path) -> None:
    results(place / "results")
    plan = store.read_plan(place / "results")
    os.chown(place / "results", 65534, 65534)
    with pytest.raises(StrataError, match=PUT):
        store.resume(place / "results", plan)


@as_root
def test_a_user_who_is_trusted_may_have_made_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody("mkdir", place / "results")
    with pytest.raises(StrataError, match=PUT) as found:
        own_folders.make_results(place / "results")
    assert str(found.value.remedy).endswith("STRATA_TRUST=nobody")
    for trusted in ("nobody", "x,65534"):
        monkeypatch.setenv("STRATA_TRUST", trusted)
        own_folders.make_results(place / "results")


@as_root
def test_whoever_owns_the_place_is_believed(tmp_path: Path) -> None:
    for each in (tmp_path / "open", tmp_path / "open" / "theirs"):
        each.mkdir()
        os.chown(each, 65534, 65534)
    (tmp_path / "open").chmod(0o1777)
    own_folders.make_results(tmp_path / "open" / "theirs" / "mine")


@as_root
@pytest.mark.parametrize("way", ["by its path", "by a link on the way", "by a link at the end"])
def test_a_strangers_link_at_the_end_of_a_path_is_not_followed(tmp_path: Path, way: str) -> None:
    """Homes and scratch folders are often reached by a link."""
    theirs, kept = tmp_path / "theirs", tmp_path / "kept"
    for each in (theirs, kept):
        each.mkdir()
    (theirs / "out").symlink_to(kept)
    for each in (theirs, theirs / "out"):
        os.lchown(each, 65534, 65534)
    (tmp_path / "way").symlink_to("theirs")
    (tmp_path / "mine").symlink_to("theirs/out")
    ends = {"by its path": "theirs/out", "by a link on the way": "way/out", "by a link at the end": "mine"}
    with pytest.raises(StrataError, match=f"{PUT} link") as found:
        results(tmp_path / ends[way])
    assert found.value.given == f"{theirs / 'out'} belongs to user 65534"
    assert not list(kept.iterdir())


@as_root
@pytest.mark.parametrize("way", ["report", "report/figures"])
def test_a_link_in_a_strangers_own_results_is_not_followed(tmp_path: Path, way: str) -> None:
    theirs, kept = tmp_path / "theirs", tmp_path / "kept"
    (theirs / way).parent.mkdir(parents=True)
    kept.mkdir()
    (theirs / way).symlink_to(kept)
    for each in (theirs, (theirs / way).parent, theirs / way):
        os.lchown(each, 65534, 65534)
    with pytest.raises(StrataError, match=f"{PUT} link|another user's link"):
        report(theirs / "report")
    assert not list(kept.iterdir())


def test_a_report_stays_in_its_folder_whoever_renames_that_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, kept = tmp_path / "results", tmp_path / "kept"
    for each in (results, kept):
        each.mkdir()
    (kept / "secret").touch()

    def build(whole: object, out: Path, more: object) -> Path:
        scratch = next(results.glob(".report.*"))
        scratch.rename(results / "taken")
        scratch.symlink_to(kept)
        report(out)
        return out / "report.html"

    monkeypatch.setattr("strata.report.build", build)
    page = build_report({}, results)
    assert [each.name for each in kept.iterdir()] == ["secret"]
    assert page == results / "report" / "report.html" and page.stat().st_size > 0


def test_a_dump_that_cannot_be_begun_clears_nothing_up_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "dump.new").symlink_to("kept")
    with pytest.raises(StrataError, match="File exists"):
        dump(tmp_path)
    assert (tmp_path / "kept" / "file").exists()


def test_folders_and_links_of_ones_own_are_used(place: Path, tmp_path: Path) -> None:
    (place / "mine").symlink_to(tmp_path)
    for _ in range(2):
        own_folders.make_results(place / "mine" / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    with pytest.raises(FileExistsError):
        own_folders.make_results(place / "mine" / "a" / "b", new=True)


def test_a_file_in_the_way_of_new_folders_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "base").touch()
    with pytest.raises(NotADirectoryError):
        own_folders.make_numbered(tmp_path / "base" / "new")


@pytest.mark.parametrize("fresh", [lambda base: fresh_folder(base, "tune", {}), compare.fresh_folder])
def test_two_commands_in_one_second_have_a_new_folder_each(
    tmp_path: Path, fresh: Callable[[Path], Path]
) -> None:
    made = [fresh(tmp_path / "results") for _ in range(3)]
    assert len(set(made)) == 3 and all(folder.is_dir() for folder in made)
