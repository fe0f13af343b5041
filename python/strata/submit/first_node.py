"""A first node with more memory: how it is asked of Slurm, and how rank 0 comes to lie on it.

One allocation with counts of features, `--constraint=bigmem*1`: its ranks are one world for every MPI. In a
heterogeneous job (`#SBATCH hetjob`) Slurm's PMIx numbers the nodes of all components by their names, so that
Open MPI starts only where the first component's nodes come first by name (seen with Slurm 22.05.8).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from strata.errors import StrataError
from strata.scripts import directive
from strata.site.slurm import Node
from strata.submit.batch import Directive

_RANKS = """\
# The node with the most memory is the first, on which rank 0 and its neighbours lie: srun reads the node of
# each rank from the file SLURM_HOSTFILE.
first=$(sinfo --noheader --Node --nodes="$SLURM_JOB_NODELIST" --format="%m %N" |
    sort --stable --key=1,1nr | sed -n '1s/.* //p')
nodes=("$first" $(scontrol show hostnames "$SLURM_JOB_NODELIST" | grep --line-regexp --invert-match "$first"))
export SLURM_HOSTFILE={folder}/ranks-$SLURM_JOB_ID
for ((rank = 0; rank < {processes}; ++rank)); do
    echo "${{nodes[rank * {nodes} / {processes}]}}"
done >"$SLURM_HOSTFILE"
"""


@dataclass(frozen=True)
class FirstNode:
    """What a job script says for it."""

    constraint: str | None  # in place of the job's own
    directives: tuple[Directive, ...]
    before: tuple[str, ...]  # lines of shell


def first_node(
    memory: int, nodes: int, processes: int, known: Sequence[Node], constraint: str | None, folder: str
) -> FirstNode:
    """A node with so many bytes, and `nodes - 1` others, with `processes` ranks on all of them.

    `known`: the nodes of the partition. `constraint`: features that all nodes of the job must have. `folder`:
    quoted, for the file of the ranks' nodes. Raises StrataError where Slurm cannot be asked for such a node.
    """
    features = constraint.split("&") if constraint else []
    if constraint and not all(re.fullmatch(r"[\w.:=-]+", each) for each in features):
        raise StrataError(
            "a first node with more memory goes with features that all nodes have",
            at="--constraint",
            given=constraint,
            allowed="FEATURE, or FEATURE&FEATURE",
        )
    fitting = [node for node in known if node.features.issuperset(features)]
    large = [node for node in fitting if node.memory >= memory]
    said = f"{memory / 2**30:.4g} GiB"
    if not large:
        most = max((node.memory for node in fitting), default=0)
        raise StrataError(
            "no node that the job may have has so much memory",
            at="--first-node-memory",
            given=said,
            allowed=f"up to {most / 2**30:.4g} GiB",
            remedy="sinfo -N -o '%N %P %m %f' lists nodes with partition, memory [MiB] and features",
        )
    if len(large) == len(fitting):
        return FirstNode(constraint, (), ())
    before = _ranks(nodes, processes, folder) if nodes > 1 else ()
    if feature := _feature(large, fitting):
        first = f"({constraint}&{feature})*1" if constraint else f"{feature}*1"
        others = f"&{_group(features)}*{nodes - 1}" if constraint and nodes > 1 else ""
        asked = f"[{first}{others}]" if constraint else first
        why = f"A node with {said} or more has the feature {feature}."
        return FirstNode(None, (Directive(directive("constraint", asked), why),), before)
    if len(large) == 1:
        why = f"The one node with {said} or more."
        return FirstNode(constraint, (Directive(directive("nodelist", large[0].name), why),), before)
    raise StrataError(
        "Slurm cannot be asked for a node with so much memory: no feature tells such nodes from others",
        at="--first-node-memory",
        given=f"{said}: {len(large)} of {len(fitting)} nodes have it",
        allowed="a feature that such nodes alone have, or a partition where all nodes or one have it",
        remedy="ask the site's staff for one; an administrator types "
        f"scontrol update NodeName={','.join(node.name for node in large[:3])} AvailableFeatures=bigmem",
    )


def _group(features: Sequence[str]) -> str:
    return features[0] if len(features) == 1 else f"({'&'.join(features)})"


def _feature(large: Sequence[Node], known: Sequence[Node]) -> str | None:
    """The one that most of the large nodes have and no other node has: Slurm has the largest choice then."""
    small = {name for node in known if node not in large for name in node.features}
    counts: dict[str, int] = {}
    for node in large:
        for name in node.features - small:
            counts[name] = counts.get(name, 0) + 1
    return min(counts, key=lambda name: (-counts[name], name), default=None)


def _ranks(nodes: int, processes: int, folder: str) -> tuple[str, ...]:
    """Lines of shell that write the node of each rank to the file that srun takes them from."""
    return tuple(_RANKS.format(nodes=nodes, processes=processes, folder=folder).splitlines())
