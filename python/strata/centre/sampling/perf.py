"""Hardware counters of whole processors by perf_event_open: floating-point operations and memory traffic.

Operations: Intel's FP_ARITH_INST_RETIRED (event 0xC7), whose bits of the mask are vectors of 1 to 16 numbers
(Intel SDM, volume 3B), and AMD's retired SSE/AVX FLOPs (event 0x03, mask 0x0F; Processor Programming
Reference of family 17h). A multiply-add counts as two on both. Memory traffic: the reads and writes of the
memory controllers, as far as the kernel has them as uncore_imc devices. Where the kernel has fewer counters
than events it counts in turn; sums are scaled by the time.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from strata.advice.samples import cpulist
from strata.errors import StrataError

_RAW, _SOFTWARE = 4, 1
_SYSCALL = {"x86_64": 298, "aarch64": 241}
_CGROUP = 4  # PERF_FLAG_PID_CGROUP
_TIMES = 3  # PERF_FORMAT_TOTAL_TIME_ENABLED, _RUNNING
_COUNT = struct.Struct("<QQQ")
_ATTRIBUTES = struct.Struct("<IIQQQQQIIQ")
_SIZE = 112


@dataclass(frozen=True)
class Event:
    """A counter, and what one count of it is worth."""

    type: int
    config: int
    worth: float = 1.0
    cpus: tuple[int, ...] | None = None  # where it is counted; None: on each


def operations(root: Path = Path("/")) -> list[Event]:
    """Events whose sum is the floating-point operations of this kind of processor; none where it has none."""
    try:
        about = (root / "proc/cpuinfo").read_text()
    except OSError:
        return []
    if "GenuineIntel" in about:
        masks = {0x03: 1, 0x04: 2, 0x18: 4, 0x60: 8, 0x80: 16}
        return [Event(_RAW, 0xC7 | mask << 8, worth) for mask, worth in masks.items()]
    if "AuthenticAMD" in about:
        return [Event(_RAW, 0x03 | 0x0F << 8)]
    return []


def traffic(root: Path = Path("/")) -> list[Event]:
    """Reads and writes of the memory controllers, in bytes."""
    found = []
    for device in sorted((root / "sys/bus/event_source/devices").glob("uncore_imc*")):
        for name in ("cas_count_read", "cas_count_write"):
            with contextlib.suppress(OSError, ValueError, KeyError, StrataError):
                words = dict(w.split("=") for w in (device / f"events/{name}").read_text().strip().split(","))
                config = int(words["event"], 0) | int(words.get("umask", "0"), 0) << 8
                scale = float((device / f"events/{name}.scale").read_text())  # of MiB
                cpus = tuple(cpulist((device / "cpumask").read_text()))
                found.append(Event(int((device / "type").read_text()), config, scale * (1 << 20), cpus))
    return found


class Counters:
    """Counters that run; `why` says why there are none."""

    def __init__(self, events: Sequence[Event], cgroup: Path | None = None) -> None:
        self._open: list[tuple[int, float]] = []
        self.why = "this kind of processor has none that is known" if not events else ""
        group = os.open(cgroup, os.O_RDONLY) if cgroup else -1
        try:
            for event in events:
                for cpu in event.cpus if event.cpus is not None else _online():
                    self._open.append((_opened(event, cpu, group), event.worth))
        except OSError as error:
            self.why = _why(error.errno or 0)
            self.close()
        finally:
            if group >= 0:
                os.close(group)

    def __bool__(self) -> bool:
        return bool(self._open)

    def total(self) -> float:
        """What was counted since they were opened."""
        total = 0.0
        for file, worth in self._open:
            count, enabled, running = _COUNT.unpack(os.read(file, _COUNT.size))
            total += worth * count * (enabled / running if running else 0.0)
        return total

    def close(self) -> None:
        for file, _ in self._open:
            os.close(file)
        self._open = []


def _online() -> range:
    return range(os.cpu_count() or 1)


def _opened(event: Event, cpu: int, group: int) -> int:
    number = _SYSCALL.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, "no perf_event_open")
    packed = _ATTRIBUTES.pack(event.type, _SIZE, event.config, 0, 0, _TIMES, 0, 0, 0, 0).ljust(_SIZE, b"\0")
    attributes = ctypes.create_string_buffer(packed, _SIZE)
    libc = ctypes.CDLL(None, use_errno=True)
    file = libc.syscall(number, attributes, group, cpu, -1, _CGROUP if group >= 0 else 0)
    if file < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(file)


def _why(number: int) -> str:
    if number in (errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV, errno.EINVAL):
        return "this processor, or the hypervisor above it, offers no such counter"
    if number in (errno.EACCES, errno.EPERM):
        return "the system forbids it (root or CAP_PERFMON may, or perf_event_paranoid 0)"
    return os.strerror(number)
