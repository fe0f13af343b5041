"""The quick run on all nodes of a Slurm cluster, or some: in an allocation as one step on its nodes, else as
a job for each node, which starts when that node is free.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from strata import documents, own_folders, paths
from strata.advice.words import count
from strata.errors import FAILED, StrataError, why
from strata.measure.files import write_atomically
from strata.measure.journal import utc_now
from strata.scripts import directive
from strata.site import site_file, slurm
from strata.site.site_file import Site
from strata.submit.batch import Directive, Script
from strata.submit.command import choose

TIME_S = 300
ASKED = "asked-"  # files that say which nodes a campaign asked for, a node a line


@dataclass(frozen=True)
class Wanted:
    """`nodes`: names, or Slurm's short form such as n[1-400]; None: all of the partition."""

    out: Path
    nodes: str | None = None
    partition: str | None = None
    account: str | None = None
    site: Path | None = None
    dry_run: bool = False


def submit(wanted: Wanted, asked: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Starts the runs, says how many, and where they leave their files. `asked`: the command line."""
    if environment.get("SLURM_JOB_ID") and wanted.nodes is None:
        for option in ("partition", "account", "site"):
            if getattr(wanted, option) is not None:
                raise StrataError(
                    "nothing would use this option",
                    at=f"--{option}",
                    given=f"--{option} {getattr(wanted, option)} in job {environment['SLURM_JOB_ID']}, "
                    "whose nodes are measured as one step",
                    allowed=f"--{option} with --nodes LIST, or outside a job",
                    remedy=f"leave out --{option}",
                )
        return _step(wanted, environment)
    site = site_file.read(site_file.find(wanted.site))
    partition = choose(slurm.partitions(), wanted.partition or site["partition"])
    names = hostnames(wanted.nodes) if wanted.nodes else [n.name for n in slurm.nodes(partition.name)]
    out = wanted.out.absolute()
    campaign = f"fleet-{utc_now()}".replace(":", "").replace("-", "").replace("fleet", "fleet-")
    script = _script(wanted, site, partition.name, out, campaign, asked)
    if wanted.dry_run:
        print(script.text(), end="")
        print(f"# a job for each of {count(len(names), 'node')}: sbatch --nodelist=NODE {out}/{campaign}.sh")
        return 0
    sbatch = shutil.which("sbatch")
    if sbatch is None:
        raise StrataError(
            "there is no sbatch here, which hands jobs to Slurm",
            at="PATH",
            remedy="load the cluster's Slurm module, or go to a login node; --dry-run prints the script",
        )
    _make(out / "output", out)
    path = out / f"{campaign}.sh"
    write_atomically(path, script.text())
    write_atomically(out / f"{ASKED}{campaign}.txt", "\n".join(names) + "\n")
    refused = [name for name in names if not _sbatch(sbatch, path, name)]
    sent = count(len(names) - len(refused), "job")
    print(f"submitted {sent} to partition {partition.name}, one for each node: {path}")
    if refused:
        print(f"Slurm refused {len(refused)}: {', '.join(refused[:20])}")
    print(f"see how they go: squeue -n strata-fleet; then: strata centre fleet report {wanted.out}")
    return FAILED if refused else 0


def _step(wanted: Wanted, environment: Mapping[str, str]) -> int:
    """On all nodes of this allocation at once."""
    srun = shutil.which("srun")
    if srun is None:
        raise StrataError(
            "no srun on PATH", given=f"job {environment['SLURM_JOB_ID']}", remedy="load Slurm's module"
        )
    count = environment.get("SLURM_JOB_NUM_NODES", "1")
    words = [srun, f"--nodes={count}", "--ntasks-per-node=1", "--cpu-bind=none", "--mem=0", "--label"]
    words += [paths.command(), "centre", "fleet", "quick", "--out", str(wanted.out.absolute())]
    words += ["--campaign", f"job {environment['SLURM_JOB_ID']}"]
    if wanted.dry_run:
        print(" ".join(words))
        return 0
    names = hostnames(environment.get("SLURM_JOB_NODELIST", ""))
    _make(wanted.out, wanted.out)
    write_atomically(wanted.out / f"{ASKED}job {environment['SLURM_JOB_ID']}.txt", "\n".join(names) + "\n")
    return subprocess.run(words).returncode


def _make(folder: Path, out: Path) -> None:
    try:
        own_folders.make_results(folder)
    except OSError as error:
        raise StrataError(
            "cannot make the folder", at="--out", given=f"{out}: {why(error)}", code=FAILED
        ) from None


def _script(
    wanted: Wanted, site: Site, partition: str, out: Path, campaign: str, asked: Sequence[str]
) -> Script:
    lines = [
        Directive("--job-name=strata-fleet", "Its name in squeue."),
        Directive(directive("partition", partition), "As asked, this site's, or Slurm's."),
        Directive("--nodes=1", "One node: --nodelist says which."),
        Directive("--exclusive", "A node alone: neighbours would disturb its figures."),
        Directive("--mem=0", "All of its memory, for arrays larger than caches."),
        Directive(f"--time={slurm.time_of(TIME_S)}", "The run takes less than a minute."),
        Directive(directive("output", f"{out}/output/%N-%j.out"), "What it prints."),
    ]
    for option, value in (
        ("account", wanted.account or site["account"]),
        ("qos", site["qos"]),
        ("constraint", site["constraint"]),
    ):
        if value is not None:
            lines.append(Directive(directive(option, value), "As asked, or as this site says."))
    before = (*(f"module load {shlex.quote(name)}" for name in site["modules"]), *site["before"])
    command = (paths.command(), "centre", "fleet", "quick", "--out", str(out), "--campaign", campaign)
    return Script(shlex.join(["strata", *asked]), tuple(lines), (), before, command)


def _sbatch(sbatch: str, path: Path, node: str) -> bool:
    done = subprocess.run(
        [sbatch, "--parsable", f"--nodelist={node}", str(path)], capture_output=True, text=True
    )
    return done.returncode == 0


def hostnames(text: str, ask: Callable[..., subprocess.CompletedProcess[str]] = subprocess.run) -> list[str]:
    """The nodes of a list such as n1,n[3-5]."""
    if "[" not in text:
        return [name.strip() for name in text.split(",") if name.strip()]
    scontrol = shutil.which("scontrol")
    if scontrol is None:
        raise StrataError(
            "no scontrol on PATH", at="--nodes", given=text, allowed="names with commas between"
        )
    done = ask([scontrol, "show", "hostnames", text], capture_output=True, text=True)
    if done.returncode != 0:
        raise StrataError("not a list of nodes", at="--nodes", given=text, allowed="such as n1,n[3-5]")
    return done.stdout.split()


def silent(folders: Sequence[Path], ran: set[tuple[str, str]]) -> list[str]:
    """Nodes that the newest campaign of each folder asked for and that left no file: `ran` has the pairs of
    campaign and node.
    """
    found: list[str] = []
    for folder in folders:
        lists = (
            sorted(folder.glob(f"{ASKED}*.txt"), key=lambda p: p.lstat().st_mtime) if folder.is_dir() else []
        )
        for path in lists[-1:]:
            campaign = path.name.removeprefix(ASKED).removesuffix(".txt")
            try:
                names = documents.contents(path).decode(errors="replace").split()
            except OSError as error:
                raise StrataError(
                    "cannot read which nodes were asked",
                    at=str(path),
                    given=why(error),
                    allowed="a file of `strata centre fleet submit`, a name a line",
                    remedy="move it away, and no node is said to be silent",
                    code=FAILED,
                ) from None
            found += [n for n in names if (campaign, n) not in ran]
    return list(dict.fromkeys(found))
