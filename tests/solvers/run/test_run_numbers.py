"""What is no number (NaN, infinity) is never verified, whichever solver computed it."""

from __future__ import annotations

import json

import pytest
from flow_cases import at_end
from solver_cases import SOFT, solver_program

ODD = """from strata.graph import Graph
from strata.graph.program import Case, Figure, Solver, Verification, drive

case = Case("odd", "A value of it is no number.")
case.key("where", type=str, choices=["series", "early", "figure", "infinite", "nowhere"], meaning="it is")


def declare(graph: Graph, case: Case) -> Solver:
    grid = graph.grid("line", (4,), (4,), (True,), (1.0,))
    u = graph.field("u", grid, history=1)
    level = graph.scalar("level", "max")
    time = graph.clock(1.0)
    odd = float("nan") if case["where"] != "infinite" else float("inf")

    @graph.start(grid, makes={"u": u})
    def first(here):
        here["u"][:] = 1

    @graph.step(grid, needs={"old": u.previous()}, makes={"u": u}, contributes={"level": level})
    def stay(here):
        here["u"][:] = here["old"]
        spoilt = case["where"] == "series" or (case["where"] == "early" and here.step == 2)
        here["level"][0] = -odd if spoilt else 1.0

    def figures(run):
        return [Figure("rise", odd if case["where"] in ("figure", "infinite") else 2.0, "1")]

    return Solver(
        time=time, end=5.0, series=[level], figures=figures,
        verify=lambda run: Verification("what is always right", 0.0, 1.0, "nothing"),
    )


if __name__ == "__main__":
    drive(case, declare)
"""


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("series", "'level' of the series is no number (nan) in step 1"),
        ("early", "'level' of the series is no number (nan) in step 2"),
        ("figure", "the figure 'rise' is no number (nan)"),
        ("infinite", "the figure 'rise' is no number (inf)"),
        ("nowhere", ""),
    ],
)
def test_a_solver_whose_own_check_passes_is_not_verified_with_what_is_no_number(run, tmp_path, where, says):
    (tmp_path / "odd.py").write_text(ODD)
    case, out = tmp_path / "case.toml", tmp_path / "out"
    case.write_text(f'solver = "odd"\nwhere = "{where}"\n')
    done = run(tmp_path / "odd.py", case, "--out", out, "--series", 1, layout="2x1", check=False)
    result = json.loads((out / "result.json").read_text())
    assert result["verified"] is (where == "nowhere")
    assert done.returncode == (0 if where == "nowhere" else 1)
    assert says in done.stdout
    assert "-nan" not in done.stdout + (out / "series.csv").read_text()
    if where != "nowhere":
        last = done.stdout.splitlines()[-1]
        assert last.startswith("  NOT VERIFIED: ") and last.count("no number") == 1
        assert result["figures"] == [] and result["verification"]["value"] is None


def test_without_a_folder_the_last_values_say_it(run, tmp_path):
    (tmp_path / "odd.py").write_text(ODD)
    case = tmp_path / "case.toml"
    case.write_text('solver = "odd"\nwhere = "series"\n')
    done = run(tmp_path / "odd.py", case, check=False)
    assert done.returncode == 1 and "'level' is no number (nan) in step 5" in done.stdout


def test_a_restart_does_not_forget_it(run, tmp_path):
    (tmp_path / "odd.py").write_text(ODD)
    case, out = tmp_path / "case.toml", tmp_path / "out"
    case.write_text('solver = "odd"\nwhere = "early"\n')
    words = (tmp_path / "odd.py", case, "--out", out, "--series", 1)
    run(*words, "--steps", 3, "--checkpoint", 3, check=False)
    done = run(*words, "--restart", out, check=False)
    assert done.returncode == 1 and "is no number (nan) in step 2" in done.stdout


FREE_FLOW = """solver = "flow"
[grid]
kind = "brick"
cells = [8, 8]
[flow]
equations = "rans"
model = "{model}"
mach = 0.2
reynolds = 1e5
[time]
iterations = 20
implicit = "{implicit}"
[boundary.x-min]
kind = "far-field"
[boundary.x-max]
kind = "far-field"
[boundary.y-min]
kind = "slip-wall"
[boundary.y-max]
kind = "far-field"
[verify]
uniform = 1e-8
"""


@pytest.mark.parametrize("model", ["sa", "sa-neg", "sst"])
@pytest.mark.parametrize("implicit", ["lines", "lu-sgs"])
def test_turbulence_without_a_wall_is_that_of_the_far_field(front, run, tmp_path, model, implicit):
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")
    case, out = tmp_path / "free.toml", tmp_path / "out"
    case.write_text(FREE_FLOW.format(model=model, implicit=implicit))
    run(case, "--out", out, "--series", 1, "--checkpoint", 20)
    assert json.loads((out / "result.json").read_text())["verified"] is True
    text = (out / "series.csv").read_text()
    assert "nan" not in text and "inf" not in text
    if model != "sst":
        assert at_end(out)["nu_tilde"] == pytest.approx(3.0, abs=1e-6)


def test_a_body_at_rest_has_lost_no_energy(front, run, tmp_path):
    if solver_program(front, "strata-mpm") is None:
        pytest.skip("the material point method is not built")
    case = tmp_path / "rest.toml"
    case.write_text(
        'solver = "mpm"\n[grid]\ncells = [8, 8, 1]\npatch = [8, 8, 1]\nsize = [1.0, 1.0, 0.1]\n'
        f'{SOFT}[[bodies]]\nshape = "box"\nfrom = [0.3, 0.3, 0.0]\nto = [0.7, 0.7, 0.1]\n'
        "[particles]\nper_cell = [2, 2, 1]\n"
        "[time]\nend = 0.05\n"
    )
    out = tmp_path / "out"
    said = run(case, "--out", out).stdout
    assert "verified, since the case gives no limit (verify.error, verify.energy): energy lost or won" in said
    result = json.loads((out / "result.json").read_text())
    # The solver's own rule could have refused it: there are figures, and nothing is verified.
    assert result["verified"] is None and result["figures"]
    case.write_text(case.read_text() + "[verify]\nenergy = 0.01\n")
    assert "  verified: energy lost or won" in run(case).stdout
