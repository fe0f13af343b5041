"""`strata centre integrity`: a pass, its history, what is made of it. A notebook calls the same functions."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from strata import own_folders
from strata.advice.words import count
from strata.centre.integrity import known, pages, prometheus, units
from strata.centre.integrity.analysis import Analysis, analyse, described, document, reason
from strata.centre.integrity.history import Event, State, default_folder
from strata.centre.integrity.program import Program, find
from strata.centre.integrity.shown import Shown
from strata.errors import FAILED, StrataError
from strata.measure.files import write_atomically, write_json
from strata.measure.progress import seconds
from strata.measure.signals import Interrupted, stop_signals

_BOOT = "proc/sys/kernel/random/boot_id"
_SAVED_EVERY_S = 60.0
FOUND = 1


@dataclass(frozen=True)
class Request:
    """What the command line asked for. `words`: options that the native program reads."""

    words: tuple[str, ...] = ()
    time: str | None = None
    state: Path | None = None
    out: Path | None = None
    metrics: Path | None = None
    offline: bool = False
    json: bool = False
    root: Path = field(default=Path("/"))  # of the system's own counters

    @property
    def folder(self) -> Path:
        return self.state or default_folder()


def run(request: Request, command: str) -> int:
    """One pass, to its end or to a signal; then the report. 1 where something was found."""
    if request.time is not None:
        seconds(request.time, "--time")
    if request.offline:
        pages.check(request.root)
    own_folders.close_umask()
    program = find()
    state = State(request.folder)
    state.open()
    try:
        this = Pass(request, state)
        interrupted = this.go([str(program), *request.words])
        report(request, state, command, this.ended)
    finally:
        state.close()
    if this.code not in (0, FOUND):
        return this.code
    if this.findings:
        return FOUND
    return interrupted.exit_code if interrupted is not None and request.time is not None else 0


class Pass:
    """A pass under way: each event to the history, the screen, and the metrics."""

    def __init__(self, request: Request, state: State) -> None:
        self._request = request
        self._state = state
        self._shown = Shown(sys.stderr, None if request.time is None else seconds(request.time, "--time"))
        self._before = known.look(request.root).counters
        self._saved = 0.0
        self._of: Event = {
            "event": "run",
            "began": _now(),
            "host": platform.node(),
            "boot": _boot(request.root),
            "findings": 0,
            "sums": [],
            "yielded": [],
        }
        self.ended: Event = {}
        self.code = FAILED

    @property
    def findings(self) -> int:
        return int(self._of["findings"])

    def go(self, words: list[str]) -> Interrupted | None:
        every = "1s" if sys.stderr.isatty() else "10s"
        if self._request.time is not None:
            words += ["--time", self._request.time]
        program = Program([*words, "--progress", every])
        interrupted = None
        try:
            with stop_signals():
                try:
                    self._listen(program)
                except Interrupted as signal:
                    interrupted = signal
                    program.stop()
            if interrupted is not None:
                self._listen(program)
            self.code = program.wait()
        except BaseException:
            program.kill()
            raise
        finally:
            self._shown.end()
        if self._of.get("seed") is None:  # it refused to start, and said why
            self._state.discard()
            return interrupted
        complete = self.code in (0, FOUND)
        by = "signal" if interrupted else "itself" if complete else "lost"
        self.ended = {**self._of, "ended_by": by, "counters": self._counters()}
        self._state.end(self.ended)
        return interrupted

    def _listen(self, program: Program) -> None:
        for event in program.events():
            kind = event.get("event")
            if kind == "start":
                self._start(event)
            elif kind in ("progress", "end"):
                self._sums(event, last=kind == "end")
            elif kind in ("suspect", "finding"):
                self._found(event)
            elif kind in ("killed", "given up"):
                self._state.append({**event, "run": self._of["began"], "time": _now()})
            self._shown.event(event)

    def _start(self, event: Event) -> None:
        taken = ("version", "mode", "seed", "memory", "cores", "kernels", "left_out")
        self._of.update({name: event[name] for name in taken if name in event})
        self._save()

    def _sums(self, event: Event, last: bool) -> None:
        self._of.update({name: event[name] for name in ("seconds", "rounds", "findings", "sums", "yielded")})
        self._of["ended"] = _now()
        if last or time.monotonic() - self._saved >= _SAVED_EVERY_S:
            self._save()

    def _save(self) -> None:
        self._saved = time.monotonic()
        self._state.snapshot(self._of)
        if self._request.metrics is not None:
            history = self._state.load()
            history.events.append(self._of)
            now = known.look(self._request.root).counters
            prometheus.write(self._request.metrics, analyse(history), now, time.time())

    def _found(self, event: Event) -> None:
        kept = {**event, "run": self._of["began"], "time": _now(), "counters": self._counters()}
        if event["event"] == "finding":
            address = pages.bad_page(event) if self._request.offline else None
            if address is not None:
                kept["offline"] = pages.take_off_line(address, self._request.root)
            self._shown.say(f"FOUND {described(event)}")
            if "offline" in kept:
                self._shown.say(kept["offline"])
        self._state.append(kept)
        if event["event"] == "finding":
            self._of["findings"] = max(int(self._of["findings"]), int(event.get("id") or 1))
            tell_drain(self._request.folder, analyse(self._state.load()))

    def _counters(self) -> dict[str, int]:
        """What the system's own counters rose by since the pass began."""
        return known.increases(self._before, known.look(self._request.root).counters)


def report(request: Request, state: State, command: str, ended: Event) -> None:
    """The report's files, the metrics, and the line for the health check; says where it is."""
    whole = analyse(state.load())
    if not whole.passes:
        return
    system = known.look(request.root)
    tell_drain(request.folder, whole)
    if request.metrics is not None:
        prometheus.write(request.metrics, whole, system.counters, time.time())
    data = document(whole, platform.node())
    if request.json:
        json.dump(data, sys.stdout, indent=1)
        print()
        return
    from strata.centre.integrity import page
    from strata.report.build import write

    out = request.out or request.folder
    if out.exists() and not out.is_dir():
        raise StrataError("not a folder", at="--out", given=str(out), allowed="a folder, also a new one")
    if os.geteuid() == 0:
        own_folders.need(out, "reports of root's", "--out names a folder of root's")
    path = write(page.document(whole, system, platform.node(), command), out)
    write_json(out / "integrity.json", data)
    if ended:
        rounds, cores = ended.get("rounds", 0), len(ended.get("cores", []))
        found = count(ended["findings"], "wrong answer") if ended["findings"] else "no wrong answer"
        if rounds:
            print(f"{count(rounds, 'round')} of tests on {count(cores, 'core')}: {found}")
        else:
            print(f"nothing was tested on {count(cores, 'core')}: others used them all the time")
    if (why := reason(whole)) is not None:
        print(f"no jobs should run here: {why}")
    print(f"report: {path}")


def show(request: Request, command: str) -> int:
    """The report of all passes so far, without another one. 1 where no jobs should run here."""
    state = State(request.folder)
    whole = analyse(state.load())
    if not whole.passes and not whole.findings:
        raise StrataError(
            "nothing was tested yet",
            at=str(request.folder),
            remedy="strata centre integrity --time 10m, or --state names another folder",
        )
    report(request, state, command, {})
    return FOUND if reason(whole) is not None else 0


def check(request: Request) -> int:
    """For health checks: the reason why no jobs should run here, and 1; else 0 and silence."""
    why = reason(analyse(State(request.folder).load()))
    if why is not None:
        print(why)
    return 0 if why is None else FOUND


def clear(request: Request) -> int:
    """After a repair: findings until now stay in the history, and no longer speak against the machine."""
    own_folders.close_umask()
    state = State(request.folder)
    state.open()
    try:
        seen_to = len(analyse(state.load()).open)
        state.append({"event": "cleared", "time": _now(), "findings": seen_to})
        tell_drain(request.folder, analyse(state.load()))
    finally:
        state.close()
    print(f"cleared: {count(seen_to, 'finding')}; the history keeps them")
    return 0


def tell_drain(folder: Path, whole: Analysis) -> None:
    """The file that the health check of a batch system looks for."""
    path = folder / units.DRAIN
    why = reason(whole)
    if why is None:
        path.unlink(missing_ok=True)
    else:
        write_atomically(path, why + "\n")


def write_units(request: Request, folder: Path, strata: str, memory: str | None) -> int:
    """Files that start passes of these options, one after another."""
    options = [*request.words, "--time", request.time or "55m"]
    if request.metrics is not None:
        options += ["--prometheus", str(request.metrics.absolute())]
    if request.offline:
        options.append("--offline-pages")
    # What the program, its workers and the interpreter need beside the memory under test.
    limit = "50%" if memory is None else f"{(size_of(memory) >> 20) + 512}M"
    for path in units.write(folder.absolute(), strata, request.folder.absolute(), options, limit):
        print(path)
    return 0


def size_of(text: str) -> int:
    """'64M', '1GiB' in bytes."""
    match = re.fullmatch(r"(\d+)\s*([KMGT]?)(?:iB|B)?", text.strip())
    if match is None or int(match[1]) == 0:
        raise StrataError("not a size", at="--memory", given=text, allowed="for example 64MiB or 2G")
    return int(match[1]) << " KMGT".index(match[2] or " ") * 10


def _boot(root: Path) -> str:
    try:
        return (root / _BOOT).read_text().strip()
    except OSError:
        return ""


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + "Z"
