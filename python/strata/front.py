"""The native front asked by the Python side: its answer, or its refusal as data (strata.error/1)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from strata import documents
from strata.errors import StrataError

SCHEMA = "strata.error/1"


def ask(front: str | Path, words: Sequence[str], timeout_s: float | None = None) -> str:
    """What `strata WORDS` prints. Raises StrataError where it fails: the front's own error as it was thrown.

    Raises subprocess.TimeoutExpired after timeout_s.
    """
    done = subprocess.run(
        [str(front), *words],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        env={**os.environ, "STRATA_ERRORS": "json"},
    )
    if done.returncode != 0:
        raise _refusal(words[0], done.returncode, done.stderr)
    return done.stdout


def _refusal(command: str, status: int, said: str) -> StrataError:
    """The first error document on standard error; ranks may each have written one."""
    for line in said.splitlines():
        try:
            error = documents.from_json(line)
        except ValueError:
            continue
        if isinstance(error, dict) and error.get("schema") == SCHEMA:
            parts = {name: error.get(name) for name in ("at", "given", "allowed")}
            code = error.get("code")
            return StrataError(
                str(error.get("message")),
                **parts,
                remedy=error.get("try"),
                code=code if isinstance(code, int) else status,
            )
    return StrataError(
        f"`strata {command}` ended with status {status}, and gave no reason that Strata knows",
        given=said.strip() or "it printed nothing",
        remedy=f"start `strata {command}` by hand; `strata doctor` says what is missing here",
        code=status,
    )
