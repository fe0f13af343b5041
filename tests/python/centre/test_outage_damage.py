"""Claims about damaged logs, which are refused with row and column, and about times in zones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from strata.centre.outages import categories, times
from strata.centre.outages.forms import read
from strata.centre.outages.log import Log
from strata.errors import StrataError

GOOD = "a,64,2026-01-11T00:00,2026-01-11T12:00,hardware,\n"


@pytest.mark.parametrize(
    ("rows", "at", "message"),
    [
        (GOOD + "a,64,2026-01-12,2026-01-11,hardware,\n", "row 3, column end", "ends before it starts"),
        (GOOD + "a,64,yesterday,2026-01-11,hardware,\n", "row 3, column start", "not a time"),
        (GOOD + "a,64,2026-13-01,2026-01-11,hardware,\n", "row 3, column start", "not a time"),
        (GOOD + "a,64,,2026-01-11,hardware,\n", "row 3, column start", "without a start"),
        (GOOD + "a,64,2026-01-12,2026-01-13,gremlins,\n", "row 3, column category", "unknown category"),
        (GOOD + "a,many,2026-01-12,2026-01-13,hardware,\n", "row 3, column parts", "not a number of parts"),
        (GOOD + ",64,2026-01-12,2026-01-13,hardware,\n", "row 3, column system", "without a system"),
        (GOOD + "a,64,2026-01-12,2026-01-13\n", "row 3", "fewer cells"),
        (GOOD + "a,64,2026-01-12,2026-01-13,hardware,x,y\n", "row 3", "another number of cells"),
        (GOOD + "a,64,2026-01-12,2026-0", "row 3", "ends within a row"),
        ("system,start,end\n", "row 1", "column category is missing"),
        ("system,start,end,category,colour\n", "row 1", "unknown column"),
    ],
)
def test_damage_is_refused_with_its_place(log: Callable[..., Log], rows: str, at: str, message: str) -> None:
    with pytest.raises(StrataError) as refused:
        log(rows)
    assert message in refused.value.message
    assert str(refused.value.at).endswith(at)


def test_another_encoding_is_told_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(b"system,start,end,category,note\na,2026-01-01,2026-01-02,hardware,L\xfcfter\n")
    with pytest.raises(StrataError, match="not in UTF-8") as refused:
        read([path], None, categories.Categories(), "UTC", None)
    assert refused.value.at == f"{path}: row 2" and "0xfc" in str(refused.value.given)


def test_json_says_the_same_as_csv(log: Callable[..., Log]) -> None:
    outage = {"system": "a", "start": "2026-01-11", "end": "2026-01-12", "category": "hardware"}
    about = {"a": {"parts": 64, "observed": ["2026-01-01", "2026-02-01"]}}
    text = json.dumps({"schema": "strata.outages/1", "systems": about, "outages": [outage]})
    same = log("a,64,2026-01-11,2026-01-12,hardware,\na,64,2026-01-01,2026-02-01,observed,\n").rows
    found = log(text, name="log.json").rows
    columns = ["system", "start", "end", "category", "parts"]
    assert found[columns].to_dict("list") == same[columns].to_dict("list")
    with pytest.raises(StrataError, match="ends before") as refused:
        log(text.replace("2026-01-12", "2026-01-10"), name="log.json")
    assert str(refused.value.at).endswith("outages[0].end")


def test_clocks_that_go_forward_and_back(log: Callable[..., Log]) -> None:
    zone = "Europe/Berlin"
    with pytest.raises(StrataError, match="never was") as refused:
        log("a,1,2026-03-29T02:30,2026-03-29T04:00,hardware,\n", zone=zone)
    assert str(refused.value.at).endswith("row 2, column start")
    # 02:30 came twice on 25 October. The first is taken; 02:50 to 02:10 can only be the first and the second.
    found = log(
        "a,1,2026-10-25T01:00,2026-10-25T02:30,hardware,\na,1,2026-10-25T02:50,2026-10-25T02:10,nfs,\n",
        zone=zone,
    )
    assert (found.rows["end"] - found.rows["start"]).tolist() == [90 * 60, 20 * 60]
    assert "came twice" in found.said[0]


def test_an_offset_outweighs_the_zone(log: Callable[..., Log]) -> None:
    rows = (
        "a,1,2026-06-01T12:00,2026-06-01T12:00+00:00,hardware,\na,1,1780315200,2026-06-01T14:00:30.5Z,nfs,\n"
    )
    found = log(rows, zone="Europe/Berlin").rows
    assert found["start"].tolist() == [1780308000.0, 1780315200.0]
    assert found["end"].tolist() == [1780315200.0, 1780322430.5]


def test_a_zone_that_is_none() -> None:
    for name in ("Mars/Olympus", "../etc", ""):
        with pytest.raises(StrataError, match="no such time zone"):
            times.zone(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[categories.x]\nkind = 'sometimes'\n", "not a kind"),
        ("[categories.x]\ncolour = 'red'\n", "an unknown key"),
        ("[categories.x]\nmatch = ['(']\n", "not a regular expression"),
        ("[categories.observed]\n", "a meaning of its own"),
        ("x = 1\n", "not a file of categories"),
        ("[categories", "this is not TOML"),
    ],
)
def test_wrong_categories_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(StrataError, match=message) as refused:
        categories.load(path)
    assert str(path) in str(refused.value.at)


def test_own_categories_take_the_place_of_the_papers(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        "[categories.gpu]\ntitle = 'GPU fell off the bus'\ninterrupt = true\nmatch = ['xid "
        "79']\n[categories.nfs]\n"
    )
    own = categories.load(path)
    assert own.keys == ["gpu", "nfs", "unknown"]
    assert own.of_reason("NVRM: Xid 79, pid 1") == "gpu" and own.interrupts == "gpu, unknown"
    assert own.every[1].title == "NFS Caused Outage"
