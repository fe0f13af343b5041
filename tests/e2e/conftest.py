"""Folders and commands of a test's own; `as_typed.py` starts them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from as_typed import TINY, TOLERANT, Strata, wait_for_the_lock

from strata.measure import quiet


@pytest.fixture
def quiet_machine() -> None:
    """For claims about undisturbed answers: skips where somebody else keeps the machine busy for longer than
    a minute.
    """
    cpus = os.sched_getaffinity(0)
    quiet.wait_until_quiet(cpus, 60.0, lambda text: None)
    seen = quiet.look(cpus)
    if not seen.quiet:
        pytest.skip(f"the machine is not quiet: {seen.who or seen.busy_cpus}")


@pytest.fixture
def tolerant(tmp_path: Path) -> Path:
    """The tiny plan with limits that nothing breaks."""
    path = tmp_path / "tolerant.toml"
    path.write_text(TINY.read_text() + TOLERANT)
    return path


@pytest.fixture
def strata(tmp_path: Path) -> Iterator[Strata]:
    wait_for_the_lock()
    made = Strata(tmp_path)
    yield made
    for pid in made.processes():
        os.kill(pid, 9)
