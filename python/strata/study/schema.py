"""The keys of a study file (`strata.study/1`).

The tables below make the check, the error messages and the tables in docs/studies.md.
"""

from __future__ import annotations

import re
from typing import Any

from strata.casefile import (
    LIMITS,
    PATIENCE,
    REQUIRED,
    Key,
    is_name,
    is_number,
    is_text,
    is_whole,
    list_of,
    some,
    tables,
)
from strata.characterize.case import COUNT, LAYOUT, LAYOUT_WORDS
from strata.measure import stats
from strata.measure.plan import OWN_SHARE

SCHEMA = "strata.study/1"
VIEWS = ("table", "series", "panels", "strong", "weak", "pages", "cycles", "peers")
AXES = ("cores", "processes", "threads", "stride", "distance")  # and the name of any value
# The engine's own words to the launcher, and what ends its options.
NOT_OPTIONS = ("--layout", "--stride", "--bind", "--record", "--timeout", "--dry-run", "--explain", "--help")
NOT_OPTIONS += ("--machine", "--as-rank", "--")
PAIRS = ("one domain", "two domains", "all cores")
ALL = "all"  # every P x T that fills all cores
EVERY = re.compile(rf"every (P|{COUNT})x(T|{COUNT})\Z")  # P and T in powers of two, on one core to all
_STRIDES = re.compile(rf"{COUNT}\.\.({COUNT}|[NDH])\Z")
PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")


def _is_values(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    entry = some(lambda v: is_text(v) or is_number(v))
    return all(PLACEHOLDER.fullmatch("{" + key + "}") and entry(given) for key, given in value.items())


def _is_number_above_0(value: Any) -> bool:
    return is_number(value) and value > 0


TOP: dict[str, Key] = {
    "schema": Key("text", lambda v: v == SCHEMA, SCHEMA, REQUIRED, "which schema this file follows"),
    "name": Key("text", is_name, "text without '/'", REQUIRED, "name of the study and of its results"),
    "title": Key("text", is_text, "text", None, "title of the report; the name if left out"),
    "about": Key("text", is_text, "text", None, "what is asked, shown above the figures"),
    "view": Key(
        "text",
        lambda v: v in VIEWS,
        " | ".join(VIEWS),
        "table",
        "how the report draws it; table: any program",
    ),
    "x": Key(
        "text",
        is_text,
        " | ".join(AXES) + " | the name of a value",
        "cores",
        "what the views series, strong and weak draw from left to right",
    ),
    "launches": Key(
        "integer",
        lambda v: is_whole(v) and v >= stats.LEAST,
        f"an integer >= {stats.LEAST}",
        stats.LEAST,
        "undisturbed launches of each setting; fewer, but never below 6, where the budget is too small",
    ),
    "repeats": Key(
        "integer",
        lambda v: is_whole(v) and v >= 0,
        "an integer >= 0",
        6,
        "further launches in place of disturbed ones",
    ),
    "precision": Key(
        "number",
        lambda v: is_number(v) and 0 < v < 1,
        "a number between 0 and 1, such as 0.02",
        None,
        "a setting is done when half the interval of its headline is at most this part of the median",
    ),
    "most": Key(
        "integer",
        lambda v: is_whole(v) and v >= stats.LEAST,
        f"an integer >= {stats.LEAST}",
        48,
        "with `precision`: launches of a setting that never gets so precise",
    ),
    "budget_s": Key("number", _is_number_above_0, "seconds > 0", None, "time aimed at; --budget overrides"),
    "patience_s": PATIENCE,
    "limits": LIMITS,
    "program": Key("array of tables", tables, "one [[program]] or more", REQUIRED, "what runs"),
    "layout": Key("array of tables", tables, "one [[layout]] or more", REQUIRED, "how it is laid out"),
    "toolchain": Key("array of tables", tables, "[[toolchain]]", [], "compilers, flags and libraries"),
    "plot": Key("array of tables", tables, "[[plot]]", [], "what the view `panels` draws"),
}

PLOT: dict[str, Key] = {
    "x": Key("text", is_text, " | ".join(AXES) + " | the name of a value", REQUIRED, "from left to right"),
    "apart": Key(
        "text",
        is_text,
        "cores | processes | threads",
        "",
        "a line for each number of them, beside what the study varies",
    ),
    "panels": Key("text", is_text, "program, or the name of a value", "", "a panel for each"),
    "figure": Key("text", is_text, "name of a figure", "", "what is drawn; the first headline if left out"),
    "best": Key(
        "boolean",
        lambda v: isinstance(v, bool),
        "true | false",
        False,
        "of several layouts at the same x the best alone",
    ),
    "title": Key("text", is_text, "text", "", "heading of the figure"),
    "recommend": Key(
        "text", is_text, "a word for x", "", "says which x to take: where the figure is best, what ties"
    ),
}

PROGRAM: dict[str, Key] = {
    "name": Key("text", is_name, "text without '/'", REQUIRED, "first part of each run's id"),
    "command": Key(
        "text",
        is_text,
        "a command line, quoted as in a shell",
        REQUIRED,
        "what runs; {key} stands for a value, {result} for the path of its strata.result/1, {build} for the "
        "folder of its build, {source} for the study file's",
    ),
    "build": Key(
        "text or list of text",
        lambda v: is_text(v) or some(is_text)(v),
        "command lines, quoted as in a shell",
        [],
        "how it is made, in the study file's folder: {build} is a folder for each toolchain and program, "
        "{flags}, {libraries} and the tools are the toolchain's",
    ),
    "toolchains": Key("list of text", list_of(is_text), "a list of toolchain names", [], "without it all"),
    "values": Key(
        "table of lists",
        _is_values,
        "a table such as {n = [1, 2]}: names of letters, digits, - and _, each with a list",
        {},
        "every combination runs",
    ),
    "crowded": Key(
        "true, or a name",
        lambda v: isinstance(v, bool) or is_text(v),
        "true, or the name of a value that says how many threads run",
        False,
        "more threads than cores on purpose: that they preempt each other does not count as a disturbance",
    ),
    "figures": Key("list of text", list_of(is_text), "a list of figure names", [], "the headline figures"),
    "figure": Key("array of tables", tables, "[[program.figure]]", [], "figures found in the output"),
    "output": Key(
        "text",
        lambda v: v in ("", "osu"),
        "osu",
        "",
        "osu: the output is a table of the OSU micro-benchmarks, each size a figure, each column a curve",
    ),
    "timeout_s": Key("number", _is_number_above_0, "seconds > 0", 60.0, "a launch is ended after this"),
    "expected_s": Key(
        "number", _is_number_above_0, "seconds > 0", 1.0, "estimate of one launch before any ran"
    ),
    "short": Key(
        "text",
        is_text,
        "a command line, quoted as in a shell",
        None,
        "runs instead of `command` where the budget is too small: the same with fewer steps or repeats",
    ),
    "short_s": Key("number", _is_number_above_0, "seconds > 0", 1.0, "estimate of one launch of `short`"),
    "drop": Key(
        "integer",
        lambda v: is_whole(v) and v >= 0,
        "an integer >= 0",
        0,
        "what is left out first when the time is too short: the largest; 0 goes last",
    ),
}

FIGURE: dict[str, Key] = {
    "name": Key("text", is_text, "text", REQUIRED, "name of the figure"),
    "pattern": Key(
        "regular expression", is_text, "text with one group", REQUIRED, "its last match in the output counts"
    ),
    "unit": Key("text", lambda v: isinstance(v, str), "text", "", "unit of the number found"),
    "better": Key("text", lambda v: v in ("higher", "lower"), "higher | lower", "higher", "which is better"),
}

LAYOUTS: dict[str, Key] = {
    "name": Key("text", is_name, "text without '/'", REQUIRED, "what the report calls it"),
    "layouts": Key(
        "list of layouts",
        some(lambda w: isinstance(w, str) and (w == ALL or bool(EVERY.match(w) or LAYOUT.match(w)))),
        f"{LAYOUT_WORDS}, all (every PxT on all cores), or every PxT (every Px2, ...) in powers of two",
        ["1x1"],
        "processes x threads",
    ),
    "bind": Key("text", is_text, "what `strata launch --bind` takes", "core", "width of the binding"),
    "stride": Key(
        "integer, list or range",
        lambda v: (
            (is_whole(v) and v >= 1)
            or (isinstance(v, str) and bool(_STRIDES.match(v)))
            or some(lambda s: is_whole(s) and s >= 1)(v)
        ),
        'an integer >= 1, a list of them, or a range such as "1..N" in powers of two',
        1,
        "cores between threads; of a range what the cores allow",
    ),
    "distances": Key(
        "boolean",
        lambda v: isinstance(v, bool),
        "true | false",
        False,
        "two threads at each distance that the machine has, from two hardware threads of a core to two "
        "packages: instead of stride and bind, for layouts 2x1 and 1x2",
    ),
    "pairs": Key(
        "text",
        lambda v: v in ("", *PAIRS),
        " | ".join(PAIRS),
        "",
        "processes i and i + P/2 are a pair: all in one domain, each pair in two, or over all cores; P is "
        "made even; instead of stride and bind",
    ),
    "options": Key(
        "list of text", list_of(is_text), "a list of text", list(OWN_SHARE), "further launch options"
    ),
    "programs": Key(
        "list of text", list_of(is_text), "a list of program names", [], "without it all of them"
    ),
}
