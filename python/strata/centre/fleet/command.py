"""`strata centre fleet`: what was asked, and the report. A notebook calls the same functions."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

from strata import own_folders
from strata.advice import words
from strata.centre.fleet import drain, generate, page, prometheus, reading
from strata.centre.fleet.analysis import Analysis, analyse, document
from strata.centre.fleet.outliers import FEWEST, LEAST
from strata.centre.fleet.submit import silent
from strata.errors import FAILED, StrataError, why
from strata.measure.files import write_json, write_named
from strata.report.build import write
from strata.scripts import visible

_SAID = 20  # nodes that the terminal shows of a list
SUSPECTS = 1  # exit code
AGAIN = 4  # exit code: no suspect, and nodes to be measured again


@dataclass(frozen=True)
class Request:
    """What the command line asked for."""

    folders: tuple[Path, ...]
    out: Path | None = None
    least: str = f"{100 * LEAST:g}%"
    json: bool = False
    prometheus: Path | None = None
    drain: bool = False
    drain_now: bool = False
    drain_most: int | None = None
    skip_damaged: bool = False


def fleet(request: Request) -> Analysis:
    """The analysis that was asked for. Raises StrataError for wrong options and damaged files."""
    least = _share(request.least)
    damaged: list[str] | None = [] if request.skip_damaged else None
    found = reading.read(request.folders, damaged)
    whole = analyse(found, least)
    whole.damaged = damaged or []
    ran = {(c, found.nodes[n]) for c, n in zip(found.campaign, found.node, strict=True)}
    whole.silent = silent(request.folders, ran)
    return whole


def _share(text: str) -> float:
    """5% as the logarithm of a deviation."""
    try:
        percent = float(text.removesuffix("%"))
    except ValueError:
        percent = math.nan
    if not 0 < percent < 100:
        raise StrataError(
            "not a deviation", at="--least", given=text, allowed="more than 0% and less than 100%"
        )
    return -math.log1p(-percent / 100)


def report(request: Request, command: str) -> int:
    """Writes the report, or prints the JSON; says who is a suspect. SUSPECTS where there is one; else
    AGAIN where nodes are to be measured again.
    """
    if request.drain_now:
        reading.need_own(request.folders)
    whole = fleet(request)
    if request.prometheus is not None:
        write_named(request.prometheus, prometheus.metrics(whole))
    if request.json:
        json.dump(document(whole), sys.stdout, indent=1)
        print()
    else:
        out = request.out or Path("fleet-report")
        if out.exists() and not out.is_dir():
            raise StrataError(
                "not a folder", at="--out", given=str(out), allowed="a folder, which is made if needed"
            )
        path = write(page.document(whole, command), out)
        write_json(out / "fleet.json", document(whole))
        for line in _said(whole):
            print(visible(line))
        print(f"report: {path}")
    if request.drain or request.drain_now:
        for suspect in whole.suspects:
            print(drain.line(suspect), file=sys.stderr if request.json else sys.stdout)
    if request.drain_now:
        drain.perform(whole.suspects, len(whole.fleet.nodes), request.drain_most)
    return SUSPECTS if whole.suspects else AGAIN if whole.again else 0


def _said(whole: Analysis) -> list[str]:
    lines = [s.sentence for s in whole.suspects]
    if not lines:
        lines = [f"no suspect among {words.count(len(whole.fleet.nodes), 'node')}"]
    if whole.again:
        many = f", the slowest {_SAID}" if len(whole.again) > _SAID else ""
        lines.append(
            f"slow in the newest run, which may be chance: {words.count(len(whole.again), 'node')}{many}; "
            "measure again (strata centre fleet submit --again)"
        )
        lines += [f"  {a.name}: {a.reason}" for a in whole.again[:_SAID]]
    for name, those in (
        ("asked, and left no file", whole.silent),
        ("damaged files, left out", whole.damaged),
    ):
        if those:
            lines.append(f"{name}: {', '.join(those[:_SAID])}{' ...' if len(those) > _SAID else ''}")
    if alone := sum(len(g.nodes) for g in whole.small):
        lines.append(f"in groups of fewer than {FEWEST}, compared with their own past alone: {alone} nodes")
    return lines


def planted(texts: list[str], nodes: int, runs: int) -> list[generate.Fault]:
    """Faults such as 17:bandwidth:12%:3, the node with the number 17 (from 1 on) in its newest three runs."""
    return [_fault(text, nodes, runs) for text in texts]


def _fault(text: str, nodes: int, runs: int) -> generate.Fault:
    try:
        node, kind, size, length = text.split(":")
        fault = generate.Fault(int(node) - 1, kind, float(size.removesuffix("%")) / 100, int(length))
    except ValueError:
        fault = generate.Fault(-1, "", 0.0, 0)
    kinds = ", ".join(generate.KINDS)
    good = (
        0 <= fault.node < nodes
        and fault.kind in generate.KINDS
        and 0 < fault.size < 1
        and 0 < fault.runs <= runs
    )
    if not good:
        raise StrataError(
            "not a fault",
            at="--plant",
            given=text,
            allowed=f"NODE:KIND:SIZE:RUNS, NODE 1 to {nodes}, KIND {kinds}, RUNS 1 to {runs}",
            remedy="--plant 17:bandwidth:12%:3",
        )
    return fault


def write_generated(out: Path, nodes: int, runs: int, faults: list[generate.Fault], seed: int) -> int:
    """Files of a fleet that never was."""
    if nodes < 1 or runs < 1:
        raise StrataError(
            "no fleet", at="--nodes", given=f"{nodes} nodes, {runs} runs", allowed="1 or more of each"
        )
    if out.exists():
        raise StrataError(
            "there is such a folder already", at="--out", given=str(out), allowed="a new folder"
        )
    written = 0
    try:
        for node, name, text in generate.files(generate.generate(nodes, runs, faults, seed)):
            folder = out / node
            own_folders.make_results(folder)
            (folder / name).write_text(text)
            written += 1
    except OSError as error:
        raise StrataError("cannot write the fleet", at=str(out), given=why(error), code=FAILED) from None
    print(f"made up {words.count(written, 'run')} of {words.count(nodes, 'node')}: {out}")
    return 0
