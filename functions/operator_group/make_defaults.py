"""Make the default objects of OLM once, where they are absent: the OLMConfig, two OperatorGroups, two ClusterRoles.

Whatever is there stays as it is; a namespace with an OperatorGroup gets no second one. What is deleted stays away.

Reads:  the default objects.
Writes: those that are absent; an annotation of the OLMConfig, which says that this is done.
"""

from __future__ import annotations

from shared import names
from shared.api.manifest import Manifest, namespace_of
from shared.api.views import OlmConfig
from shared.domain.csv.copying import CONFIG
from shared.domain.defaults import defaults
from shared.kinds import OPERATOR_GROUP
from shared.ports import Cluster, Policy
from shared.step import Create, Merge, Outcome, Ref


def make_defaults(_: Ref, cluster: Cluster, *, policy: Policy) -> Outcome:
    """Make them for the namespace of the installation (key: anything)."""
    config = OlmConfig.of(cluster.get(CONFIG))
    if config is not None and names.DEFAULTS in config.annotations:
        return Outcome(summary="the default objects were made before")
    absent = [desired for desired in defaults(policy.global_namespace) if not _is_there(desired, cluster)]
    done = (Merge(CONFIG, {"metadata": {"annotations": {names.DEFAULTS: "made"}}}),) if config else ()
    return Outcome((*map(Create, absent), *done), summary=f"{len(absent)} default objects were absent")


def _is_there(desired: Manifest, cluster: Cluster) -> bool:
    """Whether the object, or for an OperatorGroup any in its namespace, exists."""
    if desired["kind"] == OPERATOR_GROUP.kind:
        return bool(cluster.list(OPERATOR_GROUP, namespace_of(desired)))
    return cluster.get(Ref.of(desired)) is not None
