"""Commands on a machine's facts: findings and drawing. They are started by the native front and must be quick."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from strata.errors import StrataError

SCHEMA = "strata.machine/1"


def load(path: str, schema: str) -> dict[str, Any]:
    """A JSON document from a file or, for '-', from standard input."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
        value = json.loads(text)
    except OSError as error:
        raise StrataError(
            "cannot read",
            at=path,
            given=str(error.strerror),
            remedy="give an existing file, or - for standard input",
        ) from None
    except ValueError as error:
        raise StrataError(
            "not JSON", at=path, given=str(error), remedy="`strata machine --json` writes it"
        ) from None
    found = value.get("schema") if isinstance(value, dict) else type(value).__name__
    if found != schema:
        raise StrataError(
            "wrong kind of document",
            at=path,
            given=str(found),
            allowed=schema,
            remedy="`strata machine --json` writes machines",
        )
    return dict(value)


def print_findings(machine: str, summary: str | None) -> int:
    """One block a finding: what, why it matters, what to do."""
    from strata.advice import findings

    facts = load(machine, SCHEMA)
    measured = load(summary, "strata.summary/1") if summary else None
    found = findings(facts, measured)
    if not found:
        print("findings: none")
    for finding in found:
        print(finding)
    return 0


def draw(machine: str, svg: str) -> int:
    from strata.draw import machine_svg
    from strata.measure.files import write_atomically

    text = machine_svg(load(machine, SCHEMA))
    if svg == "-":
        sys.stdout.write(text)
    else:
        write_atomically(Path(svg).absolute(), text)
    return 0
