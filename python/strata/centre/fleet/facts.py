"""What a node is and runs, and its counters of errors, as Linux tells under /sys and /proc.

What a node does not tell is absent, never guessed. Counters begin at zero when a node boots; those of
InfiniBand stay at their largest value (65535 of symbol errors) until somebody resets them.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Errors of a link and its port, without those that only tell of congestion.
LINK_ERRORS = (
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
)


def hardware(machine: Mapping[str, Any], root: Path = Path("/")) -> dict[str, Any]:
    """What does not change without a screwdriver. `machine`: strata.machine/1."""
    memory = sum(m.get("total_bytes") or 0 for m in machine.get("memories") or [])
    dmi = root / "sys/class/dmi/id"
    links = [f"{name} {_text(port / 'rate')}" for name, port in _ports(root) if _text(port / "rate")]
    return _known(
        product=" ".join(filter(None, (_text(dmi / "sys_vendor"), _text(dmi / "product_name")))),
        cpu_model=machine.get("cpu_model"),
        packages=len(machine.get("packages") or []),
        cores=len(machine.get("cores") or []),
        domains=len(machine.get("domains") or []),
        memory_gib=round(memory / 2**30, 1),
        links="; ".join(links),
    )


def software(root: Path = Path("/")) -> dict[str, Any]:
    """What an update changes."""
    dmi = root / "sys/class/dmi/id"
    microcode = re.search(r"^microcode\s*:\s*(\S+)", _text(root / "proc/cpuinfo") or "", re.M)
    bios = " ".join(filter(None, (_text(dmi / f"bios_{part}") for part in ("vendor", "version", "date"))))
    return _known(
        kernel=platform.release(), microcode=microcode.group(1) if microcode else None, bios=bios or None
    )


def counters(root: Path = Path("/")) -> dict[str, int]:
    """Errors since boot, by name: of InfiniBand's links (all ports together, and each by itself where it has
    any), of memory (EDAC), and how often cores were slowed down for heat.
    """
    found: dict[str, int] = {}
    for name, port in _ports(root):
        for counter in LINK_ERRORS:
            value = _number(port / "counters" / counter)
            if value is not None:
                found[f"link {counter}"] = found.get(f"link {counter}", 0) + value
                if value:
                    found[f"link {name} {counter}"] = value
    for kind, file in (("corrected", "ce_count"), ("uncorrected", "ue_count")):
        _sum(found, f"memory {kind}", root / "sys/devices/system/edac/mc", f"mc*/{file}")
    _sum(
        found,
        "core throttled",
        root / "sys/devices/system/cpu",
        "cpu[0-9]*/thermal_throttle/core_throttle_count",
    )
    return found


def booted(root: Path = Path("/")) -> float | None:
    """When the node booted, in seconds since 1970."""
    found = re.search(r"^btime (\d+)", _text(root / "proc/stat") or "", re.M)
    return float(found.group(1)) if found else None


def _ports(root: Path) -> list[tuple[str, Path]]:
    ports = sorted((root / "sys/class/infiniband").glob("*/ports/*"))
    return [(f"{port.parent.parent.name}/{port.name}", port) for port in ports]


def _sum(found: dict[str, int], name: str, folder: Path, pattern: str) -> None:
    values = [v for path in folder.glob(pattern) if (v := _number(path)) is not None]
    if values:
        found[name] = sum(values)


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text is not None and text.isdecimal() else None  # "N/A (no PMA)" is none


def _text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip() or None
    except OSError:
        return None


def _known(**given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value}
