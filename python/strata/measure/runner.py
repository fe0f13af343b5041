"""One launch at a time: starts `strata launch`, waits without disturbing it, and reads what it left.

Everything that could outlive this process hangs on the lifeline: the launcher holds the reading end of a pipe
whose only writing end is here. However this process ends (also by SIGKILL), the kernel closes the pipe and
the launcher ends its tree.
"""

from __future__ import annotations

import math
import os
import re
import resource
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from strata import documents
from strata.errors import FAILED, StrataError, why
from strata.measure.failure_reason import reason_line
from strata.measure.files import check_space, remove_tree, storage_error
from strata.measure.plan import RESULT, Pattern, Task
from strata.measure.quiet import busy_seconds

_TICK_S = 0.5  # the most often that progress may be drawn while a program is measured
_STOP_S = 5.0  # the launcher needs well below a second to end its tree; after this it is killed itself
_TAIL = 2000  # bytes of a failed program's output that are kept
_SEARCHED = 16 << 20  # bytes at the end of its output in which figures are looked for


@dataclass(frozen=True)
class Launched:
    """What one launch left: the launcher's record, the program's result, and why it failed if it did."""

    record: dict[str, Any] | None
    result: dict[str, Any] | None
    failed: str | None
    system: dict[str, Any] = field(
        default_factory=dict
    )  # what others did on all our CPUs meanwhile, seen from here


class Runner(Protocol):
    """Anything that can launch a task once. The engine knows no more of launching than this."""

    def run(self, task: Task, tick: Callable[[], None]) -> Launched: ...


@dataclass
class LaunchRunner:
    """Runs tasks through `strata launch --record`."""

    front: Sequence[str]  # how to start strata, e.g. ["/opt/strata/bin/strata"]
    programs: Mapping[str, Path]  # what {strata-bench} and the like stand for
    results: Path
    lock_fd: int | None = None
    # How a task's whole output is read that names one: its text as figures and curves of a result.
    readers: Mapping[str, Callable[[str], dict[str, Any]]] = field(default_factory=dict)

    def argv(self, task: Task, work: Path) -> list[str]:
        """The whole command line; also what the report shows as 'how to reproduce'."""
        command = expand(task.command, self.programs, work / "result.json")
        placed = ["--layout", task.layout, "--stride", str(task.stride), "--bind", task.bind]
        watched = ["--record", str(work / "record.json"), "--timeout", f"{task.timeout_s:g}"]
        return [*self.front, "launch", *placed, *task.options, *watched, "--", *command]

    def run(self, task: Task, tick: Callable[[], None]) -> Launched:
        check_space(self.results)
        work = self.results / "work" / str(os.getpid())
        try:
            if work.exists():
                remove_tree(work)
            work.mkdir(parents=True)
        except OSError as error:
            raise storage_error(error, work) from error
        try:
            launched = self._launch(task, work, tick)
        finally:
            remove_tree(work)
        if launched.failed:
            check_space(self.results)  # a program that met a full disk fails in ways of its own
        return launched

    def _launch(self, task: Task, work: Path, tick: Callable[[], None]) -> Launched:
        output = os.memfd_create("strata-output", os.MFD_CLOEXEC)  # a file would be left behind by a kill
        try:
            cpus = os.sched_getaffinity(0)
            busy, own, started = busy_seconds(cpus), _own_seconds(), time.monotonic()
            status = self._supervise(self.argv(task, work), task.environment, output, tick)
            wall = time.monotonic() - started
            system = _others(cpus, busy, own, wall)
            launched = read_back(task, work, status, _tail(output), system)
            return self._searched(task, launched, output)
        finally:
            os.close(output)

    def _searched(self, task: Task, launched: Launched, output: int) -> Launched:
        """The launch with the figures that its output holds; failed, in words, where one is not there."""
        if launched.failed or not (task.patterns or task.output):
            return launched
        if launched.record is None or launched.record.get("timed_out"):
            return launched
        text = _tail(output, _SEARCHED)
        result = dict(launched.result or {})
        if task.output:
            try:
                result = {**self.readers[task.output](text), **result}
            except StrataError as error:
                return replace(launched, failed=f"{error.message}: {error.given}")
        found, missing = find_figures(task.patterns, text)
        if missing:
            last = text.splitlines()[-1][:200] if text else "nothing"
            return replace(launched, failed=f"{missing}; its output ends with: {last}")
        result["figures"] = [*(result.get("figures") or []), *found]
        return replace(launched, result=result)

    def _supervise(
        self, argv: list[str], own: Mapping[str, str], output: int, tick: Callable[[], None]
    ) -> int:
        theirs, ours = os.pipe()  # both close-on-exec; only the reading end is passed on
        passed = [theirs] + ([self.lock_fd] if self.lock_fd is not None else [])
        environment = {**os.environ, **own, "STRATA_LIFELINE_FD": str(theirs)}
        try:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, pass_fds=passed
            )
        except OSError as error:
            os.close(ours)
            raise StrataError(
                f"cannot start the launcher: {why(error)}",
                at=argv[0],
                remedy="`strata doctor` says what is missing",
                code=FAILED,
            ) from None
        finally:
            os.close(theirs)
        try:
            wait(process, tick)
        except BaseException:
            os.close(ours)
            _end(process)
            raise
        os.close(ours)
        return process.returncode


def wait(process: subprocess.Popen[bytes], tick: Callable[[], None]) -> None:
    """Blocks until the process ends; tick() is called at most twice a second."""
    pidfd = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        while not poll.poll(_TICK_S * 1000):
            tick()
    finally:
        os.close(pidfd)
    process.wait()


def _end(process: subprocess.Popen[bytes]) -> None:
    """The lifeline is closed: the launcher is ending its tree. Give it time, then insist."""
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def expand(command: Sequence[str], programs: Mapping[str, Path], result: Path) -> list[str]:
    """The command with its placeholders filled in."""
    words = []
    for word in command:
        for name, path in programs.items():
            word = word.replace("{" + name + "}", str(path))
        words.append(word.replace(RESULT, str(result)))
    return words


def _own_seconds() -> float:
    """CPU used by this process and by all children that it has waited for, and theirs."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usage)


def _others(cpus: set[int], busy: float | None, own: float, wall: float) -> dict[str, Any]:
    """CPUs' worth of work that others did on all CPUs we may use, those beside the run included: it shares
    caches and memory with them.
    """
    now = busy_seconds(cpus)
    if busy is None or now is None or wall <= 0:
        return {}
    others = max(0.0, now - busy - (_own_seconds() - own))
    return {"others_s": round(others, 4), "cpus": len(cpus), "wall_s": round(wall, 4)}


def _tail(output: int, most: int = _TAIL) -> str:
    size = os.fstat(output).st_size
    text = os.pread(output, most, max(0, size - most)).decode(errors="replace")
    return text.strip()


def find_figures(patterns: Sequence[Pattern], text: str) -> tuple[list[dict[str, Any]], str | None]:
    """The last match of each pattern as a figure, and in words what was not found."""
    found = []
    for wanted in patterns:
        matches = re.findall(wanted.pattern, text, re.MULTILINE)
        if not matches:
            return found, f"nothing in its output matches the figure `{wanted.name}`: {wanted.pattern}"
        try:
            value = float(matches[-1])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            return found, f"the figure `{wanted.name}` is no number: {matches[-1]!r}"
        found.append({"name": wanted.name, "value": value, "unit": wanted.unit, "better": wanted.better})
    return found, None


def read_back(task: Task, work: Path, status: int, said: str, system: dict[str, Any]) -> Launched:
    """Record and result of a launch that has ended, and in words why it counts as failed, if it does."""
    record, result = _load(work / "record.json"), _load(work / "result.json")
    last = reason_line(said)
    if record is None:
        return Launched(
            None, None, f"the launcher left no record (exit {status}): {said or 'it printed nothing'}", system
        )
    if record.get("timed_out"):
        return Launched(record, None, None, system)
    if result is not None and result.get("verified") is False:
        return Launched(record, result, unverified(result.get("verification") or {}), system)
    if status != 0:
        how = f"signal {record['signal']}" if record.get("signal") else f"exit code {status}"
        return Launched(record, None, f"{how}: {last}", system)
    if task.leaves_result and result is None:
        return Launched(record, None, f"it ended well but left no result: {last}", system)
    return Launched(record, result, None, system)


def unverified(verification: Mapping[str, Any]) -> str:
    """What did not verify, the value and its limit."""
    what = verification.get("what") or "the answer"
    return f"verification failed: {what}: {verification.get('value')}, allowed {verification.get('limit')}"


def _load(path: Path) -> dict[str, Any] | None:
    try:
        value = documents.from_json(path.read_text())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
