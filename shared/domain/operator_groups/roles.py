"""The ClusterRoles that give users permissions on provided APIs (csv.md §8.7, §8.8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import Object, Role
from shared.domain.objects.hashes import api_hash, text_hash
from shared.domain.objects.ownership import labels_for, reference_to
from shared.domain.operator_groups.group import Api, Group
from shared.domain.operator_groups.provision import Provision
from shared.kinds import CLUSTER_ROLE, CUSTOM_RESOURCE_DEFINITION, OPERATOR_GROUP, Ref

SUFFIXES = ("admin", "edit", "view")
_VERBS: Mapping[str, Sequence[str]] = {
    "admin": ("*",),
    "edit": ("create", "update", "patch", "delete"),
    "view": ("get", "list", "watch"),
}
_LONGEST_NAME = 253
_NO_ROLE = Role(fields.EMPTY)
_CONTENT = ("rules", "roleRef", "subjects")


def group_role_name(namespace: str, group: str, suffix: str) -> str:
    """`olm.og.<group>.<suffix>-<hash>`; the group's name is truncated when the whole would be too long."""
    digest = text_hash(f"{namespace}/{group}/{suffix}")
    room = _LONGEST_NAME - len("olm.og.") - len(".-") - len(suffix) - len(digest)
    return f"olm.og.{group[:room]}.{suffix}-{digest}"


def aggregation_label(api: Api, suffix: str) -> str:
    """The label by which the roles of an API are aggregated into the roles of the groups that provide it."""
    return f"{names.AGGREGATE_PREFIX}{api_hash(api.kind, api.version, api.group)}-{suffix}"


def group_labels(namespace: str, name: str) -> dict[str, str]:
    """The owner labels of objects of an OperatorGroup."""
    return labels_for(name, namespace, OPERATOR_GROUP.kind)


def group_roles(group: Group, apis: Iterable[Api]) -> tuple[Manifest, ...]:
    """The three ClusterRoles of a group; the API server fills in their rules."""
    provided = sorted(apis)
    return tuple(_group_role(group, provided, suffix) for suffix in SUFFIXES)


def _group_role(group: Group, apis: Sequence[Api], suffix: str) -> Manifest:
    role = _role(
        group_role_name(group.namespace, group.name, suffix),
        {**group_labels(group.namespace, group.name), names.MANAGED: "true"},
    )
    if apis:
        selectors = [
            {"matchLabels": {label: "true"}} for label in sorted(aggregation_label(api, suffix) for api in apis)
        ]
        return {**role, "aggregationRule": {"clusterRoleSelectors": selectors}}
    # why: without an aggregation rule the API server would keep the rules aggregated before
    return {**role, "rules": []}


def _role(name: str, labels: Mapping[str, str]) -> Manifest:
    meta = {"name": name, "labels": dict(labels)}
    return {"apiVersion": CLUSTER_ROLE.api_version, "kind": CLUSTER_ROLE.kind, "metadata": meta}


def is_in_place(desired: ReadOnly, present: Object | None) -> bool:
    """Whether a role or binding has all wanted fields; foreign labels, annotations and owners are ignored."""
    ours = Object(desired)
    if present is None or not ours.labels.items() <= present.labels.items():
        return False
    return (
        ours.annotations.items() <= present.annotations.items()
        and {owner.uid for owner in ours.owners} <= {owner.uid for owner in present.owners}
        and fields.value(desired, "aggregationRule") == fields.value(present.raw, "aggregationRule")
        and all((fields.value(present.raw, key) or []) == desired[key] for key in _CONTENT if key in desired)
    )


def aggregates_no_more(desired: ReadOnly, present: Object) -> bool:
    """Whether a role has an aggregation rule that it should not have."""
    rule = "aggregationRule"
    return fields.value(desired, rule) is None and fields.value(present.raw, rule) is not None


def api_roles(provided: Provision) -> Iterator[Manifest]:
    """The ClusterRoles of one provided API.

    The owner has its real kind, not OLM's lower-case one, with which garbage collection would not find it.
    """
    for suffix in SUFFIXES:
        rule = {"verbs": list(_VERBS[suffix]), "apiGroups": [provided.api.group], "resources": [provided.plural]}
        yield _api_role(provided, suffix, suffix, rule)
    if provided.served_by.kind == CUSTOM_RESOURCE_DEFINITION.kind:
        rule = {
            "verbs": ["get"],
            "apiGroups": [CUSTOM_RESOURCE_DEFINITION.group],
            "resources": [CUSTOM_RESOURCE_DEFINITION.plural],
            "resourceNames": [provided.served_by.name],
        }
        yield _api_role(provided, "crdview", "view", rule)


def _api_role(provided: Provision, word: str, suffix: str, rule: Manifest) -> Manifest:
    role = _role(f"{provided.role_name_prefix}{word}", _labels(provided.api, suffix))
    role["metadata"]["annotations"] = {names.PROVIDED_BY: provided.provider}
    role["metadata"]["ownerReferences"] = [reference_to(provided.served_by, provided.served_by.name, provided.uid)]
    return {**role, "rules": [rule]}


def provided_by(role: Object) -> str:
    """The provider (`<namespace>/<name>`) for which we wrote the role of an API; empty for any other role."""
    return role.annotations.get(names.PROVIDED_BY, "")


def desired(provided: Iterable[Provision], present: Mapping[Ref, Role]) -> tuple[Manifest, ...]:
    """The roles of APIs as they are to be written.

    Where a version of another namespace provides the same API, and the role names that one, it stays so: two groups
    must not take it from each other without end.
    """
    found: dict[Ref, Manifest] = {}
    for role in (role for one in provided for role in api_roles(one)):
        known = provided_by(present.get(Ref.of(role), _NO_ROLE))
        if known and _namespace_of(known) != _namespace_of(provided_by(Role(role))):
            role["metadata"]["annotations"] = {names.PROVIDED_BY: known}
        found.setdefault(Ref.of(role), role)
    return tuple(found.values())


def withdrawn(present: Iterable[Role], namespace: str, provided: Iterable[Provision]) -> tuple[Role, ...]:
    """The roles that name a provider in the namespace, where nobody provides their API any more.

    A version that does not work at the moment, or is being replaced, provides its APIs all the same.
    """
    kept = {Ref.of(role) for one in provided for role in api_roles(one)}
    return tuple(one for one in present if _namespace_of(provided_by(one)) == namespace and Ref.of(one) not in kept)


def _namespace_of(provider: str) -> str:
    return provider.partition("/")[0]


def _labels(api: Api, suffix: str) -> dict[str, str]:
    keys = (f"{names.RBAC_AGGREGATE_PREFIX}{suffix}", aggregation_label(api, suffix), names.MANAGED)
    return dict.fromkeys(keys, "true")
