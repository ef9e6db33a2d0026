"""The ClusterRoles that give users permissions on provided APIs (csv.md §8.7, §8.8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from shared import names
from shared.api.manifest import Manifest, ReadOnly, labels_of, metadata
from shared.domain.groups.group import Api, Group
from shared.domain.lifecycle.hashes import api_hash, text_hash
from shared.domain.lifecycle.ownership import labels_for, reference_to
from shared.kinds import API_SERVICE, CLUSTER_ROLE, CUSTOM_RESOURCE_DEFINITION, OPERATOR_GROUP, Ref

SUFFIXES = ("admin", "edit", "view")
_VERBS: Mapping[str, Sequence[str]] = {
    "admin": ("*",),
    "edit": ("create", "update", "patch", "delete"),
    "view": ("get", "list", "watch"),
}
_LONGEST_NAME = 253


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


def is_in_place(wanted: ReadOnly, present: ReadOnly | None) -> bool:
    """Whether a role or binding has all wanted fields; foreign labels and owners are ignored."""
    if present is None or not labels_of(wanted).items() <= labels_of(present).items():
        return False
    owners = {owner["uid"] for owner in metadata(wanted).get("ownerReferences") or ()}
    return (
        owners <= {owner.get("uid") for owner in metadata(present).get("ownerReferences") or ()}
        and wanted.get("aggregationRule") == present.get("aggregationRule")
        and all((present.get(key) or []) == wanted[key] for key in ("rules", "roleRef", "subjects") if key in wanted)
    )


def known_uids(csv: ReadOnly) -> dict[Ref, str]:
    """The uids of the CustomResourceDefinitions that a version requires or owns, from its `requirementStatus`."""
    requirements = (csv.get("status") or {}).get("requirementStatus") or ()
    return {
        CUSTOM_RESOURCE_DEFINITION.ref(str(entry.get("name"))): str(entry.get("uuid"))
        for entry in requirements
        if entry.get("kind") == CUSTOM_RESOURCE_DEFINITION.kind and entry.get("uuid")
    }


def providers_of(csv: ReadOnly) -> tuple[Ref, ...]:
    """The CustomResourceDefinitions and APIServices that a version owns."""
    definitions, services = _owned(csv, "customresourcedefinitions"), _owned(csv, "apiservicedefinitions")
    refs = (
        *(CUSTOM_RESOURCE_DEFINITION.ref(str(entry.get("name"))) for entry in definitions),
        *(API_SERVICE.ref(f"{entry.get('version')}.{entry.get('group')}") for entry in services),
    )
    return tuple(dict.fromkeys(refs))


def _owned(csv: ReadOnly, definitions: str) -> Sequence[ReadOnly]:
    return ((csv.get("spec") or {}).get(definitions) or {}).get("owned") or ()


def api_roles(csv: ReadOnly, uids: Mapping[Ref, str]) -> Iterator[Manifest]:
    """The ClusterRoles of every API that a version owns and whose provider exists (has a uid).

    The owner has its real kind, not OLM's lower-case one, with which garbage collection would not find it.
    """
    for entry in _owned(csv, "customresourcedefinitions"):
        name = str(entry.get("name"))
        plural, _, group = name.partition(".")
        api = Api(group, str(entry.get("version")), str(entry.get("kind")))
        provider = CUSTOM_RESOURCE_DEFINITION.ref(name)
        if uid := uids.get(provider):
            owner = reference_to(CUSTOM_RESOURCE_DEFINITION, name, uid)
            yield from _roles_of_api(api, f"{name}-{api.version}", plural, owner)
            yield _view_of_definition(api, name, owner)
    for entry in _owned(csv, "apiservicedefinitions"):
        api = Api(str(entry.get("group")), str(entry.get("version")), str(entry.get("kind")))
        plural = str(entry.get("name"))
        provider = API_SERVICE.ref(f"{api.version}.{api.group}")
        if uid := uids.get(provider):
            owner = reference_to(API_SERVICE, provider.name, uid)
            yield from _roles_of_api(api, f"{plural}-{api.version}", plural, owner)


def _roles_of_api(api: Api, base: str, plural: str, owner: Manifest) -> Iterator[Manifest]:
    for suffix in SUFFIXES:
        rule = {"verbs": list(_VERBS[suffix]), "apiGroups": [api.group], "resources": [plural]}
        yield _api_role(f"{base}-{suffix}", _labels(api, suffix), owner, rule)


def _view_of_definition(api: Api, name: str, owner: Manifest) -> Manifest:
    rule = {
        "verbs": ["get"],
        "apiGroups": [CUSTOM_RESOURCE_DEFINITION.group],
        "resources": [CUSTOM_RESOURCE_DEFINITION.plural],
        "resourceNames": [name],
    }
    return _api_role(f"{name}-{api.version}-crdview", _labels(api, "view"), owner, rule)


def _labels(api: Api, suffix: str) -> dict[str, str]:
    keys = (f"{names.RBAC_AGGREGATE_PREFIX}{suffix}", aggregation_label(api, suffix), names.MANAGED)
    return dict.fromkeys(keys, "true")


def _api_role(name: str, labels: Mapping[str, str], owner: Manifest, rule: Manifest) -> Manifest:
    role = _role(name, labels)
    role["metadata"]["ownerReferences"] = [owner]
    return {**role, "rules": [rule]}
