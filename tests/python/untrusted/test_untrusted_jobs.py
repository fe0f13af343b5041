# ruff: noqa: E501 (rows of files are as long as they are)
"""Logs of jobs that nobody trusts: sacct, PBS, the Standard Workload Format, packed and not."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("pyarrow", reason="PyArrow is not installed")

import fuzzing
from fuzzing import Target

from strata import unpacked
from strata.centre.jobs import checks, columns, forms, pbs, rows, slurm, swf, text
from strata.centre.outages import times

SACCT = (
    "JobID|JobIDRaw|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|State|AllocCPUS|NNodes|JobName\n"
    "1|1|ada|a|batch|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|2026-01-01T02:00:00|3600|"
    "COMPLETED|4|1|a.out\n"
    "2+0|2|bob|b|batch|1767225600|1767225600|1767225700|1767229300||CANCELLED by 7|8|2|x\n"
    "2+1|3|bob|b|batch|1767225600|1767225600|1767225700|1767229300|99|FAILED|8|2|x\n"
    "3_[4-9]|4|bob|b|batch|1767225600|1767225600|Unknown|Unknown|0|PENDING|8|2|x\n"
    "1.batch|1.batch|||||||||COMPLETED|4|1|batch\n"
    "5|5|bob|b|batch|1767225600|1767225600|1767225700|1767229300|3600|RESIZING|8|2|x\n"
    "5|5|bob|b|batch|1767229300|1767229300|1767229300|1767232900|3600|COMPLETED|4|1|x\n"
    "6|6|bob|b|batch|1767225600|1767225600|1767225700|1767229300|3600|RESIZING|8|2|x\n"
)
TRES = (
    "Cluster|JobID|Submit|Start|End|Elapsed|State|AllocTRES|NCPUS|AllocNodes|Group|-\n"
    "c|7_1|2026-01-01T00:00:00+01:00|2026-01-01T01:00:00|Unknown|1-02:03:04|RUNNING|billing=4,cpu=4,node=2|4|2|g|\n"
    "c|8|2026-03-29T00:00:00|2026-03-29T01:30:00|2026-03-29T03:30:00|02:00:00|NODE_FAIL||16|2|g|\n"
)
SWF = (
    "; Version: 2.2\n; MaxProcs: 128\n; UnixStartTime: 1000000000\n; TimeZoneString: Europe/Berlin\n"
    "  1  0  5 100  4 -1 -1  4 200 -1 1 3 2 7 1 1 -1 -1\n"
    "2 10 -1  -1 -1 -1 -1  8 200 -1 5 3 2 7 1 -1 -1 -1\r\n"
    "3\t20 0 50 2 -1 -1 2 60 -1 1 4 2 8 1 1 -1 -1\n"
    "3 20 0 20 2 -1 -1 2 60 -1 2 4 2 8 1 1 -1 -1\n"
    "3 -1 9 30 2 -1 -1 2 60 -1 3 4 2 8 1 1 -1 -1\n"
    "4 30 -1 20 2 -1 -1 2 60 -1 1 4 2 8 1 1 -1 -1\n"
)
PBS = (
    "01/02/2026 00:00:00;Q;12.server;queue=batch\n"
    "01/02/2026 00:01:00;S;12.server;user=ada group=g queue=batch ctime=1767225600 start=1767225660 exec_host=n1/0*4\n"
    '01/02/2026 01:00:00;E;12.server;user=ada group=g account="a b" jobname=x queue=batch ctime=1767225600 '
    "qtime=1767225600 etime=1767225600 start=1767225660 exec_host=n1/0*4+n2/1 exec_vnode=(n1:ncpus=4)+(n2:ncpus=1) "
    "Resource_List.ncpus=5 Resource_List.nodect=2 Resource_List.walltime=01:00:00 end=1767229200 Exit_status=0 "
    "resources_used.walltime=00:58:00\n"
    "01/02/2026 02:00:00;R;13.server;user=bob queue=batch start=1767232700 Resource_List.nodes=2:ppn=8\n"
    "01/02/2026 03:00:00;E;14[2].server;user=bob queue=batch start=1767232700 exec_host=n1/0-3 end=1767236400 "
    "Exit_status=271\n"
    "01/02/2026 03:00:00;D;15.server;requestor=bob\n"
    "01/02/2026 03:00:00;D;15.other;requestor=bob\n"
)
NOT_OF_IT = ("progress", "live", "asked", "_appended", "_joined", "days", "text", "one", "zone", "refusal")


def in_both_ways(form: str | None, zone: str = "Europe/Berlin") -> Callable[[Path], None]:
    """Strictly, and leaving out what is damaged."""

    def read(path: Path) -> None:
        forms.read([path], form, zone, lenient=True)
        forms.read([path], form, zone)

    return read


def packed(pack: Callable[[bytes], bytes], mark: bytes) -> Callable[[Path], None]:
    """A damaged log that is packed whole, or a damaged packed one."""

    def read(path: Path) -> None:
        data = path.read_bytes()
        path.write_bytes(data if data.startswith(mark) else pack(data))
        in_both_ways("swf", "UTC")(path)

    return read


WITH_TIMES = (columns.seconds, times.read, times.localised)
NAMES = (columns.codes, columns.mapped, columns.keys, columns.whole)
BLOCKS = (text.blocks, text._check, text.lines, text.refused, text._ends)
TARGETS = [
    Target(
        "sacct",
        in_both_ways("slurm"),
        "jobs.txt",
        [SACCT, TRES],
        [slurm, checks, *NAMES, *WITH_TIMES],
        NOT_OF_IT,
    ),
    Target("swf", in_both_ways("swf", "UTC"), "trace.swf", [SWF], [swf, checks.Checks, checks.without]),
    Target("pbs", in_both_ways("pbs"), "20260102", [PBS], [pbs, checks, *NAMES, times.localised], NOT_OF_IT),
    Target("any form", in_both_ways(None), "jobs", [SACCT, SWF, PBS], [forms, rows], NOT_OF_IT),
    Target(
        "packed by gzip",
        packed(gzip.compress, b"\x1f\x8b"),
        "trace.swf.gz",
        [SWF, gzip.compress(SWF.encode(), mtime=0)],
        [*BLOCKS, unpacked.opened],
        opens=False,
    ),
    Target(
        "packed by xz",
        packed(lambda data: lzma.compress(data, preset=0), b"\xfd7z"),
        "trace.swf.xz",
        [
            SWF,
            lzma.compress(SWF.encode()),
            lzma.compress(SWF.encode()) + bytes(8) + lzma.compress(SWF.encode()),
        ],
        [*BLOCKS, unpacked._Xz],
        opens=False,
    ),
]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_a_strangers_log_is_read_or_refused(target: Target, tmp_path: Path) -> None:
    fuzzing.some(target, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_many_strangers_logs(target: Target, tmp_path: Path) -> None:
    fuzzing.many(target, tmp_path)
