"""`strata submit`: what is asked, the script for it, and sbatch."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from strata import own_folders, paths
from strata.errors import FAILED, StrataError
from strata.measure.files import storage_error, write_atomically
from strata.measure.progress import duration
from strata.scripts import directive
from strata.site import site_file, slurm
from strata.site.site_file import Site
from strata.site.slurm import Node, Partition
from strata.submit import any_program, estimate, time_limit
from strata.submit.batch import WARNING_S, Directive, Script, quoted
from strata.submit.first_node import FirstNode, first_node
from strata.submit.request import Request

# Commands of Strata that may be a job, and which of them measure: these need a node alone.
COMMANDS = {"characterize": True, "study": True, "tune": True, "bench": True, "run": False, "launch": False}
_HAVE_FOLDERS = ("characterize", "study", "tune", "run")  # by --out
_HAVE_NODES = ("characterize", "tune", "run", "launch")  # by --nodes


def run(request: Request) -> int:
    """The whole command; returns its exit code."""
    site = site_file.read(site_file.find(request.site))
    partition = choose(slurm.partitions(), request.partition or site["partition"])
    known = slurm.nodes(partition.name) if request.first_node_memory else []
    script, folder = prepare(request, site, partition, known)
    if request.dry_run:
        print(script.text(), end="")
        return 0
    job, path = submit(script, folder)
    print(f"submitted job {job} to partition {partition.name}, by the script {path}")
    if request.words[0] in ("characterize", "study", "tune"):
        print(f"report will be: {folder / 'report' / 'report.html'}")
    print(f"see how it goes: squeue -j {job}; tail -f {folder}/slurm-{job}.out")
    return 0


def choose(known: Sequence[Partition], name: str | None) -> Partition:
    """The partition of this name, or the cluster's default."""
    for each in known:
        if each.name == name or (name is None and each.default):
            return each
    raise StrataError(
        "no such partition" if name else "this cluster has no default partition",
        at="--partition",
        given=name or "none",
        allowed=", ".join(each.name for each in known) or "none that you may use",
        remedy="sinfo -s",
    )


def prepare(
    request: Request, site: Site, partition: Partition, nodes: Sequence[Node] = ()
) -> tuple[Script, Path]:
    """The script, and the folder that it and the job's output go to. `nodes`: the partition's, where one of
    them must have more memory.
    """
    if not request.words:
        raise StrataError(
            "nothing to submit",
            at="strata submit",
            given="nothing after --",
            allowed="a command of Strata's, or a program",
            remedy="strata submit -- run case.toml --layout 16x4 --time 2h",
        )
    known = request.words[0] if request.words[0] in COMMANDS else None
    request = _with_layout(request, known)
    _check_nodes(request, partition, known)
    words, folder = _with_folder(request, site, known)
    out = estimate.value_of(words, "--out") if request.goes_on else None
    layout = estimate.value_of(words, "--layout") if known else request.layout
    reasons = _reasons(layout, request.nodes, partition, site)
    if request.goes_on:
        time_limit.check_progress(request)
    by_criu = request.goes_on and known != "run"
    if by_criu:
        any_program.check(words, known, layout, request.nodes, site.starter())
    first = _first_node(request, site, known, layout, nodes, folder)
    modules = (f"module load {shlex.quote(name)}" for name in site["modules"])
    before = (*modules, *site["before"], *first.before)
    command = _command(words, request, site, known, layout)
    strata = command[0]
    seconds, why = time_limit.of(request, site, partition)
    time = slurm.time_of(seconds)
    whole = time if request.time_min_s is not None else None
    if by_criu:
        own = str(folder / "{task}" if request.array is not None else folder)
        command = any_program.command(strata, own, command, whole)
        reasons = (*reasons, *any_program.reasons(own))
    asked = shlex.join(["strata", *request.argv])
    directives = tuple(
        _directives(request, site, partition, folder, known, first, Directive(f"--time={time}", why))
    )
    return Script(asked, directives, reasons, before, command, out, strata, whole), folder


def _first_node(
    request: Request, site: Site, known: str | None, layout: str | None, nodes: Sequence[Node], folder: Path
) -> FirstNode:
    """What a first node with more memory needs; without one the constraint alone."""
    constraint = request.constraint or site["constraint"]
    if request.first_node_memory is None:
        return FirstNode(constraint, (), ())
    if request.nodes > 1 and (known not in ("run", "launch", None) or site.starter()):
        raise StrataError(
            "ranks of this job cannot be told which node is the first",
            at="--first-node-memory",
            given=f"strata {known}" if not site.starter() else f"starter {site['starter']}",
            allowed="run, launch or a program, started by srun",
        )
    processes = int(layout.split("x")[0]) if layout else request.nodes
    where = quoted((str(folder),))
    return first_node(request.first_node_memory, request.nodes, processes, nodes, constraint, where)


def _with_layout(request: Request, known: str | None) -> Request:
    """The job's layout among the words of a command of Strata's that takes one; others refuse it."""
    if request.layout is None or known is None:
        return request
    own = ("--layout", request.layout)
    if estimate.value_of(request.words, "--layout") is not None:
        raise StrataError(
            "the layout is said twice",
            at="--layout",
            given=f"{request.layout}, and {estimate.value_of(request.words, '--layout')} of strata {known}",
            allowed="one of them",
        )
    if known in ("run", "launch"):  # before a program, and after a case
        at = 2 if known == "run" else 1
    elif known == "bench" or request.words[:2] == ("study", "uncertainty"):
        at = len(request.words)
    else:
        raise StrataError(
            "this command chooses layouts itself",
            at="--layout",
            given=f"{request.layout} with strata {shlex.join(request.words[:2])}",
            allowed="--layout with run, launch, bench, `study uncertainty` or a program",
            remedy="leave out --layout",
        )
    return replace(request, words=(*request.words[:at], *own, *request.words[at:]))


def _check_nodes(request: Request, partition: Partition, known: str | None) -> None:
    if request.nodes > partition.nodes:
        raise StrataError(
            "the partition has fewer nodes",
            at="--nodes",
            given=str(request.nodes),
            allowed=f"1 to {partition.nodes} in partition {partition.name}",
        )
    asked = estimate.value_of(request.words, "--nodes") if known in _HAVE_NODES else None
    if asked is not None and asked != str(request.nodes):
        raise StrataError(
            "the command is for another number of nodes than its job has",
            at="--nodes",
            given=f"{request.nodes} of the job, {asked} of strata {known}",
            allowed="the same number",
            remedy=f"strata submit --nodes {asked} -- {known} ...",
        )
    spans = known in ("run", "launch") or asked is not None
    if request.nodes > 1 and known is not None and not spans:
        raise StrataError(
            "this command measures one node at a time",
            at="--nodes",
            given=f"{request.nodes} with strata {known}",
            allowed="--nodes with run, launch, `characterize --nodes` or a program",
            remedy=f"--array 1-{request.nodes}: as many jobs, each on a node of its own",
        )


def _with_folder(request: Request, site: Site, known: str | None) -> tuple[tuple[str, ...], Path]:
    """The words with the output folder that they name, or with one that is new; and the folder of the script,
    which is the same but for an array.
    """
    said = estimate.value_of(request.words, "--out") if known in _HAVE_FOLDERS else None
    if said is not None and request.array is None:
        return request.words, Path(said).absolute()
    base = site.scratch or paths.results_base()
    stamp = time.strftime("%Y%m%d-%H%M%S")
    name = paths.results_name(known or Path(request.words[0]).name, None, stamp)
    folder = own_folders.numbered(base.absolute() / name)  # made when the script is: a dry run makes nothing
    if known not in _HAVE_FOLDERS or said is not None:
        return request.words, folder
    own = folder / "{task}" if request.array is not None else folder
    # Before the program of `tune -- program`.
    at = request.words.index("--") if "--" in request.words else len(request.words)
    return (*request.words[:at], "--out", str(own), *request.words[at:]), folder


def _reasons(layout: str | None, nodes: int, partition: Partition, site: Site) -> tuple[str, ...]:
    """Why the layout fits the nodes, as the launcher sees it on one of them."""
    if layout is None:
        return ()
    try:
        processes, threads = map(int, layout.split("x"))
    except ValueError:
        raise StrataError(
            "not a layout", at="--layout", given=layout, allowed="PxT, such as 16x4: processes x threads"
        ) from None
    if processes < nodes:
        raise StrataError(
            "there are fewer processes than nodes",
            at="--layout",
            given=f"{layout} on {nodes} nodes",
            allowed="at least a process on each; the layout counts the processes of all nodes",
            remedy=f"--layout {nodes}x{threads}",
        )
    each = -(-processes // nodes)
    if each * threads > partition.cores_of_node:
        raise StrataError(
            "the layout is larger than the nodes",
            at="--layout",
            given=f"{layout} on {nodes} nodes: {each} x {threads} = {each * threads} cores of a node",
            allowed=f"{partition.cores_of_node} cores on each node of partition {partition.name}",
            remedy=f"--nodes {-(-processes * threads // partition.cores_of_node)}",
        )
    machine = site.machine(partition.name) or partition.machine
    front = [str(paths.native().front), "launch", "--dry-run", "--machine", machine]
    done = subprocess.run(
        [*front, "--layout", f"{each}x{threads}", "--", "true"], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise StrataError.read(done.stderr, done.returncode) or StrataError(
            "the layout cannot be checked",
            at=f"--layout {layout}",
            given=done.stderr.strip() or f"`strata launch --dry-run` ended with status {done.returncode}",
            remedy="`strata doctor` says what is missing",
            code=FAILED,
        )
    why = [line.partition(":")[2].strip() for line in done.stdout.splitlines() if line.startswith("why:")]
    return (
        f"Layout {layout}: {each} processes of {threads} threads on each node, "
        f"{each * threads} of its {partition.cores_of_node} cores.",
        *(f"  {line}" for line in why),
    )


def _command(
    words: tuple[str, ...], request: Request, site: Site, known: str | None, layout: str | None
) -> tuple[str, ...]:
    """The words of the script's last line."""
    strata = paths.command()
    said = known is not None and estimate.value_of(words, "--nodes") is not None
    nodes = ("--nodes", str(request.nodes)) if request.nodes > 1 and not said else ()
    line = site.starter()
    if known == "run" and not line:
        return (strata, *words[:2], *nodes, *words[2:])
    if known == "launch" and not line:
        return (strata, words[0], *nodes, *words[1:])
    if known is not None:
        if line and request.nodes > 1:
            raise StrataError(
                "this site starts ranks by a launch line of its own",
                given=f"starter {site['starter']} with strata {known} on {request.nodes} nodes",
                allowed="a program: strata submit --layout PxT -- ./program",
            )
        return (strata, *words)
    layout = layout or f"{request.nodes}x1"
    if not line:
        return (strata, "launch", *nodes, "--layout", layout, "--", *words)
    processes, threads = map(int, layout.split("x"))
    filled = line.format(
        processes=processes, threads=threads, nodes=request.nodes, per_node=-(-processes // request.nodes)
    )
    return (*shlex.split(filled), strata, "launch", "--layout", layout, "--", *words)


def _directives(
    request: Request,
    site: Site,
    partition: Partition,
    folder: Path,
    known: str | None,
    first: FirstNode,
    time: Directive,
) -> list[Directive]:
    """Every option of the job with its reason."""
    name = request.words[0] if known else Path(request.words[0]).name
    lines = [
        Directive(directive("job-name", f"strata-{name}"), "Its name in squeue."),
        Directive(
            directive("partition", partition.name),
            "As asked." if request.partition else "This site's, or Slurm's.",
        ),
        Directive(f"--nodes={request.nodes}", _why_nodes(request)),
        Directive(
            "--exclusive",
            "Whole nodes: threads are bound to cores, "
            + (
                "and neighbours would disturb the figures."
                if COMMANDS.get(known or "")
                else "which are theirs alone."
            ),
        ),
        Directive("--mem=0", "All memory of each node."),
        time,
    ]
    lines += _of_its_end(request)
    for option, value in (
        ("account", request.account or site["account"]),
        ("qos", request.qos or site["qos"]),
        ("constraint", first.constraint),
        ("reservation", request.reservation),
        ("switches", request.switches),
        ("array", request.array),
    ):
        if value is not None:
            lines.append(
                Directive(directive(option, value), _WHY.get(option, "As asked, or as this site says."))
            )
    lines += first.directives
    lines += [Directive(option, "This site's.") for option in site["options"]]
    output = "slurm-%A-%a.out" if request.array else "slurm-%j.out"
    lines.append(Directive(directive("output", folder / output), "What it prints."))
    return lines


def _of_its_end(request: Request) -> list[Directive]:
    """Of a job that may end before it is done, and goes on in another one."""
    lines = []
    if request.time_min_s is not None:
        lines.append(
            Directive(
                f"--time-min={slurm.time_of(request.time_min_s)}",
                f"It starts earlier where {duration(request.time_min_s)} fit between other jobs.",
            )
        )
    if request.goes_on:
        lines += [
            Directive(
                f"--signal=B:USR1@{WARNING_S}", "The script is told before its time is over (see below)."
            ),
            Directive("--requeue", "A job whose node fails is queued again, and goes on."),
            Directive("--open-mode=append", "What earlier starts have printed stays."),
        ]
    return lines


_WHY = {
    "switches": "Nodes below so few switches are near each other; Slurm waits for them as long as is said.",
    "array": "A job for each number, which replaces {task} in the command.",
}


def _why_nodes(request: Request) -> str:
    return "One node." if request.nodes == 1 else f"The layout's processes share {request.nodes} nodes."


def submit(script: Script, folder: Path) -> tuple[str, Path]:
    """Writes the script into the folder and gives it to sbatch; the job's number, and the script."""
    sbatch = shutil.which("sbatch")
    if sbatch is None:
        raise StrataError(
            "there is no sbatch here, which hands jobs to Slurm",
            at="PATH",
            remedy="load the cluster's Slurm module, or go to a login node; --dry-run prints the script",
        )
    try:
        own_folders.make_results(folder)
    except OSError as error:
        raise storage_error(error, folder) from error
    path = folder / "job.sh"
    write_atomically(path, script.text())
    done = subprocess.run([sbatch, "--parsable", str(path)], capture_output=True, text=True)
    if done.returncode != 0:
        raise StrataError(
            "sbatch refused the job",
            at=str(path),
            given=done.stderr.strip() or f"exit {done.returncode}",
            remedy="sinfo -s lists partitions, sacctmgr show assoc your accounts",
            code=FAILED,
        )
    # --parsable prints "ID" or "ID;cluster"
    return done.stdout.strip().split("\n")[-1].split(";")[0], path
