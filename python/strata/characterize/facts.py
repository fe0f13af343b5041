"""Commands on a machine's facts: findings and drawing. The native front starts them; they import little."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strata import documents
from strata.errors import StrataError, why
from strata.scripts import visible_lines

if TYPE_CHECKING:
    from strata.advice.finding import Finding

SCHEMA = "strata.machine/1"


def load(path: str, schema: str) -> dict[str, Any]:
    """A JSON document from a file or, for '-', from standard input."""
    remedy = {
        SCHEMA: "`strata machine --json >machine.json` writes one",
        "strata.summary/1": "`summary.json` in the folder of a measurement is one",
    }.get(schema, "name the file that Strata wrote")
    text = ""
    try:
        text = sys.stdin.read() if path == "-" else documents.named(path).decode()
        value = documents.from_json(text)
    except OSError as error:
        missing = "give an existing file, or - for standard input"
        raise StrataError("the file cannot be read", at=path, given=why(error), remedy=missing) from None
    except ValueError as error:
        raise documents.not_json(error, path, text, remedy) from None
    return documents.of_schema(value, schema, path, remedy)


def print_findings(machine: str, summary: str | None) -> int:
    """One block a finding: what, on which evidence, why it matters, what to do."""
    from strata.advice.findings import findings

    about, measured = load(machine, SCHEMA), load(summary, "strata.summary/1") if summary else None
    with documents.used(f"{machine}, {summary}" if summary else machine, "the machine"):
        found = findings(about, measured)
        blocks = [block(finding) for finding in found]
    print(visible_lines("\n".join(["\nfindings" if found else "\nfindings: none", *blocks])))
    return 0


def block(finding: Finding) -> str:
    """A finding as lines of text."""
    lines = [f"  {finding.severity}: {finding.what}"]
    for label, text in (
        ("seen", finding.evidence),
        ("means", finding.consequence),
        ("try", finding.remedy),
    ):
        if text:
            lines.append(
                textwrap.fill(
                    text,
                    110,
                    initial_indent=f"    {label + ':':<7}",
                    subsequent_indent=" " * 11,
                    break_long_words=False,
                    break_on_hyphens=False,
                )
            )
    return "\n".join(lines)


def draw(machine: str, out: str) -> int:
    """The drawing as a file, or on standard output for '-'."""
    from strata.draw import machine_svg
    from strata.measure.files import write_named

    about = load(machine, SCHEMA)
    with documents.used(machine, "the machine"):
        text = f'<?xml version="1.0" encoding="UTF-8"?>\n{machine_svg(about)}\n'
    if out == "-":
        sys.stdout.write(text)
    else:
        write_named(Path(out).absolute(), text)
    return 0
