"""A batch script for Slurm that a person can read: each directive with its reason."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from strata.scripts import comment, one_line

WARNING_S = 120  # before the end of its time a run is told, writes a checkpoint and ends

# Each gets {out}, the run's folder, and {run}, the words that start it.
_GOES_ON = """\
# Where an earlier start of this job has left a checkpoint, the run goes on from it, with the same bits.
again=()
for folder in {out}/checkpoint-*; do [ -e "$folder" ] && again=(--restart {out}); done

# Slurm sends SIGUSR1 {warning} s before the job's time is over. Then the run writes a checkpoint and ends,
# and the job is queued again.
unfinished=
in_time() {{ unfinished=yes; {strata} steer {out} checkpoint && {strata} steer {out} stop; }}
trap in_time USR1

{run} "${{again[@]}}" &
wait $!
status=$?
if [ -n "$unfinished" ]; then
    wait
{requeue}
fi
exit $status
"""
_REQUEUE = '    exec scontrol requeue "$SLURM_JOB_ID"'
# Slurm leaves a job with the time that it got, and lets its user ask for more while it is queued.
_REQUEUE_WHOLE = """\
    # Slurm has shortened the job's time where it started earlier so: it is queued again with all of it. Slurm
    # ends this script meanwhile.
    trap '' TERM
    scontrol requeue "$SLURM_JOB_ID" && exec scontrol update JobId="$SLURM_JOB_ID" TimeLimit={time}"""


@dataclass(frozen=True)
class Directive:
    """A line of #SBATCH and why it is there. Raises StrataError where the option has more than one line."""

    text: str
    why: str

    def __post_init__(self) -> None:
        one_line(self.text, "#SBATCH")


@dataclass(frozen=True)
class Script:
    """All that a batch script says."""

    asked: str  # the line that somebody typed
    directives: tuple[Directive, ...]
    reasons: tuple[str, ...]  # of the layout
    before: tuple[str, ...]  # lines of shell
    command: tuple[str, ...]
    out: str | None = None  # the folder of a run that goes on after its time is over
    strata: str = "strata"
    whole: str | None = None  # time that a run that goes on asks for again, where a job may get less

    def text(self) -> str:
        """The script. A word {task} of the command is the number of the task in a job array."""
        width = max(len(each.text) for each in self.directives)
        lines = ["#!/bin/bash", comment(f"Written by: {self.asked}"), "#"]
        for each in self.directives:
            lines.append(comment(each.why))
            lines.append(f"#SBATCH {each.text}".ljust(width))
        lines = [line.rstrip() for line in lines] + [""]
        lines += [comment(reason) for reason in self.reasons]
        lines += [*self.before]
        run = quoted(self.command)
        if self.out is None:
            return "\n".join([*lines, f"exec {run}", ""])
        goes_on = _GOES_ON.format(
            out=quoted((self.out,)),
            run=run,
            warning=WARNING_S,
            strata=shlex.quote(self.strata),
            requeue=_REQUEUE_WHOLE.format(time=self.whole) if self.whole else _REQUEUE,
        )
        return "\n".join(lines) + "\n" + goes_on


def quoted(words: tuple[str, ...]) -> str:
    """Words for a shell. {task} in a word becomes the number of the task in its array."""
    return " ".join(
        '"$SLURM_ARRAY_TASK_ID"'.join(shlex.quote(part) if part else "" for part in word.split("{task}"))
        if "{task}" in word
        else shlex.quote(word)
        for word in words
    )
