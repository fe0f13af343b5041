"""The virtual machine, booted once a session for each version of control groups."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from image import find_busybox, make_image
from machine import Machine

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "programs"


def find_kernel() -> Path | None:
    named = os.environ.get("STRATA_TEST_KERNEL")
    builds = Path(os.environ.get("STRATA_BUILDS", ROOT / "build"))
    kernel = Path(named) if named else builds / "test-kernel" / "vmlinuz"
    return kernel if kernel.exists() else None


def missing() -> str | None:
    """What keeps the machine from booting."""
    if shutil.which("qemu-system-x86_64") is None:
        return "no qemu-system-x86_64"
    if find_busybox() is None:
        return "no static busybox"
    return None if find_kernel() else "no kernel: ./strata test fetches one, or set STRATA_TEST_KERNEL"


def find_strata() -> Path | None:
    prefix = os.environ.get("STRATA_PREFIX")
    path = Path(os.environ.get("STRATA_BIN") or Path(prefix or ROOT, "bin", "strata"))
    return path if path.exists() else None


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The RAM disk with strata and the test programs in /bin."""
    compiler = os.environ.get("CXX") or shutil.which("c++")
    strata, busybox, why = find_strata(), find_busybox(), missing()
    if why or compiler is None or strata is None or busybox is None:
        pytest.skip(why or "no compiler, or strata is not built (STRATA_BIN)")
    folder = tmp_path_factory.mktemp("numa")
    pages = folder / "pages"
    command = [compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", "-static", "-pthread", "-o", str(pages)]
    subprocess.run([*command, str(PROGRAMS / "pages.cpp")], check=True)
    made = make_image({"/bin/strata": strata.resolve(), "/bin/pages": pages}, busybox)
    made.write(folder / "image")
    return folder / "image"


def _boot(image: Path, cgroup: int) -> Iterator[Machine]:
    kernel = find_kernel()
    assert kernel is not None
    machine = Machine(kernel, image, image.parent, cgroup)
    yield machine
    machine.close()


@pytest.fixture(scope="session")
def vm(image: Path) -> Iterator[Machine]:
    """The machine of 4 domains with control groups of version 2."""
    yield from _boot(image, 2)


@pytest.fixture(scope="session")
def vm_cgroup1(image: Path) -> Iterator[Machine]:
    """The same with version 1."""
    yield from _boot(image, 1)


@pytest.fixture(params=["vm", "vm_cgroup1"])
def any_vm(request: pytest.FixtureRequest) -> Machine:
    """One after the other."""
    machine: Machine = request.getfixturevalue(request.param)
    return machine
