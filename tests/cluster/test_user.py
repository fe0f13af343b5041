"""Clusters of users who are not root, by namespaces of users."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_box import ROOT, Cluster

BECOME = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
IMPORT = "import sys; assert sys.version_info >= (3, 11); import strata.cluster.start"


def another_user() -> list[str]:
    """Python as nobody, where nobody may read it and the checkout."""
    if os.getuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become another user")
    for python in filter(None, [shutil.which("python3", path="/usr/bin"), shutil.which("python3")]):
        words = [*BECOME, python]
        environment = {"PYTHONPATH": str(ROOT / "python"), "PATH": os.environ["PATH"]}
        if (
            subprocess.run(
                [*words, "-c", IMPORT], env=environment, capture_output=True, check=False
            ).returncode
            == 0
        ):
            return words
    pytest.skip("nobody may read this checkout, or a Python 3.11")


@pytest.fixture
def reachable(own: Cluster) -> Iterator[Cluster]:
    """With a folder below one that everybody may enter: that of a test run is its user's alone."""
    kept = own.folder
    with tempfile.TemporaryDirectory(prefix="cluster-", dir="/tmp") as folder:
        own.folder = Path(folder)
        os.chown(folder, 65534, 65534)
        yield own
        own.end()
        own.folder = kept
        Path(folder).mkdir(exist_ok=True)  # for whoever removes it next


def test_a_folder_that_may_not_be_entered_is_one_error(own: Cluster) -> None:
    own.python = another_user()
    own.folder.chmod(0o700)
    own.folder /= "below"
    refused = own.do("up", "--nodes", 1)
    assert refused.returncode == 1 and "strata: error: no folder for a cluster" in refused.stderr
    own.folder = own.folder.parent


def test_a_user_who_is_not_root_is_himself_on_all_nodes_and_leaves_nothing(reachable: Cluster) -> None:
    own = reachable
    own.python = another_user()
    made = own.do("up", "--nodes", 2, "--link", "1gbit")
    if "namespaces" in made.stderr:
        pytest.skip(made.stderr)
    assert made.returncode == 0, made.stderr
    done = own.on("login", "srun", "-N", 2, "sh", "-c", "echo $(hostname) $(id -u)")
    assert sorted(done.stdout.splitlines()) == ["n1 65534", "n2 65534"], done.stderr
    assert own.do("cut", "n1").returncode == 0
    assert own.do("mend", "n1").returncode == 0
    assert own.do("kill", "n2").returncode == 0
    assert own.do("start", "n2").returncode == 0
    assert own.on("n2", "hostname").stdout == "n2\n"
    assert own.do("down").returncode == 0
    assert own.gone(), own.left()
