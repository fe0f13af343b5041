"""Claims about strides, shapes, toolchains and precision in study files: what they come to on a machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import machine

from strata.advice.distances import distance
from strata.errors import StrataError
from strata.measure.plan import identity
from strata.study import planner
from strata.study.case import read

HEAD = """
schema = "strata.study/1"
name = "mine"
"""
PROGRAM = """
[[program]]
name = "work"
command = "true"
"""


def plan(tmp_path: Path, text: str, cores: int = 8):
    path = tmp_path / "study.toml"
    path.write_text(text)
    facts = machine(cores)
    made = planner.build(
        read(path, tmp_path / "builds"), facts, identity(facts), "build", ("strata-bench",), {}, 1, None
    )
    return made


def layouts(made) -> list[tuple[str, int]]:
    return [(task.layout, task.stride) for task in made.plan.tasks]


def test_all_is_every_shape_that_fills_the_cores(tmp_path: Path) -> None:
    made = plan(tmp_path, HEAD + PROGRAM + '[[layout]]\nname = "a"\nlayouts = ["all"]\n', cores=12)
    assert layouts(made) == [(f"{p}x{12 // p}", 1) for p in (1, 2, 3, 4, 6, 12)]


def test_a_range_of_strides_is_what_the_cores_allow(tmp_path: Path) -> None:
    text = HEAD + PROGRAM + '[[layout]]\nname = "a"\nlayouts = ["1x2", "1xH"]\nstride = "1..N"\n'
    assert layouts(plan(tmp_path, text)) == [("1x2", 1), ("1x2", 2), ("1x2", 4), ("1x4", 1), ("1x4", 2)]


def test_a_stride_that_was_asked_for_by_name_is_missed_with_its_reason(tmp_path: Path) -> None:
    made = plan(tmp_path, HEAD + PROGRAM + '[[layout]]\nname = "a"\nlayouts = ["1x2"]\nstride = [1, 16]\n')
    assert layouts(made) == [("1x2", 1)]
    assert made.unavailable[0]["why"] == "1x2 with a stride of 16 is more than the 8 usable cores"


def test_tasks_of_several_strides_have_ids_of_their_own_and_say_their_distance(tmp_path: Path) -> None:
    made = plan(tmp_path, HEAD + PROGRAM + '[[layout]]\nname = "a"\nlayouts = ["2x1"]\nstride = "1..N"\n')
    assert len({task.id for task in made.plan.tasks}) == 3
    assert all(task.labels["distance"] for task in made.plan.tasks)


def test_distance_is_what_two_cores_share() -> None:
    facts = {
        "allowed": {},
        "cores": [{"pus": [i], "package": i // 4, "domain": i // 2} for i in range(8)],
        "caches": [{"level": 1, "type": "data", "cores": [i]} for i in range(8)]
        + [{"level": 3, "type": "unified", "cores": [2 * i, 2 * i + 1]} for i in range(4)],
    }
    said = [distance(facts, stride) for stride in (1, 2, 4, 8)]
    assert said == ["same L3", "same package", "other package", ""]


TOOLS = """
[[toolchain]]
name = "plain"
tools = { cc = "sh" }
flags = "-O2 -g"
environment = { KIND = "plain" }

[[toolchain]]
name = "other one"
tools = { cc = "sh" }

[[program]]
name = "work"
build = ["{cc} -c 'mkdir -p {build}'", "{cc} {flags} {source}/x.c -o {build}/x"]
command = "{build}/x {n}"
values = { n = [1, 2] }

[[layout]]
name = "a"
"""


def test_each_program_is_built_by_each_toolchain_in_a_folder_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "with space" / "study.toml"
    path.parent.mkdir()
    path.write_text(HEAD + TOOLS)
    study = read(path, tmp_path / "builds")
    assert len({build.folder for build in study.builds}) == 2
    assert all(" " not in str(build.folder.relative_to(tmp_path)) for build in study.builds)
    first = study.builds[0]
    assert first.commands[1] == ("sh", "-O2", "-g", f"{path.parent}/x.c", "-o", f"{first.folder}/x")
    assert {run.command[0] for run in study.runs} == {f"{b.folder}/x" for b in study.builds}


def test_toolchains_are_settings_that_are_compared(tmp_path: Path) -> None:
    made = plan(tmp_path, HEAD + "precision = 0.1\nmost = 30\n" + TOOLS)
    assert {(t.labels["toolchain"], t.labels["n"]) for t in made.plan.tasks} == {
        (chain, n) for chain in ("plain", "other one") for n in ("1", "2")
    }
    assert made.plan.policy.compared == 2
    assert {t.environment.get("KIND") for t in made.plan.tasks} == {"plain", None}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            HEAD + 'x = "size"\n' + PROGRAM + '[[layout]]\nname = "a"\n',
            "cores, processes, threads, stride, distance",
        ),
        (HEAD + PROGRAM + 'toolchains = ["gcc"]\n[[layout]]\nname = "a"\n', "add a [[toolchain]]"),
        (HEAD + PROGRAM + '[[layout]]\nname = "a"\nstride = "2.."\n', "in powers of two"),
        (HEAD + PROGRAM + '[[layout]]\nname = "a"\nstride = 0\n', "an integer >= 1"),
        (HEAD + "precision = 2\n" + PROGRAM + '[[layout]]\nname = "a"\n', "between 0 and 1"),
        (HEAD + TOOLS.replace("{flags}", "{flag}"), "a placeholder without a value"),
        (HEAD + TOOLS.replace('name = "other one"', 'name = "plain"'), "two toolchains have the same name"),
    ],
)
def test_a_mistake_is_one_message_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(StrataError, match=r"study\.toml:\d+") as caught:
        plan(tmp_path, text)
    assert said in str(caught.value)
