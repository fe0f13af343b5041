"""Two solvers in one graph that exchange heat: it balances, and the bits are those of every layout."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from solver_cases import FLOW_CASES, MD_CASES, changed, checksums, solver_program
from tested_build import built

GAS = """{solver}equation = "heat"
[{gas}grid]
cells = [12, 12, 12]
patch = [6, 4, 12]
size = [1.0, 1.0, 1.0]
periodic = false
[{gas}heat]
diffusivity = 0.2
[{gas}time]
{longest}
"""
METAL = """{solver}[{metal}grid]
cells = [12, 12, 12]
patch = [6, 4, 12]
size = [1.0, 1.0, 1.0]
[[{metal}materials]]
law = "neo-hookean"
density = 1000.0
young = 1e6
poisson = 0.3
[[{metal}bodies]]
shape = "box"
from = [0.2, 0.2, 0.2]
to = [0.5, 0.7, 0.6]
velocity = [3.0, 1.0, 0.5]
[{metal}time]
{longest}
"""
END = 0.05
BOUND = "longest = 5e-4"


def company(tmp_path: Path, rate: float, longest: str = BOUND, more: str = "") -> Path:
    """Both solvers, under their names; `more`: lines of [metal]."""
    case = tmp_path / "company.toml"
    case.write_text(
        f'solver = "coupled"\n[time]\nend = {END}\n[metal]\n{more}\n[exchange]\nrate = {rate}\n[gas]\n'
        + GAS.format(solver="", gas="gas.", longest=longest)
        + METAL.format(solver="", metal="metal.", longest=longest)
    )
    return case


def alone(tmp_path: Path, name: str, text: str) -> Path:
    case = tmp_path / f"{name}.toml"
    case.write_text(text.replace("[time]\n", f"[time]\nend = {END}\n"))
    return case


@pytest.fixture
def go(front: str):
    """Runs a company, and gives its last checkpoint's sums and its result."""

    def run(case: Path, out: Path, layout: str, *words: object, name: str = "coupled") -> tuple[dict, dict]:
        program = built("tests", "solvers", name)
        command = [front, "launch", "--layout", layout, "--bind", "none", "--", program, case, "--out", out]
        command += ["--quiet", "--checkpoint", 1_000_000, *words]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr + done.stdout
        return checksums(max(out.glob("checkpoint-*"))), json.loads((out / "result.json").read_text())

    return run


@pytest.mark.parametrize("more", ["", "substeps = 8", "rest = 3"], ids=["common", "substeps", "rest"])
def test_heat_balances_with_the_same_bits_on_every_layout_and_after_a_restart(go, tmp_path, more):
    # With steps of its own the solid takes as many as it needs in one of the gas, or one for three of them.
    longest = "cfl = 0.4" if more.startswith("sub") else BOUND
    case = company(tmp_path, 40.0, longest, more)
    known, result = go(case, tmp_path / "1x1", "1x1")
    assert result["steps"] > 20
    [balance] = [each for each in result["criteria"] if each["what"].startswith("exchange: heat")]
    assert balance["value"] <= balance["limit"] == 1e-12
    heats = (tmp_path / "1x1" / "series.csv").read_text().splitlines()
    assert "exchange.heat" in heats[0]
    for layout in ("1x2", "2x1", "4x1"):
        assert go(case, tmp_path / layout, layout)[0] == known, layout
    out = tmp_path / "again"
    go(case, out, "2x1", "--steps", result["steps"] // 2)
    assert go(case, out, "1x2", "--restart", out)[0] == known


def test_the_exchange_warms_the_gas_and_cools_the_points(go, tmp_path):
    warm, _ = go(company(tmp_path, 40.0), tmp_path / "warm", "1x1")
    apart, _ = go(company(tmp_path, 0), tmp_path / "apart", "1x1")
    patches = {patch for label, patch, _ in apart if label == "gas.temperature"}
    assert len(patches) == 6
    differ = {key for key in apart if warm[key] != apart[key]}
    assert {label for label, *_ in differ} == {"gas.temperature"}  # heat does not move the solid


def test_apart_each_has_the_bits_of_its_own_run(go, run, front, tmp_path):
    if solver_program(front, "strata-mpm") is None:
        pytest.skip("the solvers are not built")
    both, result = go(company(tmp_path, 0), tmp_path / "both", "2x1")
    assert result["steps"] == 100  # time.longest bounds them
    texts = {
        "gas": GAS.format(solver='solver = "transport"\n', gas="", longest=BOUND),
        "metal": METAL.format(solver='solver = "mpm"\n', metal="", longest=BOUND),
    }
    for name, text in texts.items():
        out = tmp_path / name
        run(alone(tmp_path, name, text), "--out", out, "--checkpoint", 1_000_000, layout="1x2")
        own = checksums(max(out.glob("checkpoint-*")))
        names = ("temperature", "position", "velocity", "deformation gradient")
        shown = [key for key in own if key[0] in names]
        assert len(shown) >= 6
        for label, patch, generation in shown:
            assert own[label, patch, generation] == both[f"{name}.{label}", patch, generation]


def under(name: str, case: Path) -> str:
    """A case's text as that of a module of this name."""
    text = re.sub(r"(?m)^solver = .*$", "", case.read_text())
    return re.sub(r"(?m)^(\[+)", rf"\1{name}.", text)


@pytest.mark.parametrize(
    ("kind", "solver", "sides"),
    [
        ("fluids", "md", [{"temperature": "1.44"}, {"temperature": "0.9"}]),
        ("flows", "flow", [{"mach": "0.05"}, {"mach": "0.1"}]),
    ],
)
def test_two_of_a_kind_have_the_bits_of_their_own_runs(go, run, front, tmp_path, kind, solver, sides):
    """Molecular dynamics; grids that overlap and move: names of all that a solver declares are its own."""
    if solver_program(front, f"strata-{solver}") is None:
        pytest.skip("the solver is not built")
    alone, text = {}, 'solver = "together"\n'
    for name, keys in zip(("left", "right"), sides, strict=True):
        (tmp_path / name).mkdir()
        if solver == "md":
            case = changed(tmp_path / name, "melt", cases=MD_CASES, cells="[6, 6, 6]", steps="40", **keys)
            case.write_text(case.read_text() + '[trajectory]\nforms = ["xyz"]\nsteps = 20\n')
        else:
            case = changed(tmp_path / name, "turning-cylinder", cases=FLOW_CASES, end="0.75", **keys)
            case.write_text(case.read_text().partition("[output]")[0])
        out = tmp_path / name / "out"
        run(case, "--out", out, "--checkpoint", 1_000_000, layout="1x2")
        alone[name] = checksums(max(out.glob("checkpoint-*")))
        labels = json.loads((max(out.glob("checkpoint-*")) / "checkpoint.json").read_text())["labels"]
        text += under(name, case)
    case = tmp_path / f"{kind}.toml"
    case.write_text(text)
    both, _ = go(case, tmp_path / "both", "2x1", "--fields", 1000, name="together")
    for name in alone if solver == "md" else ():
        own = (tmp_path / name / "out" / "trajectory.xyz").read_text()
        assert (tmp_path / "both" / name / "trajectory.xyz").read_text() == own
    # Objects say by name which task has made them.
    kept = {label["name"] for label in labels if label["element"] != "bytes"}
    for name, sums in alone.items():
        shown = [key for key in sums if key[0] in kept]
        assert len(shown) > 20
        for label, patch, generation in shown:
            assert both[f"{name}.{label}", patch, generation] == sums[label, patch, generation], label
