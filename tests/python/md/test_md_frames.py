"""Trajectories and series are read as they are, and damage is named."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from strata.errors import StrataError
from strata.md import frames

XYZ = """3
Lattice="4 0 0 0 5 0 0 0 6" Properties=species:S:1:pos:R:3:velo:R:3:id:I:1 Step=10 Time=0.05 pbc="T T F"
Cu 3.0 1.5 2.25 0.5 0 0 3
Ni 1 2 3 0 0 -1 1
Cu 2e0 0 0 0 0.25 0 2
"""


def test_extended_xyz_is_read_in_the_order_of_ids(tmp_path: Path) -> None:
    file = tmp_path / "a.xyz"
    file.write_text(XYZ + XYZ.replace("Step=10", "Step=20").replace("3.0 1.5", "3.5 1.5"))
    one, two = frames.read(file)
    assert (one.step, two.step, one.time) == (10, 20, 0.05)
    assert one.ids.tolist() == [1, 2, 3] and one.species.tolist() == ["Ni", "Cu", "Cu"]
    assert one.positions.tolist() == [[1, 2, 3], [2, 0, 0], [3, 1.5, 2.25]]
    assert one.arrays["velo"].tolist() == [[0, 0, -1], [0, 0.25, 0], [0.5, 0, 0]]
    assert one.box.tolist() == [4, 5, 6] and one.periodic == (True, True, False)
    assert two.positions[2, 0] == 3.5
    assert one.of("Cu").tolist() == [[2, 0, 0], [3, 1.5, 2.25]]
    assert frames.last(file).step == 20


def test_a_frame_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "a.xyz"
    file.write_text(XYZ + XYZ[:-20])
    assert len(list(frames.read(file))) == 1


def test_damage_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "a.xyz"
    file.write_text(XYZ + XYZ.replace("Ni 1 2 3", "Ni 1 2"))
    with pytest.raises(StrataError) as error:
        list(frames.read(file))
    assert error.value.at == f"{file}:9"
    file.write_text(XYZ.replace("2e0", "two"))
    with pytest.raises(StrataError, match="damaged"):
        list(frames.read(file))
    file.write_text(XYZ.replace("4 0 0", "4 1 0"))
    with pytest.raises(StrataError, match="damaged") as tilted:
        list(frames.read(file))
    assert tilted.value.allowed == "a box with right angles"


def record(data: bytes, order: str = "<") -> bytes:
    size = struct.pack(f"{order}i", len(data))
    return size + data + size


def dcd(order: str, moments: list[np.ndarray], box: tuple[float, float, float]) -> bytes:
    control = [len(moments), 100, 50, 0, 0, 0, 0, 0, 0]
    head = b"CORD" + struct.pack(f"{order}9if10i", *control, 0.002, 1, 0, 0, 0, 0, 0, 0, 0, 0, 24)
    text = record(head, order) + record(struct.pack(f"{order}i", 1) + b" " * 80, order)
    text += record(struct.pack(f"{order}i", len(moments[0])), order)
    for at in moments:
        text += record(struct.pack(f"{order}6d", box[0], 90, box[1], 90, 90, box[2]), order)
        for axis in at.T:
            text += record(axis.astype(f"{order}f4").tobytes(), order)
    return text


@pytest.mark.parametrize("order", ["<", ">"])
def test_dcd_is_read_in_both_byte_orders(tmp_path: Path, order: str) -> None:
    moments = [np.random.default_rng(k).uniform(0, 5, (7, 3)) for k in range(3)]
    file = tmp_path / "a.dcd"
    whole = dcd(order, moments, (4, 5, 6))
    file.write_bytes(whole)
    found = list(frames.read(file))
    assert [one.step for one in found] == [100, 150, 200]
    assert [one.time for one in found] == pytest.approx([0.2, 0.3, 0.4])
    assert found[0].box.tolist() == [4, 5, 6]
    for one, at in zip(found, moments, strict=True):
        assert (one.positions == at.astype("f4")).all()
    file.write_bytes(whole[:-9])
    assert len(list(frames.read(file))) == 2


def test_a_file_that_is_no_trajectory_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.dcd"
    file.write_bytes(b"no trajectory")
    with pytest.raises(StrataError, match="damaged"):
        list(frames.read(file))
    with pytest.raises(StrataError, match="can be read"):
        frames.read(tmp_path / "a.pdb")
    with pytest.raises(StrataError, match="there is no such file"):
        list(frames.read(tmp_path / "b.xyz"))
