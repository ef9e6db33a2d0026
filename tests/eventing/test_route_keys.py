from __future__ import annotations

from datetime import timedelta

import pytest

from eventing.events import event
from eventing.events.event import Event
from eventing.routes import jobs_for
from shared import kinds, names
from shared.adapters.kube.answers import GOOD_SECONDS
from shared.kinds import Ref

LOOKUP = "fanout/notify_dependents"


def enqueued(ref: Ref, type_: str = names.ADDED, **hints: str) -> set[tuple[str, str]]:
    return {(job.step, str(job.ref)) for job in jobs_for(Event("1", type_, "test", ref, hints))}


def test_definitions_of_one_api_group_share_a_key() -> None:
    """An operator brings many CustomResourceDefinitions at once: one look-up serves all."""
    jobs = [enqueued(kinds.CUSTOM_RESOURCE_DEFINITION.ref(f"{plural}.birds.com")) for plural in ("geese", "ducks")]

    key = "apiextensions.k8s.io/v1/CustomResourceDefinition//birds.com"
    assert jobs == [{("fanout/notify_api_users", key)}] * 2


@pytest.mark.parametrize("kind", [kinds.SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING], ids=lambda kind: kind.kind)
def test_permissions_that_nobody_owns_share_a_key(kind: kinds.Kind) -> None:
    key = "rbac.authorization.k8s.io/v1/Role/ns/*"

    assert enqueued(kind.ref("a", "ns"), **{event.OWNERS: ""}) == {(LOOKUP, key)}
    assert (LOOKUP, key) in enqueued(kind.ref("a", "ns")), (
        "a sender that says nothing of owners: Knative's ApiServerSource"
    )


def test_a_busy_namespace_is_looked_at_only_now_and_then() -> None:
    """Each look checks all operators there, behind the direct work."""
    (job,) = jobs_for(Event("1", names.UPDATED, "test", kinds.ROLE.ref("a", "ns"), {event.OWNERS: ""}))
    csv = kinds.CLUSTER_SERVICE_VERSION.ref("op.v1", "ns")

    assert job.delay >= timedelta(seconds=1)
    assert [(job.step, job.lane) for job in jobs_for(Event("2", names.PERMISSIONS_CHANGED, "test", csv))] == [
        ("cluster_service_version/check_requirements", "bulk")
    ]


def test_what_a_controller_writes_of_a_deployment_within_a_moment_is_looked_at_once() -> None:
    """Of an object that no controller writes to, a look is not put off."""
    revision, owners = kinds.CLUSTER_OBJECT_SET.ref("a-1"), {event.OWNERS: "ClusterObjectSet/a-1"}
    delays = {}
    for kind in (kinds.DEPLOYMENT, kinds.SERVICE):
        jobs = jobs_for(Event("1", names.UPDATED, "test", kind.ref("a", "ns"), owners))
        (delays[kind],) = {
            job.delay for job in jobs if (job.step, job.ref) == ("cluster_object_set/roll_out", revision)
        }
    assert timedelta() == delays[kinds.SERVICE] < delays[kinds.DEPLOYMENT] <= timedelta(seconds=0.1)


def test_audits_of_any_namespace_are_one() -> None:
    """An event of somebody else must not start one for each name that it makes up."""
    steps = ("maintenance/audit_cluster", "operator_group/make_defaults", "cluster_object_set/audit_objects")
    found = [enqueued(kinds.NAMESPACE.ref(name), names.AUDIT_REQUESTED) for name in ("olm", "victim")]

    for step in steps:
        assert {key for jobs in found for each, key in jobs if each == step} == {str(kinds.OLM_CONFIG.ref("cluster"))}


def test_a_watcher_that_begins_has_looked_for_what_nobody_told_of() -> None:
    """What was deleted while none ran is in no list, and so in no event."""
    (job,) = jobs_for(Event("1", names.WATCH_BEGUN, "test", kinds.OLM_CONFIG.ref("cluster")))
    assert job.step == "maintenance/collect_garbage"
    assert job.delay > timedelta(seconds=GOOD_SECONDS), "workers may still remember what is gone"


@pytest.mark.parametrize("server", [names.PACKAGES, names.CATALOGS])
def test_an_audit_looks_at_the_certificates_of_an_installation(server: str) -> None:
    steps = {names.PACKAGES: "maintenance/publish_packages", names.CATALOGS: "maintenance/certify_catalogs"}
    found = enqueued(kinds.NAMESPACE.ref("olm"), names.AUDIT_REQUESTED)
    assert (steps[server], str(kinds.DEPLOYMENT.ref(server, "olm"))) in found


def test_authorities_that_somebody_deletes_concern_their_server() -> None:
    ref, owners = kinds.CONFIG_MAP.ref(names.CATALOGS_AUTHORITIES, "olm"), {event.OWNERS: "Deployment/olmf-catalogs"}
    server = str(kinds.DEPLOYMENT.ref(names.CATALOGS, "olm"))
    assert ("maintenance/certify_catalogs", server) in enqueued(ref, names.DELETED, **owners)
    other = kinds.CONFIG_MAP.ref("other", "olm")
    assert ("maintenance/certify_catalogs", server) not in enqueued(other, names.DELETED, **owners)


def test_an_event_that_does_not_name_owners_is_looked_up() -> None:
    ref = kinds.DEPLOYMENT.ref("d", "ns")

    assert enqueued(ref) == {(LOOKUP, str(ref))}


@pytest.mark.parametrize("kind", [kinds.ROLE, kinds.ROLE_BINDING], ids=lambda kind: kind.kind)
def test_permissions_of_a_reporter_concern_its_version(kind: kinds.Kind) -> None:
    """csv.md 11.3: controller-owned Roles and RoleBindings."""
    ref, owners = kind.ref("op.v1", "ns"), {event.OWNERS: "OperatorCondition/op.v1"}
    jobs = enqueued(ref, names.UPDATED, **owners)

    csv = str(kinds.CLUSTER_SERVICE_VERSION.ref("op.v1", "ns"))
    assert jobs == {("cluster_service_version/sync_operator_condition", csv)}
    assert enqueued(ref, **owners) == set(), "what was just created needs no repair"


@pytest.mark.parametrize(
    ("type_", "step", "ref"),
    [
        pytest.param(
            names.GROUP_CONFLICT_CHANGED,
            "operator_group/update_provided_apis",
            kinds.NAMESPACE.ref("ns"),
            id="a rival gave way",
        ),
        pytest.param(
            names.GRANT_DUE,
            "operator_group/grant_access",
            kinds.OPERATOR_GROUP.ref("g", "ns"),
            id="roles are due",
        ),
    ],
)
def test_events_of_groups(type_: str, step: str, ref: Ref) -> None:
    assert enqueued(kinds.OPERATOR_GROUP.ref("g", "ns"), type_) == {(step, str(ref))}
