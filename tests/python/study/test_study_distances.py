"""Claims about distances: they are those of the machine, and what it has not is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import synthetic_machines as machines
from made_studies import around, figure, study, task
from test_ready_studies import of, planned

from strata.advice import views
from strata.advice.distances import pairs, rank
from strata.errors import StrataError
from strata.report.build import compose
from strata.study.case import read


def had(facts: dict[str, Any]) -> dict[str, tuple[int, int]]:
    return {pair.distance: pair.pus for pair in pairs(facts) if pair.pus}


def missed(facts: dict[str, Any]) -> dict[str, str]:
    return {pair.distance: pair.why for pair in pairs(facts) if not pair.pus}


def test_256_cores_in_8_domains_have_every_distance_of_a_node() -> None:
    facts = machines.eight_domains()
    # A third level of 8 cores, domains of 32, packages of 4 domains; the second hardware thread of core 0.
    assert list(had(facts).items()) == [
        ("same core", (0, 256)),
        ("same L3", (0, 1)),
        ("same domain", (0, 8)),
        ("same package", (0, 32)),
        ("other package", (0, 128)),
    ]
    assert list(missed(facts)) == ["other node"]


def test_one_memory_keeps_what_it_can_and_says_what_it_has_not() -> None:
    assert had(machines.two_cores()) == {"same L3": (0, 1)}
    reasons = missed(machines.two_cores())
    assert reasons["other package"] == "one package"
    assert reasons["same package, other domain"] == "one memory domain"
    assert "hardware threads" in reasons["same core"] and "same domain" in reasons


def test_clusters_that_share_a_second_level_are_nearer_than_the_third() -> None:
    found = had(machines.hybrid_laptop())
    assert list(found) == ["same core", "same L2", "same L3"] and found["same L2"] == (12, 13)


def test_a_cache_over_two_domains_is_a_distance_of_its_own() -> None:
    facts = machines.high_bandwidth()
    assert had(facts)["same L3, other domain"] == (0, 14)
    assert "same package, other domain" not in missed(facts)


def test_domains_of_a_package_that_the_firmware_sets_apart_are_told_apart() -> None:
    facts = machines.eight_domains()
    for row, line in enumerate(facts["distances"]["matrix"]):  # a ring of four domains in each package
        for column in range(len(line)):
            if row // 4 == column // 4 and abs(row - column) == 2:
                line[column] = 16
    found = had(facts)
    assert found["same package, 12 by the firmware"] == (0, 32)
    assert found["same package, 16 by the firmware"] == (0, 64)
    words = list(found)
    assert words == sorted(words, key=rank) and words[-1] == "other package"


def test_only_what_may_be_used_counts() -> None:
    facts = machines.eight_domains()
    facts["allowed"]["pus"] = "7-8,40"
    assert had(facts) == {"same domain": (7, 8), "same package": (7, 40)}


def test_the_study_has_a_setting_for_each_distance_on_the_pus_that_have_it(tmp_path: Path) -> None:
    made = planned("distance", machines.eight_domains(), tmp_path)
    for program in ("pingpong", "copy", "lines"):
        assert {t.labels["distance"]: t.bind for t in of(made, program)} == {
            "same core": "os:0,256",
            "same L3": "os:0,1",
            "same domain": "os:0,8",
            "same package": "os:0,32",
            "other package": "os:0,128",
        }
    assert [u["setting"] for u in made.unavailable] == ["two processes, other node"]
    small = planned("distance", machines.two_cores(), tmp_path)
    assert [t.bind for t in of(small, "pingpong")] == ["os:0,1"]
    assert {u["setting"].partition(", ")[2]: u["why"] for u in small.unavailable} == missed(
        machines.two_cores()
    )


def test_a_series_goes_from_the_nearest_distance_to_the_farthest() -> None:
    tasks = []
    for word, value in (("other package", 0.9), ("same core", 0.1), ("same L3", 0.2)):
        labels = {"program": "pingpong", "setting": "two processes", "distance": word}
        latency = figure("latency", "us", around(value))
        tasks.append(task("pingpong", labels, [latency], layout="2x1", id=word))
    whole = study("series", tasks, "eight_domains", x="distance")
    (said,) = views.statements(whole)
    assert said.index("same core") < said.index("other package")
    (plot,) = [p for p in compose(whole).plots() if p.key == "series-0"]
    places = [plot.svg.index(f">{word}<") for word in ("same core", "same L3", "other package")]
    assert places == sorted(places)


def test_distances_are_asked_of_two_threads_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = 'schema = "strata.study/1"\nname = "mine"\n[[program]]\nname = "p"\ncommand = "true"\n'
    path.write_text(text + '[[layout]]\nname = "a"\nlayouts = ["4x1"]\ndistances = true\n')
    with pytest.raises(StrataError, match=r"two threads.*\n.*mine\.toml:9"):
        read(path)
