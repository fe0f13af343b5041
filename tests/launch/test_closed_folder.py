"""A front in a folder that is closed to its user, such as one of root's, does what needs none of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tested_build import strata


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_a_closed_folder_is_no_error(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    front = shutil.copy(strata(), closed / "strata")
    # setpriv leaves root's right to start it until then.
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", front, "launch", "--", "echo", "up"],
        env=os.environ | {"STRATA_ROOT": str(closed)},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "up\n"), done.stderr
