"""The study of compilers builds four of the benchmarks from their sources, without the rest of Strata."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "cases" / "studies" / "programs" / "npb"


@pytest.mark.soak
@pytest.mark.skipif(
    shutil.which("cmake") is None or shutil.which("g++") is None, reason="no CMake, or no g++"
)
def test_four_of_them_are_built_alone_and_verify(tmp_path: Path) -> None:
    flags = ["-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_CXX_FLAGS=-O1"]
    for command in (["cmake", "-S", str(SOURCE), "-B", str(tmp_path), *flags],
                    ["cmake", "--build", str(tmp_path), "--parallel"]):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stdout + done.stderr
    for name in ("MG", "CG", "FT", "BT"):
        done = subprocess.run(
            [str(tmp_path / "strata-npb"), name, "--class", "S"],
            capture_output=True, text=True, timeout=120, env={**os.environ, "OMP_NUM_THREADS": "2"},
        )  # fmt: skip
        assert done.returncode == 0 and "SUCCESSFUL" in done.stdout, done.stdout + done.stderr
