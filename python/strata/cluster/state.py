"""The folder of a cluster, by which commands find it, and what removes everything of a dead one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from strata import own_folders
from strata.errors import FAILED, StrataError, why

_LOCK = ".lock"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")


def base() -> Path:
    """Where this user's clusters have their folders: $STRATA_CLUSTERS, else one for the session's files."""
    said = os.environ.get("STRATA_CLUSTERS")
    if said:
        return Path(said).absolute()
    session = os.environ.get("XDG_RUNTIME_DIR")
    if session and os.access(session, os.W_OK) and _is_own(Path(session)):
        return Path(session, "strata-clusters")
    return Path(f"/tmp/strata-clusters-{os.getuid()}")


def _is_own(session: Path) -> bool:
    """Not so after `su`, which leaves the variable: the folder is another user's, who can put another one in
    the place of what root has made there.
    """
    try:
        return not own_folders.wrong(session)
    except OSError:
        return False


def folder(name: str) -> Path:
    if not _NAME.fullmatch(name):
        allowed = "small letters, digits and -, 31 at most, a letter or digit first"
        raise StrataError("a cluster cannot have this name", given=name, allowed=allowed)
    path = base() / name
    for each in (path.parent, path):
        _check(each)
    return path


def _check(path: Path) -> None:
    """A folder, where it exists, is this user's, and nobody else may write in it: in /tmp everybody can make
    one of any name. Nor may anybody put another one in its place: the end of a cluster removes all that is
    there by this name. Raises StrataError.
    """
    try:
        wrong = own_folders.wrong(path) or own_folders.replaceable(path)
    except (FileNotFoundError, PermissionError):
        return  # whoever opens it says so
    if wrong:
        raise StrataError(
            "a folder for clusters cannot be trusted",
            given=f"{path}: {wrong}",
            allowed="one of this user in which nobody else may write, and that nobody else can replace",
            remedy=f"chmod go-w {path} where it is yours; else STRATA_CLUSTERS=/a/folder/of/yours",
            code=FAILED,
        )


def make(name: str) -> tuple[Path, int]:
    """A folder for a new cluster, and its lock, which lasts as long as somebody has it open. Folders of
    clusters that have ended are removed first.
    """
    path = folder(name)
    for _ in range(10):  # the folder above goes with the last cluster, perhaps just now
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StrataError(
                "no folder for a cluster can be made",
                at=str(path.parent),
                given=why(error),
                remedy="STRATA_CLUSTERS=/a/folder/of/yours",
                code=FAILED,
            ) from None
        _check(path.parent)
        with contextlib.suppress(FileNotFoundError), _one_at_a_time(path.parent):
            sweep()
            path.mkdir(mode=0o700, exist_ok=True)
            path.chmod(0o700)  # one that was there: whoever may open it can hold its lock
            lock = _lock(path)
            if lock is not None:
                return path, lock
            raise StrataError(
                "a cluster of this name is up",
                given=name,
                remedy="strata cluster down, or --name OTHER for a second one",
                code=FAILED,
            )
    raise StrataError(
        "no folder for a cluster can be made",
        at=str(path),
        given="it was taken away each time",
        remedy="try again, or --name OTHER",
        code=FAILED,
    )


@contextlib.contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Locks the folder of all clusters; where others may open that, a file in it which they may not."""
    closed = not path.stat().st_mode & 0o077
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY) if closed else own_folders.to_lock(path / _LOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _lock(path: Path) -> int | None:
    """Of a folder that nobody holds."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def living() -> list[str]:
    """Names of the clusters that are up."""
    _check(base())
    found = []
    for path in sorted(base().glob("[!.]*")):
        lock = _lock(path)
        if lock is None:
            found.append(path.name)
        else:
            os.close(lock)
    return found


def sweep() -> None:
    """Removes the folders of clusters that have ended."""
    for path in base().glob("[!.]*"):
        lock = _lock(path)
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if "STRATA_CLUSTERS" not in os.environ:
        with contextlib.suppress(OSError):
            path.parent.rmdir()  # the last cluster has gone
