"""Logs of jobs that tests make, and what is read from them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from strata.centre.jobs.forms import read
from strata.centre.jobs.rows import KINDS, Rows
from strata.centre.jobs.slurm import FIELDS

SACCT = FIELDS.replace(",", "|") + "\n"


def at(text: str) -> float:
    """A time of 2026, `01-02T12:00`, in UTC."""
    return datetime.fromisoformat(f"2026-{text}").replace(tzinfo=UTC).timestamp()


def sacct(
    job: str,
    submit: str,
    start: str,
    end: str,
    cores: int,
    state: str = "COMPLETED",
    user: str = "ada",
    *,
    raw: str | None = None,
    elapsed: str = "",
    nodes: int = 1,
    eligible: str | None = None,
    name: str = "a.out",
) -> str:
    """A row below SACCT, with times of 2026 as at() takes them."""
    times = [
        t if t in ("Unknown", "None") or len(t) > 15 else f"2026-{t}"
        for t in (submit, eligible or submit, start, end)
    ]
    cells = [
        job,
        raw or job,
        user,
        f"of-{user}",
        "batch",
        *times,
        elapsed,
        state,
        str(cores),
        str(nodes),
        name,
    ]
    return "|".join(cells) + "\n"


def swf(
    job: int,
    submit: int,
    wait: int,
    run: int,
    cores: int,
    status: int = 1,
    user: int = 1,
) -> str:
    """A row of the Standard Workload Format."""
    return f"{job} {submit} {wait} {run} {cores} -1 -1 {cores} -1 -1 {status} {user} 7 3 -1 -1 -1 -1\n"


def rows(folder: Path, text: str, name: str = "jobs.txt", zone: str = "UTC", **given: object) -> Rows:
    path = folder / name
    path.write_text(text)
    return read([path], None, zone, **given)  # type: ignore[arg-type]


def states(found: Rows) -> list[str]:
    return [KINDS[s] for s in found.state]
