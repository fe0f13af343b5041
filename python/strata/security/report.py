"""The report of `strata doctor --security`, in words and as data."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from strata.scripts import visible
from strata.security.checks import Finding, findings
from strata.security.listening import Listener, listeners, user_name

SCHEMA = "strata.security/1"


def trees() -> list[Path]:
    """Where Strata's programs and modules lie: the installed tree with its Python, and these modules."""
    build = os.environ.get("STRATA_BUILD")
    said = [os.environ.get("STRATA_PREFIX", ""), f"{build}/current" if build else ""]
    found = [Path(each).resolve() for each in said if each]
    found += [
        Path(__file__).resolve().parents[1],
        Path(sys.prefix).resolve(),
        Path(sys.base_prefix).resolve(),
    ]
    return [each for each in dict.fromkeys(found) if each.is_dir() and each != Path("/usr")]


def text(heard: Iterable[Listener], found: Iterable[Finding]) -> str:
    heard, found = list(heard), list(found)
    who = "all users" if os.geteuid() == 0 else f"user {user_name(os.geteuid())}, named sockets of all"
    lines = [f"What listens now of Strata's ({who})"]
    for each in heard:
        by = f"{each.program} (process {each.process})" if each.process else "a process of theirs"
        lines += [f"  {each.address}  {each.what_for}", f"    by:     {by}, user {each.user}"]
        lines += [f"    hears:  {each.hears}"]
    if not heard:
        lines.append("  nothing")
    lines += ["", "What other users could do"]
    word = {True: "holds", False: "DOES NOT HOLD", None: "to know"}
    width = max(len(each.what) for each in found)
    for each in found:
        lines.append(f"  {each.what:<{width}}  {word[each.holds]}: {each.found}")
        if each.holds is not True:
            pad = " " * (width + 4)
            lines += [f"{pad}{each.matters}"] if each.holds is None and each.matters else []
            lines += [f"{pad}others could {each.matters}"] if each.holds is False else []
            lines += [f"{pad}try:  {each.remedy}"] if each.remedy else []
    open_now = sum(each.holds is False for each in found)
    last = (
        f"{open_now} of {len(found)} do not hold, each with its remedy above"
        if open_now
        else "all of it holds"
    )
    return "\n".join(map(visible, [*lines, "", last]))  # names are of others' choice


def main(as_json: bool) -> int:
    """Prints the report; returns 1 where something does not hold."""
    heard, found = listeners(trees()), findings(trees())
    if as_json:
        data = {
            "schema": SCHEMA,
            "listening": [asdict(each) for each in heard],
            "findings": [asdict(each) for each in found],
        }
        print(json.dumps(data, indent=1))
    else:
        print(text(heard, found))
    return 1 if any(each.holds is False for each in found) else 0
