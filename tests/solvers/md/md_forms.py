"""States and potentials of molecular dynamics in the forms that LAMMPS's files may have."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import combinations_with_replacement

import numpy as np

MASSES = (30.0, 50.0)


@dataclass
class State:
    """Atoms of two kinds in a box that is `low` to `low + edges`; `velocities` for all, or none."""

    low: np.ndarray
    edges: np.ndarray
    positions: np.ndarray
    kinds: np.ndarray  # from 0
    velocities: np.ndarray
    ids: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))


def state(seed: int, spacing: float = 1.1, cells: int = 5) -> State:
    """A lattice with noise: no two atoms are near each other. Numbers of atoms are not in order."""
    rng = np.random.default_rng(seed)
    sites = np.stack(np.meshgrid(*[np.arange(cells)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) + 0.5
    count = len(sites)
    places = spacing * (sites + rng.uniform(-0.1, 0.1, (count, 3)))
    low = rng.uniform(-3, 3, 3).round(3)
    return State(
        low,
        np.full(3, spacing * cells),
        low + places,
        rng.integers(0, 2, count),
        rng.normal(0, 1, (count, 3)),
        rng.permutation(np.arange(1, count + 1)),
    )


def plain(s: State) -> str:
    """As LAMMPS writes a data file: atomic, sections in its order, one blank between words."""
    return data(s, random.Random(0), variant={})


VARIANTS = {
    "order": (False, True),
    "style": ("atomic", "charge", "molecular"),
    "images": (False, True),
    "said": (True, False),
    "comments": (False, True),
    "blanks": (False, True),
    "tilt": ("", "0 0 0 xy xz yz", "0.0 -0.0 0.000000e+00 xy xz yz", "1e-17 0.0 -3.5e-16 xy xz yz"),
    "box": ("lohi", "vectors"),
    "masses": ("file", "case"),
    "coefficients": (False, True),
    "shuffled": (False, True),
    "ending": ("\n", "\r\n"),
    "last": (True, False),
    "zeros": (False, True),
}


def drawn(rng: random.Random) -> dict[str, object]:
    """One of each way to say the same, that go together."""
    found: dict[str, object] = {name: rng.choice(ways) for name, ways in VARIANTS.items()}
    if found["style"] != "atomic":
        found["said"] = True  # atomic alone is known by its words
    if found["box"] == "vectors":
        found["tilt"] = ""
    return found


def data(s: State, rng: random.Random, variant: dict[str, object]) -> str:
    """A LAMMPS data file. `variant`: of VARIANTS; what is not there is as LAMMPS writes it."""
    of = {"order": False, "style": "atomic", "images": False, "said": True, "comments": False} | variant
    comments, blanks = of["comments"], of.get("blanks", False)

    def line(*words: object) -> str:
        gap = rng.choice((" ", "\t", "   ")) if blanks else " "
        text = gap.join(repr(float(w)) if isinstance(w, float) else str(w) for w in words)
        return (" " * rng.randrange(3) if blanks else "") + text + (" # a note" if comments else "")

    head = ["Masses", line(len(s.ids), "atoms"), line(2, "atom types")]  # the first line says nothing
    high = s.low + s.edges
    if of.get("box") == "vectors":
        head += [
            line(*(float(s.edges[d]) if a == d else 0.0 for a in range(3)), f"{'abc'[d]}vec")
            for d in range(3)
        ]
        head += [line(*map(float, s.low), "abc", "origin")]
    else:
        head += [line(float(s.low[d]), float(high[d]), f"{a}lo", f"{a}hi") for d, a in enumerate("xyz")]
    head += [line(*of["tilt"].split())] if of.get("tilt") else []  # type: ignore[attr-defined]
    head += [line(0, "bonds"), line(0, "angle", "types")] if of.get("zeros") else []
    if of["order"]:
        first, *rest = head
        rng.shuffle(rest)
        head = [first, *rest]

    columns = {"atomic": (), "charge": (0.0,), "molecular": (7,)}[of["style"]]  # type: ignore[index]
    rows, speeds = [], []
    for i, at in enumerate(s.positions.tolist()):
        own = columns if of["style"] == "charge" else ()
        molecule = columns if of["style"] == "molecular" else ()
        flags = [rng.randrange(-2, 3) for _ in range(3)] if of["images"] else []
        rows.append(line(int(s.ids[i]), *molecule, int(s.kinds[i]) + 1, *own, *at, *flags))
        speeds.append(line(int(s.ids[i]), *s.velocities[i].tolist()))
    if of.get("shuffled"):
        rng.shuffle(rows)
        rng.shuffle(speeds)
    title = f"Atoms # {of['style']}" if of["said"] else "Atoms"
    sections = [(title, rows), ("Velocities", speeds)]
    if of.get("masses", "file") == "file":
        sections.insert(0, ("Masses", [line(k + 1, m) for k, m in enumerate(MASSES)]))
    if of.get("coefficients"):
        sections.insert(1, ("Pair Coeffs # lj/cut", [line(1, 1.0, 1.0, 2.0), line(2, 0.5, 1.2, 2.0)]))
    if of["order"]:
        rng.shuffle(sections)
    text = "\n".join(head) + "\n"
    for name, lines in sections:
        between = ["# between"] if comments else []
        text += "\n".join(["", *between, name, "", *lines, ""])
    if of.get("last") is False:
        text = text.rstrip("\n")
    return text.replace("\n", str(of.get("ending", "\n")))


def xyz(s: State, rng: random.Random) -> str:
    """The same as extended XYZ, with columns in any order and a lattice that rounding has left."""
    columns = {
        "species:S:1": lambda i: "AB"[s.kinds[i]],
        "pos:R:3": lambda i: " ".join(map(repr, s.positions[i].tolist())),
        "velo:R:3": lambda i: " ".join(map(repr, s.velocities[i].tolist())),
        "id:I:1": lambda i: str(s.ids[i]),
        "charge:R:1": lambda _: "0.0",
    }
    names = list(columns)
    rng.shuffle(names)
    dust = rng.choice((0.0, 1e-17, -4e-16))
    lattice = [float(s.edges[k // 4]) if k % 4 == 0 else dust for k in range(9)]
    words = [
        f'Lattice="{" ".join(map(repr, lattice))}"',
        f"Properties={':'.join(names)}",
        f'Origin="{" ".join(map(repr, s.low.tolist()))}"',
        rng.choice(('pbc="T T T"', 'PBC="1 1 1"', "note=none")),
    ]
    rng.shuffle(words)
    order = list(range(len(s.ids)))
    rng.shuffle(order)
    rows = [rng.choice((" ", "  ")).join(columns[name](i) for name in names) for i in order]
    return "\n".join([str(len(order)), " ".join(words), *rows]) + "\n"


def pairs(s: State, cutoff: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices and distances of all pairs within the cutoff, of nearest images."""
    i, j = np.triu_indices(len(s.positions), 1)
    apart = s.positions[i] - s.positions[j]
    apart -= s.edges * np.round(apart / s.edges)
    r = np.sqrt((apart**2).sum(axis=1))
    near = r < cutoff
    return i[near], j[near], r[near]


def setfl(functions: dict[str, np.ndarray], step: dict[str, float], cutoff: float, style: dict) -> str:
    """A setfl file of the elements A and B. `functions`: F and f of each, and z (r phi) of each pair.
    `style`: numbers a line, comments, elements that nobody asks for.
    """
    names = style.get("elements", ["A", "B"])

    def rows(values: np.ndarray) -> list[str]:
        n = style.get("columns", 5)
        return [" ".join(map(repr, values[k : k + n].tolist())) for k in range(0, len(values), n)]

    n_rho, n_r = len(functions["F A"]), len(functions["f A"])
    lines = [*style.get("comments", ["one", "two", "three"])]
    lines += [f"{len(names)} {' '.join(names)}", f"{n_rho} {step['rho']!r} {n_r} {step['r']!r} {cutoff!r}"]
    for name in names:
        own = "A" if name not in "AB" else name
        lines.append(f"{29} {MASSES['AB'.index(own)]!r} 3.615 FCC")
        lines += [*rows(functions[f"F {own}"]), *rows(functions[f"f {own}"])]
    for j, i in sorted(combinations_with_replacement(range(len(names)), 2), key=lambda p: (p[1], p[0])):
        pair = "".join(sorted(n if n in "AB" else "A" for n in (names[i], names[j])))
        lines += rows(functions[f"z {pair}"])
    return "\n".join(lines) + "\n"


def knots(values: np.ndarray, step: float, x: np.ndarray) -> np.ndarray:
    """A table at x as DYNAMO takes it: cubic pieces whose slopes at knots are those of five of them."""
    m = np.empty_like(values)
    m[2:-2] = (values[:-4] - values[4:] + 8 * (values[3:-1] - values[1:-3])) / 12
    m[0], m[-1] = values[1] - values[0], values[-1] - values[-2]
    m[1], m[-2] = (values[2] - values[0]) / 2, (values[-1] - values[-3]) / 2
    k = np.clip((x / step).astype(int), 0, len(values) - 2)
    t = x / step - k
    change = values[k + 1] - values[k]
    c2, c3 = 3 * change - 2 * m[k] - m[k + 1], m[k] + m[k + 1] - 2 * change
    return ((c3 * t + c2) * t + m[k]) * t + values[k]
