"""What the command line of `strata submit` asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Request:
    """What the command line asked for."""

    words: tuple[str, ...]  # a command of Strata's without `strata`, or a program with its arguments
    layout: str | None = None  # of a program, or handed to a command that takes one
    nodes: int = 1
    partition: str | None = None
    time_s: float | None = None
    time_min_s: float | None = None
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    reservation: str | None = None
    switches: str | None = None
    first_node_memory: int | None = None  # bytes
    array: str | None = None
    goes_on: bool = False  # what is queued again when its time is over
    site: Path | None = None
    dry_run: bool = False
    argv: tuple[str, ...] = ()
