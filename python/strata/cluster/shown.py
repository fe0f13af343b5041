"""A cluster as a table."""

from __future__ import annotations

from typing import Any


def shown(about: dict[str, Any]) -> str:
    rows = [["node", "address", "process", "link", "slurm"]]
    for each in about["nodes"]:
        process = str(each["pid"]) if each["up"] else "down"
        rows.append([each["node"], each["address"], process, each["link"], each["slurm"]])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)) for row in rows]
    cores = "of its own" if about["own_cores"] else "that all nodes share: times measured here mean nothing"
    lines.append(f"each node has {about['cpus']} core{'s' * (about['cpus'] > 1)} {cores}")
    lines += about["notes"]
    return "\n".join(line.rstrip() for line in lines)
