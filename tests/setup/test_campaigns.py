"""The real checkout, set up the long way."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import sample

pytestmark = [pytest.mark.soak, pytest.mark.usefixtures("package_index")]


def test_everything_from_wheels_without_root_measures(somebody: sample.Somebody) -> None:
    """Every piece that PyPI has comes from there; then a rank of each layout runs under that MPI."""
    checkout = sample.Checkout(sample.snapshot(somebody.folder / "check out"))
    somebody.owns_all()
    del checkout.environment["STRATA_CMAKE_ARGS"]
    checkout.environment |= {
        "HOME": str(somebody.home),
        "STRATA_IGNORE_SYSTEM": "cmake ninja hwloc fmt mpi catch2",
        "STRATA_RESULTS": str(somebody.folder / "results"),
    }

    def strata(*arguments: str) -> str:
        # The first command builds Strata, the last its tests.
        done = checkout.run(*arguments, seconds=3600, prefix=somebody.prefix, cwd=checkout.root)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "processor" in strata("machine")
    assert "openmpi" in strata("doctor").lower() or "open mpi" in strata("doctor").lower()
    assert "pingpong" in strata("bench", "--list")
    strata("bench", "stream", "--layout", "1x1")
    strata("bench", "pingpong", "--layout", "2x1")
    tested = strata("test", "core")
    assert tested.splitlines()[-1].endswith("0 failed, 0 skipped")


@pytest.mark.skipif(os.geteuid() != 0, reason="the cross-compiler and QEMU come from apt")
def test_the_core_passes_its_unit_tests_on_aarch64(tmp_path: Path) -> None:
    command = ["bash", str(sample.ROOT / "setup" / "aarch64.sh"), str(tmp_path / "aarch64")]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("STRATA_")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "100% tests passed" in done.stdout
    header = (tmp_path / "aarch64" / "build" / "cli" / "strata").read_bytes()[:20]
    assert int.from_bytes(header[18:20], "little") == 183, "EM_AARCH64"


@pytest.mark.parametrize("check", ["address", "valgrind"])
def test_the_native_tests_pass_with_every_access_to_memory_checked(tmp_path: Path, check: str) -> None:
    """By sanitizers of addresses and undefined behaviour, and by valgrind, which sees what was never set."""
    if check == "valgrind" and shutil.which("valgrind") is None:
        pytest.skip("no valgrind")
    command = ["bash", str(sample.ROOT / "setup" / "sanitizers.sh"), str(tmp_path), check]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-8000:]
