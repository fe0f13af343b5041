"""Claims about studies that set one thing beside its peers: who is compared with whom, how it is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from made_studies import around, figure, study, task

from strata.advice import peers, views
from strata.report.build import build, compose
from strata.study import case


def _barrier(
    kind: str, members: int | None, value: float, program: str = "barrier", **labels: str
) -> dict[str, Any]:
    known = {"program": program, "kind": kind}
    known |= {} if members is None else {"members": str(members)}
    return task(program, {**known, **labels, "setting": "all"}, [figure(program, "ns", around(value))])


def _summary() -> dict[str, Any]:
    tasks = [
        _barrier("team", 2, 45.0),
        _barrier("central", 2, 75.0),
        _barrier("std", 2, 2e6),
        _barrier("team", 16, 9_900.0),
        _barrier("std", 16, 9_000.0),
        _barrier("arena", None, 40.0, "flag"),
        _barrier("ping-pong", None, 130.0, "flag", toolchain="Open MPI"),
    ]
    for one in tasks:
        one["id"] = "/".join(one["labels"].values())
    return study("peers", tasks, "eight_domains", x="members")


def test_the_first_is_compared_with_the_best_of_the_others_at_each_x() -> None:
    said = views.statements(_summary())
    assert len(said) == 3
    assert said[0].startswith("Barrier at 2 members, beside the best of 2: barrier, team takes 0.6")
    assert "of barrier, central" in said[0]
    # Also where it is the slower one.
    assert said[1].startswith("Barrier at 16 members: barrier, std takes 0.9") and "barrier, team" in said[1]
    assert "flag, arena takes 0.3" in said[2] and "flag, ping-pong, Open MPI" in said[2]


def test_a_series_is_one_kind_over_x_without_what_x_stands_for() -> None:
    lines = peers.lines(_summary(), "barrier")
    assert [line.label for line in lines] == ["barrier, team", "barrier, central", "barrier, std"]
    assert [x for x, _ in lines[0].points] == [2, 16]


def test_the_report_draws_what_varies_over_x_and_the_launches_of_what_does_not(tmp_path: Path) -> None:
    titles = [plot.title for plot in compose(_summary()).plots()]
    assert titles[:2] == ["Barrier by members", "Flag"]
    page = build(_summary(), tmp_path).read_text()
    assert "Barrier by members" in page and "The upright axis is logarithmic" in page


def test_a_program_that_is_not_built_belongs_to_no_toolchain(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        'schema = "strata.study/1"\nname = "s"\n'
        '[[toolchain]]\nname = "one"\n[[toolchain]]\nname = "two"\n'
        '[[program]]\nname = "there"\ncommand = "true"\n'
        '[[program]]\nname = "made"\nbuild = "true"\ncommand = "true"\n'
        '[[program]]\nname = "asked"\ncommand = "true"\ntoolchains = ["two"]\n'
        '[[layout]]\nname = "a"\n'
    )
    runs = case.read(path).runs
    of = {
        name: [r.toolchain.name if r.toolchain else None for r in runs if r.program == name]
        for name in ("there", "made", "asked")
    }
    assert of == {"there": [None], "made": ["one", "two"], "asked": ["two"]}


def test_the_report_says_of_how_many_settings_preemptions_do_not_count(tmp_path: Path) -> None:
    summary, words = _summary(), "ran more threads than cores on purpose"
    assert words not in build(summary, tmp_path / "none").read_text()
    for one in summary["tasks"][3:5]:
        one["crowded"] = True
    assert f"2 settings {words}" in build(summary, tmp_path / "two").read_text()
