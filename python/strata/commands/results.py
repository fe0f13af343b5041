"""Commands about what was measured: report, compare, results, findings, draw."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from strata.commands.parser import command
from strata.errors import StrataError

if TYPE_CHECKING:
    from strata.commands.parser import Commands


def report(commands: Commands) -> None:
    """Declares `strata report`."""
    parser = command(
        commands,
        "report",
        "write summary and report of a results folder again, from its journals",
        [
            ("strata report", "of the newest results"),
            ("strata report strata-results/DIR", "of these results"),
            ("strata report DIR --with STUDY", "and the study in the folder STUDY as a section of it"),
            ("strata report compare A B", "what changed between two results: strata report compare --help"),
        ],
    )
    parser.add_argument(
        "results", type=Path, nargs="?", metavar="DIR", help="results folder (default: the newest)"
    )
    parser.add_argument(
        "--with",
        dest="more",
        type=Path,
        action="append",
        default=[],
        metavar="STUDY",
        help="results folder of a study that becomes a section (may be repeated)",
    )
    parser.add_argument("--verbose", action="store_true", help="print the table of all figures too")
    parser.set_defaults(run=_run_report)


def _run_report(given: argparse.Namespace) -> int:
    from strata.characterize.listing import newest

    return rebuild(given.results or newest(), given.more, given.verbose)


def rebuild(results: Path, more: Sequence[Path] = (), verbose: bool = False) -> int:
    """Summary and report again from the journals of any results folder, a tuning's too."""
    from strata.characterize import session
    from strata.measure import store
    from strata.tune import results as tunings

    opened = store.open_existing(results)
    try:
        if opened.plan.kind != "tune":
            return session.rebuild(opened, more, verbose)
        if more:
            raise StrataError(
                "a tuning's report takes no studies",
                at="--with",
                given=str(more[0]),
                allowed="--with beside characterize's results",
            )
        return tunings.rebuild(opened)
    finally:
        opened.close()


def report_compare(commands: Commands) -> None:
    """Declares `strata report compare`."""
    parser = command(
        commands,
        "report compare",
        "set two results side by side: what changed, by how much, and what did not",
        [
            ("strata report compare before after", "the headline figures of two results folders"),
            ("strata report compare baseline.json after --json", "against a kept summary.json, for a script"),
            ("strata report compare A B --regressed 5% --task '^stream/'", "exit code 3 from 5 % worse on"),
            ("strata report compare A B --all --out difference", "every figure; the report in difference/"),
            ("strata report ./compare", "the report of a results folder of that name"),
        ],
    )
    for name, metavar, text in (("before", "A", "before"), ("after", "B", "after")):
        parser.add_argument(
            name, type=Path, metavar=metavar, help=f"{text}: a results folder, or its summary.json"
        )
    parser.add_argument(
        "--regressed",
        default="3%",
        metavar="PERCENT",
        help="exit code 3 when a figure is worse by more than this, beyond doubt; less is called unchanged "
        "(default 3%%)",
    )
    parser.add_argument("--figure", metavar="REGEX", help="figures of this name instead of the headline ones")
    parser.add_argument("--task", metavar="REGEX", help="only tasks of this id")
    parser.add_argument("--all", action="store_true", help="every figure, not the headline ones alone")
    parser.add_argument("--json", action="store_true", help="strata.comparison/1 on standard output")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where the report goes (default: a new folder in $STRATA_RESULTS or ./strata-results; with "
        "--json none)",
    )
    parser.set_defaults(run=_run_compare)


def _run_compare(given: argparse.Namespace) -> int:
    from strata.compare.command import Request, run

    return run(
        Request(
            before=given.before,
            after=given.after,
            regressed=given.regressed,
            figure=given.figure,
            task=given.task,
            everything=given.all,
            json=given.json,
            out=given.out,
        )
    )


def results(commands: Commands) -> None:
    """Declares `strata results`."""
    parser = command(
        commands,
        "results",
        "list what a results folder holds: medians, intervals, disturbed launches",
        [
            ("strata results", "of the newest results"),
            (
                "strata results DIR --samples stream/1x2/core/s1",
                "every launch of one task, with what disturbed it",
            ),
            ("strata results DIR --osu", "curves over message sizes as tables in the form of OSU's"),
            ("strata results DIR --rebuild-index", "make index.sqlite again from the journals"),
        ],
    )
    parser.add_argument(
        "results", type=Path, nargs="?", metavar="DIR", help="results folder (default: the newest)"
    )
    parser.add_argument("--samples", metavar="TASK", help="every launch of this task")
    parser.add_argument(
        "--osu",
        action="store_true",
        help="curves over message sizes as osu_latency, osu_bw and osu_mbw_mr print them",
    )
    parser.add_argument(
        "--rebuild-index", action="store_true", help="make index.sqlite again from the journals"
    )
    parser.set_defaults(run=_run_results)


def _run_results(given: argparse.Namespace) -> int:
    from strata.characterize.listing import newest, show_medians, show_samples

    folder = given.results or newest()
    if given.osu:
        from strata import documents
        from strata.compare.sides import load
        from strata.interop import osu
        from strata.scripts import visible_lines

        side = load(folder)
        with documents.used(str(folder), "a summary"):
            print(visible_lines(osu.tables(side.summary)), end="")
        return 0
    if given.samples:
        return show_samples(folder, given.samples)
    return show_medians(folder, rebuild=given.rebuild_index)


def findings(commands: Commands) -> None:
    """Declares `strata findings`."""
    parser = command(
        commands,
        "findings",
        "what stands out in a machine's facts, with consequence and remedy",
        [("strata machine --json | strata findings --machine -", "of this machine")],
    )
    parser.add_argument(
        "--machine", required=True, metavar="FILE", help="machine JSON; - reads standard input"
    )
    parser.add_argument(
        "--summary", metavar="FILE", help="summary.json of a characterization: findings from measurements too"
    )
    parser.set_defaults(run=_run_findings)


def _run_findings(given: argparse.Namespace) -> int:
    from strata.characterize.facts import print_findings

    return print_findings(given.machine, given.summary)


def draw(commands: Commands) -> None:
    """Declares `strata draw`."""
    parser = command(
        commands,
        "draw",
        "draw a machine, or a plan, as SVG",
        [("strata machine --json | strata draw --machine - --svg machine.svg", "this machine")],
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--machine", metavar="FILE", help="machine JSON; - reads standard input")
    what.add_argument(
        "--balance", metavar="FILE", help="plan of strata balance --json; - reads standard input"
    )
    parser.add_argument(
        "--svg", required=True, metavar="FILE", help="where the drawing goes; - writes standard output"
    )
    parser.set_defaults(run=_run_draw)


def _run_draw(given: argparse.Namespace) -> int:
    if given.balance:
        from strata.report.figures import balance

        return balance.draw(given.balance, given.svg)
    from strata.characterize.facts import draw

    return draw(given.machine, given.svg)
