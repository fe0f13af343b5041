"""Signals to processes whose numbers were read from /proc or a file: by now a number may be another's."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable


def signal_process(pid: int, number: signal.Signals, still: Callable[[], bool]) -> bool:
    """Sends a signal to the process that has this number, if `still` finds, looking once more, that it is the
    one that is meant. The process is held meanwhile: whoever gets its number after that look is not
    signalled. Whether it was sent. core/machine/signal_process.hpp is the same.
    """
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        return _by_number(pid, number, still)
    try:
        if not still():
            return False
        signal.pidfd_send_signal(process, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(process)
    return True


def _by_number(pid: int, number: signal.Signals, still: Callable[[], bool]) -> bool:
    """Before Linux 5.3."""
    try:
        if not still():
            return False
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True
