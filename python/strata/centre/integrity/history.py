"""What is kept from pass to pass: a bounded file of events, and a snapshot of the pass under way."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strata import documents, own_folders
from strata.errors import FAILED, StrataError, why
from strata.measure.files import storage_error, write_atomically, write_json

SCHEMA = "strata.integrity/1"
LIMIT_BYTES = 4 << 20
FINDINGS_KEPT = 2000
Event = dict[str, Any]


@dataclass
class History:
    """Events in the order in which they were written. `damaged`: lines that could not be read."""

    events: list[Event] = field(default_factory=list)
    damaged: int = 0

    def of(self, kind: str) -> list[Event]:
        return [e for e in self.events if e["event"] == kind]


def default_folder() -> Path:
    """/var/lib for root; else as the XDG base directory specification says."""
    if os.geteuid() == 0:
        return Path("/var/lib/strata/integrity")
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "strata" / "integrity"


class State:
    """The folder of a machine's history. Each event is on the disk before the next one is waited for."""

    def __init__(self, folder: Path, limit: int = LIMIT_BYTES) -> None:
        self.folder = folder
        self._limit = limit
        self._file = folder / "history.jsonl"
        self._running = folder / "running.json"
        self._lock: int | None = None

    def open(self) -> None:
        """Makes the folder, takes it for this process, and folds in a pass that did not end."""
        import fcntl

        try:
            own_folders.make(self.folder)
            self._need()
            self._lock = own_folders.to_lock(self.folder / "lock")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StrataError(
                "another pass keeps its history here",
                at=str(self.folder),
                remedy="wait until it has ended, or name another folder by --state",
                code=FAILED,
            ) from None
        except OSError as error:
            raise StrataError(
                f"cannot keep the history: {why(error)}",
                at=str(self.folder),
                remedy="--state FOLDER names a folder that can be written",
            ) from None
        lost = self.running()
        if lost is not None:
            self.append({**lost, "ended_by": "lost"})
        self._running.unlink(missing_ok=True)

    def _need(self) -> None:
        """What others could write would drain a node, and be opened by root."""
        own_folders.need(self.folder, "findings", "--state FOLDER names a folder of your own")

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def append(self, event: Mapping[str, Any]) -> None:
        """After this the event is on the disk."""
        line = json.dumps(event, allow_nan=False) + "\n"
        try:
            torn = self._file.exists() and not _ends_a_line(self._file)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            with open(own_folders.opened(self._file, flags), "a", encoding="utf-8") as file:  # noqa: PTH123
                file.write(("\n" if torn else "") + line)
                file.flush()
                os.fsync(file.fileno())
            if self._file.stat().st_size > self._limit:
                self._fold()
        except OSError as error:
            raise storage_error(error, self._file) from error

    def snapshot(self, run: Mapping[str, Any]) -> None:
        """The pass as it stands: all that is left of it where the machine goes down."""
        write_json(self._running, {**run, "schema": SCHEMA})

    def end(self, run: Mapping[str, Any]) -> None:
        self.append(run)
        self._running.unlink(missing_ok=True)

    def discard(self) -> None:
        """The pass did not begin."""
        self._running.unlink(missing_ok=True)

    def running(self) -> Event | None:
        try:
            found = documents.from_json(self._running.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) and found.get("event") == "run" else None

    def load(self) -> History:
        """All events; a line that a power cut tore is left out and counted."""
        found = History()
        self._need()
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return found
        except OSError as error:
            raise StrataError(
                f"cannot read the history: {why(error)}",
                at=str(self._file),
                remedy="--state FOLDER names another one",
                code=FAILED,
            ) from None
        for line in filter(None, lines):
            try:
                event = documents.from_json(line)
            except ValueError:
                event = None
            if _is_event(event):
                found.events.append(event)
            else:
                found.damaged += 1
        return found

    def _fold(self) -> None:
        """Half of the room is free again: old passes become one sum, of findings the newest stay."""
        events = self.load().events
        findings = [e for e in events if e["event"] in ("finding", "suspect", "cleared")][-FINDINGS_KEPT:]
        runs = [e for e in events if e["event"] in ("run", "folded")]
        room = self._limit // 2 - sum(len(json.dumps(e)) for e in findings)
        kept: list[Event] = []
        while runs and room > len(json.dumps(runs[-1])):
            kept.append(runs.pop())
            room -= len(json.dumps(kept[-1]))
        old = [folded(runs)] if runs else []
        text = "".join(json.dumps(e) + "\n" for e in (*old, *findings, *reversed(kept)))
        write_atomically(self._file, text)


_TABLES = {"sums": ("core", "kernel", "unit"), "yielded": ("core",)}  # of a pass, and what names a row


def _is_event(event: Any) -> bool:
    """Whether a line is an event; of a pass also that its tables can be added up."""
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        return False
    if event["event"] not in ("run", "folded"):
        return True
    return type(event.get("passes", 1)) is int and all(
        isinstance(rows := event.get(table, []), list)
        and all(isinstance(row, dict) and _is_row(row, keys) for row in rows)
        for table, keys in _TABLES.items()
    )


def _is_row(row: Event, keys: tuple[str, ...]) -> bool:
    return all(
        type(v) in (int, float) or (k in keys and (v is None or isinstance(v, str))) for k, v in row.items()
    )


def folded(runs: Iterable[Event]) -> Event:
    """Many passes as one event: their sums stay, their dates do not."""
    every = list(runs)
    return {
        "event": "folded",
        "began": every[0].get("began"),
        "ended": every[-1].get("ended"),
        "passes": sum(e.get("passes", 1) for e in every),
        "sums": added(e.get("sums", []) for e in every),
        "yielded": added_by(("core",), (e.get("yielded", []) for e in every)),
    }


def added(tables: Iterable[Iterable[Event]]) -> list[Event]:
    """Rounds, seconds and work by core and kernel."""
    return added_by(("core", "kernel", "unit"), tables)


def added_by(keys: tuple[str, ...], tables: Iterable[Iterable[Event]]) -> list[Event]:
    sums: dict[tuple[Any, ...], Event] = {}
    for table in tables:
        for row in table:
            key = tuple(row.get(k) for k in keys)
            total = sums.setdefault(key, dict(zip(keys, key, strict=True)))
            for name, value in row.items():
                if name not in keys:
                    total[name] = total.get(name, 0) + value
    return list(sums.values())


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
