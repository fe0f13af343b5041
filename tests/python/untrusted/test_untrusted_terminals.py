"""What commands print of strangers' files is shown, not obeyed: names in them may be words for a terminal."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from strata.centre.fleet import command as fleet
from strata.centre.fleet.submit import silent
from strata.centre.jobs import text
from strata.centre.reliability import command as reliability
from strata.commands import md, results
from strata.compare import sides
from strata.draw import show
from strata.errors import StrataError
from strata.md import convert

ESCAPE = "\x1b]0;title\x07\x9b2J"
WRITTEN = r"\x1b]0;title\x07\x9b2J"
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[[int], None]:
    """Looks at what was printed: the odd name so many times, written out."""

    def check(times: int) -> None:
        printed = capsys.readouterr().out
        assert printed.count(WRITTEN) == times
        assert all(c.isprintable() or c == "\n" for c in printed)

    return check


@pytest.fixture
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports are other tests' matter."""
    for module in (fleet, reliability):
        monkeypatch.setattr(module.page, "document", lambda *_: None)
        monkeypatch.setattr(module, "write", lambda *_: Path("report.html"))
        monkeypatch.setattr(module, "write_json", lambda *_: None)


def nodes(folder: Path) -> Path:
    """Runs of two nodes."""
    for name in ("n1", "n2"):
        figures = {"triad": {"values": [1.0], "unit": "GB/s", "better": "higher"}}
        run = {"schema": "strata.node/1", "node": name, "time": "2026-11-03T14:05:00Z", "campaign": "c"}
        (folder / f"{name}.json").write_text(json.dumps({**run, "figures": figures}))
    return folder


@pytest.mark.usefixtures("no_page")
def test_names_of_silent_nodes_and_of_damaged_files(tmp_path: Path, said: Callable[[int], None]) -> None:
    nodes(tmp_path)
    (tmp_path / "asked-c.txt").write_text(f"n1\nn3{ESCAPE}\n")
    (tmp_path / f"a{ESCAPE}.json").write_text("{}")
    assert fleet.report(fleet.Request((tmp_path,), skip_damaged=True), "") == 0
    said(2)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("put", [fifo, nowhere, Path.mkdir])
def test_what_is_no_list_of_nodes_that_were_asked(tmp_path: Path, put: Callable[[Path], Any]) -> None:
    put(tmp_path / "asked-c.txt")
    with pytest.raises(StrataError, match="cannot read which nodes were asked"):
        silent([tmp_path], set())


def test_names_in_a_task_graph(tmp_path: Path, said: Callable[[int], None]) -> None:
    graph = json.loads((ROOT / "tests/fixtures/graph/sample.json").read_text())
    graph["graph"] = ESCAPE
    graph["warnings"] = [ESCAPE]
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(graph))
    assert show.run(show.Request(path)) == 0
    said(2)


def test_names_in_tables_of_curves(monkeypatch: pytest.MonkeyPatch, said: Callable[[int], None]) -> None:
    curve = {"name": f"{ESCAPE}: latency", "x": {"name": "message", "unit": "B"}, "y": {"unit": "us"}}
    task = {"id": ESCAPE, "benchmark": "pingpong", "launches": 3, "curves": [{**curve, "points": [[8, 1.5]]}]}
    monkeypatch.setattr(sides, "load", lambda _: SimpleNamespace(summary={"tasks": [task]}))
    assert results._run_results(Namespace(results=Path("a"), osu=True)) == 0
    said(2)


def test_names_of_atoms(monkeypatch: pytest.MonkeyPatch, said: Callable[[int], None]) -> None:
    monkeypatch.setattr(convert, "convert", lambda *_: (f"1 atoms (1 {ESCAPE})", [f"{ESCAPE} is no element"]))
    assert md._run_convert(Namespace(structure=Path("a.pdb"), out=Path("a.xyz"), select="all", box=None)) == 0
    said(2)


@pytest.mark.usefixtures("no_page")
def test_names_of_systems(tmp_path: Path, said: Callable[[int], None]) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        "system,parts,start,end,category\n"
        f"a{ESCAPE},4,2026-01-01,2026-01-02,hardware\na{ESCAPE},4,2026-02-01,2026-02-02,hardware\n"
    )
    assert reliability.run(reliability.Request((log,)), "") == 0
    said(1)


def test_the_name_of_a_log_that_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    text.progress(f"{ESCAPE}.log", 0.5, time.monotonic() - 100)
    shown = terminal.getvalue()
    assert WRITTEN in shown and all(c.isprintable() or c == "\r" for c in shown)
