"""A version that serves, and what somebody deleted, edited or added around it: told, and repaired."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest

from shared.api.manifest import Manifest, timestamp
from shared.kinds import (
    API_SERVICE,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    ROLE,
    ROLE_BINDING,
    SERVICE,
    Ref,
)
from shared.step import Delete
from tests.domain.csv.builders import NOW, owned_crd
from tests.domain.endpoints.builders import THINGS, a_conversion, a_webhook, an_api
from tests.functions.cluster_service_version.served import (
    ANOTHER,
    CERTIFICATE,
    DELEGATOR,
    READER,
    SIBLING,
    a_convertible,
    a_working_world,
    a_world,
    available,
    becomes,
    bundle,
    configuration,
    conversion,
    edit,
    installed,
    phase,
)
from tests.functions.cluster_service_version.world import csv_ref

pytestmark = pytest.mark.unmeasured

AUTHORITY = 'secret "operator-service-cert" not found'


GONE = [
    pytest.param(CERTIFICATE, AUTHORITY, id="csv.md 18 row 86: the Secret"),
    pytest.param(SERVICE.ref("operator-service", "ns"), 'service "operator-service" not found', id="its Service"),
    pytest.param(
        ROLE.ref("operator-service-cert", "ns"), 'role.rbac.authorization.k8s.io "operator-service-cert" not found',
        id="the right to read its certificate",
    ),
    pytest.param(
        ROLE_BINDING.ref("operator-service-cert", "ns"),
        'rolebinding.rbac.authorization.k8s.io "operator-service-cert" not found',
        id="who has that right",
    ),
    pytest.param(
        DELEGATOR,
        'clusterrolebinding.rbac.authorization.k8s.io "operator-service-system:auth-delegator" not found',
        id="the right to ask",
    ),
    pytest.param(
        READER,
        'rolebinding.rbac.authorization.k8s.io "operator-service-auth-reader" not found', id="the right to read",
    ),
]  # fmt: skip


REFRESH = {
    "Succeeded": "CSV owns resources that require a cert refresh", "Failed": "owned APIServices need cert refresh",
}  # fmt: skip


@pytest.mark.parametrize("before", ["Succeeded", "Failed"])
@pytest.mark.parametrize(("ref", "why"), GONE)
def test_what_was_deleted_of_a_webhook_is_made_again_csv_md_18_rows_86_and_87(ref: Ref, why: str, before: str) -> None:
    world = a_working_world()
    becomes(world, before)
    world.remove(ref)
    world.does("probe")
    reported = (
        ("Pending", "NeedsCertRotation", REFRESH[before])
        if ref == CERTIFICATE
        else ("Pending", "NeedsReinstall", f"calculated deployment install is bad: {why}")
    )
    assert (*phase(world), world.csv()["status"]["message"]) == reported
    world.walk_until_rest()
    assert (phase(world)[0], ref in world.objects) == ("Succeeded", True)


@pytest.mark.parametrize(("ref", "why"), GONE)
def test_what_was_deleted_of_an_api_is_reported_and_made_again_csv_md_18_rows_86_and_88(ref: Ref, why: str) -> None:
    world = a_working_world(hooks=(), apis=(an_api(),))
    world.remove(ref)
    for reported in (("Failed", "APIServiceResourceIssue"), ("Pending", "APIServiceResourcesNeedReinstall")):
        world.does("probe")
        assert (phase(world), world.csv()["status"]["message"]) == (reported, why)
    world.walk_until_rest()
    assert (phase(world)[0], ref in world.objects) == ("Succeeded", True)


def test_an_api_that_leads_elsewhere_is_reported_and_led_back_csv_md_7_5() -> None:
    world = a_working_world(hooks=(), apis=(an_api(),))
    ref = API_SERVICE.ref("v1.api.example.com")
    before = world.objects[ref]["spec"]
    with world.edited(ref) as manifest:
        manifest["spec"]["service"]["name"] = "another"
    world.does("probe")
    reported = "found APIService and service reference mismatch"
    assert (phase(world), world.csv()["status"]["message"]) == (("Failed", "APIServiceResourceIssue"), reported)
    world.walk_until_rest()
    assert (phase(world)[0], world.objects[ref]["spec"]) == ("Succeeded", before)


def test_an_api_that_becomes_unavailable_fails_its_version_csv_md_4_9_6() -> None:
    world = a_working_world(hooks=(), apis=(an_api(),))
    available(world, world.objects[API_SERVICE.ref("v1.api.example.com")], "False")
    for reported in (("Failed", "ComponentUnhealthy"), ("Pending", "NeedsReinstall")):
        world.does("probe")
        assert (phase(world), world.csv()["status"]["message"]) == (reported, "apiServices not installed")
    world.walk_until_rest()
    assert phase(world) == ("Installing", "InstallWaiting")
    assert installed(world)


def test_a_certificate_that_is_gone_while_it_is_installed_csv_md_4_4_2() -> None:
    """It is installed again at once, under the name that OLM has for a changed Deployment."""
    world = a_world()
    world.does("check")
    world.does("install")
    assert phase(world)[0] == "Installing"
    world.remove(CERTIFICATE)
    world.does("probe")
    assert phase(world) == ("InstallReady", "InstallWaiting")
    world.walk_until_rest()
    assert (phase(world)[0], CERTIFICATE in world.objects) == ("Succeeded", True)


@pytest.mark.measured
def test_a_configuration_that_was_deleted_is_made_again_csv_md_4_9_8() -> None:
    world = a_working_world()
    world.remove(Ref.of(configuration(world)))
    world.does("probe")
    assert phase(world) == ("Failed", "ComponentUnhealthy")
    assert world.csv()["status"]["message"] == "webhooks not installed"
    world.walk_until_rest()
    assert phase(world)[0] == "Succeeded"
    assert configuration(world)


def test_a_conversion_that_was_ended_is_made_again_csv_md_4_9_7() -> None:
    world = a_world(a_convertible(), hooks=(a_conversion(),), customresourcedefinitions=owned_crd())
    before = conversion(installed(world))
    world.later(minutes=2)
    with world.edited(CUSTOM_RESOURCE_DEFINITION.ref(THINGS)) as definition:
        definition["spec"]["conversion"] = {"strategy": "None"}
    world.does("probe")
    assert phase(world) == ("InstallReady", "ComponentUnhealthy")
    assert world.csv()["status"]["message"] == "Webhook install failed: conversionWebhook not ready"
    world.walk_until_rest()
    assert (phase(world)[0], conversion(world)) == ("Succeeded", before)


def test_an_api_that_is_deleted_comes_back_csv_md_18_rows_19_and_91() -> None:
    world = a_working_world(hooks=(), apis=(an_api(),))
    world.remove(API_SERVICE.ref("v1.api.example.com"))
    world.does("probe")
    assert phase(world) == ("Failed", "APIServiceResourceIssue")
    assert installed(world)


def test_a_service_that_is_owned_already_has_one_owner_csv_md_18_row_234() -> None:
    world = a_working_world()
    ref = SERVICE.ref("operator-service", "ns")
    before = world.objects[ref]["metadata"]["ownerReferences"]
    with world.edited(ref) as service:
        service["spec"]["ports"] = [{"name": "other", "port": 1, "targetPort": 1}]
    world.walk_until_rest()
    assert world.objects[ref]["metadata"]["ownerReferences"] == before
    assert [one["name"] for one in world.objects[ref]["spec"]["ports"]] == ["other", "443"]


def test_permissions_that_are_there_already_are_brought_in_line_csv_md_18_row_235() -> None:
    """Somebody made them, without our label, for others and for more."""
    meta = {"name": CERTIFICATE.name, "namespace": "ns"}
    identity = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": meta}
    role: Manifest = {**identity, "kind": "Role", "rules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]}
    role_ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": CERTIFICATE.name}
    binding: Manifest = {**identity, "kind": "RoleBinding", "roleRef": role_ref, "subjects": [SIBLING]}
    world = a_working_world(role, binding)
    role, binding = (world.objects[kind.ref(CERTIFICATE.name, "ns")] for kind in (ROLE, ROLE_BINDING))
    assert [one["resources"] for one in role["rules"]] == [["secrets"]]
    assert [one["namespace"] for one in binding["subjects"]] == ["ns"]
    for one in (role, binding):
        assert one["metadata"]["labels"]["olm.managed"] == "true"
        assert [owner["name"] for owner in one["metadata"]["ownerReferences"]] == ["a.v1"]


NARROWED = [
    {"objectSelector": {"matchLabels": {"a": "b"}}}, {"matchConditions": [{"name": "a", "expression": "false"}]},
]  # fmt: skip


@pytest.mark.parametrize("edit", NARROWED)
def test_what_was_added_to_a_webhook_is_taken_back(edit: Manifest) -> None:
    world = a_working_world()
    before = configuration(world)["webhooks"]
    with world.edited(Ref.of(configuration(world))) as manifest:
        manifest["webhooks"][0] |= edit
    world.walk_until_rest()
    assert (phase(world)[0], configuration(world)["webhooks"]) == ("Succeeded", before)


def test_a_shared_permission_is_not_deleted_for_its_label_csv_md_19_16() -> None:
    """The version that it is labelled for does not even have the Deployment any more."""
    world = a_working_world()
    ref = DELEGATOR
    theirs = {"kind": "ServiceAccount", "name": "default", "namespace": "other"}
    with world.edited(ref) as binding:
        binding["subjects"].append(theirs)
    csv = world.csv()
    gone = {**csv["metadata"], "deletionTimestamp": "2026-01-01T12:00:00Z"}
    world.put({**csv, "metadata": gone, "spec": {**csv["spec"], "webhookdefinitions": []}})
    world.does("replace")
    assert theirs in world.objects[ref]["subjects"]


ADDED = [
    pytest.param(SERVICE.ref("operator-service", "ns"), ("selector",), {"stale": "x"}, id="csv.md 7.1: a Service"),
    pytest.param(
        CUSTOM_RESOURCE_DEFINITION.ref(THINGS), ("conversion", "webhook", "clientConfig"),
        {"service": None, "url": "https://x"}, id="csv.md 7.6: a conversion by a URL, which no Service may be beside",
    ),
    pytest.param(
        API_SERVICE.ref("v1.api.example.com"), (), {"insecureSkipTLSVerify": True, "caBundle": None},
        id="csv.md 7.4: an APIService without a check, which no caBundle may be beside",
    ),
]  # fmt: skip


@pytest.mark.measured
@pytest.mark.parametrize(("ref", "path", "added"), ADDED)
def test_what_was_added_around_an_endpoint_is_taken_out(ref: Ref, path: tuple[str, ...], added: Manifest) -> None:
    hooks = (a_webhook(), a_conversion())
    owned = owned_crd()
    world = a_working_world(a_convertible(), hooks=hooks, apis=(an_api(),), customresourcedefinitions=owned)
    before = world.objects[ref]["spec"]
    with world.edited(ref) as manifest:
        found = manifest["spec"]
        for key in path:
            found = found[key]
        found.update(added)
    world.walk_until_rest()
    assert (phase(world)[0], world.objects[ref]["spec"]) == ("Succeeded", before)


@pytest.mark.measured
@pytest.mark.parametrize("apis", [(), (an_api(),)])
def test_a_version_that_fails_again_and_again_pauses(apis: tuple[Manifest, ...]) -> None:
    world = a_working_world(apis=apis)
    csv, now = world.csv(), timestamp(NOW)
    failed = {"phase": "Failed", "reason": "x", "lastUpdateTime": now, "lastTransitionTime": now}
    other = {**failed, "phase": "Installing"}
    history = [failed, other, failed, other, failed]
    world.put({**csv, "status": {**csv["status"], **failed, "reason": "ComponentUnhealthy", "conditions": history}})
    world.remove(CERTIFICATE)
    paused = world.step("probe")
    assert (paused.writes, paused.again_in) == ((), timedelta(seconds=10))
    world.later(seconds=10)
    world.does("probe")
    assert phase(world)[0] == "Pending"


def test_an_edited_ca_is_repaired_csv_md_18_row_88() -> None:
    world = a_working_world()
    before = bundle(world)
    with world.edited(Ref.of(configuration(world))) as manifest:
        manifest["webhooks"][0]["clientConfig"]["caBundle"] = base64.b64encode(b"x").decode()
    world.does("probe")
    assert phase(world) == ("Failed", "ComponentUnhealthy")
    world.walk_until_rest()
    assert (phase(world)[0], bundle(world)) == ("Succeeded", before)


def test_of_two_configurations_of_one_webhook_the_older_is_kept_csv_md_7_6() -> None:
    """Somebody copied it, or two programs made it at once; OLM keeps both."""
    world = a_working_world(hooks=(a_webhook(),))
    kept = configuration(world)
    world.later(seconds=1)
    meta = {"labels": kept["metadata"]["labels"], "creationTimestamp": timestamp(world.time)}
    world.put({**kept, "metadata": {**meta, "name": "a-copy"}})
    outcome = world.does("probe")
    assert [write.ref.name for write in outcome.writes if isinstance(write, Delete)] == ["a-copy"]
    assert (len(outcome.writes), configuration(world), phase(world)[0]) == (1, kept, "Succeeded")
    assert world.step("probe").writes == ()


def test_a_configuration_without_the_name_of_a_webhook_goes_csv_md_7_6() -> None:
    """It says that it is the version's, which describes no such webhook; OLM reports it for ever."""
    world = a_working_world(hooks=(a_webhook(),))
    kept = configuration(world)
    labels = {key: value for key, value in kept["metadata"]["labels"].items() if key.startswith("olm.owner")}
    world.put({**kept, "metadata": {"labels": labels, "name": "nameless"}})
    world.walk_until_rest()
    assert (configuration(world), phase(world)[0]) == (kept, "Succeeded")


EDITED = [
    pytest.param(
        CERTIFICATE, ("metadata", "annotations"), "secret operator-service-cert CA cert hash does not match expected",
        id="the Secret",
    ),
    pytest.param(
        DEPLOYMENT.ref("operator", "ns"), ("spec", "template", "metadata", "annotations"),
        "deployment operator CA cert hash does not match expected", id="the Deployment",
    ),
]  # fmt: skip


@pytest.mark.measured
@pytest.mark.parametrize(("ref", "path", "reported"), EDITED)
def test_an_edited_digest_of_the_ca_is_reported_and_repaired_csv_md_18_row_88(
    ref: Ref, path: tuple[str, ...], reported: str
) -> None:
    world = a_working_world(hooks=(), apis=(an_api(),))
    with world.edited(ref) as manifest:
        found = manifest
        for key in path:
            found = found[key]
        found["olmcahash"] = "x"
    world.does("probe")
    assert (phase(world), world.csv()["status"]["message"]) == (("Failed", "APIServiceResourceIssue"), reported)
    world.does("probe")
    assert phase(world) == ("Pending", "APIServiceResourcesNeedReinstall")
    world.walk_until_rest()
    assert phase(world)[0] == "Succeeded"


@pytest.mark.measured
def test_an_api_that_somebody_takes_is_not_taken_back_csv_md_18_row_90() -> None:
    world = a_working_world(ANOTHER, hooks=(), apis=(an_api(),))
    with world.edited(API_SERVICE.ref("v1.api.example.com")) as manifest:
        manifest["metadata"]["labels"]["olm.owner"] = "b.v1"
    world.does("probe")
    assert world.csv()["status"]["message"] == "v1.api.example.com is unadoptable"
    for _ in range(4):
        world.walk("a.v1")
    assert phase(world) == ("Failed", "APIServiceResourceIssue")


@pytest.mark.parametrize("ref", [DELEGATOR, READER])
def test_a_subject_that_was_taken_out_comes_back_and_others_stay_csv_md_19_16(ref: Ref) -> None:
    world = a_working_world()
    with world.edited(ref) as binding:
        binding["subjects"] = [SIBLING]
    world.walk_until_rest()
    assert [one["namespace"] for one in world.objects[ref]["subjects"]] == ["other", "ns"]
    assert phase(world)[0] == "Succeeded"


REFUSED = [
    {"type": "Available", "status": "False", "message": "no"},
    {"type": "ReplicaFailure", "status": "True", "message": "failed calling webhook"},
]


def test_webhooks_that_refuse_the_pods_of_their_own_operator_follow_their_description() -> None:
    """The phase waits for Pods, and these for the webhooks: nothing would ever change."""
    world = a_working_world(hooks=(a_webhook(),))
    with world.edited(DEPLOYMENT.ref("operator", "ns")) as deployment:
        deployment["status"] |= {"conditions": REFUSED}
    with world.edited(csv_ref("a.v1")) as csv:
        csv["status"]["phase"] = "Installing"
    world.does("probe")
    assert phase(world) == ("Installing", "InstallWaiting")
    edit(world, webhookdefinitions=[a_webhook(failurePolicy="Ignore")])
    world.does("probe")
    assert (phase(world)[0], configuration(world)["webhooks"][0]["failurePolicy"]) == ("Installing", "Ignore")
    assert world.step("probe").writes == ()
