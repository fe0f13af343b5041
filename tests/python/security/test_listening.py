"""What listens is read from /proc as the kernel writes it, and told to whom it belongs."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from strata import peer
from strata.security import checks, listening, report

UNIX = """\
Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0005 01 101 @strata-0123456789abcdef
0000000000000000: 00000003 00000000 00000000 0001 03 102 @strata-0123456789abcdee
0000000000000000: 00000002 00000000 00010000 0001 01 103 /home/a b/control/control.sock
0000000000000000: 00000002 00000000 00010000 0001 01 104
"""
TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 201 1 0
   1: 0100007F:1F91 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 202 1 0
   2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 203 1 0
"""
TCP6 = """\
  sl  local_address                         remote_address                        st tx_queue rx_queue
   0: B80D0120000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 204 1
"""


def test_named_sockets_that_listen_are_read_with_spaces_in_their_paths() -> None:
    found = list(listening.unix_listening(UNIX))
    assert found == [(101, "@strata-0123456789abcdef"), (103, "/home/a b/control/control.sock")]


def test_a_line_end_in_a_strangers_name_makes_no_error() -> None:
    with socket.socket(socket.AF_UNIX) as listens:
        listens.bind(f"\0{secrets.token_hex(8)}\na b c zz e f g h")
        listens.listen(1)
        assert list(listening.listeners()) is not None
    assert list(listening.unix_listening(UNIX + "a b c zz e f g h\n")) == list(listening.unix_listening(UNIX))


def test_a_command_line_without_an_end_is_read_in_part(tmp_path: Path) -> None:
    process = tmp_path / "7"
    (process / "fd").mkdir(parents=True)
    with (process / "cmdline").open("wb") as file:
        file.write(b"strata\0run\0")
        file.truncate(1 << 40)
    words = peer.command_line(process)
    assert words[:2] == ["strata", "run"] and len(words) < 1 << 20


@pytest.mark.skipif(sys.byteorder != "little", reason="the text above is of such a machine")
def test_ports_that_listen_are_read_with_their_addresses() -> None:
    assert list(listening.tcp_listening(TCP)) == [(201, "127.0.0.1:8080"), (203, "all interfaces:22")]
    assert list(listening.tcp_listening(TCP6)) == [(204, "[2001:db8::1]:8080")]


@pytest.mark.parametrize(
    ("address", "what_for"),
    [
        ("@strata-measure", "the lock of measurements"),
        ("@strata-0123456789abcdef", "a run that starts"),
        ("/scratch/results/control/control.sock", "steering a run"),
        ("/run/user/1000/strata-clusters/box/control", "a cluster in a box"),
        ("10.0.0.3:40001", "a run: for its other nodes while it starts, or MPI's own between ranks"),
        ("all interfaces:40001", "a run: for its other nodes while it starts, or MPI's own between ranks"),
        ("@anything", "not known to this list"),
    ],
)
def test_each_kind_of_socket_is_told_by_its_address(address: str, what_for: str) -> None:
    assert listening._kind(address)[0] == what_for


def test_a_socket_of_ones_own_is_listed_with_its_process_until_it_closes() -> None:
    name = f"strata-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listens:
        listens.bind("\0" + name)
        assert not any(each.address == f"@{name}" for each in listening.listeners())
        listens.listen(1)
        found = [each for each in listening.listeners() if each.address == f"@{name}"]
        assert [each.process for each in found] == [os.getpid()]
        assert found[0].user == listening.user_name(os.geteuid())
    assert not any(each.address == f"@{name}" for each in listening.listeners())


def test_a_port_counts_where_a_program_of_strata_s_tree_has_it(tmp_path: Path) -> None:
    code = "import socket\ns = socket.create_server(('127.0.0.1', 0))\n"
    code += "print(s.getsockname()[1], flush=True)\ninput()\n"
    program = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert program.stdout is not None
        address = f"127.0.0.1:{program.stdout.readline().strip()}"
        tree = Path(f"/proc/{program.pid}/exe").resolve().parent
        found = [each.address for each in listening.listeners([tree])]
        assert address in found
        assert address not in [each.address for each in listening.listeners([tmp_path])]
    finally:
        program.communicate("\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_another_user_sees_that_it_listens_and_not_whose_process_it_is() -> None:
    name = f"strata-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listens:
        listens.bind("\0" + name)
        listens.listen(1)
        child = os.fork()
        if child == 0:
            seen = 2
            try:
                listens.close()  # which this process has, too
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
                found = [each for each in listening.listeners() if each.address == f"@{name}"]
                seen = 0 if [(each.process, each.user) for each in found] == [(0, "another")] else 1
            finally:
                os._exit(seen)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_names_of_others_choice_move_no_cursor_and_make_no_line() -> None:
    evil = "a\x1b[2J\nb\x9b\u202e\udcff"
    heard = listening.Listener(f"/{evil}", 7, "nobody", evil, "steering", "all")
    found = checks.Finding("results", False, f"others may write /{evil}", "change them", "chmod")
    said = report.text([heard], [found])
    assert said.count(r"a\x1b[2J\nb\x9b\u202e\udcff") == 3
    assert all(c.isprintable() or c == "\n" for c in said)
    assert len(said.splitlines()) == len(report.text([], [found]).splitlines()) + 2
