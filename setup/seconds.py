"""How long tests take, as recorded: what is left of a test run is estimated from it (progress.py).

    seconds.py native LIST RECORDED...   SECONDS<TAB>NAME of each test of CTest's list (`--show-only=json-v1`)
    seconds.py keep FILE RESULTS...      what a run's JUnit files say goes into FILE, beside what it had
    seconds.py table FILE                the means of programs and files, as tests/seconds.tsv has them
    seconds.py coming TABLE [FOLDERS]    what all native tests take together, or with a file of the beginnings
                                         of paths (tests/late.txt) those tests in Python

A record is a line SECONDS<TAB>NAME, of a test, or SECONDS<TAB>NAME<TAB>TESTS of all tests of a program or
file, each of which counts as the mean. Later files count more than earlier ones: the machine's own last run
after the checkout's table.
"""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path

UNKNOWN_S = 0.5


def group(name: str) -> str:
    """tests/core/test_one.py::test_two is of its file, test_base/a claim of its program."""
    return name.partition("::" if name.startswith("tests/") else "/")[0]


def recorded(files: list[Path]) -> dict[str, float]:
    found = {}
    for file in files:
        for line in file.read_text().splitlines() if file.is_file() else []:
            seconds, name, *_ = line.split("\t")
            found[name] = float(seconds)
    return found


def expected(names: list[str], known: dict[str, float]) -> list[float]:
    return [known.get(name, known.get(group(name), UNKNOWN_S)) for name in names]


def called(case: ElementTree.Element) -> str:
    """pytest's module and name as one types them; CTest has the name twice."""
    module, name = case.get("classname") or "", case.get("name") or ""
    return name if module in ("", name) else f"{module.replace('.', '/')}.py::{name}"


def measured(results: list[Path]) -> dict[str, float]:
    """Of tests that passed: others may have ended early, or too late."""
    found = {}
    for file in results:
        for case in ElementTree.parse(file).iter("testcase"):
            if not {child.tag for child in case} & {"failure", "error", "skipped"}:
                found[called(case)] = float(case.get("time") or 0)
    return found


def written(records: dict[str, float]) -> str:
    return "".join(f"{seconds:.3g}\t{name}\n" for name, seconds in sorted(records.items()))


def table(records: dict[str, float]) -> str:
    groups: dict[str, list[float]] = defaultdict(list)
    for name, seconds in records.items():
        groups[group(name)].append(seconds)
    return "".join(
        f"{sum(each) / len(each):.3g}\t{name}\t{len(each)}\n" for name, each in sorted(groups.items())
    )


def beginnings(file: Path) -> tuple[str, ...]:
    """Of the paths of tests that need the tests' programs; below tests/, as the file has them."""
    return tuple(line for line in file.read_text().splitlines() if line and not line.startswith("#"))


def coming(file: Path, late: Path | None) -> float:
    total = 0.0
    for line in file.read_text().splitlines():
        seconds, name, count = line.split("\t")
        path = name.removeprefix("tests/")
        if path == name if late is None else path != name and path.startswith(beginnings(late)):
            total += float(seconds) * int(count)
    return total


def main(words: list[str]) -> None:
    what, file, *rest = words[0], Path(words[1]), *map(Path, words[2:])
    if what == "native":
        names = [test["name"] for test in json.loads(file.read_text() or "{}").get("tests", [])]
        for seconds, name in zip(expected(names, recorded(rest)), names, strict=True):
            print(f"{seconds:.3g}\t{name}")
    elif what == "keep":
        records = recorded([file]) | measured(
            [path for path in rest if path.suffix == ".xml" and not path.name.startswith("again-")]
        )
        new = file.with_name(f"{file.name}.new")
        new.write_text(written(records))
        new.replace(file)
    elif what == "coming":
        print(round(coming(file, rest[0] if rest else None)))
    else:
        print(table(recorded([file])), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
