"""Bridge and links. They lie in the network namespace of the box: each node has an eth0, whose other end,
link-NODE, is a port of the bridge there. Speed is held by a token bucket (tbf) at both ends, latency by netem
at the node's end, so that a message pays it once.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from strata.cluster.programs import Programs
from strata.errors import FAILED, StrataError

BRIDGE = "switch"
# A bucket holds what goes out between two ticks of a timer of 250 Hz [s], and two of the largest packets [B].
_BUCKET_S, _BUCKET = 4e-3, 128 << 10


@dataclass(frozen=True)
class Link:
    """What all links are: bits per second and seconds; None: as the kernel has it."""

    rate: float | None = None
    latency: float | None = None


def run(programs: Programs, *words: str, lines: str | None = None) -> None:
    """`ip` or `tc`. Raises OSError with what it said."""
    command = [programs[words[0]], *words[1:]]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")


def make_bridge(programs: Programs) -> None:
    # Without a spanning tree: a port forwards at once.
    bridge = f"link add {BRIDGE} type bridge stp_state 0 forward_delay 0"
    lines = f"link set lo up\n{bridge}\nlink set {BRIDGE} up\n"
    run(programs, "ip", "-batch", "-", lines=lines)


def check(programs: Programs, link: Link) -> None:
    """Whether this kernel has what links need, tried on the bridge. Raises StrataError."""
    if link.latency is None:
        return
    try:
        run(programs, "tc", "qdisc", "add", "dev", BRIDGE, "root", "netem", "delay", _us(link.latency))
        run(programs, "tc", "qdisc", "del", "dev", BRIDGE, "root")
    except OSError:
        raise StrataError(
            "links cannot have a latency: this kernel has no netem",
            given=f"--latency {_us(link.latency)}",
            remedy="modprobe sch_netem as root; or leave --latency out",
            code=FAILED,
        ) from None


def plug(programs: Programs, node: str, pid: int, link: Link) -> None:
    """Connects a node; called in the box, with the number of a process of the node."""
    port = f"link-{node}"
    lines = f"link add {port} type veth peer name eth0 netns {pid}\nlink set {port} master {BRIDGE} up\n"
    run(programs, "ip", "-batch", "-", lines=lines)
    if link.rate is not None:
        run(programs, "tc", "qdisc", "add", "dev", port, "root", *_bucket(link.rate))


def address(programs: Programs, own: str, link: Link) -> None:
    """Called in the node, when it is connected."""
    lines = f"link set lo up\naddress add {own}/16 dev eth0\nlink set eth0 up\n"
    run(programs, "ip", "-batch", "-", lines=lines)
    where = ["root"]
    if link.latency is not None:
        delay = ["netem", "delay", _us(link.latency), "limit", "100000"]
        run(programs, "tc", "qdisc", "add", "dev", "eth0", "root", "handle", "1:", *delay)
        where = ["parent", "1:"]
    if link.rate is not None:
        run(programs, "tc", "qdisc", "add", "dev", "eth0", *where, *_bucket(link.rate))


def cut(programs: Programs, node: str, *, mend: bool = False) -> None:
    run(programs, "ip", "link", "set", f"link-{node}", "up" if mend else "down")


def _bucket(rate: float) -> list[str]:
    bucket = max(_BUCKET, int(rate / 8 * _BUCKET_S))
    return ["tbf", "rate", f"{rate:.0f}bit", "burst", str(bucket), "latency", "50ms"]


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.0f}us"
