"""Another user who comes to a cluster's socket, by whatever way, is not heard."""

from __future__ import annotations

import json
import os
import socket

import pytest
from cluster_box import Cluster

NOBODY = 65534


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_cluster_answers_its_own_user_alone(cluster: Cluster) -> None:
    folder = cluster.folder / cluster.name
    place = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    ask = json.dumps({"do": "status"}).encode()
    folder.chmod(0o711)
    (folder / "control").chmod(0o666)
    try:
        child = os.fork()
        if child == 0:
            heard = 2
            try:
                os.setresuid(NOBODY, NOBODY, NOBODY)
                with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
                    connection.connect(f"/proc/self/fd/{place}/control")
                    try:
                        connection.send(ask)
                        heard = 1 if connection.recv(1 << 16) else 0
                    except OSError:  # it has hung up already
                        heard = 0
            finally:
                os._exit(heard)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        os.close(place)
        (folder / "control").chmod(0o700)
        folder.chmod(0o700)
    assert cluster.do("status").returncode == 0


def test_a_cluster_outlives_what_is_no_request(cluster: Cluster) -> None:
    for said in (b"[]", b"1", b'{"do": []}', b"\xff", b"", b"[" * 60000):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.connect(str(cluster.folder / cluster.name / "control"))
            connection.send(said)
            answer = json.loads(connection.recv(1 << 16))
            assert "error" in answer, said
    assert cluster.do("status").returncode == 0
