"""Samples of one node in a file of fixed size: records of 128 bytes, of which the newest replace the oldest.

    header  "STRATUSE", version, bytes of a record, number of records, cores, host, CRC-32   at 0
            number of the next record (a hint)                                                at 128
    record n at 4096 + 128 (n mod records): n, time, kind, columns, cores, processes, job, program,
            sums since the sampler began to look (seconds of CPU, bytes read and written, operations, bytes of
            memory traffic), bytes of memory now, the sampler's start, CRC-32

The space is allocated when the file is made and synchronised, a record is synchronised when it is written,
and one that was torn fails its CRC. So what was written before a SIGKILL or a power cut is read, but for at
most the last record. All samplers of a node share its file under the lock of another one. Numbers are
little-endian.
"""

from __future__ import annotations

import fcntl
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from strata import documents, own_folders
from strata.errors import FAILED, StrataError, why

MAGIC, VERSION = b"STRATUSE", 1
_HEADER = struct.Struct("<8sIIQI64s")
_BODY = struct.Struct("<QdBBHI24s16sdQQQddI8x")
_CRC = struct.Struct("<I")
_NEXT = struct.Struct("<Q")
RECORD = _BODY.size + _CRC.size
FIRST = 4096
LARGEST = 1 << 30  # bytes of a file
_HINT = 128
SUFFIX = ".ring"
NODE, JOB = 0, 1
CPU, MEMORY, IO, OPERATIONS, TRAFFIC = 1, 2, 4, 8, 16  # columns that a sample has
assert RECORD == 128


@dataclass(frozen=True)
class Sample:
    """One look at a node or at a job on it. Sums begin at the sampler's `run` (its start, in seconds)."""

    time: float
    kind: int
    columns: int
    job: str = ""
    program: str = ""
    cores: int = 0
    processes: int = 0
    cpu: float = 0.0
    memory: int = 0
    read: int = 0
    written: int = 0
    operations: float = 0.0
    traffic: float = 0.0
    run: int = 0

    def packed(self, number: int) -> bytes:
        body = _BODY.pack(
            number,
            self.time,
            self.kind,
            self.columns,
            min(self.cores, 0xFFFF),
            self.processes,
            self.job.encode()[:24],
            self.program.encode()[:16],
            self.cpu,
            self.memory,
            self.read,
            self.written,
            self.operations,
            self.traffic,
            self.run & 0xFFFFFFFF,
        )
        return body + _CRC.pack(zlib.crc32(body))


def _sample(data: bytes) -> tuple[int, Sample] | None:
    """A record and its number; None where it is torn, or was never written."""
    body = data[: _BODY.size]
    if len(data) < RECORD or zlib.crc32(body) != _CRC.unpack_from(data, _BODY.size)[0]:
        return None
    number, when, kind, columns, cores, processes, job, program, *sums = _BODY.unpack(body)
    names = (text.rstrip(b"\0").decode(errors="replace") for text in (job, program))
    return number, Sample(when, kind, columns, *names, cores, processes, *sums)


class Ring:
    """A node's file, open for more samples; made where it is not there."""

    def __init__(self, folder: Path, host: str, size: int, cores: int) -> None:
        self.path = folder / f"{host}{SUFFIX}"
        try:
            own_folders.make(folder)
            own_folders.need(folder, "samples", "--folder names a folder of your own")
            # Not the file's own lock: everybody may read samples, and so could hold that.
            self._lock = own_folders.to_lock(folder / f".{host}.lock")
            self._file = own_folders.opened(self.path, os.O_RDWR | os.O_CREAT)
            with self._locked():
                # Zeros: a full disk or a power cut came when there was room, and no head yet.
                began = any(os.pread(self._file, FIRST, 0))
                if os.fstat(self._file).st_size < FIRST + RECORD or not began:
                    self._make(host, size, cores)
            head = os.pread(self._file, FIRST, 0)
        except OSError as error:
            raise StrataError(
                "cannot write samples",
                at=str(error.filename or self.path),
                given=why(error),
                remedy="--folder names a folder of a local disk, --size less than is free there",
                code=FAILED,
            ) from None
        self.records = _records(self.path, head)

    def _make(self, host: str, size: int, cores: int) -> None:
        records = max(16, (size - FIRST) // RECORD)
        head = _HEADER.pack(MAGIC, VERSION, RECORD, records, cores, host.encode()[:64])
        os.posix_fallocate(self._file, 0, FIRST + records * RECORD)  # a full disk is met here, not later
        os.pwrite(self._file, head + _CRC.pack(zlib.crc32(head)), 0)
        os.fsync(self._file)
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def write(self, samples: Sequence[Sample]) -> None:
        """Adds samples; they are on the disk when it returns."""
        with self._locked():
            number = self._next()
            for sample in samples:
                os.pwrite(self._file, sample.packed(number), FIRST + number % self.records * RECORD)
                number += 1
            os.pwrite(self._file, _NEXT.pack(number), _HINT)
            os.fdatasync(self._file)

    def _next(self) -> int:
        """The number of the next record. The hint may be older than the last records, or damaged."""
        number = int(_NEXT.unpack(os.pread(self._file, _NEXT.size, _HINT))[0])
        before = self._at(number - 1) if number else None
        if number == 0 or (before is not None and before[0] == number - 1):
            while (one := self._at(number)) and one[0] == number:
                number += 1
            if one is None or one[0] < number:
                return number
        found = [one[0] for slot in range(self.records) if (one := self._at(slot))]
        return max(found, default=-1) + 1

    def _at(self, number: int) -> tuple[int, Sample] | None:
        return _sample(os.pread(self._file, RECORD, FIRST + number % self.records * RECORD))

    def close(self) -> None:
        os.close(self._file)
        os.close(self._lock)


def _records(path: Path, head: bytes) -> int:
    found = _HEADER.unpack_from(head) if len(head) >= _HEADER.size + 4 else None
    good = found is not None and found[0] == MAGIC
    if not good or zlib.crc32(head[: _HEADER.size]) != _CRC.unpack_from(head, _HEADER.size)[0]:
        raise StrataError(
            "not a file of samples",
            at=str(path),
            given="another header" if not good else "a damaged header",
            allowed="what `strata centre sample` wrote",
            remedy="move the file away",
        )
    if found[1] != VERSION or found[2] != RECORD:
        raise StrataError(
            "samples of another version of Strata",
            at=str(path),
            given=f"version {found[1]}",
            allowed=f"version {VERSION}",
        )
    return int(found[3])


def header(path: Path) -> tuple[str, int]:
    """The node whose file it is, and its cores. Raises StrataError for what is none."""
    try:
        with documents.opened(path) as file:
            data = file.read(FIRST)
    except OSError as error:
        raise StrataError("cannot read the samples", at=str(path), given=why(error)) from None
    _records(path, data)
    _, _, _, _, cores, host = _HEADER.unpack_from(data)
    return host.rstrip(b"\0").decode(errors="replace"), int(cores)


def whole(path: Path) -> bytes:
    """All bytes of a file of samples. Raises StrataError where it cannot be read, or is larger than any."""
    try:
        return documents.contents(path, LARGEST)
    except OSError as error:
        raise StrataError("cannot read the samples", at=str(path), given=why(error)) from None


@dataclass(frozen=True)
class Read:
    """A file's samples in their order, and how many records are torn."""

    host: str
    cores: int
    samples: list[Sample]
    torn: int


def read(path: Path) -> Read:
    """All samples of a file, also of one that is being written. Raises StrataError for what is none."""
    host, cores = header(path)
    data = whole(path)
    # A head may claim more records than the file has.
    records = min(_records(path, data[:FIRST]), -(-max(len(data) - FIRST, 0) // RECORD))
    found: list[tuple[int, Sample]] = []
    torn, empty = 0, bytes(RECORD)
    for slot in range(records):
        record = data[FIRST + slot * RECORD : FIRST + (slot + 1) * RECORD]
        if record == empty or not record:
            continue
        one = _sample(record)
        if one is None:
            torn += 1
        else:
            found.append(one)
    found.sort(key=lambda pair: pair[0])
    return Read(host, cores, [s for _, s in found], torn)
