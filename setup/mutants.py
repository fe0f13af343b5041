#!/usr/bin/env python3
"""How many changes of the sources the tests find: setup/mutants.py --help."""

from __future__ import annotations

import argparse
import csv
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mutant_changes import SOURCES, Change, changes, drawn
from mutant_clone import Broken, Clone, clone_of, commit_of
from mutant_tests import Judge, Verdict

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path(__file__).resolve().with_name("mutants-equivalent.csv")
SHARE = 0.85
# Outcomes that count for one of the changes that were asked for; after the others one more is drawn.
FOUND, MISSED = ("found", "hangs"), ("missed", "late")
COUNTED = (*FOUND, *MISSED, "equivalent")
DRAWN_AGAIN = ("not compiled", "slow to build")
MEANING = {
    "found": "a test failed, twice, and passes without the change",
    "hangs": "a test did not end: found",
    "missed": "all tests that can tell it passed",
    "late": "no test failed within three minutes, and not all had ended: not found",
    "equivalent": f"judged by a reader, with the reason in setup/{EQUIVALENT.name}; counts for neither",
    "not compiled": "another one was drawn",
    "slow to build": "another one was drawn",
}
HELP = f"""\
Changes the sources in one place at a time (an operator, a bound, a sign, a statement left out), drawn by a
seed, and says whether the tests that `./strata test --changed` selects find it, within three minutes each.
Works on the last commit, in a clone in a temporary folder, which is removed at the end; this checkout is not
touched. Every verdict is a line of the journal: after a kill the same command goes on where it was, and takes
the clone over.

Ends with a table and the changes that no test found, and with status 0 where at least {SHARE:.0%} were found.
A change without an effect that can be seen is for a reader to judge: a row in setup/{EQUIVALENT.name}.
"""
EXAMPLES = """\
examples:
  setup/mutants.py                                          150 changes in C++ and 150 in Python
  setup/mutants.py --cpp 15 --python 40 --seed 7            fewer, and others
  setup/mutants.py --cpp 15 --python 0 --under core/base    in one folder
  setup/mutants.py --dry-run --cpp 5 --python 5             which would be made
"""


class Journal:
    """The verdicts so far: a line each, written before the next change is made. A line that was being written
    when the process was killed does not count.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self.path, self.about = path, dict(about)
        self.verdicts: dict[Change, Verdict] = {}
        self.seconds: list[tuple[str, float]] = []
        self.unsound: list[str] = []
        lines = list(_lines(path))
        if lines and lines[0] != self.about:
            raise Broken(
                f"{path} is the journal of other changes\n  given:   {json.dumps(self.about)}\n"
                f"  allowed: {json.dumps(lines[0])}\n  try:     --journal with another name"
            )
        for line in lines[1:]:
            if "unsound" in line:
                self.unsound.append(line["unsound"])
                continue
            change = Change(**line["change"])
            self.verdicts[change] = Verdict(line["outcome"], line["by"])
            self.seconds.append((language_of(change), line["seconds"]))
        if not lines:
            path.parent.mkdir(parents=True, exist_ok=True)
        # What was cut off is not there any more, so that the next line is one.
        text = "".join(json.dumps(line) + "\n" for line in [self.about, *lines[1:]])
        scratch = path.with_suffix(".new")
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(path)

    def _write(self, line: Mapping[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def add(self, change: Change, verdict: Verdict, seconds: float) -> None:
        self._write(
            {
                "change": vars(change),
                "outcome": verdict.outcome,
                "by": verdict.by,
                "seconds": round(seconds, 1),
            }
        )
        self.verdicts[change] = verdict
        self.seconds.append((language_of(change), seconds))

    def add_unsound(self, names: Iterable[str]) -> None:
        for name in sorted(set(names) - set(self.unsound)):
            self._write({"unsound": name})
            self.unsound.append(name)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            return


def language_of(change: Change) -> str:
    return "python" if change.file.endswith(".py") else "cpp"


def equivalents(path: Path = EQUIVALENT) -> set[tuple[str, str, str]]:
    """(file, text of the line, change) of the changes that a reader has judged to change nothing."""
    with path.open(encoding="utf-8", newline="") as file:
        return {(row["file"], row["line"], row["change"]) for row in csv.DictReader(file)}


def as_judged(change: Change, source: str) -> tuple[str, str, str]:
    """The same, of a change: wherever the line stands now."""
    line = source.splitlines()[change.line - 1]
    at = change.column - (len(line) - len(line.lstrip()))
    return change.file, change.text, f"{change.before} -> {change.after} at {at}"


@dataclass
class Progress:
    """Says what was judged, and how long the rest takes at the pace so far."""

    journal: Journal
    wanted: Mapping[str, int]
    say: Callable[[str], None]

    def after(self, change: Change, verdict: Verdict) -> None:
        by = f" by {verdict.by[0]}" if verdict.by else ""
        counts = Counter(language_of(c) for c, v in self.journal.verdicts.items() if v.outcome in COUNTED)
        done, all_ = sum(counts.values()), sum(self.wanted.values())
        self.say(f"{done} of {all_}: {change}: {verdict.outcome}{by}; {self._left(counts)}")

    def _left(self, counts: Mapping[str, int]) -> str:
        seconds = 0.0
        for language, wanted in self.wanted.items():
            spent = [s for of, s in self.journal.seconds if of == language]
            left = wanted - counts.get(language, 0)
            if left > 0 and counts.get(language):
                seconds += left * sum(spent) / counts[language]
            elif left > 0:
                return "time left not known yet"
        return f"about {seconds / 60:.0f} min left"


def judge_all(
    every: Mapping[str, Sequence[Change]],
    wanted: Mapping[str, int],
    seed: int,
    journal: Journal,
    known: Collection[tuple[str, str, str]],
    source: Callable[[str], str],
    verdict: Callable[[Change], Verdict],
    after: Callable[[Change, Verdict], None],
) -> None:
    """Takes changes of each language as they are drawn until so many are judged that count."""
    for language, count in wanted.items():
        counted = 0
        for change in drawn(every[language], seed):
            if counted >= count:
                break
            if change not in journal.verdicts:
                began = time.monotonic()
                same = as_judged(change, source(change.file)) in known
                found = Verdict("equivalent") if same else verdict(change)
                journal.add(change, found, time.monotonic() - began)
                after(change, found)
            counted += journal.verdicts[change].outcome in COUNTED


def share_found(verdicts: Iterable[Verdict]) -> float:
    counts = Counter(verdict.outcome for verdict in verdicts)
    judged = sum(counts[outcome] for outcome in (*FOUND, *MISSED))
    return sum(counts[outcome] for outcome in FOUND) / judged if judged else 1.0


def table(verdicts: Mapping[Change, Verdict]) -> list[str]:
    """The counts by language, what they mean, and each change that was not found."""
    languages = sorted({language_of(change) for change in verdicts})
    counts = Counter((language_of(change), verdict.outcome) for change, verdict in verdicts.items())
    lines = [f"{'':14}" + "".join(f"{name:>8}" for name in languages)]
    for outcome in (*COUNTED, *DRAWN_AGAIN):
        numbers = "".join(f"{counts[language, outcome]:>8}" for language in languages)
        lines.append(f"{outcome:14}{numbers}   {MEANING[outcome]}")
    for change, verdict in verdicts.items():
        if verdict.outcome in MISSED:
            lines += [f"{verdict.outcome}: {change}", f"    {change.text}"]
    lines.append(f"found: {share_found(verdicts.values()):.1%} (at least {SHARE:.0%} are asked for)")
    return lines


def say(text: str) -> None:
    print(f"mutants: {text}", file=sys.stderr, flush=True)


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="setup/mutants.py",
        description=HELP,
        epilog=EXAMPLES,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--cpp", type=int, default=150, metavar="N", help="changes in C++ (150)")
    parser.add_argument("--python", type=int, default=150, metavar="N", help="changes in Python (150)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of what is drawn (1)")
    parser.add_argument(
        "--under", action="append", default=[], metavar="PATH", help="only there; may be repeated"
    )
    parser.add_argument(
        "--processors", type=int, default=0, metavar="N", help="for compilers and tests (all)"
    )
    parser.add_argument("--commit", default="HEAD", help="whose sources (HEAD)")
    parser.add_argument(
        "--journal", type=Path, metavar="FILE", help="(strata-results/mutants/COMMIT-SEED.jsonl)"
    )
    parser.add_argument("--dry-run", action="store_true", help="only which changes would be made")
    return parser.parse_args(words)


def _every(root: Path, under: Sequence[str], wanted: Mapping[str, int]) -> dict[str, list[Change]]:
    every = {language: changes(root, language, under) for language, count in wanted.items() if count}
    for language, found in every.items():
        if 0 < len(found) < wanted[language]:
            say(f"there are {len(found)} changes of {language}, fewer than are asked for")
        if not found:
            raise Broken(
                f"nothing to change in {', '.join(under)}\n  allowed: folders and files in "
                f"{', '.join(SOURCES[language][0])}; or --{language} 0"
            )
    return every


def main(words: Sequence[str] | None = None) -> int:
    asked = _options(words)
    wanted = {"python": asked.python, "cpp": asked.cpp}
    for signal_ in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signal_, lambda *_: sys.exit(1))  # so that the clone goes, and all that runs in it
    try:
        commit = commit_of(ROOT, asked.commit)
        if asked.dry_run:
            for language, every in _every(ROOT, asked.under, wanted).items():
                for change, _ in zip(drawn(every, asked.seed), range(wanted[language]), strict=False):
                    print(f"{change}\n    {change.text}")
            return 0
        place = Path(os.environ.get("STRATA_RESULTS") or ROOT / "strata-results") / "mutants"
        path = asked.journal or place / f"{commit[:12]}-{asked.seed}.jsonl"
        journal = Journal(path.absolute(), {"commit": commit, "seed": asked.seed, "under": asked.under})
        clone = clone_of(ROOT, commit, asked.processors, say)
        try:
            run(clone, asked, wanted, journal)
        finally:
            say("removing the clone")
            clone.remove()
    except Broken as broken:
        print(f"mutants: error: {broken}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        say("interrupted; the same command goes on")
        return 130
    print("\n".join(table(journal.verdicts)))
    if journal.unsound:
        print("left out, as they fail without a change: " + ", ".join(journal.unsound))
    return 0 if share_found(journal.verdicts.values()) >= SHARE else 1


def run(clone: Clone, asked: argparse.Namespace, wanted: Mapping[str, int], journal: Journal) -> None:
    every = _every(clone.root, asked.under, wanted)
    say(f"journal: {journal.path}; {len(journal.verdicts)} verdicts so far")
    say("building in the clone: some minutes where ccache has the objects, else as long as for ./strata test")
    judge = Judge(clone, journal.unsound)
    judge.prepare()

    def verdict(change: Change) -> Verdict:
        found = judge.verdict(change)
        journal.add_unsound(judge.unsound)
        return found

    def source(file: str) -> str:
        return (clone.root / file).read_text(encoding="utf-8")

    progress = Progress(journal, wanted, say)
    judge_all(
        every,
        {k: n for k, n in wanted.items() if n},
        asked.seed,
        journal,
        equivalents(),
        source,
        verdict,
        progress.after,
    )


if __name__ == "__main__":
    sys.exit(main())
