"""`strata go-on`: a program that goes on in the next start of its job, by dumps of CRIU's.

It takes the place of the job's shell: Slurm signals it, and its status is the job's. As root the program has
a PID namespace of its own: the numbers of its processes, which CRIU gives them again, are free on every node,
and with the namespace's first process all others end.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from strata import own_folders
from strata.cluster import system
from strata.errors import FAILED, StrataError, why
from strata.measure.files import storage_error
from strata.submit import criu, dumps, processes
from strata.submit.criu import Criu
from strata.submit.dumps import Dumps, Record

OUTPUT = "program.out"
_PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR2, signal.SIGCONT)
_TAKEN = {signal.SIGCHLD, signal.SIGUSR1, *_PASSED_ON}
_FIRST = 1000  # numbers of the program's processes begin here; those below are for us and for CRIU


def run(folder: Path, words: Sequence[str], time: str | None = None) -> int:
    """Starts the program, or goes on from its last dump; its exit status (128 and more: a signal's). `time`:
    what the job asks for again where Slurm may have given it less.
    """
    if not words:
        raise StrataError(
            "no program is named", at="strata go-on", allowed="strata go-on FOLDER -- ./program"
        )
    found = criu.find()
    folder = folder.absolute()
    try:
        own_folders.make_results(folder)
    except OSError as error:
        raise storage_error(error, folder) from error
    kept = Dumps(folder)
    signal.pthread_sigmask(signal.SIG_BLOCK, _TAKEN)
    if not found.is_root:
        return _guarded(kept, found, words, time)
    try:
        system.unshare(system.NEWPID)  # of children
    except OSError as error:
        raise StrataError(
            "root may not make a PID namespace here, in which the program would run",
            given=error.strerror or str(error),
            remedy="start it as another user, or with the capability CAP_SYS_ADMIN",
            code=FAILED,
        ) from error
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        os._exit(_first(kept, found, words, time))
    return _wait(pid, lambda: os.kill(pid, signal.SIGUSR1))


def _first(kept: Dumps, found: Criu, words: Sequence[str], time: str | None) -> int:
    """As the first process of the namespace."""
    status = FAILED
    try:
        system.die_with_parent()
        system.unshare(system.NEWNS)
        system.private_mounts()
        system.mount("proc", "/proc")
        if kept.newest() is None:
            Path("/proc/sys/kernel/ns_last_pid").write_text(str(_FIRST))
        status = _guarded(kept, found, words, time)
    except StrataError as error:
        sys.stderr.write(f"{error}\n")
        status = error.code
    except BaseException:  # the frames above are not this process's
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def _guarded(kept: Dumps, found: Criu, words: Sequence[str], time: str | None) -> int:
    """Starts or restores, dumps when told, and clears up."""
    system.adopt_orphans()
    dump = kept.newest()
    root = _start(kept.folder, words) if dump is None else _restore(dump, found)
    told: list[int] = []  # the status to end with, after a dump

    def in_time() -> None:
        try:
            whole = kept.add(lambda new: _dump(root, new, found))
        except StrataError as error:
            sys.stderr.write(f"{error}\n")
            processes.signal_below(root, signal.SIGCONT)
            return
        _say(f"dumped the program: {whole}")
        processes.signal_below(root, signal.SIGKILL)
        told.append(_queue_again(time))

    status = _wait(root, in_time)
    if told:
        return told[0]
    if status == 0:
        kept.remove()
    elif (last := kept.newest()) is not None:
        _say(f"the program ended with status {status}; the same job would go on from its last dump, {last}")
    return status


def _start(folder: Path, words: Sequence[str]) -> int:
    """The program, in a session of its own, without a terminal; nobody else writes to its output."""
    with (folder / OUTPUT).open("ab") as output:
        try:
            started = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=_as_usual,
            )
        except OSError as error:
            raise StrataError(
                "the program cannot be started",
                at=words[0],
                given=why(error),
                allowed="a program that this node can run, by its whole path or on PATH",
                code=FAILED,
            ) from error
    _say(f"started the program; it prints to {folder / OUTPUT}")
    pid = started.pid
    started.returncode = 0  # _wait() collects it
    return pid


def _restore(dump: Path, found: Criu) -> int:
    record = dumps.read(dump)
    for line in dumps.as_it_was(dump, record.files):
        _say(line)
    was_used = (dump / dumps.USED).exists()
    dumps.mark(dump, True)
    try:
        found.restore(dump, _as_usual)
    except StrataError:
        dumps.mark(dump, was_used)
        for half_made in processes.children(os.getpid()):
            processes.signal_below(half_made, signal.SIGKILL)
        raise
    processes.bind(record.threads, record.cpus, sorted(os.sched_getaffinity(0)))
    _say(f"the program goes on from {dump}")
    return record.root


def _dump(root: int, new: Path, found: Criu) -> Record:
    strays = [pid for pid in processes.children(os.getpid()) if pid != root]
    if strays:
        raise StrataError(
            "the program could not be dumped and goes on: processes of it have left their parents",
            given=", ".join(map(processes.name, strays)),
            allowed="processes that descend from the program's first one, which waits for them",
            code=FAILED,
        )
    found.dump(root, new, _as_usual)
    tree = processes.below(root)
    return Record(root, processes.written(tree), processes.threads(tree), sorted(os.sched_getaffinity(0)))


def _queue_again(time: str | None) -> int:
    """Has Slurm start the job once more, with its whole time; outside a job a person does."""
    job, scontrol = os.environ.get("SLURM_JOB_ID"), shutil.which("scontrol")
    if job is None or scontrol is None:
        _say("not in a job of Slurm's: the same command goes on from there")
        return os.EX_TEMPFAIL
    done = subprocess.run([scontrol, "requeue", job], capture_output=True, text=True, preexec_fn=_as_usual)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        _say("the job could not be queued again: submit its script, which goes on from the dump")
    elif time is not None:  # Slurm leaves a job with the time that it got, and ends this one meanwhile
        subprocess.run(
            [scontrol, "update", f"JobId={job}", f"TimeLimit={time}"], preexec_fn=_past_the_end, check=False
        )
    return done.returncode


def _wait(pid: int, in_time: Callable[[], None]) -> int:
    """Waits for a child, passes signals on to it, and collects orphans; its status as a shell has it."""
    while True:
        told = signal.sigwait(_TAKEN)
        if told == signal.SIGUSR1:
            in_time()
        elif told in _PASSED_ON:
            os.kill(pid, told)
        while True:  # also after others: a SIGCHLD stands for all that came at once
            try:
                ended, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                ended = 0
            if ended == pid:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
            if ended == 0:
                break


def _as_usual() -> None:
    """In a new process: it hears all signals, and ends when this one does."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    system.die_with_parent()


def _past_the_end() -> None:
    """In a new process: as usual, but a job that ends does not end it."""
    _as_usual()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _say(line: str) -> None:
    print(f"strata: {line}", flush=True)
