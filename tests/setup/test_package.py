"""What others build on: the CMake package and the Python package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sample

USER_CMAKE = """\
cmake_minimum_required(VERSION 3.21)
project(user LANGUAGES CXX)
find_package(strata REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE strata::machine)
"""

USER = """\
#include <core/base/error.hpp>

#include <cstdio>

int main() {
    try {
        throw strata::Error("a message").given("something");
    } catch (const strata::Error& error) {
        std::puts(error.what());
    }
}
"""


def run(*command: str | Path, **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


def test_find_package_gives_another_project_the_libraries(tmp_path: Path) -> None:
    build = os.environ.get("STRATA_BUILD")
    if not build:
        pytest.skip("started outside ./strata test: there is no build to install from")
    run("cmake", "--install", f"{build}/cmake", "--component", "development", "--prefix", tmp_path / "prefix")
    (tmp_path / "CMakeLists.txt").write_text(USER_CMAKE)
    (tmp_path / "user.cpp").write_text(USER)
    where = f"-DCMAKE_PREFIX_PATH={tmp_path}/prefix"
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", where, "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", tmp_path / "build")
    assert "a message" in run(tmp_path / "build" / "user")


@pytest.mark.soak
@pytest.mark.usefixtures("package_index")
def test_pip_install_gives_the_command_in_a_fresh_environment(tmp_path: Path) -> None:
    source = sample.snapshot(tmp_path / "source")
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    run(tmp_path / "venv" / "bin" / "pip", "install", source)

    environment = {k: v for k, v in os.environ.items() if not k.startswith(("STRATA_", "PYTHON"))}
    strata = tmp_path / "venv" / "bin" / "strata"
    assert "usage: strata" in run(strata, "--help", env=environment, cwd=tmp_path)
    assert "processor" in run(strata, "machine", env=environment, cwd=tmp_path)
    assert "usage: strata characterize" in run(
        strata, "characterize", "--help", env=environment, cwd=tmp_path
    )
    assert "stream" in run(strata, "bench", "--list", env=environment, cwd=tmp_path)
    plan = run(strata, "characterize", "--dry-run", "--here", env=environment, cwd=tmp_path)
    assert "stream" in plan, "the cases came along"
