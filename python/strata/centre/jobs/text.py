"""Large logs as blocks of whole lines: checked for their encoding, unpacked where they are .gz or .xz.

Readers parse a block at a time, so that a log of any size takes the memory of its columns. They know no row
numbers; `refused` finds the line of what they could not read, by reading the file once more.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NoReturn

from strata import documents, unpacked
from strata.errors import StrataError, why
from strata.measure.progress import duration
from strata.scripts import visible

BLOCK = 32 << 20
PACKED_BLOCK = 8 << 20  # of what a small file may hold much of
LONGEST = 16 << 20  # bytes of a line that goes on from block to block: no record of a job has so many
_WIDTH = 72
_QUIET_S = 3.0  # a log that is read in less says nothing of its progress


def blocks(path: Path) -> Iterator[bytes]:
    """The file as blocks of whole lines, each with its line end. Raises StrataError for what cannot be read,
    is not in UTF-8, has a line without an end, or holds zero bytes (as files have after a crash of their
    machine).
    """
    rest, rows, begin = b"", 0, time.monotonic()
    try:
        with documents.streamed(path) as raw, unpacked.opened(path, raw) as file:
            size = max(os.fstat(raw.fileno()).st_size, 1)
            at_once = PACKED_BLOCK if unpacked.is_packed(path) else BLOCK
            while data := file.read(at_once):
                progress(path.name, raw.tell() / size, begin)
                whole, end, tail = data.rpartition(b"\n")
                if not end:
                    rest += data
                    if len(rest) > LONGEST:
                        raise _endless(path, rows + 1, rest)
                    continue
                block, rest = rest + whole + end, tail
                _check(path, block, rows)
                rows += block.count(b"\n")
                yield block
    except unpacked.DAMAGE as error:
        cut = isinstance(error, EOFError)
        raise StrataError(
            "the file is cut short" if cut else "cannot read the log",
            at=str(path),
            given=why(error),
            remedy="get the whole file again" if cut else None,
        ) from None
    if rest:
        _check(path, rest, rows)
        yield rest + b"\n"


def _endless(path: Path, row: int, line: bytes) -> StrataError:
    return StrataError(
        "a line of the log does not end",
        at=f"{path}: row {row}",
        given=f"more than {LONGEST:,} bytes: {line[:60].decode(errors='replace')}",
        allowed=f"lines of {LONGEST:,} bytes at most",
        remedy="get the whole file again, or cut this line off",
    )


def progress(what: str, share: float, begin: float) -> None:
    """How far large files are read, on a terminal; nothing is left on the line at the end."""
    spent = time.monotonic() - begin
    if spent < _QUIET_S or not sys.stderr.isatty():
        return
    left = f"{visible(what)}: {share:4.0%} read, about {duration(spent / share - spent)} left"
    sys.stderr.write(f"\r{left if share < 1 else '':<{_WIDTH}}\r")
    sys.stderr.flush()


def _check(path: Path, block: bytes, rows: int) -> None:
    try:
        block.decode("utf-8")
        at = block.find(b"\0")
    except UnicodeDecodeError as error:
        at = error.start
    if at < 0:
        return
    zero = block[at] == 0
    raise StrataError(
        "zero bytes in the log: it was damaged" if zero else "the log is not in UTF-8",
        at=f"{path}: row {rows + block.count(10, 0, at) + 1}",
        given=f"byte 0x{block[at]:02x}",
        allowed="text" if zero else "UTF-8",
        remedy="get the whole file again" if zero else f"iconv -f LATIN1 -t UTF-8 {path} > log",
    )


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Each line with its number, from 1 on."""
    number = 0
    for block in blocks(path):
        for line in io.BytesIO(block):  # not a list of them: of empty lines it would be fifty times the block
            number += 1
            yield number, line[:-1].decode()


def refused(path: Path, wrong: Callable[[str], str | None], allowed: str, first: int = 1) -> NoReturn:
    """Raises the error for the first line, from line `first` on, of which `wrong` says what is wrong."""
    found = next(((n, line, why) for n, line in lines(path) if n >= first and (why := wrong(line))), None)
    if found is None:
        raise StrataError("cannot understand the log", at=str(path), given="other text", allowed=allowed)
    number, line, why = found
    cut = not _ends(path) and number == max(n for n, _ in lines(path))
    raise StrataError(
        f"the file ends within a row: {why}" if cut else why,
        at=f"{path}: row {number}",
        given=line[:100],
        allowed=allowed,
        remedy="get the whole file again" if cut else None,
    )


def _ends(path: Path) -> bool:
    last = b"\n"
    with path.open("rb") as raw, unpacked.opened(path, raw) as file:
        while data := file.read(PACKED_BLOCK):
            last = data[-1:]
    return last == b"\n"


def row_of(path: Path, index: int, counts: Callable[[str], bool], first: int = 1) -> tuple[int, str]:
    """Number and text of the line that holds data row `index`; `counts` says which lines are such rows."""
    rows = ((n, line) for n, line in lines(path) if n >= first and counts(line))
    return next(islice(rows, index, None), (0, ""))
