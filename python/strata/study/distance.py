"""How far apart two cores are, in the words of the machine: what of the hierarchy they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strata.advice.samples import allowed_cores


def distance(machine: Mapping[str, Any], stride: int) -> str:
    """Of the first allowed core and the one `stride` further: 'same L3', 'same domain', 'same package',
    'other package'; empty where there is none.
    """
    cores = allowed_cores(machine)
    if stride >= len(cores):
        return ""
    first, second = cores[0], cores[stride]
    indices = [machine["cores"].index(core) for core in (first, second)]
    shared = [
        int(cache["level"])
        for cache in machine.get("caches") or []
        if cache.get("type") != "instruction" and all(i in (cache.get("cores") or []) for i in indices)
    ]
    if shared:
        return f"same L{min(shared)}"
    for key, word in (("domain", "same domain"), ("package", "same package")):
        if first.get(key) is not None and first.get(key) == second.get(key):
            return word
    return "other package"
