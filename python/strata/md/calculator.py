"""A calculator for ASE (A. H. Larsen et al., J. Phys.: Condens. Matter 29, 273002 (2017)).

    from ase.build import bulk
    from strata.md.calculator import Strata
    from strata.md.potentials import Eam

    atoms = bulk("Cu", cubic=True)
    atoms.calc = Strata(Eam("cases/md/copper.eam.alloy", ("Cu",)))
    atoms.get_potential_energy(), atoms.get_forces(), atoms.get_stress()

Units are the potential's: with `metal` ones (eV and Angstrom) they are ASE's own.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from strata.errors import FAILED, StrataError
from strata.md.evaluate import Evaluator
from strata.md.potentials import Potential

try:
    from ase.calculators.calculator import Calculator, all_changes
except ImportError:
    raise StrataError(
        "ASE is not installed",
        remedy="pip install 'strata[md]', or pip install ase into the Python that you use",
        code=FAILED,
    ) from None

# ASE's order xx, yy, zz, yz, xz, xy from ours
_VOIGT = [0, 1, 2, 5, 4, 3]


class Strata(Calculator):
    """Energy, forces and stress by Strata's kernels. Species of the potential are chemical symbols."""

    implemented_properties: ClassVar[list[str]] = ["energy", "free_energy", "forces", "stress"]

    def __init__(self, potential: Potential, **given: Any) -> None:
        super().__init__(**given)
        self.evaluator = Evaluator(potential)

    def calculate(self, atoms: Any = None, properties: Any = None, system_changes: Any = all_changes) -> None:
        """ASE calls this when something has changed."""
        super().calculate(atoms, properties, system_changes)
        a = self.atoms
        found = self.evaluator(
            a.get_positions(), a.cell.array, np.array(a.get_chemical_symbols(), dtype=object), a.pbc
        )
        self.results = {"energy": found.energy, "free_energy": found.energy, "forces": found.forces}
        if all(a.pbc):
            self.results["stress"] = -found.virial[_VOIGT] / a.get_volume()
