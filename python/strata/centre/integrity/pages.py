"""Bad pages of memory, taken off line: the kernel moves what they hold and uses them no more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from strata.errors import StrataError

_FILE = "sys/devices/system/memory/soft_offline_page"


def check(root: Path) -> None:
    """Refuses before the pass what would fail after it."""
    path = root / _FILE
    if os.geteuid() != 0:
        raise StrataError(
            "only root takes pages off line",
            at="--offline-pages",
            remedy="sudo strata centre integrity ..., or leave the option out",
        )
    if not path.exists():
        raise StrataError(
            "this kernel takes no pages off line",
            at="--offline-pages",
            given=f"/{_FILE} is not there",
            allowed="a kernel with CONFIG_MEMORY_FAILURE",
        )


def bad_page(finding: dict[str, Any]) -> int | None:
    """The physical address of a word that was wrong on every core that looked: its memory is bad."""
    if finding.get("verdict") != "memory" or not isinstance(finding.get("physical"), str):
        return None
    return int(finding["physical"], 16)


def take_off_line(address: int, root: Path) -> str:
    """What became of it, in words."""
    try:
        (root / _FILE).write_text(f"{address:#x}\n")
    except OSError as error:
        return f"the page at {address:#x} could not be taken off line: {error.strerror}"
    return f"the page at {address:#x} was taken off line"
