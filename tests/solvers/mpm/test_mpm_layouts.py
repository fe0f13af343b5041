"""The material point method: the same bits on every layout, and after a restart on another one."""

from __future__ import annotations

import pytest
from every_layout import same_everywhere
from solver_cases import MPM_CASES, changed, solver_program

# Coarser than our cases are, and as short as what they are about allows: the disks meet, the block slides
# into other patches, the metal flows plastically, the waves from both ends of the pulled bar meet.
SHORT = {
    "bar": ({"cells": "[24, 10, 10]", "patch": "[6, 5, 5]", "energy": "0.02"}, None),
    "cylinder": ({"cells": "[22, 22, 1]", "patch": "[5, 9, 1]"}, 80),
    "disks": ({"patch": "[8, 8, 1]"}, 260),
    "impact": ({}, 160),
    "incline": ({"cells": "[40, 12, 1]", "patch": "[10, 6, 1]"}, 240),
    "manufactured-bar": ({}, 60),
    "manufactured-vortex": ({"cells": "[32, 32, 1]", "patch": "[8, 16, 1]"}, 60),
    "sphere": ({"cells": "[20, 24, 20]", "patch": "[5, 6, 10]"}, 24),
}


@pytest.fixture(autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-mpm") is None:
        pytest.skip("the solver is not built")


@pytest.mark.parametrize("name", SHORT)
def test_every_layout_has_the_same_bits_and_so_has_a_restart_on_another(run, tmp_path, name):
    changes, steps = SHORT[name]
    same_everywhere(run, changed(tmp_path, name, cases=MPM_CASES, **changes), tmp_path, steps)


@pytest.mark.soak
@pytest.mark.parametrize("name", [*SHORT, "axial", "manufactured-cube"])
def test_cases_at_full_length_have_the_same_bits_on_every_layout(run, tmp_path, name):
    same_everywhere(run, MPM_CASES / f"{name}.toml", tmp_path, None)
