"""What others build on: the CMake package and the Python package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sample

ROOT = Path(__file__).resolve().parents[2]

USER_CMAKE = """\
cmake_minimum_required(VERSION 3.21)
project(user LANGUAGES CXX)
find_package(strata REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE strata::machine)
strata_solver(solver solver.cpp)
strata_solver(methods methods.cpp)
"""

USER = """\
#include <core/base/error.hpp>
#include <core/lanes/functions.hpp>
#include <core/lanes/memory.hpp>
#include <core/lanes/plain.hpp>
#include <core/lanes/transpose.hpp>
#include <core/lanes/wide.hpp>

#include <cstdio>

int main() {
    try {
        throw strata::Error("a message").given("something");
    } catch (const strata::Error& error) {
        std::puts(error.what());
    }
    const double four[] = {1, 4, 9, 16};
    const strata::wide::Wide<double> sum(strata::lane_sum(strata::load(four, 4)));
    std::printf("lanes: %g\\n", strata::wide::total(sqrt(sum)) + strata::exp(strata::Lanes{})[7]);
}
"""


# What a solver of one's own may ask of each method; strata_solver() links them all.
USER_METHODS = """\
#include <methods/curvilinear/coarsen.hpp>
#include <methods/curvilinear/generate.hpp>
#include <methods/curvilinear/read.hpp>
#include <methods/geometry/solid.hpp>
#include <methods/overset/connectivity.hpp>
#include <methods/overset/hole_map.hpp>

#include <cstdio>
#include <filesystem>
#include <vector>

int main(int, char** argv) {
    using namespace strata;
    const graph::Real3 o{0, 0, 0}, x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
    using geometry::Facet;
    const geometry::Solid corner({Facet{o, y, x}, Facet{o, x, z}, Facet{o, z, y}, Facet{x, y, z}}, "corner");
    std::printf("inside: %d %d\\n", corner.contains({0.1, 0.1, 0.1}), corner.contains({0.5, 0.5, 0.5}));

    overset::HoleMap map(3, corner.bounds());
    std::vector<bool> marked(overset::HoleMap::cells(3));
    for (const Facet& facet : corner.triangles()) map.mark(facet, [&](std::size_t n) { marked[n] = true; });
    map.fill(marked);
    using Cell = overset::HoleMap::Cell;
    std::printf("outside: %d %d\\n", map.at({0.5, 0.5, 2}) == Cell::outside,
                map.at({0, 0, 0}) == Cell::outside);

    const flow::GridSystem grid = flow::coarsened(flow::cut(flow::generate(flow::CylinderGrid{})), 2);
    const auto cells = grid.source->zones()[0].cells;
    std::printf("cells: %d %d\\n", cells[0], cells[1]);

    flow::GridFiles files;
    files.grid = std::filesystem::path(argv[0]) / "none.xyz";
    try {
        (void)flow::read_grid(files);
    } catch (const Error& error) {
        std::puts("no such grid");
    }
}
"""


def run(*command: str | Path, **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def prefix() -> Path:
    """The tree that commands start from: its libraries and headers are all that others build on."""
    build = os.environ.get("STRATA_BUILD")
    if not build:
        pytest.skip("started outside ./strata test: there is no installed tree")
    return Path(build) / "current"


def test_find_package_gives_another_project_the_libraries_and_searches_for_nothing_else(
    tmp_path: Path, prefix: Path
) -> None:
    sample.need_solvers(prefix)
    (tmp_path / "CMakeLists.txt").write_text(USER_CMAKE)
    (tmp_path / "user.cpp").write_text(USER)
    (tmp_path / "methods.cpp").write_text(USER_METHODS)
    shutil.copy(ROOT / "examples" / "heat" / "heat.cpp", tmp_path / "solver.cpp")
    said = run(prefix / "bin" / "strata", "--cmake-prefix").strip()
    assert said == str(prefix), "the name that stays when Strata is built again"
    where = f"-DCMAKE_PREFIX_PATH={said}"
    # What the libraries need is known by its files; Strata's own build may be for any processor.
    without = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("MPI", "Hwloc", "fmt", "HDF5")]
    words = ["-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", where, *without, "-DSTRATA_NATIVE=ON"]
    run("cmake", *words)
    run("cmake", "--build", tmp_path / "build")
    said = run(tmp_path / "build" / "user")
    assert "a message" in said
    assert f"lanes: {8 * 30**0.5 + 1:g}" in said
    said = run(tmp_path / "build" / "methods")
    assert said.splitlines() == ["inside: 1 0", "outside: 1 0", "cells: 48 32", "no such grid"]
    case = tmp_path / "heat.toml"
    case.write_text('solver = "heat"\ncells = 32\nend = 0.02\n')
    team = {k: v for k, v in os.environ.items() if not k.startswith("STRATA_")} | {
        "STRATA_LAYOUT": "2x1",
        "STRATA_BIND": "none",
    }
    assert "verified: " in run(tmp_path / "build" / "solver", case, env=team)


# Those that differ in what they link or define; the others link as `conjugate` does. Strata's own build
# compiles all of them, and tests/graph runs them.
EXAMPLES = ("conjugate", "lennard_jones", "shapes", "stopped", "heat", "implicit", "multizone")


def test_the_headers_that_examples_include_and_those_of_methods_are_all_installed(prefix: Path) -> None:
    include = prefix / "include" / "strata"
    if not (include / "core" / "graph").is_dir():
        pytest.skip("the libraries of solvers are not built (toml++)")
    asked = {
        header: source
        for source in (ROOT / "examples").rglob("*.cpp")
        for header in re.findall(r'(?m)^#include [<"](core/[^>"]+)', source.read_text())
    }
    assert len(asked) > 5
    methods = {str(header.relative_to(ROOT)): header for header in (ROOT / "methods").rglob("*.hpp")}
    assert len(methods) > 20
    asked |= methods
    seen: set[str] = set()
    # A header's own headers, too: what is installed is enough by itself.
    while asked:
        header, source = asked.popitem()
        assert (include / header).is_file(), (header, source)
        seen.add(header)
        for further in re.findall(r'(?m)^#include "((?:core|methods)/[^"]+)', (include / header).read_text()):
            if further not in seen:
                asked[further] = include / header


@pytest.mark.parametrize(
    "which", [pytest.param(EXAMPLES, id="some"), pytest.param("", marks=pytest.mark.soak, id="all")]
)
def test_the_examples_build_by_themselves_and_run(
    tmp_path: Path, prefix: Path, which: str | tuple[str, ...]
) -> None:
    if which and not sample.has_solvers(prefix):
        which = tuple(name for name in which if name not in ("heat", "shapes"))
    # Without optimisation, which takes most of the time; Strata's own build has the examples with it.
    where = (f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_FLAGS_RELEASE=-O0")
    run("cmake", "-G", "Ninja", "-S", ROOT / "examples", "-B", tmp_path / "build", *where)
    listed = run("cmake", "--build", tmp_path / "build", "--target", "help")
    targets = [target for target in re.findall(r"(?m)^(\w+): phony$", listed) if target.startswith(which)]
    assert all(any(target.startswith(name) for target in targets) for name in which or ["conjugate"]), listed
    run("cmake", "--build", tmp_path / "build", "--target", *(targets if which else ["all"]))
    folder = tmp_path / "build" / "multizone"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("STRATA_")}
    team = environment | {"STRATA_LAYOUT": "3x1", "STRATA_BIND": "none"}
    for suffix in ("", "_f") if (prefix / "include" / "strata" / "fortran").is_dir() else ("",):
        serial = run(folder / f"multizone_serial{suffix}", env=environment)
        assert "verified" in serial
        assert run(folder / f"multizone_team{suffix}", env=team) == serial
    heat = tmp_path / "build" / "heat" / "heat"  # not found by `strata run`, so it does not say so
    if not heat.exists():
        pytest.skip("the libraries of solvers are not built (toml++): no example of one")
    said = run(heat, "--help")
    assert f"usage: {heat} [options] CASE" in said
    assert f"strata launch --layout 2x1 -- {heat} NAME.toml --out run" in said
    assert "strata run" not in said


def test_an_old_code_links_with_two_libraries_and_no_cmake(tmp_path: Path, prefix: Path) -> None:
    fortran = shutil.which("gfortran")
    if fortran is None:
        pytest.skip("gfortran is not installed")
    libraries = next(prefix.glob("lib*/**/libstrata_mlp.so")).parent
    source = ROOT / "tests" / "mlp" / "programs" / "old_code.f"
    link = (f"-L{libraries}", "-lstrata_mlplib", "-lstrata_mlp", f"-Wl,-rpath,{libraries}")
    run(fortran, "-w", "-fcray-pointer", "-fopenmp", source, "-o", tmp_path / "old", *link)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("STRATA_", "OMP_"))}
    assert "TOTAL IS RIGHT" in run(tmp_path / "old", "RUN", "3", env=environment)


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
    for name, *more in (("wave",), ("wavepy", "--python")):
        run(strata, "new", name, *more, env=environment, cwd=tmp_path)
        said = run(strata, "run", f"{name}/case.toml", "--bind", "none", env=environment, cwd=tmp_path)
        assert "verified: " in said
