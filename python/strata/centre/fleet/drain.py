"""Suspects taken out of service: `scontrol update`, printed, or performed where that was asked for."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Sequence

from strata.centre.fleet.analysis import Suspect
from strata.errors import FAILED, StrataError

SHARE = 0.05  # of the fleet that may be drained without being asked for
_LONGEST = 180  # characters of a reason


def words(suspect: Suspect) -> list[str]:
    """The command."""
    reason = f"strata: {'; '.join(suspect.reasons)}".replace("'s", "")  # without quotes in quotes
    short = reason if len(reason) <= _LONGEST else reason[: _LONGEST - 3] + "..."
    return ["scontrol", "update", f"nodename={suspect.name}", "state=drain", f"reason={short}"]


def line(suspect: Suspect) -> str:
    """The command for a shell."""
    return shlex.join(words(suspect))


def perform(suspects: Sequence[Suspect], nodes: int, most: int | None) -> None:
    """Drains them. Raises StrataError, before any is drained, for more than `most` (default: one, or SHARE of
    all nodes), and where Slurm refuses one.
    """
    allowed = max(1, int(SHARE * nodes)) if most is None else most
    if len(suspects) > allowed:
        raise StrataError(
            "so many nodes are not drained at once",
            at="--drain-now",
            given=f"{len(suspects)} suspects of {nodes} nodes",
            allowed=f"{allowed}",
            remedy="look at the report first, then --drain-most N",
            code=FAILED,
        )
    scontrol = shutil.which("scontrol")
    if suspects and scontrol is None:
        raise StrataError(
            "no scontrol on PATH",
            at="--drain-now",
            remedy="load the cluster's Slurm module; --drain prints the lines",
        )
    for suspect in suspects:
        done = subprocess.run([str(scontrol), *words(suspect)[1:]], capture_output=True, text=True)
        if done.returncode != 0:
            raise StrataError(
                "Slurm does not drain the node",
                at=suspect.name,
                given=done.stderr.strip() or done.stdout.strip() or f"exit {done.returncode}",
                remedy="an operator of Slurm may (sacctmgr show user withassoc)",
                code=FAILED,
            )
