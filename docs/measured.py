"""Tables of measured figures in these pages: their command, which code they measured, and whether it changed.

    python3 docs/measured.py            the tables whose measured folders changed since the commit they name
    python3 docs/measured.py --all      every measured table with its code

A table is measured where a quarter or more of its cells, the first column aside, begin with a number, unless
NOT_MEASURED says what else its numbers are. Below such a table stands a line of its own,

    Code: 1a2b3c4d; measures core/graph, benchmarks/graph.
    Code: before 1a2b3c4d; measures core/graph.
    Code: of this line; measures core/graph.

the commit that was measured, or the one with which the figures came into the page, or that the code came with
this very line; and the folders or files that the figures are of. The command that gives them stands in the
same section.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DOCS = Path(__file__).resolve().parent
SHARE = 0.25
# page, beginning of the table's head: what its numbers are
NOT_MEASURED = {
    ("measuring.md", "| n |"): "binomial probabilities",
    ("measuring.md", "| limit |"): "limits, with their reasons",
    ("mpm-speed.md", "| instead,"): "operations that are declared",
    ("npb-definitions.md", "| | distance"): "coefficients of the specification",
    ("overset.md", "| status |"): "numbers of states",
    ("task-graph.md", "| task | declares"): "versions of an example",
}

_RULE = re.compile(r"\|[-: |]+\|\s*$")
_NUMBER = re.compile(r"[-+<>~]?\**\d")
_CODE = re.compile(r"Code: (before )?([0-9a-f]{8,40}|of this line); measures ([^\s,]+(?:, [^\s,]+)*)\.$")
# What code spans and blocks of a section may begin with: commands, scripts, tests, programs of a build.
_COMMAND = re.compile(
    r"(?:\$ )?(?:[A-Z_]+=\S+ )*(?:(?:\./)?strata \w|\S*python3? \S|pytest \S|cmake --build|strata-[a-z-]+ \S"
    r"|\S*\w\.py\s+\S|test_\w+ \"\[|BUILD/\S)"
)


@dataclass(frozen=True)
class Code:
    """`before`: the commit is the one that wrote the figures down. `line`: of the page, from 1."""

    before: bool
    commit: str
    folders: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Table:
    """`line`: of its head, from 1; `last`: of its last row. `around`: its section, whole."""

    page: str
    section: str
    head: str
    line: int
    last: int
    code: Code | None
    around: str

    @property
    def commands(self) -> bool:
        """Its section has a command in a code span or a block."""
        spans = re.findall(r"```.*?```|`[^`\n]+`", self.around, re.S)
        return any(_COMMAND.match(line.strip("`")) for span in spans for line in span.splitlines())


def measured() -> list[Table]:
    """Of all pages, in the order of their names."""
    return [t for page in sorted(DOCS.glob("*.md")) for t in tables(page.name, page.read_text())]


def tables(page: str, text: str) -> Iterator[Table]:
    """The measured tables of a page."""
    lines = text.splitlines()
    heads = [0, *_headings(lines), len(lines)]
    for i in range(1, len(lines)):
        if not (_RULE.match(lines[i]) and lines[i - 1].startswith("|")):
            continue
        last = i
        while last + 1 < len(lines) and lines[last + 1].startswith("|"):
            last += 1
        cells = [c.strip() for row in lines[i + 1 : last + 1] for c in row.strip("|").split("|")[1:]]
        numbers = sum(bool(_NUMBER.match(c)) for c in cells)
        key = (page, lines[i - 1])
        other = any(key[0] == p and key[1].startswith(h) for p, h in NOT_MEASURED)
        if not cells or numbers < SHARE * len(cells) or other:
            continue
        begin = max(h for h in heads if h < i)
        end = min(h for h in heads if h > i)
        yield Table(
            page,
            lines[begin].lstrip("# "),
            lines[i - 1],
            i,
            last + 1,
            _code(lines, last + 1),
            "\n".join(lines[begin:end]),
        )


def _headings(lines: Sequence[str]) -> Iterator[int]:
    fenced = False
    for i, line in enumerate(lines):
        if line.startswith("```"):
            fenced = not fenced
        elif line.startswith("#") and not fenced:
            yield i


def _code(lines: Sequence[str], after: int) -> Code | None:
    for i, line in enumerate(lines[after : after + 2], start=after + 1):
        if found := _CODE.match(line):
            return Code(bool(found[1]), found[2], tuple(found[3].split(", ")), i)
    return None


# --- what changed since


@cache
def _git(*words: str) -> str | None:
    """None where git cannot answer."""
    done = subprocess.run(
        ["git", "-C", str(DOCS.parent), *words], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else None


def unknown() -> str:
    """Why the history cannot say what changed; empty where it can."""
    shallow = _git("rev-parse", "--is-shallow-repository")
    if shallow is None:
        return "this is no checkout of git"
    return "" if shallow == "false" else "this clone is shallow: git fetch --unshallow has the rest"


def commit_of(table: Table, code: Code) -> str:
    """The commit that the line names; of a line that means itself the one that wrote it."""
    if code.commit != "of this line":
        return code.commit
    blamed = _git("blame", "-s", "--abbrev=8", "-L", f"{code.line},{code.line}", "--", f"docs/{table.page}")
    return (blamed or "unknown").split()[0].lstrip("^")


def commits_since(commit: str, code: Code) -> int | None:
    """Commits to the folders since the code that was measured; None where that commit is not known here."""
    if set(commit) == {"0"}:
        return 0  # the line is not committed yet
    found = _git("rev-list", "--count", f"{commit}..HEAD", "--", *code.folders)
    return None if found is None else int(found)


def main(words: Sequence[str]) -> int:
    if words not in ([], ["--all"]):
        print(__doc__, file=sys.stderr)
        return 2
    every = [(t, t.code) for t in measured() if t.code is not None]
    if reason := unknown():
        print(f"{len(every)} tables of measured figures; which code changed since cannot be known: {reason}")
        return 0
    rows = [
        (t, code, commit, commits_since(commit, code)) for t, code in every for commit in [commit_of(t, code)]
    ]
    shown = [r for r in rows if words or r[3] != 0]
    changed = sum(r[3] != 0 for r in rows)
    print(f"{len(rows)} tables of measured figures, {changed} of code that changed since\n")
    print("| table | code | commits to it since |\n| --- | --- | --- |")
    for t, code, commit, count in shown:
        name = f"docs/{t.page}:{t.line}, {t.section}"
        print(f"| {name} | {'before ' * code.before}{commit} | {'not known' if count is None else count} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
