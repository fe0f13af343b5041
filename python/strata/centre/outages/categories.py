"""What an outage may be: the categories of the Origin2000's account and its rule of what interrupts.

Ciotti, Taft, Petersohn, "Early Experiences with the 512 Processor Single System Image Origin2000" (2000),
section 4, defines ten categories of outages, "up with problem" and "up without problem". Its tables add three
totals: of all outages, of unscheduled ones, and of hardware and software ("for the purpose of comparing
different systems"). Its text counts causes that are unknown as well, for which its tables have no row: here
they are a category of their own, shown where a log has any.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata import documents, toml_files
from strata.errors import StrataError

KINDS = ("unscheduled", "scheduled", "problem")
OBSERVED = "observed"  # not an outage: from when to when a system was watched
KEYS = ("title", "kind", "interrupt", "match")


@dataclass(frozen=True)
class Category:
    """`kind`: unscheduled, scheduled, or problem (up, but not well). `interrupt`: counts for the MTTI.
    `match`: regular expressions; an importer gives a reason that contains one of them this category.
    """

    key: str
    title: str
    kind: str
    interrupt: bool = False
    match: tuple[str, ...] = ()

    @property
    def outage(self) -> bool:
        return self.kind != "problem"


PAPER: tuple[Category, ...] = (
    Category(
        "software",
        "Software Outage",
        "unscheduled",
        True,
        (r"panic", r"kernel", r"hung", r"hang", r"oops", r"software", r"not responding", r"kill task failed"),
    ),
    Category(
        "hardware",
        "Hardware Outage",
        "unscheduled",
        True,
        (
            r"\bdimm",
            r"memory error",
            r"\becc\b",
            r"\bmce\b",
            r"disk",
            r"\bfan\b",
            r"\bpsu\b",
            r"hardware",
            r"\bgpu\b",
            r"low (real)?memory",
            r"low (socket|core|cpu)",
        ),
    ),
    Category("other", "Other Caused Outage", "unscheduled"),
    Category("tape", "Tape Caused Outage", "unscheduled", False, (r"\btape",)),
    Category(
        "nfs", "NFS Caused Outage", "unscheduled", False, (r"\bnfs\b", r"lustre", r"gpfs", r"file ?system")
    ),
    Category(
        "network",
        "Network Caused Outage",
        "unscheduled",
        False,
        (r"network", r"switch", r"infiniband", r"\bib\b", r"\blink"),
    ),
    Category(
        "facility",
        "Unsched Facility Shutdown",
        "unscheduled",
        False,
        (r"power fail", r"power loss", r"cooling", r"earthquake", r"outage of power"),
    ),
    Category("dedicated", "Sched Dedicated Time", "scheduled", False, (r"dedicated", r"reserv", r"\btest")),
    Category(
        "maintenance",
        "Sched Preventative Maint",
        "scheduled",
        False,
        (r"maint", r"upgrade", r"patch", r"firmware", r"planned", r"scheduled"),
    ),
    Category("scheduled-facility", "Sched Facility Shutdown", "scheduled", False, (r"facility",)),
    Category("problem", "System up with problem", "problem"),
)
UNKNOWN = Category("unknown", "Cause Unknown", "unscheduled", True)
UP = "System up without problem"
TOTALS = ("Total of All Outages", "Total All Unsched Outages", "Total of HW/SW Outages")


@dataclass(frozen=True)
class Categories:
    """The categories of one report, in the order of its rows."""

    every: tuple[Category, ...] = (*PAPER, UNKNOWN)

    def index(self, name: str) -> int | None:
        """The place of a category by its key or title, in any case of letters; None where there is none."""
        word = name.strip().lower()
        return next((i for i, c in enumerate(self.every) if word in (c.key, c.title.lower())), None)

    def of_reason(self, reason: str, otherwise: str = "unknown") -> str:
        """The key of the first category one of whose patterns occurs in a reason, in any case of letters."""
        for one in self.every:
            if any(re.search(pattern, reason, re.IGNORECASE) for pattern in one.match):
                return one.key
        return otherwise

    @property
    def keys(self) -> list[str]:
        return [c.key for c in self.every]

    @property
    def interrupts(self) -> str:
        """Which ones count for the MTTI, as words."""
        return ", ".join(c.key for c in self.every if c.interrupt)


def load(path: Path | None) -> Categories:
    """The paper's categories, or those of a TOML file: [categories.KEY] tables, whose order is the order of
    rows.

    A table of a key that the paper has changes that one; `unknown` stays what importers fall back to. Raises
    StrataError, with file and key, for anything else.
    """
    if path is None:
        return Categories()
    given = toml_files.read(path, "the categories", "see docs/reliability.md")
    tables = given.get("categories")
    if not isinstance(tables, Mapping) or set(given) != {"categories"} or not tables:
        raise StrataError(
            "not a file of categories",
            at=str(path),
            given=", ".join(given) or "nothing",
            allowed="tables [categories.KEY] alone",
        )
    known = {c.key: c for c in (*PAPER, UNKNOWN)}
    made = [_category(path, key, table, known.get(key)) for key, table in tables.items()]
    if all(c.key != UNKNOWN.key for c in made):
        made.append(UNKNOWN)
    return Categories(tuple(made))


def _category(path: Path, key: str, table: Any, known: Category | None) -> Category:
    at = f"{path}: [categories.{key}]"
    if key == OBSERVED:
        raise StrataError("a key with a meaning of its own", at=at, given=key, allowed="another name")
    if not isinstance(table, Mapping) or not set(table) <= set(KEYS):
        raise StrataError("an unknown key", at=at, given=documents.shown(table), allowed=", ".join(KEYS))
    old = known or Category(key, key, "unscheduled")
    title, kind = table.get("title", old.title), table.get("kind", old.kind)
    interrupt, match = table.get("interrupt", old.interrupt), table.get("match", list(old.match))
    if not isinstance(title, str) or not title.strip():
        raise StrataError("not a title", at=f"{at} title", given=repr(title), allowed="a text")
    if kind not in KINDS:
        raise StrataError("not a kind of outage", at=f"{at} kind", given=repr(kind), allowed=", ".join(KINDS))
    if not isinstance(interrupt, bool):
        raise StrataError(
            "not a yes or no", at=f"{at} interrupt", given=repr(interrupt), allowed="true, false"
        )
    return Category(key, title, kind, interrupt, _patterns(f"{at} match", match))


def _patterns(at: str, match: Any) -> tuple[str, ...]:
    if (
        not isinstance(match, Sequence)
        or isinstance(match, str)
        or any(not isinstance(m, str) for m in match)
    ):
        raise StrataError("not a list of patterns", at=at, given=repr(match), allowed='such as ["panic"]')
    for pattern in match:
        try:
            re.compile(pattern)
        except re.error as error:
            raise StrataError("not a regular expression", at=at, given=pattern, allowed=str(error)) from None
    return tuple(match)
