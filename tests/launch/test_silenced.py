"""Ranks of one launcher that find the same fault say it once. Another user silences none of them."""

from __future__ import annotations

import os
import socket
import subprocess

import pytest
from launching import Launcher, allowed_cores

NOBODY = 65534
ANOTHERS = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}  # a rank that mpirun has started


def said(launcher: Launcher) -> str:
    """What a rank says that is bound against its layout, and whose launcher is this process."""
    pus = sorted(os.sched_getaffinity(0))
    words = ["taskset", "-c", str(pus[1]), *launcher.command("--layout", "2x1", program=["true"])]
    environment = {**os.environ, **ANOTHERS}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment, timeout=60)
    assert done.returncode == 2
    return done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(allowed_cores() < 2, reason="needs two cores")
@pytest.mark.parametrize("who", ["nobody else", "another user", "another user who listens", "a rank"])
def test_a_name_that_another_user_holds_silences_no_rank(launcher: Launcher, who: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as holder:
        if who.startswith("another user"):
            os.seteuid(NOBODY)
        try:
            if who != "nobody else":
                holder.bind(f"\0strata-said-{os.getuid()}-{os.getpid()}")
                if who != "another user":
                    holder.listen()
        finally:
            os.seteuid(0)
        text = said(launcher)
    assert ("contradicts the layout" in text) == (who != "a rank"), text
