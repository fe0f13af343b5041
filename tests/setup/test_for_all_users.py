"""`./strata setup --install PREFIX`: a tree for all users of a machine. It is whole or not there, and needs
no checkout.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sample

ROOT = Path(__file__).resolve().parents[2]
MONTH_S = 31 * 24 * 3600


@pytest.fixture
def prefix(somebody: sample.Somebody) -> Path:
    """A name with a space, in a folder that others may read."""
    return somebody.folder / "site wide" / "1.0"


def install(checkout: sample.Checkout, where: Path, **options: object) -> str:
    done = checkout.run("setup", "--install", str(where), **options)  # type: ignore[arg-type]
    assert done.returncode == 0, done.stderr
    return done.stderr


def word(front: Path) -> str:
    """What the small front says."""
    done = subprocess.run([front], capture_output=True, text=True, check=False)
    return sample.facts(done)["word"]


def trees(prefix: Path) -> list[Path]:
    return sorted((prefix.parent / ".trees" / prefix.name).iterdir())


@pytest.fixture
def words(ready: sample.Checkout) -> Iterator[sample.Checkout]:
    """The checkout that was set up; what its front says is put right again."""
    yield ready
    ready.say("first")


def test_an_installation_names_nothing_of_the_checkout_and_nobody_else_may_write_it(
    words: sample.Checkout, prefix: Path, somebody: sample.Somebody
) -> None:
    install(words, prefix, prefix=("sh", "-c", 'umask 077; exec "$@"', "sh"))
    found = subprocess.run(["grep", "-rIl", str(words.root), f"{prefix}/"], capture_output=True, text=True)
    assert found.stdout.splitlines() == [], "text files that name the checkout"
    for path in prefix.rglob("*"):
        mode = path.lstat().st_mode
        assert path.is_symlink() or (mode & 0o044 == 0o044 and mode & 0o022 == 0), path
    python = prefix / "python" / "bin" / "python"
    assert not (python.parent / "pip").exists(), "a script of the build's environment would start that"
    elsewhere = words.root.rename(words.root.with_name("moved away"))
    try:
        for command in (
            [*somebody.prefix, "env", prefix / "bin" / "strata"],
            [python, "-c", "import strata, pip; print(*strata.__path__)"],
        ):
            done = subprocess.run(command, cwd="/", env={"PATH": os.defpath}, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
    finally:
        elsewhere.rename(words.root)
    assert Path(done.stdout.strip()).is_relative_to(prefix)
    assert (prefix / "etc" / "strata" / "site.toml").is_file()
    assert {path.name for path in prefix.parent.iterdir()} == {".trees", "1.0", "modulefiles"}


def test_another_one_of_that_name_leaves_what_runs_its_own_tree(words: sample.Checkout, prefix: Path) -> None:
    install(words, prefix)
    old = prefix.resolve()
    settings = prefix / "etc" / "strata" / "site.toml"
    settings.write_text('partition = "ours"\n')
    words.say("second")
    install(words, prefix)
    assert word(prefix / "bin" / "strata") == "second"
    assert word(old / "bin" / "strata") == "first"
    assert settings.read_text() == 'partition = "ours"\n'
    other = prefix.with_name("1.0-1")
    install(words, other)
    assert word(prefix / "bin" / "strata") == word(other / "bin" / "strata") == "second"
    # A month after it was replaced nobody runs from it.
    os.utime(old, (time.time() - MONTH_S,) * 2)
    install(words, prefix)
    assert old not in trees(prefix) and len(trees(prefix)) == 2


def test_whoever_looks_while_it_is_made_finds_nothing_or_all_of_it(
    words: sample.Checkout, prefix: Path, tmp_path: Path
) -> None:
    """Killed half way, then failed half way, then done."""
    slow = tmp_path / "bin" / "cp"
    slow.parent.mkdir()
    slow.write_text('#!/bin/sh\n/bin/cp "$@"\necho there >>"$0.done"\nexec sleep 60\n')
    slow.chmod(0o755)
    path = f"{slow.parent}:{os.environ['PATH']}"
    process = words.start("setup", "--install", str(prefix), PATH=path)
    while not Path(f"{slow}.done").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    assert not prefix.exists() and [tree.suffix for tree in trees(prefix)] == [".unfinished"]
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    (killed,) = trees(prefix)

    slow.write_text("#!/bin/sh\nexit 1\n")
    done = words.run("setup", "--install", str(prefix), PATH=path)
    assert done.returncode == 1 and "the Python environment could not be copied" in done.stderr
    assert not prefix.is_symlink() and trees(prefix) == [killed], "what failed cleans up"

    install(words, prefix)
    assert word(prefix / "bin" / "strata") == "first"
    os.utime(killed, (time.time() - MONTH_S,) * 2)
    install(words, prefix)
    assert killed not in trees(prefix)


@pytest.mark.parametrize(
    "kind", ["a folder with something", "a link elsewhere", "no right to write", "$HOME"]
)
def test_a_prefix_that_cannot_be_one_is_refused_before_anything_is_built(
    checkout: sample.Checkout, somebody: sample.Somebody, kind: str
) -> None:
    prefix = somebody.folder / "site" / "1.0"
    prefix.parent.mkdir()
    if kind == "a folder with something":
        (prefix / "bin").mkdir(parents=True)
    elif kind == "a link elsewhere":
        prefix.symlink_to("/usr")
    elif kind == "no right to write":
        prefix = Path("/proc/strata/1.0")
    else:
        prefix = somebody.folder / kind
    done = checkout.run("setup", "--install", str(prefix))
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if line.startswith("strata: error:")]
    assert len(errors) == 1 and str(prefix.parent) in done.stderr and "try:" in done.stderr
    assert checkout.builds() == []


MODULE_COMMANDS = {
    "environment-modules": ("/usr/lib/x86_64-linux-gnu/modulecmd.tcl", "/usr/lib/modulecmd.tcl"),
    "lmod": ("/usr/share/lmod/lmod/libexec/lmod",),
}


def module_command(package: str) -> str:
    said = os.environ.get("STRATA_TEST_" + package.upper().replace("-", "_"))
    found = [path for path in (said, *MODULE_COMMANDS[package]) if path and Path(path).is_file()]
    if not found:
        pytest.skip(f"{package} is not installed")
    return found[0]


@pytest.fixture(scope="module")
def modules(ready: sample.Checkout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions, installed after `module load tools`."""
    folder = tmp_path_factory.mktemp("site") / "strata"
    for name in ("1.0", "1.1"):
        install(ready, folder / name, LOADEDMODULES="tools/2:strata/0.9")
    (folder / "modulefiles" / "tools").mkdir()
    (folder / "modulefiles" / "tools" / "2").write_text("#%Module\nsetenv TOOLS loaded\n")
    return folder / "modulefiles"


def test_both_module_files_say_the_same(modules: Path) -> None:
    tcl, lua = ((modules / "strata" / name).read_text().splitlines() for name in ("1.0", "1.0.lua"))
    assert tcl[0] == "#%Module1.0" and lua[0] == tcl[1].replace("# ", "-- ")
    verbs = {"whatis": "module-whatis", "load": "module load", "prepend_path": "prepend-path"}
    said = []
    for line in lua[1:]:
        verb, words = line.split("(", 1)
        plain = [
            f"{{{word}}}" if (" " in word or word[0] == "/") else word
            for word in re.findall('"([^"]*)"', words)
        ]
        said.append(" ".join([verbs.get(verb, verb), *plain]))
    assert said == tcl[2:]


@pytest.mark.parametrize("package", MODULE_COMMANDS)
def test_module_load_gives_the_command_the_package_and_what_it_was_built_with(
    modules: Path, package: str, tmp_path: Path
) -> None:
    command = module_command(package)
    prefix = modules.parent / "1.0"

    def loaded(*words: str, **environment: str) -> dict[str, str]:
        """The environment after `module WORDS`."""
        clean = {"PATH": os.defpath, "HOME": str(tmp_path), "MODULEPATH": str(modules), **environment}
        said = subprocess.run(
            [command, "bash", *words], env=clean, capture_output=True, text=True, check=True
        )
        done = subprocess.run(
            ["bash", "-c", f"{said.stdout}\nenv -0"], env=clean, capture_output=True, text=True, check=True
        )
        return dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)

    found = loaded("load", "strata/1.0")
    assert found["PATH"].split(":")[0] == f"{prefix}/bin"
    assert found["CMAKE_PREFIX_PATH"] == str(prefix)
    assert found["TOOLS"] == "loaded"
    assert shutil.which("strata", path=found["PATH"]) == f"{prefix}/bin/strata"
    assert shutil.which("python3", path=found["PATH"]) != f"{prefix}/bin/python3", (
        "the user's own stays first"
    )
    gone = loaded("unload", "strata/1.0", **found)
    assert str(prefix) not in gone["PATH"] and "CMAKE_PREFIX_PATH" not in gone
    assert (
        shlex.quote("strata/1.1")
        in subprocess.run(
            [command, "bash", "--terse", "avail", "strata"],
            env={"PATH": os.defpath, "HOME": str(tmp_path), "MODULEPATH": str(modules)},
            capture_output=True,
            text=True,
        ).stderr.split()
    )


# --- what names may contain

NAMES = [
    "plain",
    "with a space",
    "a \"quote\" and 'another'",
    "a [exec touch called] bracket",
    "a ${env(HOME)} dollar $HOME `id`",
    "braces } {",
    "a { brace [exec touch called] and \\ \"; os.execute('touch called') --",
    "ends with \\",
    "a # comment; (end)",
]
TCL = """
proc said {args} { puts [join $args "\\n"]; puts -nonewline "\\0" }
foreach verb {module-whatis conflict module prepend-path} { proc $verb args "said $verb {*}\\$args" }
source [lindex $argv 0]
"""


def module_file(kind: str, prefix: str, **environment: str) -> subprocess.CompletedProcess[str]:
    script = '. "$1/module_files.sh"; prefix=$2; module_file "$3"'
    return subprocess.run(
        ["bash", "-uc", script, "bash", ROOT / "setup", prefix, kind],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def lua_said(line: str) -> list[str]:
    """The verb and the words of a call, whose strings are read as Lua reads them."""
    found = re.fullmatch(r'(\w+)\(("(?:[^"\\]|\\["\\])*"(?:, "(?:[^"\\]|\\["\\])*")*)\)', line)
    assert found, line
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', found[2])
    return [found[1], *(re.sub(r"\\(.)", r"\1", word) for word in words)]


@pytest.mark.parametrize("name", NAMES)
def test_names_in_module_files_are_words_whatever_they_contain(name: str, tmp_path: Path) -> None:
    prefix = f"/opt/{name}"
    calls = [
        ["whatis", "Strata: what a parallel machine can do, and how to lay a program out on it"],
        ["conflict", "strata"],
        ["load", f"tools/{name.replace(':', ' ')}"],
        ["prepend_path", "PATH", f"{prefix}/bin"],
        ["prepend_path", "CMAKE_PREFIX_PATH", prefix],
    ]
    loaded = {"LOADEDMODULES": f"{calls[2][1]}:strata/0.9"}
    lua = module_file("lua", prefix, **loaded)
    assert lua.returncode == 0 and [lua_said(line) for line in lua.stdout.splitlines()[1:]] == calls

    tcl = module_file("tcl", prefix, **loaded)
    assert tcl.returncode == 0 and len(tcl.stdout.splitlines()) == 2 + len(calls)
    if shutil.which("tclsh") is None:
        pytest.skip("Tcl is not installed: what it makes of the file is not known")
    (tmp_path / "file").write_text(tcl.stdout)
    (tmp_path / "said.tcl").write_text(TCL)
    done = subprocess.run(
        ["tclsh", "said.tcl", "file"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    verbs = {"whatis": "module-whatis", "load": "module\nload", "prepend_path": "prepend-path"}
    assert done.stdout == "".join("\n".join([verbs.get(v, v), *w]) + "\n\0" for v, *w in calls)
    assert not (tmp_path / "called").exists()


@pytest.mark.parametrize("kind", ["tcl", "lua"])
@pytest.mark.parametrize("end", ["\n", "\r", "\x1b"])
def test_names_of_several_lines_are_in_no_module_file(kind: str, end: str) -> None:
    assert module_file(kind, f"/opt/a{end}puts called").returncode != 0
    assert module_file(kind, "/opt/a", LOADEDMODULES=f"tools{end}puts called").returncode != 0


@pytest.mark.parametrize("name", ['a"b', "a[b]", "a$b", "a{b", "a\nb", "a\rb", "a;b", "a:b", "a\\b"])
def test_a_prefix_whose_name_some_tool_would_misread_is_refused(checkout: sample.Checkout, name: str) -> None:
    done = checkout.run("setup", "--install", f"/nowhere/strata/{name}")
    assert done.returncode == 1 and "this cannot be the prefix of an installation" in done.stderr
    assert done.stderr.count("strata: error:") == 1 and len(done.stderr.splitlines()) == 4


# --- who else may write there


def test_neither_build_nor_installation_is_anybody_elses_to_write_under_any_umask(
    checkout: sample.Checkout, prefix: Path
) -> None:
    install(checkout, prefix, prefix=("sh", "-c", 'umask 000; exec "$@"', "sh"))
    places = [checkout.root / "build", prefix.parent]
    others = 0o022 if os.geteuid() == 0 else 0o002  # a user's own group is often the user alone
    for path in (each for place in places for each in (place, *place.rglob("*"))):
        mode = path.lstat().st_mode
        assert path.is_symlink() or mode & others == 0, f"{path} {mode:o}"


def test_a_tree_is_closed_until_nobody_else_may_write_in_it(
    words: sample.Checkout, prefix: Path, tmp_path: Path
) -> None:
    """Files are copied with the modes that they have in the checkout."""
    slow = tmp_path / "bin" / "cp"
    slow.parent.mkdir()
    slow.write_text(
        f'#!/bin/sh\nstat -c %a "$(echo "{prefix.parent}"/.trees/*/*)" >>"$0.modes"\nexec /bin/cp "$@"\n'
    )
    slow.chmod(0o755)
    install(words, prefix, PATH=f"{slow.parent}:{os.environ['PATH']}")
    assert set(Path(f"{slow}.modes").read_text().split()) == {"700"}
    (tree,) = trees(prefix)
    assert tree.stat().st_mode & 0o777 == 0o755


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("how", ["folder", "link", "trees", "modulefiles", "open to all", "beside others"])
def test_root_installs_nothing_where_another_user_can_replace_it(
    checkout: sample.Checkout, somebody: sample.Somebody, tmp_path: Path, how: str
) -> None:
    site = somebody.folder / "site"
    somebody.folder.chmod(0o1777)
    named = {"trees": site / ".trees", "modulefiles": site / "modulefiles"}.get(how, site)
    if named != site:
        site.mkdir()
        site.chmod(0o1777)
    if how in ("open to all", "beside others"):
        site.mkdir()
        site.chmod(0o777 if how == "open to all" else 0o1777)
    else:
        made = ["ln", "-s", str(tmp_path), str(named)] if how == "link" else ["mkdir", str(named)]
        subprocess.run([*somebody.prefix, *made], check=True)
        if named != site:
            site.chmod(0o755)
    done = checkout.run("setup", "--install", str(site / "1.0"))
    assert done.returncode == 1 and "another user could replace the installation" in done.stderr
    open_to_all = f"given:   others may write in {site}" in done.stderr
    assert open_to_all or f"given:   {named} belongs to user 65534" in done.stderr
    assert checkout.builds() == [] and not list(tmp_path.glob(".trees"))


TRY_IT = """
for part in say own_folders install; do . "$1/$part.sh"; done
exec 9>>"$2/lock" 8<&-
unfinished=$2 prefix=$2 strata_log=$2/log
try_it
"""
SEEN = """#!/bin/sh
[ "$(id -u)" = 65534 ] || exit 0
{ cut -d " " -f 6 /proc/$$/stat; echo $$; readlink /proc/$$/fd/*; } >"$(dirname "$0")/../seen/all"
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_what_is_tried_as_nobody_has_nothing_open_that_is_roots(somebody: sample.Somebody) -> None:
    """Other programs of that user's may be there, and can take its descriptors (pidfd_getfd)."""
    tree = somebody.folder
    for folder in ("bin", "python/bin", "seen"):
        (tree / folder).mkdir(parents=True)
    (tree / "seen").chmod(0o1777)
    strata = tree / "bin" / "strata"
    strata.write_text(SEEN)
    strata.chmod(0o755)
    (tree / "python" / "bin" / "python").symlink_to("/bin/true")
    (tree / "log").touch()
    with (tree / "terminal").open("w+") as terminal:
        subprocess.run(
            ["bash", "-uc", TRY_IT, "bash", ROOT / "setup", tree],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            check=True,
        )
    session, process, *opened = (tree / "seen" / "all").read_text().splitlines()
    assert set(opened) - {str(strata), str(tree / "seen" / "all")} == {"/dev/null"}
    assert session == process, "a session of its own has no terminal of root's"
