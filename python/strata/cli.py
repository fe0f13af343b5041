"""The Python side's command line: a thin layer over functions that a notebook can call.

Imports are made where they are needed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from strata.errors import StrataError

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction["_Parser"]


def main(argv: Sequence[str]) -> int:
    """Runs one command; an error is printed here, once."""
    try:
        if argv[:1] == ["doctor"]:
            from strata import doctor

            return int(doctor.main(list(argv[1:])) or 0)
        parsed = _parser().parse_args(_words(argv))
        run: Callable[[argparse.Namespace], int] = parsed.run
        parsed.argv = tuple(argv)
        return run(parsed)
    except StrataError as error:
        sys.stderr.write(f"{error}\n")
        return error.code
    except BrokenPipeError:  # `| head`: not an error of ours; keep the interpreter from complaining at exit
        sys.stdout = None
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped\n")
        return 130


def _words(argv: Sequence[str]) -> list[str]:
    """`report compare` is a command of its own: `report` alone takes a folder, so neither could tell them
    apart. A folder of that name is ./compare.
    """
    return [_COMPARE, *argv[2:]] if list(argv[:2]) == _COMPARE.split() else list(argv)


_COMPARE = "report compare"


class _Parser(argparse.ArgumentParser):
    """Errors in Strata's format; no abbreviations, so that a misspelt option never becomes another one."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        raise StrataError(message, at=self.prog, remedy=f"{self.prog} --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="strata", description="Commands of the Python side; `strata --help` lists all commands."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    _characterize(commands)
    _machine_measure(commands)
    _study(commands)
    _tune(commands)
    _report(commands)
    _results(commands)
    _findings(commands)
    _draw(commands)
    commands.add_parser("doctor", help="what was found here and what each absence costs")
    return parser


def _command(
    commands: Commands, name: str, text: str, examples: Sequence[tuple[str, str]]
) -> argparse.ArgumentParser:
    width = max(len(line) for line, _ in examples)
    shown = "\n".join(f"  {line.ljust(width)}  {meaning}" for line, meaning in examples)
    return commands.add_parser(
        name,
        help=text,
        description=text[:1].upper() + text[1:] + ".",
        epilog=f"examples:\n{shown}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _measuring_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--case", type=Path, metavar="FILE", help="another plan than cases/characterize/MODE.toml"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TASK",
        help="only this task of the case (may be repeated)",
    )
    parser.add_argument(
        "--results",
        type=Path,
        metavar="DIR",
        help="results folder; an existing one is resumed "
        "(default: a new one in $STRATA_RESULTS or ./strata-results)",
    )
    parser.add_argument(
        "--new", action="store_true", help="start afresh even where an unfinished run could be resumed"
    )
    parser.add_argument(
        "--accept-change",
        action="store_true",
        help="resume --results DIR although machine, binaries or plan changed (recorded)",
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="seed of the order (default: random, recorded in plan.json)"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the plan and its estimated time, measure nothing"
    )
    parser.add_argument("--here", action="store_true", help="measure even where this looks like a login node")


def _characterize(commands: Commands) -> None:
    parser = _command(
        commands,
        "characterize",
        "measure what this machine can do and write a report",
        [
            (
                "strata characterize",
                "within 5 minutes on a small machine; Ctrl-C stops, the same line resumes",
            ),
            ("strata characterize --full", "everything, larger sizes, no time limit"),
            ("strata characterize --dry-run", "what would run and how long it takes"),
            ("strata characterize --submit batch", "on a node of the Slurm partition 'batch'"),
        ],
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--quick",
        dest="mode",
        action="store_const",
        const="quick",
        default="quick",
        help="the short plan (default)",
    )
    mode.add_argument("--full", dest="mode", action="store_const", const="full", help="the long plan")
    parser.add_argument(
        "--submit", metavar="PARTITION", help="run as an exclusive Slurm job in this partition"
    )
    _measuring_options(parser)
    parser.set_defaults(run=_run_characterize, kind="characterize")


def _machine_measure(commands: Commands) -> None:
    parser = _command(
        commands,
        "machine-measure",
        "measure the machine itself: latency, cache lines, domains, bandwidth by cores, noise",
        [
            ("strata machine --measure", "the short plan"),
            ("strata machine --measure --full", "larger sizes, every pair of cores within the budget"),
        ],
    )
    parser.add_argument(
        "--full",
        dest="mode",
        action="store_const",
        const="machine-full",
        default="machine",
        help="the long plan",
    )
    _measuring_options(parser)
    parser.set_defaults(run=_run_characterize, kind="machine", submit=None)


def _run_characterize(given: argparse.Namespace) -> int:
    from strata.characterize.command import Request, run

    return run(
        Request(
            kind=given.kind,
            mode=given.mode,
            case=given.case,
            results=given.results,
            new=given.new,
            accept_change=given.accept_change,
            here=given.here,
            submit=given.submit,
            dry_run=given.dry_run,
            seed=given.seed,
            only=tuple(given.only),
            argv=given.argv,
        )
    )


def _study(commands: Commands) -> None:
    parser = _command(
        commands,
        "study",
        "run programs under several layouts, interleaved and repeated, and report the difference",
        [
            ("strata study list", "the studies that come with Strata"),
            ("strata study run pages", "where pages lie and threads run, and what it costs"),
            ("strata study run my.toml --budget 10m", "your own programs; docs/studies.md has the keys"),
            ("strata study status", "how far the newest one is"),
            ("strata study show strata-results/DIR", "what was found, also before the end"),
            ("strata study export strata-results/DIR --out samples.csv", "every sample; .json, .parquet"),
        ],
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True, parser_class=_Parser)
    run = actions.add_parser("run", help="measure, and write a report", description="Runs a study.")
    run.add_argument("study", metavar="NAME|FILE", help="one of `strata study list`, or a TOML file")
    run.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="results folder; an existing one is resumed (default: a new one in $STRATA_RESULTS or "
        "./strata-results)",
    )
    run.add_argument(
        "--budget",
        metavar="TIME",
        help="aim at this, such as 5m: fewer launches where there were more than 6",
    )
    run.add_argument("--dry-run", action="store_true", help="print the plan and its estimated time")
    run.add_argument("--new", action="store_true", help="start afresh even where a run could be resumed")
    run.add_argument(
        "--accept-change",
        action="store_true",
        help="resume --out FOLDER although something changed (recorded)",
    )
    run.add_argument("--seed", type=int, metavar="N", help="seed of the order (default: random, recorded)")
    run.add_argument("--here", action="store_true", help="measure even where this looks like a login node")
    run.set_defaults(run=_run_study)
    listing = actions.add_parser("list", help="the studies that come with Strata")
    listing.set_defaults(run=_list_studies)
    state = actions.add_parser("status", help="how far a study is, also while it runs")
    state.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="default: the newest results")
    state.set_defaults(run=_study_status)
    export = actions.add_parser("export", help="every sample as CSV, JSON or Parquet")
    export.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="default: the newest results")
    export.add_argument(
        "--format", metavar="FORMAT", help="csv, json or parquet (default: by the name of --out, else csv)"
    )
    export.add_argument("--out", type=Path, metavar="FILE", help="default: standard output")
    export.set_defaults(run=_export_study)
    show = actions.add_parser("show", help="what a results folder holds, in a table and in sentences")
    show.add_argument("folder", type=Path, metavar="FOLDER", help="results folder of a study")
    show.set_defaults(run=_show_study)


def _run_study(given: argparse.Namespace) -> int:
    from strata.study.command import Request, run, seconds

    return run(
        Request(
            study=given.study,
            out=given.out,
            budget_s=seconds(given.budget) if given.budget is not None else None,
            dry_run=given.dry_run,
            new=given.new,
            accept_change=given.accept_change,
            here=given.here,
            seed=given.seed,
            argv=given.argv,
        )
    )


def _list_studies(given: argparse.Namespace) -> int:
    from strata.study.command import show_list

    return show_list()


def _show_study(given: argparse.Namespace) -> int:
    from strata.study.command import show

    return show(given.folder)


def _study_status(given: argparse.Namespace) -> int:
    from strata.characterize.listing import newest
    from strata.study.status import status, text

    sys.stdout.write(text(status(given.folder or newest())))
    return 0


def _export_study(given: argparse.Namespace) -> int:
    from strata.characterize.listing import newest
    from strata.study.data import export

    ending = given.out.suffix.lstrip(".") if given.out else ""
    made = export(given.folder or newest(), given.format or ending or "csv", given.out)
    if made is not None:
        print(made)
    return 0


def _tune(commands: Commands) -> None:
    parser = _command(
        commands,
        "tune",
        "race the layouts that make sense for a program here, and name the best with an interval",
        [
            ("strata tune -- ./a.out case.in", "by wall time, within ten minutes"),
            ("strata tune --budget 2m --metric 'Time: ([0-9.]+)' -- ./a.out", "by what it prints"),
            ("strata tune --metric 'rate ([0-9.e+]+)' --better higher -- ./a.out", "where more is better"),
            ("strata tune --dry-run -- ./a.out", "what would be raced"),
        ],
    )
    parser.add_argument("--metric", default="wall", metavar="wall|REGEX", help="wall time, or the last match")
    parser.add_argument(
        "--better", choices=("lower", "higher"), default="lower", help="of the REGEX's figure"
    )
    parser.add_argument("--budget", default="10m", metavar="TIME", help="launches in all (default 10m)")
    parser.add_argument(
        "--kind", metavar="KIND", help="serial, openmp, mpi, hybrid or forking (default: found)"
    )
    parser.add_argument(
        "--processes", metavar="LIST", help="numbers of processes that the program can have, such as 1,2,4"
    )
    parser.add_argument("--timeout", default="1h", metavar="TIME", help="the longest launch (default 1h)")
    parser.add_argument("--results", type=Path, metavar="DIR", help="results folder (default: a new one)")
    parser.add_argument("--dry-run", action="store_true", help="print the layouts, launch nothing")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the order (default: random, recorded)")
    parser.add_argument("--here", action="store_true", help="measure even where this looks like a login node")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- command args", help="the program")
    parser.set_defaults(run=_run_tune)


def _run_tune(given: argparse.Namespace) -> int:
    from strata.study.command import seconds
    from strata.tune.command import Request, run

    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    try:
        processes = tuple(int(part) for part in given.processes.split(",")) if given.processes else ()
    except ValueError:
        raise StrataError(
            "not a list of numbers", at="--processes", given=given.processes, allowed="for example 1,2,4"
        ) from None
    if any(n < 1 for n in processes):
        raise StrataError("fewer than one process", at="--processes", given=given.processes, allowed=">= 1")
    return run(
        Request(
            command=tuple(command),
            metric=given.metric,
            better=given.better,
            budget_s=seconds(given.budget),
            kind=given.kind,
            processes=processes,
            results=given.results,
            dry_run=given.dry_run,
            here=given.here,
            seed=given.seed,
            timeout_s=seconds(given.timeout),
            argv=given.argv,
        )
    )


def _report(commands: Commands) -> None:
    parser = _command(
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
    parser.set_defaults(run=_run_report)
    _report_compare(commands)


def _run_report(given: argparse.Namespace) -> int:
    from strata.characterize.listing import newest
    from strata.characterize.session import rebuild

    return rebuild(given.results or newest(), given.more)


def _report_compare(commands: Commands) -> None:
    parser = _command(
        commands,
        _COMPARE,
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
    parser.set_defaults(run=_run_report_compare)


def _run_report_compare(given: argparse.Namespace) -> int:
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


def _results(commands: Commands) -> None:
    parser = _command(
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
        from strata.compare.sides import load
        from strata.interop import osu

        print(osu.tables(load(folder).summary), end="")
        return 0
    if given.samples:
        return show_samples(folder, given.samples)
    return show_medians(folder, rebuild=given.rebuild_index)


def _findings(commands: Commands) -> None:
    parser = _command(
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


def _draw(commands: Commands) -> None:
    parser = _command(
        commands,
        "draw",
        "draw a machine as SVG",
        [("strata machine --json | strata draw --machine - --svg machine.svg", "this machine")],
    )
    parser.add_argument(
        "--machine", required=True, metavar="FILE", help="machine JSON; - reads standard input"
    )
    parser.add_argument(
        "--svg", required=True, metavar="FILE", help="where the drawing goes; - writes standard output"
    )
    parser.set_defaults(run=_run_draw)


def _run_draw(given: argparse.Namespace) -> int:
    from strata.characterize.facts import draw

    return draw(given.machine, given.svg)
