"""The objects that OLM v1 makes of a bundle (v1.md §18)."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.extension.render.load import load
from shared.domain.extension.render.model import NotRenderedError
from shared.domain.extension.render.render import targets_of
from shared.domain.objects.hashes import in_base, joined
from tests.domain.extension.render.bundles import (
    MODES,
    Json,
    a_csv,
    a_definition,
    a_deployment,
    a_permission,
    a_webhook,
    ask,
    error,
    files,
    objects,
    only,
)  # fmt: skip

OWN, SINGLE, MULTI, ALL = MODES
CERT: Json = {"certProvider": "cert-manager"}
OPENSHIFT: Json = {"certProvider": "openshift-service-ca"}
OTHER: Json = {"config": {"watchNamespace": "other"}}
OWNED: Json = {"customresourcedefinitions": {"owned": [{"name": "things.demo.io", "version": "v1", "kind": "Thing"}]}}
EVERYTHING: Json = {
    "strategy": {"permissions": [a_permission()], "clusterPermissions": [a_permission("other")]},
    "webhookdefinitions": [a_webhook(), a_webhook("Mutating")],
}


def named(manifests: list[Json]) -> list[tuple[str, str | None, str]]:
    return [(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in manifests]


def test_objects_come_in_the_order_of_their_makers() -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    found = objects(a_csv(**EVERYTHING), config_map, a_definition(), **CERT)
    assert [one["kind"] for one in found] == [
        "ServiceAccount", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "ClusterRole", "ClusterRoleBinding",
        "CustomResourceDefinition", "ConfigMap", "Deployment", "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration", "Service", "Issuer", "Certificate",
    ]  # fmt: skip
    assert ask(a_csv(**EVERYTHING), **CERT) == ask(a_csv(**EVERYTHING), **CERT)


@pytest.mark.parametrize(
    ("modes", "watched", "want"),
    [
        ((ALL, OWN), None, ("",)),
        ((OWN,), "ops", ("ops",)),
        ((SINGLE,), "other", ("other",)),
        ((SINGLE,), None, "[]: exactly one target namespace must be specified"),
        ((SINGLE, MULTI), None, "[]: at least one target namespace must be specified"),
        ((OWN, SINGLE), "", ("[]: supported install modes [OwnNamespace SingleNamespace] do not support targeting all "
         "namespaces")),
        ((ALL,), "", ("",)),
        ((ALL, SINGLE), "ops", ("[ops]: supported install modes [AllNamespaces SingleNamespace] do not support "
         "targeting own namespace")),
        ((ALL, OWN), "other", ("[other]: supported install modes [AllNamespaces OwnNamespace] do not support target "
         "namespaces [other]")),
    ],
)  # fmt: skip
def test_v1_md_18_target_namespaces(modes: tuple[str, ...], watched: str | None, want: object) -> None:
    bundle = load(files(a_csv(*modes)))
    try:
        found: object = targets_of(bundle, "ops", watched)
    except NotRenderedError as refusal:
        found = str(refusal).removeprefix("invalid option(s): invalid target namespaces ")
    assert found == want


def test_v1_md_18_without_the_gate_single_namespace_needs_no_config() -> None:
    assert error(a_csv(SINGLE), gates={"SingleOwnNamespaceInstallSupport": True}).endswith(
        'required field "watchNamespace" is missing'
    )


@pytest.mark.parametrize(
    ("base", "suffix", "want"),
    [
        pytest.param("my.object.thing.has.a.really.really.really.really.really.long.name", "suffix",
                     "my.object.thing.has.a.really.really.really.really.really-suffix", id="v1.md 18: cut to 63"),
        pytest.param("a" * 57, "suffix", f"{'a' * 57}-suffix", id="v1.md 18 quirk: 63 together stay and make 64"),
        pytest.param("a", "suffix", "a-suffix", id="v1.md 18: short ones stay"),
    ],
)  # fmt: skip
def test_v1_md_18_names_are_cut(base: str, suffix: str, want: str) -> None:
    assert joined(base, suffix) == want


def test_v1_md_18_hashes_are_base_36_without_padding() -> None:
    assert [in_base(36, bytes([0, number])) for number in (0, 35, 36)] == ["0", "z", "10"]


def test_v1_md_18_1_one_account_per_name_but_the_default() -> None:
    strategy = {
        "permissions": [a_permission("b"), a_permission("")],
        "clusterPermissions": [a_permission("a"), a_permission("b"), a_permission("default")],
    }
    assert named(objects(a_csv(strategy=strategy), kind="ServiceAccount")) == [
        ("ServiceAccount", "ops", "a"), ("ServiceAccount", "ops", "b"),
    ]  # fmt: skip


def test_v1_md_18_2_in_one_namespace_a_role_and_binding_per_permission() -> None:
    rules = [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]
    strategy = {"permissions": [a_permission("robot", *rules), a_permission("", *rules)]}
    found = objects(a_csv(SINGLE, strategy=strategy), **OTHER)
    roles = [one for one in found if one["kind"].startswith("Role")]
    assert [one["kind"] for one in roles] == ["Role", "RoleBinding", "Role", "RoleBinding"]
    assert all(one["metadata"]["namespace"] == "other" for one in roles)
    role, binding, _, of_default = roles
    name = role["metadata"]["name"]
    assert name.startswith("demo.v1.0.0-robot-")
    assert role["rules"] == rules
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "robot", "namespace": "ops"}]
    assert of_default["subjects"][0]["name"] == "default"
    assert not [one for one in found if one["kind"].startswith("Cluster")]


def test_v1_md_18_2_for_all_namespaces_permissions_are_promoted_with_a_rule_more() -> None:
    strategy = {"permissions": [a_permission("robot")], "clusterPermissions": [a_permission("robot")]}
    plain, promoted = objects(a_csv(strategy=strategy), kind="ClusterRole")
    watching = {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["namespaces"]}
    assert promoted["rules"] == [*plain["rules"], watching]
    assert plain["metadata"]["name"] != promoted["metadata"]["name"]
    assert not objects(a_csv(strategy=strategy), kind="Role")


def test_v1_md_18_2_a_permission_without_rules_stays_without() -> None:
    strategy = {"clusterPermissions": [{"serviceAccountName": "robot"}], "permissions": [{"serviceAccountName": "b"}]}
    assert [one["rules"] and len(one["rules"]) for one in objects(a_csv(strategy=strategy), kind="ClusterRole")] == [
        None, 1,
    ]  # fmt: skip


def test_v1_md_18_2_the_name_of_a_role_is_the_one_of_olm_v1() -> None:
    rule = {"verbs": ["get"], "apiGroups": ["a<b"], "resources": ["pods"], "resourceNames": [], "nonResourceURLs": []}
    role = only(a_csv(strategy={"clusterPermissions": [a_permission("robot", rule)]}), kind="ClusterRole")
    assert role["metadata"]["name"] == "demo.v1.0.0-robot-1gzncm54k21holr0tg8htugkjm9u2md7wyubefe4cbyf"


def test_v1_md_18_3_definitions_are_copied() -> None:
    schema = {"type": "object", "Type": "unknown", "default": None, "enum": [1, None], "maximum": 5.0, "minimum": 1.5,
              "items": [{"type": "string"}], "additionalItems": False, "not": {}, "multipleOf": 1e30,
              "dependencies": {"a": ["b"], "c": {"type": "string"}, "d": 5}, "properties": {"b": None},
              "maxLength": 2.0, "example": {"z": 1}, "x-kubernetes-preserve-unknown-fields": False,
              "required": []}  # fmt: skip
    version = {"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}}
    found = only(None, a_definition(versions=[version]), kind="CustomResourceDefinition")
    want = {"type": "object", "enum": [1, None], "maximum": 5, "minimum": 1.5, "items": [{"type": "string"}],
            "additionalItems": False, "not": {}, "multipleOf": 1e30,
            "dependencies": {"a": ["b"], "c": {"type": "string"}, "d": None}, "properties": {"b": {}},
            "maxLength": 2, "example": {"z": 1}, "x-kubernetes-preserve-unknown-fields": False}  # fmt: skip
    assert found["spec"]["versions"] == [
        {"name": "v1", "served": True, "storage": False, "schema": {"openAPIV3Schema": want}}
    ]
    assert found["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": None,
    }


@pytest.mark.parametrize(
    ("declared", "want"), [([], None), ({"type": "object"}, {"type": "object"}), (5, None)], ids=["none", "one", "odd"]
)
def test_items_are_a_schema_or_several(declared: object, want: object) -> None:
    version = {"name": "v1", "schema": {"openAPIV3Schema": {"items": declared}}}
    found = only(None, a_definition(versions=[version]), kind="CustomResourceDefinition")
    assert found["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == {"items": want}


@pytest.mark.parametrize(
    ("more", "path", "port"), [({}, "/", 443), ({"webhookPath": "/c", "containerPort": None}, "/c", 0)]
)
def test_v1_md_18_3_conversion_webhooks(more: Json, path: str, port: int) -> None:
    webhook = a_webhook("Conversion", conversionCRDs=["things.demo.io"], **more)
    csv = a_csv(webhookdefinitions=[webhook], **OWNED)
    found = only(csv, a_definition(conversion={"strategy": "None"}), kind="CustomResourceDefinition", **CERT)
    service = {"namespace": "ops", "name": "manager-service", "path": path, "port": port}
    assert found["spec"]["conversion"] == {
        "strategy": "Webhook",
        "webhook": {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]},
    }
    assert found["metadata"]["annotations"] == {"cert-manager.io/inject-ca-from": "ops/manager-service-cert"}


def test_v1_md_18_3_unknown_fields_cannot_be_converted() -> None:
    webhook = a_webhook("Conversion", conversionCRDs=["things.demo.io"])
    csv = a_csv(webhookdefinitions=[webhook], **OWNED)
    assert error(csv, a_definition(preserveUnknownFields=True), **CERT) == (
        "custom resource definition 'things.demo.io' must have .spec.preserveUnknownFields set to false to let API "
        "Server call webhook to do the conversion"
    )


def test_v1_md_18_4_a_deployment() -> None:
    declared = a_deployment() | {"label": {"team": "a"}}
    declared["spec"]["revisionHistoryLimit"] = 5
    declared["spec"]["template"]["metadata"]["annotations"] = {"a": "template", "olm.operatorNamespace": "x"}
    meta = {"annotations": {"a": "csv", "b": "csv", "olm.targetNamespaces": "x"}}
    found = only(a_csv(SINGLE, metadata=meta, strategy={"deployments": [declared]}), kind="Deployment", **OTHER)
    assert found["metadata"] == {"name": "manager", "namespace": "ops", "labels": {"team": "a"}}
    assert found["spec"]["revisionHistoryLimit"] == 1
    assert found["spec"]["template"]["metadata"]["annotations"] == {
        "a": "template", "b": "csv", "olm.operatorNamespace": "ops", "olm.targetNamespaces": "other",
    }  # fmt: skip
    assert found["status"] == found["spec"]["strategy"] == {}
    assert found["spec"]["template"]["spec"]["containers"] == [{"name": "main", "image": "demo:1", "resources": {}}]


def test_v1_md_18_4_certificates_take_the_place_of_what_was_there() -> None:
    path = "/tmp/k8s-webhook-server/serving-certs"
    mounts = [{"name": "old", "mountPath": path}, {"name": "keep", "mountPath": "/keep"}]
    containers = [{"name": "main", "volumeMounts": mounts}, {"name": "side", "volumeMounts": mounts[1:]}]
    volumes = [{"name": "old", "emptyDir": {}}, {"name": "keep", "emptyDir": {}}, {"name": "apiservice-cert"}]
    init = {"name": "init", "volumeMounts": mounts}
    deployment = a_deployment(containers=containers, volumes=volumes, initContainers=[init])
    csv = a_csv(strategy={"deployments": [deployment, a_deployment("plain")]}, webhookdefinitions=[a_webhook()])
    found, plain = objects(csv, kind="Deployment", **OPENSHIFT)
    pod = found["spec"]["template"]["spec"]
    assert [volume["name"] for volume in pod["volumes"]] == ["keep", "webhook-cert", "apiservice-cert"]
    assert pod["volumes"][1]["secret"] == {
        "secretName": "manager-service-cert",
        "items": [{"key": "tls.crt", "path": "tls.crt"}, {"key": "tls.key", "path": "tls.key"}],
    }
    ours = [
        {"name": "webhook-cert", "mountPath": path},
        {"name": "apiservice-cert", "mountPath": "/apiserver.local.config/certificates"},
    ]
    assert [one["volumeMounts"] for one in pod["containers"]] == [[mounts[1], *ours], [mounts[1], *ours]]
    assert pod["initContainers"][0]["volumeMounts"] == mounts
    assert "volumes" not in plain["spec"]["template"]["spec"]


def test_v1_md_18_4_a_deployment_without_containers_stays_without() -> None:
    csv = a_csv(strategy={"deployments": [{"name": "manager"}]}, webhookdefinitions=[a_webhook()])
    pod = only(csv, kind="Deployment", **CERT)["spec"]["template"]["spec"]
    assert pod["containers"] is None
    assert len(pod["volumes"]) == 2
    assert "selector" not in only(csv, kind="Service", **CERT)["spec"]


@pytest.mark.parametrize(("kind", "namespace"), [("ConfigMap", "ops"), ("ClusterRole", None), ("PriorityClass", "x")])
def test_v1_md_18_5_objects_with_a_namespace_get_the_install_namespace(kind: str, namespace: str | None) -> None:
    meta = {"name": "o", "namespace": "x"} if namespace else {"name": "o"}
    found = only(None, {"apiVersion": "v1", "kind": kind, "metadata": meta}, kind=kind)
    assert found["metadata"].get("namespace") == namespace


RULES = [{"operations": ["CREATE"], "apiGroups": ["demo.io"], "apiVersions": ["v1"], "resources": ["things"]}]


@pytest.mark.parametrize("kind", ["Validating", "Mutating"])
def test_v1_md_18_6_webhook_configurations(kind: str) -> None:
    webhook = a_webhook(kind, rules=RULES, failurePolicy="Fail", timeoutSeconds=5, reinvocationPolicy="Never",
                        webhookPath="/w", objectSelector={}, containerPort=None)  # fmt: skip
    csv = a_csv(SINGLE, webhookdefinitions=[webhook])
    found = only(csv, kind=f"{kind}WebhookConfiguration", **CERT, **OTHER)
    assert found["metadata"] == {
        "name": f"{kind.lower()}.demo.io",
        "namespace": "ops",
        "annotations": {"cert-manager.io/inject-ca-from": "ops/manager-service-cert"},
    }
    selector = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["other"]}
    want = {
        "name": f"{kind.lower()}.demo.io",
        "clientConfig": {"service": {"namespace": "ops", "name": "manager-service", "path": "/w", "port": 0}},
        "rules": RULES,
        "failurePolicy": "Fail",
        "namespaceSelector": {"matchExpressions": [selector]},
        "objectSelector": {},
        "sideEffects": "None",
        "timeoutSeconds": 5,
        "admissionReviewVersions": ["v1"],
    } | ({"reinvocationPolicy": "Never"} if kind == "Mutating" else {})
    assert found["webhooks"] == [want]


def test_v1_md_18_6_for_all_namespaces_there_is_no_selector_and_the_path_may_be_absent() -> None:
    (webhook,) = only(a_csv(webhookdefinitions=[a_webhook()]), kind="ValidatingWebhookConfiguration", **CERT)[
        "webhooks"
    ]
    assert "namespaceSelector" not in webhook
    assert webhook["clientConfig"]["service"] == {"namespace": "ops", "name": "manager-service", "port": 443}


@pytest.mark.parametrize(
    ("ports", "want"),
    [
        pytest.param([{"containerPort": None}], [(443, 443)], id="v1.md 18.9 [T]: default 443 to 443"),
        pytest.param([{"containerPort": 8443}], [(8443, 8443)], id="v1.md 18.9 [T]: the same target"),
        pytest.param([{"containerPort": None, "targetPort": 8080}], [(443, 8080)], id="v1.md 18.9 [T]: only a target"),
        pytest.param([{"containerPort": 9, "targetPort": "web"}], [(9, "web")], id="v1.md 18.9 [T]: both"),
        pytest.param([{}, {"targetPort": 80}, {}, {"containerPort": 8}, {"targetPort": "9"}, {"targetPort": "a"}],
                     [(8, 8), (443, "a"), (443, "9"), (443, 80), (443, 443)], id="v1.md 18.9 [T]: each once, sorted"),
    ],
)  # fmt: skip
def test_v1_md_18_7_services(ports: list[Json], want: list[tuple[int, Any]]) -> None:
    webhooks = [a_webhook(generateName=f"w{number}", **one) for number, one in enumerate(ports)]
    service = only(a_csv(webhookdefinitions=webhooks), kind="Service", **CERT)
    assert service["metadata"] == {"name": "manager-service", "namespace": "ops"}
    assert service["spec"] == {
        "ports": [{"name": str(port), "port": port, "targetPort": target} for port, target in want],
        "selector": {"app": "manager"},
    }


def test_v1_md_18_8_cert_manager_gets_an_issuer_and_a_certificate_per_deployment() -> None:
    strategy = {"deployments": [a_deployment("b.x"), a_deployment("a")]}
    webhooks = [a_webhook(deploymentName="b.x"), a_webhook("Mutating", deploymentName="a")]
    found = objects(a_csv(strategy=strategy, webhookdefinitions=webhooks), **CERT)
    assert named(found)[-4:] == [
        ("Issuer", "ops", "a-service-cert-selfsigned-issuer"), ("Certificate", "ops", "a-service-cert"),
        ("Issuer", "ops", "b-x-service-cert-selfsigned-issuer"), ("Certificate", "ops", "b-x-service-cert"),
    ]  # fmt: skip
    assert found[-2]["spec"] == {"selfSigned": {}}
    assert found[-1]["spec"] == {
        "commonName": "b-x-service.ops",
        "dnsNames": ["b-x-service.ops", "b-x-service.ops.svc", "b-x-service.ops.svc.cluster.local"],
        "duration": "17520h0m0s",
        "issuerRef": {"name": "b-x-service-cert-selfsigned-issuer"},
        "renewBefore": "24h0m0s",
        "secretName": "b-x-service-cert",
        "usages": ["server auth"],
    }


def test_v1_md_18_8_openshift_is_reported_by_annotations() -> None:
    found = objects(a_csv(webhookdefinitions=[a_webhook(), a_webhook("Mutating")]), **OPENSHIFT)
    annotations = {one["kind"]: one["metadata"].get("annotations") for one in found}
    inject = {"service.beta.openshift.io/inject-cabundle": "true"}
    assert annotations == {
        "Deployment": None,
        "ValidatingWebhookConfiguration": inject,
        "MutatingWebhookConfiguration": inject,
        "Service": {"service.beta.openshift.io/serving-cert-secret-name": "manager-service-cert"},
    }


def test_without_webhooks_nobody_makes_certificates() -> None:
    assert [one["kind"] for one in objects(**CERT)] == ["Deployment"]
