"""What tests of solvers share: the front, and running it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from solver_cases import solver_program

from strata.errors import StrataError

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def front() -> str:
    prefix = os.environ.get("STRATA_PREFIX")
    found = os.environ.get("STRATA_BIN") or (f"{prefix}/bin/strata" if prefix else str(ROOT / "strata"))
    if not os.access(found, os.X_OK):
        pytest.skip(f"no strata at {found}: build it, or set STRATA_BIN")
    if solver_program(found, "strata-transport") is None:
        pytest.skip("the solvers are not built (toml++)")
    return found


@pytest.fixture(scope="session")
def graphs() -> ModuleType:
    """strata.graph. Skips where its module was not built."""
    from strata import graph
    from strata.graph.native import module

    try:
        module()
    except StrataError as error:
        pytest.skip(f"{error.message} ({error.given})")
    return graph


@pytest.fixture
def run(front: str) -> Run:
    """`strata run CASE words...`; `layout`: where it is 1x1 by default. Fails where the run does."""

    def go(
        case: Path, *words: object, layout: str = "1x1", check: bool = True, **more: object
    ) -> subprocess.CompletedProcess[str]:
        command = [front, "run", case, "--layout", layout, "--bind", "none", "--quiet", *words]
        more.setdefault("timeout", 120)
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
        if check:
            assert done.returncode == 0, done.stderr
        return done

    return go
