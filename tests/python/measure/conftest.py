"""Fixtures of the engine's tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parents[2] / "python"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from strata.measure import store  # noqa: E402
from strata.measure.plan import Plan  # noqa: E402


@pytest.fixture
def make_store(tmp_path: Path):
    """Opens a store for a plan in a folder of the test's own; a second call with the same name resumes it."""

    def make(plan: Plan, name: str = "results") -> store.Store:
        path = tmp_path / name
        if (path / "plan.json").exists():
            return store.resume(path, plan)
        return store.create(path, plan, {"schema": "strata.machine/1"}, {"schema": "strata.provenance/1"})

    return make
