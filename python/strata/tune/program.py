"""What kind of program a command is, and what about it may spoil a race of layouts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strata.errors import StrataError

_COMPUTES = 0.25  # of the busiest thread's CPU time: less is a helper
_OPENMP = ("libgomp", "libomp.", "libomp5", "libiomp5", "libnvomp", "libcraymp")
_THREADED_BLAS = ("blas", "libmkl", "libblis")  # obey the same variables


@dataclass(frozen=True)
class Kind:
    """serial, openmp, mpi, hybrid or forking, and how that is known."""

    name: str
    why: str


def linked(front: str, command: Sequence[str]) -> dict[str, Any]:
    """What the program's file says of itself: `program` of strata.placement/1. Raises StrataError."""
    asked = [front, "launch", "--dry-run", "--json", "--", *command]
    done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode != 0:
        said = done.stderr.strip().removeprefix("strata: error: ")
        raise StrataError("the command cannot be launched", given=said, code=done.returncode)
    return dict(json.loads(done.stdout)["program"])


def computing(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The threads of a record that do the work."""
    threads = record.get("threads") or []
    most = max((t["cpu_s"] for t in threads), default=0.0)
    return [t for t in threads if t["cpu_s"] >= max(_COMPUTES * most, 0.01)]


def kind_of(program: Mapping[str, Any], record: Mapping[str, Any]) -> Kind:
    """From what the program links and from what its first launch, on all cores, did."""
    libraries = [str(path).rsplit("/", 1)[-1] for path in record.get("libraries") or []]
    openmp = program.get("openmp") or next((name for name in libraries if name.startswith(_OPENMP)), "")
    if program.get("mpi"):
        found = f"links {program['mpi']}"
        return Kind("hybrid", f"{found} and {openmp}") if openmp else Kind("mpi", found)
    if openmp:
        return Kind("openmp", f"loads {openmp}")
    blas = next((name for name in libraries if any(part in name for part in _THREADED_BLAS)), "")
    if blas:
        return Kind("openmp", f"loads {blas}, whose threads obey the same variables")
    threads = computing(record)
    processes = {t["pid"] for t in threads}
    if len(processes) > 1:
        return Kind("forking", f"{len(processes)} processes of it computed")
    if len(threads) > 1:
        return Kind("forking", f"{len(threads)} threads of its own computed")
    return Kind("serial", "one thread of it computed")


def traps(record: Mapping[str, Any], threads: int) -> list[str]:
    """What makes a layout mean less than it says, in sentences. `threads` are those of one process."""
    said: list[str] = []
    if record.get("agrees") is False and record.get("disagreement"):
        said.append(
            f"threads were not where the layout put them ({record['disagreement']}): the program, its MPI "
            "or a runtime binds threads itself"
        )
    names = [str(path).rsplit("/", 1)[-1] for path in record.get("libraries") or []]
    runtimes = sorted({name.split(".so")[0] for name in names if name.startswith(_OPENMP)})
    if len(runtimes) > 1:
        said.append(
            f"two OpenMP runtimes are loaded ({', '.join(runtimes)}): one may bind the initial thread, and "
            "threads of the other then inherit its one core"
        )
    by_process: dict[int, int] = {}
    for thread in computing(record):
        by_process[thread["pid"]] = by_process.get(thread["pid"], 0) + 1
    most = max(by_process.values(), default=0)
    if most > threads:
        said.append(
            f"{most} threads of a process computed, the layout gives it {threads}: it does not take its "
            "number of threads from OMP_NUM_THREADS"
        )
    return said
