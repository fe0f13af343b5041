"""What Strata's programs listen on now: sockets by name, by path and by port, as /proc says (proc(5))."""

from __future__ import annotations

import ipaddress
import pwd
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from strata.peer import command_line

PROC = Path("/proc")
_LISTENS = 0x10000  # SO_ACCEPTCON, in the flags of /proc/net/unix
_TCP_LISTENS = "0A"  # TCP_LISTEN, in the state of /proc/net/tcp


@dataclass(frozen=True)
class Listener:
    """One socket that somebody listens on. `process` is 0 where it is another user's, who is not told."""

    address: str
    process: int
    user: str
    program: str
    what_for: str
    hears: str


def user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


# What a socket's address says: pattern, what it is for, who is heard.
_KINDS = (
    (r"@strata-measure", "the lock of measurements", "nobody; all may see who measures"),
    (r"@strata-[0-9a-f]{16}", "a run that starts", "its members: this user or root, with the run's token"),
    (r".*/control/control\.sock|/proc/self/fd/\d+/control\.sock", "steering a run", "this user and root"),
    (r".*/strata-clusters[^/]*/[^/]+/control", "a cluster in a box", "this user"),
    (
        r".*:\d+",
        "a run: for its other nodes while it starts, or MPI's own between ranks",
        "Strata's: the run's nodes, by HMAC under a secret of its own; MPI's: whoever calls",
    ),
)


# Flags, inode and address. Another line is part of a name, in which somebody has put a line end.
_UNIX = re.compile(
    r"[0-9a-f]{8,16}: [0-9A-F]{8} [0-9A-F]{8} ([0-9A-F]{8}) [0-9A-F]{4} [0-9A-F]{2} +(\d+) (.+)"
)


def unix_listening(text: str) -> Iterator[tuple[int, str]]:
    """Inodes and addresses in the text of /proc/net/unix; names of the kernel's own space begin with @."""
    for line in text.split("\n"):
        found = _UNIX.fullmatch(line)
        if found and int(found[1], 16) & _LISTENS:
            yield int(found[2]), found[3]


def tcp_listening(text: str) -> Iterator[tuple[int, str]]:
    """Inodes and addresses in the text of /proc/net/tcp or tcp6."""
    for line in text.splitlines()[1:]:
        words = line.split()
        if len(words) > 9 and words[3] == _TCP_LISTENS:
            host, _, port = words[1].partition(":")
            yield int(words[9]), f"{_host(host)}:{int(port, 16)}"


def _host(digits: str) -> str:
    """An address as the kernel prints it: words of four bytes, each in the machine's order."""
    words = [bytes.fromhex(digits[at : at + 8]) for at in range(0, len(digits), 8)]
    packed = b"".join(word[::-1] if sys.byteorder == "little" else word for word in words)
    address = ipaddress.ip_address(packed)
    if int(address) == 0:
        return "all interfaces"
    return f"[{address}]" if address.version == 6 else str(address)


def _sockets(process: Path) -> tuple[set[int], bool]:
    """Inodes of a process's sockets, and whether it has a team's memory. Nothing of another user's."""
    inodes, member = set(), False
    try:
        for each in (process / "fd").iterdir():
            try:
                target = str(each.readlink())
            except OSError:
                continue  # closed meanwhile
            if found := re.fullmatch(r"socket:\[(\d+)\]", target):
                inodes.add(int(found[1]))
            member = member or target.startswith("/memfd:strata-")
    except OSError:
        pass
    return inodes, member


def _words(process: Path) -> list[str]:
    try:
        return command_line(process)
    except OSError:
        return []


def _is_strata(process: Path, words: list[str], trees: Iterable[Path]) -> bool:
    """A program of one of Strata's trees, or Python that runs a part of it."""
    try:
        program = (process / "exe").readlink()
    except OSError:
        return False
    if any(tree in program.parents for tree in trees):
        return True
    return any(word == "strata" or word.startswith("strata.") or "/strata/" in word for word in words[1:4])


def listeners(trees: Iterable[Path] = (), proc: Path = PROC) -> list[Listener]:
    """What listens in each network that processes of Strata's are in; `trees`: where its programs lie.

    Another user's processes are seen by root alone; a named socket of theirs is listed without its process.
    """
    trees = [tree.resolve() for tree in trees]
    owners: dict[int, tuple[int, str, str]] = {}  # by inode: process, user, program
    strata: set[int] = set()  # processes
    networks: dict[str, Path] = {_network(proc / "self"): proc / "self"}
    for process in sorted(each for each in proc.iterdir() if each.name.isdecimal()):
        inodes, member = _sockets(process)
        words = _words(process)
        try:
            user = user_name(process.stat().st_uid)
        except OSError:
            continue  # it has ended
        for inode in inodes:
            owners.setdefault(inode, (int(process.name), user, Path(words[0] if words else "?").name))
        if member or _is_strata(process, words, trees):
            strata.add(int(process.name))
            networks.setdefault(_network(process), process)
    found = []
    for network in networks.values():
        for file, read in (("unix", unix_listening), ("tcp", tcp_listening), ("tcp6", tcp_listening)):
            try:
                text = (network / "net" / file).read_text(errors="replace")
            except OSError:
                continue
            for inode, address in read(text):
                process, user, program = owners.get(inode, (0, "another", "?"))
                if process in strata or re.match(r"@strata-(measure|[0-9a-f]{16})$", address):
                    found.append(Listener(address, process, user, program, *_kind(address)))
    return found


def _network(process: Path) -> str:
    try:
        return str((process / "ns" / "net").readlink())
    except OSError:
        return ""


def _kind(address: str) -> tuple[str, str]:
    for pattern, what_for, hears in _KINDS:
        if re.fullmatch(pattern, address):
            return what_for, hears
    return "not known to this list", "not known"
