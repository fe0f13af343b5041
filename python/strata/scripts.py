"""What somebody said, made safe for the scripts that Strata writes: as a comment, a value of #SBATCH, words
of a systemd unit or of a crontab. Whatever it contains, it stays one line, and one word.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from strata.errors import StrataError

_PLAIN = re.compile(r"[\w.,:/@%+=~-]+", re.ASCII)


def comment(text: str) -> str:
    """A line of a script that says this. Characters that end a line, or that nobody sees, are written out."""
    return f"# {visible(text)}"


def visible(text: str) -> str:
    """The text on one line: `a<newline>b` becomes `a\\nb` in print."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def visible_lines(text: str) -> str:
    """The text, each of its lines as visible() has it."""
    return "\n".join(map(visible, text.split("\n")))


def directive(option: str, value: object) -> str:
    """`--option=value` for a line of #SBATCH, where sbatch reads quotes by its own rules: a backslash makes
    the next character plain. Raises StrataError where the value has more than one line.
    """
    text = one_line(str(value), f"--{option}")
    if not _PLAIN.fullmatch(text):
        text = _in_quotes(text)
    return f"--{option}={text}"


def _in_quotes(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def systemd(each: Iterable[str]) -> str:
    """Words for a command line of a systemd unit, where % and $ are something else (systemd.service(5))."""
    made = []
    for word in each:
        if not _PLAIN.fullmatch(word):
            word = _in_quotes(one_line(word, "a command for systemd"))
        made.append(word.replace("%", "%%").replace("$", "$$"))
    return " ".join(made)


def cron(each: Iterable[str]) -> str:
    """Words for the shell of a line of a crontab, where % ends the command (crontab(5))."""
    return one_line(shlex.join(each), "a command for cron").replace("%", "\\%")


def one_line(text: str, at: str) -> str:
    """The text, if it is one line. Raises StrataError."""
    if any(not c.isprintable() for c in text):
        raise StrataError(
            "this cannot be said in a script: it has characters that end a line or cannot be seen",
            at=at,
            given=visible(text),
            allowed="printable characters, on one line",
        )
    return text
