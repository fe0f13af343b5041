"""The command under test and a way to run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from other_tools import ROOT, Run


@pytest.fixture(scope="session")
def binary() -> Path:
    prefix = os.environ.get("STRATA_PREFIX")
    built = Path(prefix, "bin", "strata") if prefix else ROOT / "strata"
    path = Path(os.environ.get("STRATA_BIN") or built)
    if not os.access(path, os.X_OK):
        pytest.skip(f"no strata at {path}: build it, or set STRATA_BIN")
    return path


@pytest.fixture
def strata(binary: Path, tmp_path: Path) -> Run:
    """`strata WORDS...` with this checkout's Python side; what it prints, and how it ended."""

    def run(*words: str | Path, **more: object) -> subprocess.CompletedProcess[str]:
        environment = dict(os.environ, STRATA_PYTHON=sys.executable, PYTHONPATH=str(ROOT / "python"))
        options: dict[str, object] = {"env": environment, "cwd": tmp_path, "timeout": 300, **more}
        return subprocess.run(
            [str(binary), *map(str, words)], capture_output=True, text=True, check=False, **options
        )  # type: ignore[call-overload]

    return run
