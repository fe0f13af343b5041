"""The native program: started, read line by line, ended."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from strata import documents, paths
from strata.centre.integrity.history import Event
from strata.errors import FAILED, StrataError

NAME = "strata-integrity"


def find() -> Path:
    """Where it is. Raises StrataError where this build has none."""
    for front in paths.fronts():
        paths.need_programs(front, [NAME])
        if (path := paths.sibling(front.resolve(), NAME)) is not None:
            return path
    raise StrataError(
        "the program that tests processors was not found",
        given=NAME,
        remedy="start this through `./strata`, which builds it; `strata doctor` says what is missing",
        code=FAILED,
    )


class Program:
    """A pass under way. Its standard error is that of this process: warnings go where ours go."""

    def __init__(self, words: Sequence[str]) -> None:
        # A group of its own: Ctrl-C comes to this process alone, which then ends the program.
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, process_group=0)

    def events(self) -> Iterator[Event]:
        """What it says, until it has ended."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                event = documents.from_json(line)
            except ValueError:
                raise StrataError(
                    f"the program {NAME} printed what Strata does not understand",
                    at=NAME,
                    given=line[:200],
                    allowed="a line of JSON for each event",
                    remedy="build it again: ./strata setup; it must be of this version of Strata",
                    code=FAILED,
                ) from None
            yield event

    def stop(self) -> None:
        """It says its sums and ends; what it says then is still to be read."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def wait(self) -> int:
        return self._process.wait()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
