"""Files that are whole or absent: atomic writes, durable appends, one clear message when a disk is full."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from strata import documents, own_folders
from strata.errors import FAILED, StrataError, why

# EFBIG: a file-size limit (ulimit -f) reads like a full disk to the person who meets it.
_FULL = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file-size limit is reached",
}
KEEP_FREE_BYTES = 1 << 20  # asked for before each launch: one sample is 4 to 60 kB, a summary below 1 MB


def storage_error(error: OSError, path: Path) -> StrataError:
    """The message for a write that failed; the disk-full family gets a remedy of its own."""
    full = _FULL.get(error.errno or 0)
    if full is None:
        return StrataError(
            f"cannot write: {why(error)}",
            at=str(path),
            code=FAILED,
            remedy="check the path and its permissions",
        )
    return StrataError(
        full,
        at=str(path),
        code=FAILED,
        remedy="free some space (or raise the limit), then give the same command again: it resumes",
    )


def check_space(folder: Path, least: int = KEEP_FREE_BYTES) -> None:
    """Refuses before a launch what would fail after it."""
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < least:
        raise storage_error(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), folder)


def write_atomically(path: Path, text: str | bytes, mode: int | None = None) -> None:
    """After this returns the file holds the whole text, also across a power cut; if it raises, the old file
    is as it was. `mode`: of the file, where it is not what the umask leaves. No link is followed, neither
    at the path nor at the name that is written first, and the folder is held meanwhile: nobody can put
    another one in its place.
    """
    try:
        with own_folders.held(path.parent) as inside:
            _write_in(inside, path.name, text.encode() if isinstance(text, str) else text, mode)
    except OSError as error:
        raise storage_error(error, path) from error


def _write_in(folder: Path, name: str, data: bytes, mode: int | None) -> None:
    scratch = folder / f".{name}.{os.getpid()}.tmp"
    try:
        with open(own_folders.new(scratch), "wb") as stream:  # noqa: PTH123 (a descriptor)
            if mode is not None:
                os.fchmod(stream.fileno(), mode)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        scratch.replace(folder / name)
        sync_folder(folder)
    except BaseException:  # also Ctrl-C between write and rename
        with suppress(OSError):  # where the name is too long for it, too
            scratch.unlink(missing_ok=True)
        raise


def write_named(path: Path, content: str | bytes, mode: int | None = None) -> None:
    """Writes what a user has named: a file by write_atomically(), where a link leads by own_folders.led().
    A FIFO, a device or a descriptor (/dev/stdout) is written into, and nothing is put in its place, unless
    another user can have put it there.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        at = own_folders.led(path)
        if isinstance(at, int):
            sys.stdout.flush()
            _into(os.dup(at), data)
            return
        if _is_special(at):
            _into(os.open(at, os.O_WRONLY | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC), data)
            return
    except OSError as error:
        raise storage_error(error, path) from error
    write_atomically(at, data, mode)


def would_replace(path: Path) -> bool:
    """Whether write_named() would put a file into the place of another one."""
    try:
        at = own_folders.led(path)
        return not isinstance(at, int) and (at.exists() or at.is_symlink()) and not _is_special(at)
    except OSError as error:
        raise storage_error(error, path) from error


def _is_special(path: Path) -> bool:
    """A FIFO, a device or a socket that no other user can have put there."""
    try:
        kind = path.lstat().st_mode
    except FileNotFoundError:
        return False
    plain = stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind)
    return not plain and not own_folders.put_by_others(path)


def _into(descriptor: int, data: bytes) -> None:
    with open(descriptor, "wb") as stream:
        stream.write(data)


def sync_folder(folder: Path) -> None:
    """Makes a rename in this folder durable. Some network file systems refuse fsync on folders; they need
    none.
    """
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(fd)


def write_json(path: Path, value: Any) -> None:
    """The value as JSON, by write_atomically()."""
    write_atomically(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def read_json(path: Path, schema: str, remedy: str) -> dict[str, Any]:
    """A JSON object of the given schema, or an error that names the file, the line and what to do."""
    text = ""
    try:
        text = documents.contents(path).decode()
        value = documents.from_json(text)
    except FileNotFoundError:
        raise StrataError("there is no such file", at=str(path), remedy=remedy) from None
    except (OSError, ValueError) as error:
        found = documents.not_json(error, str(path), text, remedy, FAILED)
        if not isinstance(error, OSError):
            found.message = f"damaged file: {found.message}"
        raise found from None
    return documents.of_schema(value, schema, str(path), remedy, FAILED)


def sweep_leftovers(folder: Path) -> list[str]:
    """Removes what processes that were killed left behind: '.NAME.PID.tmp' and 'work/PID', when no such
    process lives here. Nothing in a folder that another user can change, and nothing where a link leads.
    """
    swept: list[str] = []
    if own_folders.replaceable(folder):
        return swept
    for path in [*folder.glob(".*.tmp"), *folder.glob("*/.*.tmp"), *folder.glob("work/*")]:
        owner = path.name if path.parent.name == "work" else path.name.split(".")[-2]
        linked = path.parent != folder and path.parent.is_symlink()
        if owner.isdigit() and not linked and not Path(f"/proc/{owner}").exists():
            remove_tree(path)
            swept.append(str(path.relative_to(folder)))
    return swept


def remove_tree(path: Path) -> None:
    """rm -rf without following links, also those that appear meanwhile; what is gone already is fine."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, onerror=_unless_gone)
    else:
        path.unlink(missing_ok=True)


def _unless_gone(*about: Any) -> None:
    error = about[2][1]
    if not isinstance(error, FileNotFoundError):
        raise error
