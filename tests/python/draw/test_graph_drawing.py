"""Drawings and lists of a resolved graph; the sample is what the native side describes."""

from __future__ import annotations

import itertools
import json
import re
import stat
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from strata.cli import main
from strata.draw.graph import graph_svg
from strata.draw.layers import Link, Node, arrange
from strata.draw.show import listing

SAMPLE = Path(__file__).parents[2] / "fixtures" / "graph" / "sample.json"


@pytest.fixture
def graph() -> dict:
    return json.loads(SAMPLE.read_text())


def overlap(a: Node, b: Node) -> bool:
    return (
        abs(a.x - b.x) < (a.width + b.width) / 2 - 0.01
        and a.y < b.y + b.height - 0.01
        and b.y < a.y + a.height - 0.01
    )


def test_nodes_lie_below_those_that_they_follow_and_never_on_each_other() -> None:
    nodes = [Node(i, 40 + 7 * (i % 5), 20 + i % 3) for i in range(24)]
    links = [Link(i, j, 30, 12) for i in range(24) for j in range(i + 1, 24) if (i * 7 + j * 5) % 11 == 0]
    width, height = arrange(nodes, links, 10, 5)
    places = [*nodes, *(place for link in links for place in link.through)]
    assert not [(a, b) for a, b in itertools.combinations(places, 2) if overlap(a, b)]
    at = {node.key: node for node in nodes}
    for link in links:
        assert at[link.start].y + at[link.start].height <= link.through[0].y
        assert link.through[-1].y + link.through[-1].height <= at[link.end].y
    for place in places:
        assert place.x - place.width / 2 >= -0.01 and place.x + place.width / 2 <= width + 0.01
        assert place.y >= 0 and place.y + place.height <= height + 0.01


def test_a_chain_is_drawn_straight_down() -> None:
    nodes = [Node(i, 50, 20) for i in range(6)]
    arrange(nodes, [Link(i, i + 1, 20, 10) for i in range(5)], 10, 5)
    assert len({round(node.x, 3) for node in nodes}) == 1


def test_a_drawing_shows_every_task_and_what_goes_between_them(graph: dict) -> None:
    svg = graph_svg(graph)
    root = ElementTree.fromstring(svg)
    shown = " ".join(element.text or "" for element in root.iter() if element.tag.endswith("text"))
    for task in graph["tasks"]:
        assert task["name"] in shown
    for scope in graph["scopes"]:
        assert scope["name"] in shown
    assert "momentum v1, ghosts 1" in shown
    assert "repeated until residual norm says so" in shown
    assert "wall moved decides" in shown
    drawn = len(re.findall(r'<rect class="(?:task|made) way"', svg))
    assert drawn == len(set(graph["critical_path"])) > 2
    assert not re.search(r"[^\w]nan|inf[^\w]", svg)


def test_a_task_whose_patches_have_an_order_has_an_arrow_to_itself(graph: dict) -> None:
    shown = graph_svg(graph)
    task = graph["edges"][0]["to"]
    graph["edges"].append(
        {"from": task, "to": task, "label": "sweep", "version": 1, "through": "upwind x+", "lag": 0}
    )
    looped = graph_svg(graph)
    assert looped.count('class="edge"') == shown.count('class="edge"') + 1
    assert "↻ sweep v1, upwind x+" in looped
    graph["edges"][-1]["lag"] = 1
    later = graph_svg(graph)
    assert later.count('class="edge"') == shown.count('class="edge"')
    assert "← sweep v1, upwind x+, 1 round before" in later


def test_lists_name_the_critical_path_and_the_peak_of_memory(graph: dict) -> None:
    text = listing(graph)
    way = [graph["tasks"][t]["name"] for t in graph["critical_path"]]
    lines = text.splitlines()
    begin = lines.index("critical path of a step, the longest chain of tasks that wait for each other:") + 1
    assert [line.split("  (in")[0].strip() for line in lines[begin : begin + len(way)]] == way
    assert re.search(r"^  pressure +64 KiB +2 MiB  2 generations, kept", text, re.MULTILINE)
    assert graph["memory"]["bytes"] == sum(s["bytes"] for s in graph["storages"] if not s["per_particle"])
    assert re.search(r"^  peak ", text, re.MULTILINE)


def test_the_command_draws_once_and_writes_over_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    svg = tmp_path / "graph.svg"
    assert main(["graph", "show", str(SAMPLE), "--svg", str(svg)]) == 0
    assert svg.read_text().startswith("<svg")
    assert "critical path" in capsys.readouterr().out
    assert main(["graph", "show", "--svg", str(svg), str(SAMPLE)]) == 2
    assert "there already" in capsys.readouterr().err
    assert main(["graph", "show", str(SAMPLE), "--svg", str(svg), "--force"]) == 0


def solver(folder: Path, name: str, body: str) -> Path:
    program = folder / name
    program.write_text(f"#!{sys.executable}\nimport sys\n{body}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_a_program_is_asked_for_its_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = solver(
        tmp_path,
        "mine",
        f"assert sys.argv[1:] == ['a.toml', '--graph'], sys.argv\nprint(open({str(SAMPLE)!r}).read())",
    )
    assert main(["graph", "show", "--json", "--", str(program), "a.toml"]) == 0
    assert json.loads(capsys.readouterr().out)["graph"] == "sample"
    assert main(["graph", "show", "--", str(program), "b.toml"]) == 1
    assert "exit code 1" in capsys.readouterr().err


def test_a_program_that_prints_no_text_describes_no_graph(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = solver(tmp_path, "mine", "sys.stdout.buffer.write(bytes([0xff, 0xfe]))")
    assert main(["graph", "show", "--", str(program)]) == 2
    assert "this is not JSON" in capsys.readouterr().err


def test_an_error_of_the_program_is_passed_on_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "strata: error: no such key\n  at: a.toml:3 grid.foo\n  given: 3\n  allowed: a: 1, b\n  try: b?"
    program = solver(tmp_path, "mine", f"print({text!r}, file=sys.stderr)\nsys.exit(2)")
    assert main(["graph", "show", "--", str(program), "a.toml"]) == 2
    assert capsys.readouterr().err.strip() == text


@pytest.mark.parametrize("folder", ["bin", "libexec/strata", "solvers"])
def test_a_case_names_its_solver(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a build folder, and installed."""
    (tmp_path / folder).mkdir(parents=True)
    solver(tmp_path / folder, "strata-mine", f"print(open({str(SAMPLE)!r}).read())")
    monkeypatch.setenv("STRATA_BIN", str(tmp_path / "bin" / "strata"))
    case = tmp_path / "case.toml"
    case.write_text('solver = "mine"\n')
    assert main(["graph", "show", str(case)]) == 0
    assert "peak" in capsys.readouterr().out
    for text, said in (('solver = "other"', "strata-other"), ("x = 1", "does not name its solver")):
        case.write_text(text + "\n")
        assert main(["graph", "show", str(case)]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("front", ["", "strata"])
def test_a_case_names_no_program_of_the_folder_in_which_one_happens_to_be(
    front: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`strata run` is asked, which looks whose code a path names."""
    (tmp_path / "strata-x").mkdir()
    solver(tmp_path / "strata-x", "evil", "open('mark', 'w')")
    if front:
        solver(tmp_path, front, "print('asked:', *sys.argv[1:3], file=sys.stderr)\nsys.exit(7)")
    monkeypatch.setenv("STRATA_BIN", str(tmp_path / "strata"))
    monkeypatch.chdir(tmp_path)
    Path("case.toml").write_text('solver = "x/evil"\n')
    if front:
        with pytest.raises(SystemExit):
            main(["graph", "show", "case.toml"])
        assert "asked: run case.toml" in capfd.readouterr().err
    else:
        assert main(["graph", "show", "case.toml"]) == 2
    assert not Path("mark").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [("[1", "the file ends within its JSON"), ('{"schema": "strata.x/1"}', "strata.graph/1")],
)
def test_what_is_no_description_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    file = tmp_path / "g.json"
    file.write_text(text)
    assert main(["graph", "show", str(file)]) == 2
    assert said in capsys.readouterr().err
