"""Claims about `strata machine` as a user types it, native front and Python side together."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

from as_typed import ROOT, Strata

FIXTURES = ROOT / "tests" / "fixtures" / "machines"


def test_the_table_comes_first_and_the_findings_after_it(strata: Strata) -> None:
    done = strata.run("machine")
    assert done.returncode == 0, done.stderr
    assert done.stdout.index("processor") < done.stdout.index("findings")


def test_the_facts_are_json_with_their_schema(strata: Strata) -> None:
    facts = json.loads(strata.run("machine", "--json").stdout)
    assert facts["schema"] == "strata.machine/1" and facts["source"] == "system" and facts["cores"]


def test_a_drawing_is_written_of_this_machine_and_of_one_from_a_file(strata: Strata) -> None:
    fixture = FIXTURES / "epyc-256-cores-8-domains.xml"
    for number, words in enumerate(([], ["--input", str(fixture)])):
        drawing = strata.home / f"drawing {number}.svg"
        done = strata.run("machine", *words, "--svg", str(drawing))
        assert done.returncode == 0, done.stderr
        root = ElementTree.parse(drawing).getroot()
        assert root.tag.endswith("svg") and len(list(root.iter())) > 10


def test_findings_of_a_machine_from_a_file_claim_nothing_that_only_a_live_system_tells(
    strata: Strata,
) -> None:
    done = strata.run("machine", "--input", "synthetic:package:2 numa:4 l3:2 core:8 pu:2")
    assert done.returncode == 0, done.stderr
    assert "8 domains" in done.stdout and "governor" not in done.stdout
