"""A version that serves for the API server, from the first certificate to its end."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.keys import x509
from shared.adapters.keys.stored import public_part
from shared.api.manifest import Manifest, timestamp
from shared.api.views import Csv
from shared.domain.endpoints.certificates import SETTLED
from shared.domain.endpoints.naming import hosts
from shared.domain.objects.ownership import owner_reference
from shared.domain.operator_groups.group import render_apis
from shared.domain.operator_groups.provided_apis import apis_of
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
    Kind,
    Ref,
)
from shared.step import Merge, Replace
from tests.domain.csv.builders import NOW, a_component, a_crd, a_group, owned_crd
from tests.domain.endpoints.builders import THINGS, a_conversion, a_server, a_webhook, an_api
from tests.functions.cluster_service_version.world import World, csv_ref

CERTIFICATE = SECRET.ref("operator-service-cert", "ns")
SERVED = Kind("api.example.com/v1", "Measure", "measures")
INSTALLED = {"operatorframework.io/installed-alongside-1": "ns/a.v1"}


def a_global_group(server: Manifest) -> Manifest:
    """A group that announces what the version provides."""
    group = a_group(targets=("",))
    provided = render_apis(apis_of(Csv(server)))
    return {**group, "metadata": {**group["metadata"], "annotations": {"olm.providedAPIs": provided}}}


class Served(World):
    """What an APIService names is in the discovery at once."""

    def find(self, api_version: str, kind: str) -> Kind | None:
        return SERVED if kind == SERVED.kind else super().find(api_version, kind)


def a_world(*objects: Manifest, **csv: Any) -> World:
    """A world with a version that has two webhooks, unless `csv` says otherwise."""
    hooks = csv.pop("hooks", (a_webhook(), a_webhook("m.example.com", "Mutating")))
    server = a_server(*hooks, **csv)
    world = Served([server, a_global_group(server), *objects])
    world.is_prompt = True
    return world


def installed(world: World) -> World:
    """The version works: its APIServices are available."""
    world.walk_until_rest()
    for api in world.api.list(API_SERVICE, labels={"olm.owner": "a.v1"}):
        available(world, api)
    world.walk_until_rest()
    assert world.csv()["status"]["phase"] == "Succeeded", world.csv()["status"]
    return world


def available(world: World, api: Manifest, status: str = "True") -> None:
    world.put({**api, "status": {"conditions": [{"type": "Available", "status": status}]}})


def configuration(world: World, kind: Kind = VALIDATING_WEBHOOKS) -> Manifest:
    (found,) = world.api.list(kind)
    return found


def phase(world: World) -> tuple[str, str]:
    status = world.csv()["status"]
    return status["phase"], status["reason"]


def bundle(world: World) -> str:
    (hook,) = configuration(world)["webhooks"]
    return base64.b64decode(hook["clientConfig"]["caBundle"]).decode()


def test_all_that_a_webhook_needs_is_made_csv_md_18_rows_84_and_233() -> None:
    world = installed(a_world())
    expected = [
        CERTIFICATE, SERVICE.ref("operator-service", "ns"), ROLE.ref("operator-service-cert", "ns"),
        ROLE_BINDING.ref("operator-service-cert", "ns"),
        CLUSTER_ROLE_BINDING.ref("operator-service-system:auth-delegator"),
        ROLE_BINDING.ref("operator-service-auth-reader", "kube-system"),
    ]  # fmt: skip
    assert [ref for ref in expected if ref not in world.objects] == []
    content = public_part(world.objects[CERTIFICATE]).content
    status = world.csv()["status"]
    assert status["certsRotateAt"] == timestamp(NOW + timedelta(days=729))
    assert bundle(world) == content.pair.authority
    pods = world.objects[DEPLOYMENT.ref("operator", "ns")]["spec"]["template"]
    assert pods["metadata"]["annotations"]["olmcahash"] == content.pair.digest
    assert [volume["name"] for volume in pods["spec"]["volumes"]] == ["apiservice-cert", "webhook-cert"]
    assert configuration(world, MUTATING_WEBHOOKS)["webhooks"][0]["name"] == "m.example.com"


def test_at_rest_nothing_is_written() -> None:
    world = installed(a_world(apis=(an_api(),)))
    before = dict(world.objects)
    for moment in ({}, {"hours": 1}, {"days": 30}):
        world.later(**moment)
        for step in ("check", "install", "probe", "replace"):
            assert world.step(step).writes == ()
    assert dict(world.objects) == before


GONE = [
    pytest.param(CERTIFICATE, id="row 86: the Secret"),
    pytest.param(SERVICE.ref("operator-service", "ns"), id="its Service"),
    pytest.param(ROLE.ref("operator-service-cert", "ns"), id="the right to read its certificate"),
    pytest.param(CLUSTER_ROLE_BINDING.ref("operator-service-system:auth-delegator"), id="the right to ask"),
    pytest.param(ROLE_BINDING.ref("operator-service-auth-reader", "kube-system"), id="the right to read"),
]


@pytest.mark.parametrize("ref", GONE)
@pytest.mark.parametrize("apis", [(), (an_api(),)])
def test_what_was_deleted_is_made_again_csv_md_18_rows_86_and_88(ref: Ref, apis: tuple[Manifest, ...]) -> None:
    world = installed(a_world(apis=apis))
    world.remove(ref)
    world.does("probe")
    assert phase(world) in {
        ("Failed", "APIServiceResourceIssue"), ("Pending", "NeedsCertRotation"), ("Pending", "NeedsReinstall"),
    }  # fmt: skip
    world.walk_until_rest()
    assert (phase(world)[0], ref in world.objects) == ("Succeeded", True)


def test_a_configuration_that_was_deleted_is_made_again_csv_md_4_9_8() -> None:
    world = installed(a_world())
    world.remove(Ref.of(configuration(world)))
    world.does("probe")
    assert phase(world) == ("Failed", "ComponentUnhealthy")
    assert world.csv()["status"]["message"] == "webhooks not installed"
    world.walk_until_rest()
    assert phase(world)[0] == "Succeeded"
    assert configuration(world)


def test_a_rotation_has_three_stages_csv_md_18_rows_87_and_105() -> None:
    """At no time does a server use a certificate of a CA that its clients do not trust."""
    world = installed(a_world())
    before = public_part(world.objects[CERTIFICATE]).content.pair
    world.later(days=729, hours=1)
    world.does("probe")
    assert phase(world) == ("Pending", "NeedsCertRotation")
    seen = []
    for _ in range(40):
        for step in ("check", "install", "probe"):
            world.does(step)
            used = public_part(world.objects[CERTIFICATE]).content.pair
            assert used.authority in bundle(world)
            seen.append((used == before, bundle(world).count("BEGIN")))
        world.later(seconds=2)
    assert phase(world)[0] == "Succeeded"
    assert list(dict.fromkeys(seen)) == [(True, 1), (True, 2), (False, 2), (False, 1)]
    content = public_part(world.objects[CERTIFICATE]).content
    assert not content.is_rotating
    assert bundle(world) == content.pair.authority
    status = world.csv()["status"]
    assert status["certsRotateAt"] == timestamp(content.pair.rotates_at)


@pytest.mark.parametrize(("ahead", "trusted"), [(timedelta(), 2), (timedelta(hours=1), 1)])
def test_the_former_ca_is_trusted_while_a_service_may_lead_to_a_replaced_pod(ahead: timedelta, trusted: int) -> None:
    """The time of a controller whose clock is far ahead is not waited for."""
    world = installed(a_world())
    before = public_part(world.objects[CERTIFICATE]).content.pair
    world.later(days=729, hours=1)
    world.does("probe")
    while public_part(world.objects[CERTIFICATE]).content.pair == before:
        for step in ("check", "install", "probe"):
            world.does(step)
        world.later(seconds=2)
    for step in ("check", "install"):
        world.does(step)
    world.later(minutes=1)
    done = {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}
    with world.edited(DEPLOYMENT.ref("operator", "ns")) as deployment:
        said = deployment["status"].setdefault("conditions", [])
        said.append({**done, "lastUpdateTime": timestamp(world.time + ahead)})
    world.does("probe")
    assert bundle(world).count("BEGIN") == trusted
    world.later(seconds=SETTLED.total_seconds())
    world.does("probe")
    assert bundle(world).count("BEGIN") == 1


def test_an_expired_certificate_is_replaced_at_once_csv_md_18_row_89() -> None:
    world = installed(a_world())
    world.later(days=731)
    world.walk_until_rest()
    content = public_part(world.objects[CERTIFICATE]).content
    assert (phase(world)[0], content.is_rotating, bundle(world)) == ("Succeeded", False, content.pair.authority)


def test_what_is_valid_is_used_again_csv_md_18_row_85() -> None:
    world = installed(a_world())
    secret = world.objects[CERTIFICATE]
    world.remove(DEPLOYMENT.ref("operator", "ns"))
    world.walk_until_rest()
    assert (phase(world)[0], world.objects[CERTIFICATE]) == ("Succeeded", secret)


def test_an_api_is_served_csv_md_7_4_and_18_row_13() -> None:
    world = a_world(hooks=(), apis=(an_api(),))
    world.walk_until_rest()
    assert (phase(world), world.csv()["status"]["message"]) == (
        ("Installing", "InstallWaiting"), "apiServices not installed",
    )  # fmt: skip
    api = world.objects[API_SERVICE.ref("v1.api.example.com")]
    assert api["spec"]["service"] == {"namespace": "ns", "name": "operator-service", "port": 9443}
    assert (api["spec"]["groupPriorityMinimum"], api["spec"]["versionPriority"]) == (2000, 15)
    available(world, api)
    world.walk_until_rest()
    assert phase(world)[0] == "Succeeded"


def test_an_api_that_is_deleted_comes_back_csv_md_18_rows_19_and_91() -> None:
    world = installed(a_world(hooks=(), apis=(an_api(),)))
    world.remove(API_SERVICE.ref("v1.api.example.com"))
    world.does("probe")
    assert phase(world) == ("Failed", "APIServiceResourceIssue")
    assert installed(world)


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


def a_convertible(**meta: Any) -> Manifest:
    return a_crd(THINGS, annotations=INSTALLED, **meta)


def conversion(world: World) -> Any:
    return world.objects[CUSTOM_RESOURCE_DEFINITION.ref(THINGS)]["spec"].get("conversion")


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


def test_a_definition_of_somebody_else_is_not_converted_csv_md_18_row_107() -> None:
    world = a_world(a_crd(THINGS), hooks=(a_conversion(),), customresourcedefinitions=owned_crd())
    before = world.objects[CUSTOM_RESOURCE_DEFINITION.ref(THINGS)]
    for _ in range(6):
        world.walk("a.v1")
    assert world.objects[CUSTOM_RESOURCE_DEFINITION.ref(THINGS)] == before
    told = [one["message"] for one in world.csv()["status"]["conditions"] if one["phase"] == "Failed"]
    assert told == [f"install strategy failed: csv a.v1 does not own CRD {THINGS}"]


def test_what_leads_to_a_version_goes_with_it_csv_md_3_1_2_and_18_row_97() -> None:
    world = installed(a_world(apis=(an_api(),)))
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
    assert ROLE_BINDING.ref("operator-service-auth-reader", "kube-system") not in world.objects


def an_upgrade(*objects: Manifest, **csv: Any) -> World:
    """A version that works, and the one that replaces it: what they serve is the same."""
    world = installed(a_world(*objects, **csv))
    hooks = csv.pop("hooks", (a_webhook(), a_webhook("m.example.com", "Mutating")))
    world.put(a_server(*hooks, name="a.v2", replaces="a.v1", **csv))
    return world


def test_an_upgrade_changes_hands_without_a_gap_csv_md_18_rows_92_and_104() -> None:
    """The Secret goes on, and what the old version leaves is not that of the new one."""
    world = an_upgrade(apis=(an_api(),))
    secret = world.objects[CERTIFICATE]["data"]
    for _ in range(8):
        for name in [name for name in ("a.v1", "a.v2") if csv_ref(name) in world.objects]:
            world.walk(name)
    assert csv_ref("a.v1") not in world.objects
    new = world.csv("a.v2")
    assert new["status"]["phase"] == "Succeeded"
    assert world.objects[CERTIFICATE]["data"] == secret
    owners = {one["uid"] for one in world.objects[CERTIFICATE]["metadata"]["ownerReferences"]}
    assert new["metadata"]["uid"] in owners
    assert configuration(world)["metadata"]["labels"]["olm.owner"] == "a.v2"
    shared = [API_SERVICE.ref("v1.api.example.com"), CLUSTER_ROLE_BINDING.ref("operator-service-system:auth-delegator")]
    assert [world.objects[ref]["metadata"]["labels"]["olm.owner"] for ref in shared] == ["a.v2"] * 2


def test_webhooks_follow_their_group_in_place_csv_md_19_23() -> None:
    """OLM leaves the selector of a group that is gone, so that nothing is checked any more."""
    world = installed(a_world())
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
    world = installed(a_world())
    before = configuration(world)["webhooks"]
    group = world.objects[OPERATOR_GROUP.ref("og", "ns")]
    world.put({**group, "spec": spec, "status": {"namespaces": ["ns"]}})
    world.does("probe")
    assert configuration(world)["webhooks"] != before
    world.put(group)
    world.does("probe")
    assert configuration(world)["webhooks"] == before
    assert world.step("probe").writes == ()


NARROWED = [
    {"objectSelector": {"matchLabels": {"a": "b"}}}, {"matchConditions": [{"name": "a", "expression": "false"}]},
]  # fmt: skip


@pytest.mark.parametrize("edit", NARROWED)
def test_what_was_added_to_a_webhook_is_taken_back(edit: Manifest) -> None:
    world = installed(a_world())
    before = configuration(world)["webhooks"]
    with world.edited(Ref.of(configuration(world))) as manifest:
        manifest["webhooks"][0] |= edit
    world.walk_until_rest()
    assert (phase(world)[0], configuration(world)["webhooks"]) == ("Succeeded", before)


def test_a_shared_permission_is_not_deleted_for_its_label_csv_md_19_16() -> None:
    """The version that it is labelled for does not even have the Deployment any more."""
    world = installed(a_world())
    ref = CLUSTER_ROLE_BINDING.ref("operator-service-system:auth-delegator")
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


@pytest.mark.parametrize(("ref", "path", "added"), ADDED)
def test_what_was_added_around_an_endpoint_is_taken_out(ref: Ref, path: tuple[str, ...], added: Manifest) -> None:
    hooks = (a_webhook(), a_conversion())
    owned = owned_crd()
    world = installed(a_world(a_convertible(), hooks=hooks, apis=(an_api(),), customresourcedefinitions=owned))
    before = world.objects[ref]["spec"]
    with world.edited(ref) as manifest:
        found = manifest["spec"]
        for key in path:
            found = found[key]
        found.update(added)
    world.walk_until_rest()
    assert (phase(world)[0], world.objects[ref]["spec"]) == ("Succeeded", before)


@pytest.mark.parametrize("apis", [(), (an_api(),)])
def test_a_version_that_fails_again_and_again_pauses(apis: tuple[Manifest, ...]) -> None:
    world = installed(a_world(apis=apis))
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
    world = installed(a_world())
    before = bundle(world)
    with world.edited(Ref.of(configuration(world))) as manifest:
        manifest["webhooks"][0]["clientConfig"]["caBundle"] = base64.b64encode(b"x").decode()
    world.does("probe")
    assert phase(world) == ("Failed", "ComponentUnhealthy")
    world.walk_until_rest()
    assert (phase(world)[0], bundle(world)) == ("Succeeded", before)


def test_a_renamed_webhook_leaves_no_configuration_csv_md_18_row_101() -> None:
    world = installed(a_world(hooks=(a_webhook(),)))
    csv = world.csv()
    world.put({**csv, "spec": {**csv["spec"], "webhookdefinitions": [a_webhook("new.example.com")]}})
    world.walk_until_rest()
    assert (phase(world)[0], configuration(world)["webhooks"][0]["name"]) == ("Succeeded", "new.example.com")


def test_the_permissions_of_equal_names_are_shared_csv_md_19_16() -> None:
    """Two namespaces have a Deployment of that name; neither takes the right from the other."""
    theirs = {"kind": "ServiceAccount", "name": "default", "namespace": "other"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:auth-delegator"}
    labels = {"olm.owner": "b.v1", "olm.owner.namespace": "other", "olm.owner.kind": "ClusterServiceVersion"}
    ref = CLUSTER_ROLE_BINDING.ref("operator-service-system:auth-delegator")
    binding = {
        "apiVersion": ref.api_version, "kind": ref.kind, "metadata": {"name": ref.name, "labels": labels},
        "roleRef": role, "subjects": [theirs],
    }  # fmt: skip
    world = installed(a_world(binding))
    assert [one["namespace"] for one in world.objects[ref]["subjects"]] == ["other", "ns"]
    assert world.objects[ref]["metadata"]["labels"]["olm.owner"] == "b.v1"
    csv = world.csv()
    world.put({**csv, "metadata": {**csv["metadata"], "deletionTimestamp": "2026-01-01T12:00:00Z"}})
    world.does("replace")
    assert world.objects[ref]["subjects"] == [theirs]


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


def test_a_description_is_refused_whatever_leads_to_an_installation_csv_md_18_row_103() -> None:
    """An edit of a version that works, and a phase that somebody writes, lead past the look at its requirements."""
    world = installed(a_world())
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


def test_two_apis_of_one_deployment_share_a_certificate_csv_md_18_row_95() -> None:
    world = installed(a_world(hooks=(), apis=(an_api(), an_api("b.example.com"))))
    found = [world.objects[API_SERVICE.ref(f"v1.{one}.example.com")]["spec"]["caBundle"] for one in ("api", "b")]
    assert found[0] == found[1]
    ports = world.objects[SERVICE.ref("operator-service", "ns")]["spec"]["ports"]
    assert [one["port"] for one in ports] == [9443]


def test_a_secret_of_somebody_else_is_taken_csv_md_18_rows_234_and_235() -> None:
    """It says nothing of a CA, so that its certificate is of no use; its owners stay, and ours is added once."""
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "ns"}}
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x"}
    theirs = {
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {"tls.crt": "eA=="},
        "metadata": {"name": CERTIFICATE.name, "namespace": "ns", "ownerReferences": [owner]},
    }  # fmt: skip
    world = installed(a_world(config, theirs))
    secret = world.objects[CERTIFICATE]
    assert secret["type"] == "Opaque"
    assert secret["metadata"]["labels"]["olm.managed"] == "true"
    assert [one["kind"] for one in secret["metadata"]["ownerReferences"]] == ["ConfigMap", "ClusterServiceVersion"]
    assert public_part(secret).content.pair.flaw == ""


def a_secret(texts: dict[str, str], *owners: Manifest) -> Manifest:
    """The Secret of the Deployment, as somebody made it before the version was there."""
    data = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
    meta = {"name": CERTIFICATE.name, "namespace": "ns", "ownerReferences": list(owners)}
    return {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": data, "metadata": meta}


def a_stored_pair(begins: timedelta, name: str = "operator") -> Manifest:
    """A Secret with a whole certificate that is valid from that time on."""
    pair, private = x509.issue(hosts(name, "ns"), NOW + begins)
    texts = {"tls.crt": pair.certificate, "tls.key": private.decode(), "olmCAKey": pair.authority}
    return a_secret(texts)


REPLACED = [
    pytest.param(a_secret({"note": "x"}), "no certificate", id="it holds none"),
    pytest.param(a_stored_pair(timedelta(days=-800)), "expired at 2025", id="csv.md 18 row 89: it has expired"),
    pytest.param(a_stored_pair(timedelta(days=30)), "not valid before 2026", id="csv.md 7.2: it is not valid yet"),
    pytest.param(a_stored_pair(timedelta(), "x"), "not for the name operator-service.ns", id="csv.md 7.2: names"),
]


@pytest.mark.parametrize(("there", "told"), REPLACED)
def test_a_secret_that_is_of_no_use_is_told_by_an_event(there: Manifest, told: str) -> None:
    world = installed(a_world(there))
    [event] = [one for one in world.events if one.reason == "CertificateReplaced"]
    assert (event.type, event.ref) == ("Warning", csv_ref("a.v1"))
    assert event.message.startswith(f"Secret {CERTIFICATE.name} gets another certificate: {told}")


ANOTHER = a_server(name="b.v1", strategy={"deployments": [a_component("other")]})


@pytest.mark.parametrize(
    ("there", "is_owned"),
    [
        pytest.param(a_secret({"password": "x"}), False, id="csv.md 7.2: data of somebody else outlive the version"),
        pytest.param(
            a_secret({"password": "x"}, owner_reference(Csv(ANOTHER))),
            True,
            id="csv.md 7.2: a version owned it before",
        ),
        pytest.param(a_secret({"tls.crt": "x"}), True, id="it holds nothing but what is written anew"),
    ],
)
def test_who_owns_a_secret_that_was_there_before_csv_md_18_row_235(there: Manifest, is_owned: bool) -> None:
    world = installed(a_world(ANOTHER, there))
    found = world.objects[CERTIFICATE]
    owners = {one["uid"] for one in found["metadata"].get("ownerReferences", ())}
    assert (world.csv()["metadata"]["uid"] in owners) is is_owned
    assert found["data"].get("password") == there["data"].get("password")
    assert found["metadata"]["labels"]["olm.managed"] == "true"
    told = [one for one in world.events if "holds data of somebody else" in one.message]
    assert bool(told) is not is_owned
    assert world.step("probe").writes == ()


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


@pytest.mark.parametrize(("ref", "path", "told"), EDITED)
def test_an_edited_digest_of_the_ca_is_told_and_repaired_csv_md_18_row_88(
    ref: Ref, path: tuple[str, ...], told: str
) -> None:
    world = installed(a_world(hooks=(), apis=(an_api(),)))
    with world.edited(ref) as manifest:
        found = manifest
        for key in path:
            found = found[key]
        found["olmcahash"] = "x"
    world.does("probe")
    assert (phase(world), world.csv()["status"]["message"]) == (("Failed", "APIServiceResourceIssue"), told)
    world.does("probe")
    assert phase(world) == ("Pending", "APIServiceResourcesNeedReinstall")
    world.walk_until_rest()
    assert phase(world)[0] == "Succeeded"


def test_an_api_that_somebody_takes_is_not_taken_back_csv_md_18_row_90() -> None:
    world = installed(a_world(ANOTHER, hooks=(), apis=(an_api(),)))
    with world.edited(API_SERVICE.ref("v1.api.example.com")) as manifest:
        manifest["metadata"]["labels"]["olm.owner"] = "b.v1"
    world.does("probe")
    assert world.csv()["status"]["message"] == "v1.api.example.com is unadoptable"
    for _ in range(4):
        world.walk("a.v1")
    assert phase(world) == ("Failed", "APIServiceResourceIssue")


def test_two_operators_that_own_a_definition_convert_nothing_of_each_other() -> None:
    """Both were installed with it by a plan, and both live."""
    rival = a_server(name="b.v1", customresourcedefinitions=owned_crd())
    there = {"olm.operatorNamespace": "other", "olm.operatorGroup": "og", "olm.targetNamespaces": ""}
    rival["metadata"] |= {"namespace": "other", "annotations": there}
    crd = a_crd(THINGS, annotations={**INSTALLED, "operatorframework.io/installed-alongside-2": "other/b.v1"})
    world = a_world(rival, crd, hooks=(a_conversion(),), customresourcedefinitions=owned_crd())
    for _ in range(4):
        world.walk("a.v1")
    told = [one["message"] for one in world.csv()["status"]["conditions"] if one["phase"] == "Failed"]
    assert [f"CRD {THINGS} also belongs to other/b.v1" in one for one in told] == [True]


def test_the_annotations_of_a_subscription_are_on_a_new_api_csv_md_7_4() -> None:
    subscription = {
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
        "metadata": {"name": "a", "namespace": "ns"}, "spec": {"config": {"annotations": {"team": "x"}}},
        "status": {"installedCSV": "a.v1"},
    }  # fmt: skip
    world = installed(a_world(subscription, hooks=(), apis=(an_api(),)))
    assert world.objects[API_SERVICE.ref("v1.api.example.com")]["metadata"]["annotations"] == {"team": "x"}


def edit(world: World, **spec: Any) -> None:
    """Somebody edits the version."""
    with world.edited(csv_ref("a.v1")) as csv:
        csv["spec"] |= spec


def test_what_a_version_serves_no_more_is_removed_and_nothing_else_csv_md_7_5() -> None:
    """OLM removes APIServices only when their version is gone."""
    theirs = {
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": "v1.theirs.example.com", "labels": {"olm.managed": "true"}},
        "spec": {"group": "theirs.example.com", "version": "v1", "service": {"namespace": "ns", "name": "operator"}},
    }  # fmt: skip
    world = installed(a_world(theirs, apis=(an_api(), an_api("b.example.com"))))
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


DELEGATOR = CLUSTER_ROLE_BINDING.ref("operator-service-system:auth-delegator")
READER = ROLE_BINDING.ref("operator-service-auth-reader", "kube-system")
NEIGHBOUR = {"kind": "ServiceAccount", "name": "default", "namespace": "other"}


def test_a_deployment_that_serves_no_more_leaves_what_it_shared_csv_md_19_16() -> None:
    """The right of the other namespace stays, and is labelled for nobody of ours."""
    world = installed(a_world())
    with world.edited(DELEGATOR) as binding:
        binding["subjects"].append(NEIGHBOUR)
    edit(world, webhookdefinitions=[])
    world.walk_until_rest()
    assert phase(world)[0] == "Succeeded"
    assert world.objects[DELEGATOR]["subjects"] == [NEIGHBOUR]
    assert "olm.owner" not in world.objects[DELEGATOR]["metadata"]["labels"]
    assert READER not in world.objects
    assert world.step("probe").writes == ()


@pytest.mark.parametrize("ref", [DELEGATOR, READER])
def test_a_subject_that_was_taken_out_comes_back_and_others_stay_csv_md_19_16(ref: Ref) -> None:
    world = installed(a_world())
    with world.edited(ref) as binding:
        binding["subjects"] = [NEIGHBOUR]
    world.walk_until_rest()
    assert [one["namespace"] for one in world.objects[ref]["subjects"]] == ["other", "ns"]
    assert phase(world)[0] == "Succeeded"


def test_a_failed_version_rotates_too_csv_md_4_6_8_and_18_row_87() -> None:
    world = installed(a_world(apis=(an_api(),)))
    with world.edited(csv_ref("a.v1")) as csv:
        csv["status"] |= {"phase": "Failed", "reason": "ComponentUnhealthy"}
    world.later(days=729, hours=1)
    world.does("probe")
    told = world.csv()["status"]["message"]
    assert (phase(world), told) == (("Pending", "NeedsCertRotation"), "owned APIServices need cert refresh")


@pytest.mark.parametrize("days", [-3, 800])
def test_a_clock_that_jumps_and_comes_back_csv_md_7_2(days: int) -> None:
    """What is valid at each of both times is served, and every jump ends in rest."""
    world = installed(a_world())
    for jump in (days, -days):
        world.later(days=jump)
        world.walk_until_rest()
        pair = public_part(world.objects[CERTIFICATE]).content.pair
        assert pair.serves(("operator-service.ns.svc",), world.time)
        assert (phase(world)[0], bundle(world)) == ("Succeeded", pair.authority)
        assert world.step("probe").writes == ()


REFUSED = [
    {"type": "Available", "status": "False", "message": "no"},
    {"type": "ReplicaFailure", "status": "True", "message": "failed calling webhook"},
]


def test_webhooks_that_refuse_the_pods_of_their_own_operator_follow_their_description() -> None:
    """The phase waits for Pods, and these for the webhooks: nothing would ever change."""
    world = installed(a_world(hooks=(a_webhook(),)))
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


def test_a_webhook_about_its_own_deployments_is_edited_before_them() -> None:
    world = installed(a_world(hooks=(a_webhook(),)))
    strategy = {"strategy": "deployment", "spec": {"deployments": [a_component(containers=[{"image": "new"}])]}}
    edit(world, webhookdefinitions=[a_webhook(failurePolicy="Ignore")], install=strategy)
    with world.edited(csv_ref("a.v1")) as csv:
        csv["status"]["phase"] = "InstallReady"
    first, second, *_ = world.step("install").writes
    assert isinstance(first, Merge)
    assert (first.ref, type(second)) == (Ref.of(configuration(world)), Replace)
