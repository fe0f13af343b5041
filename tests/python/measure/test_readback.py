"""What the records of a setting's launches say together of where threads and pages were."""

from __future__ import annotations

from typing import Any

import pytest

from strata.measure.store import Sample
from strata.measure.summary import read_back


def sample(agrees: bool | None, verdict: str, threads: bool | None = True) -> Sample:
    pages = {"by_memory": {"0": 4096}, "verdict": verdict}
    record: dict[str, Any] = {"agrees": agrees, "threads_agree": threads, "pages": pages}
    record["disagreement"] = f"seen: {verdict}" if agrees is False else None
    return Sample("t", 1, 0, "2026-01-01T00:00:00Z", record, None, (), None, {})


PROMISED, UNVERIFIED = "as promised", "placement unverified: mbind: Operation not permitted"


@pytest.mark.parametrize(
    ("launches", "agrees", "verdict"),
    [
        ([(True, PROMISED), (True, PROMISED)], True, PROMISED),
        ([(True, PROMISED), (False, "not as promised")], False, "not as promised"),
        ([(None, UNVERIFIED), (None, UNVERIFIED)], None, UNVERIFIED),
        ([(True, PROMISED), (None, "not read: the run was shorter than 0.1 s")], True, None),
        ([(True, "nothing promised")], True, "nothing promised"),
    ],
)
def test_launches_together_say_the_gravest(
    launches: list[tuple[bool | None, str]], agrees: bool | None, verdict: str | None
) -> None:
    said = read_back([sample(*launch) for launch in launches])
    assert said["agrees"] is agrees
    assert said["threads_agree"] is True
    assert said["pages_verdict"] == (verdict or "not read: the run was shorter than 0.1 s")
    assert said["disagreement"] == ("seen: not as promised" if agrees is False else None)
