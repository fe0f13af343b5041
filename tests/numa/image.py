"""The initial RAM disk of the virtual machine: busybox, an agent, programs and their libraries."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

# The agent: takes a script in base64 lines, ended by a dot, runs it and answers with status, output and
# errors. Kernel messages go to the first serial port, the agent has the second one to itself. With
# strata.shell=ROWSxCOLUMNS there is a shell in its place.
INIT = r"""#!/bin/sh
export PATH=/bin:/sbin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2>/dev/null
mkdir -p /dev/shm /tmp /root
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp /tmp
chmod 1777 /tmp /dev/shm
if grep -q strata.cgroup=1 /proc/cmdline; then
    mount -t tmpfs cgroup /sys/fs/cgroup
    for each in cpuset memory cpu; do
        mkdir /sys/fs/cgroup/$each && mount -t cgroup -o $each cgroup /sys/fs/cgroup/$each
    done
else
    mount -t cgroup2 cgroup /sys/fs/cgroup
    echo +cpuset +memory +cpu >/sys/fs/cgroup/cgroup.subtree_control
fi
ip link set lo up
if grep -q strata.shell /proc/cmdline; then
    size=$(sed 's/.*strata.shell=\([^ ]*\).*/\1/' /proc/cmdline)
    PS1='numa:\w# ' setsid -c sh -c "stty rows ${size%x*} cols ${size#*x}; exec sh -i" <>/dev/ttyS1 >&0 2>&0
    poweroff -f
fi
stty -F /dev/ttyS1 raw -echo
exec 5<>/dev/ttyS1
echo READY >&5
# In a shell of its own: the first process adopts what scripts leave, and at the signal of such an end ash's
# `read` begins anew and drops what it had of its line.
(
    while true; do
        script=
        while read -r line <&5; do
            [ "$line" = . ] && break
            script="$script$line"
        done
        printf %s "$script" | base64 -d >/tmp/.script
        sh /tmp/.script >/tmp/.out 2>/tmp/.err 5<&-
        status=$?
        { echo "STATUS $status"; base64 -w 0 /tmp/.out; echo; base64 -w 0 /tmp/.err; echo; } >&5
    done
)
poweroff -f
"""

APPLETS = (
    "sh ash mount umount mkdir rmdir rm cat echo grep sed awk stty base64 sleep ls ln ps kill true "
    "false env taskset touch cp mv chmod dd head tail sort uniq wc find timeout tr cut nproc poweroff "
    "sync test printf ip id su seq mknod setsid stat free xargs dmesg readlink basename dirname "
    "killall which"
)


def libraries(program: Path) -> list[Path]:
    """The shared libraries that the loader would map for a program, and the loader itself."""
    said = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False).stdout
    return [Path(found) for found in re.findall(r"(/\S+) \(0x", said.replace("=>", ""))]


@dataclass
class Image:
    """Files by their path inside; written as a "newc" archive (Documentation/driver-api/early-userspace)."""

    files: dict[str, tuple[int, bytes]] = field(default_factory=dict)

    def add(self, path: str, content: bytes, mode: int = 0o755) -> None:
        parts = Path(path.strip("/")).parts
        for i in range(1, len(parts)):
            self.files.setdefault("/".join(parts[:i]), (stat.S_IFDIR | 0o755, b""))
        self.files["/".join(parts)] = (stat.S_IFREG | mode, content)

    def add_folder(self, path: str) -> None:
        self.files.setdefault(path.strip("/"), (stat.S_IFDIR | 0o755, b""))

    def link(self, path: str, target: str) -> None:
        self.files[path.strip("/")] = (stat.S_IFLNK | 0o777, target.encode())

    def add_program(self, host: Path, path: str) -> None:
        """A program of this machine with the libraries that it needs, at their own places."""
        self.add(path, host.read_bytes())
        for library in libraries(host):
            self.add(str(library), library.read_bytes())

    def write(self, where: Path) -> None:
        def entry(
            number: int, name: str, mode: int, content: bytes, device: tuple[int, int] = (0, 0)
        ) -> bytes:
            encoded = name.encode() + b"\0"
            fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(encoded), 0)
            head = b"070701" + b"".join(b"%08x" % value for value in fields) + encoded
            return head + b"\0" * (-len(head) % 4) + content + b"\0" * (-len(content) % 4)

        with where.open("wb") as out:
            # Before /dev is mounted the kernel opens its console for init.
            out.write(entry(0, "dev", stat.S_IFDIR | 0o755, b""))
            out.write(entry(1, "dev/console", stat.S_IFCHR | 0o600, b"", (5, 1)))
            for number, (name, (mode, content)) in enumerate(sorted(self.files.items()), 2):
                if name != "dev":
                    out.write(entry(number, name, mode, content))
            out.write(entry(0, "TRAILER!!!", 0, b""))


def make_image(programs: dict[str, Path], busybox: Path) -> Image:
    """An image that boots into the agent, with `programs` by their path inside."""
    image = Image()
    for folder in ("proc", "sys", "tmp", "root", "dev", "sbin", "usr/bin", "etc"):
        image.add_folder("/".join(folder.split("/")[:1]))
        image.add_folder(folder)
    image.add("/bin/busybox", busybox.read_bytes())
    for applet in APPLETS.split():
        image.link(f"/bin/{applet}", "busybox")
    image.add("/init", INIT.encode())
    image.add("/etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\n", 0o644)
    image.add("/etc/group", b"root:x:0:\nuser:x:1000:\n", 0o644)
    for path, program in programs.items():
        image.add_program(program, path)
    return image


def find_busybox() -> Path | None:
    """A static busybox: it is all there is beside the programs under test."""
    for folder in ("/bin", "/usr/bin"):
        path = Path(folder, "busybox")
        if path.exists() and os.access(path, os.X_OK) and not libraries(path):
            return path
    return None
