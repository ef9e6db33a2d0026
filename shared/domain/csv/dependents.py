"""Finds the objects affected by a change of a Namespace, an API, RBAC or an owned object."""

from __future__ import annotations

from collections.abc import Iterator

from shared import names
from shared.api.manifest import ReadOnly, labels_of, metadata, namespace_of
from shared.domain.csv.requirements import service_name
from shared.domain.objects.csv import phase_of
from shared.domain.objects.subscription import current_csv, installed_csv
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.targets import label_of, needs_namespaces, refusal
from shared.domain.selectors import matches
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_CONDITION, SUBSCRIPTION, Ref

_OWNERS = {kind.kind: kind for kind in (CLUSTER_SERVICE_VERSION, OPERATOR_CONDITION, SUBSCRIPTION)}


def must_select_again(group: ReadOnly, namespace: ReadOnly | None, name: str) -> bool:
    """Whether the group's status, or its label on the namespace, is out of date (None: the namespace was deleted)."""
    if refusal(group):
        return False
    known = Group.of(group)
    was_selected = name in (known.targets or ())
    is_selected = was_selected
    if needs_namespaces(group):
        is_selected = namespace is not None and matches(group["spec"]["selector"], labels_of(namespace))
    if namespace is None:
        return was_selected != is_selected
    is_labelled = label_of(known.uid) in labels_of(namespace)
    return was_selected != is_selected or is_labelled != is_selected


def names_api_group(csv: ReadOnly, group: str) -> bool:
    """Whether the version owns or requires a CustomResourceDefinition of the API group, or names it a native API."""
    spec = csv.get("spec") or {}
    definitions = spec.get("customresourcedefinitions") or {}
    entries = (*(definitions.get("owned") or ()), *(definitions.get("required") or ()))
    groups = {str(entry.get("name")).partition(".")[2] for entry in entries}
    return group in groups or any(api.get("group") == group for api in spec.get("nativeAPIs") or ())


def names_api_service(csv: ReadOnly, name: str) -> bool:
    """Whether the version requires the APIService of that name (`<version>.<group>`), or a native API behind it."""
    spec = csv.get("spec") or {}
    required = (spec.get("apiservicedefinitions") or {}).get("required") or ()
    return any(service_name(entry) == name for entry in (*required, *(spec.get("nativeAPIs") or ())))


def rests_on_rights(csv: ReadOnly) -> bool:
    """Whether a new or deleted Role or ServiceAccount can change the phase of the version."""
    return phase_of(csv) in {"Pending", "Failed", "Succeeded"}


def owners_of(manifest: ReadOnly) -> Iterator[Ref]:
    """The objects of OLM's API that own this one, by reference or by label; none for a text that is no name."""
    for reference in metadata(manifest).get("ownerReferences") or ():
        kind = _OWNERS.get(str(reference.get("kind")))
        if kind and (owner := kind.ref_or_none(reference.get("name"), namespace_of(manifest))):
            yield owner
    labels = labels_of(manifest)
    kind = _OWNERS.get(labels.get(names.OWNER_KIND, ""))
    if kind and (owner := kind.ref_or_none(labels.get(names.OWNER), labels.get(names.OWNER_NAMESPACE))):
        yield owner


def follows(subscription: ReadOnly, csv: str) -> bool:
    """Whether the Subscription installed, or is installing, the version of that name."""
    return csv in (installed_csv(subscription), current_csv(subscription))
