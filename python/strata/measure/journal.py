"""The journal: what was measured, one JSON object a line, one file per process, only ever appended to.

Home directories lie on NFS, where two writers of one file or a database lock can lose data; so every process
owns its file and every line is on disk (fsync) before the next launch starts. A process that is killed while
writing leaves a last line without its newline: such a torn line is ignored. Any other unreadable line means
that the file was damaged afterwards; it is reported and nothing is overwritten. Each line ends with a CRC-32
of the text before it, so that a changed digit is seen too.
"""

from __future__ import annotations

import json
import os
import socket
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata import documents
from strata.errors import FAILED, StrataError, why
from strata.measure.files import storage_error, sync_folder

HEADER = "strata.journal/1"


def encode(entry: Mapping[str, Any]) -> bytes:
    """One line with its checksum as the last key; still plain JSON for every other reader."""
    body = json.dumps(entry, separators=(",", ":"), allow_nan=False)
    crc = zlib.crc32(body[:-1].encode())
    return f'{body[:-1]},"crc32":"{crc:08x}"}}\n'.encode()


def decode(line: bytes) -> dict[str, Any]:
    """The entry of one whole line; ValueError when it is not what encode() wrote."""
    entry = documents.from_json(line.decode())  # of bytes it would first guess the encoding
    if not isinstance(entry, dict):
        raise ValueError("not an object")
    marker = line.rfind(b',"crc32":"')
    if marker < 0:
        raise ValueError("no checksum")
    if entry.pop("crc32", None) != f"{zlib.crc32(line[:marker]):08x}":
        raise ValueError("the checksum does not match")
    return entry


class Journal:
    """This process's own journal file. It is created at the first append: a run that measures nothing leaves
    none.
    """

    def __init__(self, folder: Path, plan: str) -> None:
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        self.path = (
            folder
            / f"{socket.gethostname().split('.')[0]}-{os.getpid()}-{stamp}-{time.time_ns() % 10**9:09d}.jsonl"
        )
        self._plan = plan
        self._fd: int | None = None

    def append(self, entry: Mapping[str, Any]) -> None:
        """The entry is on disk when this returns; when it raises, the file ends where it ended before."""
        try:
            if self._fd is None:
                self._fd = os.open(
                    self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644
                )
                self._write(self._header())
                sync_folder(self.path.parent)
            self._write(encode(entry))
        except OSError as error:
            raise storage_error(error, self.path) from error

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _header(self) -> bytes:
        return encode(
            {
                "schema": HEADER,
                "plan": self._plan,
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "started": utc_now(),
            }
        )

    def _write(self, line: bytes) -> None:
        assert self._fd is not None
        before = os.fstat(self._fd).st_size
        try:
            written = os.write(self._fd, line)
            while written < len(line):  # a full disk shows as a short write first
                written += os.write(self._fd, line[written:])
            os.fsync(self._fd)
        except BaseException:  # also a signal: a line begun must not stay before the next one
            os.ftruncate(self._fd, before)
            raise


def utc_now() -> str:
    """The time as ISO 8601 in UTC with milliseconds."""
    now = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z"


@dataclass(frozen=True)
class Line:
    """One entry and where it stands."""

    path: Path
    number: int
    entry: dict[str, Any]


def read_journal(path: Path, offset: int = 0, first: int = 1, end: int | None = None) -> Iterator[Line]:
    """All whole lines of one file, the header included; or those from a byte offset on, where line number
    `first` begins, up to the offset `end`.
    """
    try:
        with documents.opened(path) as stream:
            stream.seek(offset)
            lines = iter(lambda: stream.readline(documents.MOST), b"")
            for number, line in enumerate(lines, start=first):
                offset += len(line)
                if not line.endswith(b"\n") or (end is not None and offset > end):
                    return  # the torn line of a process that was killed, or what came later
                try:
                    entry = decode(line)
                except ValueError as error:  # JSONDecodeError and UnicodeDecodeError are ValueErrors
                    raise damaged(path, number, str(error)) from None
                if number == 1 and entry.get("schema") != HEADER:
                    raise damaged(path, 1, f"the first line is {entry.get('schema')!r}, not {HEADER!r}")
                yield Line(path, number, entry)
    except OSError as error:
        raise StrataError(
            f"cannot read: {why(error)}",
            at=str(path),
            allowed="a journal that this user may read",
            code=FAILED,
        ) from None


def damaged(path: Path, number: int, why: str) -> StrataError:
    """The error for a line of a journal that is not as it was written."""
    return StrataError(
        "damaged results file: nothing was changed",
        at=f"{path}:{number}",
        given=why,
        allowed="lines as this program wrote them",
        remedy=f"restore the file from a backup, or go on without its samples: mv '{path}' '{path}.damaged'",
        code=FAILED,
    )


def read_journals(folder: Path) -> Iterator[Line]:
    """All entries of all journals, in the order of their files' names (host, process, start)."""
    for path in sorted(folder.glob("*.jsonl")):
        yield from read_journal(path)
