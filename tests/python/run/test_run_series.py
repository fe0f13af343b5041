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


def test_names_with_commas_are_quoted(tmp_path: Path) -> None:
    (tmp_path / "series.csv").write_text(
        'step,time [s],"lift, of ""wing"" [N]",drag [N],"flux [x, y] [kg/s]"\n0,0,1,2,3\n'
    )
    found = series.read(tmp_path)
    assert found['lift, of "wing"'].tolist() == [1] and found["drag"].tolist() == [2]
    assert found["flux [x, y]"].tolist() == [3]
    assert found.units['lift, of "wing"'] == "N" and found.units["flux [x, y]"] == "kg/s"


@pytest.mark.parametrize("head", ["", '"step,time [s],a', "step," + 200_000 * "a", '"step"",time [s]'])
def test_a_header_that_is_none_is_refused(tmp_path: Path, head: str) -> None:
    (tmp_path / "series.csv").write_text(head + "\n0,0,1\n")
    with pytest.raises(StrataError, match="not a time series"):
        series.read(tmp_path)


def test_a_damaged_series_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "series.csv").write_text("step,time [s],a\n0,0,1\n1,0.1\n")
    with pytest.raises(StrataError) as error:
        series.read(tmp_path)
    assert str(error.value.at).endswith("series.csv:3")
    (tmp_path / "series.csv").write_text("a,b\n")
    with pytest.raises(StrataError, match="not a time series"):
        series.read(tmp_path)
