"""What kind of program a command is: from its file, the launcher around it, and its first launch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strata.errors import StrataError
from strata.front import ask

_COMPUTES = 0.25  # of the busiest thread's CPU time: less is a helper
OPENMP = ("libgomp", "libomp.", "libomp5", "libomp-", "libiomp5", "libnvomp", "libcraymp")
_THREADED_BLAS = ("blas", "libmkl", "libblis")  # obey the same variables


@dataclass(frozen=True)
class Kind:
    """serial, openmp, mpi, hybrid or forking, and how that is known."""

    name: str
    why: str


def linked(front: str, command: Sequence[str]) -> dict[str, Any]:
    """What the program's file says of itself: `program` of strata.placement/1.

    Where the command is an MPI launcher with a program behind it, the program's, with `starter` ("Open MPI's
    mpirun"), `starts` (its words) and `processes` (how many it was told to start; None: the layout decides).
    Always with `command`, the words of the program itself. Raises StrataError.
    """
    document = _dry_run(front, command)
    program = dict(document["program"])
    words = list(document["start_command"])
    if "--as-rank" not in words or program.get("mpi"):
        return {**program, "command": list(command)}
    inner = words[words.index("--", words.index("--as-rank")) + 1 :]
    own = command[: len(command) - len(inner)]
    return {
        **_dry_run(front, inner)["program"],
        "command": inner,
        "starter": str(document["start"]).split(",")[0],
        "starts": list(own),
        "processes": len(document["processes"]) if _counted(own) else None,
    }


def _counted(words: Sequence[str]) -> bool:
    """Whether an MPI launcher's own words say how many processes it starts."""
    names = ("-n", "-np", "--n", "--np", "-c", "--ntasks", "-N")
    return any(w.split("=")[0] in names or (w[:2] == "-n" and w[2:].isdigit()) for w in words[1:])


def _dry_run(front: str, command: Sequence[str]) -> dict[str, Any]:
    # Not held: more processes than cores are an answer here, not an error.
    try:
        said = ask(front, ["launch", "--bind", "none", "--dry-run", "--json", "--", *command])
    except StrataError as error:
        raise StrataError(
            f"the command cannot be launched: {error.message}",
            at=error.at,
            given=error.given,
            allowed=error.allowed,
            remedy=error.remedy,
            code=error.code,
        ) from None
    return dict(json.loads(said))


def computing(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The threads of a record that do the work."""
    threads = record.get("threads") or []
    most = max((t["cpu_s"] for t in threads), default=0.0)
    return [t for t in threads if t["cpu_s"] >= max(_COMPUTES * most, 0.01)]


def kind_of(program: Mapping[str, Any], record: Mapping[str, Any]) -> Kind:
    """From what the program links and from what its first launch, on all cores, did."""
    libraries = [str(path).rsplit("/", 1)[-1] for path in record.get("libraries") or []]
    openmp = program.get("openmp") or next((name for name in libraries if name.startswith(OPENMP)), "")
    if program.get("mpi") or program.get("starter"):
        found = f"links {program['mpi']}" if program.get("mpi") else f"started by {program['starter']}"
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
