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

from strata.errors import FAILED, USAGE, StrataError, why

MOST = 64 << 20  # bytes of a document
LARGE = 1 << 30  # of a table that a run has written
_BLOCK = 4 << 20
_DEEP = "brackets within brackets, too many of them"
# What using a document raises that is not as expected: a key less, a text for a number, a list for a table.
ODD = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


def opened(path: Path | str) -> IO[bytes]:
    """A plain file for reading. Raises OSError, also for a FIFO, which would have its reader wait for ever,
    and for a device, which may have no end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return open(descriptor, "rb")  # noqa: PTH123 (a descriptor)
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
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


def named(path: Path | str) -> bytes:
    """All of what a user has named: a plain file, or a FIFO or a device (`<(zcat log.gz)`, /dev/stdin).
    Raises OSError, also for more than MOST bytes of what is no plain file: it may have no end.
    """
    with open(path, "rb") as file:  # noqa: PTH123 (also a descriptor's name)
        about = os.fstat(file.fileno())
        plain = stat.S_ISREG(about.st_mode)
        limit = max(MOST, about.st_size if plain else 0)
        blocks = [file.read(about.st_size if plain else 0)]
        size = len(blocks[0])
        while size <= limit and (block := file.read(min(_BLOCK, limit + 1))):
            blocks.append(block)
            size += len(block)
    if size > limit:
        kind = "it grows" if plain else "it is no plain file"
        raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes, and {kind}")
    return b"".join(blocks)


def streamed(path: Path | str) -> IO[bytes]:
    """A file that is read a line at a time, or by another library: plain, or a FIFO. Raises OSError, also for
    a device, of which a line may have no end.
    """
    file = open(path, "rb")  # noqa: PTH123, SIM115 (the caller closes it)
    if stat.S_ISREG(mode := os.fstat(file.fileno()).st_mode) or stat.S_ISFIFO(mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, "it is neither a plain file nor a FIFO")


def from_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises json.JSONDecodeError, or another ValueError where it is not in UTF-8
    or a number has thousands of digits.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise json.JSONDecodeError(_DEEP, "", 0) from None


def not_json(
    error: ValueError | OSError, at: str, text: str, remedy: str | None = None, code: int = USAGE
) -> StrataError:
    """The error for what from_json() raised, or reading its text: the line, what stands there, what lacks."""
    if not isinstance(error, json.JSONDecodeError):
        closed = isinstance(error, (OSError, UnicodeDecodeError))
        what = "the file cannot be read" if closed else "this is not JSON"
        return StrataError(what, at=at, given=why(error), allowed="a file of JSON", remedy=remedy, code=code)
    if not text.strip():
        return StrataError("the file is empty", at=at, allowed="JSON", remedy=remedy, code=code)
    lines = text.split("\n")
    given = lines[min(error.lineno, len(lines)) - 1].strip() if error.lineno else ""
    if error.pos >= len(text.rstrip()) and error.lineno:
        message = "the file ends within its JSON: it was cut off, or is still being written"
        at, given = f"{at}:{text.rstrip().count(chr(10)) + 1}", text.rstrip().rsplit("\n", 1)[-1].strip()
    else:
        words = next((said for begin, said in _LACKS.items() if error.msg.startswith(begin)), error.msg)
        message, at = f"this is not JSON: {words}", f"{at}:{error.lineno}" if error.lineno else at
    return StrataError(
        message, at=at, given=given[:100] or None, allowed="a file of JSON", remedy=remedy, code=code
    )


_LACKS = {
    "Expecting value": "a value was expected (a number, a text in double quotes, true, a list or an object)",
    "Expecting property name": "a name in double quotes was expected",
    "Expecting ':'": "a colon is missing",
    "Expecting ','": "a comma is missing",
    "Illegal trailing comma": "a comma before the end of a list or an object",
    "Extra data": "something follows the end of the document",
    "Unterminated string": "a text does not end",
    "Invalid control character": "a text with a line end or a control character within",
    "Invalid \\": "a backslash before a letter that means nothing",
}


def of_schema(
    value: Any, schema: str, at: str, remedy: str | None = None, code: int = USAGE
) -> dict[str, Any]:
    """The document, where it says that it is of this schema. Raises StrataError for another one: of another
    version of Strata, or another kind of file.
    """
    found = value.get("schema") if isinstance(value, dict) else None
    if found == schema:
        return dict(value)
    name = schema.partition("/")[0]
    if not isinstance(found, str):
        said, given = "not a document of Strata's", 'no key "schema" at its top'
    elif found.partition("/")[0] == name:
        said, given = "written by another version of Strata", found
        remedy = "read it with the Strata that wrote it, or make it again with this one"
    else:
        said, given = "another kind of document", found
    raise StrataError(said, at=at, given=given, allowed=f"schema {schema}", remedy=remedy, code=code)


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
    except StrataError as error:
        error.at = error.at or at
        raise
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
