"""A reader of a node counts ranks of its own user: another user's process may carry the mark of the run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tested_build import strata

AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
MARK = "strata-0-77-88"  # the numbers of a launcher's process, which everybody can read


def listens_to_sigterm(pid: int) -> bool:
    caught = Path(f"/proc/{pid}/status").read_text().partition("SigCgt:")[2].split()[0]
    return bool(int(caught, 16) & 1 << signal.SIGTERM - 1)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_a_strangers_process_is_no_rank_of_roots_run() -> None:
    marked = os.environ | {"STRATA_RUN": MARK, "STRATA_RANK": "0", "SLURM_LOCALID": "0"}
    waits = ["sh", "-c", "echo; exec cat"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": marked}
    with (
        subprocess.Popen([*AS_NOBODY, *waits], **pipes) as stranger,
        subprocess.Popen(waits, **pipes) as rank,
    ):
        stranger.stdout.readline()
        rank.stdout.readline()
        words = [strata(), "launch", "--layout", "1x1", "--read-node", MARK, "--", "cat"]
        reader = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        while reader.poll() is None and not listens_to_sigterm(reader.pid):
            time.sleep(0.01)
        reader.terminate()  # it says what it has seen; the ranks that it counts it has seen first
        said = reader.communicate(timeout=60)[0]
        for each in (rank, stranger):
            each.stdin.close()
    reading = json.loads(said)
    assert reading["processes"] == 1 and {each["pid"] for each in reading["threads"]} <= {rank.pid}
