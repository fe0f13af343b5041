"""JSON and TOML of strangers: whatever is wrong with a text is one of the errors that its readers expect."""

from __future__ import annotations

import json
import reprlib
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from strata.errors import FAILED, StrataError

_DEEP = "brackets within brackets, too many of them"
# What using a document raises that is not as expected: a key less, a text for a number, a list for a table.
ODD = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


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
