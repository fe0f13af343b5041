"""A trace of jobs that never ran, whose figures are known: to try the report, and to measure it.

The machine is cut into columns of 1/2, 1/4, 1/8 ... of its processors, and the two last of one size. A column
runs jobs of its width one after the other, so that never more processors are in use than there are. Runs are
lognormal, as those of most logs are about; between two of a column lies a gap, so that each column is busy
for BUSY of its time. Waits are exponential.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np

from strata.errors import FAILED, StrataError, why

BUSY = 0.94
PER_DAY = 748.0  # starts: of PSC's Cray XT3 (Nystrom 2007)
_MOST_DAYS = 5 * 365.0
_BEGIN = 1767225600  # 2026-01-01
_USERS, _GROUPS, _PROGRAMS = 400, 40, 60
_STATES = ((1, 0.84), (0, 0.12), (5, 0.04))  # completed, failed, cancelled
_AT_ONCE = 1 << 20
SAYS = "these jobs never ran: the trace was generated"


def columns(parts: int) -> list[int]:
    """Widths of the columns: halves of what is left, until one processor is."""
    widths, left = [], parts
    while left > 1 and len(widths) < 12:
        widths.append(max(1, left // 2))
        left -= widths[-1]
    return [*widths, left]


def trace(jobs: int, parts: int, seed: str = "strata") -> dict[str, np.ndarray]:
    """Columns of a trace, by submission: submit, wait, run, cores, status, user, group, program."""
    random = np.random.default_rng(zlib.crc32(seed.encode()))
    span = min(jobs / PER_DAY, _MOST_DAYS) * 86400
    widths = columns(parts)
    of_column = np.diff(np.linspace(0, jobs, len(widths) + 1).astype(int))
    start, run = np.empty(jobs), np.empty(jobs)
    at = 0
    for count in of_column:
        here = slice(at, at + count)
        lasts = random.lognormal(0.0, 1.6, count)
        gaps = random.exponential(size=count)
        lasts = np.maximum(1.0, np.floor(lasts * (BUSY * span / max(lasts.sum(), 1e-9))))
        gaps = np.floor(gaps * (max(span - lasts.sum(), 0.0) / max(gaps.sum(), 1e-9)))
        start[here] = np.cumsum(gaps + lasts) - lasts
        run[here] = lasts
        at += count
    cores = np.repeat(widths, of_column)
    user = np.minimum(random.zipf(1.3, jobs), _USERS)
    wait = np.minimum(np.floor(random.exponential(3600.0, jobs)), start)
    submit = start - wait
    order = np.argsort(submit, kind="stable")
    status = random.choice([s for s, _ in _STATES], size=jobs, p=[p for _, p in _STATES])
    made = {"submit": submit, "wait": wait, "run": run, "cores": cores, "status": status, "user": user}
    made["group"], made["program"] = user % _GROUPS + 1, random.integers(1, _PROGRAMS, jobs)
    return {name: column[order].astype(np.int64) for name, column in made.items()}


def generate(jobs: int, parts: int, out: Path) -> None:
    """Writes such a trace, marked as made up. Raises StrataError for wrong options."""
    for option, value in (("--jobs", jobs), ("--parts", parts)):
        if value < 1:
            raise StrataError("not a number", at=option, given=str(value), allowed="1 or more")
    import pyarrow as pa
    from pyarrow import csv

    made = trace(jobs, parts)
    none = np.full(jobs, -1, np.int8)
    fields = [np.arange(1, jobs + 1), made["submit"], made["wait"], made["run"], made["cores"], none, none]
    fields += [made["cores"], none, none, made["status"], made["user"], made["group"], made["program"]]
    fields += [none, none, none, none]
    table = pa.table({str(i): values for i, values in enumerate(fields)})
    header = (
        f"; Version: 2.2\n; Generated: {SAYS}\n; UnixStartTime: {_BEGIN}\n; TimeZoneString: UTC\n"
        f"; MaxProcs: {parts}\n; MaxJobs: {jobs}\n"
    )
    options = csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none", batch_size=_AT_ONCE)
    try:
        with out.open("xb") as file:
            file.write(header.encode())
            csv.write_csv(table, file, options)
    except FileExistsError:
        raise StrataError(
            "there is such a file already", at="--out", given=str(out), allowed="a new file"
        ) from None
    except OSError as error:
        raise StrataError("cannot write the trace", at=str(out), given=why(error), code=FAILED) from None
