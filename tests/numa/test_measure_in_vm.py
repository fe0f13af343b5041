"""`strata machine --measure` on four memories: the whole of it, Python too, inside the virtual machine.

An emulator has no NUMA latency: what is asked here is that every pair of domains is visited with pages that
really lie where they should, and that the report is made; never what the figures are.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from building import ROOT, Missing, find_built, find_kernel
from image import Image, find_busybox, libraries, make_image
from machine import CPUS, DOMAINS, Machine

CASE = """
schema = "strata.characterize/1"
mode = "machine"
budget_s = 60
patience_s = 30

[[task]]
benchmark = "domains"
arguments = ["--quick", "--array", "8MiB"]
layouts = ["1xN"]
figures = ["latency"]
timeout_s = 300
expected_s = 20.0
"""
LEFT_OUT = (
    "pip",
    "setuptools",
    "wheel",
    "ruff",
    "pytest",
    "_pytest",
    "scipy_openblas32",
    "mypy",
    "tests",
    "test",
    "ensurepip",
    "idlelib",
    "lib2to3",
)


def add_tree(image: Image, host: Path, path: str) -> set[Path]:
    """A folder without caches and tests; returns the libraries that its modules need."""
    needed: set[Path] = set()
    for file in sorted(host.rglob("*")):
        parts = file.relative_to(host).parts
        if file.is_dir() or "__pycache__" in parts or any(part in LEFT_OUT for part in parts):
            continue
        image.add("/".join([path, *parts]), file.read_bytes(), 0o755)
        if file.suffix == ".so" or ".so." in file.name:
            needed |= {library for library in libraries(file) if host not in library.parents}
    return needed


@pytest.fixture(scope="module")
def measuring_vm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    version = f"python{sysconfig.get_python_version()}"
    interpreter, busybox = Path(sysconfig.get_config_var("BINDIR"), version).resolve(), find_busybox()
    for program in ("qemu-system-x86_64", "cmake", "ninja"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")
    try:
        kernel = find_kernel()
    except Missing as why:
        pytest.skip(str(why))
    if busybox is None or not interpreter.exists():
        pytest.skip("no static busybox, or no interpreter to put inside")
    folder = tmp_path_factory.mktemp("measure")
    # The emulated processor lacks what this machine's compiler flags use.
    options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSTRATA_NATIVE=OFF", "-DSTRATA_MPI=OFF"]
    build = folder / "portable"
    configure = ["cmake", "-S", str(ROOT), "-B", str(build), *options, "-DSTRATA_TESTS=OFF"]
    subprocess.run(configure, check=True, capture_output=True)
    subprocess.run(["cmake", "--build", str(build), "--target", "product"], check=True, capture_output=True)
    prefix = folder / "prefix"
    install = ["cmake", "--install", str(build), "--component", "Unspecified", "--prefix", str(prefix)]
    subprocess.run(install, check=True, capture_output=True)
    programs = {
        "/opt/strata/bin/strata": prefix / "bin" / "strata",
        "/opt/strata/libexec/strata/strata-bench": prefix / "libexec" / "strata" / "strata-bench",
        "/usr/bin/python3": interpreter,
    }
    image = make_image(programs, busybox)
    needed = add_tree(image, ROOT / "python" / "strata", "/opt/site/strata")
    needed |= add_tree(image, ROOT / "cases", "/opt/strata/share/strata/cases")
    needed |= add_tree(image, Path(sysconfig.get_path("purelib")), "/opt/site")
    needed |= add_tree(image, Path(sysconfig.get_path("stdlib")), sysconfig.get_path("stdlib"))
    for library in needed:
        image.add(str(library), library.read_bytes())
    image.add("/opt/case.toml", CASE.encode(), 0o644)
    image.write(folder / "image")
    machine = Machine(kernel, folder / "image", folder, mib_per_domain=1024)
    yield machine
    machine.close()


@pytest.mark.skipif(
    find_built("tests/numa/measured") is None, reason="measured is not built: ./strata test builds it"
)
def test_what_measure_asks_of_domains_has_its_pages_where_they_belong(vm: Machine, tidy: None) -> None:
    """The benchmark of `strata machine --measure` alone, in every test run; all of it is the test below."""
    words = "--quick --array 2MiB --json /tmp/result"
    done = vm.run(f"strata launch --layout 1x{CPUS} --check -- measured domains {words} && cat /tmp/result")
    assert done.status == 0, done.out + done.err
    vm.run("rm /tmp/result")
    result = json.loads(done.out[done.out.index('{"') :])
    assert result["verified"] and result["parameters"]["placement"] == "verified"
    assert result["verification"]["value"] == 0  # cells with pages elsewhere than they were bound to
    for matrix in result["matrices"]:
        assert matrix["rows"] == matrix["columns"] == list(range(DOMAINS))
        assert all(value is not None for row in matrix["values"] for value in row)


@pytest.mark.soak
def test_measure_visits_every_pair_of_domains(measuring_vm: Machine) -> None:
    environment = "PYTHONPATH=/opt/site STRATA_PYTHON=/usr/bin/python3 PATH=/opt/strata/bin:$PATH HOME=/tmp"
    command = "strata machine --measure --case /opt/case.toml --out /tmp/results --here"
    done = measuring_vm.run(f"cd /tmp; export {environment}; {command}", timeout=1500)
    assert done.status == 0, done.err[-3000:] + done.out[-2000:]
    files = measuring_vm.run("find /tmp/results -type f").out.split()
    assert any(name.endswith("report.html") for name in files), files
    (summary,) = [name for name in files if name.endswith("summary.json")]
    text = measuring_vm.run(f"cat {summary}").out
    assert json.loads(text)["schema"].startswith("strata.summary/")
    records = measuring_vm.run("cat $(find /tmp/results -name '*.jsonl')").out
    assert records
    results = [json.loads(line)["result"] for line in records.splitlines() if '"strata.result/1"' in line]
    assert results
    for result in results:
        assert result["verified"], result
        latency = next(m for m in result["matrices"] if m["name"].startswith("latency"))
        assert len(latency["values"]) == DOMAINS
        assert all(value is not None for row in latency["values"] for value in row)
