"""The published figures: every entry complete, every unit known, every source cited by title."""

from __future__ import annotations

from synthetic_summaries import SUMMARIES

from strata.advice.samples import kind_of_unit
from strata.report.quantities import base
from strata.report.sections.published import load, measured
from strata.report.source import Source

KEYS = {"source", "machine", "figure", "value", "unit", "scope", "about", "beside", "where"}


def test_entries_are_complete_and_cite_a_source() -> None:
    table = load()
    for f in table["figure"]:
        assert set(f) == KEYS
        assert f["source"] in table["source"]
        assert f["value"] > 0 and isinstance(f["about"], bool)
        assert f["where"] and f["scope"] and f["machine"]
        assert base(1.0, f["unit"]) is not None, f["unit"]
    for source in table["source"].values():
        assert 1997 <= source["year"] <= 2007
        assert source["title"] and source["authors"] and ".txt" not in source["title"]


def test_no_entry_stands_twice() -> None:
    seen = [(f["machine"], f["figure"], f["scope"]) for f in load()["figure"]]
    assert len(seen) == len(set(seen))


def test_figures_to_stand_beside_exist_and_have_the_same_dimension() -> None:
    here = measured(Source(SUMMARIES["eight-domains"]()))
    for f in load()["figure"]:
        if f["beside"]:
            unit = here[f["beside"]].split(" (")[0].split(" ")[-1]
            assert kind_of_unit(unit) == kind_of_unit(f["unit"]), f["figure"]


def test_the_origins_latency_rule_is_consistent() -> None:
    """485 ns and 100 ns a hop give 1485 ns at the farthest, ten hops away."""
    values = {f["figure"]: f["value"] for f in load()["figure"] if f["source"] == "origin2000"}
    assert (
        values["memory latency, nearest"] + 10 * values["memory latency a hop"]
        == values["memory latency, farthest"]
    )
