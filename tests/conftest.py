"""What all tests in Python share: which of them go to one worker, and signals as a terminal has them."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

# Tests that share what is costly to start, or that would wait for each other: one measurement at a time runs
# on a host. The other files each go to whichever worker is free.
TOGETHER = {"numa": "virtual machine", "e2e": "measurements"}
# Those that take longest, first: what is left at the end is short, and no worker waits for the other.
FIRST = ("numa", "e2e", "setup", "npb", "team", "launch")


def pytest_configure() -> None:
    """What a test starts inherits whether signals are ignored, and `nohup` and a shell's `&` ignore some."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _folder(item: pytest.Item) -> str:
    parts = item.path.relative_to(HERE).parts if item.path.is_relative_to(HERE) else ()
    return parts[0] if len(parts) > 1 else ""


@pytest.hookimpl(tryfirst=True)  # before the workers look for groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Groups and order for `--dist loadgroup`; without workers only the order counts. What needs a quiet
    machine is for a run of its own, when the others have ended.
    """
    for item in items:
        if "quiet_machine" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.alone)
        item.add_marker(pytest.mark.xdist_group(TOGETHER.get(_folder(item), item.path.name)))
    rank = {folder: i for i, folder in enumerate(FIRST)}
    items.sort(key=lambda item: rank.get(_folder(item), len(FIRST)))
