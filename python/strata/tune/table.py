"""What a tuning found, for people and for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strata.advice.words import digits
from strata.measure import stats
from strata.tune.candidates import Candidate
from strata.tune.race import RunnerState
from strata.tune.refused import MARK
from strata.tune.traps import sentence

if TYPE_CHECKING:
    from strata.tune.tuner import Outcome, Request

NAMES = {  # of kinds of programs, as people write them
    "serial": "serial",
    "openmp": "OpenMP",
    "mpi": "MPI",
    "hybrid": "hybrid (MPI and OpenMP)",
    "forking": "forking or threaded",
}
AS_FAST = 1.03  # times the fastest median: no reason to ask for more than one has to


def shown(cost: float, request: Request) -> float:
    """A cost as the figure that it came from."""
    return 1.0 / cost if request.metric != "wall" and request.better == "higher" else cost


def rows(outcome: Outcome, index: int, request: Request) -> list[tuple[str, ...]]:
    """One race: finalists by their medians, then the others by how far they came."""

    def order(standing: RunnerState) -> tuple[int, float]:
        if standing.final:
            return 0, stats.median(standing.final)
        return (1, standing.cost()) if standing.screening and not standing.failed else (2, 0.0)

    found = []
    for standing in sorted(outcome.races[index][1].standings.values(), key=order):
        samples = standing.final or standing.screening
        known = stats.estimate([shown(cost, request) for cost in samples])
        interval = f"{digits(known.low)} - {digits(known.high)}" if known.low and known.high else ""
        middle = digits(known.median) if known.median is not None else "-"
        state = _grade(standing) if standing.final else standing.out or "screening only"
        state = failed(outcome, index, standing) or state
        found.append((standing.runner, str(known.n), middle, interval, state[:120]))
    return found


def failed(outcome: Outcome, index: int, standing: RunnerState) -> str | None:
    """Why a layout failed: in the program's own words where it refuses that number of processes."""
    words = outcome.refusals.reason(outcome.races[index][0][standing.runner]) if standing.failed else None
    return f"{MARK}: {words}" if words else standing.failed


def _grade(standing: RunnerState) -> str:
    """How good a finalist's answer is."""
    if not standing.disturbed:
        return "final"
    return f"final, disturbed in {standing.disturbed} of {len(standing.final)}"


def aligned(lines: list[tuple[str, ...]]) -> str:
    """Columns as wide as their widest cell."""
    width = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "".join(
        "  " + "  ".join(cell.ljust(width[i]) for i, cell in enumerate(line)).rstrip() + "\n"
        for line in lines
    )


def margin_text(outcome: Outcome, request: Request) -> str:
    """How the fastest compares with the default, with its interval."""
    margin = outcome.verdict.margin
    if margin is None:
        return "the default is the fastest: no layout that was tried beats it"
    what = "time" if request.metric == "wall" or request.better == "lower" else "cost (1 / figure)"
    if margin.low is None or margin.high is None:
        return f"{_change(margin.value)} {what} than the default; too few launches for an interval"
    least, most = _change(margin.high), _change(margin.low)
    return (
        f"{_change(margin.value)} {what} than the default (between {least} and {most}, at "
        f"{100 * margin.level:.3g} % confidence)"
    )


def _change(ratio: float) -> str:
    """'17.2 % less' of a ratio of costs of 0.828."""
    return f"{100 * abs(1 - ratio):.1f} % {'less' if ratio <= 1 else 'more'}"


def text(outcome: Outcome, request: Request) -> str:
    """The whole answer."""
    unit = "s" if request.metric == "wall" else ""
    out = f"\n{NAMES[outcome.kind.name]} program ({outcome.kind.why}); the default is {outcome.default.id}\n"
    for index in range(len(outcome.races)):
        head = ("layout", "n", f"median {unit}".strip(), "interval", "how far it came")
        out += "\n" + aligned([head, *rows(outcome, index, request)])
    verdict, fastest = outcome.verdict, outcome.fastest
    out += "\n"
    if verdict.winner and fastest:
        out += f"winner:    {fastest.id}: {verdict.why}\n           {margin_text(outcome, request)}\n"
    elif fastest:
        out += f"no winner: {verdict.why}: {'; '.join(verdict.tied)}\n"
        out += f"fastest:   {fastest.id} by its median: {margin_text(outcome, request)}\n"
    else:
        out += f"no winner: {verdict.why}\n"
    if fastest:
        out += f"use:       {best_line(outcome, request, fastest)}\n"
    finalists = [s for s in outcome.races[-1][1].standings.values() if s.final]
    launches, disturbed = sum(len(s.final) for s in finalists), sum(s.disturbed for s in finalists)
    if launches:
        out += f"disturbed: {disturbed or 'none'} of {launches} launches of the final\n"
    for one in outcome.refusals.to_list():
        number = f"{one['processes']} process{'' if one['processes'] == 1 else 'es'}"
        out += f"note:      {number}: {MARK}: {one['says']}\n"
    for trap in outcome.traps:
        out += f"note:      {sentence(trap)}\n"
    return out


def best_line(outcome: Outcome, request: Request, fastest: Candidate) -> str:
    """The line to use: of layouts that tie and are as fast by their medians the default, else the simplest.

    A tie of few or loud launches may hold layouts that are far apart; then the fastest is the better bet.
    """
    known, race = outcome.races[-1]
    best = stats.median(race.standings[fastest.id].final)
    close = [n for n in outcome.verdict.tied if stats.median(race.standings[n].final) <= AS_FAST * best]
    alike = [fastest, *(known[name] for name in close)]
    if outcome.default in alike:
        return outcome.default.line(request.command) + "   # the default: nothing is better"
    return min(alike, key=lambda candidate: candidate.extras).line(request.command)


def document(outcome: Outcome, request: Request) -> dict[str, Any]:
    """The document strata.tune/1."""
    verdict, fastest = outcome.verdict, outcome.fastest
    return {
        "schema": "strata.tune/1",
        "command": list(request.command),
        "metric": request.metric,
        "better": request.better,
        "kind": {"name": outcome.kind.name, "why": outcome.kind.why},
        "default": outcome.default.id,
        "winner": verdict.winner,
        "fastest": verdict.fastest,
        "tied": list(verdict.tied),
        "why": verdict.why,
        "margin": None if verdict.margin is None else {**verdict.margin.__dict__},
        "line": best_line(outcome, request, fastest) if fastest else None,
        "default_line": outcome.default.line(request.command),
        "refused": outcome.refusals.to_list(),
        "traps": [trap.to_dict() for trap in outcome.traps],
        "budget_s": request.budget_s,
        "seconds": round(outcome.seconds, 3),
        "lines": {
            name: candidate.line(request.command)
            for known, _ in outcome.races
            for name, candidate in known.items()
        },
        "races": [
            [
                {
                    "layout": standing.runner,
                    "screening": standing.screening,
                    "final": standing.final,
                    "disturbed": standing.disturbed,
                    "failed": failed(outcome, index, standing),
                    "out": standing.out,
                    "wave": standing.wave,
                }
                for standing in race.standings.values()
            ]
            for index, (_, race) in enumerate(outcome.races)
        ],
    }
