"""How long tests take, as recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import sample

RESULTS = """<testsuite><testcase classname="tests.core.test_a" name="test_one" time="2.5"/>
<testcase classname="tests.core.test_a" name="test_two" time="9"><failure/></testcase>
<testcase classname="base/a claim" name="base/a claim" time="0.25"/>
<testcase classname="base/of a::type" name="base/of a::type" time="4"/></testsuite>"""


def seconds(*words: object) -> str:
    command = [sys.executable, "-S", str(sample.ROOT / "setup" / "seconds.py"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_run_leaves_what_its_tests_took_beside_what_it_did_not_run(tmp_path: Path) -> None:
    record, results = tmp_path / "record", tmp_path / "results"
    record.write_text("1\tbase/a claim\n7\tbase/another\n")
    results.mkdir()
    (results / "native-1.xml").write_text(RESULTS)
    (results / "again-1.xml").write_text(RESULTS.replace("2.5", "0.1"))
    (results / "native-1.json").write_text("{}")
    seconds("keep", record, *sorted(results.iterdir()))
    assert record.read_text() == (
        "0.25\tbase/a claim\n7\tbase/another\n4\tbase/of a::type\n2.5\ttests/core/test_a.py::test_one\n"
    ), "what failed took another time than it takes"
    assert seconds("table", record) == "3.75\tbase\t3\n2.5\ttests/core/test_a.py\t1\n"


def test_a_test_counts_as_it_took_or_else_as_the_others_of_its_program(tmp_path: Path) -> None:
    (tmp_path / "table").write_text("3\tbase\t2\n4\tother\t1\n")
    (tmp_path / "own").write_text("9\tbase/long\n")
    tests = [{"name": name} for name in ("base/long", "base/new", "other/one", "unheard/of")]
    (tmp_path / "list.json").write_text(json.dumps({"tests": tests}))
    found = seconds("native", tmp_path / "list.json", tmp_path / "table", tmp_path / "own", tmp_path / "none")
    assert found == "9\tbase/long\n3\tbase/new\n4\tother/one\n0.5\tunheard/of\n"


def test_what_comes_later_is_added_up_from_the_table(tmp_path: Path) -> None:
    table, late = tmp_path / "table", tmp_path / "late.txt"
    table.write_text(
        "3\tbase\t412\n0.5\ttests/e2e/test_a.py\t8\n2\ttests/core/test_b.py\t3\n7\ttests/core/test_c.py\t1\n"
    )
    late.write_text("# a comment\ne2e/\ncore/test_c.py\n")
    assert seconds("coming", table) == "1236\n"
    assert seconds("coming", table, late) == "11\n"


def test_the_checkouts_table_says_how_many_tests_each_line_is_about() -> None:
    root = sample.ROOT / "tests"
    assert int(seconds("coming", root / "seconds.tsv")) > 0
    assert int(seconds("coming", root / "seconds.tsv", root / "late.txt")) > 0
