"""Set-up on a machine without a network, from what was downloaded on another."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sample


def without_network() -> tuple[str, ...]:
    """Words before a command that take the network away from it, where this user may."""
    words = ("unshare", "--net") if shutil.which("unshare") else ()
    allowed = words and subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    return words if allowed else ()


@pytest.mark.usefixtures("package_index")
def test_a_machine_without_a_network_is_set_up_from_downloads(
    checkout: sample.Checkout, tmp_path: Path
) -> None:
    folder = tmp_path / "down loads"
    downloaded = checkout.run("setup", "--download", str(folder))
    assert downloaded.returncode == 0, downloaded.stderr
    assert "./strata setup --from FOLDER" in downloaded.stderr.splitlines()[-1]
    assert checkout.builds() == [], "nothing was built"

    other = {"STRATA_IGNORE_SYSTEM": "cmake ninja hwloc fmt", "PIP_INDEX_URL": "http://127.0.0.1:9/"}
    done = checkout.run("setup", "--from", str(folder), prefix=without_network(), **other)
    assert done.returncode == 0, done.stderr
    found = sample.facts(checkout.run(prefix=without_network(), **other))
    libraries = subprocess.run(["ldd", found["exe"]], capture_output=True, text=True, check=True).stdout
    assert str(checkout.root) in next(line for line in libraries.splitlines() if "libhwloc" in line)
    parts = Path(found["exe"]).parents[1] / "share" / "strata" / "parts"
    table = (sample.ROOT / "setup" / "parts.csv").read_text().splitlines()[1:]
    assert parts.read_text().split() == [line.split(",")[0] for line in table], (
        "all parts: none can come later"
    )


def test_downloads_for_another_machine_are_refused(checkout: sample.Checkout, tmp_path: Path) -> None:
    nothing = checkout.run("setup", "--from", str(tmp_path))
    assert nothing.returncode == 1
    assert "this is no folder of downloads" in nothing.stderr
    (tmp_path / "made-for").write_text("Python 2.7, pdp11\n")
    other = checkout.run("setup", "--from", str(tmp_path))
    assert other.returncode == 1
    assert "made for Python 2.7, pdp11" in other.stderr
    assert f"allowed: Python 3.{sys.version_info[1]}" in other.stderr
    assert "STRATA_BASE_PYTHON" in other.stderr.splitlines()[-1]
