"""Whether the API server serves our kinds as this build knows them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from eventing.diagnosis.doctor.finding import Finding
from shared.api import fields
from shared.api.definitions import DEFINITIONS
from shared.api.resource import Definition
from shared.api.views import CustomResourceDefinition
from shared.domain.command import Fix, kubectl
from shared.kinds import CUSTOM_RESOURCE_DEFINITION
from shared.ports import Cluster

_APPLY = Fix("apply the definitions of this build", kubectl("apply", "--server-side", "-k", "k8s/crds"))


def check_definitions(cluster: Cluster, _: datetime) -> Iterator[Finding]:
    """Definitions that are missing, going, not established, or that lack one of our versions."""
    refs = [CUSTOM_RESOURCE_DEFINITION.ref(one.name) for one in DEFINITIONS]
    for ref, definition, stored in zip(refs, DEFINITIONS, cluster.get_all(refs), strict=True):
        found = CustomResourceDefinition.of(stored)
        state, effect = _missing(definition) if found is None else _fault(definition, found)
        if state:
            yield Finding(ref, state, effect, _APPLY)


def _missing(definition: Definition) -> tuple[str, str]:
    return "is missing", f"no {definition.kind} can exist, and nothing that needs one goes on"


def _fault(definition: Definition, found: CustomResourceDefinition) -> tuple[str, str]:
    if found.is_deleted:
        return "is being deleted", f"every {definition.kind} is deleted with it"
    if not found.is_established:
        why = next((one.message for one in found.conditions if not one.is_true and one.message), "the API server waits")
        return f"is not established: {why}", f"no {definition.kind} is served"
    lacking = [one.name for one in definition.versions if one.name not in found.served]
    if lacking:
        return f"does not serve {', '.join(lacking)}", "who asks for that version gets an error"
    versions = {fields.text(one, "name") for one in fields.parts(found.raw, "spec", "versions")}
    gone = [one for one in fields.texts(found.raw, "status", "storedVersions") if one not in versions]
    if gone:
        return f"has objects stored in {', '.join(gone)}, which it lacks", "they cannot be read any more"
    return "", ""
