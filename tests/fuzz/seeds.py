"""Small inputs that are right, for the readers whose files the repository has packed or not at all.

`python3 seeds.py FOLDER` writes them to FOLDER/TARGET/NAME.
"""

from __future__ import annotations

import lzma
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CUBE = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1)]
FACES = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]
SEAL = "00000000"


def triangles() -> list[list[tuple[int, int, int]]]:
    halves = [(a, b, c) for p, q, r, s in FACES for a, b, c in ((p, q, r), (p, r, s))]
    return [[CUBE[i] for i in half] for half in halves]


def stl() -> Iterator[bytes]:
    yield (
        bytes(80)
        + struct.pack("<I", 12)
        + b"".join(
            struct.pack("<12fH", 0, 0, 0, *(x for corner in t for x in corner), 0) for t in triangles()
        )
    )
    text = "solid cube\n"
    for t in triangles():
        corners = "".join(f"vertex {x} {y} {z}\n" for x, y, z in t)
        text += f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet\n"
    yield (text + "endsolid cube\n").encode()


def plot3d() -> Iterator[bytes]:
    """The first byte says grid, Q or function; zones of 3 x 2 x 2 and of 2 x 2 x 2 nodes."""
    sizes = [(3, 2, 2), (2, 2, 2)]

    def record(body: bytes, marks: str) -> bytes:
        return (
            struct.pack(marks + "i", len(body)) + body + struct.pack(marks + "i", len(body))
            if marks
            else body
        )

    for content, components in ((0, 3), (1, 5), (2, 4)):
        for marks, real in (("<", "d"), (">", "f"), ("", "d")):
            for blanks in (False, True) if content == 0 else (False,):
                order = marks or "<"
                numbers = [n for size in sizes for n in (*size, *([4] if content == 2 else []))]
                out = record(struct.pack(order + "i", 2), marks)
                out += record(struct.pack(f"{order}{len(numbers)}i", *numbers), marks)
                for ni, nj, nk in sizes:
                    n = ni * nj * nk
                    if content == 1:
                        out += record(struct.pack(f"{order}4{real}", 0.5, 2, 3e6, 0), marks)
                    body = struct.pack(
                        f"{order}{n * components}{real}", *(0.5 + k for k in range(n * components))
                    )
                    body += struct.pack(f"{order}{n}i", *[1] * n) if blanks else b""
                    out += record(body, marks)
                yield bytes([content]) + out
    yield b"\x00" + b"1\n3 2\n0 1 2 0 1 2\n3*0.5 3*1D0\n"
    yield b"\x00" + b"2\n2 2 2 2 2 2\n" + b"0 1 0 1 2*.5 2*-1E-3 4*0.5 4*1 0 0 1 1\n" * 3
    packed = (ROOT / "tests/solvers/flow/flatplate_clust2_4levelsdown_35x25.p2dfmt.xz").read_bytes()
    yield b"\x00" + lzma.decompress(packed)


def grid() -> Iterator[bytes]:
    """Two blocks side by side, flat and in space, the second one left-handed; some with a map."""
    yield from (seed for seed in plot3d() if seed[0] == 0)
    for deep in (1, 2, 3):
        sizes = [(5, 3, deep), (4, 3, deep)]
        text = "2\n" + " ".join(str(n) for size in sizes for n in size) + "\n"
        for zone, (ni, nj, nk) in enumerate(sizes):
            nodes = [(4 * zone + i, j, k) for k in range(nk) for j in range(nj) for i in range(ni)]
            nodes = [(x, 2 - y, z) if zone else (x, y, z) for x, y, z in nodes]
            text += "".join(" ".join(str(node[d]) for node in nodes) + "\n" for d in range(3))
        yield b"\x00" + text.encode()
        yield b"\x01" + text.encode()
        last = "" if deep < 3 else f"'one-to-one' 1 4 1 3 1 {deep} 2 3 3 1 1 {deep} false\n"
        lines = "".join(f"{z + 1} {a} {b} {c}\n" for z, (a, b, c) in enumerate(sizes))
        yield b"\x00" + text.encode() + b"\xfe\xfe" + f"2\n{lines}{last}'wall' 1 3 1 3 1 {deep}\n".encode()


def map_file() -> Iterator[bytes]:
    """For the two blocks of map.cpp: a join, a periodic one, walls."""
    yield (
        b"\x00# two blocks\n2\n1 5 3 1\n2 4 3 1\n"
        b"'one-to-one' 1 4 1 3 1 1 2 3 1 3 1 1 false\n'wall' 1 5 1 1 1 5\n'far field' 2 6 1 1 1 4\n"
        b"'periodic' 1 3 1 3 1 1 2 4 1 3 1 1 .false.\n"
    )
    yield (
        b"\x01 2\n 1 5 3 4\n 2 4 3 4\n"
        b"'one-to-one' 1 4 1 3 1 4 2 3 1 3 1 4 F\n'one-to-one' 2 3 1 3 1 4 1 4 1 3 1 4 T\n"
        b"'wall' 1 1 1 5 1 3 ! k-min\n\"other wall\" 1 2 1 5 1 3 \\\n'sym' 2 1 1 4 1 3\n'sym' 1 5 1 4 1 5\n"
    )


def lammps() -> Iterator[bytes]:
    head = "title\n\n3 atoms\n2 atom types\n0 4 xlo xhi\n-1 4 ylo yhi\n0 5e0 zlo zhi\n\n"
    masses = "Masses\n\n1 63.5\n2 58.7 # Ni\n\nPairIJ Coeffs\n\n1 2 1.5 1.0\n\n"
    masses += "Pair Coeffs # lj\n\n1 1 1\n2 1 1\n\n"
    atoms = "Atoms # atomic\n\n2 1 1 1 1\n1 2 2 2 2\n3 1 3 3 3 0 -1 0\n"
    velocities = "Velocities\n\n3 1 1 1\n1 0 0 0.5\n2 0 -1 0\n"
    for body in (masses + atoms, atoms + "\n" + velocities, velocities + "\n" + atoms):
        yield (head + body).encode()
    yield (head + "Atoms # charge\n\n2 1 0.5 1 1 1\n1 2 0 2 2 2\n3 1 -1 3 3 3\n").encode()
    yield (head + "Atoms # molecular\n\n2 7 1 1 1 1\n1 7 2 2 2 2\n3 8 1 3 3 3\n").encode()


def xyz() -> Iterator[bytes]:
    box = 'Lattice="16 0 0 0 16 0 0 0 16" Properties='
    yield f'2\n{box}species:S:1:pos:R:3 pbc="T T F" Origin="-1 0 0"\nCu 0 1 2\nNi 3 4 5\n'.encode()
    yield f"2\n{box}id:I:1:species:S:1:pos:R:3:velo:R:3\n7 Cu 0 1 2 0 0 0\n1 Ni 3 4 5 1 1 1\n".encode()
    yield b"3\nLattice='4 0 0 0 4 0 0 0 4'\nCu 0.5 1 2\nNi 3 4 5\nCu 1 1 1\n"


def eam() -> Iterator[bytes]:
    row = "0 1 2.5 3 4e-1\n"
    yield (
        f"a\nb\nc\n2 Cu Ni\n5 0.5 5 0.25 1.2\n29 63.5 3.6 fcc\n{row}{row}"
        f"28 58.7 3.5 fcc\n{row}{row}{row}{row}{row}"
    ).encode()


def case() -> Iterator[bytes]:
    yield (
        b"solver = \"sample\"\nkind = 'warm'\n[grid]\ncells = [4, 5] # two\nlength = 2.5e0\nlow = [0.5, -1]\n"
        b'[run]\ncount = 0x5\nopen = true\n[output]\nshown = ["a", """b"""]\n'
        b'[boundary.wall]\nfaces = ["i-min"]\nspeed = 1\n[boundary.inlet]\nspeed = -inf\n'
    )
    yield b'solver = "x/sample"\ngrid = {cells = [1, 2, 3], length = 7}\nrun.count = 1_0\nname = "\\u00e9"\n'
    yield b'solver = "sample"\ngrid.cells = [1, 2]\n[[bodies]]\nradius = 1\n[[bodies]]\ncentre = [0, 1, 2]\n'
    yield b'solver = "sample"\n# them\n[bodies]\nradii = [1,\n 2]\n[grid]\ncells = [1, 2]\n'
    yield b'solver = "sample"\nkind = "hot"\n'
    yield b'solver = "sample"\ngrid.cells = [1979-05-27, 07:32:00]\n'


def checkpoint() -> Iterator[bytes]:
    head = (
        '{\n"format":"strata.checkpoint/2",\n"case":"heat",\n"case_hash":"12",\n"step":5,\n"time":0.5,\n'
        '"parts":1,\n"ended":true,\n"keys":[\n  {"name":"time.end","value":"0.5"}],\n'
        '"facts":[\n  {"name":"box","values":[1,2.5]}],\n"families":[\n  {"name":"grid","patches":2}],\n'
        '"labels":[\n  {"name":"u","family":"grid","element":"f64","bytes":8,"components":1,'
        '"generations":1}],\n"parameters":[\n  {"name":"speed","value":2.5}],\n'
        f'"crc32c":"{SEAL}"}}\n'
    )
    chunk = '{{"label":0,"patch":{},"generation":0,"count":1,"offset":{},"bytes":8,"crc32c":"{}"}}\n'
    # The checksums of eight bytes of 0, and another that is wrong.
    index = chunk.format(0, 0, "8c28b28a") + chunk.format(1, 8, "8c28b28a")
    for lines in (index, chunk.format(0, 8, "ffffffff")):
        seal = f'{{"chunks":2,"bytes":16,"crc32c":"{SEAL}"}}\n'
        yield b"\xff".join((head.encode(), (lines + seal).encode(), bytes(16)))


def lines() -> Iterator[bytes]:
    where = struct.pack("6i", 1, 2, 1, 2, 0, 1)
    for kind in (0, 3, 5, 7):
        body = struct.pack("4I", kind, 1, 77, 0) + where + struct.pack("Q", 4096) + bytes(64)
        body += b"strata-0123".ljust(32, b"\0") + b"was killed".ljust(440, b"\0")
        for first in (0, 1, 2, 4, 6):
            yield bytes([first]) + body
        yield b"\x01" + body * 3
    yield b"\x01127.0.0.1,127.0.0.2:1\n"


def keeper() -> Iterator[bytes]:
    """The first byte says where the keeper is (keeper.cpp); then what happens, by eighths of a byte."""
    place, lost, ready, finish, gone, end = 0, 7, 8, 9, 10, 11

    def near(line: int, kind: int) -> bytes:
        return bytes([2 + 8 * line, 0, kind, 0])

    def far(line: int, kind: int) -> bytes:
        return bytes([13 + 16 * line, 1, kind, 0])

    in_order, status, killed, noted = b"\x07", b"\x0f\x03", b"\x17", b"\x8f\x03"
    member_is_ready, calls = b"\x08", b"\x01\x01\x01"
    for last in (in_order, status, killed, noted, b"\x3f\x08\x08" + in_order, b"\x00" + status):
        yield b"\x00" + last
        yield b"\x01" + member_is_ready + last
        both = near(0, ready) + near(1, ready) + member_is_ready
        yield b"\x02" + calls + both + near(0, gone) + near(1, gone) + last + bytes(8)
        yield b"\x02" + calls + near(1, lost) + b"\x03" + last
        yield b"\x02" + calls + b"\x0b" + last
        other = b"\x04\x01\x05\x05" + far(0, place)
        yield (
            b"\x03"
            + calls
            + other
            + both
            + far(0, ready)
            + near(0, gone)
            + near(1, gone)
            + far(0, gone)
            + last
        )
        yield b"\x03" + calls + other + far(0, lost) + last
        yield b"\x03" + calls + other + b"\x06\x01\x01" + last
        yield b"\x04\x01" + bytes(8) + member_is_ready + far(0, ready) + far(0, finish) + last + far(0, end)
        yield b"\x04\x01" + bytes(8) + far(0, lost) + last
        yield b"\x04\x00" + bytes(8) + last
        arena = b"\x02\x00" + bytes(4)
        said = b"".join(bytes([2, 1, 0, kind, 0]) for kind in (finish, end))
        yield b"\x05\x01\x08\x08" + arena + member_is_ready + last + said
        yield b"\x05\x01\x08\x08" + arena + bytes([2, 1, 0, lost, 0]) + last
        yield b"\x05\x01\x08\x08" + arena + b"\x03" + last
        yield b"\x05\x00" + last


def steer() -> Iterator[bytes]:
    for line in (
        '{"get":"status"}', '{"get":"parameters"}', '{"get":"series","last":3}', '{"set":{"speed":2.5}}',
        '{"set":{"other":1}}', '{"do":"checkpoint"}', '{"do":"stop"}', '{"set":{"speed":1e9}}\n[]\n',
    ):  # fmt: skip
        yield line.encode()


MADE = {
    "stl": stl, "plot3d": plot3d, "grid": grid, "map": map_file, "lammps": lammps, "xyz": xyz, "eam": eam,
    "case": case, "checkpoint": checkpoint, "lines": lines, "keeper": keeper,
    "steer": steer,
}  # fmt: skip


def write(folder: Path, target: str, patterns: str = "") -> None:
    """A target's seeds: those that are made here, and files of the repository."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(MADE[target]() if target in MADE else ()):
        (folder / f"made-{number}").write_bytes(seed)
    for pattern in patterns.split():
        for file in ROOT.glob(pattern):
            (folder / file.name).write_bytes(file.read_bytes())


if __name__ == "__main__":
    for name in MADE:
        write(Path(sys.argv[1]) / name, name)
