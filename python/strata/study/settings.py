"""The layouts of a study file on a machine: settings as the launcher takes them, and why some cannot be."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strata.advice import distances
from strata.advice.size import Size, does_not_fit, size_of, spelled
from strata.errors import USAGE, StrataError
from strata.front import ask
from strata.study.case import Study
from strata.study.schema import ALL, EVERY

_TRIAL_S = 20.0


@dataclass(frozen=True)
class Setting:
    """One layout of the study as the launcher takes it."""

    name: str
    processes: int
    threads: int
    stride: int
    bind: str
    options: tuple[str, ...]
    at: str = field(default="", compare=False)  # where it stands in the file
    distance: str = ""  # of its two threads, where they were chosen for it

    @property
    def layout(self) -> str:
        return f"{self.processes}x{self.threads}"

    @property
    def words(self) -> list[str]:
        placed = ["--layout", self.layout, "--stride", str(self.stride), "--bind", self.bind]
        return [*placed, *self.options]


def settings(
    layout: Mapping[str, Any], size: Size, machine: Mapping[str, Any]
) -> list[tuple[Setting, str | None]]:
    """The layout spelt out for this machine, each with the reason why it makes no sense here."""
    if layout["distances"]:
        return _at_distances(layout, size, machine)
    if layout["pairs"]:
        return _in_pairs(layout, size, machine)
    found: dict[tuple[int, int, int], tuple[Setting, str | None]] = {}
    for word in layout["layouts"]:
        for processes, threads in _shapes(word, size):
            for stride, asked in _strides(layout["stride"], size):
                why = _cannot(word, processes, threads, stride, layout["bind"], size)
                if why is not None and not asked:
                    continue  # a range is what the cores allow
                setting = Setting(
                    layout["name"],
                    processes,
                    threads,
                    stride,
                    layout["bind"],
                    tuple(layout["options"]),
                    layout["at"],
                )
                found.setdefault((processes, threads, stride), (setting, why))
    return list(found.values())


def _at_distances(
    layout: Mapping[str, Any], size: Size, machine: Mapping[str, Any]
) -> list[tuple[Setting, str | None]]:
    """Two threads at each distance that the machine has, and those that it has not."""
    found: list[tuple[Setting, str | None]] = []
    for word in layout["layouts"]:
        ((processes, threads),) = _shapes(word, size)
        for pair in distances.pairs(machine):
            bind = "os:{},{}".format(*pair.pus) if pair.pus else layout["bind"]
            options, at = tuple(layout["options"]), layout["at"]
            setting = Setting(layout["name"], processes, threads, 1, bind, options, at, pair.distance)
            found.append((setting, pair.why or None))
    return found


def _in_pairs(
    layout: Mapping[str, Any], size: Size, machine: Mapping[str, Any]
) -> list[tuple[Setting, str | None]]:
    """An even number of processes, of which i and i + P/2 are a pair, in as many domains as are asked for."""
    found: dict[int, tuple[Setting, str | None]] = {}
    for word in layout["layouts"]:
        for asked, threads in _shapes(word, size):
            processes = max(2, asked // 2 * 2)
            bind, why = layout["bind"], None
            if threads != 1:
                why = "a pair's processes have one thread each"
            elif layout["pairs"] == "all cores":
                why = _cannot(word, processes, 1, 1, bind, size)
            else:
                pus = distances.pus_in_domains(machine, processes, 1 + (layout["pairs"] == "two domains"))
                bind, why = (bind, pus) if isinstance(pus, str) else ("os:" + ",".join(map(str, pus)), None)
            options, at = tuple(layout["options"]), layout["at"]
            setting = Setting(layout["name"], processes, threads, 1, bind, options, at)
            found.setdefault(processes, (setting, why))
    return list(found.values())


def _shapes(word: str, size: Size) -> list[tuple[int, int]]:
    """Processes and threads of a word of the study file."""
    if word == ALL:
        return [(p, size.cores // p) for p in range(1, size.cores + 1) if size.cores % p == 0]
    if every := EVERY.match(word):
        powers = [2**k for k in range(size.cores.bit_length())]
        processes, threads = ([int(w)] if w.isdecimal() else powers for w in every.groups())
        return [(p, t) for p in processes for t in threads if p * t <= size.cores]
    # A range that is empty here, 2..N on one core, is its first shape: that has a reason why it cannot be.
    return spelled(word, size) or spelled(re.sub(r"\.\.[^x]+", "", word), size)


def _strides(given: Any, size: Size) -> list[tuple[int, bool]]:
    """Each stride, and whether it was asked for by name."""
    if isinstance(given, str):
        first, _, last = given.partition("..")
        top, stride, found = size.symbol(last), int(first), []
        while stride <= max(top, 1):
            found.append((stride, stride == int(first)))
            stride *= 2
        return found
    return [(stride, True) for stride in (given if isinstance(given, list) else [given])]


def _cannot(word: str, processes: int, threads: int, stride: int, bind: str, size: Size) -> str | None:
    if processes < 1 or threads < 1:
        return f"{word} is no layout on {size.cores} usable cores"
    return does_not_fit(processes, threads, stride, size, held=bind == "core")


def settings_of(study: Study, machine: Mapping[str, Any]) -> list[Setting]:
    """All settings that are possible by their size."""
    size = size_of(machine)
    return [s for layout in study.layouts for s, why in settings(layout, size, machine) if why is None]


def try_settings(front: str, settings: Sequence[Setting], described: str | None = None) -> dict[Setting, str]:
    """Launches `true` under each setting; the reasons of those that the launcher refuses. For a machine that
    is only described it plans the launches.

    Raises StrataError where it does not understand the options: that is the study file's mistake.
    """
    refused = {}
    for setting in settings:
        plan = ["--dry-run", "--machine", described] if described else []
        try:
            ask(front, ["launch", *setting.words, *plan, "--", "true"], _TRIAL_S)
        except subprocess.TimeoutExpired:
            refused[setting] = f"a trial launch did not end within {_TRIAL_S:g} s"
        except StrataError as error:
            if error.code == USAGE and error.message.startswith("unknown"):
                raise StrataError(
                    f"the launcher does not take this layout: {error.message}",
                    at=setting.at,
                    given=error.given,
                    allowed=error.allowed or "options of `strata launch --help`",
                    remedy=error.remedy,
                ) from None
            refused[setting] = f"{error.message} ({error.given})" if error.given else error.message
    return refused
