"""What differs between two sets of results beside their figures: machine, build, libraries, limits, plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any

from strata.advice import samples
from strata.advice.words import digits, size
from strata.compare.pairs import FOUND
from strata.compare.sides import Side
from strata.report.sections.method import KERNEL_WORDS

CLOCK = 0.03  # a clock that differs by less is no news: turbo steps are larger
BUSY = 0.05  # of the launches disturbed: from here on somebody else used the machine too
NOT_SAID = "not recorded"


@dataclass(frozen=True)
class Difference:
    """One fact that is not the same on both sides, in words."""

    about: str  # "run", "machine", "build", "libraries", "environment", "limits", "plan"
    what: str
    before: str
    after: str

    def to_dict(self) -> dict[str, str]:
        return asdict(self)


def differences(before: Side, after: Side) -> list[Difference]:
    """Every recorded fact that differs, the weightiest first."""
    result = []
    for about, facts in (
        ("run", _run),
        ("machine", _machine),
        ("build", _build),
        ("libraries", _libraries),
        ("environment", _environment),
        ("limits", _limits),
        ("plan", _plan),
    ):
        was, now = facts(before), facts(after)
        for what in dict.fromkeys([*was, *now]):
            missing = "none" if about in ("libraries", "environment") else NOT_SAID
            old, new = was.get(what, missing), now.get(what, missing)
            if old != new:
                result.append(Difference(about, what, old, new))
    return result + _programs(before, after) + _clock(before, after) + _found(before, after)


def _text(value: Any) -> str:
    if value is None or value in ("", []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(v) for v in value)
    return digits(value, 4) if isinstance(value, float) else str(value)


def _texts(source: Mapping[str, Any], **names: str) -> dict[str, str]:
    """The facts that were recorded, by the words for them."""
    return {words.replace("_", " "): _text(source[key]) for words, key in names.items() if key in source}


def _run(side: Side) -> dict[str, str]:
    """What kind of run it was, and whether it had the machine to itself."""
    counts = side.summary.get("counts") or {}
    launches, disturbed = counts.get("launches") or 0, counts.get("tainted") or 0
    busy = f"{disturbed} of {launches}" if disturbed > BUSY * launches else "few"
    return _texts(side.summary, kind="kind", mode="mode") | {"disturbed launches": busy}


def _machine(side: Side) -> dict[str, str]:
    machine, facts = side.summary["machine"], side.summary["provenance"]
    said = _texts(machine, host="hostname", processor="cpu_model", architecture="arch", system="os",
                  kernel="kernel", virtual_machine="virtualisation", container="container",
                  turbo="turbo", NUMA_balancing="numa_balancing")  # fmt: skip
    for words, key in (("packages", "packages"), ("memory domains", "domains"), ("cores", "cores")):
        if isinstance(machine.get(key), list):
            said[words] = str(len(machine[key]))
    if machine.get("cores"):
        said["usable cores"] = str(samples.usable_cpus(machine))
        said["hardware threads"] = str(sum(len(c.get("pus") or [0]) for c in machine["cores"]))
    memories = [m.get("size_bytes") or m.get("total_bytes") for m in machine.get("memories") or []]
    if memories and all(memories):
        said["memory"] = size(sum(memories))
    caches: dict[str, set[int]] = {}
    for cache in machine.get("caches") or []:
        if cache.get("type") != "instruction" and cache.get("size_bytes"):
            caches.setdefault(f"L{cache.get('level')} cache", set()).add(int(cache["size_bytes"]))
    said |= {name: " and ".join(size(s) for s in sorted(sizes)) for name, sizes in sorted(caches.items())}
    said |= _texts(facts, governors="governors", transparent_huge_pages="transparent_huge_pages")
    if "kernel_command_line" in facts:
        words = str(facts["kernel_command_line"] or "").split()
        said["kernel's command line"] = " ".join(w for w in words if w.startswith(KERNEL_WORDS)) or "none"
    return said


def _build(side: Side) -> dict[str, str]:
    facts = side.summary["provenance"]
    own = facts.get("strata") if isinstance(facts.get("strata"), Mapping) else {}
    said = {"Strata": _text(own["version"])} if own and own.get("version") else {}
    if own and own.get("revision"):
        said["Strata's revision"] = str(own["revision"]).replace("+changes", " with changes")
    said |= _texts(facts, compiler="compiler", compiler_flags="flags", instruction_set="isa", MPI="mpi")
    return said


def _programs(before: Side, after: Side) -> list[Difference]:
    """Programs of one name that lie in two folders: two builds, most likely."""
    was, now = (
        {PurePath(p).name: p for t in side.tasks.values() if t["command"] for p in [str(t["command"][0])]}
        for side in (before, after)
    )
    return [
        Difference("build", name, was[name], now[name])
        for name in was
        if was[name] != now.get(name, was[name])
    ]


def _libraries(side: Side) -> dict[str, str]:
    """The libraries that were really mapped, by their name without version."""
    said: dict[str, list[str]] = {}
    for path in side.summary["provenance"].get("libraries") or []:
        name = PurePath(path).name
        stem = re.match(r"[A-Za-z_+]+", name.split(".so")[0])
        said.setdefault(stem.group(0).rstrip("_") if stem else name, []).append(str(path))
    return {stem: ", ".join(sorted(paths)) for stem, paths in sorted(said.items())}


def _environment(side: Side) -> dict[str, str]:
    known = side.summary["provenance"].get("environment") or {}
    return {key: str(value) or "empty" for key, value in sorted(known.items())}


def _limits(side: Side) -> dict[str, str]:
    known = side.summary.get("limits") or {}
    return {key.replace("_", " "): f"{value:g}" for key, value in known.items() if value is not None}


def _plan(side: Side) -> dict[str, str]:
    return _texts(side.summary.get("policy") or {}, launches_of_each_task="launches")


def _clock(before: Side, after: Side) -> list[Difference]:
    """The clock that was measured around the launches."""
    read = [(s.summary["provenance"].get("clock_ghz") or {}).get("median") for s in (before, after)]
    if None in read or abs(read[1] / read[0] - 1) <= CLOCK:
        return []
    return [Difference("machine", "clock while measured", *(f"{digits(v)} GHz" for v in read))]


def _found(before: Side, after: Side) -> list[Difference]:
    """What the programs themselves found on the machine, said once however many tasks said it."""
    seen: dict[tuple[str, str, str], list[str]] = {}
    for name, task in before.tasks.items():
        was, now = (t.get("parameters") or {} for t in (task, after.tasks.get(name) or {}))
        for key in FOUND:
            if key in was and key in now and not _same(was[key], now[key]):
                seen.setdefault((key, _text(was[key]), _text(now[key])), []).append(str(task["benchmark"]))
    return [
        Difference("machine", f"{key.replace('_', ' ')} ({', '.join(dict.fromkeys(names))})", was, now)
        for (key, was, now), names in seen.items()
    ]


def _same(a: Any, b: Any) -> bool:
    """Measured numbers are the same within the clock's tolerance."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool):
        return abs(a - b) <= CLOCK * max(abs(a), abs(b))
    return bool(a == b)
