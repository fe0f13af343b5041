"""Claims about pairs of processes: in the domains that a study asks for, or missed with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest
import synthetic_machines as machines
from test_ready_studies import of, planned

from strata.errors import StrataError
from strata.study.case import read


def domains(bind: str, facts: dict) -> list[int]:
    """The domain of each PU of `os:0,8`."""
    of_pu = {pu: core["domain"] for core in facts["cores"] for pu in core["pus"]}
    return [of_pu[int(pu)] for pu in bind.removeprefix("os:").split(",")]


def test_as_many_pairs_are_within_a_domain_as_between_two(tmp_path: Path) -> None:
    facts = machines.eight_domains()
    made = planned("message-rate", facts, tmp_path)
    assert made.unavailable == []
    for program in ("pairs", "copy"):
        tasks = {(t.labels["setting"], t.layout): t for t in of(made, program)}
        for layout, processes in (("2x1", 2), ("32x1", 32)):
            within = domains(tasks["one domain", layout].bind, facts)
            between = domains(tasks["two domains", layout].bind, facts)
            assert within == [0] * processes
            # The far pairs of message-rate: process i and i + P/2.
            assert between == [0] * (processes // 2) + [1] * (processes // 2)
    assert {t.layout for t in of(made, "all cores in pairs")} == {"256x1"}


def test_without_a_second_memory_pairs_between_two_domains_are_named_as_not_available(tmp_path: Path) -> None:
    made = planned("message-rate", machines.two_cores(), tmp_path)
    assert [t.bind for t in of(made, "pairs")] == ["os:0,1"]
    assert made.unavailable == [{"setting": "two domains", "layout": "2x1", "why": "one memory domain"}]


def test_an_odd_number_of_cores_leaves_one_out(tmp_path: Path) -> None:
    facts = machines.eight_domains()
    facts["allowed"]["pus"] = "0-4,32"
    made = planned("message-rate", facts, tmp_path)
    assert [(t.layout, t.bind) for t in of(made, "pairs")] == [
        ("2x1", "os:0,1"),
        ("4x1", "os:0,1,2,3"),
        ("2x1", "os:0,32"),
    ]
    assert {t.layout for t in of(made, "all cores in pairs")} == {"6x1"}
    assert [u["why"] for u in made.unavailable] == [
        "2 cores are more than the 1 that may be used in the second domain"
    ]


def test_pairs_decide_on_which_cores_they_run(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = 'schema = "strata.study/1"\nname = "mine"\n[[program]]\nname = "p"\ncommand = "true"\n'
    path.write_text(text + '[[layout]]\nname = "a"\nstride = 2\npairs = "one domain"\n')
    with pytest.raises(StrataError, match=r"domains of pairs.*\n.*mine\.toml:9"):
        read(path)
