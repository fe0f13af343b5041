"""What is said before any figure: facts that are not the same on both sides."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from made_results import figure, noisy, task, whole

from strata.compare.differences import differences
from strata.compare.sides import Side

SUMMARY = whole([task("solve", [figure("time", noisy(1.0))])])


def changed(**parts: dict[str, Any]) -> dict[tuple[str, str], tuple[str, str]]:
    after = copy.deepcopy(SUMMARY)
    before = copy.deepcopy(SUMMARY)
    before["provenance"]["libraries"] = ["/lib/libgomp.so.1", "/lib/libopenblas-r0.3.21.so"]
    after["provenance"]["libraries"] = list(before["provenance"]["libraries"])
    for part, facts in parts.items():
        after[part] = {**after.get(part, {}), **facts}
    found = differences(Side(Path("a"), before), Side(Path("b"), after))
    return {(d.about, d.what): (d.before, d.after) for d in found}


def test_two_equal_sides_differ_in_nothing() -> None:
    assert changed() == {}


def test_machine_build_libraries_environment_limits_and_plan_are_looked_at() -> None:
    found = changed(
        machine={"kernel": "9.9", "cores": SUMMARY["machine"]["cores"][:1]},
        provenance={
            "compiler": ["clang 19"],
            "libraries": ["/lib/libgomp.so.1", "/opt/libopenblas-r0.3.29.so"],
            "environment": {"OMP_PLACES": "cores"},
        },
        limits={"steal_share": 0.5},
        policy={**SUMMARY["policy"], "launches": 24},
    )
    assert found["machine", "kernel"][1] == "9.9"
    assert found["machine", "cores"] == ("2", "1")
    assert found["build", "compiler"][1] == "clang 19"
    assert found["libraries", "libopenblas"] == ("/lib/libopenblas-r0.3.21.so", "/opt/libopenblas-r0.3.29.so")
    assert ("libraries", "libgomp") not in found
    assert found["environment", "OMP_PLACES"][1] == "cores"
    assert found["limits", "steal share"][1] == "0.5"
    assert found["plan", "launches of each task"][1] == "24"


def test_a_clock_counts_as_other_only_beyond_what_turbo_does() -> None:
    def clock(ghz: float) -> dict[str, Any]:
        return {"clock_ghz": {"min": ghz, "median": ghz, "max": ghz}}

    before = copy.deepcopy(SUMMARY)
    before["provenance"] |= clock(3.0)
    for ghz, said in ((3.05, []), (2.5, ["clock while measured"])):
        after = copy.deepcopy(SUMMARY)
        after["provenance"] |= clock(ghz)
        found = differences(Side(Path("a"), before), Side(Path("b"), after))
        assert [d.what for d in found] == said


def test_a_machine_that_others_used_too_is_said() -> None:
    assert changed(counts={"launches": 100, "tainted": 3}) == {}
    found = changed(counts={"launches": 100, "tainted": 30})
    assert found == {("run", "disturbed launches"): ("few", "30 of 100")}


def test_what_programs_found_and_where_they_lay_is_said_once() -> None:
    def side(folder: str, ghz: float) -> Side:
        more = {"command": [f"/{folder}/solver", "in"], "parameters": {"n": 1, "vector": ghz}}
        figures = [figure("time", noisy(1.0))]
        return Side(Path("x"), whole([task(f"solve/{i}", figures, **more) for i in range(3)]))

    found = differences(side("old", 32), side("new", 64))
    assert [(d.about, d.what, d.before, d.after) for d in found] == [
        ("build", "solver", "/old/solver", "/new/solver"),
        ("machine", "vector (solve)", "32", "64"),
    ]
