"""Files of strangers are opened in few places, where what they hold is bounded; nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[3] / "python" / "strata"
UNPACKERS = {"gzip", "lzma", "bz2", "tarfile", "zipfile"}
PARSERS = {("json", "loads"), ("json", "load"), ("tomllib", "loads"), ("tomllib", "load")}
OWN = {  # what no stranger writes, and who does
    "characterize/session.py": "the front",
    "cluster/ask.py": "this user's box",
    "cluster/guard.py": "this user's commands, whose user the kernel says",
    "cluster/start.py": "the box that was just made",
    "doctor.py": "the front",
    "centre/fleet/quick.py": "programs that it has just started",
    "flow/overset.py": "the program that has just ended",
    "report/sections/published.py": "Strata's own file",
    "study/command.py": "this study",
    "tune/program.py": "the front",
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCES.rglob("*.py")):
        yield str(path.relative_to(SOURCES)), ast.parse(path.read_text())


def test_nothing_is_unpacked_but_within_limits() -> None:
    users = set()
    for name, tree in modules():
        for node in ast.walk(tree):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [node.attr] if isinstance(node, ast.Attribute) and node.attr == "unpack_archive" else []
            if {*UNPACKERS, "unpack_archive"} & {n.split(".")[0] for n in names}:
                users.add(name)
    assert users == {"unpacked.py"}


def test_documents_that_are_not_ones_own_are_read_by_one_module() -> None:
    users = {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in PARSERS
    }
    assert users == {*OWN, "documents.py"}
