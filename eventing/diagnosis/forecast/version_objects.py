"""What the installation of a version makes that no InstallPlan names: Deployments, conditions, roles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from shared.api.manifest import Manifest
from shared.api.views import (
    Csv,
    CustomResourceDefinition,
    Object,
    OperatorCondition,
    OperatorGroup,
    Role,
    RoleBinding,
    Subscription,
)
from shared.domain.csv import operator_condition, projection, rbac
from shared.domain.csv.copies import copy_of
from shared.domain.csv.deployments import desired_deployments
from shared.domain.operator_groups import members, roles
from shared.domain.operator_groups.group import Api, Group
from shared.domain.operator_groups.provision import BUILT_IN, Provision, provider_of
from shared.kinds import CUSTOM_RESOURCE_DEFINITION, ROLE, ROLE_BINDING


def installed_objects(
    csv: Csv, group: OperatorGroup | None, subscriptions: Iterable[Subscription]
) -> Iterator[Manifest]:
    """Deployments, and permissions in other namespaces: what the account of the group writes, if it names one."""
    yield from map(_unowned, desired_deployments(csv, subscriptions))
    if group is not None:
        yield from map(_unowned, _elsewhere(csv, Group.of(group)))


def our_objects(csv: Csv, known: Mapping[str, Manifest]) -> Iterator[Manifest]:
    """The OperatorCondition with its Role, and the roles of APIs; `known` are the definitions by name."""
    condition = operator_condition.operator_condition(csv)
    reports = OperatorCondition(condition)
    role, binding = (
        make(reports, owner=reports) for make in (operator_condition.role, operator_condition.role_binding)
    )
    api_roles = (role for provided in _provisions(csv, known) for role in roles.api_roles(provided))
    yield from map(_unowned, (condition, role, binding, *api_roles))


def _provisions(csv: Csv, known: Mapping[str, Manifest]) -> Iterator[Provision]:
    """The APIs of the version, as its definitions serve them."""
    for entry in csv.owned_definitions:
        definition = CustomResourceDefinition(known.get(entry.name, {}))
        if entry.version in definition.served and definition.group not in BUILT_IN:
            api = Api(definition.group, entry.version, definition.resource_kind)
            yield Provision(api, definition.resource, provider_of(csv), CUSTOM_RESOURCE_DEFINITION.ref(entry.name), "")


def _elsewhere(csv: Csv, group: Group) -> Iterator[Manifest]:
    """The permissions of the version in the other namespaces of its group."""
    outside = [target for target in group.targets or () if target != group.namespace]
    if not outside or not members.has_permissions(csv):
        return
    made = rbac.objects_for(csv, csv.namespace)
    granted = (
        Role.each(one for one in made if one["kind"] == ROLE.kind),
        RoleBinding.each(one for one in made if one["kind"] == ROLE_BINDING.kind),
    )
    if group.is_global:
        yield from projection.lifted(granted)
        return
    for namespace in outside:
        yield from projection.projected(csv, Csv(copy_of(csv, namespace)), granted)


def _unowned(manifest: Manifest) -> Manifest:
    """Without owners, whose uids nobody knows before."""
    meta = Object(manifest).metadata
    return {**manifest, "metadata": {key: value for key, value in meta.items() if key != "ownerReferences"}}
