"""One error type: where it was, what was given, what is allowed, what to do next. Raised deep, printed once
at the edge.
"""

from __future__ import annotations

USAGE = 2  # wrong input: the command did not start
FAILED = 1  # the command started and could not finish


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
        lines = [f"strata: error: {self.message}"]
        for label, text in (
            ("at", self.at),
            ("given", self.given),
            ("allowed", self.allowed),
            ("try", self.remedy),
        ):
            if text:
                lines.append(f"  {label}: {text}")
        return "\n".join(lines)
