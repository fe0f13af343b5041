"""The forms of logs of jobs in which `schedules.py` is written."""

from __future__ import annotations

import random
from datetime import datetime
from zoneinfo import ZoneInfo

from schedules import QUEUES, USERS, Job, Run, Schedule

NAMES = ("a.out", 'say "hi"', "a;b, c", "Straße", "x | y", "'quoted", "-1", "NULL")
LIMITS = ("1-00:00:00", "UNLIMITED", "Partition_Limit", "")
COLUMNS = (
    "JobID JobIDRaw User Account Partition Submit Eligible Start End Elapsed State AllocTRES NCPUS NNodes "
)
COLUMNS += "Timelimit ReqMem NodeList JobName"


def _elapsed(seconds: int) -> str:
    days, rest = divmod(seconds, 86400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{clock}" if days else clock


def _tres(cores: int, nodes: int, chance: random.Random) -> str:
    words = [f"cpu={cores}", f"node={nodes}", "mem=62.50G", "billing=17", "gres/gpu=4", "gres/gpu:a100=4"]
    chance.shuffle(words)
    return ",".join(words)


def sacct(made: Schedule, seed: int) -> str:
    """`sacct -P -a -D` with the steps of jobs, columns in some order, times in one of four forms."""
    chance = random.Random(seed)
    clock = ZoneInfo(made.zone)
    style = chance.choice(("local", "offset", "colon", "seconds"))
    counts = chance.choice(("AllocTRES", "NCPUS", "both"))
    columns = [
        c
        for c in COLUMNS.split()[:-1]
        if c not in {"AllocTRES": ("NCPUS",), "NCPUS": ("AllocTRES",)}.get(counts, ())
    ]
    if chance.random() < 0.5:
        columns = [c for c in columns if c != "JobIDRaw"]
    chance.shuffle(columns)
    columns.append("JobName")  # with its bars, only the last can be read

    def time(when: int | None) -> str:
        if when is None:
            return "Unknown"
        here = datetime.fromtimestamp(when, clock)
        return {
            "local": f"{here:%Y-%m-%dT%H:%M:%S}",
            "offset": f"{here:%Y-%m-%dT%H:%M:%S%z}",
            "colon": here.isoformat(),
            "seconds": str(when),
        }[style]

    rows = []

    def row(job: Job, run: Run | None, name: str, raw: str, cores: int, state: str, submit: int) -> None:
        stop = made.end if run is None or run.end is None else run.end
        lasts = 0 if run is None else stop - run.start if run.held is None else run.held
        cells = {
            "JobID": name,
            "JobIDRaw": raw,
            "User": job.user,
            "Account": f"of {job.user}",
            "Partition": job.queue,
            "Submit": time(submit),
            "Eligible": time(submit),
            "Start": chance.choice(("Unknown", "None")) if run is None else time(run.start),
            "End": "Unknown" if run is None else time(run.end),
            "Elapsed": _elapsed(lasts),
            "State": state,
            "AllocTRES": _tres(cores, max(1, cores // 8), chance) if run is not None else "",
            "NCPUS": str(cores),
            "NNodes": "2K" if cores == 2048 else str(max(1, cores // 8)),
            "Timelimit": chance.choice(LIMITS),
            "ReqMem": "2147486448Mn",
            "NodeList": "n[1-4]" if run is not None else "None assigned",
            "JobName": chance.choice(NAMES),
        }
        rows.append("|".join(cells[c] for c in columns))
        if run is not None and chance.random() < 0.5:
            for step in (".batch", ".extern", ".0"):
                rows.append(
                    "|".join(
                        (cells | {"JobID": name + step, "JobIDRaw": raw + step, "User": ""})[c]
                        for c in columns
                    )
                )

    for job in made.jobs:
        raw = str(1000 * job.number)
        name = raw if job.task is None else f"{raw}_{job.task}"
        if not job.runs:
            name = chance.choice((raw, f"{raw}_[4-9%2]"))
            row(
                job,
                None,
                name,
                raw,
                chance.choice((0, 8)),
                chance.choice(("PENDING", "CANCELLED by 7")),
                job.submit,
            )
        for run in job.runs:
            submit = run.start if job.resized and run is not job.runs[0] else job.submit
            for place, cores in enumerate(run.parts):
                row(job, run, f"{raw}+{place}", str(int(raw) + place), cores, run.state, submit)
            if not run.parts:
                row(job, run, name, raw, run.cores, run.state, submit)
    if chance.random() < 0.3:
        rows += chance.sample(rows, 5)  # dumps that overlap
    chance.shuffle(rows)
    return "|".join(columns) + "\n" + "\n".join(rows) + "\n"


def swf(made: Schedule, seed: int) -> str:
    """The archive's: no names, no resizes and no suspensions; what is not known is -1."""
    chance = random.Random(seed)
    gap = chance.choice((" ", "  ", "\t"))
    ends = chance.choice(("\n", "\r\n", " \n"))
    lines = [
        "; Version: 2.2",
        f"; UnixStartTime: {made.begin}",
        f"; TimeZoneString: {made.zone}",
        ";",
        "; Note: one",
    ]
    for job in made.jobs:
        for run in job.runs or [None]:
            wait, lasts, cores, status = -1, -1, -1, 5
            if run is not None:
                wait, lasts = run.start - job.submit, (run.end or made.end) - run.start
                cores, status = run.cores, chance.choice((0, 1, -1))
            asked = cores if chance.random() < 0.5 or run is None else 5000
            cells = [job.number, job.submit - made.begin, wait, lasts, cores, -1, -1, asked, -1, -1, status]
            cells += [USERS.index(job.user) + 1, -1, -1, QUEUES.index(job.queue) + 1, -1, -1, -1]
            lines.append(gap.join(map(str, cells)))
            if chance.random() < 0.1:
                lines.append(";a comment; of some words")
    return ends.join(lines) + ends


def pbs(made: Schedule, seed: int, torque: bool) -> list[str]:
    """Accounting logs, a file for each week: S, E and R records, with Torque's hosts or OpenPBS's."""
    chance = random.Random(seed)
    clock = ZoneInfo(made.zone)
    files: dict[int, list[tuple[int, str]]] = {}

    def record(when: int, kind: str, job: str, words: dict[str, object]) -> None:
        text = " ".join(f"{key}={value}" for key, value in words.items())
        line = f"{datetime.fromtimestamp(when, clock):%m/%d/%Y %H:%M:%S};{kind};{job};{text}"
        files.setdefault((when - made.begin) // (7 * 86400), []).append((when, line))

    def width(run: Run) -> dict[str, object]:
        per, rest = divmod(run.cores, run.nodes)
        of = [per + (k < rest) for k in range(run.nodes)]
        if torque:
            ranges = chance.random() < 0.5
            hosts = "+".join(
                f"n{k}/0-{n - 1}" if ranges and n > 1 else "+".join(f"n{k}/{i}" for i in range(n))
                for k, n in enumerate(of)
            )
            return {
                "exec_host": hosts,
                "Resource_List.ncpus": 1,
                "Resource_List.nodes": f"{run.nodes}:ppn={per}",
            }
        hosts = "+".join(f"n{k}/0*{n}" for k, n in enumerate(of))
        words: dict[str, object] = {"exec_host": hosts, "Resource_List.ncpus": run.cores}
        if chance.random() < 0.5:
            words["exec_vnode"] = "+".join(f"(n{k}:ncpus={n}:mem=4gb:ngpus=2)" for k, n in enumerate(of))
        return words

    for job in made.jobs:
        task = "" if job.task is None else f"[{job.task}]"
        name = f"{job.number}{task}.{chance.choice(('s1', 's1.site.org'))}"
        who: dict[str, object] = {"user": job.user.replace(" ", "_"), "group": "g", "account": '"a b"'}
        who |= {
            "jobname": "a.out",
            "queue": job.queue,
            "ctime": job.submit,
            "qtime": job.submit,
            "etime": job.submit,
        }
        record(job.submit, "Q", name, {"queue": job.queue})
        for run in job.runs:
            words = who | {"start": run.start} | width(run) | {"Resource_List.walltime": "UNLIMITED"}
            record(run.start, "S", name, words)
            if run.end is None:
                continue
            more = {
                "end": run.end,
                "Exit_status": chance.choice((0, 1, 271, -4)),
                "resources_used.walltime": "99:59:59",
            }
            if run is not job.runs[-1]:
                record(run.end, "R", name, {} if torque else words)
            else:
                record(run.end, "E", name, words | more)
    return ["\n".join(line for _, line in sorted(files[k], key=lambda w: w[0])) + "\n" for k in sorted(files)]
