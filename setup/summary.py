"""Adds up the JUnit files of all test runners and prints one line: N passed, N failed, N skipped."""

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter


def outcome(case: ElementTree.Element) -> str:
    children = {child.tag for child in case}
    if children & {"failure", "error"}:
        return "failed"
    if "skipped" in children or case.get("status") in ("notrun", "disabled"):
        return "skipped"
    return "passed"


def main(files: list[str]) -> int:
    counts: Counter[str] = Counter()
    for file in files:
        counts.update(outcome(case) for case in ElementTree.parse(file).iter("testcase"))
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
