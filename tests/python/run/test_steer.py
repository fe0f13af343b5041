"""What `strata steer` sends and shows, against a server that answers like a run."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from strata.cli import main
from strata.errors import StrataError
from strata.run import control
from strata.run.control import ask
from strata.run.steer import steer

STATUS = {
    "ok": True,
    "case": "heat",
    "step": 25,
    "time": 0.5,
    "time_unit": "s",
    "end_step": 100,
    "end_time": None,
    "steps_per_second": 12.5,
    "done": 0.25,
    "seconds_left": 75.0,
}


@contextmanager
def run_in(folder: Path, reply: Callable[[dict[str, Any]], bytes]) -> Iterator[None]:
    """Listens as a run does; `reply` gives the bytes for a request."""
    (folder / "control").mkdir(mode=0o700)
    place = os.open(folder / "control", os.O_RDONLY | os.O_DIRECTORY)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(f"/proc/self/fd/{place}/control.sock")
    listener.listen()

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client, client.makefile("rb") as lines:
                if asked := lines.readline():
                    client.sendall(reply(json.loads(asked)))

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        os.close(place)


def line(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer).encode() + b"\n"


def test_what_is_typed_becomes_one_request(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    answers = {"series": {"columns": [], "rows": []}, "parameters": {"parameters": []}, "status": STATUS}

    def reply(request: dict[str, Any]) -> bytes:
        asked.append(request)
        rest = answers.get(request.get("get", ""), {"before_step": 8, "after_step": 7})
        return line({**rest, "ok": True})

    def said(*words: str) -> str:
        return steer(tmp_path, words, as_json=False, timeout_s=10)

    with run_in(tmp_path, reply):
        for words in ((), ("get", "status"), ("parameters",), ("series",), ("get", "series", "3")):
            said(*words)
        assert said("set", "cfl=0.3", "t_end=2e-3") == "applies before step 8"
        assert said("set", "cfl", "0.3") == "applies before step 8"
        assert said("checkpoint") == "a checkpoint is written after step 7"
        assert said("stop") == "the run ends after step 7"
    assert asked == [
        {"get": "status"},
        {"get": "status"},
        {"get": "parameters"},
        {"get": "series", "last": 10},
        {"get": "series", "last": 3},
        {"set": {"cfl": 0.3, "t_end": 0.002}},
        {"set": {"cfl": 0.3}},
        {"do": "checkpoint"},
        {"do": "stop"},
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["weather"], "no such thing"),
        (["set"], "what is to be set"),
        (["set", "cfl"], "what is to be set"),
        (["set", "cfl=much"], "'cfl' needs a number"),
        (["series", "many"], "how many rows"),
        (["stop", "now"], "takes nothing more"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_sent(
    tmp_path: Path, words: list[str], message: str
) -> None:
    with pytest.raises(StrataError, match=message):
        steer(tmp_path / "nowhere", words, as_json=False, timeout_s=1)


def test_status_parameters_and_series_read_well(tmp_path: Path) -> None:
    parameters = [
        {"name": "cfl", "value": 0.5, "unit": "", "least": 0.1, "most": 0.9, "about": "Courant number"}
    ]
    rows = [{"step": 9, "time": 0.9, "values": [1.25, None]}]
    columns = [{"name": "energy", "unit": "J"}, {"name": "worst", "unit": ""}]
    answers = {
        "status": STATUS,
        "parameters": {"ok": True, "parameters": parameters},
        "series": {"ok": True, "columns": columns, "rows": rows},
    }
    with run_in(tmp_path, lambda request: line(answers[request["get"]])):
        status = steer(tmp_path, [], as_json=False, timeout_s=10)
        assert "25 of 100" in status and "12.5 steps/s" in status and "1 min 15 s" in status
        table = steer(tmp_path, ["parameters"], as_json=False, timeout_s=10).splitlines()
        assert table[1].split() == ["cfl", "0.5", "0.1", "to", "0.9", "Courant", "number"]
        series = steer(tmp_path, ["series"], as_json=False, timeout_s=10).splitlines()
        assert series[0].split() == ["step", "time", "energy", "[J]", "worst"]
        assert series[1].split() == ["9", "0.9", "1.25", "-"]
        assert json.loads(steer(tmp_path, [], as_json=True, timeout_s=10))["step"] == 25


def test_a_refusal_says_what_is_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refusal = {"ok": False, "error": "'cfl' cannot have this value", "given": "2", "allowed": "0.1 to 0.9"}
    with run_in(tmp_path, lambda _: line(refusal)):
        assert main(["steer", str(tmp_path), "set", "cfl=2"]) == 2
    said = capsys.readouterr().err
    assert "'cfl' cannot have this value" in said and "given: 2" in said and "allowed: 0.1 to 0.9" in said


def test_no_run_an_ended_run_and_one_that_vanishes_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(StrataError, match="no such results folder"):
        ask(tmp_path / "none", {"get": "status"})
    with pytest.raises(StrataError, match=r"no run is going on in this folder\n"):
        ask(tmp_path, {"get": "status"})
    with (
        run_in(tmp_path, lambda _: b'{"ok":tr'),
        pytest.raises(StrataError, match="ended before it answered"),
    ):
        ask(tmp_path, {"get": "status"}, timeout_s=10)
    with pytest.raises(StrataError, match="ended without tidying up"):  # the socket of a killed run
        ask(tmp_path, {"get": "status"})


def test_a_path_too_long_for_a_socket_is_reached(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 100) / ("y" * 100)
    deep.mkdir(parents=True)
    with run_in(deep, lambda _: line(STATUS)):
        assert ask(deep, {"get": "status"})["step"] == 25


def test_another_users_run_is_asked_nothing_but_by_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def reply(request: dict[str, Any]) -> bytes:
        asked.append(request)
        return line({**STATUS, "case": "a\x1b[2J"})

    monkeypatch.setattr(control, "process_and_user", lambda _: (1, 65534))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with run_in(tmp_path, reply):
        with pytest.raises(StrataError, match="this run is another user's") as refused:
            steer(tmp_path, ["status"], as_json=False, timeout_s=10)
        assert refused.value.given == "user 65534" and not asked
        if os.getuid() != 0:
            return  # the folder cannot be that user's
        os.chown(tmp_path / "control", 65534, -1)
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        said = steer(tmp_path, ["status"], as_json=False, timeout_s=10)
        assert said.splitlines()[0] == r"case       a\x1b[2J" and len(asked) == 1


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives a folder away")
@pytest.mark.parametrize("link", ["control", "control/control.sock"])
def test_a_link_in_another_users_folder_leads_to_no_run_of_ones_own(tmp_path: Path, link: str) -> None:
    """Or `strata steer THEIRS stop` would stop it."""
    asked: list[dict[str, Any]] = []

    def reply(request: dict[str, Any]) -> bytes:
        asked.append(request)
        return line(STATUS)

    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    for each in (mine, theirs, *([theirs / "control"] if "/" in link else [])):
        each.mkdir()
    (theirs / link).symlink_to(mine / link)
    for each in (theirs, *theirs.rglob("*")):
        os.lchown(each, 65534, 65534)
    with run_in(mine, reply):
        with pytest.raises(StrataError, match=r"cannot be reached|another user's run") as refused:
            ask(theirs, {"get": "status"}, timeout_s=10)
        assert str(theirs) in str(refused.value.at) and not asked
        assert ask(mine, {"get": "status"}, timeout_s=10)["step"] == 25
