"""Claims about logs of others: LANL's failure data with its traps, Slurm's events and jobs, Nagios and
Icinga.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from strata.centre.outages.categories import Categories
from strata.centre.outages.history import DAY, histories
from strata.centre.outages.lanl import month
from strata.centre.outages.log import Log
from strata.centre.outages.times import text
from strata.centre.reliability.account import account
from strata.errors import StrataError

CATEGORIES = Categories()
LANL_HEAD = (
    "System,machine type,nodes,procstot,procsinnode,nodenum,nodenumz,node install,node prod,node "
    "decom,fru type,mem,"
    "cputype,memtype,num intercon,purpose,Prob Started,Prob Fixed,Down Time,Facilities,Hardware,"
    "Human Error,Network,"
    "Undetermined,Software,Same Event\n"
)
LANL_ROW = (
    "20,cluster,512,2048,4,{n},{n},5-Apr,5-Apr,current,part,16,1,1,0,graphics.fe,{start},"
    "{end},{down},{causes},{same}\n"
)


def lanl(
    n: int, start: str, end: str, down: str = "", causes: str = ",Memory Dimm,,,,", same: str = "No"
) -> str:
    return LANL_ROW.format(n=n, start=start, end=end, down=down, causes=causes, same=same)


def test_lanls_rows_and_traps(log: Callable[..., Log]) -> None:
    found = log(
        LANL_HEAD
        + lanl(0, "6/21/2005 10:54", "6/21/2005 11:00", "6")  # month, day, year
        + lanl(1, "7/1/2005 0:00", "7/1/2005 12:00", "720", ",,,,,NFS", "Yes")
        + lanl(
            2, "7/1/2005 0:00", "7/2/2005 0:00", "1440", ",,,,,NFS", "Yes"
        )  # the same event, a time of its own
        + lanl(3, "8/1/2005 0:00", "8/1/2005 1:00", "99", ",,Operator,,,")  # a Down Time that is none
        + lanl(4, "9/1/2005 0:00", "9/1/2005 1:00", "60", ",CPU,,,,OS")  # two causes
        + lanl(5, "9/2/2005 0:00", "9/2/2005 1:00", "60", ",,,,,")  # none
        + lanl(6, "10/1/2005 0:00", ""),  # not fixed yet
        form="lanl",
    )
    (one,) = histories(found, CATEGORIES)
    assert (one.name, one.parts, one.units, one.description) == ("system 20", 2048, 512, "cluster")
    assert text(one.begin)[:10] == "2005-04-01"  # 5-Apr is April of 2005, not its fifth day
    events = {r.key: r.events for r in account(one, CATEGORIES).rows if r.events and not r.total}
    assert events == {"hardware": 3, "software": 1, "other": 1, "unknown": 1}
    days = {r.key: r.days * 512 for r in account(one, CATEGORIES).rows}
    assert days["software"] == pytest.approx(1.5)
    said = " ".join(found.said)
    assert "1 rows (the first is row 5) have a Down Time" in said
    assert "1 rows (the first is row 6) have several causes" in said
    assert "1 rows (the first is row 7) have no cause" in said
    assert int(one.open.sum()) == 1


def test_lanls_months() -> None:
    assert [month(t) for t in ("5-Apr", "Jul-96", "1-Dec")] == ["2005-04-01", "1996-07-01", "2001-12-01"]
    assert [month(t) for t in ("current", "before tracking", "", "5-Foo")] == [None] * 4


def test_lanls_damage_is_told_by_its_own_columns(log: Callable[..., Log]) -> None:
    with pytest.raises(StrataError, match="not a time") as refused:
        log(LANL_HEAD + lanl(0, "6/31/2005 10:54", "7/1/2005 10:00"), form="lanl")
    assert str(refused.value.at).endswith("row 2, column Prob Started")
    with pytest.raises(StrataError, match="ends before it starts"):
        log(LANL_HEAD + lanl(0, "6/21/2005 10:54", "6/20/2005 10:00"), form="lanl")
    with pytest.raises(StrataError, match="not a file of LANL"):
        log("system,start\n", form="lanl")
    with pytest.raises(StrataError, match="another number of cells"):
        log(LANL_HEAD + "20,cluster,512\n", form="lanl")


SLURM = """\
Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User
c|| 2026-01-01T00:00:00|Unknown||Cluster Registered TRES|
c|n1|2026-01-02T00:00:00|2026-01-02T06:00:00|DOWN|Not responding|slurm(64030)
c|n1|2026-01-02T06:00:00|2026-01-02T12:00:00|DOWN+DRAIN|Not responding|slurm(64030)
c|n2|2026-01-03T00:00:00|2026-01-04T00:00:00|DRAIN|new kernel|root(0)
c|n2|2026-01-05T00:00:00|2026-01-06T00:00:00|DRAIN|bad DIMM in slot 3|root(0)
c|n3|2026-01-08T00:00:00|Unknown|DOWN*|it smells|root(0)
"""


def test_slurms_events(log: Callable[..., Log]) -> None:
    found = log(SLURM, form="slurm", name="events.txt")
    (one,) = histories(found, CATEGORIES, until=1767225600 + 10 * DAY)
    rows = {r.key: (r.days * 3, r.events) for r in account(one, CATEGORIES).rows if r.events and not r.total}
    # From down to drained is one event. "new kernel" is software by its pattern; a node that is down for no
    # known reason has no known cause, and is down still.
    assert rows == {
        "software": (pytest.approx(1.5), 2),
        "hardware": (pytest.approx(1.0), 1),
        "unknown": (pytest.approx(3.0), 1),
    }
    assert "3 nodes are named" in " ".join(one.said)


def test_a_node_that_someone_drained_is_maintenance(log: Callable[..., Log]) -> None:
    found = log(SLURM.replace("new kernel", "swap of cables"), form="slurm", name="events.txt")
    kinds = [CATEGORIES.keys[k] for k in found.rows["category"]]
    assert kinds == ["software", "software", "maintenance", "hardware", "unknown"]


def test_jobs_that_a_node_failed_are_events_without_time(log: Callable[..., Log]) -> None:
    text = (
        "JobID|Cluster|State|Start|End|NodeList\n"
        "7|c|NODE_FAIL|2026-01-01T00:00:00|2026-01-02T00:00:00|n[1-4]\n"
        "8|c|NODE_FAIL|2026-01-01T00:00:00|2026-01-02T00:00:00|n5\n"  # of the same moment
        "9|c|COMPLETED|2026-01-01T00:00:00|2026-01-03T00:00:00|n5\n"
        "10|c|NODE_FAIL|2026-01-01T00:00:00|2026-01-09T00:00:00|n5\n"
    )
    (one,) = histories(log(text, form="slurm", name="jobs.txt"), CATEGORIES)
    assert int(one.event.sum()) == 2 and one.own.sum() == 0
    with pytest.raises(StrataError, match="no job that a node failed"):
        log(text.replace("NODE_FAIL", "FAILED"), form="slurm", name="jobs.txt")


NAGIOS = """\
[1767225600] LOG ROTATION: DAILY
[1767225600] CURRENT HOST STATE: n1;UP;HARD;1;PING OK
[1767225600] CURRENT HOST STATE: n2;DOWN;HARD;1;PING CRITICAL - link down
[1767229200] HOST ALERT: n2;UP;HARD;1;PING OK
[1767232800] HOST ALERT: n1;DOWN;SOFT;1;PING CRITICAL
[1767232860] HOST ALERT: n1;UP;SOFT;2;PING OK
[1767236400] HOST DOWNTIME ALERT: n1;STARTED; Host has entered a period of scheduled downtime
[1767240000] HOST ALERT: n1;DOWN;HARD;3;PING CRITICAL
[1767243600] HOST ALERT: n1;UP;HARD;1;PING OK
[1767243600] HOST DOWNTIME ALERT: n1;STOPPED; Host has exited from a period of scheduled downtime
[1767250800] SERVICE ALERT: n1;load;CRITICAL;HARD;3;load 90
[1767254400] SERVICE ALERT: n1;load;OK;HARD;1;load 1
[1767268800] HOST ALERT: n2;UNREACHABLE;HARD;3;CRITICAL
[1767312000] EXTERNAL COMMAND: SHUTDOWN_PROGRAM
"""


def test_nagios_log(log: Callable[..., Log]) -> None:
    (one,) = histories(log(NAGIOS, form="nagios", name="cluster.log"), CATEGORIES)
    assert (one.name, one.units, one.period) == ("cluster", 2, 1.0)
    rows = {r.key: (r.days * 48, r.events) for r in account(one, CATEGORIES).rows if r.events and not r.total}
    assert rows == {
        "network": (pytest.approx(1.0), 1),  # its reason has "link"
        "maintenance": (pytest.approx(1.0), 1),  # it began in a planned downtime
        "problem": (pytest.approx(1.0), 1),
        "unknown": (pytest.approx(12.0), 1),  # still unreachable at the end
    }


def test_icingas_table(log: Callable[..., Log]) -> None:
    table = (
        "host_name,event_time,state_type,hard_state,output\n"
        "n1,2026-01-01T00:00Z,hard,0,ok\nn1,2026-01-01T06:00Z,soft,1,\nn1,2026-01-01T12:00Z,hard,1,"
        "ECC error\n"
        "n1,2026-01-02T00:00Z,hard,0,ok\n"
    )
    (one,) = histories(log(table, form="nagios", name="icinga.csv"), CATEGORIES)
    assert account(one, CATEGORIES).row("Hardware Outage").days == pytest.approx(0.5)
    with pytest.raises(StrataError, match="not a state of a host") as refused:
        log(table.replace("hard,1", "hard,7"), form="nagios", name="icinga.csv")
    assert str(refused.value.at).endswith("row 4, column state")
