"""The launcher under test, and small programs for it to launch, compiled once a session."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from launching import Launcher

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "programs"


@pytest.fixture(scope="session")
def binary() -> Path:
    # The built program itself: the entry of the checkout is a script, whose short-lived processes carry the
    # same words, and tests that count processes would take them for the launcher's.
    prefix = os.environ.get("STRATA_PREFIX")
    built = Path(prefix, "bin", "strata") if prefix else ROOT / "strata"
    path = Path(os.environ.get("STRATA_BIN") or built)
    if not os.access(path, os.X_OK):
        pytest.skip(f"no launcher at {path}: build it, or set STRATA_BIN")
    return path


@pytest.fixture
def launcher(binary: Path, tmp_path: Path) -> Iterator[Launcher]:
    made = Launcher(binary, tmp_path, f"token-{uuid.uuid4().hex}")
    yield made
    for pid in made.alive():
        os.kill(pid, 9)


def _compile(compiler: str, folder: Path, source: str, name: str, *flags: str) -> Path:
    program = folder / name
    subprocess.run([compiler, "-O1", *flags, "-o", str(program), str(PROGRAMS / source)], check=True)
    return program


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    folder = tmp_path_factory.mktemp("programs")
    return {
        "show": str(_compile(compiler, folder, "show.cpp", "show")),
        "show_openmp": str(_compile(compiler, folder, "show.cpp", "show_openmp", "-fopenmp")),
        "busy": str(_compile(compiler, folder, "busy.cpp", "busy", "-pthread")),
    }


def mpi_compilers() -> list[str]:
    """Wrappers of the MPIs that are here, one of each kind; STRATA_TEST_MPICC=a:b adds more."""
    named = [name for name in ("mpicc.openmpi", "mpicc.mpich") if shutil.which(name)]
    if not named and shutil.which("mpicc"):
        named = ["mpicc"]
    return named + [name for name in os.environ.get("STRATA_TEST_MPICC", "").split(":") if name]


@pytest.fixture(scope="session", params=mpi_compilers() or ["none"])
def ranks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The MPI program, built with each MPI that is here."""
    compiler = str(request.param)
    if compiler == "none":
        pytest.skip("no MPI compiler")
    shown = subprocess.run([compiler, "-show"], capture_output=True, text=True, check=False).stdout
    libraries = [word[2:] for word in shown.split() if word.startswith("-L")]
    flags = [f"-Wl,-rpath,{folder}" for folder in libraries if not folder.startswith("/usr/lib")]
    return str(_compile(compiler, tmp_path_factory.mktemp("mpi"), "ranks.c", "ranks", *flags))
