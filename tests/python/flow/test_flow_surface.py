"""Walls of runs, recorded curves, and the report of both."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from strata.errors import StrataError
from strata.flow import command, surface

HEAD = "x,y,z,cp,cfx,cfy,cfz,yplus,zone,i,j,k\n"
CURVES = """# NASA
variables="x","cp"
zone, t="upper"
 0.0 1.0
 0.5 -0.5
 1.0 0.25
zone, t="lower"
 0.0 1.0
 1.0 0.25
"""


def made_run(folder: Path) -> Path:
    folder.mkdir()
    rows = "".join(
        f"{x},0.1,0,{0.3 * x - 1},{0.004 * s},0.003,0,1.5,1,{n},1,1\n"
        for n, (x, s) in enumerate([(0.1, 1), (0.5, 1), (0.9, -1)])
    )
    (folder / "surface-000020.csv").write_text(HEAD)
    (folder / "surface-000100.csv").write_text(HEAD + rows)
    series = "step,time [iterations],residual,residual nu,lift,drag,moment\n"
    series += "".join(f"{n},{n},{10.0**-n},{0.1},{1 - 0.5**n},{0.01},0\n" for n in range(20))
    (folder / "series.csv").write_text(series)
    (folder / "result.json").write_text(json.dumps({"figures": [{"name": "lift coefficient", "value": 1.0}]}))
    return folder


def test_the_last_surface_of_a_run_is_read(tmp_path: Path) -> None:
    found = surface.newest(made_run(tmp_path / "run"))
    assert found.step == 100 and len(found["x"]) == 3
    assert found.cf == pytest.approx([0.005] * 3)
    assert found.at(0.3, found["cp"]) == pytest.approx(0.3 * 0.3 - 1)


def test_damaged_and_foreign_surfaces_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "surface-000001.csv"
    path.write_text(HEAD + "1,2,3\n")
    with pytest.raises(StrataError) as error:
        surface.read(path)
    assert str(error.value.at).endswith(":2")
    path.write_text("a,b\n1,2\n")
    with pytest.raises(StrataError, match="not a surface"):
        surface.read(path)
    with pytest.raises(StrataError, match="no surfaces"):
        surface.newest(tmp_path / "nothing")


def test_curves_of_nasa_are_read_by_zone(tmp_path: Path) -> None:
    with lzma.open(tmp_path / "a.dat.xz", "wt") as file:
        file.write(CURVES)
    (tmp_path / "a.dat").write_text(CURVES)
    for name in ("a.dat", "a.dat.xz"):
        found = surface.recorded(tmp_path / name)
        assert [curve.name for curve in found] == ["upper", "lower"]
        assert found[0].quantity == "cp" and np.allclose(found[0].values, [1, -0.5, 0.25])
    (tmp_path / "b.dat").write_text(CURVES.replace("0.5 -0.5", "0.5 -0.5 7"))
    with pytest.raises(StrataError) as error:
        surface.recorded(tmp_path / "b.dat")
    assert str(error.value.at).endswith("b.dat:5")
    (tmp_path / "c.dat").write_text('variables="a","b"\n1 2\n')
    with pytest.raises(StrataError, match="no curves"):
        surface.recorded(tmp_path / "c.dat")


def test_a_report_has_the_run_beside_the_curves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = made_run(tmp_path / "run")
    (tmp_path / "a.dat").write_text(CURVES)
    assert command.show(run, [tmp_path / "a.dat"], "upp", None, "strata flow show run") == 0
    page = (run / "report" / "report.html").read_text()
    assert ">upper<" in page and ">this run<" in page and ">lower<" not in page
    assert (run / "report" / "figures" / "cp.svg").exists()
    assert "Cl = 0.999998" in capsys.readouterr().out
    with pytest.raises(StrataError, match="no finished run"):
        command.show(tmp_path, [], "", None, "")
    with pytest.raises(StrataError, match="no recorded curve"):
        command.show(run, [tmp_path / "a.dat"], "alpha=10", None, "")
    (run / "result.json").write_text('{"benchmark": "transport"}')
    with pytest.raises(StrataError, match="not a run of compressible flow"):
        command.show(run, [], "", None, "")
