"""Readers of files and messages that nobody vouches for, fuzzed: ten minutes for each target of targets.csv.

It fails where a reader crashes, hangs, throws anything but the project's one error, claims more memory than
64 MB and eight times its input (fuzz.hpp counts it), or where less than 80 % of its lines were reached.
STRATA_FUZZ_SECONDS: for how long instead. STRATA_FUZZ_BUILD: a folder in which the build stays.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import seeds

ROOT = Path(__file__).resolve().parents[2]
SECONDS = int(os.environ.get("STRATA_FUZZ_SECONDS", "600"))
LEAST = 80  # percent of lines
OFF = [
    "NATIVE",
    "BENCHMARKS",
    "EXAMPLES",
    "FORTRAN",
    "PYTHON_GRAPH",
    "TESTS",
    "PCH",
    "FFTW",
    "PAPI",
    "VALGRIND",
    "METIS",
    "XZ",
    "HDF5",
    "MPI",
]
LIMITS = ["-rss_limit_mb=2048", "-timeout=20", "-max_len=65536", "-detect_leaks=1", "-print_final_stats=1"]


def targets() -> list[dict[str, str]]:
    text = [line for line in (ROOT / "tests/fuzz/targets.csv").read_text().splitlines() if line[:1] != "#"]
    return list(csv.DictReader(text))


def tool(name: str) -> str:
    """Of the version that clang has: Debian calls them llvm-cov-14 where they are not the default."""
    version = re.search(
        r"version (\d+)", subprocess.run(["clang++", "--version"], capture_output=True, text=True).stdout
    )
    both = [f"{name}-{version[1]}" if version else name, name]
    return next((found for found in map(shutil.which, both) if found), "")


def lacking() -> str:
    """Why nothing can be fuzzed here; nothing where it can."""
    if shutil.which("clang++") is None:
        return "clang is not installed"
    asked = ["clang++", "-fsanitize=fuzzer", "-x", "c++", "-", "-o", os.devnull]
    body = 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
    if subprocess.run(asked, input=body, text=True, capture_output=True).returncode != 0:
        return "this clang has no libFuzzer"
    return "" if tool("llvm-profdata") and tool("llvm-cov") else "llvm-profdata or llvm-cov is not installed"


pytestmark = pytest.mark.soak


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if why := lacking():
        pytest.skip(why)
    folder = Path(os.environ.get("STRATA_FUZZ_BUILD") or tmp_path_factory.mktemp("fuzz"))
    switches = [f"-DSTRATA_{name}=OFF" for name in OFF]
    configure = [
        "cmake",
        "-S",
        ROOT,
        "-B",
        folder,
        "-G",
        "Ninja",
        "-DCMAKE_BUILD_TYPE=Debug",
        "-DSTRATA_FUZZ=ON",
    ]
    subprocess.run(
        [*configure, "-DCMAKE_CXX_COMPILER=clang++", *switches], check=True, stdout=subprocess.DEVNULL
    )
    yield folder


def reached(build: Path, target: dict[str, str], program: Path, profile: Path) -> tuple[int, int]:
    """Lines of the readers that were reached, and how many there are."""
    merged = profile.with_suffix(".profdata")
    subprocess.run([tool("llvm-profdata"), "merge", "-sparse", profile, "-o", merged], check=True)
    readers = [ROOT / reader for reader in target["readers"].split()]
    asked = [tool("llvm-cov"), "export", "-summary-only", f"-instr-profile={merged}", program, *readers]
    said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    lines = json.loads(said)["data"][0]["totals"]["lines"]
    return lines["covered"], lines["count"]


@pytest.mark.parametrize("target", targets(), ids=lambda target: target["name"])
def test_no_input_does_more_than_be_refused(target: dict[str, str], build: Path, tmp_path: Path) -> None:
    name = target["name"]
    subprocess.run(
        ["cmake", "--build", build, "--target", f"fuzz_{name}"], check=True, stdout=subprocess.DEVNULL
    )
    program = build / "tests/fuzz" / f"fuzz_{name}"
    given, found = tmp_path / "seeds", tmp_path / "found"
    seeds.write(given, name, target["seeds"])
    found.mkdir()
    environment = {**os.environ, "LLVM_PROFILE_FILE": str(tmp_path / "fuzzed.profraw")}
    words = [program, *LIMITS, f"-max_total_time={SECONDS}", f"-artifact_prefix={tmp_path}/", found, given]
    run = subprocess.run(
        words, env=environment, cwd=tmp_path, capture_output=True, text=True, errors="replace"
    )
    assert run.returncode == 0, (
        f"{name}: {run.stderr[-4000:]}\ninputs: {[str(p) for p in tmp_path.glob('*-*')]}"
    )
    covered, count = reached(build, target, program, tmp_path / "fuzzed.profraw")
    print(f"{name}: {covered} of {count} lines")
    assert covered >= LEAST / 100 * count, f"{name}: {covered} of {count} lines of {target['readers']}"
