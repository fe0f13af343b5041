"""What runs: tasks (a command under a layout), and how often, in which order and within which limits they
run: the policy.

A plan is fixed before its first launch. Its hash covers the tasks, the policy, the machine and the binaries,
so that samples of unlike things never end up in one median: a run resumes only where all of these are the
same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from strata import documents
from strata.errors import StrataError
from strata.measure import stats
from strata.measure.taint import Limits

SCHEMA = "strata.plan/1"
RESULT = "{result}"  # replaced by the path at which the program leaves its strata.result/1


OWN_SHARE = ("--own-share",)  # what the engine asks of the launcher when nothing else was said


@dataclass(frozen=True)
class Pattern:
    """A figure that is found in a program's output: the last match of a regular expression with one group."""

    name: str
    pattern: str
    unit: str = ""
    better: str = "higher"


@dataclass(frozen=True)
class Task:
    """One thing to measure. `command` may hold {result} and names of programs such as {strata-bench}."""

    id: str
    benchmark: str
    command: tuple[str, ...]
    layout: str
    stride: int = 1
    bind: str = "core"
    figures: tuple[str, ...] = ()  # the headline figures; all figures of the result are kept
    timeout_s: float = 60.0
    expected_s: float = 1.0  # for an estimate before anything ran
    drop: int = 0  # 0: never left out; otherwise the largest goes first when the time budget is too small
    options: tuple[str, ...] = OWN_SHARE  # further options of `strata launch`
    patterns: tuple[Pattern, ...] = ()  # figures from the output
    labels: Mapping[str, str] = field(default_factory=dict)  # what a study varies: {"mode": "one", ...}
    environment: Mapping[str, str] = field(default_factory=dict)  # beside what this process has
    output: str = ""  # "osu": figures from a table of the OSU micro-benchmarks in the output
    crowded: bool = False  # runs more threads than it has cores, on purpose: see taint.judge
    launches: int = 0  # that count; 0: as many as the policy says
    once: str = (
        ""  # an option whose value the warm-up launch finds, as a parameter of its result; later ones get it
    )

    @property
    def leaves_result(self) -> bool:
        return any(RESULT in word for word in self.command)


@dataclass(frozen=True)
class Policy:
    """How often and within which limits."""

    launches: int = stats.LEAST
    repeats: int = 6  # further launches a task may have in place of disturbed or failed ones
    limits: Limits = field(default_factory=Limits)
    seed: int = 0
    budget_s: float | None = None  # optional tasks are left out when the estimate exceeds it
    patience_s: float = 60.0  # in all, waiting for a quiet machine before repeats
    precision: float | None = None  # half the headline's interval over its median at which a task is done
    most: int = 0  # launches of a task that never gets so precise; 0 without precision
    compared: int = 1  # settings of which the best is asked: precise when their intervals at once are
    strict: bool = False  # disturbed launches are no answer, whatever the background

    @property
    def looks(self) -> int | None:
        """The most samples at which measuring may stop by what it saw; None: their number is fixed."""
        return self.most if self.precision is not None else None


@dataclass(frozen=True)
class Plan:
    """Tasks and policy, with the machine and the build they are for."""

    kind: str
    mode: str
    tasks: tuple[Task, ...]
    policy: Policy
    machine: Mapping[str, Any]  # identity(), not the whole topology
    build: str

    @property
    def hash(self) -> str:
        """Identity of what is measured. The seed is left out: a resumed run keeps the seed it began with."""
        content = to_dict(self)
        content["policy"].pop("seed")
        content.pop("hash")
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def task(self, task_id: str) -> Task:
        return next(t for t in self.tasks if t.id == task_id)

    def with_seed(self, seed: int) -> Plan:
        return replace(self, policy=replace(self.policy, seed=seed))


def check(plan: Plan) -> Plan:
    """Refuses a plan whose answer could not be trusted."""
    if not plan.tasks:
        raise StrataError(
            "nothing is left to measure: the plan has no tasks",
            given="a case of which no part can run here",
            remedy="`strata characterize --dry-run` says what was left out, and why",
        )
    if plan.policy.launches < stats.LEAST:
        raise StrataError(
            "too few launches for an interval",
            at="launches",
            given=str(plan.policy.launches),
            allowed=f">= {stats.LEAST}: fewer cannot give a distribution-free 95 % interval of the median",
        )
    if plan.policy.precision is not None and plan.policy.most < plan.policy.launches:
        raise StrataError(
            "fewer launches at most than at least",
            at="most",
            given=f"most = {plan.policy.most}",
            allowed=f">= launches = {plan.policy.launches}",
        )
    seen: set[str] = set()
    for task in plan.tasks:
        if task.id in seen:
            raise StrataError(
                "two tasks have the same id", at=task.id, remedy="give one of them another name"
            )
        seen.add(task.id)
    return plan


def to_dict(plan: Plan) -> dict[str, Any]:
    """The plan as plan.json holds it, without its hash."""
    return {
        "schema": SCHEMA,
        "hash": "",
        "kind": plan.kind,
        "mode": plan.mode,
        "machine": dict(plan.machine),
        "build": plan.build,
        "policy": _policy_to_dict(plan.policy),
        "tasks": [task_to_dict(t) for t in plan.tasks],
    }


def _policy_to_dict(policy: Policy) -> dict[str, Any]:
    content = asdict(policy)
    if policy.precision is None:
        del content["precision"], content["most"], content["compared"]
    if not policy.strict:
        del content["strict"]
    return content


_DEFAULTS = (
    ("options", list(OWN_SHARE)),
    ("patterns", []),
    ("labels", {}),
    ("environment", {}),
    ("output", ""),
    ("crowded", False),
    ("launches", 0),
    ("once", ""),
)


def task_to_dict(task: Task) -> dict[str, Any]:
    """As plan.json holds it. What a task leaves as it is by default is not written, so that plans from before
    there was such a field keep their hash.
    """
    content = {**asdict(task), "command": list(task.command), "figures": list(task.figures)}
    content["options"], content["patterns"] = list(task.options), [asdict(p) for p in task.patterns]
    for name, default in _DEFAULTS:
        if content[name] == default:
            del content[name]
    return content


def task_from_dict(content: Mapping[str, Any]) -> Task:
    """The task that task_to_dict() wrote."""
    values = {**content, "command": tuple(content["command"]), "figures": tuple(content["figures"])}
    if "options" in values:
        values["options"] = tuple(values["options"])
    if "patterns" in values:
        values["patterns"] = tuple(Pattern(**p) for p in values["patterns"])
    return Task(**values)


def dump(plan: Plan) -> dict[str, Any]:
    """What plan.json holds."""
    return {**to_dict(plan), "hash": plan.hash}


def load(value: Mapping[str, Any], at: Path) -> Plan:
    """The plan in plan.json; a plan that was edited by hand no longer matches its hash and is refused."""
    try:
        policy = dict(value["policy"])
        policy["limits"] = Limits.from_dict(policy["limits"], str(at))
        tasks = tuple(task_from_dict(t) for t in value["tasks"])
        plan = Plan(value["kind"], value["mode"], tasks, Policy(**policy), value["machine"], value["build"])
        found = plan.hash
    except (KeyError, TypeError) as error:
        raise _not_ours(at, f"missing or unknown key: {error}") from None
    except documents.ODD:
        raise _not_ours(at, "other values than a plan has") from None
    if found != value.get("hash"):
        raise _not_ours(at, f"hash {value.get('hash')}, content {found}")
    return plan


def _not_ours(at: Path, why: str) -> StrataError:
    return StrataError(
        "damaged file: the plan is not as it was written",
        at=str(at),
        given=why,
        allowed="a plan as it was written: limits and tasks are fixed before the first launch",
        remedy="restore the file, or start a new results folder with --new",
        code=1,
    )


# Facts that do not change from run to run. Free memory, load and clock do; they are provenance, not identity.
_STABLE = (
    "hostname",
    "kernel",
    "arch",
    "cpu_model",
    "virtualisation",
    "container",
    "packages",
    "domains",
    "caches",
    "cores",
)


def identity(machine: Mapping[str, Any]) -> dict[str, Any]:
    """What makes two runs 'on the same machine': its parts, the kernel, what this process may use of it."""
    facts = {key: machine.get(key) for key in _STABLE}
    facts["memories"] = [
        {k: m.get(k) for k in ("index", "kind", "domain")} for m in machine.get("memories") or []
    ]
    allowed = machine.get("allowed") or {}
    facts["allowed"] = {k: allowed.get(k) for k in ("pus", "memories", "cpus_effective")}
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
    return {"hostname": machine.get("hostname"), "cpu_model": machine.get("cpu_model"), "digest": digest}


def build_id(programs: Sequence[Path]) -> str:
    """Identity of the binaries: a rebuilt benchmark is another benchmark until proven equal."""
    digest = hashlib.sha256()
    for program in sorted(programs):
        digest.update(program.name.encode())
        digest.update(program.read_bytes())
    return digest.hexdigest()[:16]


def differences(old: Plan, new: Plan) -> list[str]:
    """In words, what keeps the new plan from continuing the old one."""
    said = []
    if old.machine != new.machine:
        said.append("machine")
    if old.build != new.build:
        said.append("binaries")
    if old.tasks != new.tasks or (old.kind, old.mode) != (new.kind, new.mode):
        said.append("tasks")
    if replace(old.policy, seed=0) != replace(new.policy, seed=0):
        said.append("number of launches, limits or budget")
    return said
