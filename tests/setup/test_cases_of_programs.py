"""CTest runs the cases of a Catch2 program one by one, whatever their names, and where Catch2 is a bare
header too: each has its own limit of time, and its own skip.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PROJECT = f"""\
cmake_minimum_required(VERSION 3.21)
project(cases LANGUAGES CXX)
enable_testing()
set(STRATA_TEST_TIMEOUT 77)
include("{ROOT}/cmake/StrataTargets.cmake")
add_library(strata_catch_main INTERFACE)
strata_test(some some.cpp LABELS slow)
"""
# As a program of Catch2 does: it names its cases, whose number is its status; a name is given back with what
# would be more than a name escaped.
PROGRAM = r"""
#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
    const char* const asked = argc > 1 ? argv[1] : "";
    if (std::strcmp(asked, "--list-test-names-only") == 0)
        return std::puts("one, and [two]; \"three\"\nleft out \\ $HOME\nit fails"), 3;
    if (std::strcmp(asked, "one\\, and \\[two\\]; \"three\"") == 0) return 0;
    if (std::strcmp(asked, "left out \\\\ $HOME") == 0) return std::puts("cannot try: no network"), 0;
    return 1;
}
"""


def test_each_case_is_a_test_by_its_whole_name(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    (tmp_path / "some.cpp").write_text(PROGRAM)
    build = tmp_path / "build"

    def done(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)

    def good(*words: str | Path) -> str:
        made = done(*words)
        assert made.returncode == 0, made.stdout + made.stderr
        return made.stdout

    good("cmake", "-S", tmp_path, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug")
    (missing,) = json.loads(good("ctest", "--test-dir", build, "--show-only=json-v1"))["tests"]
    assert missing["name"] == "some_NOT_BUILT"
    good("cmake", "--build", build)
    tests = json.loads(good("ctest", "--test-dir", build, "--show-only=json-v1"))["tests"]
    names = ['one, and [two]; "three"', "left out \\ $HOME", "it fails"]
    assert [test["name"] for test in tests] == [f"some/{name}" for name in names]
    for test in tests:
        given = {each["name"]: each["value"] for each in test["properties"]}
        assert given["TIMEOUT"] == 77 and given["LABELS"] == ["slow"]
    said = done("ctest", "--test-dir", build).stdout
    assert "33% tests passed, 2 tests failed" not in said
    ended = {line.split("Test #")[1][0]: line for line in said.splitlines() if "Test #" in line}
    assert "Passed" in ended["1"] and "Skipped" in ended["2"] and "Failed" in ended["3"]
