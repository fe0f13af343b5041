"""The parser that all commands share: errors in Strata's form, help with examples."""

from __future__ import annotations

import argparse
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
        raise StrataError(message, at=self.prog, remedy=f"{self.prog} --help")


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


def results_folder(parser: argparse.ArgumentParser, text: str) -> None:
    """Declares `--out DIR`, the results folder; its former name, --results, still works."""
    parser.add_argument("--out", dest="results", type=Path, metavar="DIR", help=text)
    parser.add_argument(
        "--results", dest="results", type=Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
