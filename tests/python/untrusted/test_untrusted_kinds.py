"""What a stranger can put in the place of a file: a FIFO, a device, gigabytes of nothing."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from strata import documents, toml_files
from strata.centre.fleet import reading
from strata.centre.jobs import text
from strata.centre.outages import log
from strata.centre.reliability import published
from strata.centre.sampling import ring
from strata.characterize import facts
from strata.errors import StrataError
from strata.flow import slices, surface
from strata.md import frames
from strata.measure import journal, store
from strata.report.figures import balance
from strata.run import control, series

READERS: dict[str, Callable[[Path], Any]] = {
    "plan.json": lambda path: store.read_plan(path.parent),
    "machine.json": lambda path: store.read_facts(path.parent),
    "a.jsonl": lambda path: list(journal.read_journal(path)),
    "n1.json": lambda path: reading.read([path.parent]),
    "n1.ring": ring.read,
    "n2.ring": ring.whole,
}


def put(path: Path, what: str) -> None:
    if what == "a FIFO":
        os.mkfifo(path)
    elif what == "a device":
        path.symlink_to("/dev/zero")
    else:
        path.touch()
        os.truncate(path, 200 << 30)


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    """A reader that waits for ever is ended."""

    def late(*_: object) -> None:
        raise AssertionError("the reader waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        (name, what)
        for name, what in itertools.product(READERS, ("a FIFO", "a device", "gigabytes of nothing"))
        if (name, what) != ("a.jsonl", "gigabytes of nothing")  # a line at a time: below
    ],
)
def test_what_is_no_plain_file_of_some_size_is_one_error(tmp_path: Path, name: str, what: str) -> None:
    put(tmp_path / name, what)
    with pytest.raises(StrataError):
        READERS[name](tmp_path / name)


def test_samples_are_not_looked_for_beyond_the_end_of_their_file(tmp_path: Path) -> None:
    """Their head may claim any number of them."""
    made = ring.Ring(tmp_path, "n1", 8192, 1)
    made.write([ring.Sample(1.0, ring.NODE, ring.CPU, cpu=2.0)])
    made.close()
    head = ring._HEADER.pack(ring.MAGIC, ring.VERSION, ring.RECORD, 1 << 62, 1, b"n1")
    with made.path.open("r+b") as file:
        file.write(head + ring._CRC.pack(zlib.crc32(head)))
    assert [sample.cpu for sample in ring.read(made.path).samples] == [2.0]


NAMED: dict[str, Callable[[Path], Any]] = {
    "outages.csv": log.read_cells,
    "jobs.log": lambda path: list(text.blocks(path)),
    "totals.csv": published.read,
    "case.toml": lambda path: toml_files.text_of(path, "the case file"),
    "machine.json": lambda path: facts.load(str(path), facts.SCHEMA),
    "plan.json": lambda path: balance.draw(str(path), "-"),
    "series.csv": series.read,
    "surface-1.csv": surface.read,
    "slice-a-1.csv": slices.read,
    "frames.xyz": lambda path: list(frames.read(path)),
    "frames.dcd": lambda path: list(frames.read(path)),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_file_that_one_names_oneself_and_that_never_ends_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(documents, "MOST", 1 << 20)
    put(tmp_path / name, "a device")
    with pytest.raises(StrataError) as found:
        NAMED[name](tmp_path / name)
    assert name in str(found.value)


def test_what_a_program_writes_is_read_where_a_user_names_it() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"whole")
    os.close(writer)
    assert documents.named(f"/dev/fd/{reader}") == b"whole"
    os.close(reader)
    assert documents.named("/proc/self/status").startswith(b"Name:"), "which says that it has no bytes"


def test_a_line_without_an_end_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MOST", 1 << 20)
    put(tmp_path / "a.jsonl", "gigabytes of nothing")
    assert list(journal.read_journal(tmp_path / "a.jsonl")) == []


def test_an_answer_that_never_ends_is_not_waited_for(tmp_path: Path) -> None:
    """The run is a stranger's: it says a blank now and then."""
    (tmp_path / "control").mkdir()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "control" / "control.sock"))
        door.listen(1)

        def run() -> None:
            with suppress(OSError), door.accept()[0] as caller:
                while True:
                    caller.sendall(b" ")
                    time.sleep(0.02)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        with pytest.raises(StrataError, match="has not answered within"):
            control.ask(tmp_path, {"get": "status"}, timeout_s=0.3)
        thread.join()


def test_nor_one_whose_blanks_come_without_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()

    class Connection:
        def settimeout(self, seconds: float) -> None:
            assert seconds > 0

        def sendall(self, line: bytes) -> None: ...

        def recv(self, size: int) -> bytes:
            return b" "

    monkeypatch.setattr(control, "_LONGEST_ANSWER", 1000)
    monkeypatch.setattr(control, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(control, "_connected", lambda folder, timeout_s: nullcontext(Connection()))
    with pytest.raises(StrataError, match="has not answered within"):
        control.ask(tmp_path, {"get": "status"}, timeout_s=20)


def test_a_measurement_is_looked_for_among_such_files(tmp_path: Path) -> None:
    for name, what in (("a", "a FIFO"), ("b", "a device"), ("c", "gigabytes of nothing")):
        (tmp_path / name).mkdir()
        put(tmp_path / name / "plan.json", what)
    assert store.find_unfinished(tmp_path, None, print) is None  # type: ignore[arg-type]
