"""The names that earlier builds gave to steps, groups and event types, and what these are called now.

Queues, journals and captures keep names: what an earlier build queued runs, and what it recorded is read and replayed,
under the present name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shared import names

STEPS: Mapping[str, str] = {
    "catalog_source/report_catalog": "catalog_source/notify_catalog_users",
    "cluster_service_version/restore_rights": "cluster_service_version/restore_permissions",
    "fanout/notify_catalog_users": "catalog_source/notify_catalog_users",
    "platform/audit_cluster": "maintenance/audit_cluster",
    "platform/collect_garbage": "maintenance/collect_garbage",
    "platform/notify_api_users": "fanout/notify_api_users",
    "platform/report_copying": "maintenance/report_copying",
    "platform/ring_dependents": "fanout/notify_dependents",
    "platform/ring_plans": "fanout/notify_install_plans",
    "platform/ring_providers": "fanout/notify_providers",
    "platform/ring_subscriptions": "fanout/notify_subscriptions",
}
"""Former name of a step to its present name."""
GROUPS: Mapping[str, str] = {"platform": "maintenance"}
"""Former group to the present group that serves its queue, because that may read all that its steps read."""
FIELDS: Mapping[str, Mapping[str, str]] = {"Copy": {"home": "origin"}}
"""Name of a value that a port answers with to the former names of its fields, and their present ones."""
EVENT_TYPES: Mapping[str, str] = {
    "io.olmf.audit.rang": names.AUDIT_REQUESTED,
    "io.olmf.bundle.wanted": names.BUNDLE_REQUESTED,
    "io.olmf.catalog.reported": names.CATALOG_CHANGED,
    "io.olmf.dependent.rang": names.DEPENDENT_CHANGED,
    "io.olmf.poke": names.RESYNC_REQUESTED,
    "io.olmf.rights.changed": names.PERMISSIONS_CHANGED,
    "io.olmf.rival.changed": names.GROUP_CONFLICT_CHANGED,
    "io.olmf.standing.changed": names.SUBSCRIPTION_OUTDATED,
}
"""Former type of an event to its present type."""


def step_now(name: str) -> str:
    """The present name of a step."""
    return STEPS.get(name, name)


def type_now(name: str) -> str:
    """The present type of an event."""
    return EVENT_TYPES.get(name, name)


def queues_of(groups: Iterable[str]) -> tuple[str, ...]:
    """The groups by their present names, then the former groups whose queues they serve."""
    present = tuple(dict.fromkeys(GROUPS.get(group, group) for group in groups))
    return (*present, *(former for former, now in GROUPS.items() if now in present))
