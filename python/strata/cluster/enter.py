"""Runs a program on a node."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from strata.cluster import groups, system
from strata.cluster.ask import ask

_PASSED = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}


def run(name: str, node: str, words: Sequence[str]) -> int:
    """A program on a node, with this process's files and terminal. It ends with this process, and gets the
    signals that other processes send to it. Returns its exit status, 128 + N after signal N.
    """
    answer, descriptors = ask(name, {"do": "enter", "node": node})
    here = Path.cwd()
    for group in answer["groups"]:
        with contextlib.suppress(OSError):  # a limit, not a promise
            groups.join(Path(group))
    system.enter(descriptors[0], system.NODE | (system.NEWUSER if answer["uid"] != 0 else 0))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED | {signal.SIGCHLD})

    def inside() -> None:
        system.die_with_parent()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _become(answer, here, list(words))

    child = system.fork(inside)
    while True:
        came = signal.sigwaitinfo(_PASSED | {signal.SIGCHLD})
        if came.si_signo == signal.SIGCHLD:
            pid, ended = os.waitpid(child, os.WNOHANG)
            if pid == child:
                code = os.waitstatus_to_exitcode(ended)
                return code if code >= 0 else 128 - code
        elif came.si_code <= 0:  # from a process: a terminal's signals reach the program by themselves
            os.kill(child, came.si_signo)


def _become(answer: dict[str, Any], here: Path, words: list[str]) -> NoReturn:
    if answer["uid"] != 0:
        system.unshare(system.NEWUSER)
        system.map_user(answer["uid"], answer["gid"], 0, 0)
    for folder in (here, Path.home(), Path("/")):  # the node may not see the first
        with contextlib.suppress(OSError):
            os.chdir(folder)
            break
    try:
        os.execvpe(words[0], words, _environment(answer["environment"]))
    except OSError as error:
        os.write(2, f"strata: error: {words[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _environment(clusters: dict[str, str]) -> dict[str, str]:
    """This process's own, with what leads to the cluster's Slurm; without what it has of a job of another."""
    dropped = ["OMPI_COMM_", "PMI_", "PMIX_", "TMPDIR"] + ["SLURM_"] * ("SLURM_JOB_ID" in os.environ)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(tuple(dropped))}
    leading = ("SLURM_CONF", "PATH", "LD_LIBRARY_PATH")
    return kept | {key: clusters[key] for key in leading if key in clusters}
