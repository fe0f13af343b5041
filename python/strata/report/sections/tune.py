"""The sections of a tuning's report: the answer, the race, the traps, and the rules that decided."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from strata.advice.words import count
from strata.measure import stats
from strata.measure.progress import duration
from strata.report.document import (
    Block,
    Code,
    Heading,
    Notice,
    Plot,
    Points,
    Section,
    Table,
    Text,
    Tile,
    Tiles,
)
from strata.report.figures.tune import Entrant, finalists, history
from strata.report.quantities import shown
from strata.report.source import Source

Answer = Mapping[str, Any]


def title(summary: Mapping[str, Any]) -> str:
    """The command that was tuned."""
    command = (summary.get("tune") or {}).get("command")
    if not command:
        tasks = summary.get("tasks") or []
        command = tasks[0]["command"] if tasks else ["tuning"]
    text = shlex.join([str(command[0]).rsplit("/", 1)[-1], *map(str, command[1:])])
    return text if len(text) <= 72 else text[:70] + " …"


def answer(source: Source) -> Section:
    """Winner, tie or neither in sentences, the line to use, and three figures."""
    found: Answer | None = source.summary.get("tune")
    if found is None:
        text = "The tuning ended before it had an answer. What was launched is in the tables below."
        return Section("answer", "The answer", [Notice("missing", text)])
    blocks: list[Block] = [Text(headline(found)), *([Text(margin(found))] if found["fastest"] else [])]
    if not found["fastest"]:
        blocks = [Notice("missing", headline(found))]
    if found["line"]:
        line, _, note = str(found["line"]).partition("   # ")
        lines = [(f"Use{f' ({note})' if note else ''}", line)]
        if line != found.get("default_line"):
            lines.append(("The default", str(found.get("default_line"))))
        blocks.append(Code(lines))
    blocks += _tiles(found)
    kind = found["kind"]
    blocks.append(
        Text(
            f"It is a program of kind **{kind['name']}** ({kind['why']}). The figure is {_figure(found)}; "
            f"{duration(found['seconds'])} of launches, of a budget of {duration(found.get('budget_s', 0))}."
        )
    )
    return Section("answer", "The answer", blocks)


def headline(found: Answer) -> str:
    """The whole answer in a sentence."""
    if found["winner"]:
        return f"**{found['winner']}** wins: {found['why']}."
    if not found["fastest"]:
        return f"No winner is named: {found['why']}."
    tied = _layouts([f"**{name}**" for name in found["tied"]], 6)
    return f"No winner: {found['why']}: {tied}. The fastest by its median is {found['fastest']}."


def margin(found: Answer) -> str:
    """How the fastest stands to the default, with its interval."""
    known = found["margin"]
    if known is None:
        return "The default is the fastest: no layout that was tried beats it."
    what = "less time" if not _higher(found) else "less cost (1 / figure)"
    value = f"It takes {_percent(known['value'])} {what} than the default ({found['default']})"
    if known["low"] is None:
        return f"{value}; too few launches for an interval."
    low, high = _percent(known["high"]), _percent(known["low"])
    tail = "" if known["high"] < 1 or known["low"] > 1 else " It may be none: the interval holds zero."
    return f"{value}, between {low} and {high} at level {known['level']:.1%}.{tail}"


def _percent(ratio: float) -> str:
    return f"{100 * (1 - ratio):.1f} %"


def _higher(found: Answer) -> bool:
    return found["metric"] != "wall" and found["better"] == "higher"


def _figure(found: Answer) -> str:
    if found["metric"] == "wall":
        return "wall time, in seconds; less is better"
    return f"the last match of `{found['metric']}` in its output; {found['better']} is better"


def _unit(found: Answer) -> str:
    return "wall time, s" if found["metric"] == "wall" else "figure from its output"


def _tiles(found: Answer) -> list[Block]:
    entrants = {one.name: one for one in _entrants(found, found["races"][-1])} if found["races"] else {}
    fastest, default = entrants.get(found["fastest"] or ""), entrants.get(found["default"])
    if fastest is None or default is None or not default.final:
        return []
    unit = "s" if found["metric"] == "wall" else ""
    tiles = [
        Tile("Fastest by its median", _median(fastest.final), unit, fastest.name),
        Tile("Default", _median(default.final), unit, default.name),
    ]
    known = found["margin"]
    if known is not None:
        ends = ""
        if known["low"] is not None:
            ends = f"between {_percent(known['high'])} and {_percent(known['low'])}"
        tiles.append(Tile("Less than the default", _percent(known["value"]).split()[0], "%", ends))
    return [Tiles(tiles)]


def _median(values: Sequence[float]) -> str:
    known = stats.estimate(values)
    return shown(known.median, known.low, known.high)


def _entrants(found: Answer, race: Sequence[Mapping[str, Any]]) -> list[Entrant]:
    """The layouts of one race; costs are turned back into the figure that they came from."""

    def figures(costs: Sequence[float]) -> tuple[float, ...]:
        return tuple(1.0 / cost for cost in costs) if _higher(found) else tuple(costs)

    leads = {found["winner"]} if found["winner"] else set(found["tied"])
    return [
        Entrant(
            one["layout"],
            figures(one["screening"]),
            figures(one["final"]),
            one["layout"] == found["default"],
            one["layout"] in leads,
        )
        for one in race
    ]


# -- the race ----------------------------------------------------------------------------------------------


def race(source: Source) -> Section:
    """For each race: its finalists, its screening, and every layout with how far it came."""
    found: Answer | None = source.summary.get("tune")
    blocks: list[Block] = []
    if found is not None:
        for i, standings in enumerate(found["races"]):
            blocks += _race(found, i, standings)
    return Section("race", "The race", blocks or [Text("No race came to an end.")])


def _race(found: Answer, index: int, standings: Sequence[Mapping[str, Any]]) -> list[Block]:
    entrants = _entrants(found, standings)
    ended = [one for one in entrants if one.final]
    ended.sort(key=lambda one: one.middle, reverse=_higher(found))
    joined = sum(one.get("wave", 0) > 0 for one in standings)
    blocks: list[Block] = [
        Heading(f"{count(len(standings), 'layout')}, of which {joined} joined near the fastest")
    ]
    if ended:
        launched = max(len(one.final) for one in ended)
        lines = [found["lines"][one.name] for one in ended if one.name in found.get("lines", {})]
        says = headline(found) if index == len(found["races"]) - 1 else ""
        blocks.append(
            Plot(
                f"final-{index}",
                f"The final: {launched} launches of each, interleaved",
                finalists(f"final-{index}", ended, _unit(found)),
                "Each hollow dot is a launch, the full one their median, the bar its 95 % interval; dashed: "
                "the default's median. The axis begins where the values do.",
                says=says,
                reproduce=lines,
            )
        )
    if max((len(one.screening) for one in entrants), default=0) > 1:
        names = {one.name: _kind(one) for one in ended}
        blocks.append(
            Plot(
                f"screening-{index}",
                "Screening, round by round",
                history(f"screening-{index}", entrants, names, _unit(found)),
                "A dot a launch; a cross where a layout was left out.",
                reproduce=[
                    found["lines"][one.name] for one in entrants if one.name in found.get("lines", {})
                ],
            )
        )
    blocks.append(_table(found, standings, entrants))
    return blocks + [_refused(one) for one in found.get("refused") or []]


def _refused(one: Mapping[str, Any]) -> Notice:
    number = f"{one['processes']} process{'' if one['processes'] == 1 else 'es'}"
    return Notice("warning", f"**{number}**: {one['mark']}: {one['says']}")


def _kind(one: Entrant) -> str:
    return "fastest or tied" if one.leads else "the default" if one.default else "finalist"


def _table(found: Answer, standings: Sequence[Mapping[str, Any]], entrants: Sequence[Entrant]) -> Table:
    rows: list[tuple[tuple[int, float], list[str]]] = []
    for standing, one in zip(standings, entrants, strict=True):
        screened, final = stats.estimate(one.screening), stats.estimate(one.final)
        ends = f"[{shown(final.low, final.median)}, {shown(final.high, final.median)}]" if final.low else ""
        how = standing["failed"] or ("final" if one.final else standing["out"] or "screening only")
        name = f"{one.name} (default)" if one.default else one.name
        cells = [
            f"**{name}**" if one.leads else name,
            str(screened.n),
            shown(screened.median),
            str(final.n) if final.n else "—",
            shown(final.median, final.low, final.high),
            ends,
            str(how),
        ]
        middle = one.middle if one.final or one.screening else 0.0
        place = 0 if one.final else 1 if one.screening and not standing["failed"] else 2
        rows.append(((place, -middle if _higher(found) else middle), cells))
    head = ("Layout", "Screened", "Median", "Final", "Median", "95 % interval", "How far it came")
    caption = f"All layouts; figures are {_unit(found)}"
    return Table(
        head,
        [cells for _, cells in sorted(rows, key=lambda row: row[0])],
        frozenset({1, 2, 3, 4, 5}),
        caption,
    )


# -- traps and rules ---------------------------------------------------------------------------------------


def traps(source: Source) -> Section:
    """What made layouts mean less than they say."""
    found: Answer | None = source.summary.get("tune")
    blocks: list[Block] = []
    for trap in (found or {}).get("traps") or []:
        where = f" Seen in {_layouts(trap['layouts'])}." if trap["layouts"] else " Foreseen."
        text = str(trap["text"])
        blocks.append(Notice("warning", f"**{_capital(str(trap['code']))}**: {text}.{where}"))
    nothing = (
        "None was seen: no launch was bound otherwise than its layout says, there were no threads of a "
        "second runtime, and no more threads computed than a layout gives."
    )
    return Section("traps", "Traps", blocks or [Text(nothing if found else "Nothing is known of any.")])


def rules(source: Source) -> Section:
    """How a winner is named."""
    seed = (source.summary.get("policy") or {}).get("seed")
    return Section(
        "rules",
        "How it was decided",
        [
            Points(
                (
                    "**Screening** launches all layouts in interleaved rounds, leaves out those twice as "
                    "slow as the best, and keeps the better half after each round, until four "
                    "are left (successive halving; K. Jamieson, A. Talwalkar, AISTATS 2016).",
                    "**Newcomers** near the fastest join in waves and are screened beside them: other "
                    "numbers, strides and orders, SMT siblings, kinds of cores, pages. A part of the budget "
                    "is left to the final.",
                    "**The final** launches these and the default in a number of interleaved rounds that is "
                    "fixed before its first launch. Only its launches decide.",
                    "**A winner** is faster than each other finalist by the exact rank test (H. B. Mann, "
                    "D. R. Whitney, Ann. Math. Statist. 18 (1947) 50) at level 0.05 / finalists: among "
                    "layouts that are all alike one is named in at most 5 % of races. Anything less is "
                    "a tie.",
                    "**The margin** is the Hodges-Lehmann ratio to the default with its exact interval, "
                    "widened for having been chosen (Bonferroni).",
                    f"The order of launches was drawn with seed {seed}.",
                )
            )
        ],
    )


def _capital(text: str) -> str:
    """With a first capital, and the others as they are."""
    return text[:1].upper() + text[1:]


def _layouts(names: Sequence[str], most: int = 4) -> str:
    """Names of layouts, which hold commas themselves."""
    return "; ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
