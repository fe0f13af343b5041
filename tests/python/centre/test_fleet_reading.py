"""Claims about files of runs: what is read, how damaged ones are told, and what nodes tell of themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from strata.centre.fleet import facts, reading
from strata.centre.fleet.generate import files, generate
from strata.errors import StrataError

GOOD: dict[str, Any] = {
    "schema": "strata.node/1",
    "node": "n1",
    "time": "2026-11-03T14:05:00Z",
    "hardware": {"cpu_model": "X", "cores": 2},
    "figures": {
        "dgemm": {"unit": "GF/s", "better": "higher", "values": [100.0]},
        "core": {"unit": "1/s", "better": "higher", "values": [1.0, 2.0], "part": "core", "parts": [3, 1]},
    },
    "counters": {"link symbol_error": 4},
}


GOOD_TEXT = json.dumps(GOOD)
# What Slurm takes for many nodes, or for none, and what a shell or a terminal would obey.
NO_NODES = (
    "ALL",
    "all",
    "n[01-16]",
    "n1,n2",
    "n1 n2",
    "-n1",
    "n1\ntouch x",
    "n1\x1b]0;x\x07",
    "n\u0661",
    "n" * 300,
)


def changed(*keys: str | int, value: Any) -> str:
    whole = json.loads(json.dumps(GOOD))
    inner = whole
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ('{"schema": "strata.node/1", ', "n1.json:1", "the file ends within its JSON"),
        ("[1]", "n1.json: schema", "not a run of a node"),
        (changed("schema", value="strata.node/2"), "n1.json: schema", "not a run of a node"),
        (changed("node", value=""), "n1.json: node", "damaged"),
        *((changed("node", value=v), "n1.json: node", "damaged") for v in NO_NODES),
        (changed("time", value="yesterday"), "n1.json: time", "damaged"),
        (changed("time", value=None), "n1.json: time", "damaged"),
        (changed("figures", value=[]), "n1.json: figures", "damaged"),
        (changed("figures", "dgemm", "values", 0, value=-1.0), "figures.dgemm.values[0]", "damaged"),
        (changed("figures", "dgemm", "values", 0, value="fast"), "figures.dgemm.values[0]", "damaged"),
        (changed("figures", "core", "values", 1, value=True), "figures.core.values[1]", "damaged"),
        (changed("figures", "dgemm", "values", value=[]), "figures.dgemm.values", "damaged"),
        (changed("figures", "dgemm", "better", value="more"), "figures.dgemm.better", "damaged"),
        (changed("figures", "core", "parts", value=[0]), "figures.core.parts", "damaged"),
        (changed("figures", "core", "parts", value=[0, -1]), "figures.core.parts", "damaged"),
        (changed("counters", "link symbol_error", value=-1), "counters.link symbol_error", "damaged"),
    ],
)
def test_damage_is_told_with_file_and_key_or_left_out(
    tmp_path: Path, text: str, at: str, message: str
) -> None:
    (tmp_path / "n1.json").write_text(text)
    with pytest.raises(StrataError, match=message) as refused:
        reading.read([tmp_path])
    assert str(refused.value.at).endswith(at) and "--skip-damaged" in str(refused.value.remedy)
    (tmp_path / "n2.json").write_text(changed("node", value="n2"))
    damaged: list[str] = []
    assert reading.read([tmp_path], damaged).nodes == ["n2"]
    assert len(damaged) == 1 and message in damaged[0] and at in damaged[0]


def test_texts_of_a_run_have_nothing_that_a_terminal_obeys(tmp_path: Path) -> None:
    run = json.loads(GOOD_TEXT.replace("dgemm", "dg\\u001b[2Jemm").replace('"X"', '"X\\nrm -r /"'))
    run["failed"] = {"hpl\r": "it\x07 ended"}
    run["absent"] = {"links": "no\u202e"}
    run["campaign"] = "\x9b2J"
    for ascii_only in (True, False):
        (tmp_path / "n1.json").write_text(json.dumps(run, ensure_ascii=ascii_only), encoding="utf-8")
        fleet = reading.read([tmp_path])
        assert list(fleet.figures) == ["dg\\x1b[2Jemm", "core"] and fleet.facts["cpu_model"] == [
            "X\\nrm -r /"
        ]
        assert fleet.failed == [(0, "hpl\\r", "it\\x07 ended")] and fleet.absent == {"links": "no\\u202e"}
        assert fleet.campaign == ["\\x9b2J"]


def test_a_line_of_several_runs_is_told_by_its_number_and_may_have_other_ends_of_lines(
    tmp_path: Path,
) -> None:
    run = json.loads(GOOD_TEXT)
    run["absent"] = {"links": "a\u2028b\x85c"}
    path = tmp_path / "all.jsonl"
    path.write_text(json.dumps(run, ensure_ascii=False) + "\n", encoding="utf-8")
    assert reading.read([path]).absent == {"links": "a\\u2028b\\x85c"}
    path.write_text(GOOD_TEXT + "\n{\n")
    with pytest.raises(StrataError, match="the file ends within its JSON") as refused:
        reading.read([path])
    assert refused.value.at == f"{path}: line 2"


def test_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StrataError, match="no run of a node"):
        reading.read([tmp_path])
    with pytest.raises(StrataError, match="no such file"):
        reading.read([tmp_path / "nothing"])


def test_a_run_is_read_once_and_parts_by_their_numbers(tmp_path: Path) -> None:
    lines = [changed("node", value=name) for name in ("n10", "n2", "n2")]
    (tmp_path / "all.jsonl").write_text("\n".join(lines) + "\n\n")
    (tmp_path / "again.json").write_text(lines[0])
    (tmp_path / ".half.json").write_text("{")  # as a file that is being written
    fleet = reading.read([tmp_path])
    assert fleet.nodes == ["n2", "n10"] and fleet.runs == 2
    assert fleet.figures["core"].values[0, [1, 3]].tolist() == [2.0, 1.0]
    assert fleet.facts["cores"] == ["2", "2"] and fleet.counters["link symbol_error"].tolist() == [4, 4]
    assert fleet.time[0] == 1793714700.0


def test_a_fleet_in_files_is_the_fleet(tmp_path: Path) -> None:
    fleet = generate(12, 3, (), seed=4)
    for node, name, text in files(fleet):
        (tmp_path / node).mkdir(exist_ok=True)
        (tmp_path / node / name).write_text(text)
    found = reading.read([tmp_path])
    assert found.nodes == fleet.nodes and (found.node == fleet.node).all()
    assert abs(found.time - fleet.time).max() < 1
    for name, figure in fleet.figures.items():
        assert (abs(found.figures[name].values / figure.values - 1) < 1e-5).all()
        assert found.figures[name].higher == figure.higher and found.figures[name].part == figure.part
    assert found.facts["memory_gib"] == fleet.facts["memory_gib"] and "never were" in found.generated


def put(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text + "\n")


def test_what_a_node_tells_of_itself(tmp_path: Path) -> None:
    for port, errors in (("1", "7"), ("2", "0")):
        folder = f"sys/class/infiniband/mlx5_0/ports/{port}"
        put(tmp_path, f"{folder}/rate", "100 Gb/sec (4X EDR)")
        put(tmp_path, f"{folder}/counters/symbol_error", errors)
        put(tmp_path, f"{folder}/counters/link_downed", "N/A (no PMA)")
    put(tmp_path, "sys/devices/system/edac/mc/mc0/ce_count", "3")
    put(tmp_path, "sys/devices/system/edac/mc/mc1/ce_count", "4")
    put(tmp_path, "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "5")
    put(tmp_path, "sys/class/dmi/id/bios_version", "1.4.2")
    put(tmp_path, "sys/class/dmi/id/product_name", "R640")
    put(tmp_path, "proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0x2b000590\n")
    put(tmp_path, "proc/stat", "cpu 1 2 3\nbtime 1700000000")
    assert facts.counters(tmp_path) == {
        "link symbol_error": 7,
        "link mlx5_0/1 symbol_error": 7,
        "memory corrected": 7,
        "core throttled": 5,
    }
    machine = {
        "cpu_model": "X",
        "cores": [1, 2],
        "memories": [{"total_bytes": 2**34}, {"total_bytes": 2**34}],
    }
    assert facts.hardware(machine, tmp_path) == {
        "product": "R640",
        "cpu_model": "X",
        "cores": 2,
        "memory_gib": 32.0,
        "links": "mlx5_0/1 100 Gb/sec (4X EDR); mlx5_0/2 100 Gb/sec (4X EDR)",
    }
    software = facts.software(tmp_path)
    assert software["microcode"] == "0x2b000590" and software["bios"] == "1.4.2" and software["kernel"]
    assert facts.booted(tmp_path) == 1700000000.0
    assert facts.counters(tmp_path / "nothing") == {} and facts.booted(tmp_path / "nothing") is None
