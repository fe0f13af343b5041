"""Cases with keys changed, solvers over several nodes, and what the files of a run hold."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tested_build import solver_program as solver_program

ROOT_OF_SOLVERS = Path(__file__).resolve().parents[2] / "solvers"
CASES = Path(__file__).resolve().parents[2] / "cases" / "transport"
MD_CASES = CASES.parent / "md"
MPM_CASES = CASES.parent / "mpm"
FLOW_CASES = CASES.parent / "flow"
# Parts of small cases that several tests write.
SOFT = """[[materials]]
law = "neo-hookean"
density = 1000.0
young = 1e5
poisson = 0.3
"""


def crystal(temperature: float) -> str:
    """256 atoms, up to the first line of [pair]."""
    return f'solver = "md"\n[system]\ncells = [4, 4, 4]\ndensity = 0.8\ntemperature = {temperature}\n[pair]\n'


def changed(tmp_path: Path, name: str, add: str = "", cases: Path = CASES, **changes: str) -> Path:
    """A case of ours with keys changed: `key="value"` for the first line of that key; `add` at its end."""
    text = (cases / f"{name}.toml").read_text()
    for key, value in changes.items():
        text, found = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}", text, count=1)
        assert found == 1, key
    path = tmp_path / f"{name}.toml"
    path.write_text(text + add)
    return path


def over_nodes(
    ranks: int, per_node: int, *program: object, says: str = ""
) -> subprocess.CompletedProcess[str]:
    """A program under mpirun, on one machine that plays nodes of `per_node` ranks each. Skips where mpirun is
    not there or is that of another MPI. `says`: what one team of so many processes prints."""
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("there is no mpirun")
    command = [mpirun, "-n", str(ranks), *map(str, program)]
    if b"Open MPI" in subprocess.run([mpirun, "--version"], capture_output=True, check=False).stdout:
        command.insert(1, "--oversubscribe")
    environment = os.environ | {
        "STRATA_RANKS_PER_NODE": str(per_node),
        "STRATA_BIND": "none",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    if (says or f"{ranks} processes") not in done.stdout:
        pytest.skip(f"this mpirun does not start the program as one team: {done.stderr[:200]}")
    assert done.returncode == 0, done.stderr
    return done


def checksums(folder: Path) -> dict[tuple[str, int, int], str]:
    """(label, patch, generation) -> checksum, of a checkpoint's values, whichever process wrote them."""
    labels = [label["name"] for label in json.loads((folder / "checkpoint.json").read_text())["labels"]]
    found = {}
    for index in folder.glob("part-*.index"):
        for line in index.read_text().splitlines():
            chunk = json.loads(line)
            if "label" in chunk:
                found[labels[chunk["label"]], chunk["patch"], chunk["generation"]] = chunk["crc32c"]
    return found


def steps_in(folder: Path, pattern: str) -> list[int]:
    """The numbers at the end of the names in a folder that fit a pattern."""
    return sorted(int(re.search(r"(\d+)(\.\w+)?$", path.name)[1]) for path in folder.glob(pattern))


def plane(checkpoint: Path, label: str, cells: tuple[int, int], patch: tuple[int, int]) -> np.ndarray:
    """A label of f64 on the cells of a periodic plane, [y, x], put together from a checkpoint's patches."""
    labels = [each["name"] for each in json.loads((checkpoint / "checkpoint.json").read_text())["labels"]]
    whole = np.full((cells[1], cells[0]), np.nan)
    across = cells[0] // patch[0]
    for index in checkpoint.glob("part-*.index"):
        data = index.with_suffix(".data").read_bytes()
        for chunk in map(json.loads, index.read_text().splitlines()):
            if "label" not in chunk or labels[chunk["label"]] != label or chunk["generation"] != 0:
                continue
            values = np.frombuffer(data, np.float64, chunk["count"], chunk["offset"])
            x, y = chunk["patch"] % across * patch[0], chunk["patch"] // across * patch[1]
            whole[y : y + patch[1], x : x + patch[0]] = values.reshape(patch[1], patch[0])
    assert not np.isnan(whole).any()
    return whole
