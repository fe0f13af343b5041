"""The dumps of one program in its job's folder: whole or absent, the newest counts."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from strata import documents, own_folders
from strata.errors import FAILED, StrataError
from strata.measure.files import storage_error, write_atomically

_NEW = "dump.new"  # until it is whole
_WHOLE = re.compile(r"dump-(\d+)$")
_RECORD = "strata.json"
USED = "restored"  # a file in a dump that somebody has gone on from


@dataclass(frozen=True)
class Record:
    """What CRIU does not keep, at the time of the dump."""

    root: int  # the number of the program's first process
    files: dict[str, int]  # sizes in bytes of those open for writing
    threads: dict[str, list[int]]  # of each thread the CPUs that it may use
    cpus: list[int]  # those of the job


@dataclass(frozen=True)
class Dumps:
    """All of one program."""

    folder: Path

    def newest(self) -> Path | None:
        """The last one that was completed. Raises StrataError where another user can have written it: what is
        in it would run, and files that it names are cut off.
        """
        found = max(self._whole(), key=_number, default=None)
        if found is not None and (why := own_folders.wrong(found) or own_folders.replaceable(found)):
            raise StrataError(
                "this dump can be another user's",
                at=str(found),
                given=why,
                allowed=own_folders.ALLOWED,
                remedy="remove it, and the program starts from its beginning; where it is yours: chmod go-w",
                code=FAILED,
            )
        return found

    def _whole(self) -> list[Path]:
        return [each for each in self.folder.glob("dump-*") if _WHOLE.match(each.name)]

    def add(self, write: Callable[[Path], Record]) -> Path:
        """A dump by `write`, which fills a folder. The one before stays until it is on the disk."""
        new = self.folder / _NEW
        try:
            own_folders.make_results(self.folder)
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(mode=0o700)  # all that the program has in memory
        except OSError as error:
            raise storage_error(error, new) from error
        try:
            record = write(new)
            write_atomically(new / _RECORD, json.dumps(asdict(record)))
            for path in (*new.iterdir(), new):
                _to_disk(path)
            before = self._whole()
            whole = self.folder / f"dump-{max(map(_number, before), default=0) + 1}"
            new.rename(whole)
            _to_disk(self.folder)
        except OSError as error:
            _keep_logs(new)
            raise storage_error(error, new) from error
        except StrataError:
            _keep_logs(new)
            raise
        for each in before:
            shutil.rmtree(each, ignore_errors=True)
        return whole

    def remove(self) -> None:
        """All of them."""
        for each in (*self._whole(), self.folder / _NEW):
            shutil.rmtree(each, ignore_errors=True)


def _keep_logs(new: Path) -> None:
    """Of a dump that failed: as much as the memory of the program would stay on the disk."""
    for path in new.glob("*"):
        if path.suffix != ".log":
            path.unlink()
    if new.is_dir() and not any(new.iterdir()):
        new.rmdir()


def _number(dump: Path) -> int:
    return int(dump.name.partition("-")[2])


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(dump: Path) -> Record:
    """What was kept beside CRIU's files."""
    try:
        return Record(**documents.from_json((dump / _RECORD).read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise StrataError(
            "this dump cannot be read",
            at=str(dump / _RECORD),
            given=str(error),
            remedy=f"rm -r {dump}: the program starts from its beginning",
            code=FAILED,
        ) from error


def as_it_was(dump: Path, files: dict[str, int]) -> list[str]:
    """Files have the sizes that they had: a start that went on from this dump and was lost has written more,
    which the next one writes again. What was done is said, a line for each file.

    At the first start from a dump nothing is cut: whatever has grown was written by somebody else, and CRIU
    refuses. CRIU opens them by their paths: raises StrataError where another user has put a link there.
    """
    for name in files:
        own_folders.need_not_put(Path(name))
    if not (dump / USED).exists():
        return []
    return [line for name, size in files.items() for line in _cut(Path(name), size)]


def _cut(path: Path, size: int) -> list[str]:
    """What is cut is the file that was looked at: whoever may write in its folder can put a link in its place
    at any moment.
    """
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return []  # CRIU says so
    try:
        held = f"/proc/self/fd/{descriptor}"
        about, leads = os.fstat(descriptor), str(Path(held).readlink())
        more = about.st_size - size if stat.S_ISREG(about.st_mode) else 0
        if more <= 0:
            return []
        if leads != str(path) and (why := own_folders.replaceable(path)):
            raise StrataError(
                "a file is not cut off where another user can have put a link in its place",
                at=str(path),
                given=f"it leads to {leads}, and {why}",
                allowed="the file itself, or a link that nobody else can replace",
                remedy="look at it, and put the program's file back",
                code=FAILED,
            )
        os.truncate(held, size)
        return [f"{path}: cut off the {more} bytes that a lost start wrote after the dump"]
    finally:
        os.close(descriptor)


def mark(dump: Path, used: bool) -> None:
    """Whether a start has gone on from it."""
    if used:
        (dump / USED).touch()
    else:
        (dump / USED).unlink(missing_ok=True)
