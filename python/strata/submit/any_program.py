"""A job that goes on after its time is over and is no run of Strata's: what is refused, the script's line."""

from __future__ import annotations

from pathlib import Path

from strata.errors import StrataError
from strata.submit import criu
from strata.submit.batch import WARNING_S
from strata.submit.keeper import OUTPUT

# These start processes that are no descendants of theirs, perhaps on other nodes.
_STARTERS = ("srun", "aprun", "jsrun", "ibrun", "mpirun", "mpiexec", "orterun", "prterun", "mpiexec.hydra")


def check(words: tuple[str, ...], known: str | None, layout: str | None, nodes: int, starter: str) -> None:
    """Refuses what cannot be dumped; `known` is a command of Strata's. CRIU must work where this is asked."""
    if known is not None:
        raise StrataError(
            "only a run and a program go on by themselves",
            at="--goes-on",
            given=known,
            allowed="strata submit --goes-on -- run CASE, or -- ./program",
            remedy="--layout PxT is submit's: strata submit --goes-on --layout 1x4 -- ./program"
            if known == "launch"
            else "leave out --goes-on: a script that is submitted again goes on where it was",
        )
    if nodes > 1:
        raise _refusal(f"--nodes {nodes}")
    if layout is not None and not layout.startswith("1x"):
        threads = layout.partition("x")[2]
        raise _refusal(f"--layout {layout}", f"--layout 1x{threads}, if the program starts others by itself")
    if Path(words[0]).name in _STARTERS:
        raise _refusal(words[0])
    if starter:
        raise _refusal(f"this site starts programs by: {starter}")
    criu.find()


def _refusal(given: str, remedy: str | None = None) -> StrataError:
    return StrataError(
        "messages between processes that were started apart cannot be dumped",
        at="--goes-on",
        given=given,
        allowed="a program on one node: one process, its threads, and processes that it starts itself",
        remedy=remedy or "leave out --goes-on, and restart from checkpoints of the program's own",
    )


def command(strata: str, folder: str, words: tuple[str, ...], time: str | None) -> tuple[str, ...]:
    """The line that starts the program, or goes on from its dump. `words` launch it; `time` is what the job
    asks for again where it may get less.
    """
    return (strata, "go-on", *(() if time is None else ("--time", time)), folder, "--", *words)


def reasons(folder: str) -> tuple[str, ...]:
    """What the line does, as comments of the script."""
    return (
        f"Slurm sends SIGUSR1 {WARNING_S} s before the job's time is over. Then CRIU dumps the program into",
        f"{folder}, and the job is queued again; its next start restores it.",
        f"The program prints to {OUTPUT} there.",
    )
