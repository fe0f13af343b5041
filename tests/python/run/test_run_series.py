"""series.csv of a run, as arrays."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata.errors import StrataError
from strata.run import series


def test_a_series_is_read_with_its_units(tmp_path: Path) -> None:
    (tmp_path / "series.csv").write_text(
        "step,time [tau],total energy [epsilon],n\n0,0,-1.5,3\n10,0.05,-1.25,4\n20,0.1,-1."
    )
    found = series.read(tmp_path)
    assert found["step"].tolist() == [0, 10] and found["total energy"].tolist() == [-1.5, -1.25]
    assert found.units == {"step": "", "time": "tau", "total energy": "epsilon", "n": ""}
    with pytest.raises(StrataError, match="no such column"):
        found["heat"]


def test_a_damaged_series_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "series.csv").write_text("step,time [s],a\n0,0,1\n1,0.1\n")
    with pytest.raises(StrataError) as error:
        series.read(tmp_path)
    assert str(error.value.at).endswith("series.csv:3")
    (tmp_path / "series.csv").write_text("a,b\n")
    with pytest.raises(StrataError, match="not a time series"):
        series.read(tmp_path)
