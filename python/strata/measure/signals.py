"""Ctrl-C, a batch system's SIGTERM and a closed terminal all mean: stop now, keep what there is."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """Raised in the main thread by the first stop signal; not an Exception, so that no handler for errors
    swallows it.
    """

    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.signum = signum

    @property
    def exit_code(self) -> int:
        return 128 + self.signum


def _interrupt(signum: int, _frame: FrameType | None) -> None:
    # Later signals are ignored: the end is prompt and bounded, and a second exception inside it would leave
    # things behind.
    for other in _STOP:
        signal.signal(other, signal.SIG_IGN)
    raise Interrupted(signum)


@contextmanager
def stop_signals() -> Iterator[None]:
    """Turns stop signals into Interrupted. A signal that was ignored on entry (nohup) stays ignored."""
    before = {number: signal.getsignal(number) for number in _STOP}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
