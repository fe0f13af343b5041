"""Folders that other users can neither write in nor replace: below /tmp anybody may make one of any name
first, and what runs as root must not open what a user has put in its place.
"""

from __future__ import annotations

import errno
import grp
import itertools
import os
import pwd
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from strata.errors import FAILED, StrataError

ALLOWED = "a folder of this user's or root's, below such folders, in which nobody else may write"
_LINKS = 40  # as many as the kernel follows


def make(path: Path) -> None:
    """Makes the folder and those above it, none of which others may write in, under any umask. Raises
    OSError.
    """
    _make(path, 0o755, new=False)


def make_results(path: Path, new: bool = False) -> None:
    """Makes a folder for results and those above it that are missing, with the mode that the umask leaves.
    `new`: the folder is this call's, or FileExistsError is raised. Raises StrataError where another user has
    put something on the way to it (need_not_put()), also in the meantime, and OSError.
    """
    need_not_put(path)
    _make(path, 0o777, new)
    need_not_put(path)  # what is this user's in a sticky folder stays there: it is looked at once it is made


def make_numbered(path: Path) -> Path:
    """A new folder for results, which this call has made: of this name or, where there is one already, with
    a number at its end. Raises as make_results() does.
    """
    while True:
        made = numbered(path)
        try:
            make_results(made, new=True)
            return made
        except FileExistsError:  # in the meantime
            continue


def numbered(path: Path) -> Path:
    """This path or, where something is there, the first one with a number at its end where nothing is."""
    names = itertools.chain([path], (path.with_name(f"{path.name}-{n}") for n in itertools.count(2)))
    return next(each for each in names if not os.path.lexists(each))


def need_not_put(path: Path) -> None:
    """Raises StrataError where the folder, or a folder or a link on the way to it, is another user's and
    stands where many may write, as in /tmp: that user may have made it first, to read and change what is
    written into it. Whoever owns the place itself is believed, and those of STRATA_TRUST: the kernel's rule
    for links in such places (fs.protected_symlinks), for folders as well. Not so a link at the path's end:
    in a folder of another user's, `report` may lead to any folder of this one's.
    """
    trusted = {0, os.geteuid(), *_trusted_users()}
    for step, ends in _steps_and_ends(path):
        try:
            about, place = step.lstat(), step.parent.stat()
        except OSError:
            return  # not there yet, or whoever opens it says why
        owner = about.st_uid
        believed = trusted if place.st_uid == _unmapped() else {*trusted, place.st_uid}
        shared = bool(place.st_mode & _writers())
        leads = stat.S_ISLNK(about.st_mode) and ends and owner not in trusted
        if not leads and (not shared or owner in believed):
            continue
        kind = "link" if stat.S_ISLNK(about.st_mode) else "folder" if stat.S_ISDIR(about.st_mode) else "file"
        raise StrataError(
            f"results are not written where another user has put a {kind} first",
            at=str(path),
            given=f"{step} belongs to user {owner}"
            + (f", and many may write in {step.parent}" if shared else ""),
            allowed="a folder of this user's, or one that is not there yet",
            remedy=f"name another folder; where you trust that user: STRATA_TRUST={_name(owner)}",
            code=FAILED,
        )


@contextmanager
def held(path: Path) -> Iterator[Path]:
    """A folder by a name that stays its own, /proc/self/fd/N: what is written below it goes into this folder,
    whoever renames it meanwhile or puts a link in its place. Raises OSError, also for a link of another
    user's.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    try:
        folder = os.open(path, flags | os.O_NOFOLLOW)
    except OSError:
        if not path.is_symlink():
            raise
        if put_by_others(path):
            raise OSError(errno.ELOOP, "another user's link", str(path)) from None
        folder = os.open(path, flags)  # nobody else can replace it
    try:
        yield Path(f"/proc/self/fd/{folder}")
    finally:
        os.close(folder)


def _make(path: Path, mode: int, new: bool) -> None:
    missing = [path] if new else []
    above = path.parent if new else path
    while not above.is_dir():
        missing.append(above)
        above = above.parent
    for each in reversed(missing):
        try:
            os.mkdir(each, mode)  # noqa: PTH102 (never one that is there)
        except FileExistsError:
            if new and each == path:
                raise
            if not each.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(each)) from None
            need_not_put(each)


def _trusted_users() -> set[int]:
    """The numbers of those whom STRATA_TRUST names, as the native front reads it."""
    found = set()
    for name in os.environ.get("STRATA_TRUST", "").split(","):
        try:
            found.add(int(name) if name.isdecimal() else pwd.getpwnam(name).pw_uid)
        except (KeyError, ValueError):
            continue
    return found


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def wrong(path: Path) -> str:
    """Why a folder is not this user's alone; empty where it is. A link to one is none. Raises OSError."""
    about = path.lstat()
    if not stat.S_ISDIR(about.st_mode):
        return "it is no folder"
    if about.st_uid != os.geteuid():
        return f"it belongs to user {about.st_uid}"
    return "others may write in it" if about.st_mode & 0o022 else ""


def replaceable(path: Path, groups: bool = False) -> str:
    """What lets another user write in a folder (or a file), or put another one in its place: words about it,
    or about a folder on the way to it; empty where nobody can. What is not there yet is left out. `groups`:
    the members of this user's groups count as well, unless a group is this user's alone.
    """
    return _others(path, inside=False, groups=groups)


def makeable(path: Path) -> str:
    """Of what is not there yet, where another user can make it first: words; empty where nobody can."""
    if os.path.lexists(path):
        return ""
    folder = next(each for each in path.absolute().parents if os.path.lexists(each))
    can = folder.is_dir() and folder.stat().st_mode & _writers()
    return f"{path} is not there, and others may make it in {folder}" if can else ""


def led(path: Path) -> Path | int:
    """Where a path leads that a user has named: at its end links are followed, each one only where no other
    user can have put it there. A descriptor, if it leads to one of this process (/dev/stdout). Raises
    OSError.
    """
    for _ in range(_LINKS):
        if not path.is_symlink() or put_by_others(path):
            return path
        if path.name.isdecimal() and str(path.parent.resolve()) == f"/proc/{os.getpid()}/fd":
            return int(path.name)
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def put_by_others(path: Path) -> bool:
    """Whether another user can have put there what stands at a path: a link, a FIFO. Raises OSError."""
    folder = path.parent
    if _others(folder, inside=True):
        return True
    return bool(folder.stat().st_mode & _writers()) and path.lstat().st_uid not in {0, os.geteuid()}


def _writers() -> int:
    """The bits of a mode by which others write. A user's own group is often the user alone."""
    return 0o022 if os.geteuid() == 0 else 0o002


def _by_group(path: Path, about: os.stat_result) -> bool:
    """Whether somebody else may write by a group, or by a list of users (ACL): the group's bits sum it up."""
    if not about.st_mode & 0o020:
        return False
    try:
        if os.getxattr(path, "system.posix_acl_access", follow_symlinks=False):
            return True
    except OSError:
        pass
    try:
        group, user = grp.getgrgid(about.st_gid), pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return True
    return group.gr_name != user or any(member != user for member in group.gr_mem)


def _others(path: Path, inside: bool, groups: bool = False) -> str:
    """As replaceable(). `inside`: of what one user has in a sticky folder others cannot rename it."""
    others = _writers()
    trusted = {0, os.geteuid()}
    steps = list(_steps(path))
    for step in steps:
        try:
            about = step.lstat()
        except OSError:
            return ""  # whoever opens it says so
        last = step == steps[-1] and not inside
        if about.st_uid not in trusted and (last or about.st_uid != _unmapped()):
            return f"{step} belongs to user {about.st_uid}"
        kept = about.st_mode & stat.S_ISVTX and not last  # sticky: others cannot rename what is not theirs
        open_to = about.st_mode & others or (groups and _by_group(step, about))
        if not stat.S_ISLNK(about.st_mode) and open_to and not kept:
            return f"others may write {step}"
    return ""


def need(path: Path, what: str, remedy: str) -> None:
    """Raises StrataError where another user can write in the folder or replace it. `what` it is for."""
    if why := replaceable(path):
        raise StrataError(
            f"{what} are not kept where another user can replace them",
            at=str(path),
            given=why,
            allowed=ALLOWED,
            remedy=remedy,
            code=FAILED,
        )


def opened(path: Path, flags: int, mode: int = 0o644) -> int:
    """A descriptor of a file of this user's, never of what a link leads to. Raises OSError, and StrataError
    where the file is none or another user's.
    """
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    about = os.fstat(descriptor)
    if stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid() and about.st_nlink == 1:
        return descriptor
    os.close(descriptor)
    raise StrataError(
        "this file may be another user's",
        at=str(path),
        given=f"a file of user {about.st_uid}, with {about.st_nlink} names",
        allowed="a plain file of this user's, with one name",
        remedy="look at it, and move it away",
        code=FAILED,
    )


def to_lock(path: Path) -> int:
    """A descriptor of a file for locks, which nobody else can open: whoever may read a file can hold its
    lock, for as long as he likes. Raises OSError and StrataError as opened() does.
    """
    descriptor = opened(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.fchmod(descriptor, 0o600)  # one that was made with another mode
    return descriptor


def new(path: Path, mode: int = 0o666) -> int:
    """A descriptor of a file that this process has made, in any user's folder. What stands there is of a
    process that was killed, or another user's: it goes, and nothing is written through it. Raises OSError.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        return os.open(path, flags, mode)
    except FileExistsError:
        path.unlink()
        return os.open(path, flags, mode)


def close_umask() -> None:
    """Nobody else may write in what this process makes from here on."""
    os.umask(os.umask(0o077) | 0o022)


def _steps(path: Path) -> Iterator[Path]:
    """All that the kernel looks at on the way to a path: folders, links, and what these lead to."""
    return (step for step, _ in _steps_and_ends(path))


def _steps_and_ends(path: Path) -> Iterator[tuple[Path, bool]]:
    """With each step, whether the path ends there, or would but for links at its end."""
    at, links = Path("/"), 0
    yield at, False
    todo = list(path.absolute().parts[1:])
    while todo:
        part = todo.pop(0)
        if part == "..":
            at = at.parent
            continue
        here = at / part
        yield here, not todo
        try:
            target = here.readlink()
        except OSError:  # no link, or whoever opens it says why
            at = here
            continue
        links += 1
        if links > _LINKS:
            return
        if target.is_absolute():
            at = Path("/")
        todo[:0] = [each for each in target.parts if each != "/"]


def _unmapped() -> int | None:
    """The number that users have in a user namespace where they have none (user_namespaces(7)), as root of
    the machine in a container; None outside of one.
    """
    try:
        if Path("/proc/self/uid_map").read_text().split() == ["0", "0", "4294967295"]:
            return None
        return int(Path("/proc/sys/kernel/overflowuid").read_text())
    except (OSError, ValueError):
        return None
