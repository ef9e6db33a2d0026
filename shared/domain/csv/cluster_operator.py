"""What an OpenShift is told of this installation: the status of its ClusterOperator (csv.md §15.1)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import reduce
from typing import Final

from shared import names
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import ClusterVersion, Csv, Object
from shared.domain.conditions import Condition, put_into
from shared.domain.csv.compatibility import MOST_NAMED, blockers, release_of
from shared.domain.semver import InvalidVersion
from shared.kinds import CLUSTER_OPERATOR, CLUSTER_SERVICE_VERSION, CLUSTER_VERSION

VERSION: Final = CLUSTER_VERSION.ref("version")
"""The only ClusterVersion that a cluster has."""
OURS: Final = CLUSTER_OPERATOR.ref(names.CLUSTER_OPERATOR)
_UPGRADEABLE: Final = "Upgradeable"
_UNCERTAIN: Final = "Encountered errors while checking compatibility with the next minor version of OpenShift"


def cluster_operator() -> Manifest:
    """The object as it is created; its status follows."""
    meta = {"name": OURS.name, "labels": {names.MANAGED: "true"}}
    return {"apiVersion": OURS.api_version, "kind": OURS.kind, "metadata": meta, "spec": {}}


def status_of(
    present: Object, version: ClusterVersion, csvs: Sequence[Csv], *, global_namespace: str, now: datetime
) -> Manifest:
    """The desired status; `csvs`: those that are no copies; `global_namespace`: that of the installation."""
    conditions = (
        Condition("Progressing", "False", "", f"Deployed {version.desired}"),
        Condition("Available", "True"),
        Condition("Degraded", "False"),
        upgradeable(version, csvs),
    )
    stored: list[ReadOnly] = [one.raw for one in present.conditions]
    status: Manifest = {
        **present.status,
        "conditions": reduce(lambda found, one: put_into(found, one, now), conditions, stored),
        "versions": [{"name": "operator", "version": version.desired}],
    }
    related = [_related(csv) for csv in csvs if csv.namespace == global_namespace][:MOST_NAMED]
    return {**status, "relatedObjects": related} if related else status


def upgradeable(version: ClusterVersion, csvs: Sequence[Csv]) -> Condition:
    """Whether the cluster may go on to its next minor version; not while that cannot be told."""
    if not version.desired:
        what = f"{_UNCERTAIN}: desired release version missing from ClusterVersion {version.name}"
        return Condition(_UPGRADEABLE, "False", "ErrorCheckingOperatorCompatibility", what)
    try:
        found = blockers(csvs, release_of(version.desired))
    except InvalidVersion as error:
        what = f"{_UNCERTAIN}: cluster version has invalid desired release version: {error}"
        return Condition(_UPGRADEABLE, "False", "ErrorCheckingOperatorCompatibility", what)
    return (
        Condition(_UPGRADEABLE, "False", "IncompatibleOperatorsInstalled", found)
        if found
        else Condition(_UPGRADEABLE, "True")
    )


def _related(csv: Csv) -> Manifest:
    kind = CLUSTER_SERVICE_VERSION
    return {"group": kind.group, "resource": kind.plural, "namespace": csv.namespace, "name": csv.name}
