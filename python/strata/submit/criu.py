"""CRIU, which writes processes to files and makes them again: its command line, and whether it works here.

https://criu.org. Options are those of `man criu` of 4.2.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from strata.errors import FAILED, StrataError

_BESIDE = ("/usr/local/sbin", "/usr/sbin", "/sbin")  # where packages put it; not on the PATH of all users
_RESTORE_S = 600.0  # a dump takes at most two minutes: a restore that takes so long hangs, which was seen
# Locks of files are the program's own on a node of its own. Control groups are the job's, not the program's.
# Files that were deleted while open are kept in the dump up to this size.
_BOTH = ("--file-locks", "--manage-cgroups=ignore", "--ghost-limit=1G")
_LOG = re.compile(r"^(?:\([\d.]+\) *)?(?:.*?: )?Error \(.*?\): (.*)$", re.MULTILINE)
_NOISE = ("RLIMIT_NOFILE", "exited, status", "Dumping FAILED", "Restoring FAILED")


@dataclass(frozen=True)
class Criu:
    """The program, and whether it is told that its user is not root."""

    program: str
    is_root: bool = True

    def _words(self, verb: str, folder: Path, *more: str) -> list[str]:
        rights = () if self.is_root else ("--unprivileged",)
        return [self.program, verb, *rights, "-D", str(folder), "-o", f"{verb}.log", *_BOTH, *more]

    def dump(self, root: int, folder: Path, prepare: Callable[[], None]) -> None:
        """Writes a process and all below it into the folder; they stay stopped. Where that fails they go on,
        and the error says why. `prepare` is called in the new process, before CRIU.
        """
        words = self._words("dump", folder, "-t", str(root), "--leave-stopped")
        done = subprocess.run(words, capture_output=True, text=True, preexec_fn=prepare)
        if done.returncode != 0:
            raise self._failed("CRIU could not dump the program, which goes on", done, folder / "dump.log")

    def restore(self, folder: Path, prepare: Callable[[], None]) -> None:
        """Makes the processes of a dump again, with their numbers; the first is a child of the caller's."""
        words = self._words("restore", folder, "--restore-detached", "--restore-sibling")
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, preexec_fn=prepare, timeout=_RESTORE_S
            )
        except subprocess.TimeoutExpired as hung:
            done = subprocess.CompletedProcess(hung.cmd, FAILED, "", f"no end after {_RESTORE_S:g} s")
        if done.returncode != 0:
            raise self._failed("CRIU could not restore the program", done, folder / "restore.log")

    def _failed(self, what: str, done: subprocess.CompletedProcess[str], log: Path) -> StrataError:
        why = _errors(log.read_text(errors="replace") if log.exists() else done.stderr)
        remedy = "https://criu.org/What_cannot_be_checkpointed"
        if any("File exists" in line for line in why) and not self.is_root:
            remedy = (
                "a number of its processes is taken on this node: submit the script again, or have root do so"
            )
        return StrataError(
            what,
            at=str(log),
            given="; ".join(why[:3]) or done.stderr.strip() or f"exit {done.returncode}",
            remedy=remedy,
            code=FAILED,
        )


def _errors(text: str) -> list[str]:
    """What went wrong, as CRIU's log or its standard error says; the first is the cause."""
    return [line for line in _LOG.findall(text) if not any(each in line for each in _NOISE)]


def find() -> Criu:
    """The one that works here, as `criu check` says; an error where there is none."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *_BESIDE))
    program = shutil.which("criu", path=path)
    if program is None:
        raise StrataError(
            "a program that is no run of Strata's goes on by CRIU, which is not here",
            at="--goes-on",
            given=f"no criu on PATH, nor in {', '.join(_BESIDE)}",
            allowed="CRIU 3.18 or newer, here and on the nodes; without it a run of Strata's",
            remedy="sudo apt-get install criu, or load its module; https://criu.org/Installation",
        )
    found = Criu(program, is_root=os.geteuid() == 0)
    words = [program, "check"] if found.is_root else [program, "check", "--unprivileged"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode == 0:
        return found
    why = _errors(done.stderr)[:1]
    why += [line.strip() for line in done.stdout.splitlines() if line.strip()]  # what its file lacks
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    raise StrataError(
        "CRIU does not work here",
        at=" ".join(words),
        given=f"{version}, Linux {platform.release()}: {'; '.join(why) or done.stderr.strip()}",
        allowed="where `criu check` passes; Linux 6.13 and newer need CRIU 4.1",
        remedy="a newer CRIU"
        if found.is_root
        else f"as root: setcap cap_checkpoint_restore,cap_setpcap+eip {program}",
    )
