"""Memory is not traced any longer when the tests of a file are over."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def untraced() -> Iterator[None]:
    yield
    time.sleep(0.1)  # threads of PyArrow's end what they do: see fuzzing.check()
    tracemalloc.stop()
