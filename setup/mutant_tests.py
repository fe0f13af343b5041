"""Whether the tests find a change: those that `./strata test --changed` selects, near ones first, until one
fails.

A test has found the change when it fails twice, the second time by itself, and passes without the change.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from mutant_changes import Change
from mutant_clone import Broken, Clone, Ended

TESTS_S = 180.0  # of the tests of one change
BUILD_S = 1800.0
WHOLE_BUILD_S = 3 * 3600.0
CLOSEST = 6  # files of tests that run before all others
QUIET_S = 60.0  # near tests that say nothing for so long: one of them hangs
# What set-up says where sources do not compile (setup.sh, test.sh).
NO_BUILD = ("the native build failed", "the tests do not compile")
COMMAND = "./strata test"  # as the name of a test: what runs before any


@dataclass
class Verdict:
    """What became of a change: found, hangs, missed, late (time was over), not compiled, slow to build."""

    outcome: str
    by: list[str] = field(default_factory=list)  # tests that failed


@dataclass(frozen=True)
class Batch:
    """Tests that one runner takes at once."""

    native: str = ""  # an expression for ctest
    files: tuple[str, ...] = ()  # for pytest
    near: bool = True

    def script(self, clone: Clone, without: Iterable[str], failed: bool = False) -> str:
        """The command; `failed`: of those that failed the last time, one after the other."""
        if self.native:
            words = ["ctest", "--test-dir", '"$STRATA_BUILD/cmake"', "-LE", "soak", "--no-tests=ignore"]
            words += ["--timeout", f"{QUIET_S:.0f}", "-R", shlex.quote(self.native)]
            if excluded := _exactly(name for name in without if "::" not in name):
                words += ["-E", shlex.quote(excluded)]
            words += ["--rerun-failed"] if failed else ["-j", "$(($(nproc) * 2))", "--stop-on-failure"]
        else:
            words = ['"$STRATA_PYTHON"', "-m", "pytest", "--rootdir", ".", "-m", "'not soak'"]
            words += ["-o", shlex.quote(f"cache_dir={clone.folder}/pytest")]
            words += [f"--deselect={shlex.quote(name)}" for name in without if "::" in name]
            if failed:
                words += ["-n", "0", "--last-failed", "--last-failed-no-failures", "none"]
            else:
                words += ["-v", "-x", "-n", "$(nproc)"]
            words += [shlex.quote(name) for name in self.files]
        return " ".join(words)


def _write(path: Path, source: str) -> None:
    """Writes a source. Python knows a compiled file for stale by seconds and size, which both may stay."""
    path.write_text(source, encoding="utf-8")
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
        compiled.unlink()


def _exactly(names: Iterable[str]) -> str:
    return "|".join(f"^{re.escape(name)}$" for name in names)


def _selecting(clone: Clone) -> ModuleType:
    """setup/changed.py of the clone: whose files are asked for, and what imports what there."""
    spec = importlib.util.spec_from_file_location("changed_in_clone", clone.root / "setup" / "changed.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Judge:
    """Judges changes in a clone. `unsound`: tests that fail without one, and are left out."""

    def __init__(self, clone: Clone, unsound: Iterable[str] = ()) -> None:
        self.clone, self.unsound, self.sound = clone, set(unsound), set[str]()
        self.changed = _selecting(clone)

    def prepare(self) -> None:
        """The build of the clone as it is. Raises Broken where there is none."""
        self._must_build(self.clone.build_whole(WHOLE_BUILD_S))

    @staticmethod
    def _must_build(built: Ended) -> None:
        if built.code != 0:
            raise Broken(f"the sources are not built without a change, either:\n{built.tail}")

    def verdict(self, change: Change) -> Verdict:
        while True:
            verdict = self._with(change)
            new = set(verdict.by) - self.sound
            if not new:
                return verdict
            failing = self._failing_without(change, new)
            self.sound |= new - failing
            self.unsound |= failing
            if not failing:
                return verdict

    def _with(self, change: Change) -> Verdict:
        path = self.clone.root / change.file
        source = path.read_text(encoding="utf-8")
        _write(path, change.applied(source))
        try:
            if change.file.endswith(".py"):
                return self._tested(change)
            built = self.clone.build(BUILD_S)
            if built.code is None:
                return Verdict("slow to build")
            if any(words in built.said for words in NO_BUILD):
                return Verdict("not compiled")
            return self._tested(change) if built.code == 0 else Verdict("found", [COMMAND])
        finally:
            _write(path, source)

    def _tested(self, change: Change) -> Verdict:
        batches = self._batches(change)
        end = time.monotonic() + TESTS_S
        for batch in batches:
            for _ in range(2):  # once more where a test failed and then passed by itself
                shutil.rmtree(self.clone.folder / "pytest", ignore_errors=True)
                done = self.clone.in_build(
                    batch.script(self.clone, self.unsound), max(end - time.monotonic(), 1.0)
                )
                if done.code is None:
                    return Verdict("hangs" if batch.near and done.quiet_s >= QUIET_S else "late")
                if done.code in (0, 5):  # pytest's 5: no test is left
                    break
                failed = self._failed(batch)
                again = self.clone.in_build(batch.script(self.clone, self.unsound, failed=True), TESTS_S)
                if again.code != 0:
                    return Verdict("found", failed or [COMMAND])
        return Verdict("missed")

    def _batches(self, change: Change) -> list[Batch]:
        """Native tests, tests that import the module that changed, all others."""
        out = self.clone.folder / "selected"
        ask = f'"$STRATA_PYTHON" setup/changed.py HEAD "$STRATA_BUILD/cmake" >{shlex.quote(str(out))}'
        asked = self.clone.in_build(ask, TESTS_S)
        if asked.code != 0:
            raise Broken(f"what a change of {change.file} can affect is not told:\n{asked.tail}")
        native, *files = out.read_text(encoding="utf-8").split("\0")[:-1]
        return batches(self.clone.root, self.changed, change.file, native, files)

    def _failed(self, batch: Batch) -> list[str]:
        if batch.native:
            said = self.clone.in_build(
                'cat "$STRATA_BUILD/cmake/Testing/Temporary/LastTestsFailed.log"', 60
            ).said
            return [line.partition(":")[2] for line in said.splitlines() if ":" in line]
        cache = self.clone.folder / "pytest" / "v" / "cache" / "lastfailed"
        return sorted(json.loads(cache.read_text(encoding="utf-8"))) if cache.exists() else []

    def _failing_without(self, change: Change, names: set[str]) -> set[str]:
        """Those of the tests that fail on the sources without a change, too."""
        if not change.file.endswith(".py"):
            self._must_build(self.clone.build(BUILD_S))
        failing = set()
        for name in names - {COMMAND}:
            alone = (
                Batch(native=_exactly([name]))
                if "::" not in name and ".py" not in name
                else Batch(files=(name,))
            )
            if all(self.clone.in_build(alone.script(self.clone, ()), TESTS_S).code != 0 for _ in range(2)):
                failing.add(name)
        return failing


def batches(root: Path, selecting: ModuleType, file: str, native: str, files: Sequence[str]) -> list[Batch]:
    """Native tests; unit tests of Python that import the file, first those that import least; all others."""
    names = [str(Path(name).relative_to(root)) for name in files]
    reached = {name: selecting.reached(root / name) for name in names if name.startswith("tests/python/")}
    near = sorted((n for n, of in reached.items() if root / file in of), key=lambda n: len(reached[n]))
    groups = (near[:CLOSEST], near[CLOSEST:], [name for name in names if name not in near])
    found = [Batch(native=native)] if native else []
    return found + [Batch(files=tuple(group), near=n < 2) for n, group in enumerate(groups) if group]
