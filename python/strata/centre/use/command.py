"""`strata centre use`: what was asked, and the report. A notebook calls the same functions."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from strata.centre.jobs import forms as jobs
from strata.centre.jobs import slurm
from strata.centre.jobs.rows import Rows
from strata.centre.outages import categories as kinds
from strata.centre.outages import forms as outages
from strata.centre.outages import slurm as events
from strata.centre.outages import times
from strata.centre.outages.log import Log
from strata.centre.sampling.rates import sampled
from strata.centre.use import page, words
from strata.centre.use.analysis import Analysis, Asked, analyse, document, hidden_said
from strata.centre.use.groups import width_edges
from strata.errors import StrataError
from strata.measure.files import write_json
from strata.report.build import write
from strata.scripts import visible

LIVE_DAYS = 30
EVENTS = "Cluster,NodeName,TRES,TimeStart,TimeEnd,State,Reason"


@dataclass(frozen=True)
class Request:
    """What the command line asked for."""

    logs: tuple[Path, ...]
    form: str | None = None
    live: bool = False
    out: Path | None = None
    begin: str | None = None
    until: str | None = None
    since: str | None = None
    zone: str | None = None
    parts: str | None = None
    wide: int | None = None
    widths: str | None = None
    outages: tuple[Path, ...] = ()
    outages_form: str | None = None
    system: str | None = None
    samples: Path | None = None
    categories: Path | None = None
    lenient: bool = False
    anonymise: bool = False
    json: bool = False


def use(request: Request) -> Analysis:
    """The analysis that was asked for. Raises StrataError for wrong options and damaged logs."""
    zone = times.zone(request.zone or times.UTC)
    if bool(request.logs) == request.live:
        raise StrataError(
            "either logs, or --live",
            at="strata centre use",
            given="both" if request.live else "neither",
            allowed="one of them",
            remedy="strata centre use --help",
        )
    _asked(request, zone)  # wrong options are told before a large log is read
    own = kinds.load(request.categories)
    seen = None if request.samples is None else sampled(request.samples)
    with tempfile.TemporaryDirectory(prefix="strata-use-") as folder:
        logs, down, form = request.logs, request.outages, request.outages_form
        if request.live:
            first = request.begin or f"now-{LIVE_DAYS}days"
            logs = (slurm.live(Path(folder) / "jobs.txt", first, request.until, request.system),)
            if not down:
                words = ["sacctmgr", "-P", "show", "event", f"start={first}", f"format={EVENTS}"]
                down, form = (slurm.asked(words, Path(folder) / "events.txt"),), "slurm"
        log = jobs.read(logs, request.form, zone, request.lenient, request.system)
        if request.live:
            log.path = "sacct"
            log.parts = log.parts or (events.size(down[0], request.system) if form == "slurm" else None)
        seen_down = _outages(request, down, form, own, zone, log) if down else None
    asked = _asked(request, zone if request.zone else _days_zone(log, zone))
    return analyse(log, asked, seen_down, own, seen)


def _outages(
    request: Request, down: tuple[Path, ...], form: str | None, own: kinds.Categories, zone: str, log: Rows
) -> Log | None:
    """The log of outages. Of a cluster that is asked itself it may be that no node had an event."""
    try:
        return outages.read(down, form, own, zone, request.system)
    except StrataError as error:
        if request.outages or error.message != events.NO_EVENT:
            raise
        log.said.append("Slurm knows of no node that was down or drained in this time.")
        return None


def _asked(request: Request, zone: str) -> Asked:
    """The options, understood. Raises StrataError for wrong ones."""
    begin, until, since = (
        None if given is None else times.one(given, zone, option)
        for given, option in (
            (request.begin, "--begin"),
            (request.until, "--until"),
            (request.since, "--since"),
        )
    )
    if begin is not None and until is not None and until <= begin:
        raise StrataError(
            "--until lies before --begin", at="--until", given=request.until, allowed="a later time"
        )
    if request.wide is not None and request.wide < 1:
        raise StrataError("not a width", at="--wide", given=str(request.wide), allowed="1 or more")
    width_edges(request.widths, 1)
    parts = _parts(request.parts, zone)
    return Asked(begin, until, since, zone, parts, request.wide, request.widths, request.anonymise)


def _days_zone(log: Rows, zone: str) -> str:
    """The machine's own, where the log names one that is known."""
    try:
        return times.zone(log.zone) if log.zone else zone
    except StrataError:
        log.said.append(f"The log's time zone {log.zone} is not known: days are those of {zone}.")
        return zone


def _parts(text: str | None, zone: str) -> tuple[tuple[float, int], ...]:
    """`2090,4180@2006-12-01`: so many processors, and so many from a date on."""
    found: list[tuple[float, int]] = []
    for piece in filter(None, (text or "").split(",")):
        number, at, when = (p.strip() for p in piece.partition("@"))
        since = times.one(when, zone, "--parts") if at else float("-inf")
        if (
            not number.isdecimal()
            or int(number) < 1
            or (found and since <= found[-1][0])
            or (at and not found)
        ):
            raise StrataError(
                "not a number of processors",
                at="--parts",
                given=piece,
                allowed="such as 4136, or 2090,4180@2006-12-01",
            )
        found.append((since, int(number)))
    if text is not None and not found:
        raise StrataError("not a number of processors", at="--parts", given=text, allowed="such as 4136")
    return tuple(found)


def run(request: Request, command: str) -> int:
    """Writes the report, or prints the JSON; says where it is."""
    out = request.out or Path(
        "use" if request.live else f"{request.logs[0].name.split('.')[0]}-use" if request.logs else "use"
    )
    if out.exists() and not out.is_dir():
        raise StrataError(
            "not a folder", at="--out", given=str(out), allowed="a folder, which is made if needed"
        )
    whole = use(request)
    if request.json:
        json.dump(document(whole), sys.stdout, indent=1)
        print()
        return 0
    path = write(page.document(whole, command), out)
    write_json(out / "use.json", document(whole))
    p = whole.whole
    print(
        f"in use: {words.value(p.figure('utilisation_up'))} of the time in which processors were up, "
        f"{words.value(p.figure('utilisation'))} of all {p.days:.1f} days"
    )
    print(page.sentence(whole))
    for key in ("starts", "wait_median", "wasted", "between"):
        figure = p.figure(key)
        print(f"{figure.title[0].lower()}{figure.title[1:]}: {words.value(figure)}")
    if whole.sampled is not None and whole.sampled.empty:
        print(f"not in the samples: {'; '.join(whole.sampled.empty)}")
    for line in hidden_said(whole):
        print(visible(f"note: {line}"))
    print(f"report: {path}")
    return 0
