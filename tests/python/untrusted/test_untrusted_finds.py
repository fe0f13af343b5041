# ruff: noqa: E501 (rows of files are as long as they are)
"""What files of strangers once did to readers: each by its smallest file. All of it is refused, with its place."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import signal
import struct
import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from strata import casefile, front
from strata.advice import samples
from strata.centre.fleet import reading, submit
from strata.centre.integrity import history
from strata.characterize import facts
from strata.compare import command
from strata.draw import show
from strata.errors import StrataError
from strata.flow import overset_cells, surface
from strata.interop import osu
from strata.md import checkpoints, frames
from strata.measure import files
from strata.report.figures import balance
from strata.run import case, series
from strata.site import site_file, slurm
from strata.study import case as study_case

DEEP = "[" * 100_000
DIGITS = "9" * 5000
OUTAGES = "system,parts,start,end,category\n"
LANL = "System,nodes,procstot,nodenumz,Prob Started,Prob Fixed,Facilities,Hardware,Human Error,Network,Undetermined,Software"
SACCT = "JobID|Start|End|State|AllocCPUS|Elapsed\n"
PBS = "01/02/2026 00:00:00;E;1.s;user=a start=1767225600 end=1767229200 "
WALLS = 'variables="x","cp"\n0 1\n'
XYZ = "1\n{words}\nH 0 0 0\n"
Read = Callable[[Path], Any]


def refused(tmp_path: Path, read: Read, name: str, data: bytes | str) -> StrataError:
    """The error for a file, of bounded memory; no other one, and no warning of numpy's."""
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    tracemalloc.start()
    try:
        with warnings.catch_warnings(), pytest.raises(StrataError) as error:
            warnings.simplefilter("error", RuntimeWarning)
            read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < (64 << 20) + 8 * path.stat().st_size
    assert error.value.at
    return error.value


def all_frames(path: Path) -> None:
    frames.last(path)


def counted(path: Path) -> None:
    frames.count(path)
    frames.last(path)


def cells(path: Path) -> None:
    list(overset_cells.patches(path.parent, {"dimensions": 2, "files": 1, "zones": [{}]}))


def document(path: Path) -> None:
    files.read_json(path, "strata.summary/1", "")


def a_case(path: Path) -> None:
    casefile.CaseFile(path, "", "")


def machine(path: Path) -> None:
    facts.load(str(path), "strata.machine/1")


def node(path: Path) -> None:
    reading.read([path])


@pytest.mark.parametrize(
    ("read", "name", "data"),
    [
        (series.read, "series.csv", b"step,time\n0,\xff\n"),
        (series.read, "series.csv", "step,time\n1e20,0\n"),
        (series.read, "series.csv", "step,time\nnan,0\n"),
        (surface.read, "surface-1.csv", b"\xff"),
        (surface.recorded, "a.dat", WALLS + 'variables="x","cp","z"\n0 1 2\n'),
        (surface.recorded, "a.dat", WALLS + "0 inf\n"),
        (case.load, "case.toml", b"\xff"),
        (case.load, "case.toml", "a = " + DEEP),
        (case.load, "case.toml", f"a = {DIGITS}"),
        (case.load, "case.toml", "a." * 3000 + "b = 1"),
        (a_case, "case.toml", "a = " + DEEP),
        (a_case, "case.toml", f"a = {DIGITS}"),
        (document, "summary.json", DEEP),
        (document, "summary.json", DIGITS),
        (machine, "machine.json", DEEP),
        (node, "n1.json", DEEP),
        (cells, "cells-0.bin", b"short"),
        (cells, "cells-0.bin", struct.pack("<7i", 0, 0, 0, 0, -9, 1, 1)),
        (cells, "cells-0.bin", struct.pack("<7i", 0, -(1 << 31), 0, 0, (1 << 31) - 1, 1, 1)),
        (counted, "a.xyz", b"\xff"),
        (counted, "a.xyz", XYZ.format(words="").replace("1", "²")),
        (counted, "a.xyz", XYZ.format(words="").replace("1", DIGITS)),
        (counted, "a.xyz", XYZ.format(words="").replace("1", "9999999999")),
        (all_frames, "a.xyz", XYZ.format(words='Lattice="1 2"')),
        (all_frames, "a.xyz", XYZ.format(words='Lattice="inf 0 0 0 inf 0 0 0 1"')),
        (all_frames, "a.xyz", XYZ.format(words="Origin=here")),
        (all_frames, "a.xyz", XYZ.format(words="Step=ten")),
        (all_frames, "a.xyz", XYZ.format(words="Properties=species:S:1:pos:R:1:a:R:2")),
    ],
)
def test_it_is_refused(tmp_path: Path, read: Read, name: str, data: bytes | str) -> None:
    refused(tmp_path, read, name, data)


def record(data: bytes) -> bytes:
    return struct.pack("<i", len(data)) + data + struct.pack("<i", len(data))


HEAD = record(b"CORD" + struct.pack("<9if10i", 1, 0, 1, *[0] * 6, 0.5, 1, *[0] * 9)) + record(b" " * 84)


@pytest.mark.parametrize(
    "data",
    [
        HEAD + struct.pack("<i", -5) + bytes(100),  # once it was all that is left in the file
        HEAD + struct.pack("<i", (1 << 31) - 1),  # once it was as much memory
        HEAD + record(struct.pack("<i", 1)) + record(b"no box") + 3 * record(bytes(4)),
    ],
)
def test_records_of_a_trajectory_that_lie_about_their_length(tmp_path: Path, data: bytes) -> None:
    refused(tmp_path, all_frames, "a.dcd", data)


@pytest.mark.parametrize(
    ("head", "index"),
    [
        ("7", '{"label": 0, "generation": 0}'),
        ('{"labels": 7}', '{"label": 0, "generation": 0}'),
        ('{"labels": [{"name": [], "element": "f64", "components": 1}]}', "7"),
        (DEEP, "{}"),
    ],
)
def test_checkpoints_with_other_things_in_them(tmp_path: Path, head: str, index: str) -> None:
    def read(path: Path) -> None:
        (tmp_path / "part-0.index").write_text(index)
        (tmp_path / "part-0.data").write_bytes(bytes(16))
        checkpoints.read(path.parent)

    refused(tmp_path, read, "checkpoint.json", head)


LABELS = '{"labels": [{"name": "atoms.id", "element": "i64", "components": 1}], "step": 1, "time": 0}'


@pytest.mark.parametrize(("begin", "length"), [(0, 16), (-8, 8), (8, 8), (0, -8), (1 << 80, 8), (0, 1 << 80)])
def test_values_of_a_checkpoint_that_are_not_in_its_file(tmp_path: Path, begin: int, length: int) -> None:
    index = {"label": 0, "generation": 0, "patch": 0, "offset": begin, "bytes": length}
    (tmp_path / "part-0.index").write_text(json.dumps(index))
    (tmp_path / "part-0.data").write_bytes(bytes(8))
    error = refused(tmp_path, lambda path: checkpoints.read(path.parent), "checkpoint.json", LABELS)
    assert error.given and "of a file of 8" in error.given


def test_a_checkpoint_that_is_made_shorter_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that had mapped it once died of SIGBUS."""
    (tmp_path / "part-0.index").write_text(
        '{"label": 0, "generation": 0, "patch": 0, "offset": 0, "bytes": 8192}'
    )
    (tmp_path / "part-0.data").write_bytes(bytes(8192))
    contents = checkpoints.documents.contents

    def shorter(path: Path, *most: int) -> bytes:
        if path.suffix == ".index":
            os.truncate(tmp_path / "part-0.data", 0)
        return contents(path, *most)

    monkeypatch.setattr(checkpoints.documents, "contents", shorter)
    refused(tmp_path, lambda path: checkpoints.read(path.parent), "checkpoint.json", LABELS)


def test_files_that_unpack_to_more_than_anyone_reads(tmp_path: Path) -> None:
    curves = lzma.compress(WALLS.encode() + b"#\n" * (40 << 20))
    error = refused(tmp_path, surface.recorded, "a.dat.xz", curves)
    assert "8,388,608 bytes" in str(error) and error.remedy
    cut = lzma.compress(WALLS.encode())[:-9]
    assert "ends within" in str(refused(tmp_path, surface.recorded, "a.dat.xz", cut))


def test_a_decoder_takes_no_more_memory_than_it_needs(tmp_path: Path) -> None:
    greedy = b"\x5d" + struct.pack("<Iq", 1 << 30, -1) + bytes(20)  # the old form of lzma says it in its head
    error = refused(tmp_path, surface.recorded, "a.dat.xz", greedy)
    assert "emory" in str(error)


def test_errors_are_printable_and_of_a_size_that_one_can_read() -> None:
    shown = str(StrataError("bad", at="\x1b[2Jfile", given="a" * 1_000_000, allowed="é\tof\nlines \udc80"))
    assert "\x1b" not in shown and "\\x1b[2Jfile" in shown and "é\tof\nlines \\udc80" in shown
    assert len(shown) < 3000 and "998000 more characters" in shown


class TestLogs:
    """Those that pandas and PyArrow read."""

    @pytest.fixture(autouse=True)
    def libraries(self) -> None:
        pytest.importorskip("pandas", reason="pandas is not installed")
        pytest.importorskip("pyarrow", reason="PyArrow is not installed")

    @pytest.mark.parametrize(
        ("form", "log", "at"),
        [
            ("swf", "1 nan 0 9 4 -1 -1 4 9 -1 1 1 1 1 1 1 -1 -1\n", "row 1, field 2"),
            ("swf", "1 0 0 1e300 4 -1 -1 4 9 -1 1 1 1 1 1 1 -1 -1\n", "row 1, field 4"),
            ("swf", "1 0 0 9 4e9 -1 -1 4 9 -1 1 1 1 1 1 1 -1 -1\n", "row 1, field 5"),
            ("swf", "1 0 0 9 4 -1 -1 4 9 -1 inf 1 1 1 1 1 -1 -1\n", "row 1, field 11"),
            ("swf", f"; MaxProcs: {DIGITS}\n1 0 0 9 4 -1 -1 4 9 -1 1 1 1 1 1 1 -1 -1\n", "header MaxProcs"),
            ("slurm", SACCT + "1|1767225600|1767229200|COMPLETED|99999999999|\n", "row 2, processors"),
            ("slurm", SACCT + f"1|1767225600|1767229200|COMPLETED|{DIGITS}|\n", "row 2, processors"),
            ("slurm", SACCT + f"1|1767225600|1767229200|COMPLETED|4|{DIGITS}-00:00:00\n", "row 2, Elapsed"),
            ("pbs", PBS.replace("2026", "9999") + "exec_host=n/0\n", "row 1, date"),
            ("pbs", PBS + f"exec_host=n/0*{DIGITS}\n", "row 1, processors"),
            ("pbs", PBS + f"exec_vnode=(n:ncpus={DIGITS})\n", "row 1, processors"),
            ("pbs", PBS.replace("1767229200", "9" * 30) + "exec_host=n/0\n", "row 1, end"),
        ],
    )
    def test_numbers_that_nothing_has(self, tmp_path: Path, form: str, log: str, at: str) -> None:
        from strata.centre.jobs import forms

        error = refused(tmp_path, lambda path: forms.read([path], form, "UTC"), "20260102", log)
        assert str(error.at).split(" (")[0].endswith(at)

    def test_long_cells_are_looked_through_once(self, tmp_path: Path) -> None:
        from strata.centre.jobs import forms

        signal.alarm(20)
        try:
            log = SACCT + f"1|{':' * MANY}|1767229200|COMPLETED|4|\n"
            refused(tmp_path, lambda path: forms.read([path], "slurm", "UTC"), "jobs.txt", log)
            log = f"; A: {' ' * MANY}x\n"
            refused(tmp_path, lambda path: forms.read([path], "swf", "UTC"), "a.swf", log)
        finally:
            signal.alarm(0)

    def test_a_packed_log_of_one_line_without_an_end(self, tmp_path: Path) -> None:
        from strata.centre.jobs import forms

        log = gzip.compress(b"a" * (100 << 20))
        error = refused(tmp_path, lambda path: forms.read([path], "swf", "UTC"), "a.swf.gz", log)
        assert "does not end" in error.message and "16,777,216 bytes" in str(error.allowed)

    def test_short_lines_of_a_packed_log_take_no_more_memory_than_long_ones(self, tmp_path: Path) -> None:
        from strata.centre.jobs import swf, text

        (tmp_path / "a.swf.gz").write_bytes(gzip.compress(b"; c\n" * (1 << 19)))
        for read in (
            lambda: sum(1 for _ in text.lines(tmp_path / "a.swf.gz")),
            lambda: sum(
                len(block) for block in map(swf._without_comments, text.blocks(tmp_path / "a.swf.gz"))
            ),
        ):
            tracemalloc.start()
            assert read() in (1 << 19, 0)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 24 << 20

    @pytest.mark.parametrize(
        ("form", "name", "log", "at"),
        [
            (None, "log.csv", OUTAGES + f"one,{DIGITS},2026-01-01,,tape\n", "row 2, column parts"),
            (None, "log.csv", OUTAGES + "one,1,9999-12-31,,tape\n", "row 2, column start"),
            (None, "log.csv", "system," + "a" * 200_000 + "\n", "log.csv"),
            (None, "log.json", DEEP, "log.json:1"),
            (
                None, "log.json",
                json.dumps({"schema": "strata.outages/1", "systems": {"one": 7}, "outages": [{"system": "one"}]}),
                "systems.one",
            ),
            ("lanl", "log.csv", LANL + "\n", "log.csv"),
            ("lanl", "log.csv", LANL + ",Same Event,Same Event\n" + "," * 13 + "a\n", "row 1"),
            ("lanl", "log.csv", LANL + "\n" + '"' + "a," * 100_000 + '"\n', "log.csv"),
            ("nagios", "nagios.log", "[1767225600] HOST ALERT: n1\n", "row 1"),
        ],
    )  # fmt: skip
    def test_outages(self, tmp_path: Path, form: str | None, name: str, log: str, at: str) -> None:
        from strata.centre.outages import forms
        from strata.centre.outages.categories import Categories

        error = refused(tmp_path, lambda path: forms.read([path], form, Categories(), "UTC", None), name, log)
        assert str(error.at).endswith(at)

    @pytest.mark.parametrize("data", [b"\xff", b"[categories]\nhardware = 7\n", b"a = " + DEEP.encode()])
    def test_categories(self, tmp_path: Path, data: bytes) -> None:
        from strata.centre.outages import categories

        refused(tmp_path, categories.load, "categories.toml", data)


MANY = 200_000


@pytest.mark.parametrize(
    ("read", "name", "data"),
    [
        (all_frames, "a.xyz", XYZ.format(words="Properties=pos:R:" + "a" * MANY)),
        (series.read, "series.csv", "step,time" + " [" * MANY + "\n"),
        (lambda path: osu.read(path.read_text()), "osu.txt", "# OSU" + " " * MANY + "x"),
    ],
)
def test_long_lines_are_looked_through_once(tmp_path: Path, read: Read, name: str, data: str) -> None:
    """Not once from each of their characters on: that took minutes."""
    (tmp_path / name).write_text(data)
    signal.alarm(20)  # ends the tests where it takes the square
    try:
        with pytest.raises(StrataError):
            read(tmp_path / name)
    finally:
        signal.alarm(0)


def machine_with(**more: Any) -> str:
    return json.dumps({"schema": "strata.machine/1", **more})


@pytest.mark.parametrize(
    "about", [machine_with(), machine_with(packages=7, domains=[]), machine_with(domains=[1.5])]
)
def test_machines_that_lack_what_machines_have(tmp_path: Path, about: str) -> None:
    for read in (lambda path: facts.draw(str(path), "-"), lambda path: facts.print_findings(str(path), None)):
        refused(tmp_path, read, "machine.json", about)


def test_a_list_of_more_processors_than_memory_has_bytes() -> None:
    with pytest.raises(StrataError, match="not a list of CPU numbers"):
        samples.cpulist("0-3,5-99999999999")


def test_text_in_another_encoding_where_only_words_are_looked_for(tmp_path: Path) -> None:
    (tmp_path / "strata").mkdir()
    file = tmp_path / "strata" / "site.toml"
    file.write_bytes(b'partition = "\xe9"')
    assert site_file.find(None, {"XDG_CONFIG_HOME": str(tmp_path)}) == file
    refused(tmp_path / "strata", site_file.read, "site.toml", file.read_bytes())
    (tmp_path / f"{submit.ASKED}c.txt").write_bytes(b"n1 \xff")
    assert submit.silent([tmp_path], {("c", "n1")}) == ["\ufffd"]


STUDY = 'schema = "strata.study/1"\nname = "x"\n[[program]]\nname = "p"\ncommand = "true"\n[[layout]]\nname = "l"\n'


@pytest.mark.parametrize(
    "said",
    ['layouts = ["0..99x1"]', 'layouts = ["1x0..99"]', f'layouts = ["{DIGITS}x1"]', 'stride = "0..4"',
     f'layouts = ["every {DIGITS}xT"]', f'stride = "1..{DIGITS}"'],
)  # fmt: skip
def test_layouts_that_would_never_end(tmp_path: Path, said: str) -> None:
    refused(tmp_path, study_case.read, "study.toml", STUDY + said)


def test_other_documents_that_lack_what_such_have(tmp_path: Path) -> None:
    summary = json.dumps({"schema": "strata.summary/1", "tasks": [{"id": "a"}]})
    refused(tmp_path, lambda path: command.compare(command.Request(path, path)), "summary.json", summary)
    plan = json.dumps({"schema": "strata.balance/1", "plan": []})
    refused(tmp_path, lambda path: balance.draw(str(path), "-"), "plan.json", plan)
    error = refused(tmp_path, lambda path: balance.draw(str(path), "-"), "plan.json", "{")
    assert str(error.at).endswith("plan.json:1")
    graph = json.dumps({"schema": "strata.graph/1"})
    refused(tmp_path, lambda path: show.run(show.Request(path)), "graph.json", graph)


def test_errors_of_the_front_that_are_not_whole() -> None:
    assert front._refusal("machine", 3, json.dumps({"schema": front.SCHEMA})).code == 3
    assert front._refusal("machine", 2, "").given


NODE = {"schema": "strata.node/1", "node": "n1", "time": "2026-11-03T14:05:00Z"}


@pytest.mark.parametrize(
    "more",
    [{"booted": "yes"}, {"integrity": {"findings": 7}}, {"integrity": 7}, {"counters": {"a": 10**400}},
     {"figures": {"a": {"better": "higher", "values": [10**400]}}}],
)  # fmt: skip
def test_runs_of_nodes_with_other_things_in_them(tmp_path: Path, more: dict[str, Any]) -> None:
    refused(tmp_path, node, "n1.json", json.dumps({**NODE, **more}))


def test_lines_of_a_history_that_cannot_be_added_up_are_damaged(tmp_path: Path) -> None:
    lines = [
        '{"event": "run", "sums": 7}',
        '{"event": "run", "sums": [7]}',
        '{"event": "run", "passes": "two"}',
    ]
    lines += ['{"event": "run", "yielded": [{"core": []}]}', '{"event": "run", "sums": [{"rounds": "many"}]}']
    (tmp_path / "history.jsonl").write_text("\n".join([*lines, DEEP, '{"event": "run"}', ""]))
    found = history.State(tmp_path).load()
    assert (len(found.events), found.damaged) == (1, 6)
    history.folded(found.events)


@pytest.mark.parametrize("line", ["batch", f"b|{DIGITS}|2|2|2|1:00", "n1|many|a"])
def test_answers_of_slurm_to_something_else(line: str) -> None:
    with pytest.raises(StrataError):
        slurm._node(line) if line.count("|") == 2 else slurm._partition(line)
    assert slurm.seconds_of(DIGITS) is None


def test_samples_of_times_that_never_were(tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    from strata.centre.sampling import rates, ring

    made = ring.Ring(tmp_path, "n1", 8192, 4)
    sample = [ring.Sample(t, ring.NODE, ring.CPU, cpu=t) for t in (float("nan"), 1e300, -5.0, 1e9, 1e9 + 60)]
    made.write(sample)
    made.close()
    assert "3 records are damaged" in rates.sampled(tmp_path).said[0]
    (tmp_path / "n2.csv").write_text("time,seconds,node,cpu\n1767225600,1e300,n2,1\n")
    with pytest.raises(StrataError, match="too far apart") as error:
        rates.sampled(tmp_path)
    assert error.value.at == "--samples"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("[1]", ["status"]),
        (DEEP, ["status"]),
        ('{"ok": true}', ["status"]),
        ('{"ok": true, "rows": 7}', ["series"]),
        ('{"ok": true, "parameters": [7]}', ["parameters"]),
    ],
)
def test_answers_of_what_is_no_run(monkeypatch: pytest.MonkeyPatch, said: str, words: Sequence[str]) -> None:
    from strata.run import control, steer

    class Connection:
        rest = said.encode() + b"\n"

        def __enter__(self) -> Connection:
            return self

        def __exit__(self, *_: object) -> None: ...

        def settimeout(self, seconds: float) -> None: ...

        def sendall(self, line: bytes) -> None: ...

        def recv(self, size: int) -> bytes:
            part, self.rest = self.rest[:size], self.rest[size:]
            return part

    monkeypatch.setattr(control, "_connected", lambda folder, timeout_s: Connection())
    with pytest.raises(StrataError) as error:
        steer.steer(Path("run"), words, as_json=False, timeout_s=1)
    assert error.value.at and str(error.value)
