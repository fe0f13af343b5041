"""One cluster for all tests of this folder; those that break one start their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cluster_box import Cluster, need_clusters


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Four nodes that share the machine's cores."""
    need_clusters()
    made = Cluster().up("--nodes", 4, "--link", "1gbit", "--share", tmp_path_factory.getbasetemp())
    try:
        yield made
    finally:
        made.end()


@pytest.fixture
def own() -> Iterator[Cluster]:
    """Not started."""
    need_clusters()
    made = Cluster()
    try:
        yield made
    finally:
        made.end()
