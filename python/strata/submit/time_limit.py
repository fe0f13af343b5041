"""The time limit of a job, and what would not do as one."""

from __future__ import annotations

from strata.errors import StrataError
from strata.measure.progress import duration
from strata.site.site_file import Site
from strata.site.slurm import Partition
from strata.submit import estimate
from strata.submit.batch import WARNING_S
from strata.submit.request import Request


def of(request: Request, site: Site, partition: Partition) -> tuple[float, str]:
    """In seconds, and why: as asked, by the command's own plan, or the partition's usual one."""
    planned = None
    if request.time_s is None:
        planned = estimate.of(request.words, site.machine(partition.name))
    if request.time_s is not None:
        asked, why = request.time_s, "As asked."
    elif planned is not None:
        asked, why = planned[0], f"{planned[1]}."
    elif partition.usual_s is not None:
        asked, why = partition.usual_s, f"What partition {partition.name} gives where nothing is asked."
    else:
        raise StrataError(
            "how long the job will take is not known",
            at="--time",
            given="no --time, and the command has no plan of its own",
            allowed="--time 2h, or a partition with a DefaultTime",
        )
    if partition.longest_s is not None and asked > partition.longest_s:
        raise StrataError(
            "the partition allows less time",
            at="--time",
            given=duration(asked),
            allowed=f"up to {duration(partition.longest_s)} in partition {partition.name}",
            remedy=f"--time {int(partition.longest_s // 60)}m --goes-on, for a run that is queued again"
            if request.words[0] == "run"
            else None,
        )
    if request.time_min_s is not None and request.time_min_s >= asked:
        raise StrataError(
            "not a part of the job's time",
            at="--time-min",
            given=duration(request.time_min_s),
            allowed=f"less than the {duration(asked)} of --time",
        )
    return asked, why


def check_progress(request: Request) -> None:
    """Slurm may tell it a minute early (man sbatch, --signal): a shorter job would never end."""
    least = WARNING_S + 60
    for option, asked in (("--time-min", request.time_min_s), ("--time", request.time_s)):
        if asked is not None and asked < least:
            raise StrataError(
                "a job that goes on would be told to end before it has begun",
                at=option,
                given=duration(asked),
                allowed=f"{duration(least)} or more: it is told {WARNING_S} to {least} s before its end",
            )
