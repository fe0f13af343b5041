"""What is listed of results is shown, not obeyed: anybody may have written them."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from strata.characterize import console, listing
from strata.measure import store

ESCAPE = "\x1b]0;title\x07\x9b2J"


def test_no_sample_of_a_stranger_moves_the_cursor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = [{"name": f"n{ESCAPE}", "value": 1.0, "unit": f"u{ESCAPE}"}]
    reason = {"code": f"c{ESCAPE}", "text": f"t{ESCAPE}"}
    sample = store.Sample("a", 1, 0, f"now{ESCAPE}", None, {"figures": figures}, (reason,), f"f{ESCAPE}", {})
    monkeypatch.setattr(store, "open_existing", lambda _: SimpleNamespace(samples_of=lambda _: [sample]))
    assert listing.show_samples(Path("results"), "a") == 0
    said = capsys.readouterr().out
    assert said.count(r"\x1b]0;title\x07\x9b2J") == 6
    assert all(c.isprintable() or c == "\n" for c in said)


def test_nor_does_the_table_of_a_strangers_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "rows", lambda _: [(ESCAPE,) * 9])
    out = io.StringIO()
    counts = {"launches": 1, "warm_up": 1, "tainted": 1, "reasons": {ESCAPE: 1}, "failed": 0}
    console.show({"tasks": [], "counts": counts, "left_out": [{"task": ESCAPE}]}, out)
    assert "\x1b" not in out.getvalue() and "\x07" not in out.getvalue() and "\x9b" not in out.getvalue()
