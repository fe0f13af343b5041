"""`strata draw --machine FILE --out FILE`."""

from __future__ import annotations

import json
import os
from pathlib import Path

from strata.draw.machine import machine_svg
from strata.errors import StrataError


def draw_file(machine_file: Path, out: Path) -> None:
    """Reads a machine document and writes its drawing, whole or not at all."""
    try:
        machine = json.loads(machine_file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StrataError("cannot read the machine document", at=str(machine_file), given=str(error),
                          remedy="strata machine --json > machine.json") from error
    if not isinstance(machine, dict) or not str(machine.get("schema", "")).startswith("strata.machine/"):
        raise StrataError("this is not a machine document", at=f"{machine_file} schema", given=repr(machine.get("schema") if isinstance(machine, dict) else machine),
                          allowed="strata.machine/1", remedy="strata machine --json > machine.json")
    part = out.with_name(out.name + ".tmp")
    try:
        part.write_text('<?xml version="1.0" encoding="UTF-8"?>\n' + machine_svg(machine) + "\n", encoding="utf-8")
        os.replace(part, out)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StrataError("cannot write the drawing", at=str(out), given=str(error), remedy="choose another --out", code=1) from error
