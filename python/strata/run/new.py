"""`strata new`: a solver of one's own to begin with, as a folder that runs.

    from strata.run.new import new
    new(Path("wave"), python=False)       # wave/wave.cpp, wave/case.toml, wave/test_wave.py, ...

The files are those of the folder templates, with NAME in place of the solver's name.
"""

from __future__ import annotations

import keyword
import os
import re
import shlex
import shutil
import sys
import tempfile
from importlib.machinery import PathFinder
from pathlib import Path

from strata import solvers
from strata.errors import FAILED, StrataError, why
from strata.paths import command

TEMPLATES = Path(__file__).with_name("templates")
LONGEST = 64
# What CMake and its generators call targets of their own.
TARGETS = ("all", "clean", "depend", "edit_cache", "help", "install", "package", "rebuild_cache", "test")

_BUILD_ROW = (
    "| `CMakeLists.txt` | how it is built: `strata run` does that by itself, in `build/`, "
    "where a source changed |\n"
)
_BUILD_BY_HAND = """
By hand: `cmake -B build -DCMAKE_PREFIX_PATH=$(strata --cmake-prefix) -DCMAKE_BUILD_TYPE=Release`,
`cmake --build build`, then `strata launch --layout 2x1 -- build/NAME case.toml`.
"""


def new(folder: Path, *, python: bool) -> list[str]:
    """Writes the folder; the names of its files. `python`: a solver in Python, otherwise in C++. Raises
    StrataError for a name that cannot be a solver's, and where something is in its place. It is there whole
    or not at all.
    """
    name = folder.name
    _check(name, python)
    if os.path.lexists(folder):
        raise StrataError(
            "the folder is there already", at=str(folder), remedy="another name; nothing is written over"
        )
    if not folder.parent.is_dir():
        raise StrataError(
            "there is no folder to write it in",
            at=str(folder.parent),
            allowed="a folder that is there",
            remedy=f"mkdir -p {shlex.quote(str(folder.parent))}",
        )
    files = _files(name, python)
    try:
        part = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder.parent))
    except OSError as error:
        raise _not_written(folder, error) from None
    try:
        for file, text in files.items():
            (part / file).write_text(text, encoding="utf-8")
        part.chmod(0o777 & ~_umask())
        part.rename(folder)  # of two at once the second finds a folder that is not empty
    except OSError as error:
        raise _not_written(folder, error) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return list(files)


def told(folder: Path, files: list[str]) -> str:
    """What to type next."""
    strata = shlex.quote(_shown_command())
    case, test = (shlex.quote(str(folder / file)) for file in ("case.toml", f"test_{folder.name}.py"))
    built = "CMakeLists.txt" in files
    runs = "builds it where its sources changed, and runs it" if built else "runs it on two processes"
    lines = [
        (f"{strata} run {case} --layout 2x1", runs),
        (f"{strata} run {case} --help", "the keys of a case, and what every solver can do"),
        (f"python3 {test}", "its order of accuracy against an exact solution"),
    ]
    width = max(len(line) for line, _ in lines)
    shown = "\n".join(f"  {line.ljust(width)}  # {meaning}" for line, meaning in lines)
    return f"made the folder {folder}: {', '.join(files)}\nto go on:\n{shown}"


def _check(name: str, python: bool) -> None:
    allowed = f"lower-case letters, digits and _, a letter first, up to {LONGEST} characters"
    if not re.fullmatch(rf"[a-z][a-z0-9_]{{0,{LONGEST - 1}}}", name):
        raise StrataError("this cannot be the name of a solver", given=name or "nothing", allowed=allowed)
    why = None
    if name in solvers.shipped():  # a case that names one of them is run by it
        why = "a solver of Strata's own"
    elif name in TARGETS:
        why = "a target of CMake's own"
    elif keyword.iskeyword(name):
        why = "a word of Python's own"
    elif python and (name in sys.stdlib_module_names or _is_module(name)):
        why = "a module of Python's, which the solver would hide"
    if why:
        raise StrataError(
            "this cannot be the name of a solver", given=f"{name}: {why}", allowed=f"another one: {allowed}"
        )


def _is_module(name: str) -> bool:
    """Of the environment; the current folder does not count, which `python -m` puts on the path."""
    here = os.path.realpath(".")
    return PathFinder.find_spec(name, [p for p in sys.path if os.path.realpath(p or ".") != here]) is not None


def _files(name: str, python: bool) -> dict[str, str]:
    source = f"{name}.py" if python else f"{name}.cpp"
    names = {
        "README.md": "README.md",
        source: f"solver.{'py' if python else 'cpp'}",
        "case.toml": "case.toml",
    }
    names[f"test_{name}.py"] = "test.py"
    if not python:
        names["CMakeLists.txt"] = "CMakeLists.txt"
    words = {
        "SOURCE": source,
        "BUILD_ROW": "" if python else _BUILD_ROW,
        "STRATA_COMMAND": _python_text(command()),
        "NAME": name,
    }
    files = {}
    for file, template in names.items():
        text = (TEMPLATES / f"{template}.in").read_text(encoding="utf-8")
        if template == "README.md" and not python:
            text += _BUILD_BY_HAND
        for word, meant in words.items():
            text = re.sub(rf"\b{word}\b" if word != "NAME" else "NAME", lambda _, m=meant: m, text)
        files[file] = text
    if not python:
        files[".gitignore"] = "build/\n"
    return files


def _python_text(text: str) -> str:
    """As a literal in the form that formatters give it."""
    return repr(text) if '"' in text else '"' + repr(text)[1:-1] + '"'


def _shown_command() -> str:
    """The command, as short as it can be typed here."""
    known = command()
    on_path = shutil.which("strata")
    if on_path is not None and Path(on_path).resolve() == Path(known).resolve():
        return "strata"
    return "./strata" if Path(known).parent == Path.cwd() else known


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _not_written(folder: Path, error: OSError) -> StrataError:
    return StrataError("the folder cannot be written", at=str(folder), given=why(error), code=FAILED)
