"""A version that serves for the API server, from its installation to its end."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.keys.stored import public_part
from shared.api.manifest import Manifest, timestamp
from shared.domain.objects.ownership import labels_for
from shared.kinds import (
    API_SERVICE,
    CLUSTER_ROLE_BINDING,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    MUTATING_WEBHOOKS,
    OPERATOR_GROUP,
    ROLE,
    ROLE_BINDING,
    SECRET,
    SERVICE,
    VALIDATING_WEBHOOKS,
    Ref,
)
from shared.step import Merge, Replace
from tests.domain.csv.builders import NOW, a_component, a_crd, owned_crd
from tests.domain.endpoints.builders import THINGS, a_conversion, a_server, a_webhook, an_api
from tests.functions.cluster_service_version.served import (
    CERTIFICATE,
    DELEGATOR,
    INSTALLED,
    READER,
    SIBLING,
    a_convertible,
    a_working_world,
    a_world,
    available,
    bundle,
    configuration,
    conversion,
    edit,
    installed,
    phase,
    times,
)
from tests.functions.cluster_service_version.world import World, csv_ref

pytestmark = pytest.mark.unmeasured


def test_all_that_a_webhook_needs_is_made_csv_md_18_rows_84_and_233() -> None:
    world = a_working_world()
    expected = [
        CERTIFICATE, SERVICE.ref("operator-service", "ns"), ROLE.ref("operator-service-cert", "ns"),
        ROLE_BINDING.ref("operator-service-cert", "ns"),
        DELEGATOR,
        READER,
    ]  # fmt: skip
    assert [ref for ref in expected if ref not in world.objects] == []
    content = public_part(world.objects[CERTIFICATE]).content
    assert times(world) == (timestamp(NOW), timestamp(NOW + timedelta(days=729)))
    assert bundle(world) == content.pair.authority
    pods = world.objects[DEPLOYMENT.ref("operator", "ns")]["spec"]["template"]
    assert pods["metadata"]["annotations"]["olmcahash"] == content.pair.digest
    assert [volume["name"] for volume in pods["spec"]["volumes"]] == ["apiservice-cert", "webhook-cert"]
    assert configuration(world, MUTATING_WEBHOOKS)["webhooks"][0]["name"] == "m.example.com"


@pytest.mark.parametrize(("declared", "account"), [({"serviceAccountName": "server"}, "server"), ({}, "default")])
def test_what_is_around_a_deployment_csv_md_7_1(declared: Manifest, account: str) -> None:
    """The Service leads to the Pods of the Deployment, and these may read their certificate and nothing else."""
    hooks = (a_webhook(), a_webhook("m.example.com", "Mutating", containerPort=8443, targetPort="hooks"))
    world = a_working_world(hooks=hooks, strategy={"deployments": [a_component(**declared)]})
    deployment, spec = (world.objects[kind.ref(name, "ns")]["spec"] for kind, name in (
        (DEPLOYMENT, "operator"), (SERVICE, "operator-service"),
    ))  # fmt: skip
    assert spec["selector"] == deployment["selector"]["matchLabels"]
    assert spec["ports"] == [
        {"name": "443", "port": 443, "targetPort": 9443, "protocol": "TCP"},
        {"name": "8443", "port": 8443, "targetPort": "hooks", "protocol": "TCP"},
    ]  # fmt: skip
    role, binding = (world.objects[kind.ref(CERTIFICATE.name, "ns")] for kind in (ROLE, ROLE_BINDING))
    assert role["rules"] == [
        {"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": [CERTIFICATE.name]}
    ]
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": CERTIFICATE.name}
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": account, "namespace": "ns"}]
    assert deployment["template"]["spec"]["serviceAccountName"] == account


def a_service(*ports: Manifest) -> Manifest:
    """The Service that the bundle of the operator brings under the name of ours."""
    identity = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "operator-service", "namespace": "ns"}}
    return {**identity, "spec": {"ports": list(ports), "selector": {"app": "x"}}}


BROUGHT = [
    pytest.param({"port": 443, "targetPort": 1}, [], id="the same port leads where ours does"),
    pytest.param({"port": 443, "protocol": "UDP"}, [("udp-443", 443)], id="one of another protocol stays"),
    pytest.param({"name": "metrics", "port": 8443}, [("metrics", 8443)], id="others stay"),
    pytest.param({"port": 8443}, [("tcp-8443", 8443)], id="beside others each needs a name"),
    pytest.param({"name": "443", "port": 8443}, [], id="no two have one name"),
]


@pytest.mark.parametrize(("port", "kept"), BROUGHT)
def test_a_service_of_a_bundle_serves_and_keeps_its_other_ports_csv_md_7_1(
    port: Manifest, kept: list[tuple[str, int]]
) -> None:
    """As in OLM, which applies its port beside those of others."""
    world = a_working_world(a_service(port))
    found = world.objects[SERVICE.ref("operator-service", "ns")]["spec"]
    *others, ours = found["ports"]
    assert [(one["name"], one["port"]) for one in others] == kept
    assert (ours["name"], ours["port"], ours["targetPort"]) == ("443", 443, 9443)
    assert found["selector"].get("app") == "operator"
    assert world.step("probe").writes == ()


@pytest.mark.measured
def test_an_upgrade_to_another_port_keeps_that_of_the_version_before_csv_md_18_row_104() -> None:
    """Its webhooks are called until it goes, and lead to the same Service."""
    world = a_working_world()
    successor = a_server(a_webhook(containerPort=9443, targetPort=9443), name="a.v2", replaces="a.v1")
    world.put(successor)
    world.does("probe")
    for step in ("check", "install"):
        world.does(step, "a.v2")
    ports = world.objects[SERVICE.ref("operator-service", "ns")]["spec"]["ports"]
    assert [(one["port"], one["targetPort"]) for one in ports] == [(443, 9443), (9443, 9443)]


def test_the_order_of_ports_is_no_difference_csv_md_7_1() -> None:
    """Another writer, OLM for instance, may have them in another one: nothing is installed again for it."""
    hooks = (a_webhook("z.example.com", containerPort=9443), a_webhook())
    world = a_working_world(hooks=hooks)
    with world.edited(SERVICE.ref("operator-service", "ns")) as service:
        assert [one["port"] for one in service["spec"]["ports"]] == [9443, 443]
        service["spec"]["ports"].reverse()
    assert world.step("probe").writes == ()


def test_at_rest_nothing_is_written() -> None:
    world = a_working_world(apis=(an_api(),))
    before = dict(world.objects)
    for moment in ({}, {"hours": 1}, {"days": 30}):
        world.later(**moment)
        for step in ("check", "install", "probe", "replace"):
            assert world.step(step).writes == ()
    assert dict(world.objects) == before


def test_an_api_is_served_csv_md_7_4_and_18_row_13() -> None:
    world = a_world(hooks=(), apis=(an_api(),))
    world.walk_until_rest()
    assert (phase(world), world.csv()["status"]["message"]) == (
        ("Installing", "InstallWaiting"), "apiServices not installed",
    )  # fmt: skip
    api = world.objects[API_SERVICE.ref("v1.api.example.com")]
    content = public_part(world.objects[CERTIFICATE]).content
    assert api["spec"] == {
        "group": "api.example.com", "version": "v1", "groupPriorityMinimum": 2000, "versionPriority": 15,
        "service": {"namespace": "ns", "name": "operator-service", "port": 9443},
        "caBundle": base64.b64encode(content.pair.authority.encode()).decode(),
    }  # fmt: skip
    assert api["metadata"]["labels"] == {**labels_for("a.v1", "ns"), "olm.managed": "true"}
    assert "annotations" not in api["metadata"]
    available(world, api)
    world.walk_until_rest()
    assert phase(world)[0] == "Succeeded"


def test_an_api_of_another_owner_is_left_alone_csv_md_18_rows_11_and_93() -> None:
    labels = {"olm.owner": "b.v1", "olm.owner.namespace": "other", "olm.owner.kind": "ClusterServiceVersion"}
    spec = {"group": "api.example.com", "version": "v1", "service": {"namespace": "other", "name": "b"}}
    theirs = {
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": "v1.api.example.com", "labels": labels}, "spec": spec,
    }  # fmt: skip
    world = a_world(theirs, hooks=(), apis=(an_api(),))
    stored = world.objects[API_SERVICE.ref("v1.api.example.com")]
    world.walk_until_rest()
    assert phase(world) == ("Failed", "OwnerConflict")
    assert world.csv()["status"]["message"] == "unable to adopt APIService"
    assert world.objects[API_SERVICE.ref("v1.api.example.com")] == stored


def test_conversion_begins_and_ends_with_the_version_csv_md_7_6_and_18_row_108() -> None:
    world = a_world(a_convertible(), hooks=(a_conversion(),), customresourcedefinitions=owned_crd())
    installed(world)
    client = conversion(world)["webhook"]["clientConfig"]
    assert client["service"] == {"namespace": "ns", "name": "operator-service", "path": "/convert", "port": 443}
    assert base64.b64decode(client["caBundle"]).decode().startswith("-----BEGIN CERTIFICATE")
    csv = world.csv()
    world.put({**csv, "metadata": {**csv["metadata"], "deletionTimestamp": "2026-01-01T12:00:00Z"}})
    world.does("replace")
    assert conversion(world) == {"strategy": "None"}


def test_of_two_webhooks_that_convert_one_definition_the_last_is_called_csv_md_7_6() -> None:
    """As in OLM; a definition has one conversion, so each would take it from the other for ever."""
    hooks = (a_conversion(), {**a_conversion(), "generateName": "d.example.com", "webhookPath": "/last"})
    world = a_working_world(a_convertible(), hooks=hooks, customresourcedefinitions=owned_crd())
    assert conversion(world)["webhook"]["clientConfig"]["service"]["path"] == "/last"
    assert world.step("probe").writes == ()


UNPLANNED = "no InstallPlan installed it for this version"


def test_a_definition_of_somebody_else_is_not_converted_csv_md_18_row_107() -> None:
    world = a_world(a_crd(THINGS), hooks=(a_conversion(),), customresourcedefinitions=owned_crd())
    before = world.objects[CUSTOM_RESOURCE_DEFINITION.ref(THINGS)]
    for _ in range(6):
        world.walk("a.v1")
    assert world.objects[CUSTOM_RESOURCE_DEFINITION.ref(THINGS)] == before
    reported = [one["message"] for one in world.csv()["status"]["conditions"] if one["phase"] == "Failed"]
    assert reported == [f"install strategy failed: csv a.v1 does not own CRD {THINGS}: {UNPLANNED}"]


def test_what_leads_to_a_version_goes_with_it_csv_md_3_1_2_and_18_row_97() -> None:
    world = a_working_world(apis=(an_api(),))
    csv = world.csv()
    world.put({**csv, "metadata": {**csv["metadata"], "deletionTimestamp": "2026-01-01T12:00:00Z"}})
    world.does("replace")
    left = [
        one["metadata"]["name"]
        for kind in (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS, CLUSTER_ROLE_BINDING, API_SERVICE)
        for one in world.api.list(kind)
        if "operator" in str(one) and "olm.managed" in str(one)
    ]
    assert left == []
    assert READER not in world.objects


def test_a_version_that_is_in_no_group_takes_back_all_the_same_csv_md_19_24() -> None:
    """OLM leaves APIServices and conversions behind it."""
    hooks, owned = (a_webhook(), a_conversion()), owned_crd()
    world = a_working_world(a_convertible(), hooks=hooks, apis=(an_api(),), customresourcedefinitions=owned)
    with world.edited(csv_ref("a.v1")) as csv:
        csv["metadata"] |= {"deletionTimestamp": "2026-01-01T12:00:00Z", "annotations": {}}
    world.does("replace")
    assert conversion(world) == {"strategy": "None"}
    assert API_SERVICE.ref("v1.api.example.com") not in world.objects
    assert world.api.list(VALIDATING_WEBHOOKS) == ()


def test_what_a_version_requires_is_not_installed_csv_md_19_8() -> None:
    """OLM goes on to the next Deployment only if it could adopt the APIService of somebody else."""
    spec = {"group": "b.example.com", "version": "v1", "service": {"namespace": "other", "name": "b"}}
    theirs = {
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.b.example.com"},
        "spec": spec, "status": {"conditions": [{"type": "Available", "status": "True"}]},
    }  # fmt: skip
    needed = {
        key: value for key, value in an_api("b.example.com").items() if key in ("name", "group", "version", "kind")
    }
    strategy = {"deployments": [a_component(), a_component("second")]}
    apis = {"required": [needed]}
    world = a_working_world(theirs, hooks=(a_webhook(),), apiservicedefinitions=apis, strategy=strategy)
    assert world.objects[API_SERVICE.ref("v1.b.example.com")]["spec"] == spec
    assert DEPLOYMENT.ref("second", "ns") in world.objects


def test_a_replaced_version_that_is_made_again_takes_nothing_back_csv_md_18_row_92() -> None:
    world = a_working_world(hooks=(), apis=(an_api(),))
    world.put(a_server(name="a.v2", replaces="a.v1", apis=(an_api(),)))
    world.walk_until_rest()
    assert csv_ref("a.v1") not in world.objects
    before = world.objects[API_SERVICE.ref("v1.api.example.com")]
    world.put(a_server(apis=(an_api(),)))
    world.walk_until_rest("a.v1")
    assert (phase(world), world.csv()["status"]["message"]) == (
        ("Failed", "OwnerConflict"), "unable to adopt APIService",
    )  # fmt: skip
    assert world.objects[API_SERVICE.ref("v1.api.example.com")] == before


def an_upgrade(*objects: Manifest, **csv: Any) -> World:
    """A version that works, and the one that replaces it: what they serve is the same."""
    world = a_working_world(*objects, **csv)
    hooks = csv.pop("hooks", (a_webhook(), a_webhook("m.example.com", "Mutating")))
    world.put(a_server(*hooks, name="a.v2", replaces="a.v1", **csv))
    return world


def test_an_upgrade_changes_hands_without_a_gap_csv_md_18_rows_92_and_104() -> None:
    """The Secret goes on, and what the old version leaves is not that of the new one."""
    world = an_upgrade(apis=(an_api(),))
    secret, made = world.objects[CERTIFICATE]["data"], world.csv()["status"]["certsLastUpdated"]
    world.later(days=1)
    for _ in range(8):
        for name in [name for name in ("a.v1", "a.v2") if csv_ref(name) in world.objects]:
            world.walk(name)
    assert csv_ref("a.v1") not in world.objects
    new = world.csv("a.v2")
    assert (new["status"]["phase"], new["status"]["certsLastUpdated"]) == ("Succeeded", made)
    assert world.objects[CERTIFICATE]["data"] == secret
    owners = {one["uid"] for one in world.objects[CERTIFICATE]["metadata"]["ownerReferences"]}
    assert new["metadata"]["uid"] in owners
    assert configuration(world)["metadata"]["labels"]["olm.owner"] == "a.v2"
    shared = [API_SERVICE.ref("v1.api.example.com"), DELEGATOR]
    assert [world.objects[ref]["metadata"]["labels"]["olm.owner"] for ref in shared] == ["a.v2"] * 2


def test_webhooks_follow_their_group_in_place_csv_md_19_23() -> None:
    """OLM leaves the selector of a group that is gone, so that nothing is checked any more."""
    world = a_working_world()
    group = world.objects[OPERATOR_GROUP.ref("og", "ns")]
    world.put({**group, "spec": {"targetNamespaces": ["ns"]}, "status": {"namespaces": ["ns"]}})
    world.does("probe")
    assert phase(world)[0] == "Succeeded"
    (hook,) = configuration(world)["webhooks"]
    assert hook["namespaceSelector"] == {"matchLabels": {"olm.operatorgroup.uid/uid-og": ""}}
    assert [rule["scope"] for rule in hook["rules"]] == ["Namespaced"]
    assert world.does("probe").writes == ()


@pytest.mark.parametrize("spec", [{"targetNamespaces": ["ns"]}, {"selector": {"matchLabels": {"a": "b"}}}])
def test_webhooks_of_a_group_that_becomes_global_are_for_all_again_csv_md_19_23(spec: Manifest) -> None:
    world = a_working_world()
    before = configuration(world)["webhooks"]
    group = world.objects[OPERATOR_GROUP.ref("og", "ns")]
    world.put({**group, "spec": spec, "status": {"namespaces": ["ns"]}})
    world.does("probe")
    assert configuration(world)["webhooks"] != before
    world.put(group)
    world.does("probe")
    assert configuration(world)["webhooks"] == before
    assert world.step("probe").writes == ()


def test_a_renamed_webhook_leaves_no_configuration_csv_md_18_row_101() -> None:
    world = a_working_world(hooks=(a_webhook(),))
    csv = world.csv()
    world.put({**csv, "spec": {**csv["spec"], "webhookdefinitions": [a_webhook("new.example.com")]}})
    world.walk_until_rest()
    assert (phase(world)[0], configuration(world)["webhooks"][0]["name"]) == ("Succeeded", "new.example.com")


def test_the_permissions_of_equal_names_are_shared_csv_md_19_16() -> None:
    """Two namespaces have a Deployment of that name; neither takes the right from the other."""
    theirs = {"kind": "ServiceAccount", "name": "default", "namespace": "other"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:auth-delegator"}
    labels = {"olm.owner": "b.v1", "olm.owner.namespace": "other", "olm.owner.kind": "ClusterServiceVersion"}
    ref = DELEGATOR
    binding = {
        "apiVersion": ref.api_version, "kind": ref.kind, "metadata": {"name": ref.name, "labels": labels},
        "roleRef": role, "subjects": [theirs],
    }  # fmt: skip
    world = a_working_world(binding)
    assert [one["namespace"] for one in world.objects[ref]["subjects"]] == ["other", "ns"]
    assert world.objects[ref]["metadata"]["labels"]["olm.owner"] == "b.v1"
    csv = world.csv()
    world.put({**csv, "metadata": {**csv["metadata"], "deletionTimestamp": "2026-01-01T12:00:00Z"}})
    world.does("replace")
    assert world.objects[ref]["subjects"] == [theirs]


@pytest.mark.measured
def test_what_only_an_edit_can_help_does_not_flap_csv_md_19_7() -> None:
    """csv.md 18 rows 102, 103 and 107."""
    for hooks, reason in (
        ((a_webhook(), a_webhook()), "InvalidWebhookDescription"),
        ((a_webhook(deploymentName="x"),), "InstallComponentFailed"),
    ):
        world = a_world(hooks=hooks)
        world.walk_until_rest()
        world.later(hours=1)
        world.walk_until_rest()
        assert phase(world) == ("Failed", reason)
        assert len(world.csv()["status"]["conditions"]) <= 4
        csv = world.csv()
        world.put({**csv, "spec": {**csv["spec"], "webhookdefinitions": [a_webhook()]}})
        world.walk_until_rest()
        assert phase(world)[0] == "Succeeded"


FORBIDDEN = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}


def test_a_deployment_that_is_described_twice_does_not_flap_csv_md_19_7() -> None:
    """OLM writes one over the other for ever; the version serves nothing."""
    world = a_world(hooks=(), strategy={"deployments": [a_component(), a_component(serviceAccountName="x")]})
    world.walk_until_rest()
    assert phase(world) == ("Failed", "InstallComponentFailed")
    assert "Deployment 'operator' is in the install strategy twice" in world.csv()["status"]["message"]
    edit(world, install={"strategy": "deployment", "spec": {"deployments": [a_component()]}})
    world.later(minutes=6)
    world.walk_until_rest()
    assert phase(world)[0] == "Succeeded"


def test_a_deployment_that_is_repeated_word_for_word_is_one() -> None:
    world = a_working_world(strategy={"deployments": [a_component(), a_component()]})
    assert world.step("probe").writes == ()


def test_a_description_is_refused_whatever_leads_to_an_installation_csv_md_18_row_103() -> None:
    """An edit of a version that works, and a phase that somebody writes, lead past the look at its requirements."""
    world = a_working_world()
    before = configuration(world)
    csv = world.csv()
    spec = {**csv["spec"], "webhookdefinitions": [a_webhook(rules=[FORBIDDEN])]}
    world.put({**csv, "spec": spec, "status": {**csv["status"], "phase": "InstallReady", "reason": "x"}})
    world.does("install")
    refused = "webhook rules cannot include all groups"
    assert phase(world) == ("Failed", "InstallComponentFailed")
    assert world.csv()["status"]["message"].endswith(refused)
    for _ in range(20):
        world.walk("a.v1")
        world.later(seconds=30)
        assert configuration(world) == before
    assert (phase(world), world.csv()["status"]["message"]) == (("Failed", "InvalidWebhookDescription"), refused)


def of_former_names(api: str, labels: dict[str, str]) -> list[Manifest]:
    """What an old OLM made around an APIService."""
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": f"{api}-cert"}
    above = {**role, "kind": "ClusterRole", "name": "system:auth-delegator"}
    reader = {**role, "name": "extension-apiserver-authentication-reader"}
    contents: list[tuple[Ref, Manifest]] = [
        (SERVICE.ref(api.replace(".", "-"), "ns"), {"spec": {"ports": [{"port": 433}]}}),
        (SECRET.ref(f"{api}-cert", "ns"), {"type": "Opaque"}),
        (ROLE.ref(f"{api}-cert", "ns"), {"rules": []}),
        (ROLE_BINDING.ref(f"{api}-cert", "ns"), {"roleRef": role}),
        (CLUSTER_ROLE_BINDING.ref(f"{api}-system:auth-delegator"), {"roleRef": above}),
        (ROLE_BINDING.ref(f"{api}-auth-reader", "kube-system"), {"roleRef": reader}),
    ]
    return [
        {
            "apiVersion": ref.api_version, "kind": ref.kind, **content,
            "metadata": {"name": ref.name, "labels": labels, **({"namespace": ref.namespace} if ref.namespace else {})},
        }
        for ref, content in contents
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("owner", "is_kept"),
    [
        pytest.param("a.v1", False, id="the version's own"),
        pytest.param("b.v1", True, id="those of another version"),
        pytest.param("", True, id="those of nobody"),
    ],
)
def test_what_is_left_of_former_names_goes_csv_md_7_4_and_18_row_96(owner: str, is_kept: bool) -> None:
    labels = labels_for(owner, "ns") if owner else {}
    left = of_former_names("v1.api.example.com", labels)
    world = a_working_world(*left, hooks=(), apis=(an_api(),))
    assert [Ref.of(one) in world.objects for one in left] == [is_kept] * len(left)


def test_a_former_name_that_is_the_present_one_stays_csv_md_7_4() -> None:
    """The Deployment is called as the version of the API, whose group is `service`."""
    service, *_ = of_former_names("v1.service", labels_for("a.v1", "ns"))
    api, strategy = an_api("service", deploymentName="v1"), {"deployments": [a_component("v1")]}
    world = a_working_world(service, hooks=(), apis=(api,), strategy=strategy)
    kept = world.objects[Ref.of(service)]
    assert (kept["metadata"]["labels"]["olm.owner"], kept["spec"]["ports"][-1]["port"]) == ("a.v1", 9443)


def test_two_apis_of_one_deployment_share_a_certificate_csv_md_18_row_95() -> None:
    world = a_working_world(hooks=(), apis=(an_api(), an_api("b.example.com")))
    found = [world.objects[API_SERVICE.ref(f"v1.{one}.example.com")]["spec"]["caBundle"] for one in ("api", "b")]
    assert found[0] == found[1]
    ports = world.objects[SERVICE.ref("operator-service", "ns")]["spec"]["ports"]
    assert [one["port"] for one in ports] == [9443]


@pytest.mark.parametrize("deployment", ["operator", "second"])
def test_two_kinds_of_one_api_share_its_service_csv_md_2_1(deployment: str) -> None:
    """The last entry decides where it leads, as in OLM: each of two would take it from the other for ever."""
    apis = (an_api(), an_api(name="others", deploymentName=deployment, containerPort=8443))
    strategy = {"deployments": [a_component("operator"), a_component("second")]}
    world = a_working_world(hooks=(), apis=apis, strategy=strategy)
    service = world.objects[API_SERVICE.ref("v1.api.example.com")]["spec"]["service"]
    assert (service["name"], service["port"]) == (f"{deployment}-service", 8443)
    assert world.step("probe").writes == ()


@pytest.mark.measured
def test_two_operators_that_own_a_definition_convert_nothing_of_each_other() -> None:
    """Both were installed with it by a plan, and both live."""
    conflicting = a_server(name="b.v1", customresourcedefinitions=owned_crd())
    there = {"olm.operatorNamespace": "other", "olm.operatorGroup": "og", "olm.targetNamespaces": ""}
    conflicting["metadata"] |= {"namespace": "other", "annotations": there}
    crd = a_crd(THINGS, annotations={**INSTALLED, "operatorframework.io/installed-alongside-2": "other/b.v1"})
    world = a_world(conflicting, crd, hooks=(a_conversion(),), customresourcedefinitions=owned_crd())
    for _ in range(4):
        world.walk("a.v1")
    reported = [one["message"] for one in world.csv()["status"]["conditions"] if one["phase"] == "Failed"]
    assert [f"CRD {THINGS} also belongs to other/b.v1" in one for one in reported] == [True]


@pytest.mark.measured
def test_the_annotations_of_a_subscription_are_on_a_new_api_csv_md_7_4() -> None:
    subscription = {
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
        "metadata": {"name": "a", "namespace": "ns"}, "spec": {"config": {"annotations": {"team": "x"}}},
        "status": {"installedCSV": "a.v1"},
    }  # fmt: skip
    world = a_working_world(subscription, hooks=(), apis=(an_api(),))
    ref = API_SERVICE.ref("v1.api.example.com")
    assert world.objects[ref]["metadata"]["annotations"] == {"team": "x"}
    with world.edited(ref) as api:
        api["metadata"]["annotations"]["team"] = "edited by somebody"
    assert world.step("probe").writes == ()


def without_group(world: World) -> None:
    world.remove(OPERATOR_GROUP.ref("og", "ns"))


def with_an_api_of_others(world: World) -> None:
    labels = {"olm.owner": "b.v1", "olm.owner.namespace": "other", "olm.owner.kind": "ClusterServiceVersion"}
    spec = {"group": "api.example.com", "version": "v1", "service": {"namespace": "other", "name": "b"}}
    identity = {"apiVersion": API_SERVICE.api_version, "kind": API_SERVICE.kind}
    world.put({**identity, "metadata": {"name": "v1.api.example.com", "labels": labels}, "spec": spec})


CHANGED = [
    pytest.param(without_group, "error retrieving OperatorGroup info", id="csv.md 7.6: it is in no group"),
    pytest.param(
        with_an_api_of_others, "pre-existing APIService v1.api.example.com is not adoptable",
        id="csv.md 7.4: another version has its API",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("change", "reported"), CHANGED)
def test_what_changes_before_an_installation_is_reported_and_nothing_is_written_csv_md_4_3_2(
    change: Callable[[World], None], reported: str
) -> None:
    """Its requirements were met when they were checked."""
    world = a_world(apis=(an_api(),))
    for _ in range(2):
        world.does("check")
    assert phase(world)[0] == "InstallReady"
    change(world)
    before = {ref for ref in world.objects if ref.kind != "Event"}
    world.does("install")
    assert phase(world) == ("Failed", "InstallComponentFailed")
    assert reported in world.csv()["status"]["message"]
    assert {ref for ref in world.objects if ref.kind != "Event"} == before


def test_what_a_version_serves_no_more_is_removed_and_nothing_else_csv_md_7_5() -> None:
    """OLM removes APIServices only when their version is gone."""
    theirs = {
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": "v1.theirs.example.com", "labels": {"olm.managed": "true"}},
        "spec": {"group": "theirs.example.com", "version": "v1", "service": {"namespace": "ns", "name": "operator"}},
    }  # fmt: skip
    world = a_working_world(theirs, apis=(an_api(), an_api("b.example.com")))
    before = Ref.of(configuration(world)), bundle(world)
    edit(world, webhookdefinitions=[a_webhook()], apiservicedefinitions={"owned": [an_api()]})
    world.does("probe")
    assert phase(world)[0] == "Succeeded"
    found = {one["metadata"]["name"] for one in world.api.list(API_SERVICE) if "example" in one["metadata"]["name"]}
    assert found == {"v1.api.example.com", "v1.theirs.example.com"}
    assert world.api.list(MUTATING_WEBHOOKS) == ()
    assert (Ref.of(configuration(world)), bundle(world)) == before
    world.walk_until_rest()
    assert phase(world)[0] == "Succeeded"


@pytest.mark.measured
def test_a_version_that_serves_nothing_any_more_is_not_called_csv_md_7_5() -> None:
    hooks = (a_webhook(), a_conversion())
    world = a_world(a_convertible(), hooks=hooks, apis=(an_api(),), customresourcedefinitions=owned_crd())
    installed(world)
    edit(world, webhookdefinitions=[], apiservicedefinitions={})
    world.walk_until_rest()
    assert phase(world)[0] == "Succeeded"
    assert conversion(world) == {"strategy": "None"}
    assert world.api.list(VALIDATING_WEBHOOKS) == ()
    assert API_SERVICE.ref("v1.api.example.com") not in world.objects


def test_a_conversion_of_somebody_else_is_left_alone_when_a_version_drops_its_own() -> None:
    world = a_world(a_convertible(), hooks=(a_webhook(), a_conversion()), customresourcedefinitions=owned_crd())
    installed(world)
    ref = CUSTOM_RESOURCE_DEFINITION.ref(THINGS)
    with world.edited(ref) as definition:
        definition["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"] = "another"
    before = world.objects[ref]
    edit(world, webhookdefinitions=[a_webhook()])
    world.walk_until_rest()
    assert (phase(world)[0], world.objects[ref]) == ("Succeeded", before)


def test_a_deployment_that_serves_no_more_leaves_what_it_shared_csv_md_19_16() -> None:
    """The right of the other namespace stays, and is labelled for nobody of ours."""
    world = a_working_world()
    with world.edited(DELEGATOR) as binding:
        binding["subjects"].append(SIBLING)
    edit(world, webhookdefinitions=[])
    world.walk_until_rest()
    assert phase(world)[0] == "Succeeded"
    assert world.objects[DELEGATOR]["subjects"] == [SIBLING]
    assert "olm.owner" not in world.objects[DELEGATOR]["metadata"]["labels"]
    assert READER not in world.objects
    assert world.step("probe").writes == ()


@pytest.mark.parametrize("others", [(), (SIBLING,)])
def test_a_deployment_that_gets_another_name_leaves_what_it_shared_csv_md_18_row_63(
    others: tuple[Manifest, ...],
) -> None:
    """The binding in `kube-system` has no owner: nobody else would ever take it away."""
    world = a_working_world()
    for ref in (DELEGATOR, READER):
        with world.edited(ref) as binding:
            binding["subjects"] += others
    edit(
        world, install={"strategy": "deployment", "spec": {"deployments": [a_component("renamed")]}},
        webhookdefinitions=[a_webhook(deploymentName="renamed")],
    )  # fmt: skip
    world.walk_until_rest()
    assert DEPLOYMENT.ref("operator", "ns") not in world.objects
    for ref in (DELEGATOR, READER):
        assert world.objects.get(ref, {"subjects": []})["subjects"] == [*others]
        assert (ref in world.objects) is bool(others)
    assert ROLE_BINDING.ref("renamed-service-auth-reader", "kube-system") in world.objects


def test_a_webhook_about_its_own_deployments_is_edited_before_them() -> None:
    world = a_working_world(hooks=(a_webhook(),))
    strategy = {"strategy": "deployment", "spec": {"deployments": [a_component(containers=[{"image": "new"}])]}}
    edit(world, webhookdefinitions=[a_webhook(failurePolicy="Ignore")], install=strategy)
    with world.edited(csv_ref("a.v1")) as csv:
        csv["status"]["phase"] = "InstallReady"
    first, second, *_ = world.step("install").writes
    assert isinstance(first, Merge)
    assert (first.ref, type(second)) == (Ref.of(configuration(world)), Replace)
