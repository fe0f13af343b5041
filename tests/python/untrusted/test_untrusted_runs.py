# ruff: noqa: E501 (rows of files are as long as they are)
"""What a run left, or says while it goes on, when it is not a run of ours: series, walls, curves, cells, cases."""

from __future__ import annotations

import json
import lzma
import socket
import struct
import threading
from contextlib import suppress
from pathlib import Path

import fuzzing
import pytest
from fuzzing import Target

from strata import unpacked
from strata.errors import StrataError
from strata.flow import overset_cells, slices, surface
from strata.interop import osu
from strata.md import checkpoints, frames
from strata.run import case, control, series, solver_of_case, steer

SERIES = "step,time [ps],energy [eV],lift\n0,0,-1.5,1\n10,0.5,-1.25,2e-3\n20,1,nan,3\n30,1.5,"
WALLS = "x,y,z,cp,cfx,cfy,cfz,yplus,zone,i,j,k\n0.1,0.1,0,-1,0.004,0.003,0,1.5,1,1,1,1\n0.5,0,0,1,0,0,0,1,1,2,1,1\n"
CURVES = '# NASA\nvariables="x","cp"\nzone, t="upper"\n 0.0 1.0\n 0.5 -0.5\nzone, t="lower"\n 0.0 1.0\n'
CELLS = struct.pack("<7i", 0, 0, 0, 0, 2, 1, 1) + struct.pack("<2i", 1, 3) + struct.pack("<12d", *range(12))
CASE = 'solver = "flow"\n[grid]\ncells = [4, 4]\nfile = "a.xyz"\n[[walls]]\nname = "w"\n'
OSU = (
    "# OSU MPI Latency Test v7.4\n# Size          Avg Latency(us)   P99 Tail Lat(us)   Validation\n"
    "1                       0.50               0.6           Pass\n8                       0.50               0.7     Pass\n"
    "# OSU MPI Bandwidth Test\n# Size      Bandwidth (MB/s)\n8   100.5\n"
)
XYZ = (
    '3\nLattice="4 0 0 0 5 0 0 0 6" Properties=species:S:1:pos:R:3:velo:R:3:id:I:1 Step=10 Time=0.05 pbc="T T F"\n'
    "Cu 3.0 1.5 2.25 0.5 0 0 3\nNi 1 2 3 0 0 -1 1\nCu 2e0 0 0 0 0.25 0 2\n"
)
PLAIN = "2\nno words\nH 0 0 0\nH 0 0 1\n\n1\nOrigin='1 2 3'\nHe 0 0 0\n"


def _record(data: bytes) -> bytes:
    return struct.pack("<i", len(data)) + data + struct.pack("<i", len(data))


def dcd(cell: bool) -> bytes:
    """Two frames of two atoms."""
    head = b"CORD" + struct.pack("<9if10i", 2, 0, 10, 0, 0, 0, 0, 0, 0, 0.5, int(cell), *[0] * 8, 24)
    frame = _record(struct.pack("<6d", 4, 90, 5, 0, 90, 6)) if cell else b""
    frame += b"".join(_record(struct.pack("<2f", axis, axis + 1)) for axis in range(3))
    return (
        _record(head) + _record(struct.pack("<i", 1) + b" " * 80) + _record(struct.pack("<i", 2)) + 2 * frame
    )


def read_cells(path: Path) -> None:
    zone = {"given_zone": 1, "first_cell": [1, 1, 1], "next_cell": [2, 2, 2], "axes": [0, 1, 2]}
    found = {"dimensions": 2, "files": 1, "zones": [zone]}
    overset_cells.orphans(list(overset_cells.patches(path.parent, found)), found["zones"])


def packed_curves(path: Path) -> None:
    """Damaged curves that are packed whole, or damaged packed ones."""
    data = path.read_bytes()
    path.write_bytes(data if data.startswith(b"\xfd7z") else lzma.compress(data, preset=0))
    surface.recorded(path)


def read_frames(path: Path) -> None:
    frames.count(path)
    frames.last(path)


CHECKPOINT = json.dumps(
    {
        "step": 5,
        "time": 0.5,
        "labels": [
            {"name": "atoms.id", "element": "i64", "components": 1},
            {"name": "position", "element": "f64", "components": 3},
        ],
    }
)
INDEX = "".join(
    json.dumps({"label": label, "generation": 0, "patch": 0, "offset": at, "bytes": size}) + "\n"
    for label, at, size in ((0, 0, 16), (1, 16, 48))
)


def read_checkpoint(path: Path) -> None:
    folder = path.parent
    (folder / "checkpoint.json").write_bytes(path.read_bytes())
    (folder / "part-0.index").write_text(INDEX)
    (folder / "part-0.data").write_bytes(struct.pack("<2q6d", 2, 1, *range(6)))
    checkpoints.read(folder)


def read_index(path: Path) -> None:
    folder = path.parent
    (folder / "checkpoint.json").write_text(CHECKPOINT)
    (folder / "part-0.index").write_bytes(path.read_bytes())
    (folder / "part-0.data").write_bytes(struct.pack("<2q6d", 2, 1, *range(6)))
    checkpoints.read(folder)


def read_osu(path: Path) -> None:
    try:
        osu.read(path.read_text(encoding="utf-8", errors="replace"))
    except StrataError as error:
        error.at = error.at or "the program's output"  # whose it is only the caller knows
        raise


STATUS = {
    **{"ok": True, "case": "a", "step": 10, "end_step": 20, "time": 0.5, "end_time": 1.0, "time_unit": "s"},
    **{"done": 0.5, "steps_per_second": 3.5, "seconds_left": 100},
}
PARAMETERS = {"name": "dt", "value": 0.1, "unit": "s", "least": 0, "most": 1, "about": "a step"}
ANSWERS = [
    STATUS,
    {"ok": True, "parameters": [PARAMETERS]},
    {
        "ok": True,
        "columns": [{"name": "e", "unit": "J"}],
        "rows": [{"step": 1, "time": None, "values": [1.5]}],
    },
    {"ok": False, "error": "no such thing", "given": "x", "allowed": "y"},
    {"ok": True, "before_step": 12, "after_step": 12},
]


def read_answer(path: Path) -> None:
    """A run that gives this answer, whatever it is asked."""
    place = path.parent / "control" / "control.sock"
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(place))
        door.listen(8)
        said = path.read_bytes()
        words = (["status"], ["parameters"], ["series"], ["set", "dt=1"], ["stop"])

        def run() -> None:
            for _ in words:
                with suppress(OSError), door.accept()[0] as caller:  # who asked may have had enough
                    caller.recv(1 << 16)
                    caller.sendall(said)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        wrong = None
        for each in words:
            try:
                steer.steer(path.parent, each, as_json=False, timeout_s=10)
            except StrataError as error:
                wrong = error
        thread.join()
    if wrong is not None:
        raise wrong


TARGETS = [
    Target("series", series.read, "series.csv", [SERIES], [series.read, series.rows_of_numbers]),
    Target("walls", surface.read, "surface-000010.csv", [WALLS], [surface.read, surface._rows]),
    Target("slice", slices.read, "slice-a-10.csv", ["x,y,z,size,rho,p\n0.5,1,2,0.1,1,3e-4\n"], [slices.read]),
    Target(
        "curves",
        surface.recorded,
        "a.dat",
        [CURVES, CURVES.replace("x", "r/R").replace("cp", "cl")],
        [surface.recorded, surface._text, surface._row],
    ),
    Target(
        "curves, packed",
        packed_curves,
        "a.dat.xz",
        [CURVES, lzma.compress(CURVES.encode())],
        [surface.recorded, unpacked.contents],
        opens=False,
    ),
    Target("cells", read_cells, "cells-0.bin", [CELLS], [overset_cells.patches, overset_cells.orphans]),
    Target("case", case.load, "case.toml", [CASE], [case.load]),
    Target(
        "a case's solver",
        solver_of_case.find,
        "case.toml",
        [CASE, 'solver = 3\n[grid]\nsolver = "a"\n', "[grid]\nsolver = 'a'\n"],
        [solver_of_case.find, solver_of_case._no_solver],
        words=["solver", "[solver]"],
    ),
    Target("trajectory xyz", read_frames, "a.xyz", [XYZ, PLAIN], [frames], ("_dcd", "_record", "Frame")),
    Target("trajectory dcd", read_frames, "a.dcd", [dcd(True), dcd(False)], [frames._dcd, frames._record]),
    Target(
        "checkpoint",
        read_checkpoint,
        "head.json",
        [CHECKPOINT],
        [checkpoints.read, checkpoints._read],
        opens=False,
    ),
    Target("index", read_index, "index.jsonl", [INDEX], [checkpoints.read, checkpoints._read], opens=False),
    Target("osu", read_osu, "osu.txt", [OSU], [osu], ("Column", "_Table"), opens=False),
    Target(
        "a run's answer",
        read_answer,
        "answer.json",
        [json.dumps(each) + "\n" for each in ANSWERS],
        [control.ask, steer._status, steer._parameters, steer._series, steer._changed, steer._table],
        opens=False,
    ),
]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_a_strangers_run_is_read_or_refused(target: Target, tmp_path: Path) -> None:
    fuzzing.some(target, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_many_strangers_runs(target: Target, tmp_path: Path) -> None:
    fuzzing.many(target, tmp_path)
