"""Whatever somebody says stays one line and one word in what Strata writes: tried with each character."""

from __future__ import annotations

import itertools
import shlex
import subprocess

import pytest

from strata import scripts
from strata.errors import StrataError
from strata.submit.batch import Directive, Script, quoted

# All of Latin-1, and what ends a line, turns text around, joins, or is half a character.
CHARACTERS = [chr(n) for n in range(1, 256)] + list(
    "\u2028\u2029\u202e\u200d\u0301\ufeff\u4e2d\U0001f600\udcff"
)
EVIL = "a\nscancel --me\n#SBATCH --account=other\n$(touch x) `y` \"'\\ {task} %j"


def read_as_sbatch(line: str) -> str:
    """A word of a line of #SBATCH as sbatch reads it: quotes of both kinds, a backslash before a plain
    character also between quotes, and # outside of them begins a comment (sbatch(1)).
    """
    made, quote, plain = "", "", False
    for c in line:
        if plain:
            made, plain = made + c, False
        elif c == "\\":
            plain = True
        elif c == quote:
            quote = ""
        elif not quote and c in "\"'":
            quote = c
        elif not quote and (c.isspace() or c == "#"):
            break
        else:
            made += c
    assert not quote and not plain
    return made


@pytest.mark.parametrize("c", CHARACTERS, ids=lambda c: f"{ord(c):x}")
def test_each_character_is_itself_or_refused(c: str) -> None:
    text = f"a{c}b{c}"
    assert scripts.comment(text).splitlines() == [scripts.comment(text)]
    if not c.isprintable():
        for made in (lambda: scripts.directive("name", text), lambda: scripts.cron([text])):
            with pytest.raises(StrataError) as found:
                made()
            assert found.value.given is not None and len(found.value.given.splitlines()) == 1
        return
    assert read_as_sbatch(scripts.directive("name", text)) == f"--name={text}"
    assert shlex.split(scripts.cron(["run", text]).replace("\\%", "%")) == ["run", text]
    unit = scripts.systemd(["run", text])
    assert unit.count("%") % 2 == 0 and unit.count("$") % 2 == 0
    assert shlex.split(unit.replace("%%", "%").replace("$$", "$")) == ["run", text]


def test_a_word_with_lines_is_no_line_of_a_script() -> None:
    script = Script(
        asked=shlex.join(["strata", "submit", "--", "run", EVIL]),
        directives=(Directive("--nodes=1", EVIL),),
        reasons=(EVIL,),
        before=(),
        command=("printf", "%s", EVIL.replace("{task}", "")),
    )
    # sbatch reads directives up to the first command.
    head = itertools.takewhile(lambda line: line[:1] in ("", "#"), script.text().splitlines())
    assert [line for line in head if line.startswith("#SBATCH")] == ["#SBATCH --nodes=1"]
    done = subprocess.run(["bash", "-c", script.text()], capture_output=True, text=True, check=True)
    assert done.stdout == EVIL.replace("{task}", "")
    assert done.stderr == ""


def test_an_option_with_lines_is_refused() -> None:
    with pytest.raises(StrataError, match="characters that end a line"):
        Directive("--gres=gpu:1\n#SBATCH --account=other", "This site's.")


def test_words_for_a_shell_are_themselves_with_the_number_of_the_task() -> None:
    printed = subprocess.run(
        ["bash", "-c", f"printf '%s|' {quoted((EVIL, 'x'))}"],
        env={"SLURM_ARRAY_TASK_ID": "7", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed == EVIL.replace("{task}", "7") + "|x|"
