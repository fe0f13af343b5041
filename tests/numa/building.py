"""What the virtual machine is made of: a kernel, busybox, strata and the tests' own programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from image import find_busybox, make_image

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "programs"


# Programs of tests/numa/CMakeLists.txt.
BUILT = ("team_places", "patch_places", "measured")


class Missing(Exception):
    """Something that the virtual machine needs is not here."""


def find_kernel() -> Path:
    """STRATA_TEST_KERNEL, or the kernel that ./strata test has unpacked."""
    named = os.environ.get("STRATA_TEST_KERNEL")
    builds = Path(os.environ.get("STRATA_BUILDS", ROOT / "build"))
    kernel = Path(named) if named else builds / "test-kernel" / "vmlinuz"
    if kernel.exists():
        return kernel
    remedy = "STRATA_TEST_KERNEL names another" if named else "./strata test fetches one"
    raise Missing(f"no kernel at {kernel}: {remedy}")


def find_strata() -> Path:
    """The built program: the entry of the checkout is a script that would set things up inside."""
    prefix = os.environ.get("STRATA_PREFIX")
    path = Path(os.environ.get("STRATA_BIN") or Path(prefix or ROOT, "bin", "strata"))
    if path.exists():
        return path.resolve()
    raise Missing(f"strata is not built: nothing at {path} (STRATA_BIN names another)")


def find_built(path: str) -> Path | None:
    """A program of the build by its path there: that of ./strata test, or the one that STRATA_BIN lies in."""
    folders = [Path(os.environ["STRATA_BUILD"], "cmake")] if "STRATA_BUILD" in os.environ else []
    if "STRATA_BIN" in os.environ:
        folders.append(Path(os.environ["STRATA_BIN"]).resolve().parents[1])
    return next((folder / path for folder in folders if (folder / path).exists()), None)


def mpi_programs(folder: Path) -> dict[str, Path]:
    """MPICH's mpiexec, which starts ranks on its own node without ssh, and `pages` as a program of it, by
    their paths inside; nothing where MPICH is not here.
    """
    starters = [shutil.which(name) for name in ("mpiexec.hydra", "hydra_pmi_proxy")]
    compiler = shutil.which("mpicxx.mpich")
    if compiler is None or None in starters:
        return {}
    program = folder / "pages_mpi"
    command = [compiler, "-std=c++20", "-O1", "-fopenmp", "-DUSE_MPI", "-o", str(program)]
    subprocess.run([*command, str(PROGRAMS / "pages.cpp")], check=True)
    return {f"/bin/{path.name}": path for path in (program, *(Path(str(starter)) for starter in starters))}


def build_image(folder: Path, more: Sequence[Path] = ()) -> Path:
    """Writes the RAM disk with strata, the test programs and `more` in /bin. Raises Missing."""
    if shutil.which("qemu-system-x86_64") is None:
        raise Missing("no qemu-system-x86_64")
    find_kernel()
    strata, busybox = find_strata(), find_busybox()
    if busybox is None:
        raise Missing("no static busybox")
    compiler = os.environ.get("CXX") or shutil.which("c++")
    if compiler is None:
        raise Missing("no C++ compiler")
    pages = folder / "pages"
    command = [compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", "-fopenmp", "-o", str(pages)]
    subprocess.run([*command, str(PROGRAMS / "pages.cpp")], check=True)
    image = folder / "image"
    built = [path for name in BUILT if (path := find_built(f"tests/numa/{name}"))]
    programs = {f"/bin/{program.name}": program for program in (pages, *more, *built)}
    programs |= mpi_programs(folder)
    make_image({"/bin/strata": strata, **programs}, busybox).write(image)
    return image
