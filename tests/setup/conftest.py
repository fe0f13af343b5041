from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import sample


@pytest.fixture
def checkout(tmp_path: Path) -> sample.Checkout:
    """A checkout in which nothing was set up."""
    return sample.make(tmp_path / "a checkout")


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> sample.Checkout:
    """A checkout that was set up, for tests that only use it; its path has spaces."""
    made = sample.make(tmp_path_factory.mktemp("ready") / "my own  checkout")
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
