"""Which tests `./strata test --changed` picks: those that a change can affect, and no others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import sample

sys.path.insert(0, str(sample.ROOT / "setup"))

import changed

RECORDED = {
    "strata": {"core/base/error.hpp", "cli/main.cpp"},
    "strata-npb": {"core/base/error.hpp", "benchmarks/npb/mg/mg.cpp"},
    "test_npb": {"core/base/error.hpp", "benchmarks/npb/mg/mg.cpp", "tests/npb/test_npb_flow.cpp"},
    "test_core": {"core/base/error.hpp", "tests/core/base.cpp"},
}


class Build:
    """What a build has recorded, made up."""

    def programs(self) -> dict[str, str]:
        return {name: f"somewhere/{name}" for name in RECORDED}

    def files(self, target: str) -> set[str]:
        return RECORDED[Path(target).name]

    def tests(self) -> dict[str, set[str]]:
        return {"tests/npb/test_npb": {"test_npb/a", "test_npb/b"}, "tests/core/test_core": {"one"}}


def picked(*names: str) -> tuple[list[str], set[str]]:
    """Expressions for CTest, and the folders of the test files."""
    expressions, files = changed.select(set(names), Build())  # type: ignore[arg-type]
    return expressions, {path.relative_to(changed.TESTS).parts[0] for path in files}


def test_a_source_affects_the_programs_made_of_it_and_the_folders_that_start_them() -> None:
    assert picked("benchmarks/npb/mg/mg.cpp") == (["^test_npb/"], {"npb", "layers", "keys"})
    assert picked("tests/core/base.cpp") == (["^one$"], {"layers", "keys"})
    expressions, folders = picked("core/base/error.hpp")
    assert expressions == ["^test_npb/", "^one$"]
    assert {"launch", "npb", "e2e", "interop"} <= folders


def test_a_python_module_affects_what_imports_it_by_whatever_way() -> None:
    stats = "python/strata/measure/stats.py"
    _, files = changed.select({stats}, Build())  # type: ignore[arg-type]
    names = {path.name for path in files}
    assert {"test_stats.py", "test_race.py"} <= names, "tune's race imports it"
    assert "test_launch.py" not in names
    assert "test_characterize.py" in names, "its command starts the Python side"


def test_a_module_affects_the_tests_of_its_command_which_is_imported_by_its_name() -> None:
    for module, test in (
        ("submit/command", "submit/test_submit"),
        ("compare/console", "compare/test_compare_command"),
    ):
        _, files = changed.select({f"python/strata/{module}.py"}, Build())  # type: ignore[arg-type]
        assert changed.TESTS / "python" / f"{test}.py" in files, module


def test_a_helper_of_tests_affects_those_that_import_it() -> None:
    assert picked("tests/launch/launching.py") == ([], {"launch"})
    assert picked("tests/setup/conftest.py") == ([], {"setup"})


def test_a_helper_affects_tests_in_folders_below_it_and_one_beside_them_no_others() -> None:
    def named(helper: str) -> set[str]:
        _, files = changed.select({f"tests/solvers/{helper}"}, Build())  # type: ignore[arg-type]
        return {"/".join(path.relative_to(changed.TESTS / "solvers").parts) for path in files}

    assert {"md/test_md_layouts.py", "mpm/test_mpm_layouts.py"} <= named("every_layout.py")
    assert "flow/test_flow_truth.py" not in named("every_layout.py")
    assert named("md/md_gas.py") == {"md/test_md_truth.py", "md/test_md_motion_runs.py"}
    assert "run/test_run_command.py" in named("conftest.py")


def test_documents_affect_nothing_and_the_build_affects_everything() -> None:
    assert picked("docs/measuring.md", "README.md") == ([], set())
    everything = {path.relative_to(changed.TESTS).parts[0] for path in changed.TESTS.rglob("test_*.py")}
    for name in ("core/CMakeLists.txt", "tests/fixtures/make_fixtures.py", "something/unheard.of"):
        assert picked(name) == (["^test_npb/", "^one$"], everything)
    assert picked("setup/build.sh") == ([], {"setup"})


def test_a_case_affects_the_native_tests_that_read_it() -> None:
    class Reading(Build):
        def tests(self) -> dict[str, set[str]]:
            return {"tests/graph/test_graph_plans": {"test_graph_plans/a"}, **super().tests()}

    expressions, files = changed.select({"cases/mpm/disks.toml"}, Reading())  # type: ignore[arg-type]
    assert expressions == ["^test_graph_plans/"] and files


def test_a_base_that_is_no_commit_is_one_error() -> None:
    done = subprocess.run(
        [sys.executable, changed.__file__, "no-such-commit", "."], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("strata: error: what changed cannot be told")


@pytest.mark.parametrize("line", ["import strata.measure.stats", "from strata.measure import stats"])
def test_imports_are_found_as_files(tmp_path: Path, line: str) -> None:
    (tmp_path / "module.py").write_text(line + "\n")
    assert changed.PACKAGE / "measure" / "stats.py" in changed.imports(tmp_path / "module.py")
