"""The parser that all commands share: errors in Strata's form, help with examples."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from strata.errors import StrataError

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction["Parser"]


class Parser(argparse.ArgumentParser):
    """Errors in Strata's format; no abbreviations, so that a misspelt option never becomes another one."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        """argparse's own words say `invalid int value`; here they are those of who typed it."""
        help_of = f"{self.prog} --help"
        for pattern, said in _SAID.items():
            if (found := re.fullmatch(pattern, message, re.DOTALL)) is None:
                continue
            of = found.groupdict()
            choices = [word.strip(" '") for word in of["choices"].split(",")] if of.get("choices") else []
            near = difflib.get_close_matches(of.get("given") or "", choices, n=1)
            raise StrataError(
                _KINDS.get(of.get("kind") or "", said),
                at=f"{self.prog} {of.get('name') or ''}".strip(),
                given=of.get("given") or "nothing",
                allowed=", ".join(choices) or " ".join(self.format_usage().removeprefix("usage: ").split()),
                remedy=f"{near[0]}?" if near else help_of,
            )
        raise StrataError(message, at=self.prog, remedy=help_of)


# What argparse says, and what is said instead.
_SAID = {
    r"argument (?P<name>.+?): invalid (?P<kind>\w+) value: '(?P<given>.*)'": "not a value of this option",
    r"argument (?P<name>.+?): invalid choice: '(?P<given>.*)' \(choose from (?P<choices>.*)\)": (
        "there is no such choice"
    ),
    r"argument (?P<name>.+?): expected (?:one|at least one) argument": "a value is missing",
    r"the following arguments are required: (?P<name>.*)": "something is missing",
    r"unrecognized arguments: (?P<given>.*)": "the command does not take this",
}
_KINDS = {"int": "not a whole number", "float": "not a number"}


def command(
    commands: Commands, name: str, text: str, examples: Sequence[tuple[str, str]]
) -> argparse.ArgumentParser:
    """Declares a command with its help: `examples` are lines to type, each with what it does."""
    width = max(len(line) for line, _ in examples)
    shown = "\n".join(f"  {line.ljust(width)}  {meaning}" for line, meaning in examples)
    return commands.add_parser(
        name,
        help=text,
        description=text[:1].upper() + text[1:] + ".",
        epilog=f"examples:\n{shown}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def refuse_unused(given: argparse.Namespace, options: Sequence[str], where: str, allowed: str) -> None:
    """Refuses options that were typed where nothing would use them. `where` says so, as in "with --json"."""
    typed = given.argv[: given.argv.index("--")] if "--" in given.argv else given.argv
    named = {word.partition("=")[0] for word in typed}
    unused = [option for option in options if option in named]
    if unused:
        raise StrataError(
            "nothing would use this option",
            at=unused[0],
            given=f"{', '.join(unused)} {where}",
            allowed=allowed,
            remedy=f"leave out {' and '.join(unused)}",
        )


def native_words(given: argparse.Namespace, options: Sequence[str]) -> list[str]:
    """Those of these options that have a value, as the native programs read them; a flag where it is True."""
    found: list[str] = []
    for option in options:
        value = getattr(given, option.removeprefix("--").replace("-", "_"))
        if value is True:
            found.append(option)
        elif value is not None and value is not False:
            found += [option, str(value)]
    return found


def results_folder(parser: argparse.ArgumentParser, text: str) -> None:
    """Declares `--out DIR`, the results folder; its former name, --results, still works."""
    parser.add_argument("--out", dest="results", type=Path, metavar="DIR", help=text)
    parser.add_argument(
        "--results", dest="results", type=Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
