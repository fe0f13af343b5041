from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import sample


@pytest.fixture(scope="session")
def quick_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python whose environments are copies of one: 0.1 s instead of 4 s of a processor for each set-up."""
    folder, real = tmp_path_factory.mktemp("python"), os.path.realpath(sys.executable)
    subprocess.run([real, "-m", "venv", str(folder / "made")], check=True)
    python = folder / "python3"
    made = shlex.quote(str(folder / "made"))
    words = f'[ "$1 $2 $3" = "-P -m venv" ] && [ $# = 4 ] && exec cp -a {made} "$4"'
    python.write_text(f'#!/bin/sh\n{words}\nexec {shlex.quote(real)} "$@"\n')
    python.chmod(0o755)
    return python


@pytest.fixture
def checkout(tmp_path: Path, quick_python: Path) -> sample.Checkout:
    """A checkout in which nothing was set up."""
    return sample.make(tmp_path / "a checkout", quick_python)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory, quick_python: Path) -> sample.Checkout:
    """A checkout that was set up, for tests that only use it; its path has spaces."""
    made = sample.make(tmp_path_factory.mktemp("ready") / "my own  checkout", quick_python)
    done = made.run()
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def somebody() -> Iterator[sample.Somebody]:
    with tempfile.TemporaryDirectory(prefix="strata-test-") as folder:
        yield sample.Somebody(Path(folder))


@pytest.fixture(scope="session")
def package_index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips where no package index can be reached: what comes from wheels cannot be tested there."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", "."]
    folder = tmp_path_factory.mktemp("index")
    if subprocess.run([*command, "ninja"], cwd=folder, capture_output=True, check=False).returncode != 0:
        pytest.skip("no package index can be reached")
