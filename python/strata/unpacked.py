"""Packed files of strangers, unpacked while they are read: a small one may hold terabytes.

Who reads a file line by line opens it here and keeps a block at a time; who needs all of it says how much
that may be at most.
"""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from pathlib import Path
from typing import IO

from strata.errors import StrataError, why

DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError)  # what reading a packed file may raise
ENDINGS = (".gz", ".xz")
_DECODER = 80 << 20  # bytes that a decoder may take: `xz -9` needs 65 MB, and the file says how much
_PIECE = 1 << 16


def is_packed(path: Path) -> bool:
    """Whether a file is packed, by its name."""
    return path.suffix in ENDINGS


def opened(path: Path, raw: IO[bytes]) -> IO[bytes]:
    """An open file, unpacked by its ending (.gz, .xz) as it is read; another one as it is. Reading raises
    what DAMAGE names, EOFError where the file is cut short. How much is read is for the caller to bound.
    """
    if path.suffix == ".gz":
        return gzip.open(raw)  # type: ignore[return-value]
    return io.BufferedReader(_Xz(raw)) if path.suffix == ".xz" else raw  # type: ignore[return-value]


def contents(path: Path, what: str, most: int) -> bytes:
    """All of a file, unpacked by its ending. Raises StrataError where it cannot be read, and where it holds
    more than `most` bytes. `what` it is, for the message: "the curves".
    """
    try:
        with path.open("rb") as raw, opened(path, raw) as file:
            data = file.read(most + 1)
    except DAMAGE as error:
        raise StrataError(f"cannot read {what}", at=str(path), given=why(error)) from None
    if len(data) > most:
        packed = " when it is unpacked" if is_packed(path) else ""
        raise StrataError(
            f"too much for {what}",
            at=str(path),
            given=f"more than {most:,} bytes{packed}",
            allowed=f"{most:,} bytes at most",
            remedy="take what is needed into a file of its own",
        )
    return data


class _Xz(io.RawIOBase):
    """The streams of an .xz file, one after the other. lzma.open() takes what memory a file says."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._stream = lzma.LZMADecompressor(memlimit=_DECODER)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = b""
        while not data:
            given = b""
            if self._stream.eof:
                given = self._stream.unused_data or self._packed.read(_PIECE)
                while given and not (given := given.lstrip(b"\0")):  # zeros may lie between streams
                    given = self._packed.read(_PIECE)
                if not given:
                    return 0
                self._stream = lzma.LZMADecompressor(memlimit=_DECODER)
            elif self._stream.needs_input and not (given := self._packed.read(_PIECE)):
                raise EOFError("the packed file ends within a stream")
            data = self._stream.decompress(given, len(buffer))
        buffer[: len(data)] = data
        return len(data)
