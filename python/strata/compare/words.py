"""Sentences of a comparison, made from its numbers alone: terminal and report say the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strata.advice.words import count, digits, unit_text
from strata.report.quantities import shown

Comparison = Mapping[str, Any]  # strata.comparison/1
Entry = Mapping[str, Any]  # one of its comparisons
_MOST = 5  # sentences about single figures


def share(value: float) -> str:
    """0.03 as '3 %'."""
    return f"{digits(100 * value)} %"


def change(ratio: float) -> str:
    """'+4.2 %' or '-30 %'; '2.31 times' from a factor of two on."""
    if not 0.5 < ratio < 2:
        return f"{digits(ratio)} times"
    sign = "+" if ratio >= 1 else "−"
    moved = 100 * abs(ratio - 1)
    return f"{sign}{moved:.{2 if moved < 0.095 else 1}f} %"


def interval(entry: Entry) -> str:
    """'[+3.1, +5.0] %', or '[1.9, 2.4] times'."""
    ends = entry["low"], entry["high"]
    if all(0.5 < r < 2 for r in ends):
        return f"[{', '.join(change(r).removesuffix(' %') for r in ends)}] %"
    return f"[{', '.join(digits(r) for r in ends)}] times"


def sizes(entry: Entry) -> str:
    """Undisturbed launches: of each side, or of both where they differ."""
    before, after = entry["before"]["n"], entry["after"]["n"]
    return str(before) if before == after else f"{before}, {after}"


def note(entry: Entry, threshold: float) -> str:
    """The verdict with what makes it precise."""
    disturbed = [name for name in ("before", "after") if entry[name].get("grade") == "disturbed"]
    graded = f" (disturbed {' and '.join(disturbed)})" if disturbed else ""
    return f"{_precise(entry, threshold)}{graded}"


def _precise(entry: Entry, threshold: float) -> str:
    word = str(entry["verdict"])
    if entry["beyond"]:
        return f"{word}, > {share(threshold)}"
    if word == "unchanged":
        return f"{word}, ±{digits(100 * distance_from_1(entry), 2)} %"
    if word == "undecided" and entry["launches"]:
        return f"{word}, ~{entry['launches']} launches"
    return word


def value(side: Mapping[str, Any], other: Mapping[str, Any], unit: str) -> str:
    """The median of one side, with digits enough to tell it from the other's."""
    return f"{shown(side['median'], other['median'])} {unit_text(unit)}".strip()


def sort_key(entry: Entry) -> tuple[int, float]:
    """Regressions first, the largest of each kind first."""
    order = ("regressed", "improved", "undecided", "unchanged")
    worse = entry["ratio"] if entry["better"] == "lower" else 1 / entry["ratio"]
    size = worse if entry["verdict"] != "improved" else 1 / worse
    return order.index(entry["verdict"]), -size


def statements(whole: Comparison) -> list[str]:
    """What was found, the verdict first."""
    said = [verdict(whole)]
    entries = sorted(whole["comparisons"], key=sort_key)
    for word in ("regressed", "improved"):
        found = [e for e in entries if e["verdict"] == word]
        said += [change_sentence(e) for e in found[:_MOST]]
        if len(found) > _MOST:
            said.append(f"{count(len(found) - _MOST, 'more figure')} {word} by less.")
    said += _alike(whole, entries) + _open(entries)
    return said


def verdict(whole: Comparison) -> str:
    """One sentence: how many figures went which way."""
    counts, limit = whole["counts"], share(whole["regressed"])
    if not whole["family"]:
        return "No figure could be compared."
    parts = []
    if counts["regressed"]:
        which = f" by more than {limit}"
        if not counts["beyond"]:
            which = f" (not certainly{which})"
        elif counts["beyond"] != counts["regressed"]:
            which = f" ({counts['beyond']} of them certainly{which})"
        parts.append(f"{counts['regressed']} regressed{which}")
    if counts["improved"]:
        parts.append(f"{counts['improved']} improved")
    if counts["unchanged"]:
        parts.append(f"{counts['unchanged']} unchanged within ±{limit}")
    if counts["undecided"]:
        parts.append(f"{counts['undecided']} undecided")
    text = f"Of {count(whole['family'], 'figure')}, {', '.join(parts)}."
    if not counts["regressed"] and not counts["improved"]:
        text = f"No significant change. {text}"
    return text


def change_sentence(entry: Entry) -> str:
    """'`rate` of solver/pinned/1x2 fell by 8.1 % [7.0, 9.3]: ...'."""
    before, after = entry["before"], entry["after"]
    was, now = value(before, after, entry["unit"]), value(after, before, entry["unit"])
    up = entry["ratio"] > 1
    ends = (entry["low"], entry["high"]) if up else (entry["high"], entry["low"])
    if all(0.5 < r < 2 for r in (entry["ratio"], *ends)):
        how = "rose" if up else "fell"
        by = f"{how} by {_moved(entry['ratio'])} % (between {_moved(ends[0])} and {_moved(ends[1])} %)"
    else:
        by = f"is {digits(entry['ratio'])} times what it was"
        by += f" (between {digits(entry['low'])} and {digits(entry['high'])})"
    return f"**{entry['verdict']}**: {entry['figure']} of `{entry['task']}` {by}, from {was} to {now}."


def _moved(ratio: float) -> str:
    return digits(100 * abs(ratio - 1), 2)


def distance_from_1(entry: Entry) -> float:
    """How far the interval reaches from 1: it is unchanged within this."""
    return max(abs(entry["low"] - 1), abs(entry["high"] - 1))


def _alike(whole: Comparison, entries: Sequence[Entry]) -> list[str]:
    same = [e for e in entries if e["verdict"] == "unchanged"]
    if not same:
        return []
    reach = max(distance_from_1(e) for e in same)
    text = "is unchanged: its interval lies" if len(same) == 1 else "are unchanged: their intervals lie"
    return [f"{count(len(same), 'figure')} {text} within ±{digits(100 * reach, 2)} %."]


def _open(entries: Sequence[Entry]) -> list[str]:
    left = [e for e in entries if e["verdict"] == "undecided"]
    if not left:
        return []
    known = sorted(e["launches"] for e in left if e["launches"])
    text = (
        f"{count(len(left), 'figure')} {'is' if len(left) == 1 else 'are'} undecided: neither a change nor "
    )
    text += "the absence of one can be told from these launches."
    if known:
        half = known[(len(left) - 1) // 2] if len(known) > (len(left) - 1) // 2 else None
        text += f" About {known[0]} launches on each side would decide the first of them"
        text += f", about {half} half of them." if half and half != known[0] else "."
    return [text]


def method_sentence(whole: Comparison) -> str:
    """By which test a change is named."""
    family = count(whole["family"], "figure")
    if whole["method"] == "holm":
        return (
            f"A change is named by the exact rank test of Mann and Whitney at 5 % for all {family} together "
            "(Holm's method)."
        )
    return (
        "A change is named at 5 % for all "
        f"{family} together, by permutations of the launches (Westfall and Young's step-down method): these "
        "launches are too few for Holm's method on ranks, which could name no change here however large."
    )


def not_compared(whole: Comparison) -> dict[str, list[str]]:
    """What both sides have and was not compared, by the reason."""
    found: dict[str, list[str]] = {}
    for left in whole["not_compared"]:
        name = left["task"] + (f" ({left['figure']})" if left["figure"] else "")
        found.setdefault(left["why"], []).append(name)
    return found
