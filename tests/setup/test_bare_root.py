"""Both commands of the README in a Debian that has next to nothing, made for the test: what a new user sees.

Each root is a folder that mmdebstrap fills, entered by chroot in namespaces of its own. It sees this
machine's network, by the settings that apt and pip have here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import sample

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes another root"),
    pytest.mark.skipif(shutil.which("mmdebstrap") is None, reason="mmdebstrap is not installed"),
]

COMPILER = "g++,cmake,ninja-build"
# name, Debian, packages beside the base and git, by which the checkout came, user
ROOTS = [
    ("no compiler and a python3 without venv", "bookworm", "python3", "root"),
    ("a compiler and no MPI", "bookworm", f"python3,python3-venv,{COMPILER}", "root"),
    ("without root", "bookworm", f"python3,python3-venv,{COMPILER}", "somebody"),
    ("no compiler, Debian 13", "trixie", "python3", "root"),
]
# Inside: devices and processes are the machine's, mounts and control groups its own view of them. The root is
# a mount, as a machine's is, so that programs may have views of their own. Shared memory is its own too:
# whose a file there is, says a process that only its own machine sees.
ENTER = """
mount --rbind "$0" "$0" || exit
mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" || exit
mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm" || exit
exec chroot "$0" "$@"
"""


@dataclass
class Root:
    folder: Path
    user: str

    def run(self, *words: str, seconds: float) -> subprocess.CompletedProcess[str]:
        """A command in the checkout, as this user types it."""
        kept = ("LANG", "PIP_INDEX_URL", "PIP_PROXY", "PIP_CERT", "PIP_TRUSTED_HOST", "SSL_CERT_FILE")
        settings = [f"{k}={v}" for k, v in os.environ.items() if k in kept or k.lower().endswith("_proxy")]
        home = "/root" if self.user == "root" else f"/home/{self.user}"
        path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        other = (
            ()
            if self.user == "root"
            else ("setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--init-groups")
        )
        inside = [
            "env",
            "-i",
            path,
            f"HOME={home}",
            *settings,
            *other,
            "sh",
            "-c",
            'cd "$HOME/strata" && exec "$@"',
            "sh",
        ]
        spaces = [
            "setpriv",
            "--pdeathsig=KILL",
            "unshare",
            "--mount",
            "--pid",
            "--ipc",
            "--fork",
            "--kill-child",
            "sh",
            "-c",
            ENTER,
            str(self.folder),
        ]
        return subprocess.run(
            [*spaces, *inside, *words], capture_output=True, text=True, check=False, timeout=seconds
        )


@pytest.fixture(scope="module", params=ROOTS, ids=[each[0] for each in ROOTS])
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    _, debian, packages, user = request.param
    folder = tmp_path_factory.mktemp("root")
    folder.chmod(0o755)
    made = subprocess.run(
        ["mmdebstrap", "--variant=apt", f"--include=ca-certificates,git,{packages}", debian, str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        pytest.skip(f"no root of {debian} can be made here: {made.stderr[-500:]}")
    for name in ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf"):
        if Path(name).exists():
            shutil.copy(name, folder / name[1:])
    for settings in (Path("/etc/apt/apt.conf.d"), Path("/usr/local/share/ca-certificates")):
        if settings.is_dir():
            shutil.copytree(settings, folder / str(settings)[1:], dirs_exist_ok=True)
    subprocess.run(["chroot", str(folder), "update-ca-certificates"], capture_output=True, check=False)
    if user != "root":
        subprocess.run(["chroot", str(folder), "useradd", "--create-home", user], check=True)
    home = folder / ("root" if user == "root" else f"home/{user}")
    pip = Path.home() / ".config" / "pip"
    if pip.is_dir():
        shutil.copytree(pip, home / ".config" / "pip")
    checkout = sample.snapshot(home / "strata")
    author = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    for words in (("init", "-q"), ("add", "-A"), (*author, "commit", "-qm", "all of it")):
        subprocess.run(["git", *words], cwd=checkout, check=True)
    subprocess.run(
        ["chroot", str(folder), "chown", "-R", f"{user}:", str(Path("/", home.relative_to(folder)))],
        check=True,
    )
    yield Root(folder, user)
    shutil.rmtree(folder, ignore_errors=True)


def test_the_first_command_measures_and_ends_well(root: Root) -> None:
    done = root.run("./strata", "characterize", seconds=3600)
    print(done.stdout[-3000:], done.stderr[-3000:])
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.search(r"ready after (\d+ min )?\d+ s", done.stderr)
    assert re.search(r"^measured:   [1-9]\d* of \d+ settings", done.stdout, re.M)
    last = done.stdout.splitlines()[-1]
    report = re.search(r"report: +(/\S+)", last)
    assert report and (root.folder / report[1][1:]).is_file()


def test_the_second_command_passes_all_tests(root: Root) -> None:
    done = root.run("./strata", "test", seconds=3 * 3600)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-3000:]
    assert re.match(r"\d+ passed, 0 failed, \d+ skipped", done.stdout.splitlines()[-1])
