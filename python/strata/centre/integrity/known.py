"""What the system counts itself: errors of memory, processors, and links. A source that is absent says so."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LINK_ERRORS = (  # Linux, Documentation/ABI/stable/sysfs-class-infiniband
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_discards",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
    "VL15_dropped",
)
RAS_TABLES = {  # of rasdaemon: what each is about
    "mc_event": "memory errors",
    "mce_record": "machine checks",
    "aer_event": "PCIe errors",
    "extlog_event": "firmware's errors",
    "memory_failure_event": "pages that failed",
    "arm_event": "processor errors",
}


@dataclass
class Known:
    """Counters by source and name; sources that are not there, each with the reason."""

    counters: dict[str, int] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)


def look(root: Path = Path("/")) -> Known:
    """All sources, of the system below `root`."""
    known = Known()
    for source in (_edac, _machine_checks, _rasdaemon, _pages, _throttled, _links):
        found = dict(source(root, known.absent))
        known.counters.update(found)
    return known


def increases(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """What rose. A counter that is less than before was reset: what it says now is new."""
    found = {}
    for name, value in after.items():
        earlier = before.get(name, 0)
        if rise := value - earlier if value >= earlier else value:
            found[name] = rise
    return found


def _edac(root: Path, absent: list[str]) -> Iterator[tuple[str, int]]:
    folder = root / "sys/devices/system/edac/mc"
    controllers = sorted(folder.glob("mc[0-9]*"))
    if not controllers:
        absent.append("EDAC: no driver has a memory controller (/sys/devices/system/edac/mc)")
    for controller in controllers:
        for kind in ("ce", "ue"):
            name = {"ce": "corrected", "ue": "uncorrected"}[kind]
            if (value := _number(controller / f"{kind}_count")) is not None:
                yield f"EDAC {controller.name} {name}", value
        for dimm in sorted([*controller.glob("dimm[0-9]*"), *controller.glob("rank[0-9]*")]):
            label = _text(dimm / "dimm_label") or dimm.name
            for kind, name in (("ce", "corrected"), ("ue", "uncorrected")):
                if (value := _number(dimm / f"dimm_{kind}_count")) is not None:
                    yield f"EDAC {controller.name} {label} {name}", value


def _machine_checks(root: Path, absent: list[str]) -> Iterator[tuple[str, int]]:
    lines = re.findall(r"^ *(MCE|THR|DFR):((?: +\d+)+)", _text(root / "proc/interrupts") or "", re.M)
    if not lines:
        absent.append("machine checks: /proc/interrupts has no line MCE")
    names = {"MCE": "machine checks", "THR": "threshold interrupts", "DFR": "deferred errors"}
    for kind, counts in lines:
        yield names[kind], sum(map(int, counts.split()))
    if not (root / "sys/devices/system/machinecheck").is_dir():
        absent.append("machine checks: no banks (/sys/devices/system/machinecheck)")


def _rasdaemon(root: Path, absent: list[str]) -> Iterator[tuple[str, int]]:
    path = root / "var/lib/rasdaemon/ras-mc_event.db"
    if not path.is_file():
        absent.append("rasdaemon: no database (/var/lib/rasdaemon/ras-mc_event.db)")
        return
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=2) as base:
            there = {row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type='table'")}
            for table, name in RAS_TABLES.items():
                if table in there:
                    yield f"rasdaemon {name}", base.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    except sqlite3.Error as error:
        absent.append(f"rasdaemon: its database cannot be read ({error})")


def _pages(root: Path, _absent: list[str]) -> Iterator[tuple[str, int]]:
    match = re.search(r"^HardwareCorrupted: +(\d+) kB", _text(root / "proc/meminfo") or "", re.M)
    if match:
        yield "memory taken off line, kB", int(match.group(1))


def _throttled(root: Path, _absent: list[str]) -> Iterator[tuple[str, int]]:
    for path in sorted(root.glob("sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count")):
        if value := _number(path):
            yield f"{path.parts[-3]} throttled for heat", value


def _links(root: Path, absent: list[str]) -> Iterator[tuple[str, int]]:
    ports = sorted((root / "sys/class/infiniband").glob("*/ports/*"))
    if not ports:
        absent.append("InfiniBand: no device (/sys/class/infiniband)")
    for port in ports:
        for name in LINK_ERRORS:
            if (value := _number(port / "counters" / name)) is not None:
                yield f"InfiniBand {port.parts[-3]} port {port.name} {name}", value


def _text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text is not None and text.isdigit() else None
