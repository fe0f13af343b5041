"""Claims about looking for a quiet machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from strata.measure import quiet


@pytest.fixture
def neighbour() -> Iterator[subprocess.Popen[bytes]]:
    cpu = min(os.sched_getaffinity(0))
    code = f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nprint(flush=True)\nwhile True: pass"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()


def test_a_busy_process_is_seen_and_somebody_is_named(neighbour: subprocess.Popen[bytes]) -> None:
    seen = quiet.look({min(os.sched_getaffinity(0))})
    assert not seen.quiet and seen.busy_cpus > 0.3
    assert seen.who is not None and "of a CPU" in seen.who


def test_a_neighbour_of_any_name_is_seen_and_moves_no_cursor() -> None:
    cpu = min(os.sched_getaffinity(0))
    code = f"import ctypes, os\nos.sched_setaffinity(0, {{{cpu}}})\nprint(flush=True)\n"
    code += "ctypes.CDLL(None).prctl(15, b'\\xff\\x1b[2J')\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as neighbour:
        assert neighbour.stdout is not None
        neighbour.stdout.readline()
        seen = [quiet.look({cpu}).who or "" for _ in range(5)]
        neighbour.kill()
    assert any("\\x1b[2J (pid" in who for who in seen), seen


def test_waiting_ends_with_the_patience_and_says_for_whom(neighbour: subprocess.Popen[bytes]) -> None:
    said: list[str] = []
    waited = quiet.wait_until_quiet({min(os.sched_getaffinity(0))}, 1.0, said.append)
    assert waited >= 1.0 and said and "waiting for a quiet machine" in said[0]


def test_waiting_ends_as_soon_as_it_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([quiet.Look(1.0, "x", False), quiet.Look(0.5, None, False), quiet.Look(0.0, None, True)])
    monkeypatch.setattr(quiet, "look", lambda cpus, always: next(looks))
    monkeypatch.setattr(quiet.time, "sleep", lambda seconds: None)
    said: list[str] = []
    quiet.wait_until_quiet({0}, 60.0, said.append)
    assert len(said) == 2 and next(looks, None) is None


def test_where_the_system_tells_nothing_the_machine_counts_as_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet, "busy_seconds", lambda cpus: None)
    assert quiet.look({0}, 0.0).quiet
