"""Claims about journals and the index: nothing written is lost, nothing damaged is believed."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from pathlib import Path

import pytest
from fakes import plan, record, result

from strata.errors import StrataError
from strata.measure import index
from strata.measure.journal import Journal, decode, encode, read_journal, read_journals
from strata.measure.store import Sample


def sample(task: str = "a/1x1/core/s1", value: float = 1.0, block: int = 1) -> Sample:
    return Sample(
        task, block, 0, f"2026-01-01T00:00:{int(value) % 60:02d}.000Z", record(), result(value), (), None, {}
    )


def test_a_line_is_plain_json_and_comes_back() -> None:
    line = encode({"a": 1, "b": [1.5, None, "é"]})
    assert json.loads(line)["a"] == 1
    assert decode(line.rstrip(b"\n")) == {"a": 1, "b": [1.5, None, "é"]}


def test_a_changed_digit_is_noticed() -> None:
    line = encode({"value": 12.5}).rstrip(b"\n").replace(b"12.5", b"13.5")
    with pytest.raises(ValueError, match="checksum"):
        decode(line)


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "p")
    for n in range(5):
        journal.append({"n": n})
    assert [line.entry.get("n") for line in read_journal(journal.path)] == [None, 0, 1, 2, 3, 4]


def test_a_run_that_measures_nothing_leaves_no_journal(tmp_path: Path) -> None:
    Journal(tmp_path, "p").close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cut", [1, 7, 30])
def test_a_torn_last_line_is_ignored(tmp_path: Path, cut: int) -> None:
    journal = Journal(tmp_path, "p")
    journal.append({"n": 1})
    journal.append({"n": 2, "text": "x" * 40})
    data = journal.path.read_bytes()
    journal.path.write_bytes(data[:-cut])
    assert [line.entry.get("n") for line in read_journal(journal.path)] == [None, 1]


def test_a_damaged_line_is_one_error_with_file_line_and_remedy_and_changes_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "p")
    for n in range(3):
        journal.append({"n": n})
    lines = journal.path.read_bytes().split(b"\n")
    lines[2] = lines[2][:5] + b"\0\0" + lines[2][7:]
    journal.path.write_bytes(b"\n".join(lines))
    before = journal.path.read_bytes()
    with pytest.raises(StrataError) as caught:
        list(read_journals(tmp_path))
    text = str(caught.value)
    assert f"{journal.path}:3" in text and "damaged" in text and "try:" in text
    assert journal.path.read_bytes() == before


def test_a_foreign_file_is_not_taken_for_a_journal(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(encode({"schema": "something/else"}))
    with pytest.raises(StrataError, match="damaged"):
        list(read_journals(tmp_path))


def _write_many(folder: str, who: int) -> None:
    journal = Journal(Path(folder), "p")
    for n in range(40):
        journal.append({"who": who, "n": n})
    journal.close()


def test_many_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_many, args=(str(tmp_path), who)) for who in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    entries = [line.entry for line in read_journals(tmp_path) if "who" in line.entry]
    assert sorted((e["who"], e["n"]) for e in entries) == [(w, n) for w in range(4) for n in range(40)]
    assert len(list(tmp_path.glob("*.jsonl"))) == 4


def _append_until_full(folder: str, limit: int) -> None:
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    journal = Journal(Path(folder), "p")
    try:
        for n in range(1000):
            journal.append({"n": n, "text": "x" * 100})
    except StrataError as error:
        Path(folder, "said").write_text(str(error))
        os._exit(error.code)
    os._exit(0)


def test_a_full_disk_is_one_clear_error_and_leaves_whole_lines_only(tmp_path: Path) -> None:
    # 5000 is not a multiple of the line length, so that the last write is a short one.
    process = multiprocessing.get_context("fork").Process(
        target=_append_until_full, args=(str(tmp_path), 5000)
    )
    process.start()
    process.join()
    assert process.exitcode == 1
    said = (tmp_path / "said").read_text()
    assert "limit" in said and "try: free some space" in said
    (path,) = tmp_path.glob("*.jsonl")
    assert path.read_bytes().endswith(b"\n")
    numbers = [line.entry["n"] for line in read_journal(path) if "n" in line.entry]
    assert numbers == list(range(len(numbers))) and len(numbers) > 10


def test_the_index_gives_the_journals_figures_and_follows_them(tmp_path: Path, make_store) -> None:
    opened = make_store(plan(["a"]))
    for n in range(3):
        opened.add(sample(value=n + 1.0))
    assert index.figure_samples(index.open_index(opened.path), "a/1x1/core/s1", "triad") == [1, 2, 3]
    opened.add(sample(value=4.0))
    opened.add(sample(value=99.0, block=0))  # a warm-up never counts
    assert index.figure_samples(index.open_index(opened.path), "a/1x1/core/s1", "triad") == [1, 2, 3, 4]


@pytest.mark.parametrize("harm", ["delete", "garbage", "truncate", "empty"])
def test_a_lost_or_damaged_index_is_rebuilt(make_store, harm: str) -> None:
    opened = make_store(plan(["a"]))
    for n in range(5):
        opened.add(sample(value=n + 1.0))
    index.open_index(opened.path).close()
    path = opened.path / index.NAME
    if harm == "delete":
        path.unlink()
    elif harm == "garbage":
        path.write_bytes(b"this is not a database" * 500)
    elif harm == "truncate":
        path.write_bytes(path.read_bytes()[: 4096 + 100])
    else:
        path.write_bytes(b"")
    assert index.figure_samples(index.open_index(opened.path), "a/1x1/core/s1", "triad") == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("way", ["a link", "a journal of SQLite's", "all may write the folder"])
def test_no_index_is_opened_that_another_user_can_have_made(make_store, tmp_path: Path, way: str) -> None:
    opened = make_store(plan(["a"]))
    opened.add(sample(value=1.0))
    path, other = opened.path / index.NAME, tmp_path / "other.db"
    other.write_bytes(b"")
    if way == "a link":
        path.symlink_to(other)
    elif way == "a journal of SQLite's":
        path.write_bytes(b"")
        path.with_name(path.name + "-journal").hardlink_to(other)
    else:
        opened.path.chmod(0o777)
    assert index.figure_samples(index.open_index(opened.path), "a/1x1/core/s1", "triad") == [1]
    assert other.read_bytes() == b"" and (path.is_symlink() or not path.exists() or path.stat().st_size == 0)


def test_a_journal_that_was_moved_away_leaves_the_index_too(make_store) -> None:
    opened = make_store(plan(["a"]))
    opened.add(sample(value=1.0))
    index.open_index(opened.path).close()
    opened.journal.path.rename(opened.journal.path.with_suffix(".jsonl.damaged"))
    assert index.figure_samples(index.open_index(opened.path), "a/1x1/core/s1", "triad") == []
