"""`strata doctor`: what was found on this machine, and what each absence costs.

Only the standard library; runs as a file of its own under Python 3.8 or newer: it is for when set-up failed.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import sysconfig
from ctypes.util import find_library
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PIECES = Path(__file__).with_name("pieces.csv")
PACKAGES = Path(__file__).resolve().parents[1]
CHECKOUT = Path(__file__).resolve().parents[2] / "CMakeLists.txt"


@dataclass(frozen=True)
class Row:
    """One thing that was looked for. `found` is empty where it is absent."""

    piece: str
    group: str  # "software" or "system"
    required: bool
    found: str
    costs: str
    get: tuple[str, ...]


# ---- software ----


def _first_line(*command: str) -> str:
    """The first line that a program prints, or nothing where it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout or done.stderr).strip().splitlines() if done.returncode == 0 else []
    return lines[0] if lines else ""


def _program(*names: str) -> str:
    """Path and version of the first of these programs on PATH."""
    for name in names:
        path = shutil.which(name)
        version = _first_line(path, "--version") if path else ""
        if version:
            return f"{version} ({path})"
    return ""


def _cmake_cache() -> dict[str, str]:
    """What the build of this machine found: CMake's cache, when there is one."""
    build = os.environ.get("STRATA_BUILD")
    try:
        text = (Path(build or "/nonexistent") / "cmake" / "CMakeCache.txt").read_text()
    except OSError:
        return {}
    return dict(re.findall(r"^(\w+):\w+=(.+)$", text, re.MULTILINE))


def _library(cache: dict[str, str], keys: tuple[str, ...], package: str) -> str:
    """Where the build found a library; else what pkg-config says about it."""
    for key in keys:
        value = cache.get(key, "")
        if value and not value.endswith("NOTFOUND"):
            return value
    version = _first_line("pkg-config", "--modversion", package)
    return f"{version} (pkg-config)" if version else ""


def _python() -> str:
    if sys.version_info < (3, 11):  # noqa: UP036 - this file runs under older ones too
        return ""
    return f"{sys.version.split()[0]} ({sys.executable})"


def _python_headers() -> str:
    header = Path(sysconfig.get_path("include")) / "Python.h"
    return str(header) if header.is_file() else ""


def software(cache: dict[str, str]) -> dict[str, str]:
    """For each piece of pieces.csv what was found."""
    mpi = _program("mpirun", "mpiexec") if shutil.which("mpicxx") else ""
    return {
        "compiler": _program(*(os.environ.get("CXX", "").split()[:1] or ["c++", "g++", "clang++"])),
        "python": _python(),
        "cmake": _program("cmake"),
        "ninja": _program("ninja", "ninja-build"),
        "hwloc": _library(cache, ("Hwloc_LIBRARY",), "hwloc"),
        "fmt": _library(cache, ("fmt_DIR",), "fmt"),
        "mpi": mpi,
        "fortran": _program(
            *(os.environ.get("FC", "").split()[:1] or ["gfortran", "flang-new", "flang", "ifx", "f95"])
        ),
        "fftw": _library(cache, ("FFTW3_LIBRARY",), "fftw3"),
        "hdf5": _library(cache, ("HDF5_C_LIBRARY_hdf5",), "hdf5"),
        "tomlplusplus": _library(cache, ("STRATA_TOMLPLUSPLUS_HEADERS",), "tomlplusplus"),
        "python-headers": _python_headers(),
        "metis": _library(cache, ("STRATA_METIS_LIBRARY",), "metis"),
        "xz": _library(cache, ("LIBLZMA_LIBRARY_RELEASE", "LIBLZMA_LIBRARY"), "liblzma"),
        "papi": _library(cache, ("STRATA_PAPI_LIBRARY",), "papi"),
        "valgrind": _library(cache, ("STRATA_CALLGRIND_HEADERS",), "valgrind"),
        "catch2": _library(cache, ("Catch2_DIR", "STRATA_CATCH_HEADERS"), "catch2"),
    }


def _parts() -> list[str]:
    """The parts of the native build that are there."""
    tree = Path(os.environ.get("STRATA_BUILD") or "/nonexistent") / "current"
    try:
        return (tree / "share" / "strata" / "parts").read_text().split()
    except OSError:
        return []


def software_rows() -> list[Row]:
    """A row for each piece of software that Strata is made of."""
    found = software(_cmake_cache())
    parts = _parts()
    rows = []
    with PIECES.open(newline="") as file:
        for piece in csv.DictReader(file):
            get = (
                f"Debian, Ubuntu: sudo apt-get install {piece['debian']}",
                f"Fedora: sudo dnf install {piece['fedora']}",
                f"Spack: spack install {piece['spack']} && spack load {piece['spack']}",
            )
            name = piece["piece"]
            here = found[name]
            if not here and parts and not set(piece["part"].split()) & set(parts):
                here = f"not looked for yet: it comes with a part of the build ({piece['part']})"
            # Where Strata is installed already, nothing but a user's own solver is still to be built.
            needed = piece["need"] == "required" and (name == "python" or CHECKOUT.is_file())
            rows.append(Row(name, "software", needed, here, piece["without"], get))
    return [*rows, _blas_row()]


def _blas_row() -> Row:
    given = os.environ.get("STRATA_BLAS_CANDIDATES", "").split(":")
    wheel = "lib/python3*/site-packages/scipy_openblas32/lib/libscipy_openblas.so"
    own = [str(path) for path in Path(sys.prefix).glob(wheel)]
    system = find_library("openblas") or find_library("blas") or ""
    found = ", ".join(dict.fromkeys(part for part in (*given, *own, system) if part))
    return Row(
        "blas",
        "software",
        False,
        found,
        "no DGEMM",
        ("./strata setup (it comes as a wheel)", "Debian, Ubuntu: sudo apt-get install libopenblas0"),
    )


# ---- system ----


def _front() -> Path | None:
    """The native front: said by whoever started this, or beside the interpreter of an installed package."""
    said = os.environ.get("STRATA_FRONT") or os.environ.get("STRATA_BIN")
    for candidate in (said, Path(sys.prefix) / "bin" / "strata"):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    return None


def _facts(front: Path | None) -> dict[str, Any] | None:
    """strata.machine/1 as the front reads it."""
    if front is None:
        return None
    try:
        done = subprocess.run([front, "machine", "--json"], capture_output=True, timeout=30, check=True)
        return dict(json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def _front_row(front: Path | None, facts: dict[str, Any] | None) -> Row:
    return Row(
        "native front",
        "software",
        True,
        str(front) if front and facts is not None else "",
        "no command but this one; the rows about the system below are missing",
        ("./strata setup (its log: build/setup-HOST.log)",),
    )


def system_rows(facts: dict[str, Any]) -> list[Row]:
    """What the system grants, from the facts of `strata machine`."""
    return [
        _counters(facts["counters"]),
        _cgroups(facts["allowed"]["cgroup"], facts["privileges"]),
        _autogroup(facts["privileges"]),
        _huge_pages(facts["huge_pages"]),
        _shared_huge_pages(facts["huge_pages"]),
        _placement(facts["placement"]),
        _locking(),
    ]


def _row(piece: str, found: str, costs: str, *get: str) -> Row:
    return Row(piece, "system", False, found, costs, get)


def _counters(counters: dict[str, Any]) -> Row:
    kinds = [kind for kind in ("hardware", "software") if counters[kind]]
    return _row(
        "hardware counters",
        f"{' and '.join(kinds)} events: {', '.join(counters['events'])}" if counters["hardware"] else "",
        f"no cycles, instructions or cache misses in reports ({counters.get('why') or 'not offered'})",
        "sudo sysctl kernel.perf_event_paranoid=1 (a virtual machine may have none to offer)",
    )


def _cgroups(cgroup: dict[str, Any], privileges: dict[str, Any]) -> Row:
    writable = [name for name in ("cpu", "cpuset") if privileges[f"cgroup_{name}_writable"]]
    version = cgroup["version"]
    return _row(
        "cgroups",
        f"version {version}, may set {' and '.join(writable)}" if writable else "",
        f"a measured program gets no share of its own by cgroup (version {version or 'none'}, not writable)",
        "run under `systemd-run --user --scope -p Delegate=yes`, or ask the administrator for delegation",
    )


def _autogroup(privileges: dict[str, Any]) -> Row:
    return _row(
        "autogroup",
        "sessions are scheduled as groups" if privileges["autogroup"] else "",
        "beside the load of other sessions a measured program competes thread by thread",
        "sudo sysctl kernel.sched_autogroup_enabled=1",
    )


def _huge_pages(pages: dict[str, Any]) -> Row:
    usable = pages["transparent"] in ("always", "madvise")
    return _row(
        "huge pages",
        f"transparent: {pages['transparent']}" if usable else "",
        "large arrays pay for translation: latency above some MiB is higher than it need be",
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
    )


def _shared_huge_pages(pages: dict[str, Any]) -> Row:
    word = pages["shmem"]
    return _row(
        "huge pages of shared memory",
        f"shared: {word}" if word in ("always", "within_size", "advise", "force") else "",
        f"the arenas of teams lie on small pages ({word or 'the kernel offers no others'}): scattered access "
        "pays for translation, unless the program calls strata::team::begin_on_huge_pages, as the task "
        "graph does beside one memory",
        "echo advise | sudo tee /sys/kernel/mm/transparent_hugepage/shmem_enabled (Linux 6.10 on: also "
        "hugepages-2048kB/shmem_enabled there, unless it reads inherit)",
    )


def _placement(placement: dict[str, Any]) -> Row:
    works = placement["mbind"] and placement["move_pages"]
    return _row(
        "page placement",
        "mbind and move_pages work" if works else "",
        f"reports say {placement['word']!r}: where pages lie cannot be set or read back",
        "in a container: allow the system calls mbind and move_pages (docker run --cap-add SYS_NICE)",
    )


def _locking() -> Row:
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    unlimited = soft == resource.RLIM_INFINITY
    enough = unlimited or soft >= 64 << 20
    return _row(
        "memory locking",
        ("unlimited" if unlimited else f"{soft >> 20} MiB") if enough else "",
        f"an InfiniBand or Omni-Path network may refuse its buffers (limit {soft >> 10} KiB)",
        "ulimit -l unlimited, or memlock in /etc/security/limits.conf",
    )


# ---- output ----


def rows() -> list[Row]:
    """Everything that was looked for, in the order in which it is printed."""
    front = _front()
    facts = _facts(front)
    return [*software_rows(), _front_row(front, facts), *(system_rows(facts) if facts else [])]


def table(found: list[Row]) -> str:
    """One line for what is there; for what is not also its cost and how to get it."""
    width = max(len(row.piece) for row in found)
    lines = []
    for group, title in (("software", "Software"), ("system", "What the system grants")):
        members = [row for row in found if row.group == group]
        if members:
            lines += ["", title] if lines else [title]
        for row in members:
            word = row.found or ("MISSING" if row.required else "absent")
            lines.append(f"  {row.piece:<{width}}  {word}")
            if not row.found:
                pad = " " * (width + 4)
                lines.append(f"{pad}costs:  {row.costs}")
                lines += [
                    f"{pad}{label}  {text}"
                    for label, text in zip(["get it:"] + ["       "] * len(row.get), row.get)  # noqa: B905
                ]
    return "\n".join([*lines, "", outcome(found)])


def outcome(found: list[Row]) -> str:
    """The last line: whether Strata can work here, and how much of the rest is there."""
    needed = [row.piece for row in found if row.required and not row.found]
    absent = sum(not row.found for row in found if not row.required)
    rest = (
        f"{absent} of {len(found)} things are absent, each with its cost above"
        if absent
        else "nothing is absent"
    )
    if needed:
        return f"Strata cannot work here yet: {', '.join(needed)} missing"
    return f"all that Strata needs is here; {rest}"


def main(arguments: list[str] | None = None) -> int:
    """`strata doctor`; returns its exit code: 1 where something required is missing."""
    parser = argparse.ArgumentParser(
        prog="strata doctor", description="What was found on this machine, and what each absence costs."
    )
    parser.add_argument("--json", action="store_true", help="the same for programs")
    parser.add_argument(
        "--security",
        action="store_true",
        help="what listens now, and what other users of this machine could do",
    )
    options = parser.parse_args(arguments)
    if options.security:
        if str(PACKAGES) not in sys.path:  # this runs as a file of its own, too
            sys.path.append(str(PACKAGES))
        from strata.security import report

        return report.main(options.json)
    found = rows()
    if options.json:
        print(json.dumps({"schema": "strata.doctor/1", "rows": [asdict(row) for row in found]}, indent=1))
    else:
        print(table(found))
    return 1 if any(row.required and not row.found for row in found) else 0


if __name__ == "__main__":
    sys.exit(main())
