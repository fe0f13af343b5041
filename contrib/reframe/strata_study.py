"""A ReFrame check that runs a Strata study and hands its headline figures to ReFrame.

    reframe -c contrib/reframe/strata_study.py -S StrataStudy.study=$PWD/my.toml -r --performance-report

Each headline figure of each setting becomes a performance variable, such as "solver/pinned/1x4 rate": the
median of its launches with the study's unit. The check is passed when `strata study run` ended with 0 and
every setting has an answer.

With references of your own, in a file beside this one:

    from strata_study import StrataStudyBase

    @rfm.simple_test
    class my_solver(StrataStudyBase):
        study = 'my.toml'
        reference = {'cluster:compute': {'solver/pinned/1x4 rate': (120.0, -0.05, None, '1/s')}}

Needs ReFrame 4 and `strata` on PATH (or -S StrataStudy.strata=...). Strata itself decides where processes and
threads go, so the partition's parallel launcher is not used, and one study at a time measures on a host.
"""

import json
import shlex
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.backends import getlauncher
from reframe.core.builtins import run_before, sanity_function, variable

_RESULTS = "strata-results"
_SAID = "strata study run ended with"


class StrataStudyBase(rfm.RunOnlyRegressionTest):
    """Runs one study in a job; derive from it to set `study` and `reference`."""

    strata = variable(str, value="strata")  # the command
    study = variable(str, value="")  # a TOML file, or the name of a study that comes with Strata
    budget = variable(str, value="")  # such as 10m; empty: what the study says
    figures = variable(typ.List[str], value=[])  # of the headline figures, only these; empty: all

    valid_systems = ["*"]  # noqa: RUF012
    valid_prog_environs = ["*"]  # noqa: RUF012
    sourcesdir = None
    num_tasks = 1
    exclusive_access = True
    keep_files = [f"{_RESULTS}/summary.json"]  # noqa: RUF012
    tags = {"strata", "performance"}  # noqa: RUF012

    @run_before("run")
    def set_command(self):
        if not self.study:
            raise ValueError("no study: -S StrataStudy.study=FILE.toml, or study = '...' in a derived class")
        self.job.launcher = getlauncher("local")()
        self.executable = self.strata
        study = Path(self.study).resolve() if Path(self.study).is_file() else self.study
        self.executable_opts = ["study", "run", shlex.quote(str(study)), "--out", _RESULTS]
        if self.budget:
            self.executable_opts += ["--budget", self.budget]
        # In the job's own output, so that it is the same with every scheduler.
        self.postrun_cmds = [f'echo "{_SAID} $?"']

    def summary(self):
        """The study's strata.summary/1, read once."""
        if not hasattr(self, "_summary"):
            file = Path(self.stagedir) / _RESULTS / "summary.json"
            self._summary = json.loads(file.read_text(encoding="utf-8"))
        return self._summary

    def said(self):
        """Strata's error in the job's output; else what failed first; else its last line."""
        file = Path(self.stagedir) / sn.evaluate(self.stderr)
        text = file.read_text(encoding="utf-8", errors="replace").strip()
        if "strata: error:" in text:
            return text[text.rfind("strata: error:") :]
        failed = (line for line in text.splitlines() if line.startswith("failed: "))
        return next(failed, text.rpartition("\n")[2])

    @sanity_function
    def it_ended_well_and_every_setting_was_measured(self):
        sn.evaluate(sn.assert_found(rf"^{_SAID} 0$", self.stdout, msg=f"strata failed: {self.said()}"))
        whole = self.summary()
        sn.evaluate(sn.assert_eq(whole["schema"], "strata.summary/1"))
        without = [f"{task['id']}: {task['status']}" for task in whole["tasks"] if task["status"] != "ok"]
        return sn.all(
            [sn.assert_false(without, msg=f"without an answer: {'; '.join(without)}"), whole["tasks"]]
        )

    @run_before("performance")
    def set_variables(self):
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(value), unit)
            for name, (value, unit) in headline(self.summary(), self.figures).items()
        }
        # ReFrame itself passes over references that no variable has: a check that checks nothing.
        scopes = ("*", self.current_system.name, self.current_partition.fullname)
        wanted = [key.rpartition(":") for key in self.reference]  # "system:partition:variable"
        unknown = [name for scope, _, name in wanted if scope in scopes and name not in self.perf_variables]
        if unknown:
            raise ValueError(
                f"references that this study has no figure for: {', '.join(unknown)}; "
                f"it has {', '.join(self.perf_variables)}"
            )


def headline(summary, only=()):
    """{"TASK FIGURE": (median, unit)} of a strata.summary/1: the figures that the study names as headline, or
    a task's first figure where it names none. A figure without a median is left out.
    """
    found = {}
    for task in summary["tasks"]:
        named = task["headline"] or [figure["name"] for figure in task["figures"][:1]]
        for figure in task["figures"]:
            wanted = figure["name"] in named and (not only or figure["name"] in only)
            if wanted and figure["median"] is not None:
                # ReFrame takes ':' for a separator of system, partition and variable.
                name = f"{task['id']} {figure['name']}".replace(":", "=")
                found[name] = (figure["median"], figure["unit"] or "1")
    return found


@rfm.simple_test
class StrataStudy(StrataStudyBase):
    """The study that -S StrataStudy.study=FILE.toml names."""
