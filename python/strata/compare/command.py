"""`strata report compare A B`: what is asked, and the comparison. A notebook calls the same functions."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata import documents, own_folders, paths
from strata.advice.words import list_some
from strata.compare import console
from strata.compare.document import document
from strata.compare.pairs import Matches, Selection, match
from strata.compare.sides import Side, load
from strata.compare.verdicts import judge
from strata.errors import FAILED, StrataError, why
from strata.measure.files import write_json

REGRESSED = "3%"


@dataclass(frozen=True)
class Request:
    """What the command line asked for."""

    before: Path
    after: Path
    regressed: str = REGRESSED
    figure: str | None = None
    task: str | None = None
    everything: bool = False
    json: bool = False
    out: Path | None = None


def percentage(text: str) -> float:
    """'3%' as 0.03. Raises StrataError for anything else: without its sign, 0.03 could be either."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*%", text.strip())
    value = float(match.group(1)) / 100 if match else math.nan
    if not 0 <= value < 1:
        raise StrataError(
            "not a percentage", at="--regressed", given=text, allowed="0% to below 100%, for example 3%"
        )
    return value


def pattern(text: str | None, option: str) -> re.Pattern[str] | None:
    """The regular expression of an option."""
    if text is None:
        return None
    try:
        return re.compile(text)
    except re.error as error:
        raise StrataError("not a regular expression", at=option, given=text, allowed=str(error)) from None


def compare(request: Request) -> dict[str, Any]:
    """The comparison as strata.comparison/1. Raises StrataError where there is nothing to compare."""
    threshold = percentage(request.regressed)
    wish = Selection(pattern(request.figure, "--figure"), pattern(request.task, "--task"), request.everything)
    before, after = load(request.before), load(request.after)
    with documents.used(f"{before.path}, {after.path}", "a summary"):
        matched = match(before.tasks, after.tasks, wish)
        _check(before, after, matched, request)
        return document(before, after, matched, judge(matched.pairs, threshold))


def _check(before: Side, after: Side, matched: Matches, request: Request) -> None:
    if matched.tasks == 0:
        every = [*before.tasks, *after.tasks]
        if request.task is not None and not (matched.only_before or matched.only_after):
            raise _nothing("--task", request.task, "no task has such an id", every)
        kinds = [f"{s.path}: {s.summary.get('kind')} with {list_some(s.tasks, 3)}" for s in (before, after)]
        raise StrataError(
            "these results have no task in common",
            at=request.task and f"--task {request.task}",
            given="; ".join(kinds),
            allowed="two runs of the same plan: of two machines, dates or builds",
            remedy="`strata results FOLDER` lists what a folder holds",
        )
    if request.figure is not None and not matched.pairs and not matched.not_compared:
        names = [f["name"] for s in (before, after) for t in s.tasks.values() for f in t["figures"]]
        raise _nothing("--figure", request.figure, "no figure has such a name", names)
    if not matched.pairs:  # exit code 0 would say that nothing regressed
        why = list_some(dict.fromkeys(left.why for left in matched.not_compared), 2)
        raise StrataError(
            "no figure of these results can be compared",
            at=f"{before.path}, {after.path}",
            given=why if len(why) < 400 else why[:397] + "...",
            remedy="compare two runs of the same plan; --all and --figure choose other figures",
        )


def _nothing(option: str, given: str, message: str, there: Iterable[str]) -> StrataError:
    return StrataError(message, at=option, given=given, allowed=list_some(dict.fromkeys(there), 12))


def run(request: Request) -> int:
    """`strata report compare`; returns its exit code: 0, or 3 when something regressed."""
    whole = compare(request)
    if request.json:
        sys.stdout.write(json.dumps(whole, indent=1, allow_nan=False) + "\n")
    else:
        console.show(whole)
    if request.out is not None or not request.json:
        page = report(whole, request.out or fresh_folder(paths.results_base()))
        if not request.json:
            print(f"report:  {page}")
    return int(whole["exit_code"])


def report(whole: Mapping[str, Any], out: Path) -> Path:
    """comparison.json, report.html, report.md and figures/ in the folder `out`; returns the page's path."""
    from strata.compare.page import comparison
    from strata.report.build import write

    page = write(comparison(whole), out)
    write_json(out / "comparison.json", whole)
    return page


def fresh_folder(base: Path) -> Path:
    """A new folder under base, which this call has made."""
    path = base / time.strftime("compare-%Y%m%d-%H%M%S")
    try:
        return own_folders.make_numbered(path)
    except OSError as error:
        raise StrataError(
            "cannot write the report",
            at=str(path),
            given=why(error),
            remedy="--out FOLDER writes it elsewhere",
            code=FAILED,
        ) from error
