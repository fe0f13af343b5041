"""`strata centre reliability`: what was asked, and the report. A notebook calls the same functions."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from strata import csv_cells
from strata.centre.outages import categories as kinds
from strata.centre.outages import forms, times
from strata.centre.reliability import page, published
from strata.centre.reliability.analysis import Analysis, Asked, analyse, document
from strata.errors import FAILED, StrataError, why
from strata.measure.files import write_json
from strata.measure.progress import seconds
from strata.report.build import write
from strata.scripts import visible

GENERATED = "these outages never were: the log was generated to published totals"
_LAST = "2000-04-18"  # of the Origin2000's account: the last outage of its Figure 1


@dataclass(frozen=True)
class Request:
    """What the command line asked for."""

    logs: tuple[Path, ...]
    form: str | None = None
    out: Path | None = None
    since: str | None = None
    until: str | None = None
    zone: str = times.UTC
    categories: Path | None = None
    systems: str | None = None
    published: Path | None = None
    parts: int | None = None
    checkpoint: str = "5min"
    restart: str = "10min"
    json: bool = False


def reliability(request: Request) -> Analysis:
    """The analysis that was asked for. Raises StrataError for wrong options and damaged logs."""
    zone = times.zone(request.zone)
    own = kinds.load(request.categories)
    since, until = (
        None if text is None else times.one(text, zone, option)
        for text, option in ((request.since, "--since"), (request.until, "--until"))
    )
    if since is not None and until is not None and until <= since:
        raise StrataError(
            "--until lies before --since", at="--until", given=request.until, allowed="a later time"
        )
    if request.parts is not None and request.parts < 1:
        raise StrataError(
            "not a number of parts", at="--forecast-parts", given=str(request.parts), allowed="1 or more"
        )
    log = forms.read(request.logs, request.form, own, zone, request.systems)
    asked = Asked(
        since,
        until,
        request.parts,
        seconds(request.checkpoint, "--checkpoint-time") / 60,
        seconds(request.restart, "--restart-time") / 60,
        request.published,
    )
    return analyse(log, own, asked)


def run(request: Request, command: str) -> int:
    """Writes the report, or prints the JSON; says where it is."""
    whole = reliability(request)
    if request.json:
        json.dump(document(whole), sys.stdout, indent=1)
        print()
        return 0
    out = request.out or Path(f"{request.logs[0].stem}-reliability")
    if out.exists() and not out.is_dir():
        raise StrataError(
            "not a folder", at="--out", given=str(out), allowed="a folder, which is made if needed"
        )
    path = write(page.document(whole, command), out)
    write_json(out / "reliability.json", document(whole))
    for one in whole.findings:
        row = one.account.row(kinds.TOTALS[2])
        mtti = (
            "never interrupted"
            if row.mtti is None
            else f"an interrupt every {row.mtti:.1f} days ({row.low:.1f} to {row.high:.1f})"
        )
        print(
            f"{visible(one.system.name)}: {mtti}, available {100 * one.account.available:.2f} % of "
            f"{one.system.period:.1f} days"
        )
    if whole.asked.published is not None:
        for found in dict.fromkeys(d.sentence for d in (*whole.differences, *whole.prints)):
            print(visible(found))
    print(f"report: {path}")
    return 0


def generate(totals: Path, since: str, out: Path) -> int:
    """Writes a log that has published totals, marked as such."""
    begin = times.one(since, times.UTC, "--since")
    rows = published.generate(published.read(totals), begin, times.one(_LAST, times.UTC, "last"))
    head, *rows = rows
    text = csv_cells.text_of(list(zip(*rows, strict=True)), head)
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(f"# {GENERATED} in {visible(totals.name)}\n{text}")
    except FileExistsError:
        raise StrataError(
            "there is such a file already", at="--out", given=str(out), allowed="a new file"
        ) from None
    except OSError as error:
        raise StrataError("cannot write the log", at=str(out), given=why(error), code=FAILED) from None
    print(f"made up a log of {len(rows)} rows with the totals of {totals.name}: {out}")
    return 0
