"""Where things are: the checkout or prefix, the native programs, the cases, the results."""

from __future__ import annotations

import csv
import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from strata.errors import FAILED, StrataError

_PACKAGE = Path(__file__).resolve().parent


def root() -> Path | None:
    """The checkout this Python belongs to; None when installed as a package."""
    said = os.environ.get("STRATA_ROOT")
    if said:
        return Path(said)
    candidate = _PACKAGE.parent.parent
    return candidate if (candidate / "CMakeLists.txt").exists() else None


@dataclass(frozen=True)
class Native:
    """The native programs of one build. Those over MPI are absent where there was none at build time."""

    front: Path
    programs: Mapping[str, Path]

    def all(self) -> list[Path]:
        return [self.front, *self.programs.values()]


NPB = {  # and their --model
    "strata-npb": "openmp",
    "strata-npb-mpi": "mpi",
    "strata-npb-team": "team",
    "strata-npb-graph": "graph",
}
PATCHES = "strata-mpm-patches"
MD_WEAK = "strata-md-weak"
PROGRAMS = ("strata-bench", "strata-bench-mpi", "strata-bench-graph", *NPB, PATCHES, MD_WEAK)


def native(environment: Mapping[str, str] = os.environ) -> Native:
    """The front that started this Python (STRATA_BIN), or the one beside the interpreter.

    With the programs it belongs to.
    """
    looked = []
    for candidate in fronts(environment):
        looked.append(str(candidate))
        if candidate.is_file() and os.access(candidate, os.X_OK):
            front = candidate.resolve()
            found = {name: path for name in PROGRAMS if (path := sibling(front, name)) is not None}
            if "strata-bench" in found:
                return Native(front, found)
    raise StrataError(
        "the native programs were not found",
        given=", ".join(looked) or "nothing to look at: STRATA_BIN is not set",
        remedy="start this through `./strata`, which builds them; `strata doctor` says what is missing",
        code=FAILED,
    )


def fronts(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Where the front may be: STRATA_BIN, or beside the interpreter."""
    said = environment.get("STRATA_BIN")
    if said:
        return [Path(said)]
    beside = [Path(sys.executable).parent / "strata", Path(sys.prefix) / "bin" / "strata"]
    return list(dict.fromkeys(beside))


def prefixes() -> list[Path]:
    """Where files that are installed with Strata may be: the front's tree, then the environment's root."""
    return [*(_tree(front) for front in fronts() if front.is_file()), Path(sys.prefix)]


def _tree(front: Path) -> Path:
    """The tree of a front. One that set-up made by the name that stays when another takes its place."""
    tree = front.resolve().parent.parent
    try:
        named = Path((tree / "share" / "strata" / "prefix").read_text().strip())
        return named if named.samefile(tree) else tree
    except OSError:
        return tree


def command() -> str:
    """The command that was typed, for scripts: the checkout's entry, or the installed program."""
    checkout = root()
    if checkout is not None and (checkout / "strata").is_file():
        return str((checkout / "strata").resolve())
    front = next((front for front in fronts() if front.is_file()), Path("strata"))
    installed = _tree(front) / "bin" / "strata"
    return str(installed if installed.is_file() else front)


def sibling(front: Path, name: str) -> Path | None:
    """prefix/libexec/strata/NAME for an installed front; beside it, or in ../benchmarks or ../solvers, for a
    build folder.
    """
    for folder in (
        front.parent.parent / "libexec" / "strata",
        front.parent,
        front.parent.parent / "benchmarks",
        front.parent.parent / "solvers",
    ):
        if (folder / name).is_file():
            return folder / name
    return None


def need_programs(front: Path, names: Iterable[str]) -> None:
    """Has the parts of the build that these programs are in built, where this is a checkout that has not.

    This process then becomes setup/part.sh, which builds one part and starts the command anew: it is called
    before anything is done. In a notebook it raises.
    """
    have = front.resolve().parent.parent / "share" / "strata" / "parts"
    checkout = root()
    if checkout is None or not have.is_file():
        return
    built = have.read_text().split()
    with (checkout / "setup" / "parts.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["part"] not in built]
    for row in rows:
        if not {row["part"], *row["programs"].split()} & set(names):
            continue
        if Path(sys.argv[0]).parent != _PACKAGE:
            raise StrataError(
                "a part of Strata is not built",
                given=f"{row['part']}: {row['about']}",
                remedy="./strata setup --all",
                code=FAILED,
            )
        sys.stdout.flush()
        os.execvp("bash", ["bash", str(checkout / "setup" / "part.sh"), row["part"], *sys.argv[1:]])


def case_file(group: str, name: str) -> Path:
    """cases/GROUP/NAME.toml of the checkout, or of the installed package's data."""
    folders = [base / "cases" for base in (root(),) if base is not None]
    folders += [prefix / "share" / "strata" / "cases" for prefix in prefixes()] + [_PACKAGE / "cases"]
    for folder in folders:
        path = folder / group / f"{name}.toml"
        if path.is_file():
            return path
    raise StrataError(
        "no such case",
        at=f"{group}/{name}.toml",
        given=name,
        allowed=f"a file in {', '.join(map(str, folders))}",
        remedy="--case FILE names any other",
    )


def results_base(environment: Mapping[str, str] = os.environ) -> Path:
    """Where results folders are made: $STRATA_RESULTS, else strata-results in the current folder."""
    return Path(environment.get("STRATA_RESULTS") or "strata-results").absolute()


def results_name(kind: str, cpu_model: str | None, stamp: str) -> str:
    """A folder name that says which machine this was: characterize-host-amd-epyc-20260102-030405."""
    host = platform.node().split(".")[0] or "host"
    cpu = re.sub(r"\([^)]*\)|@.*|\bCPU\b|\d+-Core Processor", " ", cpu_model or "")
    parts = [kind, host, *cpu.split()[:4], stamp]
    return "-".join(
        re.sub(r"[^A-Za-z0-9_.-]+", "_", part).strip("_-").lower() for part in parts if part.strip("_-")
    )
