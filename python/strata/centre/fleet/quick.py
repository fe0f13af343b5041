"""A quick run on one node, in less than a minute: DGEMM, clock, each core, each memory domain, integrity.

Short benchmarks are run in three rounds, so that a disturbance of a second does not become the node's figure,
which is the median. No round begins after ROUNDS_S. What cannot be measured is said in the file (`absent`),
and a wrong result too (`failed`).
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from strata import __version__, front, own_folders, paths
from strata.centre.fleet import facts
from strata.errors import FAILED, StrataError, why
from strata.measure.files import write_atomically
from strata.measure.journal import utc_now

SCHEMA = "strata.node/1"
ROUNDS, ROUNDS_S = 3, 20.0
LONGEST_S = 45.0  # of one benchmark
INTEGRITY = "strata-integrity"
INTEGRITY_S = 5
_ALL_PAIRS = 8 << 30  # bytes of the arrays of all pairs of domains: some 20 s


def quick(out: Path, campaign: str | None, say: Callable[[str], None]) -> Path:
    """Measures this node and writes its file into the folder `out`. Returns the path."""
    began, wall = utc_now(), time.monotonic()
    if os.geteuid() == 0:  # a prolog's, for instance
        own_folders.close_umask()
        own_folders.need(out, "figures of nodes that root measures", "--out names a folder of root's")
    native = paths.native()
    machine = json.loads(front.ask(native.front, ["machine", "--json"]))
    found = measured(native.front, machine, say)
    node = os.environ.get("SLURMD_NODENAME") or platform.node().split(".")[0]
    record = {
        "schema": SCHEMA,
        "node": node,
        "time": began,
        "campaign": campaign,
        "seconds": round(time.monotonic() - wall, 1),
        "strata": __version__,
        "booted": facts.booted(),
        "hardware": facts.hardware(machine),
        "software": facts.software(),
        "counters": facts.counters(),
        **found,
    }
    folder = out / node
    try:
        own_folders.make_results(folder)
    except OSError as error:
        raise StrataError("cannot make the folder", at=str(folder), given=why(error), code=FAILED) from None
    path = folder / f"{re.sub(r'[^0-9TZ]', '', began)}.json"
    write_atomically(path, json.dumps(record, separators=(",", ":")) + "\n")
    return path


def measured(program: Path, machine: Mapping[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """Figures, and what failed or is absent."""
    cores = _cores(machine)
    domains = len(machine.get("domains") or [])
    samples: dict[str, list[Any]] = {}
    parts: dict[str, list[int]] = {}
    whole: dict[str, Any] = {"figures": {}, "failed": {}, "absent": {}}
    began = time.monotonic()

    def bench(name: str, *words: str) -> dict[str, Any] | None:
        say(f"{name} ({time.monotonic() - began:.0f} s so far)")
        result, why = _bench(program, name, f"1x{cores}", words)
        if result is None:
            whole["absent"][name] = why
        elif not result.get("verified"):
            whole["failed"][name] = f"{result['verification']['what']}: {result['verification']['value']}"
            return None
        return result

    def keep(name: str, values: list[float], labels: list[int] | None = None) -> None:
        samples.setdefault(name, []).append(values)
        if labels is not None:
            parts[name] = labels

    for turn in range(ROUNDS):
        if turn and time.monotonic() - began > ROUNDS_S:
            break
        if (r := bench("dgemm", "--n", str(_order(cores)), "--repeats", "2")) is not None:
            keep("dgemm", [_figure(r, "dgemm")])
        if (r := bench("clock", "--quick")) is not None:
            keep("clock", [_figure(r, "sustained clock")])
        if (r := bench("noise", "--quick")) is not None:
            quanta = _curve(r, "time of a quantum")
            keep("core", [1e6 / y for _, y in quanta], [int(x) for x, _ in quanta])
            keep(
                "undisturbed", [100 / (1 + _figure(r, "mean loss") / 100)]
            )  # of the time: work, the rest of it is lost
    if (r := bench("domains", "--quick", *_array(machine, domains))) is not None:
        _domains(r, machine, keep)
    for name, (unit, better, part) in FIGURES.items():
        if name in samples:
            whole["figures"][name] = {
                "unit": unit,
                "better": better,
                "values": [float(f"{v:.6g}") for v in np.median(samples[name], axis=0)],
                "rounds": len(samples[name]),
                **({"part": part, "parts": parts[name]} if part else {}),
            }
    whole["integrity"] = _integrity(program, whole["absent"], say)
    return whole


FIGURES = {
    "dgemm": ("GF/s", "higher", ""),
    "clock": ("GHz", "higher", ""),
    "core": ("1/s", "higher", "core"),
    "undisturbed": ("%", "higher", ""),
    "bandwidth": ("GB/s", "higher", "domain"),
    "latency": ("ns", "lower", "domain"),
    "remote_bandwidth": ("GB/s", "higher", ""),
    "remote_latency": ("ns", "lower", ""),
}


def _bench(
    program: Path, name: str, layout: str, words: tuple[str, ...]
) -> tuple[dict[str, Any] | None, str]:
    """strata.result/1 of a benchmark, or why there is none."""
    with tempfile.TemporaryDirectory(prefix="strata-fleet-") as folder:
        path = Path(folder) / "result.json"
        command = [str(program), "bench", name, "--layout", layout, *words, "--json", str(path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            return None, f"it took more than {LONGEST_S:.0f} s"
        try:
            return json.loads(path.read_text()), ""
        except (OSError, ValueError):
            said = StrataError.read(done.stderr, done.returncode)
            return None, said.message if said else f"it ended with {done.returncode}"


def _cores(machine: Mapping[str, Any]) -> int:
    """Cores that this process may use."""
    here = os.sched_getaffinity(0)
    return max(1, sum(bool(here & set(core["pus"])) for core in machine.get("cores") or []))


def _order(cores: int) -> int:
    """A matrix whose product takes well below a second on so many cores."""
    return int(min(10000, 500 * round(2.83 * cores**0.5)))


def _array(machine: Mapping[str, Any], domains: int) -> tuple[str, ...]:
    """Four times the last cache, as the benchmark chooses, or less where there are many pairs of domains."""
    last = max((c["size_bytes"] for c in machine.get("caches") or [] if c.get("level") == 3), default=0)
    most = _ALL_PAIRS // max(1, domains) ** 2
    return () if 4 * last <= most else ("--array", f"{most >> 20}MiB")


def _figure(result: Mapping[str, Any], name: str) -> float:
    return float(next(f["value"] for f in result["figures"] if f["name"] == name))


def _curve(result: Mapping[str, Any], name: str) -> list[list[float]]:
    return next(c["points"] for c in result["curves"] if c["name"] == name)


def _domains(result: Mapping[str, Any], machine: Mapping[str, Any], keep: Callable[..., None]) -> None:
    """Each domain in its own memory, and the worst of the others."""
    own = {m["os_index"]: m.get("domain") for m in machine.get("memories") or []}
    for name, worst in (("bandwidth", min), ("latency", max)):
        matrix = next(m for m in result["matrices"] if m["name"] == name)
        near, far, rows = [], [], []
        for row, values in zip(matrix["rows"], matrix["values"], strict=True):
            there = dict(zip(matrix["columns"], values, strict=True))
            local = [v for column, v in there.items() if own.get(column) == row and v]
            if local:
                near.append(local[0])
                rows.append(int(row))
            far += [v for column, v in there.items() if own.get(column) not in (row, None) and v]
        if near:
            keep(name, near, rows)
        if far:
            keep(f"remote_{name}", [worst(far)])


def _integrity(program: Path, absent: dict[str, str], say: Callable[[str], None]) -> dict[str, Any] | None:
    """What strata-integrity finds in a few seconds; None where it is not installed."""
    beside = paths.sibling(program.resolve(), INTEGRITY)
    found = str(beside) if beside else shutil.which(INTEGRITY)
    if found is None:
        absent["integrity"] = f"{INTEGRITY} is not installed"
        return None
    say(f"integrity, {INTEGRITY_S} s")
    try:
        done = subprocess.run(
            [found, "--time", f"{INTEGRITY_S}s"], capture_output=True, text=True, timeout=LONGEST_S
        )
    except subprocess.TimeoutExpired:
        absent["integrity"] = f"it took more than {LONGEST_S:.0f} s"
        return None
    events = []
    for line in done.stdout.splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            continue
    findings = [e for e in events if isinstance(e, dict) and e.get("event") == "finding"]
    ended = any(isinstance(e, dict) and e.get("event") == "end" for e in events)
    if not ended and not findings:
        absent["integrity"] = f"it ended with {done.returncode}, and said no end"
        return None
    return {"seconds": INTEGRITY_S, "findings": findings}
