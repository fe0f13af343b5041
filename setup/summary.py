"""Adds up what the test runners left: a table with each folder's time beside its budget, how long the command
took in all, why tests were skipped, and then one line: N passed, N failed, N skipped.

The files are JUnit's, of pytest and CTest, and CTest's lists of tests (`--show-only=json-v1`), which say of a
test in which folder it was declared. A test that failed and passed when it ran again by itself
(`again-*.xml`) counts as passed. How many did so, and which, is the line before the last. That one has counts
alone, since programs read it. Budgets are the column of that name in tests/README.md, in seconds, two cores.
"""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten

from seconds import called

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| .*\| *(\d+) s *\|$")


def outcome(case: ElementTree.Element) -> str:
    children = {child.tag for child in case}
    if children & {"failure", "error"} or why_skipped(case).startswith("Unable to find executable"):
        return "failed"
    if "skipped" in children or case.get("status") in ("notrun", "disabled"):
        return "skipped"
    return "passed"


def why_skipped(case: ElementTree.Element) -> str:
    """Native tests say it in their output (CANNOT_TRY in tests/catch.hpp)."""
    said = re.search(r"cannot try: (.*)", case.findtext("system-out") or "")
    if said:
        return said[1].strip()
    skipped = case.find("skipped")
    if skipped is None:
        return "disabled"
    if skipped.get("message") == "collection skipped":  # a whole module: file, line and reason
        return (skipped.text or "").rpartition("Skipped: ")[2].rstrip("\"')")
    return skipped.get("message") or "without a reason"


def reasons(skipped: Counter[str]) -> list[str]:
    """Those of most tests first; each fits a line."""
    return [f"skipped {count:3}: {shorten(why, 100)}" for why, count in skipped.most_common()]


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


def listed(text: str) -> list[list[str]]:
    """Test, date and cause of those that tests/README.md knows to pass only when they run again."""
    _, _, rows = text.partition("\n| test | seen | cause |\n| --- | --- | --- |\n")
    table = rows.split("\n\n")[0].splitlines()
    return [[word.strip() for word in row.strip("|").split("|")] for row in table if row.startswith("|")]


def rerun(tests: list[str]) -> list[str]:
    """The line about tests that passed only when they ran again. Those that are not listed are new."""
    if not tests:
        return []
    known = {row[0].strip("`") for row in listed((ROOT / "tests" / "README.md").read_text())}
    names = [
        test if test in known else f"{test} (new: mend it, or list it in tests/README.md)" for test in tests
    ]
    return [f"{len(tests)} failed and passed when run again: {'; '.join(names)}"]


def minutes(seconds: int) -> str:
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min {seconds % 60} s"


def main(words: list[str]) -> int:
    """`--seconds N`: how long the command has taken; then the files."""
    took, files = (int(words[1]), words[2:]) if words[:1] == ["--seconds"] else (0, words)
    native = declared([file for file in files if file.endswith(".json")])
    passed_again = {known(case) for case in cases(files, again=True) if outcome(case) == "passed"}
    only_again = []
    skipped: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    seconds: dict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    for case in cases(files, again=False):
        name, ended = folder_of(case, native), outcome(case)
        if ended == "failed" and known(case) in passed_again:
            only_again.append(called(case))
            ended = "passed"
        if ended == "skipped":
            skipped[why_skipped(case)] += 1
        outcomes[ended] += 1
        counts[name] += 1
        seconds[name] += float(case.get("time") or 0)
    if counts:
        print("\n".join(table(seconds, counts)))
    if took > 1:
        print(f"in all {minutes(took)}")
    print("\n".join([*reasons(skipped), *rerun(only_again)]), end="\n" if skipped or only_again else "")
    print(f"{outcomes['passed']} passed, {outcomes['failed']} failed, {outcomes['skipped']} skipped")
    return 1 if outcomes["failed"] or not outcomes["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
