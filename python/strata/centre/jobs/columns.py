"""Columns of Arrow tables as columns of `Rows`: times, keys, names and small vocabularies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from strata.centre.outages import times

NEVER = ("", "Unknown", "None", "N/A", "NONE", "INVALID")
_HASHED = np.uint64(1 << 63)  # keys of texts; numbers of jobs stay below


def whole(text: str) -> int:
    """A number of a few digits, 0 for an empty text; -1, which no number of anything is, for all else. Older
    versions of Slurm write `2K` for 2048 nodes.
    """
    if not text:
        return 0
    digits, unit, longest = (text[:-1], 1024, 6) if text.endswith("K") else (text, 1, 9)
    return int(digits) * unit if digits.isdecimal() and len(digits) <= longest else -1


def seconds(column: Any, zone: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A column of texts as seconds: as read, the second reading of a time that came twice, and which cells
    are no time, or never were.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    never = pc.is_in(column, value_set=pa.array(NEVER))
    given = pc.if_else(never, pa.scalar(None, pa.string()), column)
    good = np.zeros(len(column), bool)
    try:
        numbers = pc.cast(given, pa.int64())
        out = pc.cast(numbers, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        far = np.abs(out) > times.LAST
        return np.where(far, np.nan, out), out, far, good
    except pa.ArrowInvalid:
        pass
    try:
        naive = pc.cast(given, pa.timestamp("s"))
    except pa.ArrowInvalid:  # offsets, or what is no time
        found = times.read(given.to_pandas().fillna(""), zone)
        return found.seconds, found.second, found.wrong, found.skipped
    first, second, skipped = times.localised(naive.to_pandas(), zone)
    far = np.abs(first) > times.LAST
    return np.where(far, np.nan, first), second, far, skipped


def codes(column: Any) -> tuple[np.ndarray, list[str]]:
    """A column of names as codes; an empty text and null have none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.dictionary_encode(column)
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    places = found.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    texts = [text or "" for text in found.dictionary.to_pylist()]
    return places, texts


def mapped(column: Any, value: Callable[[str], Any], dtype: Any) -> np.ndarray:
    """A function of each text, computed once for each different one."""
    places, texts = codes(column)
    values = np.array([value(t) for t in texts] + [value("")], dtype=dtype)  # -1, a null, is the last
    return values[places]


def keys(column: Any) -> np.ndarray:
    """Numbers of jobs as they are, other texts as hashes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return pc.cast(column, pa.int64()).to_numpy(zero_copy_only=False).astype(np.uint64)
    except pa.ArrowInvalid:
        pass
    from pandas.util import hash_array

    texts = column.to_pandas().to_numpy(dtype=object)
    number = pc.match_substring_regex(column, r"^\d{1,18}$").to_numpy(zero_copy_only=False)
    out = hash_array(texts) | _HASHED
    out[number] = texts[number].astype(np.uint64)
    return out
