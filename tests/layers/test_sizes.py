"""No folder has more than 60 files of code; outside the tests no file has more than 450 lines, and no
function more than 60.

The lists below are of what was longer when the rule came. They only get shorter: a name that is no longer
needed is an error.
"""

from __future__ import annotations

import subprocess

import pytest
from order import ROOT
from sizes import full_folders, long_files, long_functions, native_functions, python_functions

# With the most files that they may have.
FULL_FOLDERS = {
    "benchmarks/integrity": 63,  # half of them are kernels, a pair of files each; not divided yet
    "core/launch": 79,  # from the layout to the record, a pair of files for each step; not divided yet
}
LONG_FILES: set[str] = set()
LONG_FUNCTIONS = {
    "benchmarks/npb/lu/rows.cpp": {"RowSolve::solve_rows"},
    "solvers/flow/output/node_means.hpp": {"node_means"},
    "solvers/flow/step_tasks.cpp": {"find_residual"},
}


@pytest.fixture(scope="module")
def names() -> list[str]:
    """The files of C, C++ and Python, by their path from the root."""
    command = ["git", "ls-files", "*.cpp", "*.hpp", "*.c", "*.h", "*.py"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


@pytest.fixture(scope="module")
def files(names: list[str]) -> dict[str, str]:
    """The text of each outside the tests."""
    return {name: (ROOT / name).read_text() for name in names if name[:6] != "tests/"}


def test_folders_show_what_is_in_them(names: list[str]) -> None:
    found = full_folders(names)
    more = {folder: count for folder, count in found.items() if count > FULL_FOLDERS.get(folder, 0)}
    assert more == {}, "divide these by what their files are about"
    assert FULL_FOLDERS.keys() - found.keys() == set(), "these are small now: take them from FULL_FOLDERS"


def test_a_full_folder_is_told_and_folders_within_count_by_themselves() -> None:
    files = [f"core/a/{n}.cpp" for n in range(61)] + [f"core/a/b/{n}.cpp" for n in range(60)] + ["main.cpp"]
    assert full_folders(files) == {"core/a": 61}


def test_files_fit_a_reading(files: dict[str, str]) -> None:
    found = long_files(files)
    assert {file: lines for file, lines in found.items() if file not in LONG_FILES} == {}
    assert LONG_FILES - found.keys() == set(), "these are short now: take them from LONG_FILES"


def test_functions_fit_a_screen(files: dict[str, str]) -> None:
    found = long_functions(files)
    assert [str(each) for each in found if each.name not in LONG_FUNCTIONS.get(each.file, ())] == []
    allowed = {(file, name) for file, names in LONG_FUNCTIONS.items() for name in names}
    assert allowed - {(each.file, each.name) for each in found} == set(), (
        "these are short now: take them from LONG_FUNCTIONS"
    )


def test_functions_are_found_in_a_file_of_cpp() -> None:
    text = """#include <vector>
#define OPEN {
namespace a {
// void none() {
constexpr int kTable[] = {1, 2};
template <class T, class U = std::vector<T>>
struct Point : Base<int> {
    Point() : x_{1},
              y_{
                  2} {
        f([](int i) { return "}" + i; });
    }
    bool operator==(const Point& other) const { return x_ == other.x_; }

  private:
    int x_{0};
};

enum class Kind { one, two };

template <class T>
auto Point<T>::both(Kind kind = {}) const -> std::vector<int> {
#ifdef _OPENMP
    for (;;) {
#else
    {
#endif
        struct Local {
            int f() { return R"x({)x"; }
        };
    }
}
}  // namespace a
extern "C" int main(int count, char**) noexcept {
    return 1'000 + '}';
}
"""
    found = [(each.name, each.first, each.lines) for each in native_functions("a.cpp", text)]
    assert found == [
        ("Point::Point", 8, 5),
        ("Point::operator==", 13, 1),
        ("Point<T>::both", 21, 12),
        ("main", 34, 3),
    ]


def test_a_long_function_of_python_is_told() -> None:
    lines = ["class A:", "    @property", "    def f(self):", *["        1"] * 60, "", "async def g(): ..."]
    found = [str(each) for each in python_functions("a.py", "\n".join(lines))]
    assert found == ["a.py:3: A.f has 61 lines", "a.py:65: g has 1 lines"]
