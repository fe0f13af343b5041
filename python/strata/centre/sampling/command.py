"""`strata centre sample` on the command line. Starts in a tenth of a second: it imports no library but
Python's."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

from strata import own_folders, scripts
from strata.centre.sampling import loop
from strata.centre.sampling.ring import (
    CPU,
    IO,
    JOB,
    LARGEST,
    MEMORY,
    OPERATIONS,
    SUFFIX,
    TRAFFIC,
    Sample,
    read,
)
from strata.errors import StrataError
from strata.measure.progress import seconds

_NAMES = (
    (CPU, "CPU"),
    (MEMORY, "memory"),
    (IO, "I/O"),
    (OPERATIONS, "floating-point operations"),
    (TRAFFIC, "memory traffic"),
)
_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def run(what: str, folder: Path | None, interval: str, size: str, job: str | None) -> int:
    """One of the verbs. Prolog and epilog never fail a job: their errors are printed, and the status is 0."""
    try:
        return _run(what, folder, interval, size, job)
    except StrataError as error:
        if what not in ("prolog", "epilog"):
            raise
        print(error, file=sys.stderr)
        return 0


def _run(what: str, folder: Path | None, interval: str, size: str, job: str | None) -> int:
    if folder is None:
        raise StrataError(
            "no folder for samples",
            at=f"strata centre sample {what}",
            given="nothing",
            allowed="--folder DIR",
        )
    if what == "show":
        return show(folder)
    pair = what != "daemon"
    number = (job or os.environ.get("SLURM_JOB_ID") or os.environ.get("PBS_JOBID")) if pair else None
    if pair and not number:
        raise StrataError(
            "which job?",
            at="--job",
            given="nothing",
            allowed="its number, or SLURM_JOB_ID in the environment",
        )
    if number and not re.fullmatch(r"[\w.\[\]-]+", number, re.ASCII):
        raise StrataError(
            "not the number of a job",
            at="--job",
            given=scripts.visible(number),
            allowed="such as 1234, 12_3 or 77.server",
        )
    own_folders.close_umask()
    user = os.environ.get("SLURM_JOB_UID", "") if number == os.environ.get("SLURM_JOB_ID") else ""
    asked = loop.Sampling(
        folder.absolute(),
        seconds(interval, "--interval"),
        _bytes(size),
        number.partition(".")[0] if number else None,
        os.environ.get("SLURMD_NODENAME", ""),
        int(user) if user.isdecimal() else None,
    )
    return {"daemon": loop.daemon, "prolog": loop.prolog, "epilog": loop.epilog}[what](asked)


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+)\s*(KiB|MiB|GiB|)", text.strip())
    size = int(found.group(1)) * _UNITS[found.group(2)] if found else 0
    if not 8192 <= size <= LARGEST:
        raise StrataError("not a size", at="--size", given=text, allowed="8KiB to 1GiB, such as 32MiB")
    return size


def _when(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(seconds))
    except (ValueError, OverflowError, OSError):  # a file of samples may be anybody's
        return "a time that never was"


def show(folder: Path) -> int:
    """The newest sample of each node and of each job there, and which columns are empty."""
    files = sorted(folder.glob(f"*{SUFFIX}"))
    if not files:
        raise StrataError(
            "no samples there",
            at=str(folder),
            given="a folder without samples" if folder.is_dir() else "no folder",
            allowed=f"a folder with NODE{SUFFIX}",
            remedy="`strata centre sample daemon --folder DIR` writes them",
        )
    for path in files:
        one = read(path)
        columns = 0
        newest: dict[str, Sample] = {}
        for sample in one.samples:
            columns |= sample.columns
            newest[f"job {sample.job}" if sample.kind == JOB else "node"] = sample
        had = f"{len(one.samples)} sample{'' if len(one.samples) == 1 else 's'}"
        if one.samples:
            had += f" since {_when(one.samples[0].time)}"
        torn = f", and {one.torn} damaged" if one.torn else ""
        print(f"{scripts.visible(one.host)}: {had}{torn}")
        for name, sample in newest.items():
            print(
                f"  {scripts.visible(f'{name} {sample.program}')}: {sample.cpu:.1f} s of CPU, "
                f"{sample.memory / (1 << 20):.0f} MiB, {sample.read / 1e6:.1f} MB read, "
                f"{sample.written / 1e6:.1f} MB written, "
                f"{sample.processes} process{'' if sample.processes == 1 else 'es'}"
            )
        empty = [name for bit, name in _NAMES if not columns & bit]
        print(f"  not counted here: {', '.join(empty) or 'nothing, all columns have values'}")
    return 0
