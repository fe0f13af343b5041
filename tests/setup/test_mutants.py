"""Changes of sources, and whether tests find them: which are made, in what order, runs that are killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sample

sys.path.insert(0, str(sample.ROOT / "setup"))

import mutant_tests
import mutants
from mutant_changes import Change, changes, code_alone, drawn, in_cpp, in_python
from mutant_tests import Verdict

SETUP = sample.ROOT / "setup"

CPP = """\
#include <vector>  // 1 < 2
#define LIMIT(x) \\
    ((x) < 7)
/* a == b */
template <class T>
std::vector<int> f(const T* a, int n) {
    const char* text = "i < 3 /* + */", c = '"';  // true
    for (int i = 0; i < n; ++i) count += a[i] * 2;
    if (!ready && n > -1) return {};
    log(R"(x - y)", n);
    return 0.5 * std::max(n, 4);
}
"""


def made(of: list[Change]) -> set[tuple[int, str, str]]:
    return {(change.line, change.before, change.after) for change in of}


def test_changes_in_cpp_are_operators_bounds_signs_and_statements_in_code_alone() -> None:
    assert made(in_cpp("core/f.cpp", CPP)) == {
        (8, "0", "1"),
        (8, "<", "<="),
        (8, "+=", "-="),
        (8, "*", "/"),
        (8, "2", "3"),
        (9, "!", ""),
        (9, "&&", "||"),
        (9, ">", ">="),
        (9, "-", ""),
        (9, "1", "2"),
        (10, 'log(R"(x - y)", n);', ";"),
        (11, "0.5", "1.0"),
        (11, "*", "/"),
        (11, "std::max", "std::min"),
        (11, "4", "5"),
    }
    bare = code_alone(CPP)
    assert [len(line) for line in bare.splitlines()] == [len(line) for line in CPP.splitlines()]
    assert "vector>" not in bare.splitlines()[0] and "std::vector<int>" in bare


PYTHON = '''\
"""1 + 1"""
from __future__ import annotations

def f(a: list[int] | None = None, *, n: int = -1) -> dict[str, 3]:
    """a < b"""
    text = f"{n + 1} of {a}", zip(a, a, strict=True)  # 2 * 2
    if a is not None and not text and 1 <= n < 9 or max(n, 3) == 4:
        print(text)
    é = "é" + text
    n += 1
    return -n // 2

if __name__ == "__main__":
    f(1 + 2)
'''


def test_changes_in_python_are_in_code_alone_and_each_is_python() -> None:
    found = in_python("python/strata/f.py", PYTHON)
    assert made(found) == {
        (4, "-", ""),
        (4, "1", "2"),
        (7, "not ", ""),
        (7, "and", "or"),
        (7, "or", "and"),
        (7, "1", "2"),
        (7, "<=", "<"),
        (7, "<", "<="),
        (7, "9", "10"),
        (7, "max", "min"),
        (7, "3", "4"),
        (7, "==", "!="),
        (7, "4", "5"),
        (8, "print(text)", "pass"),
        (9, "+", "-"),
        (10, "+=", "-="),
        (10, "1", "2"),
        (11, "-", ""),
        (11, "//", "*"),
        (11, "2", "3"),
    }
    assert sum(change.before == "not " for change in found) == 2, "`is not` is changed as well"
    for change in found:
        compile(change.applied(PYTHON), "changed", "exec")


@pytest.mark.parametrize(("source", "read"), [(CPP, in_cpp), (PYTHON, in_python)])
def test_a_change_is_made_in_one_place_alone(source: str, read) -> None:
    for change in read("a.cpp", source):
        after = change.applied(source)
        assert after != source
        old, new = source.splitlines(), after.splitlines()
        assert [n for n, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b] == [change.line]
        at = change.column - 1
        assert new[change.line - 1][:at] == old[change.line - 1][:at]
        assert new[change.line - 1][at:] == change.after + old[change.line - 1][at + len(change.before) :]


def test_a_change_that_does_not_fit_is_refused() -> None:
    change = in_cpp("a.cpp", CPP)[0]
    with pytest.raises(ValueError, match="does not fit"):
        change.applied(CPP.replace("count", "counts"))


def test_the_same_seed_draws_the_same_changes_and_another_one_others() -> None:
    every = in_cpp("a.cpp", CPP) + in_python("b.py", PYTHON)
    first = list(drawn(every, 7))
    assert first == list(drawn(every, 7)) and first != list(drawn(every, 8))
    assert sorted(map(str, first)) == sorted(map(str, every)), "each once"


def test_numbers_are_not_most_of_what_is_drawn() -> None:
    source = "void f() {\n" + "    a = 1;\n" * 900 + "    b = c < d;\n" * 100 + "}\n"
    few = [change.kind for change, _ in zip(drawn(in_cpp("a.cpp", source), 1), range(100), strict=False)]
    assert 30 < few.count("bound") < 70


def test_every_change_of_the_sources_fits_where_it_says() -> None:
    for language, folder, least in (("cpp", "core/base", 700), ("python", "python/strata/measure", 700)):
        every = changes(sample.ROOT, language, [folder])
        assert len(every) > least
        for change, _ in zip(drawn(every, 3), range(300), strict=False):
            text = (sample.ROOT / change.file).read_text(encoding="utf-8")
            after = change.applied(text)
            if language == "python":
                compile(after, change.file, "exec")


def test_what_set_up_says_of_sources_that_do_not_compile_is_what_it_says() -> None:
    said = "".join((SETUP / name).read_text() for name in ("setup.sh", "test.sh"))
    assert all(f'fail "{words}"' in said for words in mutant_tests.NO_BUILD)


# ---- Judging


def change(n: int, file: str = "python/strata/a.py") -> Change:
    return Change(file, n, 3, "<", "<=", "bound", f"a{n} < b")


def judged(path: Path, outcomes: dict[int, str], count: int, known=()) -> mutants.Journal:
    """So many of six changes, of which each has the outcome that is given for its line."""
    journal = mutants.Journal(path, {"commit": "c", "seed": 1, "under": []})
    every = [change(n) for n in range(1, 7)]
    source = "".join(f"  a{n} < b\n" for n in range(1, 7))
    mutants.judge_all(
        {"python": every},
        {"python": count},
        1,
        journal,
        known,
        lambda _: source,
        lambda of: Verdict(outcomes.get(of.line, "found"), ["t"]),
        lambda *_: None,
    )
    return journal


def test_what_does_not_compile_is_drawn_again_and_said(tmp_path: Path) -> None:
    order = [each.line for each in drawn([change(n) for n in range(1, 7)], 1)]
    journal = judged(tmp_path / "j", {order[0]: "not compiled", order[1]: "slow to build"}, 3)
    assert [each.line for each in journal.verdicts] == order[:5]
    assert "not compiled         1" in "\n".join(mutants.table(journal.verdicts))


def test_equivalent_changes_are_not_tested_and_count_for_neither(tmp_path: Path) -> None:
    outcomes = dict.fromkeys(range(1, 7), "missed")
    key = mutants.as_judged(change(2), "x\n  a2 < b\n")
    assert key == ("python/strata/a.py", "a2 < b", "< -> <= at 1")
    journal = judged(tmp_path / "j", outcomes, 6, known={key})
    assert journal.verdicts[change(2)].outcome == "equivalent"
    assert mutants.share_found(journal.verdicts.values()) == 0
    outcomes = dict.fromkeys(range(1, 7), "found") | {1: "missed", 3: "hangs", 4: "late"}
    journal = judged(tmp_path / "k", outcomes, 6, known={key})
    assert mutants.share_found(journal.verdicts.values()) == 3 / 5, (
        "a test that hangs has found, lateness not"
    )
    text = "\n".join(mutants.table(journal.verdicts))
    assert "missed: python/strata/a.py:1:3: `<` -> `<=`\n    a1 < b" in text and "found: 60.0%" in text


def test_a_journal_goes_on_after_a_line_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "j"
    judged(path, {}, 2)
    whole = path.read_text()
    path.write_text(whole + '{"change": {"file": "pyth')
    order = [each.line for each in drawn([change(n) for n in range(1, 7)], 1)]
    journal = judged(path, {order[0]: "missed"}, 4)
    assert [v.outcome for v in journal.verdicts.values()] == ["found"] * 4, "the first was judged before"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["change"]["line"] for line in lines[1:]] == order[:4]


def test_a_journal_of_other_changes_is_refused(tmp_path: Path) -> None:
    judged(tmp_path / "j", {}, 1)
    with pytest.raises(mutants.Broken, match="--journal"):
        mutants.Journal(tmp_path / "j", {"commit": "d", "seed": 1, "under": []})


def test_the_table_of_equivalent_changes_names_lines_that_are_there() -> None:
    for file, line, words in mutants.equivalents():
        texts = [text.strip() for text in (sample.ROOT / file).read_text().splitlines()]
        assert line in texts, (file, line)
        before, _, at = words.rpartition(" at ")
        assert line[int(at) - 1 :].startswith(before.partition(" -> ")[0]), (file, line, words)


def test_tests_that_import_a_module_come_first_and_of_them_the_most_specific(tmp_path: Path) -> None:
    class Selecting:
        @staticmethod
        def reached(path: Path) -> set[Path]:
            how_many = int(path.stem.removeprefix("test_"))
            return (
                {tmp_path / "python/strata/a.py"} | {Path(str(n)) for n in range(how_many)}
                if how_many
                else set()
            )

    names = [f"tests/python/test_{n}.py" for n in (9, 0, 3, 1, 8, 7, 2, 6, 5)] + ["tests/e2e/test_4.py"]
    files = [str(tmp_path / name) for name in names]
    native, first, second, far = mutant_tests.batches(tmp_path, Selecting, "python/strata/a.py", "^a/", files)  # type: ignore[arg-type]
    assert native.native == "^a/" and native.near
    assert [int(name[-4]) for name in first.files] == [1, 2, 3, 5, 6, 7] and first.near
    assert [int(name[-4]) for name in second.files] == [8, 9] and second.near
    assert set(far.files) == {"tests/python/test_0.py", "tests/e2e/test_4.py"} and not far.near


# ---- A run, in a repository of a few lines

FAKE = {
    "strata": "#!/bin/sh\n",
    "setup/setup.sh": "",
    "setup/say.sh": 'fail() { echo "strata: error: $1"; exit 1; }\n',
    "setup/build.sh": 'compile() { ! grep -q "x - x" core/twice.cpp; }\n',
    "setup/key.sh": """\
strata_key() { :; }
strata_find_build() { STRATA_BUILD=$PWD/build; }
strata_use_build() { export STRATA_PYTHON=python3; }
""",
    "setup/changed.py": """\
import subprocess
from pathlib import Path
def reached(path):
    return {Path(path).parents[2] / "python/strata/calc.py"} if path.name == "test_calc.py" else set()
if __name__ == "__main__":
    words = ["git", "diff", "--name-only"]
    changed = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    native = "^twice$" if "core/twice.cpp" in changed else ""
    names = ("test_calc.py", "test_far.py")
    print(end=native + "\\0" + "".join(f"{Path.cwd()}/tests/python/{n}\\0" for n in names))
""",
    "build/current/bin/ctest": """\
#!/bin/sh
mkdir -p build/cmake/Testing/Temporary
echo "1:twice" > build/cmake/Testing/Temporary/LastTestsFailed.log
grep -q "x + x + 0" core/twice.cpp
""",
    "core/twice.cpp": "int twice(int x) {\n    return x + x + 0;\n}\n",
    "python/strata/calc.py": """\
def total(values):
    found = 0
    for value in values:
        found += value
    return found


def larger(a, b):
    return a if a > b else b


def scaled(x):
    return x * 2
""",
    "tests/python/test_calc.py": """\
import sys
sys.path.insert(0, "python/strata")
import calc
def test_total():
    assert calc.total([1, 2]) == 3
def test_larger():
    assert calc.larger(1, 2) == 2 and calc.larger(2, 1) == 2
""",
    "tests/python/test_far.py": "def test_unsound():\n    assert False\n",
}
EQUIVALENT = """\
file,line,change,reason
python/strata/calc.py,return a if a > b else b,> -> >= at 15,both are alike where they are equal
"""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository with a test of two of its three functions, and one that fails whatever is changed."""
    root = tmp_path / "tiny"
    for name, text in FAKE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name in ("mutants.py", "mutant_changes.py", "mutant_clone.py", "mutant_tests.py", "sweep.py"):
        shutil.copy(SETUP / name, root / "setup")
    (root / "setup" / "mutants-equivalent.csv").write_text(EQUIVALENT)
    for name in ("strata", "build/current/bin/ctest"):
        (root / name).chmod(0o755)
    (root / ".gitignore").write_text("__pycache__/\n")  # as the real one has
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.delenv("STRATA_RESULTS", raising=False)
    yield root
    assert list((tmp_path / "tmp").iterdir()) == [], "nothing is left"
    status = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True)
    assert status.stdout.split() in ([], ["??", "strata-results/"]), "the checkout is as it was"


def command(root: Path, *words: str) -> list[str]:
    return [sys.executable, str(root / "setup" / "mutants.py"), "--processors", "1", *words]


def verdicts(root: Path) -> dict[tuple[str, int, str], tuple[str, list[str]]]:
    """(file, column, what is there then) -> outcome, and the tests that failed."""
    (journal,) = (root / "strata-results" / "mutants").glob("*.jsonl")
    lines = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    said = [line for line in lines if "change" in line]
    found = {
        (Path(of["file"]).name, of["column"], of["after"]): (line["outcome"], line["by"])
        for line in said
        for of in [line["change"]]
    }
    assert len(found) == len(said), "each is judged once"
    return found


def test_changes_are_found_or_missed_in_a_clone_that_goes_away(tiny: Path) -> None:
    done = subprocess.run(command(tiny, "--cpp", "3", "--python", "5"), capture_output=True, text=True)
    found = verdicts(tiny)
    total, far = "tests/python/test_calc.py::test_total", "tests/python/test_far.py::test_unsound"
    assert found["calc.py", 15, "-="] == found["calc.py", 13, "1"] == ("found", [total])
    assert found["calc.py", 19, ">="] == ("equivalent", [])
    assert found["calc.py", 14, "/"] == found["calc.py", 16, "3"] == ("missed", [])
    assert found["twice.cpp", 14, "-"] == ("not compiled", []), "and another one is drawn"
    assert found["twice.cpp", 18, "-"] == found["twice.cpp", 20, "1"] == ("found", ["twice"])
    assert done.returncode == 1 and "found: 66.7%" in done.stdout
    assert f"left out, as they fail without a change: {far}" in done.stdout
    assert "missed: python/strata/calc.py:13:14: `*` -> `/`\n    return x * 2\n" in done.stdout
    assert "mutants: 7 of 8: " in done.stderr and " min left" in done.stderr


def test_a_run_that_is_killed_goes_on_where_it_was(tiny: Path, tmp_path: Path) -> None:
    """Whatever it was about: what it had judged is not judged again, and its clone is taken over."""
    words = command(tiny, "--cpp", "0", "--python", "3")
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert run.stderr is not None
    for line in run.stderr:
        if line.startswith("mutants: 1 of 3"):
            run.send_signal(signal.SIGKILL)
            break
    run.wait()
    before = verdicts(tiny)
    assert 1 <= len(before) < 3
    (left,) = (tmp_path / "tmp").iterdir()
    done = subprocess.run(words, capture_output=True, text=True)
    assert f"taking over {left}" in done.stderr
    after = verdicts(tiny)
    assert len(after) == 3 and before.items() <= after.items()
    again = subprocess.run(words, capture_output=True, text=True)
    assert again.stdout == done.stdout, "a run that is over says the same once more"


def test_an_interrupted_run_removes_its_clone_and_what_runs_in_it(tiny: Path, tmp_path: Path) -> None:
    (tiny / "tests" / "python" / "test_calc.py").write_text(
        "import time\ndef test_long():\n    time.sleep(600)\n"
    )
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost"]
    subprocess.run([*git, "commit", "-qam", "a test that does not end"], cwd=tiny, check=True)
    run = subprocess.Popen(command(tiny, "--cpp", "0", "--python", "1"), stderr=subprocess.DEVNULL)
    mark = f"STRATA_TEST_RUN={tmp_path / 'tmp'}/strata-mutants".encode()

    def running() -> list[bytes]:
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (entry / "environ").read_bytes():
                    found.append((entry / "cmdline").read_bytes())
            except OSError:
                continue
        return found

    end = time.monotonic() + 60
    while not any(b"test_calc.py" in line for line in running()):
        assert time.monotonic() < end
        time.sleep(0.05)
    run.send_signal(signal.SIGTERM)
    assert run.wait(60) == 1
    assert running() == []


def test_what_is_not_there_is_refused_with_what_is(tiny: Path) -> None:
    done = subprocess.run(command(tiny, "--under", "docs", "--dry-run"), capture_output=True, text=True)
    assert (
        done.returncode == 2 and "nothing to change in docs" in done.stderr and "python/strata" in done.stderr
    )
    shown = subprocess.run(
        command(tiny, "--dry-run", "--cpp", "1", "--python", "0"), capture_output=True, text=True
    )
    assert shown.stdout.startswith("core/twice.cpp:2:") and shown.stdout.endswith("\n    return x + x + 0;\n")


@pytest.mark.soak
def test_at_least_85_percent_of_300_changes_are_found() -> None:
    """Many hours. Its verdicts are kept in strata-results/mutants, so that a run that was ended goes on."""
    done = subprocess.run([sys.executable, SETUP / "mutants.py"], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout
