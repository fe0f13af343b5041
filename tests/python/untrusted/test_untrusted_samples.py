"""Samples of nodes that nobody trusts: files of the sampler, and tables of other collectors."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

pytest.importorskip("pandas", reason="pandas is not installed")

import fuzzing
import numpy as np
from fuzzing import Target

from strata.centre.sampling import collected, pieces, rates, ring
from strata.centre.sampling.ring import CPU, FIRST, JOB, MEMORY, NODE, RECORD, Sample


def made() -> bytes:
    """A file of sixteen records, as ring.Ring makes it."""
    head = ring._HEADER.pack(ring.MAGIC, ring.VERSION, RECORD, 16, 4, b"n1")
    head += struct.pack("<I", zlib.crc32(head))
    records = b"".join(
        Sample(
            1.7e9 + 60 * n, kind, CPU | MEMORY, *names, cores=4, cpu=30.0 * n, memory=1 << 30, run=7
        ).packed(2 * n + i)
        for n in range(6)
        for i, (kind, names) in enumerate(((NODE, ("", "")), (JOB, ("12", "a.out"))))
    )
    return head.ljust(FIRST, b"\0") + records.ljust(16 * RECORD, b"\0")


def sound(data: bytes) -> bytes:
    """With check sums that fit: of a record that was damaged on purpose."""
    out = bytearray(data)
    for at in range(FIRST, len(out) - RECORD + 1, RECORD):
        out[at + RECORD - 4 : at + RECORD] = struct.pack("<I", zlib.crc32(out[at : at + RECORD - 4]))
    if len(out) >= ring._HEADER.size + 4:
        size = ring._HEADER.size
        out[size : size + 4] = struct.pack("<I", zlib.crc32(out[:size]))
    return bytes(out)


def read_ring(path: Path) -> None:
    data = path.read_bytes()
    for each in (data, sound(data)):
        path.write_bytes(each)
        ring.read(path)
        found, _ = pieces.table(path)
        got = pieces.between(found)
        pieces.any_of(got.begin, got.end, np.linspace(0, 1, 3))
        rates.sampled(path.parent)


CSV = (
    "time,seconds,node,job,program,cores,cpu,read,written,traffic,flops,memory\n"
    "2026-01-01T00:00:00Z,60,n1,,,4,3.5,1,2,3e9,1e9,1e9\n1767225600,60,n1,12,a.out,4,1,,,,,5\n"
)

TARGETS = [
    Target(
        "sampler's file",
        read_ring,
        "n1.ring",
        [made()],
        [ring.read, ring.header, ring._sample, pieces.table, pieces.between],
        opens=False,
    ),
    Target("table of samples", collected.read, "samples.csv", [CSV], [collected]),
]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_a_strangers_samples_are_read_or_refused(target: Target, tmp_path: Path) -> None:
    fuzzing.some(target, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_many_strangers_samples(target: Target, tmp_path: Path) -> None:
    fuzzing.many(target, tmp_path)
