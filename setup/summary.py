"""Adds up what the test runners left: a table with each folder's time beside its budget, how long the command
took in all, then one line: N passed, N failed, N skipped.

The files are JUnit's, of pytest and CTest, and CTest's lists of tests (`--show-only=json-v1`), which say of a
test in which folder it was declared. A test that failed and passed by itself afterwards (`again-*.xml`)
counts as passed, and is named. Budgets are the column of that name in tests/README.md, in seconds on
two cores.
"""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| .*\| *(\d+) s *\|$")


def outcome(case: ElementTree.Element) -> str:
    children = {child.tag for child in case}
    if children & {"failure", "error"}:
        return "failed"
    if "skipped" in children or case.get("status") in ("notrun", "disabled"):
        return "skipped"
    return "passed"


def cases(files: list[str], again: bool) -> Iterator[ElementTree.Element]:
    """The tests of the first runs, or of those that ran a second time by themselves (`again-*.xml`)."""
    for file in files:
        if file.endswith(".xml") and Path(file).name.startswith("again-") == again:
            yield from ElementTree.parse(file).iter("testcase")


def known(case: ElementTree.Element) -> tuple[str, str]:
    """What a test is called: pytest's module and function; CTest has the name twice."""
    return case.get("classname") or "", case.get("name") or ""


def declared(files: list[str]) -> dict[str, str]:
    """The folder of tests/ in which each native test was declared."""
    found = {}
    for file in files:
        for test in json.loads(Path(file).read_text() or "{}").get("tests", []):
            properties = {each["name"]: each["value"] for each in test.get("properties", [])}
            _, _, folder = str(properties.get("WORKING_DIRECTORY", "")).partition("/cmake/tests/")
            found[test["name"]] = folder.split("/")[0] or "native"
    return found


def folder_of(case: ElementTree.Element, native: dict[str, str]) -> str:
    """tests.setup.test_entry is pytest's name of a module; CTest's are in the list."""
    words = (case.get("classname") or "").split(".")
    if words[0] == "tests" and len(words) > 1:
        return words[1]
    return native.get(case.get("name") or "", "other")


def budgets() -> dict[str, int]:
    """Seconds by folder."""
    found = {}
    for line in (ROOT / "tests" / "README.md").read_text().splitlines():
        if row := ROW.match(line):
            (name,) = re.findall(r"`(\w+)/`", line.split("|")[1])
            found[name] = int(row[1])
    return found


def table(seconds: dict[str, float], counts: dict[str, int]) -> list[str]:
    """The folders, the slowest first. Times of tests are added up, whatever ran beside them."""
    allowed = budgets()
    lines = [f"{'folder':12} {'tests':>6} {'time':>8} {'budget':>8}"]
    for name in sorted(seconds, key=lambda each: -seconds[each]):
        budget = allowed.get(name)
        over = "   over its budget" if budget is not None and seconds[name] > budget else ""
        shown = f"{budget} s" if budget is not None else "-"
        lines.append(f"{name:12} {counts[name]:6} {seconds[name]:6.0f} s {shown:>8}{over}")
    lines.append(f"{'all':12} {sum(counts.values()):6} {sum(seconds.values()):6.0f} s")
    return lines


def minutes(seconds: int) -> str:
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min {seconds % 60} s"


def main(words: list[str]) -> int:
    """`--seconds N`: how long the command has taken; then the files."""
    took, files = (int(words[1]), words[2:]) if words[:1] == ["--seconds"] else (0, words)
    native = declared([file for file in files if file.endswith(".json")])
    passed_again = {known(case) for case in cases(files, again=True) if outcome(case) == "passed"}
    only_again = []
    outcomes: Counter[str] = Counter()
    seconds: dict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    for case in cases(files, again=False):
        name, ended = folder_of(case, native), outcome(case)
        if ended == "failed" and known(case) in passed_again:
            only_again.append(" ".join(known(case)))
            ended = "passed"
        outcomes[ended] += 1
        counts[name] += 1
        seconds[name] += float(case.get("time") or 0)
    if counts:
        print("\n".join(table(seconds, counts)))
    for test in only_again:
        print(f"failed beside other tests, passed by itself (to be mended): {test}")
    if took > 1:
        print(f"in all {minutes(took)}")
    print(f"{outcomes['passed']} passed, {outcomes['failed']} failed, {outcomes['skipped']} skipped")
    return 1 if outcomes["failed"] or not outcomes["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
