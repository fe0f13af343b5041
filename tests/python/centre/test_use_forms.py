"""Claims about logs of jobs of Slurm, PBS and the Parallel Workloads Archive, with their traps."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from use_logs import SACCT, at, rows, sacct, states, swf

from strata.centre.jobs import forms, pbs
from strata.centre.jobs.generate import trace
from strata.centre.jobs.rows import Rows
from strata.errors import StrataError

NOON = "01-02T12:00:00"


def said(found: Rows) -> str:
    return " ".join(found.said)


# --- Slurm


def test_steps_and_waiting_tasks_of_arrays_are_no_jobs(tmp_path: Path) -> None:
    found = rows(
        tmp_path,
        SACCT
        + sacct("7", "01-01T00:00:00", "01-02T00:00:00", NOON, 4)
        + sacct("7.batch", "01-01T00:00:00", "01-02T00:00:00", NOON, 4)
        + sacct("7.0", "01-01T00:00:00", "01-02T00:00:00", NOON, 4)
        + sacct("9_3", "01-01T00:00:00", "01-02T00:00:00", NOON, 1, raw="10")
        + sacct("9_[4-9]", "01-01T00:00:00", "Unknown", "Unknown", 0, "PENDING", raw="9"),
    )
    assert (len(found), list(found.cores)) == (2, [4, 1])
    assert "2 rows are steps" in said(found) and "1 rows are of several tasks" in said(found)


def test_each_state_of_slurm(tmp_path: Path) -> None:
    given = ["COMPLETED", "FAILED", "OUT_OF_MEMORY", "TIMEOUT", "DEADLINE", "NODE_FAIL", "BOOT_FAIL"]
    given += ["CANCELLED by 1001", "CANCELLED+", "PREEMPTED", "REQUEUED"]
    text = "".join(
        sacct(str(i), "01-01T00:00:00", "01-02T00:00:00", NOON, 4, state) for i, state in enumerate(given)
    )
    kinds = ["completed", "failed", "failed", "timeout", "timeout", "node", "node", "cancelled", "cancelled"]
    assert states(rows(tmp_path, SACCT + text)) == [*kinds, "again", "again"]


def test_a_job_that_was_queued_again_is_a_run_each_time(tmp_path: Path) -> None:
    found = rows(
        tmp_path,
        SACCT
        + sacct("7", "01-01T00:00:00", "01-02T00:00:00", NOON, 4, "NODE_FAIL")
        + sacct("7", "01-02T12:01:00", "01-02T13:00:00", "01-02T14:00:00", 4),
    )
    assert states(found) == ["node", "completed"] and not found.said


def test_dumps_that_overlap_count_each_run_once_with_its_end(tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    row = ("7", "01-01T00:00:00", "01-02T00:00:00")
    waits = sacct("8", "01-01T00:00:00", "Unknown", "Unknown", 0, "PENDING")
    first.write_text(SACCT + sacct(*row, "Unknown", 4, "RUNNING") + waits)
    second.write_text(
        SACCT
        + sacct(*row, NOON, 4)
        + sacct(*row, NOON, 4)
        + sacct("8", "01-01T00:00:00", "01-03T00:00:00", "01-04T00:00:00", 2)
    )
    for order in ([first, second], [second, first]):
        found = forms.read(order, None, "UTC")
        assert sorted(zip(found.key, states(found), found.end, strict=True)) == [
            (7, "completed", at(NOON)),
            (8, "completed", at("01-04T00:00")),
        ]
        assert "2 rows are there twice" in said(found)


def test_of_several_logs_one_may_lack_names_which_its_jobs_then_have_not(tmp_path: Path) -> None:
    """Two sites, or two versions of Slurm: users of the one log stay those of its own jobs."""
    with_users, without = tmp_path / "a.txt", tmp_path / "b.txt"
    times = ("01-01T00:00:00", "01-02T00:00:00", NOON, 4)
    with_users.write_text(SACCT + sacct("7", *times, user="ada") + sacct("8", *times, user="bob"))
    lines = (SACCT + sacct("9", *times) + sacct("10", *times)).splitlines()
    place = lines[0].split("|").index("User")
    cut = ["|".join(cell for n, cell in enumerate(line.split("|")) if n != place) for line in lines]
    without.write_text("\n".join(cut) + "\n")
    for order in ([with_users, without], [without, with_users]):
        found = forms.read(order, None, "UTC")
        users = found.column("user")
        assert users is not None
        names = {
            int(key): users.names[c] if c >= 0 else None
            for key, c in zip(found.key, users.codes, strict=True)
        }
        assert names == {7: "ada", 8: "bob", 9: None, 10: None}
        assert set(users.codes[users.codes < 0]) == {-1}, "what groups of jobs look for"


def test_components_of_a_heterogeneous_job_are_one_job(tmp_path: Path) -> None:
    found = rows(
        tmp_path,
        SACCT
        + sacct("12+0", "01-01T00:00:00", "01-02T00:00:00", NOON, 4, raw="12")
        + sacct("12+1", "01-01T00:00:00", "01-02T00:00:00", NOON, 64, raw="13", nodes=2)
        + sacct("14", "01-01T00:00:00", "01-02T00:00:00", NOON, 1),
    )
    assert (sorted(found.cores), int(found.nodes.max())) == ([1, 68], 3)
    assert "2 rows are components of 1 heterogeneous jobs" in said(found)


def test_cores_come_from_the_column_that_says_most(tmp_path: Path) -> None:
    text = (
        "JobID|Start|End|State|NCPUS|AllocTRES\n"
        "1|2026-01-02T00:00:00|2026-01-02T12:00:00|COMPLETED|4|billing=8,cpu=128,gres/gpu=4,mem=1T,node=2\n"
        "2|2026-01-02T00:00:00|2026-01-02T12:00:00|COMPLETED|4|\n"
    )
    found = rows(tmp_path, text)
    assert list(found.cores) == [128, 4] and list(found.nodes) == [2, 0]


def test_names_of_jobs_may_have_bars_where_they_are_last_and_nodes_a_k(tmp_path: Path) -> None:
    row = ("01-01T00:00:00", "01-02T00:00:00", NOON)
    text = SACCT + sacct("1", *row, 4, name='a|b "c" |') + sacct("2", *row, 4096, name="x", nodes=2048)
    found = rows(tmp_path, text.replace("|2048|", "|2K|"))
    assert found.names["program"].names == ['a|b "c" |', "x"]
    assert list(found.cores) == [4, 4096] and list(found.nodes) == [1, 2048]


def test_waits_begin_when_a_job_may_start(tmp_path: Path) -> None:
    text = sacct("1", "01-01T00:00:00", "01-02T00:00:00", NOON, 4, eligible="01-01T18:00:00")
    found = rows(tmp_path, SACCT + text)
    assert found.start[0] - found.ready[0] == 6 * 3600


def test_seconds_offsets_and_zones_are_one_time(tmp_path: Path) -> None:
    same = {
        "UTC": "2026-07-01T10:00:00",
        "Europe/Berlin": "2026-07-01T12:00:00",
        "America/Denver": "2026-07-01T04:00:00",
    }
    for zone, text in same.items():
        line = f"1|{text}|{text}|COMPLETED|4\n"
        found = rows(tmp_path, "JobID|Start|End|State|NCPUS\n" + line, zone=zone)
        assert found.start[0] == at("07-01T10:00")
    line = f"1|{int(at('07-01T10:00'))}|2026-07-01T10:00:00+00:00|COMPLETED|4\n"
    found = rows(tmp_path, "JobID|Start|End|State|NCPUS\n" + line, zone="Asia/Tokyo")
    assert found.start[0] == found.end[0] == at("07-01T10:00")


def test_an_hour_that_came_twice_is_the_second_where_a_job_would_end_before_it_starts(tmp_path: Path) -> None:
    line = "1|2026-10-25T02:50:00|2026-10-25T02:10:00|COMPLETED|4\n"  # clocks went back at 3:00
    found = rows(tmp_path, "JobID|Start|End|State|NCPUS\n" + line, zone="Europe/Berlin")
    assert found.end[0] - found.start[0] == 20 * 60


def test_one_of_several_clusters(tmp_path: Path) -> None:
    text = "JobID|Cluster|Start|End|State|NCPUS\n" + "".join(
        f"1|{name}|2026-01-02T00:00:00|2026-01-02T12:00:00|COMPLETED|{n}\n"
        for name, n in (("a", 1), ("b", 2))
    )
    with pytest.raises(StrataError, match="several clusters"):
        rows(tmp_path, text)
    assert list(rows(tmp_path, text, system="b").cores) == [2]


def test_a_resized_job_is_one_job_in_pieces_of_its_widths(tmp_path: Path) -> None:
    """Slurm ends a job's row in the state RESIZING and begins another one; how it ended says the last."""
    text = (
        SACCT
        + sacct("1", "01-01T00:00:00", "01-01T00:00:00", "01-01T01:00:00", 8, "RESIZING", nodes=2)
        + sacct("1", "01-01T01:00:00", "01-01T01:00:00", "01-01T02:00:00", 4, "RESIZING")
        + sacct("1", "01-01T02:00:00", "01-01T02:00:00", "01-01T05:00:00", 2, "FAILED")
        + sacct("2", "01-01T00:00:00", "01-01T05:00:00", "01-01T10:00:00", 8, nodes=2)
    )
    found = rows(tmp_path, text)
    assert list((found.end - found.start) / 3600 * found.cores) == [8, 4, 6, 40]
    assert list(found.counts) == [True, False, False, True] and states(found)[:3] == ["failed"] * 3
    assert list(np.isnan(found.submit)) == [False, True, True, False]
    assert found.said == ["1 job was resized: each counts once."]


def test_a_job_that_is_being_resized_runs_and_one_whose_rest_is_missing_is_said(tmp_path: Path) -> None:
    row = ("01-01T00:00:00", "01-01T00:00:00")
    now = rows(tmp_path, SACCT + sacct("1", *row, "Unknown", 8, "RESIZING"))
    assert states(now) == ["running"] and np.isnan(now.end[0])
    cut = rows(tmp_path, SACCT + sacct("1", *row, "01-01T01:00:00", 8, "RESIZING"))
    assert states(cut) == ["unknown"] and cut.end[0] == at("01-01T01:00")
    assert "1 row is of a job that was resized" in said(cut)


def test_jobs_of_several_machines_with_one_number_and_start_are_several_jobs(tmp_path: Path) -> None:
    """Nothing but their processors or their user tells them apart, and that is said."""
    times = ("7", "01-01T00:00:00", "01-02T00:00:00", NOON)
    one, two = tmp_path / "a.txt", tmp_path / "b.txt"
    for other in (sacct(*times, 8), sacct(*times, 4, user="bob")):
        one.write_text(SACCT + sacct(*times, 4))
        two.write_text(SACCT + other + sacct(*times, 4))
        found = forms.read([one, two], None, "UTC")
        assert len(found) == 2 and "1 job has number and start of another one" in said(found)
        assert "1 row is there twice" in said(found)


def test_clusters_of_several_dumps_are_not_one(tmp_path: Path) -> None:
    for name, cores in (("a", 1), ("b", 2)):
        text = f"JobID|Cluster|Start|End|State|NCPUS\n1|{name}|2026-01-02|2026-01-03|COMPLETED|{cores}\n"
        (tmp_path / name).write_text(text)
    both = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(StrataError, match="several clusters"):
        forms.read(both, None, "UTC")


def test_a_run_that_was_still_on_in_an_older_dump_does_not_last_to_the_end(tmp_path: Path) -> None:
    """Without --duplicates the newer dump has the last run of a job alone."""
    text = SACCT + sacct("7", "01-01T00:00:00", "01-02T00:00:00", "Unknown", 4, "RUNNING")
    found = rows(tmp_path, text + sacct("7", "01-01T00:00:00", "01-03T00:00:00", "01-04T00:00:00", 4))
    assert states(found) == ["completed"] and "1 run has no end" in said(found)


# --- PBS


def record(kind: str, job: str, date: str, **words: object) -> str:
    return (
        f"{date};{kind};{job}.server;"
        + " ".join(f"{k.replace('__', '.')}={v}" for k, v in words.items())
        + "\n"
    )


def ended(job: str, status: int, used: str = "01:00:00", **more: object) -> str:
    words: dict[str, object] = {
        "user": "ada",
        "group": "phys",
        "account": '"big project"',
        "jobname": "cfd",
        "queue": "long",
        "ctime": int(at("01-01T00:00")),
        "qtime": int(at("01-01T00:00")),
        "etime": int(at("01-01T06:00")),
        "start": int(at("01-02T00:00")),
        "exec_host": "n1/0*4+n2/0*4",
        "Resource_List__ncpus": 8,
        "Resource_List__nodect": 2,
        "Resource_List__walltime": "02:00:00",
        "session": 77,
        "end": int(at("01-02T01:00")),
        "Exit_status": status,
        "resources_used__walltime": used,
    }
    return record("E", job, "01/02/2026 01:00:00", **(words | more))


def test_a_pbs_record_of_a_job_that_ended(tmp_path: Path) -> None:
    found = rows(tmp_path, ended("12", 0), "20260102")
    assert (list(found.cores), list(found.nodes), states(found)) == ([8], [2], ["completed"])
    assert (found.submit[0], found.ready[0]) == (at("01-01T00:00"), at("01-01T06:00"))
    assert (found.start[0], found.end[0]) == (at("01-02T00:00"), at("01-02T01:00"))
    assert {name: c.names for name, c in found.names.items()} == {
        "user": ["ada"],
        "group": ['"big project"'],
        "partition": ["long"],
        "program": ["cfd"],
    }


def test_exit_statuses_of_pbs(tmp_path: Path) -> None:
    given = [
        (0, "completed"),
        (1, "failed"),
        (271, "cancelled"),
        (-4, "node"),
        (-29, "timeout"),
        (-1, "failed"),
    ]
    text = "".join(ended(str(i), status) for i, (status, _) in enumerate(given))
    text += ended("90", 271, "02:00:05") + ended("91", 265, "02:00:05") + ended("92", 265)
    kinds = states(rows(tmp_path, text, "20260102"))
    assert kinds == [*(kind for _, kind in given), "timeout", "timeout", "failed"]


def test_pbs_jobs_over_several_days_files(tmp_path: Path) -> None:
    """A start in one file and its end in the next; a run that is queued again; one that runs still."""
    one, two = tmp_path / "20260102", tmp_path / "20260103"
    start = int(at("01-02T00:00"))
    begun = {"user": "ada", "start": start, "exec_host": "n1/0*8"}
    one.write_text(
        record("Q", "1", "01/01/2026 20:00:00", queue="long")
        + record("S", "1", "01/02/2026 00:00:00", **begun)
        + record("S", "2", "01/02/2026 00:00:00", **begun)
        + record("R", "2", "01/02/2026 06:00:00")
        + record("S", "2", "01/02/2026 07:00:00", **(begun | {"start": start + 7 * 3600}))
        + record("Q", "3", "01/02/2026 08:00:00", queue="long")
        + record("Q", "4", "01/02/2026 08:00:00", queue="long")
        + record("D", "4", "01/02/2026 09:00:00", requestor="ada@login")
        + "01/02/2026 10:00:00;L;license;floating license hour:0\n"
        + record("E", "9[]", "01/02/2026 10:00:00", start=start, end=start + 60, Exit_status=0)
    )
    two.write_text(ended("1", 0, end=int(at("01-03T00:00"))))
    found = forms.read([two, one], None, "UTC")
    have = {
        (int(k), s, float(a), float(b))
        for k, s, a, b in zip(
            found.key, states(found), np.nan_to_num(found.start), np.nan_to_num(found.end), strict=True
        )
    }
    assert have == {
        (1, "completed", start, at("01-03T00:00")),
        (2, "again", start, at("01-02T06:00")),
        (2, "running", start + 7 * 3600, 0.0),
        (3, "waiting", 0.0, 0.0),
        (4, "cancelled", 0.0, 0.0),
    }


def test_a_pbs_run_that_was_lost_is_no_run(tmp_path: Path) -> None:
    """A job that starts again without a record between has a run whose end nobody knows."""
    text = "".join(
        record("S", "1", f"01/0{day}/2026 00:00:00", start=int(at(f"01-0{day}T00:00")), exec_host="n1/0*8")
        for day in (1, 2)
    )
    found = rows(tmp_path, text + ended("1", 0), "20260102")
    assert list(found.start) == [at("01-02T00:00")] and "1 runs have no end" in said(found)


def test_jobs_of_one_number_on_two_servers_are_two_jobs(tmp_path: Path) -> None:
    """Starts and ends are joined within a server; its short name and its whole one are one server."""
    begun = record("S", "12", "01/02/2026 00:00:00", start=int(at("01-02T00:00")), exec_host="n1/0*4")
    over = ended("12", 0, exec_host="n1/0*4", Resource_List__ncpus=4)
    paths = [tmp_path / name for name in ("alpha", "beta")]
    paths[0].write_text((begun + over).replace("12.server", "12.alpha"))
    paths[1].write_text(
        begun.replace("12.server", "12.beta") + ended("12", 0).replace("12.server", "12.Beta.site.org")
    )
    found = forms.read(paths, None, "UTC")
    assert sorted(zip(found.cores, states(found), strict=True)) == [(4, "completed"), (8, "completed")]
    assert "of 2 servers" in said(found)
    assert not rows(tmp_path, begun + over.replace(".server", ".server.site.org"), "one").said


@pytest.mark.parametrize(
    ("text", "cores", "nodes"),
    [
        ("n1/0*4+n2/0*4", 8, 2),
        ("n1/0+n1/1+n2/0", 3, 2),
        ("n1/0-3", 4, 1),
        ("n1/0,2-3", 3, 1),
        ("", 0, 0),
    ],
)
def test_hosts_of_pbs_and_torque(text: str, cores: int, nodes: int) -> None:
    assert pbs._hosts(text) == (cores, nodes)


def test_vnodes_and_ppn() -> None:
    assert pbs._vnodes("(n1:ncpus=4:mem=1gb+n1[1]:ncpus=2)+(n2:ncpus=4)") == (10, 2)
    assert pbs._nodes_ppn("2:ppn=8+n7:ppn=4") == (20, 3)


# --- the Standard Workload Format

HEADER = "; Version: 2.2\n; UnixStartTime: 1767225600\n; TimeZoneString: US/Pacific\n; MaxProcs: 128\n"


def test_a_trace_of_the_archive(tmp_path: Path) -> None:
    text = (
        HEADER
        + "  1   0  60   3600    4  -1 -1    4 -1 -1  1  9 7 3 -1 -1 -1 -1\n;a comment\n"
        + swf(2, 10, 0, 50, -1)
    )
    found = rows(tmp_path, text, "a.swf")
    assert (found.parts, found.zone) == (128, "US/Pacific")
    assert (found.submit[0], found.start[0], found.end[0]) == (
        at("01-01T00:00"),
        at("01-01T00:01"),
        at("01-01T01:01"),
    )
    assert list(found.cores) == [4, 0] and np.isnan(found.start[1])  # nobody knows on how many it ran
    assert found.names["user"].names == ["1", "9"] and found.names["partition"].names == []


def test_a_trace_of_starts_alone(tmp_path: Path) -> None:
    """Of some machines of the archive only starts are known: waits are -1, and field 2 is the start."""
    found = rows(tmp_path, HEADER + swf(1, 0, -1, 3600, 32) + swf(2, 1800, -1, 3600, 32), "a.swf")
    assert [t - at("01-01T00:00") for t in (*found.start, *found.end)] == [0, 1800, 3600, 5400]
    assert np.isnan(found.submit).all() and np.isnan(found.ready).all()
    assert "field 2 is taken as the start of all 2 that ran" in said(found)


def test_jobs_of_the_archive_that_ran_and_are_in_no_figure_are_said(tmp_path: Path) -> None:
    text = (
        HEADER + swf(1, 0, 0, 3600, 4) + swf(2, 0, -1, 7200, 4) + swf(3, 0, 0, 60, -1) + swf(4, 0, 9, -1, 4)
    )
    found = rows(tmp_path, text, "a.swf")
    assert list(np.isnan(found.start)) == [False, True, True, True] and np.isnan(found.end[1:]).all()
    for words in ("1 job ran for 8.0 processor-hours", "unknown number", "how long they ran is not known"):
        assert words in said(found)


def test_states_of_the_archive_and_jobs_that_never_ran(tmp_path: Path) -> None:
    text = swf(1, 0, 5, 60, 4, 1) + swf(2, 0, 5, 60, 4, 0) + swf(3, 0, 5, 60, 4, 5)
    text += swf(4, 0, 99, 0, 4, 5) + swf(5, 0, -1, 60, 4, 1) + swf(6, 0, 5, -1, 4, -1)
    found = rows(tmp_path, text, "a.swf")
    assert states(found) == ["completed", "failed", "cancelled", "cancelled", "completed", "unknown"]
    assert list(np.isnan(found.start)) == [False, False, False, True, True, True]
    assert "no UnixStartTime" in said(found)


def test_a_job_that_was_swapped_out_counts_once_and_holds_processors_in_pieces(tmp_path: Path) -> None:
    """Only the first piece has a time of submission; the others wait since the one before ended."""
    text = (
        swf(1, 100, 20, 90, 4, 1)
        + swf(1, 100, 20, 30, 4, 2)
        + swf(1, -1, 50, 40, 4, 2)
        + swf(1, -1, 10, 20, 4, 4)
    )
    found = rows(tmp_path, text + swf(2, 0, 0, 5, 1), "a.swf")
    pieces = found.key == 1
    assert list(found.start[pieces]) == [120, 200, 250] and list(found.end[pieces]) == [150, 240, 270]
    assert list(found.counts[pieces]) == [True, False, False]
    assert states(found)[:3] == ["failed"] * 3
    assert "1 job was swapped out" in said(found) and "1 summary of it is left out" in said(found)


def test_a_trace_may_be_gzipped_and_the_first_line_says_what_a_log_is(tmp_path: Path) -> None:
    path = tmp_path / "a.swf.gz"
    path.write_bytes(gzip.compress((HEADER + swf(1, 0, 0, 50, 4)).encode()))
    assert forms.read([path], None, "UTC").form == "swf"
    for name, text, form in (
        ("x1", swf(1, 0, 0, 50, 4), "swf"),
        ("x2", SACCT + sacct("1", "01-01T00:00:00", NOON, NOON, 4), "slurm"),
        ("x3", ended("1", 0), "pbs"),
    ):
        assert rows(tmp_path, text, name).form == form


def test_a_generated_trace_has_the_figures_that_it_was_made_with() -> None:
    made = trace(20000, 64)
    span = 20000 / 748 * 86400
    work = (made["run"] * made["cores"]).sum()
    assert work / (64 * span) == pytest.approx(0.94, abs=0.002)
    widest = made["cores"] == 32
    assert (made["run"] * made["cores"])[widest].sum() / work == pytest.approx(0.5, abs=0.002)
    events = np.r_[made["submit"] + made["wait"], made["submit"] + made["wait"] + made["run"]]
    change = np.r_[made["cores"], -made["cores"]]
    order = np.lexsort((change, events))  # an end before a start of the same second
    assert np.cumsum(change[order]).max() <= 64


def test_cores_that_pbs_and_torque_say(tmp_path: Path) -> None:
    """OpenPBS counts in vnodes; Torque leaves ncpus at 1 beside slots; an old one names a slot a node."""
    vnodes = {"exec_vnode": "(c67:ncpus=8:mem=10kb)+(c70:ncpus=8:mem=10kb)", "exec_host": "c67/13+c70/17"}
    slots = {"exec_host": "+".join(f"n{k}/{i}" for k in (1, 2) for i in range(8)), "Resource_List__ncpus": 1}
    old = {"exec_host": "j75/0+j76/0", "Resource_List__ncpus": 24, "Resource_List__nodect": 24}
    text = ended("1", 0, **vnodes) + ended("2", 0, **slots) + ended("3", 0, **old)
    found = rows(tmp_path, text, "20260102")
    assert list(found.cores) == [16, 16, 24] and list(found.nodes) == [2, 2, 2]
