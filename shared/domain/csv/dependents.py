"""Finds the objects affected by a change of a Namespace, an API, RBAC or an owned object."""

from __future__ import annotations

from collections.abc import Iterator

from shared import names
from shared.api.views import Csv, Namespace, Object, OperatorGroup, Subscription
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.targets import label_of, needs_namespaces
from shared.domain.selectors import matches
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_CONDITION, SUBSCRIPTION, Ref

_OWNERS = {kind.kind: kind for kind in (CLUSTER_SERVICE_VERSION, OPERATOR_CONDITION, SUBSCRIPTION)}


def must_select_again(group: OperatorGroup, namespace: Namespace | None, name: str) -> bool:
    """Whether the group's status, or its label on the namespace, is out of date (None: the namespace was deleted)."""
    known = Group.of(group)
    was_selected = name in (known.targets or ())
    is_selected = was_selected
    if needs_namespaces(group):
        is_selected = namespace is not None and matches(group.selector, namespace.labels)
    if namespace is None:
        return was_selected != is_selected
    is_labelled = label_of(known.uid) in namespace.labels
    return was_selected != is_selected or is_labelled != is_selected


def names_api_group(csv: Csv, group: str) -> bool:
    """Whether the version owns or requires a CustomResourceDefinition of the API group, or names it a native API."""
    entries = (*csv.owned_definitions, *csv.required_definitions, *csv.native_apis)
    return any(entry.group == group for entry in entries)


def names_api_service(csv: Csv, name: str) -> bool:
    """Whether the version owns or requires the APIService (`<version>.<group>`), or a native API behind it."""
    entries = (*csv.required_services, *csv.owned_services, *csv.native_apis)
    return any(entry.service == name for entry in entries)


def depends_on_permissions(csv: Csv) -> bool:
    """Whether a new or deleted Role or ServiceAccount can change the phase of the version."""
    return csv.phase in {"Pending", "Failed", "Succeeded"}


def owners_of(found: Object) -> Iterator[Ref]:
    """The objects of OLM's API that own this one, by reference or by label; none for a text that is no name."""
    for reference in found.owners:
        kind = _OWNERS.get(reference.kind)
        if kind and (owner := kind.ref_or_none(reference.name, found.namespace)):
            yield owner
    labels = found.labels
    kind = _OWNERS.get(labels.get(names.OWNER_KIND, ""))
    if kind and (owner := kind.ref_or_none(labels.get(names.OWNER), labels.get(names.OWNER_NAMESPACE))):
        yield owner


def follows(subscription: Subscription, csv: str) -> bool:
    """Whether the Subscription installed, or is installing, the version of that name."""
    return csv in (subscription.installed_csv, subscription.current_csv)
