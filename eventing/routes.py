"""The routing table: which event runs which step, for which key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from eventing.events import event as events
from eventing.events.event import Event
from eventing.events.job import SINK, Job, Lane
from eventing.events.keys import (
    Key,
    cluster_permissions,
    its_api_group,
    its_catalog,
    its_namespace,
    its_operators,
    its_owner,
    its_reporter,
    itself,
    itself_outside,
    our_deployment,
    permissions_in_namespace,
    status_of_installation,
    whole_cluster,
)
from eventing.events.predicates import (
    Predicate,
    a_copy,
    always,
    automatic,
    beyond_progress,
    both,
    came_or_went,
    edited,
    gone,
    limited,
    named,
    no_bundle,
    of_servers,
    original,
    over,
    owned_by,
    phase,
    present,
    unlike,
    unowned,
    unpacks,
    unsaid,
)
from shared import kinds, names
from shared.domain.subscription import operators
from shared.kinds import Kind


@dataclass(frozen=True, slots=True)
class Route:
    """When an event of `on` satisfies `when`, `step` runs for each ref of `key`."""

    on: Kind | str
    step: str
    key: Key
    when: Predicate
    lane: Lane = "direct"
    delay: timedelta = timedelta()

    def __post_init__(self) -> None:
        if isinstance(self.on, Kind) and self.on.watch is None:
            raise ValueError(f"{self.step}: nobody watches {self.on.kind}; say `watched` of it in shared/kinds.py")


CSV, CRD = kinds.CLUSTER_SERVICE_VERSION, kinds.CUSTOM_RESOURCE_DEFINITION
OF_AUDITS = ("operator_group/make_defaults", "maintenance/audit_cluster", "cluster_service_version/check_certificates")
BEFORE_AND_AFTER_INSTALLING = ("Pending", "Failed", "Succeeded", "Replacing")
"""Between these phases only the status changes, so steps that use only the spec need not run for them."""
PERMISSIONS = (kinds.SERVICE_ACCOUNT, *kinds.RBAC)
"""Kinds that give an operator its permissions."""
ROLLED_OUT = (
    *kinds.COMPONENTS, kinds.SERVICE, kinds.CONFIG_MAP, kinds.NETWORK_POLICY, CRD, kinds.NAMESPACE,
    *kinds.WEBHOOK_CONFIGURATIONS,
)  # fmt: skip
"""Watched kinds that revisions consist of. Others are watched while one has objects of them (`watch/demands`)."""
SETTLE_STATUS = timedelta(milliseconds=50)
"""The controller of a Deployment writes its status up to four times in this time when its Pods are quick."""
DEBOUNCE = timedelta(seconds=2)
"""Other clients may change the RBAC of a namespace all the time, and each look at it checks all operators there."""
GATHER = timedelta(seconds=4)
"""An installation changes the components of an Operator all the time, and each look at it lists every kind of them."""
OF_A_REVISION = owned_by(kinds.CLUSTER_OBJECT_SET)
"""Its definitions come one after the other, a look lists the versions of every group, and no install waits for it."""
CRD_SETTLE = timedelta(milliseconds=250)
"""An API server serves an API, or stops that, up to 50 ms after the event of its definition or APIService."""
REMEMBERED = timedelta(seconds=12)  # why: a worker's answers are up to ten seconds old where no event outdates them

ROUTES: tuple[Route, ...] = (
    # catalogs
    Route(kinds.CATALOG_SOURCE, "catalog_source/check_catalog", itself, present),
    Route(kinds.SERVICE, "catalog_source/check_catalog", its_owner(kinds.CATALOG_SOURCE), gone),
    Route(kinds.CATALOG_SOURCE, "catalog_source/isolate_unpacking", itself, present),
    Route(kinds.NETWORK_POLICY, "catalog_source/isolate_unpacking", its_catalog, edited),
    Route(kinds.CATALOG_SOURCE, "catalog_source/snapshot_catalog", itself, present, "long"),
    Route(kinds.CATALOG_SOURCE, "catalog_source/snapshot_config_map", itself, present),
    Route(kinds.CONFIG_MAP, "catalog_source/snapshot_config_map", its_owner(kinds.CATALOG_SOURCE), no_bundle),
    Route(kinds.CATALOG_SOURCE, "catalog_source/notify_catalog_users", itself, beyond_progress, "bulk"),
    Route(names.CATALOG_SNAPSHOTTED, "catalog_source/notify_catalog_users", itself, always, "bulk"),
    Route(kinds.CLUSTER_CATALOG, "cluster_catalog/guard_catalog", itself, present),
    Route(kinds.CLUSTER_CATALOG, "cluster_catalog/unpack_catalog", itself, present, "long"),
    # extensions and their revisions
    Route(kinds.CLUSTER_CATALOG, "fanout/notify_extensions", itself, always, "bulk"),
    Route(kinds.CLUSTER_EXTENSION, "cluster_extension/resolve_extension", itself, present),
    Route(kinds.CLUSTER_OBJECT_SET, "cluster_extension/resolve_extension", its_owner(kinds.CLUSTER_EXTENSION), always),
    Route(names.EXTENSION_RESOLVED, "cluster_extension/install_bundle", itself, always, "long"),
    Route(kinds.CLUSTER_OBJECT_SET, "cluster_object_set/roll_out", itself, present),
    Route(kinds.CLUSTER_OBJECT_SET, "cluster_object_set/tear_down", itself, present),
    *(
        Route(
            kind,
            "cluster_object_set/roll_out",
            its_owner(kinds.CLUSTER_OBJECT_SET),
            always,
            delay=SETTLE_STATUS if kind == kinds.DEPLOYMENT else timedelta(),
        )
        for kind in ROLLED_OUT
    ),
    *(Route(kind, "cluster_object_set/tear_down", its_owner(kinds.CLUSTER_OBJECT_SET), gone) for kind in ROLLED_OUT),
    Route(names.OBJECT_CHANGED, "cluster_object_set/roll_out", its_owner(kinds.CLUSTER_OBJECT_SET), always),
    Route(names.OBJECT_CHANGED, "cluster_object_set/tear_down", its_owner(kinds.CLUSTER_OBJECT_SET), always),
    Route(names.AUDIT_REQUESTED, "cluster_object_set/audit_objects", whole_cluster, always, "bulk"),
    # subscriptions: resolve, unpack, plan
    Route(names.CATALOG_CHANGED, "subscription/resolve_subscriptions", itself, always),
    Route(kinds.SUBSCRIPTION, "subscription/track_subscription", itself, always),  # one that is gone is forgotten
    Route(kinds.SUBSCRIPTION, "subscription/resolve_subscriptions", its_namespace, always),
    Route(names.SUBSCRIPTION_OUTDATED, "subscription/track_subscription", itself, always),
    Route(kinds.OPERATOR_GROUP, "subscription/resolve_subscriptions", its_namespace, always),
    Route(CSV, "subscription/resolve_subscriptions", its_namespace, both(came_or_went, original)),
    Route(CSV, "subscription/resolve_subscriptions", its_namespace, both(came_or_went, a_copy), "bulk"),
    Route(CSV, "subscription/resolve_subscriptions", its_namespace, original, "bulk", GATHER),  # its properties count
    Route(names.RESOLUTION_COMPUTED, "bundle/unpack_bundle", itself, always),
    Route(names.BUNDLE_REQUESTED, "bundle/pull_bundle", itself, always, "long"),
    Route(kinds.CONFIG_MAP, "bundle/collect_bundle", itself, both(present, unpacks)),
    Route(kinds.JOB, "bundle/collect_bundle", itself, both(unpacks, over)),
    Route(names.BUNDLE_COLLECTED, "bundle/unpack_bundle", itself, always),
    Route(names.BUNDLE_LOST, "bundle/restore_bundle", itself, always),
    Route(names.BUNDLES_UNPACKED, "subscription/write_install_plan", itself, always),
    Route(kinds.INSTALL_PLAN, "install_plan/execute_install_plan", itself, present),
    Route(kinds.INSTALL_PLAN, "subscription/track_subscription", its_owner(kinds.SUBSCRIPTION), always),
    # the phase machine of a ClusterServiceVersion
    Route(CSV, "cluster_service_version/check_requirements", itself, phase("", "Pending", "Failed")),
    Route(CSV, "cluster_service_version/install_operator", itself, phase("InstallReady")),
    Route(CSV, "cluster_service_version/probe_operator", itself, phase("Installing", "Succeeded", "Failed")),
    Route(CSV, "cluster_service_version/replace_operator", itself, original),
    Route(CSV, "cluster_service_version/sync_operator_condition", itself, phase("", *BEFORE_AND_AFTER_INSTALLING)),
    Route(CSV, "cluster_service_version/copy_csvs", itself, original, "bulk"),
    Route(CSV, "cluster_service_version/copy_csv", itself, a_copy, "bulk"),
    Route(CSV, "cluster_service_version/copy_csv", itself, both(gone, original), "bulk"),
    Route(names.COPY_DUE, "cluster_service_version/copy_csvs", itself, always, "bulk"),
    Route(names.REQUIREMENT_CHANGED, "cluster_service_version/check_requirements", itself, always),
    Route(names.PERMISSIONS_CHANGED, "cluster_service_version/check_requirements", itself, always, "bulk"),
    Route(names.REQUIREMENT_CHANGED, "cluster_service_version/probe_operator", itself, always),
    Route(names.REQUIREMENT_CHANGED, "cluster_service_version/replace_operator", itself, always),
    Route(names.CONFIG_CHANGED, "cluster_service_version/probe_operator", itself, always),
    *(Route(kind, "cluster_service_version/probe_operator", its_owner(CSV), always) for kind in kinds.COMPONENTS),
    *(
        Route(kind, "cluster_service_version/probe_operator", its_owner(CSV), edited)
        for kind in (kinds.SERVICE, *kinds.WEBHOOK_CONFIGURATIONS)
    ),
    Route(kinds.API_SERVICE, "cluster_service_version/probe_operator", its_owner(CSV), always),
    Route(names.CERTIFICATE_CHANGED, "cluster_service_version/probe_operator", its_owner(CSV), always),
    *(
        Route(kind, "cluster_service_version/replace_operator", its_owner(CSV), present)
        for kind in (kinds.API_SERVICE, *kinds.WEBHOOK_CONFIGURATIONS)
    ),
    Route(kinds.SERVICE_ACCOUNT, "cluster_service_version/restore_permissions", its_owner(CSV), gone),
    *(Route(kind, "cluster_service_version/restore_permissions", its_owner(CSV), edited) for kind in kinds.RBAC),
    *(Route(kind, "cluster_service_version/check_requirements", its_owner(CSV), always) for kind in PERMISSIONS),
    Route(kinds.OPERATOR_CONDITION, "cluster_service_version/sync_operator_condition", its_owner(CSV), edited),
    Route(kinds.ROLE, "cluster_service_version/sync_operator_condition", its_reporter, edited),
    Route(kinds.ROLE_BINDING, "cluster_service_version/sync_operator_condition", its_reporter, edited),
    # operator groups
    Route(kinds.OPERATOR_GROUP, "operator_group/select_namespaces", itself, always),
    Route(kinds.OPERATOR_GROUP, "operator_group/grant_access", itself, always),
    Route(kinds.OPERATOR_GROUP, "operator_group/update_provided_apis", its_namespace, always),
    Route(CSV, "operator_group/update_provided_apis", its_namespace, original),
    Route(names.GROUP_CHANGED, "operator_group/select_namespaces", itself, always),
    Route(names.GROUP_CHANGED, "operator_group/grant_access", itself, always),
    Route(names.GRANT_DUE, "operator_group/grant_access", itself, always),
    Route(kinds.CLUSTER_ROLE, "operator_group/grant_access", its_owner(kinds.OPERATOR_GROUP), edited),
    Route(kinds.CLUSTER_ROLE, "fanout/notify_providers", its_owner(*kinds.API_PROVIDERS), edited, "bulk"),
    Route(names.GROUP_CONFLICT_CHANGED, "operator_group/update_provided_apis", its_namespace, always),
    Route(kinds.OPERATOR, "operator/update_operator", itself, came_or_went, "bulk", GATHER),
    *(
        Route(kind, "operator/update_operator", its_operators, always, "bulk", GATHER)
        for kind in (*operators.WHOLE, *operators.BARE)
    ),
    Route(CSV, "cluster_service_version/adopt_components", itself, phase("Succeeded"), "bulk", GATHER),
    *(
        Route(
            kind,
            "cluster_service_version/adopt_components",
            its_owner(CSV),
            both(came_or_went, present),
            "bulk",
            GATHER,
        )
        for kind in (kinds.SERVICE, kinds.OPERATOR_CONDITION, kinds.API_SERVICE, *kinds.COMPONENTS)
    ),
    # look-ups: which objects does the change affect?
    Route(kinds.NAMESPACE, "fanout/notify_dependents", itself, always, "bulk"),
    Route(kinds.OPERATOR_GROUP, "fanout/notify_install_plans", itself, always),
    Route(kinds.OPERATOR_GROUP, "fanout/notify_webhook_users", itself, present),
    Route(CRD, "fanout/notify_api_users", its_api_group, OF_A_REVISION, "bulk", DEBOUNCE),
    Route(CRD, "fanout/notify_api_users", its_api_group, unlike(OF_A_REVISION), delay=CRD_SETTLE),
    Route(kinds.API_SERVICE, "fanout/notify_api_users", itself, automatic, "bulk", DEBOUNCE),
    Route(kinds.API_SERVICE, "fanout/notify_api_users", itself, unlike(automatic), delay=CRD_SETTLE),
    Route(kinds.OLM_CONFIG, "maintenance/report_copying", itself, always, "bulk"),
    *(
        Route(kind, "fanout/notify_dependents", permissions_in_namespace, unowned, "bulk", DEBOUNCE)
        for kind in (kinds.SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING)
    ),
    *(
        Route(kind, "fanout/notify_dependents", cluster_permissions, unowned, "bulk", DEBOUNCE)
        for kind in (kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING)
    ),
    *(
        Route(kind, "fanout/notify_servers", itself, both(edited, of_servers), "bulk", DEBOUNCE)
        for kind in (kinds.CLUSTER_ROLE_BINDING, kinds.ROLE_BINDING)
    ),
    *(
        Route(kind, "fanout/notify_dependents", itself, unsaid(events.OWNERS), "bulk")
        for kind in (*kinds.COMPONENTS, kinds.INSTALL_PLAN, kinds.OPERATOR_CONDITION)
    ),
    Route(CSV, "fanout/notify_subscriptions", itself, both(gone, original), "bulk"),
    # OpenShift
    Route(kinds.PROXY, "fanout/notify_proxied", itself, always, "bulk"),
    Route(kinds.CLUSTER_VERSION, "maintenance/report_to_openshift", status_of_installation, always, "bulk"),
    Route(kinds.CLUSTER_OPERATOR, "maintenance/report_to_openshift", itself, named(names.CLUSTER_OPERATOR), "bulk"),
    Route(CSV, "maintenance/report_to_openshift", status_of_installation, both(original, limited), "bulk", GATHER),
    Route(kinds.DEPLOYMENT, "maintenance/publish_packages", itself, named(names.PACKAGES)),
    Route(kinds.API_SERVICE, "maintenance/publish_packages", its_owner(kinds.DEPLOYMENT), always),
    Route(names.AUDIT_REQUESTED, "maintenance/publish_packages", our_deployment(names.PACKAGES), always),
    Route(kinds.DEPLOYMENT, "maintenance/certify_catalogs", itself, named(names.CATALOGS)),
    Route(
        kinds.CONFIG_MAP, "maintenance/certify_catalogs", its_owner(kinds.DEPLOYMENT), named(names.CATALOGS_AUTHORITIES)
    ),
    Route(names.AUDIT_REQUESTED, "maintenance/certify_catalogs", our_deployment(names.CATALOGS), always),
    *(Route(names.AUDIT_REQUESTED, step, whole_cluster, always, "bulk") for step in OF_AUDITS),
    Route(names.AUDIT_REQUESTED, "maintenance/collect_garbage", whole_cluster, always, "bulk"),
    Route(names.WATCH_BEGUN, "maintenance/collect_garbage", whole_cluster, always, "bulk", REMEMBERED),
)

NOTIFICATIONS = (
    names.PLAN_WAITING, names.PLAN_COMPLETED, names.PLAN_FAILED, names.UPGRADE_FAILED,
    names.EXTENSION_INSTALLED, names.EXTENSION_FAILED, names.CATALOG_FAILED,
)  # fmt: skip
"""Events that are posted to an external sink."""

TO_SINK: tuple[Route, ...] = tuple(
    Route(type_, f"{SINK}/{type_}", itself_outside, always, "bulk") for type_ in NOTIFICATIONS
)
"""Routes of an installation with an external sink; they run no step."""

RESYNCS = (names.DEPENDENT_CHANGED, names.RESYNC_REQUESTED)
"""Our own events that stand for an unspecified change of the object at their ref."""

REPORTS: Mapping[str, str] = {"catalog_source/snapshot_catalog": "catalog_source/report_progress"}
"""The step that says on an object how far a long run is, inside of that run; no event reaches it."""

STEPS: tuple[str, ...] = tuple(dict.fromkeys(route.step for route in ROUTES))
"""Every step that an event can reach."""

Subject: TypeAlias = str | tuple[str, str]  # the type of an event, or the apiVersion and kind of an object


def by_subject(routes: Iterable[Route]) -> Mapping[Subject, tuple[Route, ...]]:
    """The routes on each subject, so that an event meets only those that it may concern."""
    found: dict[Subject, tuple[Route, ...]] = {}
    for route in routes:
        subject = route.on if isinstance(route.on, str) else (route.on.api_version, route.on.kind)
        found[subject] = (*found.get(subject, ()), route)
    return found


BY_SUBJECT = by_subject(ROUTES)


def jobs_for(event: Event, routes: Mapping[Subject, tuple[Route, ...]] = BY_SUBJECT) -> tuple[Job, ...]:
    """The jobs for an event, each once, in the order of the routes."""
    is_change = event.type.startswith((names.RESOURCE_EVENT, names.REF_EVENT)) or event.type in RESYNCS
    enqueued = (
        Job(route.step, ref, route.lane, route.delay)
        for route in routes.get((event.ref.api_version, event.ref.kind) if is_change else event.type, ())
        if route.when(event)
        for ref in route.key(event)
    )
    return tuple(dict.fromkeys(enqueued))
