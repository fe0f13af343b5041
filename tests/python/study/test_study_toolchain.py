"""Claims about toolchains: builds side by side, each with its own words and environment; failures told."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from strata.errors import StrataError
from strata.study import toolchain
from strata.study.case import Study, read

STUDY = """
schema = "strata.study/1"
name = "sums"

[[toolchain]]
name = "gcc, two words"
tools = { cc = "gcc" }
flags = "-O1 -DVALUE=7 '-DWORDS=\\"two words\\"'"
libraries = "-lm -lc"
environment = { STRATA_SAID = "hello there" }

[[toolchain]]
name = "other"
tools = { cc = "OTHER" }
flags = "-DVALUE=9"
libraries = "-lm"

[[program]]
name = "sum"
build = [
    "{cc} {flags} {source}/sum.c -o {build}/sum {libraries}",
    "sh -c 'echo ${{STRATA_SAID}} > \\"{build}/said\\"'",
]
command = "{build}/sum {n}"
values = { n = [1, 2] }

[[layout]]
name = "pinned"
"""
SOURCE = """
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef WORDS
#define WORDS "no words"
#endif
int main(int argc, char** argv) {
    printf("%d %s %g\\n", VALUE, WORDS, argc > 1 ? sqrt(atof(argv[1])) : 0.0);
    return 0;
}
"""
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not here")


def study(folder: Path, text: str = STUDY, other: str = "gcc") -> Study:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sum.c").write_text(SOURCE)
    path = folder / "sums.toml"
    path.write_text(text.replace("OTHER", other))
    return read(path, folder / "builds")


def made(what: Study) -> list[str]:
    said: list[str] = []
    toolchain.make(what.builds, said.append)
    return said


def printed(what: Study) -> dict[str, str]:
    """What each run prints, started as its command says."""
    runs = {f"{r.toolchain.name if r.toolchain else ''} {r.values.get('n')}": r.command for r in what.runs}
    return {key: subprocess.check_output(command, text=True).strip() for key, command in runs.items()}


@needs_gcc
@pytest.mark.parametrize("other", ["gcc", "clang"])
def test_builds_stand_side_by_side_with_their_own_flags(tmp_path: Path, other: str) -> None:
    if shutil.which(other) is None:
        pytest.skip(f"{other} is not here")
    what = study(tmp_path / "a folder", other=other)
    assert made(what) == ["building sum with gcc, two words", "building sum with other"]
    assert printed(what) == {
        "gcc, two words 1": "7 two words 1",
        "gcc, two words 2": "7 two words 1.41421",
        "other 1": "9 no words 1",
        "other 2": "9 no words 1.41421",
    }
    folders = {build.toolchain.name: build.folder for build in what.builds}
    assert (folders["gcc, two words"] / "said").read_text() == "hello there\n"
    assert (folders["other"] / "said").read_text() == "\n"
    assert other in toolchain.version_of(other)


@needs_gcc
def test_a_build_by_cmake_starts_as_many_compilers_as_there_are_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = STUDY.replace("${{STRATA_SAID}}", "${{CMAKE_BUILD_PARALLEL_LEVEL}}")
    monkeypatch.delenv("CMAKE_BUILD_PARALLEL_LEVEL", raising=False)
    for said in (len(os.sched_getaffinity(0)), 5):  # a user's own number stays
        what = study(tmp_path / str(said), text)
        made(what)
        assert {(build.folder / "said").read_text() for build in what.builds} == {f"{said}\n"}
        monkeypatch.setenv("CMAKE_BUILD_PARALLEL_LEVEL", "5")


def test_no_ready_study_starts_compilers_without_a_limit() -> None:
    studies = sorted((Path(__file__).parents[3] / "cases" / "studies").glob("*.toml"))
    assert studies and not [
        s.name
        for s in studies
        if re.search(r"--build.*(--parallel|-j)(?! *\d)|\bmake\b.* -j(?! *\d)", s.read_text())
    ]


@needs_gcc
def test_what_a_build_finds_unchanged_it_leaves_alone(tmp_path: Path) -> None:
    text = STUDY.replace(
        '"{cc} {flags} {source}/sum.c', '"make -s -f {source}/rules CC={cc} OUT={build}/sum", "true'
    )
    if shutil.which("make") is None:
        pytest.skip("make is not here")
    what = study(tmp_path / "plain", text)
    rule = f"$(OUT): {tmp_path}/plain/sum.c\n\t$(CC) -DVALUE=1 $< -o $@ -lm\n"
    (tmp_path / "plain" / "rules").write_text(rule)
    made(what)
    first = [(build.folder / "sum").stat().st_mtime_ns for build in what.builds]
    made(what)
    assert [(build.folder / "sum").stat().st_mtime_ns for build in what.builds] == first


def test_the_environment_of_a_toolchain_goes_with_its_runs(tmp_path: Path) -> None:
    from fakes import machine

    from strata.measure.plan import identity
    from strata.study import planner

    facts = machine(2)
    plan = planner.build(study(tmp_path), facts, identity(facts), "b", [], {}, 1, None).plan
    by_chain = {task.labels["toolchain"]: dict(task.environment) for task in plan.tasks}
    assert by_chain == {"gcc, two words": {"STRATA_SAID": "hello there"}, "other": {}}


@pytest.mark.parametrize(
    ("one", "two"), [("gcc -O2", "gcc_-O2"), ("gcc (a)", "gcc [a]"), ("a", "a!"), ("é", "è")]
)
def test_names_that_look_alike_have_folders_of_their_own(tmp_path: Path, one: str, two: str) -> None:
    text = STUDY.replace('name = "gcc, two words"', f'name = "{one}"').replace(
        'name = "other"', f'name = "{two}"'
    )
    folders = [build.folder for build in study(tmp_path, text).builds]
    assert len(set(folders)) == 2 and not any(" " in str(f.relative_to(tmp_path / "builds")) for f in folders)


def test_a_missing_compiler_is_one_error_with_file_line_and_tool(tmp_path: Path) -> None:
    what = study(tmp_path, other="no-such-compiler -m64")
    with pytest.raises(StrataError) as caught:
        toolchain.usable(what.toolchains)
    text = str(caught.value)
    assert f"{tmp_path / 'sums.toml'}:13 [[toolchain]] other" in text and caught.value.code == 2
    assert "no-such-compiler" in text and "optional = true" in text


def test_an_optional_toolchain_is_left_out_and_said(tmp_path: Path) -> None:
    text = STUDY.replace('tools = { cc = "OTHER" }', 'tools = { cc = "OTHER" }\noptional = true')
    here, absent = toolchain.usable(study(tmp_path, text, other="no-such-compiler").toolchains)
    assert [c.name for c in here] == ["gcc, two words"]
    assert [(c.name, why) for c, why in absent] == [("other", "no-such-compiler is not there")]


@needs_gcc
def test_a_failing_build_shows_the_compiler_s_last_lines_and_leaves_no_folder(tmp_path: Path) -> None:
    what = study(tmp_path / "x", STUDY.replace("-DVALUE=9", "-DVALU=9"))
    with pytest.raises(StrataError) as caught:
        made(what)
    text = str(caught.value)
    assert caught.value.code == 1 and "the build of sum with other failed" in text
    assert "VALUE" in text and "undeclared" in text and "sums.toml:20 build" in text and "-DVALU=9" in text
    assert sorted(p.name for p in (tmp_path / "x" / "builds" / "sums").iterdir()) == [
        what.builds[0].folder.parent.name
    ]
    shutil.rmtree(tmp_path / "x" / "builds")
    with pytest.raises(StrataError):
        made(study(tmp_path / "x", STUDY.replace("-DVALUE=", "-DVALU=")))
    assert not (tmp_path / "x" / "builds").exists()


@needs_gcc
def test_nothing_is_built_where_another_user_can_replace_it(tmp_path: Path) -> None:
    """What lies there is what the study runs."""
    what = study(tmp_path / "x")
    (tmp_path / "x" / "builds").mkdir()
    (tmp_path / "x" / "builds").chmod(0o777)
    with pytest.raises(StrataError, match="programs that studies build are not kept where another user"):
        made(what)
    assert list((tmp_path / "x" / "builds").iterdir()) == []


def test_of_much_output_the_end_is_shown_and_a_program_that_cannot_start_is_told(tmp_path: Path) -> None:
    chatty = STUDY.replace("build = [", "build = [\"sh -c 'seq 100; exit 3'\", ")
    with pytest.raises(StrataError) as caught:
        made(study(tmp_path, chatty))
    lines = str(caught.value).splitlines()
    assert "100" in lines and "89" in lines and "88" not in lines
    absent = STUDY.replace("build = [", 'build = ["./no-such-script", ')
    with pytest.raises(StrataError, match="no-such-script"):
        made(study(tmp_path, absent))


def test_a_folder_that_cannot_be_made_is_one_error(tmp_path: Path) -> None:
    what = study(tmp_path)
    (tmp_path / "builds").write_text("in the way")
    with pytest.raises(StrataError, match="cannot write"):
        made(what)
