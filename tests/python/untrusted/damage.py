"""Good files made bad: bytes, lines, cells and numbers that nobody expects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

NUMBERS = (
    *("0", "-1", "1", "-0", "00", "3.5", "-2147483649", "2147483648", "4294967296", "9223372036854775808"),
    *("18446744073709551616", "1e308", "-1e308", "1e400", "1e-400", "nan", "NaN", "-nan", "inf", "-Infinity"),
    *("1_000", "0x10", "1e", "+", "٣", "²", "1e9", "99999999999", "9" * 5000),
)
TIMES = (
    "9999-12-31T23:59:59",
    "0001-01-01",
    "2026-02-30T00:00:00",
    "2026-03-29T02:30",
    "00/00/0000 00:00:00",
)
TEXTS = (
    *("", " ", "-", ".", "..", "/", "true", "null", "[]", "{}", "[[", '"', "'", "''", "#", ";", "\\", "%s"),
    *(
        "a" * 70000,
        " " * 70000,
        ":" * 70000,
        " [" * 30000,
        "[" * 3000,
        "a." * 3000,
        "\0",
        "\x1b[2J",
        "\r",
        "\x85",
        "\u2028",
        "é",
        "\ud7ff",
        "😀",
        "None",
        "Unknown",
        "x=y",
    ),
)
BYTES = (b"\xff", b"\xc3", b"\0" * 8, b"\xef\xbb\xbf", b"\r\n", b"\n\n", b"\xff\xfe")
PARTS = re.compile(rb'([,|;:=\s"\[\]{}()/+*-]+)')
JSON = (
    None,
    True,
    0,
    -1,
    1.5,
    1e308,
    1 << 70,
    float("nan"),
    float("inf"),
    "",
    "x",
    [],
    {},
    [[]],
    {"": None},
    [0],
)


def files(seeds: Sequence[bytes], words: Sequence[bytes], is_json: bool) -> st.SearchStrategy[bytes]:
    """Damaged copies of the seeds, now and then a good one, and text and bytes that are nobody's."""
    cells = st.sampled_from([*_encoded(NUMBERS), *_encoded(TIMES), *_encoded(TEXTS), *BYTES, *words])
    ways = [_cell, _cell, _cell, _line, _bytes, _cut]
    ways += [_node, _node, _node] if is_json else []

    @st.composite
    def damaged(draw: Draw) -> bytes:
        data: bytes = draw(st.sampled_from(list(seeds)))
        for _ in range(draw(st.integers(0, 4))):
            data = draw(st.sampled_from(ways))(draw, data, cells)
        return data

    free = st.binary(max_size=300) | st.text(max_size=300).map(
        lambda text: text.encode("utf-8", "surrogatepass")
    )
    return st.one_of(damaged(), damaged(), damaged(), damaged(), free)


def _encoded(texts: Sequence[str]) -> list[bytes]:
    return [text.encode("utf-8", "surrogatepass") for text in texts]


def _cell(draw: Draw, data: bytes, cells: st.SearchStrategy[bytes]) -> bytes:
    """Another word in the place of one."""
    parts = PARTS.split(data)
    at = 2 * draw(st.integers(0, (len(parts) - 1) // 2))
    number = st.one_of(st.integers(), st.integers(0, 1 << 34), st.floats()).map(lambda n: repr(n).encode())
    parts[at] = draw(cells | number)
    return b"".join(parts)


def _line(draw: Draw, data: bytes, cells: st.SearchStrategy[bytes]) -> bytes:
    """A line that is gone, there again (thousands of times), elsewhere, or another."""
    lines = data.splitlines(keepends=True) or [b""]
    at, to = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    match draw(st.sampled_from(("gone", "twice", "often", "moved", "new", "longer"))):
        case "gone":
            del lines[at]
        case "twice":
            lines.insert(to, lines[at])
        case "often" if len(lines[at]) < 1000:
            lines[at] *= draw(st.integers(2, 3000))
        case "moved":
            lines.insert(to, lines.pop(at))
        case "new":
            lines.insert(at, draw(cells | st.binary(max_size=40)) + b"\n")
        case _:
            lines[at] = lines[at].rstrip(b"\r\n") + draw(cells) + b"\n"
    return b"".join(lines)


def _bytes(draw: Draw, data: bytes, _: Any) -> bytes:
    """Some bytes in the place of others."""
    at = draw(st.integers(0, len(data)))
    over = draw(st.integers(0, 8))
    return data[:at] + draw(st.binary(max_size=8) | st.sampled_from(BYTES)) + data[at + over :]


def _cut(draw: Draw, data: bytes, _: Any) -> bytes:
    at = draw(st.integers(0, len(data)))
    return data[:at] if draw(st.booleans()) else data[at:]


def _node(draw: Draw, data: bytes, cells: Any) -> bytes:
    """Another value somewhere in the JSON document, or in one of those on lines; or a key less."""
    try:
        whole, lines = [json.loads(data)], False
    except (ValueError, RecursionError):
        try:
            whole, lines = [json.loads(line) for line in data.splitlines() if line.strip()], True
        except (ValueError, RecursionError):
            return _bytes(draw, data, cells)
    if not whole:
        return data
    at = draw(st.integers(0, len(whole) - 1))
    holder: Any = whole
    key: Any = at
    while isinstance(holder[key], (dict, list)) and holder[key] and draw(st.integers(0, 5)):
        holder = holder[key]
        key = draw(st.sampled_from(list(holder) if isinstance(holder, dict) else range(len(holder))))
    if draw(st.integers(0, 4)) == 0:
        del holder[key]
    else:
        holder[key] = draw(st.sampled_from(JSON) | st.integers() | st.floats() | st.text(max_size=8))
    text = "\n".join(map(json.dumps, whole)) + "\n" if lines else json.dumps(whole[0]) if whole else ""
    return text.encode("utf-8", "surrogatepass")
