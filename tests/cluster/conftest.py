"""One cluster for all tests of this folder; those that break one start their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cluster_box import Cluster, cluster, need_clusters

__all__ = ["cluster", "own"]


@pytest.fixture
def own() -> Iterator[Cluster]:
    """Not started."""
    need_clusters()
    made = Cluster(options=["--no-accounting"])
    try:
        yield made
    finally:
        made.end()
