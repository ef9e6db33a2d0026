"""Whether the API server serves our kinds as this build knows them, and those that installed versions need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from eventing.diagnosis.doctor.finding import Finding
from shared.api import fields
from shared.api.crds import definitions
from shared.api.manifest import ReadOnly
from shared.api.views import Csv, CustomResourceDefinition
from shared.domain.command import Fix, kubectl, olmf
from shared.kinds import CLUSTER_SERVICE_VERSION, CUSTOM_RESOURCE_DEFINITION, Ref
from shared.ports import Cluster

_APPLY = Fix("apply the definitions of this build", kubectl("apply", "--server-side", "-k", "k8s/crds"))


_MOST_NAMED = 5
_ANY_FIELD = "x-kubernetes-preserve-unknown-fields"


def check_needed(cluster: Cluster, _: datetime) -> Iterator[Finding]:
    """Definitions that installed versions own or require, and that are missing or going."""
    csvs = [one for one in Csv.each(cluster.list(CLUSTER_SERVICE_VERSION)) if not one.is_copy and not one.is_deleted]
    needed: dict[Ref, list[Csv]] = defaultdict(list)
    for csv in csvs:
        for entry in (*csv.owned_definitions, *csv.required_definitions):
            if ref := CUSTOM_RESOURCE_DEFINITION.ref_or_none(entry.name):
                needed[ref].append(csv)
    for ref, stored in zip(needed, cluster.get_all(list(needed)), strict=True):
        found = CustomResourceDefinition.of(stored)
        if found is not None and not found.is_deleted:
            continue
        first, *others = needed[ref]
        more = f" and {len(others)} more" if others else ""
        state = (
            f"is {'missing' if found is None else 'being deleted'}, and {first.namespace}/{first.name}{more} needs it"
        )
        why = olmf("why", f"ClusterServiceVersion/{first.name}", namespace=first.namespace)
        yield Finding(ref, state, "its operator fails, and is not replaced", Fix("see what brings it", why))


def check_definitions(cluster: Cluster, _: datetime) -> Iterator[Finding]:
    """Definitions that are missing, going, not established, or that lack one of our versions."""
    ours = CustomResourceDefinition.each(definitions())
    refs = [CUSTOM_RESOURCE_DEFINITION.ref(one.name) for one in ours]
    for ref, definition, stored in zip(refs, ours, cluster.get_all(refs), strict=True):
        found = CustomResourceDefinition.of(stored)
        state, effect = _missing(definition) if found is None else _fault(definition, found)
        if state:
            yield Finding(ref, state, effect, _APPLY)


def _missing(definition: CustomResourceDefinition) -> tuple[str, str]:
    return "is missing", f"no {definition.resource_kind} can exist, and nothing that needs one goes on"


def _older(definition: CustomResourceDefinition, found: CustomResourceDefinition) -> Iterator[str]:
    """The fields of our definition that the stored one does not know, each with the path that is the first to lack."""
    stored = {fields.text(one, "name"): one for one in fields.parts(found.raw, "spec", "versions")}
    for version in fields.parts(definition.raw, "spec", "versions"):
        name = fields.text(version, "name")
        ours, theirs = (fields.part(one, "schema", "openAPIV3Schema") for one in (version, stored[name]))
        yield from _lacking(ours, theirs, name)


def _lacking(ours: ReadOnly, theirs: ReadOnly, path: str) -> Iterator[str]:
    if theirs.get(_ANY_FIELD):
        return
    if ours.get(_ANY_FIELD):
        yield f"{path}.*"
    known = fields.part(theirs, "properties")
    for name, schema in fields.part(ours, "properties").items():
        if name in known:
            yield from _lacking(schema, known[name], f"{path}.{name}")
        else:
            yield f"{path}.{name}"
    for key in ("items", "additionalProperties"):
        if isinstance(ours.get(key), dict) and isinstance(theirs.get(key), dict):
            yield from _lacking(ours[key], theirs[key], path)


def _fault(definition: CustomResourceDefinition, found: CustomResourceDefinition) -> tuple[str, str]:
    if found.is_deleted:
        return "is being deleted", f"every {definition.resource_kind} is deleted with it"
    if not found.is_established:
        why = next((one.message for one in found.conditions if not one.is_true and one.message), "the API server waits")
        return f"is not established: {why}", f"no {definition.resource_kind} is served"
    lacking = [one for one in definition.served if one not in found.served]
    if lacking:
        return f"does not serve {', '.join(lacking)}", "who asks for that version gets an error"
    versions = {fields.text(one, "name") for one in fields.parts(found.raw, "spec", "versions")}
    gone = [one for one in fields.texts(found.raw, "status", "storedVersions") if one not in versions]
    older = list(_older(definition, found))
    if older:
        named = ", ".join(older[:_MOST_NAMED]) + (f" and {len(older) - _MOST_NAMED} more" * (len(older) > _MOST_NAMED))
        return f"is older than this build: it lacks {named}", "the API server drops what we write there"
    if gone:
        return f"has objects stored in {', '.join(gone)}, which it lacks", "they cannot be read any more"
    return "", ""
