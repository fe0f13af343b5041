"""One error type: where it was, what was given, what is allowed, what to do next. Raised deep, printed once
at the edge.
"""

from __future__ import annotations

import errno
import json
import os

USAGE = 2  # wrong input: the command did not start
FAILED = 1  # the command started and could not finish

_FIRST = "strata: error: "
_HEAD, _TAIL = 1500, 500  # characters shown of a longer text: a row of a stranger's file may have millions
_LABELS = {"at": "at", "given": "given", "allowed": "allowed", "try": "remedy"}  # as printed: the attribute


_REASONS = {  # where the system's own words say little
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "it is a folder: name a file in it",
    errno.ENOTDIR: "a file stands where a folder is named",
    errno.EACCES: "permission denied: ask its owner, or choose another place",
    errno.EPERM: "permission denied: ask its owner, or choose another place",
    errno.ENOSPC: "the disk is full: free some of it, or choose another folder",
    errno.EDQUOT: "your quota of this disk is used up: free some of it, or choose another folder",
    errno.EROFS: "this file system can only be read: choose another folder",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "symbolic links in a circle, or one where none may be",
}


class StrataError(Exception):
    """An error a person can act on; `str()` gives the same lines as the native front prints."""

    def __init__(
        self,
        message: str,
        *,
        at: str | None = None,
        given: str | None = None,
        allowed: str | None = None,
        remedy: str | None = None,
        code: int = USAGE,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.given = given
        self.allowed = allowed
        self.remedy = remedy
        self.code = code

    def __str__(self) -> str:
        lines = [f"{_FIRST}{_shown(self.message)}"]
        for label, name in _LABELS.items():
            if text := getattr(self, name):
                lines.append(f"  {label}: {_shown(text)}")
        return "\n".join(lines)

    @classmethod
    def read(cls, text: str, code: int) -> StrataError | None:
        """The error that a program of Strata printed, to be passed on; None where it printed none."""
        first, *lines = text.strip().splitlines() or [""]
        if not first.startswith(_FIRST):
            return None
        parts = dict(line.strip().partition(": ")[::2] for line in lines)
        known = {name: parts[label] for label, name in _LABELS.items() if label in parts}
        return cls(first.removeprefix(_FIRST), code=code, **known)


def why(error: Exception) -> str:
    """Why a file was not read or written, as the person says it whose file it is."""
    if isinstance(error, UnicodeDecodeError):
        line = error.object.count(10, 0, error.start) + 1
        return f"byte 0x{error.object[error.start]:02x} in line {line} is no text in UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno} is not JSON: the file was cut off or damaged, or is another one"
    if not isinstance(error, OSError):
        return str(error)
    number, said = error.errno or 0, error.strerror
    ours = said is not None and said != os.strerror(number)  # raised by Strata, with words of its own
    return said if said and ours else _REASONS.get(number) or said or str(error)


def _shown(text: object) -> str:
    """A text as a terminal may have it: what would move the cursor or change colours is spelled out."""
    said = str(text)
    if len(said) > _HEAD + _TAIL:
        said = f"{said[:_HEAD]} [{len(said) - _HEAD - _TAIL} more characters] {said[-_TAIL:]}"
    if said.isprintable():
        return said
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in said)
