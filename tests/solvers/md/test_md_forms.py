"""Every form of LAMMPS's files that is read gives the energies of a plain sum over pairs; every damaged one
is one error that names the file. The forms are made here (md_forms.py): none comes from anywhere else."""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Callable
from pathlib import Path

import md_forms as forms
import numpy as np
import pytest
from solver_cases import solver_program

CUTOFF = 2.0
EPSILON, SIGMA = np.array([1.0, 0.5]), np.array([1.0, 1.2])
pytestmark = pytest.mark.soak


@pytest.fixture(autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-md") is None:
        pytest.skip("the solver is not built")


def case(
    folder: Path, file: Path, pair: str = "", kinds: str = "", system: str = "", step: float = 1e-6
) -> Path:
    lj = f"epsilon = {EPSILON.tolist()}\nsigma = {SIGMA.tolist()}\n"
    path = folder / "case.toml"
    path.write_text(
        f'solver = "md"\n[system]\nfile = "{file}"\n{system}[kinds]\nnames = ["A", "B"]\n{kinds or lj}'
        f'[pair]\nprecision = "double"\n{pair or f"cutoff = {CUTOFF}"}\n[neighbours]\nskin = 0.3\n'
        f"[time]\nstep = {step}\nsteps = 1\n[output]\nthermo = 1\n[verify]\ndrift = 1e9\n"
    )
    return path


def energies(run, folder: Path, of: Path, layout: str = "1x1") -> tuple[float, float]:
    """Potential and kinetic energy of all atoms at the start."""
    out = folder / f"out-{len(list(folder.glob('out-*')))}"
    run(of, "--out", out, layout=layout)
    with (out / "series.csv").open() as lines:
        first = {k.split(" [")[0]: float(v) for k, v in next(csv.DictReader(lines)).items()}
    return first["potential energy"], first["kinetic energy"]


def kinetic(s: forms.State, masses: tuple[float, float] = forms.MASSES) -> float:
    return float((np.array(masses)[s.kinds] * (s.velocities**2).sum(axis=1)).sum() / 2)


def lennard_jones(s: forms.State, shift: str = "none", mixing: str = "lorentz-berthelot") -> float:
    i, j, r = forms.pairs(s, CUTOFF)
    a, b = s.kinds[i], s.kinds[j]
    e = np.sqrt(EPSILON[a] * EPSILON[b])
    geometric = np.sqrt(SIGMA[a] * SIGMA[b])
    d = geometric if mixing == "geometric" else (SIGMA[a] + SIGMA[b]) / 2

    def u(x: np.ndarray | float) -> np.ndarray:
        return 4 * e * ((d / x) ** 12 - (d / x) ** 6)

    slope = 4 * e * (6 * d**6 / CUTOFF**7 - 12 * d**12 / CUTOFF**13)
    shifted = {"none": 0, "energy": u(CUTOFF), "force": u(CUTOFF) + (r - CUTOFF) * slope}[shift]
    return float((u(r) - shifted).sum())


@pytest.mark.parametrize("seed", range(4))
def test_data_files_of_all_forms_have_the_energies_of_a_sum_over_pairs(
    run, tmp_path: Path, seed: int
) -> None:
    """No form changes a bit of what the plain one gives."""
    rng = random.Random(seed)
    s = forms.state(seed)
    file = tmp_path / "a.data"
    file.write_text(forms.plain(s))
    known = energies(run, tmp_path, case(tmp_path, file))
    assert known == pytest.approx((lennard_jones(s), kinetic(s)), rel=1e-12)
    for _ in range(14):
        variant = forms.drawn(rng)
        file.write_bytes(forms.data(s, rng, variant).encode())
        masses = f"masses = {list(forms.MASSES)}\n" if variant["masses"] == "case" else ""
        kinds = f"epsilon = {EPSILON.tolist()}\nsigma = {SIGMA.tolist()}\n{masses}"
        layout = rng.choice(("1x1", "2x1", "1x2"))
        found = energies(run, tmp_path, case(tmp_path, file, kinds=kinds), layout)
        # Vectors say lengths of edges, and faces their places: the last bits of a box may differ.
        limit = 1e-12 if variant["box"] == "vectors" else 0
        assert found == pytest.approx(known, rel=limit, abs=0), variant


@pytest.mark.parametrize("seed", range(3))
def test_extended_xyz_of_all_forms_has_them_too(run, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    s = forms.state(seed)
    kinds = f"epsilon = {EPSILON.tolist()}\nsigma = {SIGMA.tolist()}\nmasses = {list(forms.MASSES)}\n"
    for _ in range(6):
        file = tmp_path / "a.xyz"
        file.write_text(forms.xyz(s, rng))
        found = energies(run, tmp_path, case(tmp_path, file, kinds=kinds), rng.choice(("1x1", "2x1")))
        assert found == pytest.approx((lennard_jones(s), kinetic(s)), rel=1e-12)


@pytest.mark.parametrize("shift", ["none", "energy", "force"])
@pytest.mark.parametrize("mixing", ["geometric", "lorentz-berthelot"])
def test_lennard_jones_in_all_its_styles(run, tmp_path: Path, shift: str, mixing: str) -> None:
    s = forms.state(7)
    file = tmp_path / "a.data"
    file.write_text(forms.plain(s))
    kinds = f'mixing = "{mixing}"\nepsilon = {EPSILON.tolist()}\nsigma = {SIGMA.tolist()}\n'
    of = case(tmp_path, file, pair=f'cutoff = {CUTOFF}\nshift = "{shift}"', kinds=kinds)
    assert energies(run, tmp_path, of)[0] == pytest.approx(lennard_jones(s, shift, mixing), rel=1e-12)


R_STEP, RHO_STEP, KNOTS = 0.002, 0.05, 1200


def metal() -> dict[str, np.ndarray]:
    """Smooth functions of an alloy, of the form that metals have, which end at the cutoff."""
    r, rho = R_STEP * np.arange(KNOTS), RHO_STEP * np.arange(KNOTS)
    end = np.where(r < CUTOFF, (1 - r / CUTOFF) ** 3, 0)
    found = {
        "F A": -np.sqrt(rho + 0.1),
        "F B": -1.5 * np.sqrt(rho + 0.2) + 0.01 * rho,
        "f A": end * 8,
        "f B": end * 5 * np.exp(-r),
    }
    for n, pair in enumerate(("AA", "AB", "BB")):
        found[f"z {pair}"] = end * (6 + n) * np.exp(-2 * r)
    return found


def embedded(s: forms.State) -> float:
    of = metal()
    i, j, r = forms.pairs(s, CUTOFF)
    rho, energy = np.zeros(len(s.kinds)), 0.0
    for n, name in enumerate("AB"):
        near = forms.knots(of[f"f {name}"], R_STEP, r)
        np.add.at(rho, i, np.where(s.kinds[j] == n, near, 0))
        np.add.at(rho, j, np.where(s.kinds[i] == n, near, 0))
    both = np.sort(np.stack([s.kinds[i], s.kinds[j]]), axis=0)
    for pair, (a, b) in {"AA": (0, 0), "AB": (0, 1), "BB": (1, 1)}.items():
        here = (both[0] == a) & (both[1] == b)
        energy += float((forms.knots(of[f"z {pair}"], R_STEP, r[here]) / r[here]).sum())
    for n, name in enumerate("AB"):
        energy += float(forms.knots(of[f"F {name}"], RHO_STEP, rho[s.kinds == n]).sum())
    return energy


STYLES: dict[str, dict] = {
    "five numbers a line": {},
    "one number a line": {"columns": 1},
    "three numbers a line": {"columns": 3},
    "comments that look like numbers": {"comments": ["1 2 3", "29 63.5 3.6 FCC", "2 A B"]},
    "comments that are empty": {"comments": ["", "", ""]},
    "more elements than the case has": {"elements": ["Q", "B", "A"]},
    "another order": {"elements": ["B", "A"]},
    "units that are those of the case": {"comments": ["DATE: 2026-01-01 UNITS: lj", "", ""]},
}


def setfl(style: dict | None = None) -> str:
    return forms.setfl(metal(), {"rho": RHO_STEP, "r": R_STEP}, CUTOFF, style or {})


def eam_case(folder: Path, data: Path, potential: Path) -> Path:
    return case(folder, data, pair=f'form = "eam"\nfile = "{potential}"', kinds="masses = [30.0, 50.0]\n")


def test_setfl_files_of_all_forms_have_the_energies_of_their_tables(run, tmp_path: Path) -> None:
    s = forms.state(11)
    file, potential = tmp_path / "a.data", tmp_path / "ab.eam.alloy"
    file.write_text(forms.plain(s))
    for name, style in STYLES.items():
        for ending in ("\n", "\r\n"):
            potential.write_bytes(setfl(style).replace("\n", ending).encode())
            found = energies(run, tmp_path, eam_case(tmp_path, file, potential))[0]
            assert found == pytest.approx(embedded(s), rel=1e-11), name


def morse(r: np.ndarray | float) -> np.ndarray:
    return (1 - np.exp(-4 * (r - 1.1))) ** 2 - 1


def slope(r: np.ndarray | float) -> np.ndarray:
    return 8 * (1 - np.exp(-4 * (r - 1.1))) * np.exp(-4 * (r - 1.1))


def table(spacing: str, extra: str = "", count: int = 2000, before: str = "# a table\n") -> str:
    """Sections of one potential: distances by R, by RSQ or in the lines; other sections around it."""
    low, high = 0.5, CUTOFF
    share = np.arange(count) / (count - 1)
    r = low + (high - low) * share if spacing != "RSQ" else np.sqrt(low**2 + (high**2 - low**2) * share)
    said = f" {spacing} {low} {high}" if spacing else ""
    ends = [(slope(x - 1e-6) - slope(x + 1e-6)) / 2e-6 for x in (low, high)]
    end = f" FPRIME {ends[0]} {ends[1]}"
    rows = [f"{k + 1} {x!r} {float(morse(x))!r} {float(-slope(x))!r}" for k, x in enumerate(r.tolist())]
    other = "OTHER\nN 2\n\n1 1.0 5.0 5.0\n2 2.0 5.0 5.0\n"
    return f"{before}\n{other}\nMORSE # the one\nN {count}{said}{end if extra == 'FPRIME' else ''}\n\n" + (
        "\n".join(rows) + f"\n\n{other.replace('OTHER', 'LAST')}"
    )


def table_case(folder: Path, data: Path, file: Path, sections: str = '"A A MORSE", "A B MORSE", "B B MORSE"'):
    pair = f'form = "table"\nfile = "{file}"\nsections = [{sections}]\npoints = 4000'
    return case(folder, data, pair=pair, kinds="masses = [30.0, 50.0]\n")


@pytest.mark.parametrize("interpolation", ["spline", "linear"])
def test_tables_of_all_forms_have_the_energies_of_their_function(
    run, tmp_path: Path, interpolation: str
) -> None:
    s = forms.state(13)
    wanted = float(morse(forms.pairs(s, CUTOFF)[2]).sum())
    data, file = tmp_path / "a.data", tmp_path / "morse.table"
    data.write_text(forms.plain(s))
    for spacing in ("R", "RSQ", ""):
        for extra in ("", "FPRIME"):
            file.write_text(table(spacing, extra))
            of = table_case(tmp_path, data, file)
            of.write_text(of.read_text().replace("points", f'interpolation = "{interpolation}"\npoints'))
            limit = 1e-8 if interpolation == "spline" else 1e-5
            assert energies(run, tmp_path, of)[0] == pytest.approx(wanted, rel=limit), (spacing, extra)


Damage = Callable[[list[str]], list[str]]


def section(lines: list[str], title: str) -> int:
    """The number of the first line below a title."""
    return next(k for k, line in enumerate(lines) if k > 0 and line.startswith(title)) + 2


def swapped(title: str, row: int, old: str, new: str) -> Damage:
    """A line of a section with one thing changed."""

    def damage(lines: list[str]) -> list[str]:
        at = section(lines, title) + row
        changed = re.sub(old, new, lines[at], count=1)
        assert changed != lines[at]
        return [*lines[:at], changed, *lines[at + 1 :]]

    return damage


def replaced(old: str, *new: str) -> Damage:
    """A line that begins so, with others in its place."""

    def damage(lines: list[str]) -> list[str]:
        at = next(k for k, line in enumerate(lines) if re.match(old, line) and k > 0)
        return [*lines[:at], *(each.replace("LINE", lines[at]) for each in new), *lines[at + 1 :]]

    return damage


def dropped(title: str, row: int) -> Damage:
    return lambda lines: [x for k, x in enumerate(lines) if k != section(lines, title) + row]


def twice(title: str, row: int) -> Damage:
    return lambda lines: (
        lines[: (at := section(lines, title) + row)] + lines[at : at + 1] * 2 + lines[at + 1 :]
    )


ATOM, SPEED = "Atoms", "Velocities"
OF_DATA: dict[str, tuple[Damage, str]] = {
    "a line of an atom is missing": (dropped(ATOM, 3), "another number of lines|atom that is not"),
    "a line of an atom is there twice": (twice(ATOM, 3), "two atoms have one number"),
    "a place is no number": (swapped(ATOM, 5, r"\S+$", "x"), "a number is expected"),
    "a place is nan": (swapped(ATOM, 5, r"\S+$", "nan"), "a number is expected"),
    "a place is infinite": (swapped(ATOM, 5, r"\S+$", "1e999"), "a number is expected"),
    "a place is missing": (swapped(ATOM, 5, r" \S+$", ""), "no line of an atom"),
    "a word too many": (swapped(ATOM, 5, r"$", " 7"), "no line of an atom"),
    "images that are no whole numbers": (swapped(ATOM, 5, r"$", " 0 0 0.5"), "images"),
    "a kind that is not there": (swapped(ATOM, 5, r"^(\S+) \d+", r"\1 3"), "no such kind"),
    "a number of an atom with a fraction": (swapped(ATOM, 5, r"^(\S+)", r"\1.5"), "number of an atom"),
    "a number of an atom that is 0": (swapped(ATOM, 5, r"^\S+", "0"), "number of an atom"),
    "a zero byte": (swapped(ATOM, 5, r"\S+$", "\x00"), "a number is expected"),
    "a line of a velocity is missing": (dropped(SPEED, 2), "no velocity"),
    "a line of a velocity is there twice": (twice(SPEED, 2), "two velocities"),
    "a velocity of nobody": (replaced(SPEED, "LINE", "", "1000000 0 0 0"), "not in the section Atoms"),
    "a velocity that is no number": (swapped(SPEED, 2, r"\S+$", "v"), "a number is expected"),
    "a velocity of two numbers": (swapped(SPEED, 2, r" \S+$", ""), "no line of a velocity"),
    "no number of atoms": (replaced(r"\d+ atoms"), "number of atoms is missing"),
    "fewer atoms than lines": (replaced(r"\d+ atoms", "100 atoms"), "another number of lines"),
    "more atoms than lines": (replaced(r"\d+ atoms", "1000 atoms"), "another number of lines"),
    "no atoms": (replaced(r"\d+ atoms", "0 atoms"), "no atoms"),
    "atoms below 0": (replaced(r"\d+ atoms", "-3 atoms"), "no line of a head"),
    "no kinds": (replaced(r"2 atom types"), "number of kinds is missing"),
    "fewer kinds": (replaced(r"2 atom types", "1 atom types"), "no such kind"),
    "more kinds": (replaced(r"2 atom types", "3 atom types"), "3 kinds"),
    "no edge along y": (replaced(r".* ylo yhi"), "the box is missing"),
    "an edge turned round": (replaced(r".* ylo yhi", "9 0 ylo yhi"), "no width"),
    "an edge of one number": (replaced(r".* ylo yhi", "9 ylo yhi"), "no width"),
    "a box that is tilted": (replaced(r".* zlo zhi", "LINE", "0.3 0 0 xy xz yz"), "not orthogonal"),
    "bonds": (replaced(r"2 atom types", "LINE", "7 bonds"), "atoms alone"),
    "a section of bonds": (replaced(ATOM, "Bonds", "", "1 1 1 2", "", "LINE"), "does not read"),
    "a title with a slip": (replaced(ATOM, "Atom # atomic"), "does not read"),
    "no atoms at all": (lambda lines: lines[: section(lines, ATOM) - 2], "no section Atoms"),
    "a file that ends within its atoms": (
        lambda lines: lines[: section(lines, ATOM) + 9],
        "number of lines|no velocities",
    ),
    "a file of nothing": (lambda lines: [""], "no section Atoms|missing"),
    "a section twice": (replaced(ATOM, "Masses", "", "1 3", "2 3", "", "LINE"), "there twice"),
    "a kind with two masses": (twice("Masses", 0), "two masses"),
    "a mass that is missing": (dropped("Masses", 0), "no mass of A"),
    "a mass of 0": (swapped("Masses", 0, r"\S+$", "0"), "positive"),
    "a style that is not read": (replaced(ATOM, "Atoms # sphere"), "style"),
    "another style than the lines": (replaced(ATOM, "Atoms # charge"), "no line of an atom|whole numbers"),
    "units of another case": (lambda lines: ["units = real", *lines[1:]], "units real"),
}


def refused(run, of: Path, what: str, file: Path, name: str) -> None:
    done = run(of, check=False)
    assert done.returncode in (1, 2), (name, done.stdout)
    assert re.search(what, done.stderr), (name, done.stderr)
    assert done.stderr.count("error:") == 1, (name, done.stderr)
    assert file.name in done.stderr or "case.toml" in done.stderr, (name, done.stderr)
    assert "allowed:" in done.stderr, (name, done.stderr)


@pytest.mark.parametrize("order", [False, True])
def test_damaged_data_files_are_one_error_each(run, tmp_path: Path, order: bool) -> None:
    """Also where the sections are in another order."""
    s = forms.state(17)
    file = tmp_path / "a.data"
    for n, (name, (damage, what)) in enumerate(OF_DATA.items()):
        whole = forms.data(s, random.Random(n), {"order": order}).split("\n")
        if order and name.startswith(("no atoms at all", "a file that ends")):
            continue  # the rest of the file goes with it
        file.write_text("\n".join(damage(whole)))
        refused(run, case(tmp_path, file), what, file, name)


def funcfl() -> str:
    of = metal()
    return "\n".join(
        ["A", "29 30.0 3.615 FCC", f"{KNOTS} {RHO_STEP} {KNOTS} {R_STEP} {CUTOFF}"]
        + [repr(float(v)) for key in ("F A", "z AA", "f A") for v in of[key]]
    )


def finnis_sinclair() -> str:
    """The density of each pair of elements: eam/fs has one table more for each element."""
    lines = setfl({"columns": KNOTS}).splitlines()
    at = [k for k, line in enumerate(lines) if line.endswith("FCC")]
    for k in reversed(at):
        lines.insert(k + 3, lines[k + 2])
    return "\n".join(lines) + "\n"


OF_SETFL: dict[str, tuple[Callable[[], str], str]] = {
    "funcfl": (funcfl, "funcfl"),
    "eam/fs": (finnis_sinclair, "eam/fs"),
    "eam/adp": (lambda: setfl() + "1 2 3 4 5\n", "goes on"),
    "a line is missing": (lambda: "\n".join(setfl().splitlines()[:-1]), "ends too early"),
    "a line is missing in the middle": (
        lambda: "\n".join(setfl().splitlines()[:50] + setfl().splitlines()[51:]),
        "more numbers than are left|number is expected",
    ),
    "a number that is none": (lambda: setfl().replace("29 30.0", "29 x"), "a number is expected"),
    "a mass below 0": (lambda: setfl().replace("29 30.0", "29 -1"), "mass must be positive"),
    "fewer names": (lambda: setfl().replace("2 A B", "2 A"), "2 names"),
    "an element that is not there": (lambda: setfl({"elements": ["A", "Q"]}), "no such element"),
    "steps of 0": (lambda: setfl().replace(f" {R_STEP!r} {CUTOFF!r}", f" 0.0 {CUTOFF!r}"), "positive"),
    "a cutoff beyond the table": (
        lambda: setfl().replace(f" {R_STEP!r} {CUTOFF!r}", f" {R_STEP!r} 9.0"),
        "beyond the table",
    ),
    "units of another case": (lambda: setfl({"comments": ["UNITS: metal", "", ""]}), "units metal"),
    "nothing": (lambda: "", "three lines"),
}
OF_TABLES: dict[str, tuple[Callable[[], str], str]] = {
    "a section that is not there": (lambda: table("R").replace("MORSE", "MORS"), "no section of this name"),
    "fewer lines": (lambda: table("R").replace("N 2000", "N 2001"), "no(t a)? line of a table|too early"),
    "more lines": (lambda: table("").replace("N 2000", "N 1999"), "goes on"),
    "no number of lines": (lambda: table("").replace("N 2000", "FPRIME 0 0"), "number of lines is missing"),
    "a parameter that is not known": (lambda: table("R").replace("N 2000", "N 2000 BITMAP 1"), "not known"),
    "other distances than R says": (lambda: table("").replace("N 2000", "N 2000 R 0.6 2.0"), "another one"),
    "distances that fall": (lambda: re.sub(r"\n9 0\.50\S+", "\n9 0.4", table("")), "rise"),
    "an energy that is none": (
        lambda: re.sub(r"(\n9 \S+) \S+", r"\1 nan", table("R")),
        "a number is expected",
    ),
    "a line of three words": (lambda: re.sub(r"(\n9 \S+) \S+", r"\1", table("R")), "not a line of a table"),
    "it ends early": (lambda: table("R")[:3000], "too early|not a line"),
    "units of another case": (lambda: table("R", before="# UNITS: real\n"), "units real"),
}


def test_damaged_potentials_are_one_error_each(run, tmp_path: Path) -> None:
    data = tmp_path / "a.data"
    data.write_text(forms.plain(forms.state(19)))
    file = tmp_path / "potential"
    for forms_of, made in ((OF_SETFL, eam_case), (OF_TABLES, table_case)):
        for name, (text, what) in forms_of.items():
            file.write_text(text())
            refused(run, made(tmp_path, data, file), what, file, name)
