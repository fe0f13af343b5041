"""A small checkout: Strata's own entry, set-up and CMake files around a front of a few lines.

Setting it up takes seconds, so a test can do it many times; the real one is set up by the campaigns.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

FRONT = """\
#include <fmt/core.h>
#include <hwloc.h>
#include <unistd.h>

#include <cstdlib>

#include "recall.hpp"

int main(int argc, char** argv) {
    strata::cli::recall(argv, argc > 1 ? argv[1] : nullptr);
    char exe[4096] = {};
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0) return 1;
    fmt::print("exe={}\\n", static_cast<const char*>(exe));
    fmt::print("hwloc={:x}\\n", hwloc_get_api_version());
    const char* python = std::getenv("STRATA_PYTHON");
    fmt::print("python={}\\n", python == nullptr ? "" : python);
    fmt::print("path={}\\n", std::getenv("PATH"));
    fmt::print("word=first\\n");
    for (int i = 1; i < argc; ++i) fmt::print("argument={}\\n", argv[i]);
}
"""

CMAKE = """\
add_executable(strata main.cpp recall.cpp)
target_include_directories(strata PRIVATE "${PROJECT_SOURCE_DIR}")
target_link_libraries(strata PRIVATE hwloc::hwloc fmt::fmt)
"""

PYPROJECT = """\
[project]
dependencies = ["pip"]
[project.optional-dependencies]
dev = []
docs = []
"""


class Checkout:
    """A checkout and the environment in which its commands are started."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("STRATA_")}
        # Without optimisation, which takes a third of the time.
        self.environment["STRATA_CMAKE_ARGS"] = "-DSTRATA_BENCHMARKS=OFF -DCMAKE_CXX_FLAGS_RELEASE=-O0"
        self.environment["STRATA_NO_APT"] = "1"  # a test changes nothing outside its folder

    @property
    def entry(self) -> str:
        return str(self.root / "strata")

    def start(
        self,
        *arguments: str,
        cwd: Path | str = "/",
        prefix: tuple[str, ...] = (),
        entry: str | None = None,
        **environment: str,
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*prefix, entry or self.entry, *arguments],
            cwd=cwd,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def run(
        self, *arguments: str, seconds: float = 300, **options: object
    ) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, **options)  # type: ignore[arg-type]
        try:
            out, err = process.communicate(timeout=seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def builds(self) -> list[Path]:
        return sorted(key.parent for key in (self.root / "build").glob("*/key"))

    def trees(self) -> list[Path]:
        """All installed trees, current or replaced."""
        return sorted((self.root / "build").glob("*/install-*"))

    def say(self, word: str) -> None:
        """Changes what the front says: a source that is newer than the build."""
        source = self.root / "cli" / "main.cpp"
        source.write_text(FRONT.replace("word=first", f"word={word}"))


def facts(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """What the small front printed; fails with everything else it said when it did not run."""
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


def make(root: Path, python: Path | None = None) -> Checkout:
    """The small checkout; `python` makes its environments, else one that set-up finds."""
    for name in ("setup", "cmake"):
        shutil.copytree(ROOT / name, root / name)
    for name in (
        "strata",
        "CMakeLists.txt",
        "tests/CMakeLists.txt",
        "tests/catch.hpp",
        "tests/catch_main.cpp",
        "python/strata/pieces.csv",
        "python/strata/doctor.py",
        "contrib/site/site.toml",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, root / name)
    for folder in ("cli", "cases"):
        (root / folder).mkdir()
    for name in ("recall.cpp", "recall.hpp"):
        shutil.copy2(ROOT / "cli" / name, root / "cli" / name)
    (root / "cli" / "main.cpp").write_text(FRONT)
    (root / "cli" / "CMakeLists.txt").write_text(CMAKE)
    (root / "pyproject.toml").write_text(PYPROJECT)
    made = Checkout(root)
    if python:
        made.environment["STRATA_BASE_PYTHON"] = str(python)
    return made


def without_compiler(folder: Path) -> str:
    """A PATH with everything but compilers: a compute node."""
    folder.mkdir()
    hidden = (
        "c++",
        "g++",
        "gcc",
        "cc",
        "clang",
        "mpic",
        "mpiCC",
        "x86_64-linux-gnu-g",
        "aarch64-linux-gnu-g",
    )
    for place in os.environ["PATH"].split(":"):
        for program in Path(place).iterdir() if Path(place).is_dir() else []:
            link = folder / program.name
            if not program.name.startswith(hidden) and not link.is_symlink():
                link.symlink_to(program)
    return str(folder)


class Somebody:
    """A person without rights, with a folder and a home: `nobody` where tests run as root, else ourselves.

    The folder is no tmp_path: pytest closes the folder above those to others each time that it starts.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        folder.chmod(0o755)
        self.other = os.geteuid() == 0 and shutil.which("setpriv") is not None
        self.prefix = (
            ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--") if self.other else ()
        )

    def owns_all(self) -> None:
        if self.other:
            subprocess.run(["chown", "-R", "nobody", str(self.folder)], check=True)


def snapshot(target: Path) -> Path:
    """A copy of the real checkout: what git knows or would take."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target


def has_solvers(prefix: Path) -> bool:
    """Whether an installed tree has the solvers, which need toml++."""
    return (prefix / "libexec" / "strata" / "strata-transport").exists()


def need_solvers(prefix: Path) -> None:
    """Skips a test where they are not there."""
    if not has_solvers(prefix):
        pytest.skip("the solvers and their libraries are not built (toml++)")
