"""Logs of jobs in whatever form they come, read into one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from strata.centre.jobs import pbs, slurm, swf
from strata.centre.jobs.rows import Rows, joined
from strata.centre.jobs.text import blocks
from strata.errors import StrataError

FORMS = ("slurm", "pbs", "swf")


def read(
    paths: Sequence[Path], form: str | None, zone: str, lenient: bool = False, system: str | None = None
) -> Rows:
    """The logs as one. Without a form it is what the first line looks like. Raises StrataError for unknown
    forms and damaged logs.
    """
    if form is not None and form not in FORMS:
        raise StrataError("an unknown form of logs", at="--from", given=form, allowed=", ".join(FORMS))
    form = form or guessed(paths[0])
    if form == "pbs":
        return joined([pbs.read(paths, zone, lenient)])
    if form == "swf":
        return joined([swf.read(path, zone, lenient) for path in paths])
    clusters: set[str] = set()
    return joined([slurm.read(path, zone, lenient, system, clusters) for path in paths])


def guessed(path: Path) -> str:
    """The form of a log by its first line. Raises StrataError where it is none of them."""
    text = next(blocks(path), b"").decode()
    first = next((line for line in text.splitlines() if line.strip()), "")
    if path.name.endswith((".swf", ".swf.gz", ".swf.xz")) or first.lstrip().startswith(";"):
        return "swf"
    if "jobid" in first.lower() and "|" in first:
        return "slurm"
    if pbs.is_record(first):
        return "pbs"
    if len(first.split()) == swf.FIELDS:
        return "swf"
    raise StrataError(
        "not a log of jobs",
        at=f"{path}: row 1",
        given=first[:100] or "nothing",
        allowed="a table of `sacct -P`, an accounting log of PBS, or the Standard Workload Format",
        remedy="--from slurm, pbs or swf; " + slurm.DUMP,
    )
