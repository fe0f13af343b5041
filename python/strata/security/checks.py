"""What would let other users of this machine change what this user runs: one finding each.

Nothing is changed. A finding holds, does not hold, or is a fact to know (`holds` is None).
"""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from strata.own_folders import makeable, replaceable
from strata.peer import process_and_user
from strata.security.listening import user_name


@dataclass(frozen=True)
class Finding:
    what: str
    holds: bool | None
    found: str
    matters: str = ""  # what another user could do
    remedy: str = ""


def kernel_tells_who_calls() -> Finding:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        uid = process_and_user(ours)[1]
    return Finding(
        "the kernel tells who calls",
        uid == os.geteuid(),
        f"user {user_name(uid)} at both ends of a socket of this process",
        "strangers could call as if they were this user",
        "a kernel with SO_PEERCRED (unix(7)); in a container: one that passes it on",
    )


# Setting of the kernel, and what another user can place in a folder that all may write.
_PROTECTED = {
    "protected_symlinks": "a link that a program of yours follows",
    "protected_hardlinks": "a second name of a file of yours",
    "protected_fifos": "a FIFO that a program of yours writes into",
    "protected_regular": "a file that a program of yours takes for its own",
}


def links_are_protected(settings: Path = Path("/proc/sys/fs")) -> Finding:
    off = []
    for name in _PROTECTED:
        try:
            if int((settings / name).read_text()) == 0:
                off.append(name)
        except (OSError, ValueError):
            off.append(name)  # an older kernel
    return Finding(
        "links in folders that all may write",
        not off,
        f"off: {', '.join(off)}" if off else "the kernel follows none of another user's",
        f"place {'; '.join(_PROTECTED[name] for name in off)}",
        "sudo sysctl " + " ".join(f"fs.{name}=1" for name in off),
    )


def shared_folders(folders: Iterable[Path] | None = None) -> Finding:
    """Folders for temporary files."""
    wrong = []
    for folder in folders or sorted({Path(tempfile.gettempdir()), Path("/tmp"), Path("/dev/shm")}):
        try:
            about = folder.stat()
        except OSError:
            continue
        if about.st_mode & stat.S_IWOTH and not about.st_mode & stat.S_ISVTX:
            wrong.append(f"{folder} lacks the sticky bit")
        elif about.st_uid not in (0, os.geteuid()):
            wrong.append(f"{folder} belongs to user {user_name(about.st_uid)}")
    return Finding(
        "folders for temporary files",
        not wrong,
        "; ".join(wrong) or "nobody can replace what is another's",
        "replace files while your programs use them",
        "sudo chmod +t FOLDER; or TMPDIR=/a/folder/of/yours",
    )


def new_files() -> Finding:
    umask = os.umask(0o077)
    os.umask(umask)
    return Finding(
        "files that you make",
        not ~umask & 0o002,
        f"umask {umask:04o}",
        "write into your results, cases and programs",
        "umask 022 in your shell's settings",
    )


def _others_can(path: Path) -> str:
    """What lets others put something at a path, also where nothing is yet."""
    return replaceable(path, groups=True) or makeable(path)


def search_paths(environment: Mapping[str, str] = os.environ) -> Finding:
    """Where programs, libraries and modules are looked for."""
    wrong = []
    for name in ("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "LUA_PATH", "MODULEPATH"):
        said = environment.get(name, "")
        separators = said.replace(" ", ":") if name == "LD_PRELOAD" else said.replace(";", ":")
        for entry in separators.split(":") if said else ():
            if not entry.startswith("/"):
                if name in ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH") or (
                    name == "LD_PRELOAD" and "/" in entry
                ):
                    wrong.append(f"{name} has {entry or 'an empty entry'}: the folder where you happen to be")
            elif why := _others_can(Path(entry)):
                wrong.append(f"{name}: {why}")
    return Finding(
        "where programs are looked for",
        not wrong,
        "; ".join(dict.fromkeys(wrong)) or "nobody else can put one there",
        "have a program of theirs started in place of the one that you mean",
        "take these entries out, or chmod o-w",
    )


def own_files(trees: Iterable[Path]) -> Finding:
    """Programs and modules of Strata, and the folders above them."""
    wrong, owners, count = [], set(), 0
    for tree in trees:
        if why := replaceable(tree, groups=True):
            (owners.add(why) if "belongs to" in why else wrong.append(why))
        for folder, folders, files in os.walk(tree):
            for name in (*folders, *files):
                path = Path(folder, name)
                try:
                    about = path.lstat()
                except FileNotFoundError:
                    continue  # removed meanwhile
                count += 1
                if about.st_uid not in (0, os.geteuid()):
                    owners.add(f"{tree} has files of user {user_name(about.st_uid)}")
                if stat.S_ISLNK(about.st_mode):
                    if why := replaceable(path, groups=True):
                        (owners.add(why) if "belongs to" in why else wrong.append(why))
                elif about.st_mode & stat.S_IWOTH:
                    wrong.append(f"everybody may write {path}")
    if wrong:
        wrong = list(dict.fromkeys(wrong))  # many links lead to one folder
        found = "; ".join(wrong[:3]) + (f"; and {len(wrong) - 3} more" if len(wrong) > 3 else "")
    else:
        found = "; ".join(sorted(owners)) or f"{count} files, and the folders above them"
    return Finding(
        "Strata's own files",
        False if wrong else None if owners else True,
        found,
        "change what you run" if wrong else "that user could change what you run: do you trust them?",
        "chmod -R o-w the folder" if wrong else "",
    )


def private_folders(environment: Mapping[str, str] = os.environ) -> Finding:
    """The folder for the session's files, where clusters have theirs."""
    said = environment.get("STRATA_CLUSTERS") or environment.get("XDG_RUNTIME_DIR")
    folder = Path(said) if said else Path(f"/tmp/strata-clusters-{os.geteuid()}")
    why = replaceable(folder) if folder.exists() else ""
    return Finding(
        "the folder of your clusters",
        not why,
        why or (f"{folder} is yours" if folder.exists() else f"{folder} is not there"),
        "no cluster starts there (Strata refuses it)",
        "STRATA_CLUSTERS=/a/folder/of/yours",
    )


def results(environment: Mapping[str, str] = os.environ) -> Finding:
    folder = Path(environment.get("STRATA_RESULTS") or "strata-results").absolute()
    why = _others_can(folder)
    return Finding(
        "results",
        not why,
        why or f"nobody else can change {folder}",
        "change reports and checkpoints, and send commands to a run that is steered",
        "chmod o-w, or STRATA_RESULTS=/a/folder/of/yours",
    )


def trusted_users(environment: Mapping[str, str] = os.environ) -> Finding:
    said = environment.get("STRATA_TRUST", "")
    return Finding(
        "whose code cases may run",
        None if said else True,
        f"yours, root's, and that of {said} (STRATA_TRUST)" if said else "yours and root's alone",
        "a case that names code of theirs builds and runs it as you" if said else "",
        "unset STRATA_TRUST when you are done" if said else "",
    )


def other_processes_of_yours(setting: Path = Path("/proc/sys/kernel/yama/ptrace_scope")) -> Finding:
    try:
        scope = int(setting.read_text())
    except (OSError, ValueError):
        scope = 0
    attach = (
        "may attach to your processes and" if scope == 0 else f"may (ptrace_scope {scope}: not attach, but)"
    )
    return Finding(
        "other jobs of yours",
        None,
        f"{attach} open the memory that they share (/proc/PID/fd)",
        "one of them that is not to be trusted could change a run's memory",
        "run what you do not trust as another user",
    )


def port_between_nodes(environment: Mapping[str, str] = os.environ) -> Finding:
    node = environment.get("SLURMD_NODENAME", "")
    try:
        address = socket.gethostbyname(node) if node else ""
    except OSError:
        address = ""
    return Finding(
        "the port of a run on several nodes",
        True if address else None,
        f"opens on {address} alone, as Slurm names this node {node}"
        if address
        else "opens on all interfaces while a run starts, as this is no job of Slurm's",
        "" if address else "call; they are turned away after a second, and nothing is said to them",
    )


def findings(trees: Iterable[Path]) -> list[Finding]:
    return [
        kernel_tells_who_calls(),
        links_are_protected(),
        shared_folders(),
        new_files(),
        own_files(trees),
        search_paths(),
        results(),
        private_folders(),
        trusted_users(),
        port_between_nodes(),
        other_processes_of_yours(),
    ]
