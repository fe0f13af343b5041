"""JSON and TOML of strangers: whatever is wrong with a text is one of the errors that its readers expect."""

from __future__ import annotations

import errno
import json
import os
import reprlib
import stat
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from strata.errors import FAILED, StrataError

MOST = 64 << 20  # bytes of a document
_DEEP = "brackets within brackets, too many of them"
# What using a document raises that is not as expected: a key less, a text for a number, a list for a table.
ODD = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


def opened(path: Path | str) -> IO[bytes]:
    """A plain file for reading. Raises OSError, also for a FIFO, which would have its reader wait for ever,
    and for a device, which may have no end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return open(descriptor, "rb")  # noqa: PTH123 (a descriptor)
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is no plain file")


def contents(path: Path | str, most: int = MOST) -> bytes:
    """All of a plain file. Raises OSError, also for more than `most` bytes: a file of zeros takes no room on
    its owner's disk.
    """
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
        return file.read(size)


def from_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises json.JSONDecodeError, or another ValueError where it is not in UTF-8
    or a number has thousands of digits.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise json.JSONDecodeError(_DEEP, "", 0) from None


def from_toml(text: str) -> dict[str, Any]:
    """The table of a TOML text. Raises tomllib.TOMLDecodeError."""
    import tomllib  # most commands read no TOML

    try:
        found = tomllib.loads(text)
        repr(found)  # keys with thousands of dots are tables that nothing could look through
    except RecursionError:
        raise tomllib.TOMLDecodeError(_DEEP) from None
    except ValueError as error:  # also numbers of thousands of digits
        raise tomllib.TOMLDecodeError(str(error)) from None
    return found


@contextmanager
def used(at: str, what: str, remedy: str | None = None) -> Iterator[None]:
    """While a document's parts are used: what it lacks, or has otherwise, is an error that names the document
    and where in the program that was met. `what` it is: "the machine".
    """
    try:
        yield
    except ODD as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        raise StrataError(
            f"{what} is not as Strata writes it",
            at=at,
            given=f"{type(error).__name__}: {error} ({Path(frame.filename).stem}.{frame.name})",
            allowed="a whole document of its schema, docs/formats.md",
            remedy=remedy or "make it again, or report it where nobody changed it",
            code=FAILED,
        ) from error


def shown(value: Any) -> str:
    """A value for an error: a few levels and entries of it, however large it is."""
    return reprlib.repr(value)
