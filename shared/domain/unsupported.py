"""What this project does not support yet of an object, and why: every refusal of that sort is made here.

The documents list the topics of this table (`k8s/COMING_FROM_OLM.md`, "Not yet"); a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from shared.api.manifest import ReadOnly
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, OPERATOR_GROUP

VERSION: Final = CLUSTER_SERVICE_VERSION.kind
GROUP: Final = OPERATOR_GROUP.kind
CATALOG: Final = CATALOG_SOURCE.kind
BUNDLE: Final = "Bundle"
"""A bundle as its catalog describes it: `{"image": …}`."""


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that OLM has and this project has not."""

    topic: str
    """As the documents list it."""
    find: Callable[[ReadOnly], str]
    """The sentence about an object that has it; empty for any other."""


def unsupported(kind: str, described: ReadOnly) -> str:
    """Why an object is not carried out, in a sentence; empty when all of it is supported."""
    return next(filter(None, (gap.find(described) for gap in GAPS.get(kind, ()))), "")


def _spec(described: ReadOnly) -> ReadOnly:
    return described.get("spec") or {}


def _webhooks(csv: ReadOnly) -> str:
    listed = ", ".join(str(item.get("generateName")) for item in _spec(csv).get("webhookdefinitions") or ())
    return f"webhooks are not supported yet: {listed}" if listed else ""


def _aggregated(csv: ReadOnly) -> str:
    services = (_spec(csv).get("apiservicedefinitions") or {}).get("owned") or ()
    listed = ", ".join(f"{item.get('version')}.{item.get('group')}" for item in services)
    return f"aggregated APIs are not supported yet: {listed}" if listed else ""


def _account(group: ReadOnly) -> str:
    """A service account limits what an installation may do: to ignore the limit would be a privilege escalation."""
    if not (account := _spec(group).get("serviceAccountName")):
        return ""
    return (
        f"spec.serviceAccountName {account!r} is refused: installing with the rights of a ServiceAccount is not"
        " supported yet. Remove the field to install with the rights of the operator lifecycle manager"
    )


def _config_map(catalog: ReadOnly) -> str:
    kind = _spec(catalog).get("sourceType")
    if kind not in ("internal", "configmap"):
        return ""
    return f"catalogs of sourcetype {kind} are not served yet: give spec.image instead"


def _inline(bundle: ReadOnly) -> str:
    return "" if bundle.get("image") else "the bundle names no image; bundles inside catalogs are not served yet"


GAPS: Final[Mapping[str, tuple[Gap, ...]]] = {
    VERSION: (Gap("webhooks that an operator defines", _webhooks), Gap("aggregated APIs of an operator", _aggregated)),
    GROUP: (Gap("OperatorGroups with `serviceAccountName`", _account),),
    CATALOG: (Gap("catalogs of type `internal` and `configmap`", _config_map),),
    BUNDLE: (Gap("bundles whose manifests are in the catalog itself", _inline),),
}
"""By kind, in the order in which they are told."""
