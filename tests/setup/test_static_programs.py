"""The program that stands before ranks is static: it is installed with a private prefix as without one.

With a private prefix installed programs get the path of its libraries. CMake's installation stops at a
program that has no entry for such a path, and so would all of set-up, wherever libraries are not the
system's.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The folder's own CMake file; its library, which this test does not need, is left out.
PROJECT = f"""\
cmake_minimum_required(VERSION 3.21)
project(ranks LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_INSTALL_RPATH "\\$ORIGIN/../private/lib")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(PROJECT_SOURCE_DIR "{ROOT}")
function(strata_folder_runs_once)
endfunction()
function(strata_library)
endfunction()
add_subdirectory("{ROOT}/core/launch" launch)
install(TARGETS strata-rank DESTINATION bin)
"""


def test_the_program_before_ranks_is_installed_where_programs_get_a_path_of_libraries(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    build = tmp_path / "build"
    for words in (
        ("cmake", "-S", tmp_path, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"),
        ("cmake", "--build", build, "--target", "strata-rank"),
        ("cmake", "--install", build, "--prefix", tmp_path / "installed"),
    ):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "installed" / "bin" / "strata-rank").is_file()
