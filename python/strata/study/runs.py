"""From the programs of a study file to command lines: values, toolchains and placeholders filled in."""

from __future__ import annotations

import math
import re
import shlex
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from strata.casefile import CaseFile
from strata.errors import StrataError
from strata.paths import PROGRAMS
from strata.study.schema import PLACEHOLDER
from strata.study.toolchain import Build, Toolchain


@dataclass(frozen=True)
class Run:
    """One program with one combination of values: its command, placeholders of values filled in."""

    program: str
    values: Mapping[str, str]
    command: tuple[str, ...]
    at: str  # where the command stands in the file
    toolchain: Toolchain | None = None
    short: tuple[str, ...] = ()  # instead of the command where the budget is too small for it
    threads: float | None = None  # so many run, whatever the layout; infinite: more than any layout has cores

    def crowds(self, cores: int) -> bool:
        """Whether it runs more threads than these cores, on purpose."""
        return self.threads is not None and self.threads > cores


class Maker:
    """From a program of the file to its runs and builds: placeholders filled in."""

    def __init__(self, file: CaseFile, folder: Path, toolchains: Sequence[Toolchain]) -> None:
        self._file = file
        self._folder = folder
        self._toolchains = toolchains

    def _of(self, program: Mapping[str, Any]) -> list[Toolchain | None]:
        """The toolchains that make a program; what is there already has none, unless it names them for their
        environment.
        """
        if not program["build"] and not program["toolchains"]:
            return [None]
        wanted = [t for t in self._toolchains if not program["toolchains"] or t.name in program["toolchains"]]
        return list(wanted) or [None]

    def _places(self, program: Mapping[str, Any], toolchain: Toolchain | None) -> dict[str, str]:
        places = {"source": str(self._file.path.parent.absolute())}
        if program["build"]:
            name = toolchain.name if toolchain else "default"
            places["build"] = str(self._folder / _folder_name(name) / _folder_name(program["name"]))
        return {**places, **(toolchain.words() if toolchain else {})}

    def builds(self, program: Mapping[str, Any], n: int) -> list[Build]:
        """One build for each toolchain; none for a program that is there already."""
        at = self._file.at("build", (("program", n),))
        lines = [program["build"]] if isinstance(program["build"], str) else list(program["build"])
        made = []
        for chain in self._of(program) if lines else []:
            places = self._places(program, chain)
            # Flags and libraries are several words, so they are filled in before the line is cut into words;
            # folders, whose names may hold spaces, after it.
            several = {key: _braces(word) for key, word in (chain.words() if chain else {}).items()}
            cut = [self._words(_several(line, several), at) for line in lines]
            commands = tuple(tuple(filled(word, places, at) for word in words) for words in cut)
            none = Toolchain("default", {}, "", "", {}, False, at)
            source = Path(places["source"])
            made.append(Build(program["name"], chain or none, commands, Path(places["build"]), source, at))
        return made

    def _threads(self, program: Mapping[str, Any], values: Mapping[str, str], n: int) -> float | None:
        """How many threads a run has by its key `crowded`; None where the layout says how many."""
        word = program["crowded"]
        if isinstance(word, bool):
            return math.inf if word else None
        at = self._file.at("crowded", (("program", n),))
        if word not in values:
            raise StrataError(
                "no such value",
                at=at,
                given=word,
                allowed=", ".join(["true", *values]),
                remedy="name the value that says how many threads run",
            )
        if not values[word].isdecimal() or len(values[word]) > 9:
            raise StrataError(
                "not a number of threads", at=at, given=f"{word} = {values[word]}", allowed="a whole number"
            )
        return int(values[word])

    def _words(self, line: str, at: str) -> list[str]:
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise StrataError(
                "the command's quotes do not match",
                at=at,
                given=f"{line} ({error})",
                allowed="pairs of quotes, as a shell reads them",
            ) from None
        if not words:
            raise StrataError(
                "the command is empty", at=at, given=repr(line), allowed="a program and its arguments"
            )
        return words

    def runs(self, program: Mapping[str, Any], n: int) -> list[Run]:
        """Every combination of the program's values and toolchains."""
        at = self._file.at("command", (("program", n),))
        words = self._words(program["command"], at)
        at_short = self._file.at("short", (("program", n),)) if program["short"] else at
        short = self._words(program["short"], at_short) if program["short"] else []
        keys = list(program["values"])
        runs = []
        for chosen in product(*(program["values"][key] for key in keys)):
            values = {key: str(value) for key, value in zip(keys, chosen, strict=True)}
            for chain in self._of(program):
                known = {**self._places(program, chain), **values}
                command = tuple(filled(word, known, at) for word in words)
                less = tuple(filled(word, known, at_short) for word in short)
                threads = self._threads(program, values, n)
                runs.append(Run(program["name"], values, command, at, chain, less, threads))
        unused = [key for key in keys if not any("{" + key + "}" in word for word in words)]
        if unused:
            raise StrataError(
                "a value that the command does not use",
                at=self._file.at("values", (("program", n),)),
                given=", ".join(unused),
                remedy=f"write {{{unused[0]}}} where it belongs in the command",
            )
        return runs


def _braces(text: str) -> str:
    """The text so that filled() gives it back."""
    return text.replace("{", "{{").replace("}", "}}")


def _several(line: str, values: Mapping[str, str]) -> str:
    """The line with these values; every other placeholder, and {{ and }}, stay as they are."""
    parts = re.split(r"(\{\{|\}\})", line)
    return "".join(PLACEHOLDER.sub(lambda m: values.get(m.group(1), m.group(0)), part) for part in parts)


def _folder_name(name: str) -> str:
    """A name that build systems take: many stop at a space. Names that differ have folders that differ."""
    plain = re.sub(r"[^A-Za-z0-9_.+-]+", "_", name)
    return plain if plain == name else f"{plain}-{zlib.crc32(name.encode()):08x}"


def filled(word: str, values: Mapping[str, str], at: str) -> str:
    """The word with its values; {result} and Strata's programs are left to the engine, {{x}} means {x}."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name in values:
            return str(values[name])
        if name == "result" or name in PROGRAMS:
            return match.group(0)
        raise StrataError(
            "a placeholder without a value",
            at=at,
            given=match.group(0),
            allowed=", ".join("{" + known + "}" for known in (*values, "result", *PROGRAMS)),
            remedy=f"give `values` the key {name}, or write {{{{{name}}}}} for the braces themselves",
        )

    parts = re.split(r"(\{\{|\}\})", word)
    return "".join({"{{": "{", "}}": "}"}.get(part) or PLACEHOLDER.sub(value, part) for part in parts)
