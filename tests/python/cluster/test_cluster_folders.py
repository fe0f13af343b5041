"""The folder by which a cluster is found: in /tmp everybody can make one of any name, and answer in it."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from strata.cluster import ask, state
from strata.errors import StrataError

NOBODY = 65534


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this user's clusters are."""
    path = tmp_path / "clusters"
    path.mkdir(mode=0o700)
    monkeypatch.setenv("STRATA_CLUSTERS", str(path))
    return path


@contextmanager
def another_user(does: Callable[[], None], before: Callable[[], None] = lambda: None) -> Iterator[None]:
    """A process of nobody's that does something and stays; `before` as this user."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    ready, said = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            before()
            os.setresuid(NOBODY, NOBODY, NOBODY)
            does()
            os.write(said, b"1")
            signal.pause()
        finally:
            os._exit(1)
    os.close(said)
    try:
        assert os.read(ready, 1) == b"1"
        yield
    finally:
        os.close(ready)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def trusted() -> bool:
    """Whether the box's folder is used."""
    try:
        state.folder("box")
        state.living()
    except StrataError as error:
        assert "cannot be trusted" in error.message and error.remedy is not None
        return False
    return True


def test_a_folder_of_this_user_is_used_and_one_that_others_may_write_is_not(base: Path) -> None:
    assert trusted()
    (base / "box").mkdir(mode=0o700)
    assert trusted()
    for each in (base, base / "box"):
        each.chmod(0o770)
        with pytest.raises(StrataError, match="cannot be trusted"):
            state.folder("box")
        each.chmod(0o700)


def test_a_link_is_no_folder(base: Path, tmp_path: Path) -> None:
    (base / "box").symlink_to(tmp_path)
    with pytest.raises(StrataError, match="cannot be trusted") as found:
        state.folder("box")
    assert "it is no folder" in str(found.value.given)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives a folder away")
def test_a_folder_that_another_user_made_first_is_used_by_no_command(base: Path) -> None:
    os.chown(base, NOBODY, NOBODY)
    assert not trusted()
    for verb in ({"do": "status"}, {"do": "enter", "node": "login"}):
        with pytest.raises(StrataError, match="cannot be trusted") as found:
            ask.ask("box", verb)
        assert f"belongs to user {NOBODY}" in str(found.value.given)
    with pytest.raises(StrataError, match="cannot be trusted"):
        state.make("box")
    os.chown(base, 0, 0)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives a folder away")
@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_a_folder_below_one_in_which_another_user_can_replace_it_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    """Or what lies where a link in its place leads would go with the cluster."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    theirs.chmod(mode)
    if mode == 0o755:
        os.chown(theirs, NOBODY, NOBODY)
    monkeypatch.setenv("STRATA_CLUSTERS", str(theirs / "clusters"))
    with pytest.raises(StrataError, match="cannot be trusted") as found:
        state.make("box")
    assert str(theirs) in str(found.value.given)
    assert not (theirs / "clusters" / "box").exists()


def test_another_user_cannot_hold_the_lock_of_a_folder_that_all_may_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tempfile.TemporaryDirectory(prefix="strata-test-") as place:
        base = Path(place, "clusters")
        Path(place).chmod(0o755)
        (base / "box").mkdir(parents=True)
        monkeypatch.setenv("STRATA_CLUSTERS", str(base))
        os.close(state.make("box")[1])  # there are all files that there ever are
        files = [base, *base.iterdir()]

        def hold() -> None:
            for each in files:
                with suppress(OSError):
                    fcntl.flock(os.open(each, os.O_RDONLY), fcntl.LOCK_EX)

        def late(*_: object) -> None:
            raise TimeoutError("held up by a stranger")

        with another_user(hold):
            before = signal.signal(signal.SIGALRM, late)
            signal.alarm(20)
            try:
                os.close(state.make("box")[1])
            finally:
                signal.alarm(0)
                signal.signal(signal.SIGALRM, before)
        assert state.living() == []


def test_another_user_who_answers_is_not_believed(base: Path) -> None:
    """By a socket in this user's own folder, to look no further than at who listens."""
    (base / "box").mkdir(mode=0o700)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    said = json.dumps({"uid": 0, "gid": 0, "groups": [], "environment": {"PATH": "/tmp"}}).encode()

    def answers() -> None:
        listening.listen()
        threading.Thread(target=answer, daemon=True).start()

    def answer() -> None:
        connection, _ = listening.accept()
        connection.send(said)
        connection.recv(1)

    with another_user(answers, lambda: listening.bind(str(base / "box" / "control"))):
        with pytest.raises(StrataError) as found:
            ask.ask("box", {"do": "enter", "node": "login"})
        assert "uid" not in str(found.value.given)
    listening.close()


def test_a_sessions_folder_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after `su`, which leaves the variable."""
    monkeypatch.delenv("STRATA_CLUSTERS", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    assert state.base() == tmp_path / "strata-clusters"
    tmp_path.chmod(0o777)
    assert state.base() == Path(f"/tmp/strata-clusters-{os.getuid()}")
    tmp_path.chmod(0o700)
    if os.getuid() == 0:
        os.chown(tmp_path, NOBODY, NOBODY)
        assert state.base() == Path("/tmp/strata-clusters-0")
