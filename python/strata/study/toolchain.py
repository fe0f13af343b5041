"""Toolchains: the same program built by several compilers, with several flags and libraries, side by side.

Each build has a folder of its own, BUILDS/TOOLCHAIN/PROGRAM, and is made again before each run; what a build
system finds unchanged it leaves alone, and so the binary, whose content is part of the plan's identity.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from strata import own_folders
from strata.casefile import REQUIRED, CaseFile, Key, Place, is_name, is_text
from strata.errors import FAILED, StrataError
from strata.measure.files import storage_error

_TAIL = 12  # lines of a failed build that are shown
_ASK_S = 20.0


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())


def _is_tools(value: Any) -> bool:
    return isinstance(value, dict) and all(
        is_text(v) and re.fullmatch(r"[A-Za-z_]\w*", k) for k, v in value.items()
    )


TOOLCHAIN: dict[str, Key] = {
    "name": Key("text", is_name, "text without '/'", REQUIRED, "what reports call it"),
    "tools": Key(
        "table of text",
        _is_tools,
        'a table such as {cc = "gcc-12", mpicc = "mpicc"}',
        {},
        "programs that the build uses: {cc} stands for the word; each must be there",
    ),
    "flags": Key("text", lambda v: isinstance(v, str), "text", "", "what {flags} stands for"),
    "libraries": Key("text", lambda v: isinstance(v, str), "text", "", "what {libraries} stands for"),
    "environment": Key(
        "table of text", _is_texts, 'a table such as {OMP_WAIT_POLICY = "active"}', {}, "for build and run"
    ),
    "optional": Key(
        "boolean",
        lambda v: isinstance(v, bool),
        "true | false",
        False,
        "where a tool is missing it is left out and said, instead of an error",
    ),
}


@dataclass(frozen=True)
class Toolchain:
    """A checked [[toolchain]]."""

    name: str
    tools: Mapping[str, str]
    flags: str
    libraries: str
    environment: Mapping[str, str]
    optional: bool
    at: str  # where it stands in the file

    def words(self) -> dict[str, str]:
        """What its placeholders stand for."""
        return {**self.tools, "flags": self.flags, "libraries": self.libraries}

    def missing(self) -> str | None:
        """The first of its tools that is not there."""
        return next(
            (tool for tool in self.tools.values() if shutil.which(shlex.split(tool)[0]) is None), None
        )

    def versions(self) -> dict[str, str]:
        """What each tool says of itself: the first line of --version."""
        return {name: version_of(tool) for name, tool in self.tools.items()}


@dataclass(frozen=True)
class Build:
    """How one program is made with one toolchain."""

    program: str
    toolchain: Toolchain
    commands: tuple[tuple[str, ...], ...]
    folder: Path
    source: Path  # the study file's folder: commands start there
    at: str = field(compare=False, default="")


def checked(file: CaseFile, value: Any, n: int) -> Toolchain:
    """The n-th [[toolchain]] of a study file."""
    place: Place = (("toolchain", n),)
    found = file.checked(value, TOOLCHAIN, place)
    where = file.at("name", place).removesuffix(" name")
    return Toolchain(**found, at=f"{where} [[toolchain]] {found['name']}")


def version_of(tool: str) -> str:
    """'gcc (Debian 12.2.0-14) 12.2.0'; empty where it does not say."""
    try:
        asked = [*shlex.split(tool), "--version"]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=_ASK_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return next(iter((done.stdout or done.stderr).strip().splitlines()), "")


def usable(toolchains: Sequence[Toolchain]) -> tuple[list[Toolchain], list[tuple[Toolchain, str]]]:
    """The toolchains that are here, and the optional ones that are not, with the reason.

    Raises StrataError where one that is not optional lacks a tool.
    """
    here, absent = [], []
    for toolchain in toolchains:
        tool = toolchain.missing()
        if tool is None:
            here.append(toolchain)
        elif toolchain.optional:
            absent.append((toolchain, f"{tool} is not there"))
        else:
            raise StrataError(
                "a tool of this toolchain is missing",
                at=toolchain.at,
                given=tool,
                allowed="a program on PATH, or a path",
                remedy="install it or load its module; with `optional = true` the study goes on without it",
            )
    return here, absent


def make(builds: Sequence[Build], say: Callable[[str], None]) -> None:
    """Makes all builds. A failed one raises StrataError with the end of what it printed, and leaves no empty
    folders.
    """
    for build in builds:
        say(f"building {build.program} with {build.toolchain.name}")
        fresh = list(takewhile(lambda p: not p.exists(), (build.folder, *build.folder.parents)))
        try:
            own_folders.make_results(build.folder)
        except OSError as error:
            raise storage_error(error, build.folder) from error
        try:
            own_folders.need(
                build.folder,
                "programs that studies build",
                "STRATA_RESULTS=/a/folder/of/yours, or --out FOLDER",
            )
            _make(build)
        except BaseException:
            with suppress(OSError):  # what the build left there says more than its absence
                for folder in fresh:
                    folder.rmdir()
            raise


def _make(build: Build) -> None:
    # `cmake --build --parallel` under make would start every compiler at once.
    at_once = {"CMAKE_BUILD_PARALLEL_LEVEL": str(len(os.sched_getaffinity(0)))}
    environment = {**at_once, **os.environ, **build.toolchain.environment}
    for command in build.commands:
        try:
            done = subprocess.run(
                command,
                cwd=build.source,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except OSError as error:
            raise _failed(build, command, str(error)) from None
        if done.returncode != 0:
            tail = "\n".join(done.stdout.strip().splitlines()[-_TAIL:])
            raise _failed(build, command, tail or f"exit code {done.returncode}")


def _failed(build: Build, command: Sequence[str], said: str) -> StrataError:
    return StrataError(
        f"the build of {build.program} with {build.toolchain.name} failed",
        at=build.at,
        given=f"{shlex.join(command)}\n{said}",
        remedy=f"try it alone in {build.source}",
        code=FAILED,
    )
