"""Logs of outages in a temporary folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("scipy", reason="SciPy is not installed")

from strata.centre.outages.categories import Categories
from strata.centre.outages.forms import read
from strata.centre.outages.history import System, histories
from strata.centre.outages.log import Log

HEAD = "system,parts,start,end,category,note\n"


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., Log]:
    """A log of the rows given, below HEAD unless they begin with a header of their own."""

    def made(rows: str, form: str | None = None, name: str = "log.csv", zone: str = "UTC") -> Log:
        path = tmp_path / name
        path.write_text(rows if form or rows.startswith(("system", "{", "#")) else HEAD + rows)
        return read([path], form, Categories(), zone, None)

    return made


@pytest.fixture
def system(log: Callable[..., Log]) -> Callable[..., System]:
    """The one system of such a log."""

    def made(rows: str, **given: str) -> System:
        (one,) = histories(log(rows, **given), Categories())
        return one

    return made
