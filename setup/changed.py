"""changed.py BASE BUILD: which tests a change can affect, for `./strata test --changed [BASE]`.

The change is what differs from the commit BASE, with files that git does not know yet. Native tests follow
from the dependencies that the build has recorded: a test program is affected when a source of it, a header,
or anything else that it is made after has changed. A test in Python is affected when it, a module that it
imports, or a program that its folder starts has changed. What no rule knows affects everything. Two lines are
printed: an expression for `ctest -R`, and the test files for pytest, each ending in a zero byte.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from strata import solvers

ROOT = Path(__file__).resolve().parents[1]
TESTS, PACKAGE = ROOT / "tests", ROOT / "python" / "strata"
SOLVERS = solvers.in_folder(ROOT / "solvers").values()

# What the tests of a folder start: targets of the build, and `python` where that leads to the whole Python
# side. The solvers' come from their manifests.
STARTS: dict[str, tuple[str, ...]] = {
    "benchmarks": (
        "strata",
        "strata-bench",
        "strata-bench-mpi",
        "strata-bench-graph",
        "strata-bench-team",
        "strata-integrity",
    ),
    "cluster": ("strata", "strata_graph_python", "team_nodes", "python"),
    "e2e": ("strata", "strata-bench", "strata-bench-mpi", "strata-bench-graph", "python"),
    "graph": ("strata",),
    "integrity": ("strata-integrity", "integrity_inject", "known_worker"),
    "interop": ("strata", "python"),
    "keys": ("strata", *(each.program for each in SOLVERS), "python"),
    "launch": ("strata",),
    "npb": ("strata", "strata-npb", "strata-npb-mpi", "strata-npb-team", "strata-npb-graph"),
    "numa": ("strata", "team_places", "patch_places", "measured", "strata-bench", "python"),
    "observe": ("strata",),
    "python": ("strata",),
    "setup": ("strata", "strata-bench", "strata-bench-mpi", "python"),
    "solvers": (
        "strata",
        *(program for each in SOLVERS for program in (each.program, *each.programs)),
        "strata_graph_python",
        "python",
    ),
    "team": ("strata", "team_nodes", "team_member", "python"),
}
for solver in SOLVERS:
    for tested in solver.tested_by:
        STARTS[tested] += (solver.program,)
# What tests/layers reads, #include and import, and tests/keys, which keys of cases tests set.
LAYERED = re.compile(r"\.(cpp|hpp|h|c)$|^python/strata/.*\.py$")
# Files that no compiler and no import reads: the folders of tests/ that do, or None for none.
READ_BY = [
    (
        re.compile(r"^(setup/|strata$|cmake/|CMakeLists\.txt$|pyproject\.toml$|python/strata/pieces\.csv$)"),
        ("setup",),
    ),
    (re.compile(r"^cases/"), ("e2e", "solvers", "graph", "python", "setup", "team", "cluster", "keys")),
    (re.compile(r"^tests/README\.md$"), ("setup",)),
    (
        re.compile(
            r"^(docs/|\.ci/|mkdocs\.yml$|[^/]*\.(md|cff)$|LICENSE$|\.clang-format$|\.gitignore$)|\.md$"
        ),
        (),
    ),
    (re.compile(r"^contrib/(site|spack)/"), ("setup", "python")),
    (re.compile(r"^(contrib|benchmarks/peers)/"), ("interop",)),
]
# And the native test programs that do.
READ_BY_PROGRAMS = [(re.compile(r"^cases/"), ("test_graph_plans", "test_run_without_hdf5"))]
# What may affect anything, and what the recorded dependencies know.
ANYTHING = re.compile(r"(^|/)CMakeLists\.txt$|\.cmake$|^tests/(fixtures/|conftest\.py$|catch)")
FOLLOWED = re.compile(r"\.(py|cpp|hpp|h|c|f|f90)$|^(tests|python/strata|examples)/")


def git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words, "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(
            f"strata: error: what changed cannot be told\n  git says: {done.stderr.strip()}\n"
            "  try:      --changed COMMIT"
        )
    return [name for name in done.stdout.split("\0") if name]


def changes(base: str) -> set[str]:
    """Paths from the root of the checkout."""
    return {*git("diff", "--name-only", base), *git("ls-files", "--others", "--exclude-standard")}


class Native:
    """What the build has recorded: see `ninja -t deps` and `ninja -t inputs`."""

    def __init__(self, build: Path) -> None:
        self.build = build
        self.headers: dict[str, set[str]] = {}
        target = ""
        for line in self._ninja("deps"):
            if line.startswith(" "):
                self.headers[target].add(self._inside(line.strip()))
            elif line:
                target = line.partition(":")[0]
                self.headers[target] = set()

    def _ninja(self, *words: str) -> list[str]:
        command = ["ninja", "-C", self.build, "-t", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(
                f"strata: error: ninja does not tell what depends on what\n  it says: {done.stderr.strip()}\n"
                "  try:     ninja 1.11 or newer; or ./strata test without --changed"
            )
        return [line for line in done.stdout.splitlines() if not line.startswith("ninja: ")]

    def _inside(self, path: str) -> str:
        """A path from the root of the checkout, where it is there."""
        whole = (self.build / path).resolve() if not path.startswith("/") else Path(path)
        return str(whole.relative_to(ROOT)) if whole.is_relative_to(ROOT) else str(whole)

    def files(self, target: str) -> set[str]:
        """All files of the checkout that this target is made from, or waits for."""
        found = set()
        for made in self._ninja("inputs", target):
            found.add(self._inside(made))
            found |= self.headers.get(made, set())
        return found

    def programs(self) -> dict[str, str]:
        """The build's executables and modules: their targets by the last part of the path."""
        lines = self._ninja("targets", "all")
        made = (
            line.split(": ") for line in lines if re.search(r": CXX_(EXECUTABLE|MODULE_LIBRARY)_LINKER", line)
        )
        return {Path(path).name.split(".")[0]: path for path, _ in made}

    def tests(self) -> dict[str, set[str]]:
        """The names of tests by the executable that they start."""
        command = ["ctest", "--test-dir", self.build, "--show-only=json-v1"]
        listed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        found: dict[str, set[str]] = {}
        for test in listed["tests"]:
            for word in test.get("command", []):
                if word.startswith(f"{self.build}/"):
                    found.setdefault(str(Path(word).relative_to(self.build)), set()).add(test["name"])
                    break
        return found


@functools.cache
def imports(path: Path) -> set[Path]:
    """The files that a file imports: of the package, and helpers of tests by their bare names."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
            found |= _by_name(node)
        for name in names:
            parts = name.split(".")
            if parts[0] == "strata":
                places = [PACKAGE.joinpath(*parts[1:])]
                found |= {PACKAGE.joinpath(*parts[1:i], "__init__.py") for i in range(1, len(parts) + 1)}
            else:
                places = _helper(path, parts[0])
            found |= {place.with_suffix(".py") for place in places}
    return {each for each in found if each.exists()}


def _helper(path: Path, name: str) -> list[Path]:
    """Where a bare name lies: beside the file or above it, the nearest first; else in any folder of tests."""
    folders = [path.parent, *(folder for folder in path.parents[1:] if folder.is_relative_to(TESTS))]
    nearest = [folder / name for folder in folders if (folder / f"{name}.py").exists()]
    return nearest[:1] or [folder / name for folder in TESTS.iterdir()]


def _by_name(call: ast.Call) -> set[Path]:
    """What importlib.import_module(f"strata.commands.{name}") may import: all modules there."""
    match call.args:
        case [ast.JoinedStr(values=[ast.Constant(value=str(start)), *_]), *_] if start.startswith("strata."):
            return set(PACKAGE.joinpath(*start.split(".")[1:-1]).glob("*.py"))
    return set()


def reached(path: Path) -> set[Path]:
    """A file and all that it imports, whatever the way; in tests with the conftest.py that pytest reads."""
    found, open_ = set(), [path]
    if path.is_relative_to(TESTS):
        open_ += [folder / "conftest.py" for folder in path.parents if folder.is_relative_to(TESTS)]
    while open_:
        each = open_.pop()
        if each in found or not each.exists():
            continue
        found.add(each)
        open_ += imports(each)
    return found


def with_templates(changed: Iterable[str]) -> set[str]:
    """A template or a table beside modules belongs to all of them."""
    found = set()
    for name in changed:
        path = ROOT / name
        if path.is_relative_to(PACKAGE) and path.suffix != ".py":
            while not path.is_dir() or not any(path.glob("*.py")):
                path = path.parent
            found |= {str(each.relative_to(ROOT)) for each in path.rglob("*.py")}
        else:
            found.add(name)
    return found


def select(changed: set[str], native: Native) -> tuple[list[str], list[Path]]:
    """Expressions for CTest, and test files."""
    folders: set[str] = set()
    everything = False
    rest = set()
    for name in changed:
        rule = next((readers for pattern, readers in READ_BY if pattern.search(name)), None)
        if ANYTHING.search(name) or (rule is None and not FOLLOWED.search(name)):
            everything = True
        elif rule is not None:
            folders.update(rule)
        else:
            rest.add(name)
            if LAYERED.search(name):
                folders.update(("layers", "keys"))
    rest = with_templates(rest)

    targets = native.programs()
    made_from = {program: native.files(path) for program, path in targets.items()}
    touched = {program for program, files in made_from.items() if everything or files & rest}
    for pattern, programs in READ_BY_PROGRAMS:
        if any(pattern.search(name) for name in changed):
            touched.update(programs)
    if any(name.startswith("python/strata/") for name in rest):
        touched.add("python")
    expressions = []
    for executable, names in native.tests().items():
        program = Path(executable).name
        if program in touched:
            whole = all(name.startswith(f"{program}/") for name in names)
            expressions += [f"^{program}/"] if whole else [f"^{re.escape(name)}$" for name in sorted(names)]

    paths = {ROOT / name for name in rest}
    files = []
    for path in sorted(TESTS.rglob("test_*.py")):
        folder = path.relative_to(TESTS).parts[0]
        beside = any(
            each.is_relative_to(TESTS / folder) and each.suffix not in (".py", ".cpp", ".hpp")
            for each in paths
        )
        starts = touched.intersection(STARTS.get(folder, ()))
        if everything or folder in folders or beside or starts or reached(path) & paths:
            files.append(path)
    return expressions, files


def main(base: str, build: Path) -> None:
    expressions, files = select(changes(base), Native(build))
    everything = len(sorted(TESTS.rglob("test_*.py")))
    print(
        f"strata: since {base}: {len(expressions)} native test programs, "
        f"{len(files)} of {everything} files of tests in Python",
        file=sys.stderr,
    )
    sys.stdout.write("|".join(expressions) + "\0" + "".join(f"{path}\0" for path in files))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve())
