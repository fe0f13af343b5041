"""The benchmark `pages` on four memories: its pages lie where each mode says, and local ones are known."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from building import ROOT, Missing, build_image, find_kernel
from machine import DOMAINS, Machine

PAGES = 3 * (8 << 20) // 4096 // DOMAINS  # of each domain's threads: three arrays of 8 MiB


@pytest.fixture(scope="module")
def bench_vm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """The machine with a strata-bench in it that is compiled for any processor, as the emulator's lacks what
    this one's may have.
    """
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    folder = tmp_path_factory.mktemp("numa-bench")
    build = ["cmake", "-S", str(ROOT), "-B", str(folder / "build"), "-DCMAKE_BUILD_TYPE=Release"]
    subprocess.run([*build, "-DSTRATA_NATIVE=OFF"], check=True, capture_output=True)
    make = ["cmake", "--build", str(folder / "build"), "-j", "2", "--target", "strata-bench"]
    subprocess.run(make, check=True, capture_output=True)
    try:
        image = build_image(folder, [folder / "build" / "benchmarks" / "strata-bench"])
    except Missing as why:
        pytest.skip(str(why))
    machine = Machine(find_kernel(), image, folder, 2)
    yield machine
    machine.close()
    shutil.rmtree(folder, ignore_errors=True)


def bench(vm: Machine, mode: str, bind: str) -> dict[str, Any]:
    sizes = "--array 8MiB --duration 20ms --json /tmp/result"
    done = vm.run(f"strata launch --layout 1x8 --bind {bind} -- strata-bench pages --mode {mode} {sizes}")
    assert done.status == 0, done.out + done.err
    return dict(json.loads(vm.run("cat /tmp/result; rm /tmp/result").out))


# Rows are the domains of the threads, columns the memories of their pages.
OWN = [[PAGES if column == row else 0 for column in range(DOMAINS)] for row in range(DOMAINS)]
EXPECTED = {
    "one": [[PAGES, 0, 0, 0]] * DOMAINS,
    "threads": OWN,
    "interleave": [[PAGES // DOMAINS] * DOMAINS] * DOMAINS,
    "bind": OWN,
}


@pytest.mark.soak
@pytest.mark.parametrize("mode", sorted(EXPECTED))
def test_pages_of_bound_threads_lie_where_the_mode_says(bench_vm: Machine, mode: str) -> None:
    result = bench(bench_vm, mode, "core")
    (matrix,) = result["matrices"]
    figures = {f["name"]: f["value"] for f in result["figures"]}
    assert result["parameters"]["cross_check"] == "numa_maps agrees"
    assert matrix["columns"] == list(range(DOMAINS)) and matrix["values"] == EXPECTED[mode]
    assert figures["local pages"] == (100 if EXPECTED[mode] == OWN else 100 / DOMAINS)
    assert figures["migrations"] == 0 and not result["notes"]


@pytest.mark.soak
def test_bound_and_dealt_pages_stay_there_whoever_wanders(bench_vm: Machine) -> None:
    """Threads that nobody holds may move: the pages' memories are then still those of the mode."""
    for mode in ("interleave", "bind"):
        result = bench(bench_vm, mode, "none")
        assert result["verified"] and result["verification"]["value"] == 0
        (matrix,) = result["matrices"]
        assert sum(map(sum, matrix["values"])) == DOMAINS * PAGES


@pytest.mark.soak
def test_a_policy_that_overrides_first_touch_is_noted(bench_vm: Machine) -> None:
    sizes = "--array 8MiB --duration 20ms --json /tmp/result"
    command = f"strata launch --layout 1x8 --memory interleave:0-3 -- strata-bench pages {sizes}"
    assert bench_vm.run(command).status == 0
    result = json.loads(bench_vm.run("cat /tmp/result; rm /tmp/result").out)
    assert any('memory policy "interleave"' in note for note in result["notes"])
    assert result["matrices"][0]["values"] == EXPECTED["interleave"]
