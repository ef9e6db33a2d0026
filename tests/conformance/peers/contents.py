"""What is in the bundles that a suite names and whose sources are not in its checkout: what its specs ask of them."""

from __future__ import annotations

from typing import Any

Manifest = dict[str, Any]
MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")


def csv(name: str, version: str, *, modes: tuple[str, ...] = MODES, **spec: Any) -> Manifest:
    """A ClusterServiceVersion with one Deployment of its name."""
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": name, "image": "nginx"}]}}
    deployment = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return {
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": f"{name}.v{version}", "namespace": "placeholder"},
        "spec": {
            "displayName": name, "description": name, "version": version, "maturity": "alpha",
            "provider": {"name": "e2e"}, "installModes": [{"type": mode, "supported": mode in modes} for mode in MODES],
            "install": {"strategy": "deployment", "spec": {"deployments": [{"name": name, "spec": deployment}]}},
            **spec,
        },
    }  # fmt: skip


def crd(name: str, kind: str, *versions: str) -> Manifest:
    """A CustomResourceDefinition whose objects may say anything."""
    plural, _, group = name.partition(".")
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "versions": [
                {"name": version, "served": True, "storage": version == versions[0], "schema": schema}
                for version in versions
            ],
        },
    }  # fmt: skip


def owned(name: str, kind: str, version: str) -> Manifest:
    """What a ClusterServiceVersion says of a definition that it brings."""
    return {"name": name, "kind": kind, "version": version, "displayName": kind, "description": kind}


def config_map(name: str, value: str) -> Manifest:
    """A ConfigMap with one value, which the suite reads."""
    data = {"special.how": value, "special.type": "charm"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def secret(name: str) -> Manifest:
    """A Secret."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"username": "somebody"}}


def example_operator(version: str) -> list[Manifest]:
    """A version of `example-operator`, with its definition."""
    definition = ("testas.example.com", "TestA", "v1alpha1")
    account = {"serviceAccountName": "default", "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}
    made = csv("example-operator", version, customresourcedefinitions={"owned": [owned(*definition)]})
    made["spec"]["install"]["spec"]["permissions"] = [account]
    return [made, crd(*definition)]


def without_name_of_account(manifest: Manifest) -> Manifest:
    """A ClusterServiceVersion that an API server refuses: its permissions name no account."""
    strategy = manifest["spec"]["install"]["spec"]
    permissions = [{"rules": each["rules"]} for each in strategy["permissions"]]
    install = {"strategy": "deployment", "spec": {**strategy, "permissions": permissions}}
    return {**manifest, "spec": {**manifest["spec"], "install": install}}


def etcd() -> Manifest:
    """A ClusterServiceVersion with related images."""
    digests = (
        "etcd@sha256:3816b6daf9b66d6ced6f0f966314e2d4f894982c6b1493061502f8c2bf86ac84",
        "etcd@sha256:49d3d4a81e0d030d3f689e7167f23e120abf955f7d08dbedf3ea246485acee9f",
        "etcd-operator@sha256:c0301e4686c3ed4206e370b42de5a3bd2229b9fb4906cf85f3f30650424abec2",
    )
    related = [{"name": f"image-{number}", "image": f"quay.io/coreos/{each}"} for number, each in enumerate(digests)]
    made = csv("etcdoperator", "0.9.2", relatedImages=related)
    template = made["spec"]["install"]["spec"]["deployments"][0]["spec"]["template"]
    template["spec"]["containers"][0]["image"] = related[-1]["image"]
    return made


def kiali() -> list[Manifest]:
    """An operator with two definitions and rights in the whole cluster."""
    definitions = (
        ("kialis.kiali.io", "Kiali", "v1alpha1"),
        ("monitoringdashboards.monitoring.kiali.io", "MonitoringDashboard", "v1alpha1"),
    )
    made = csv("kiali-operator", "1.4.2", customresourcedefinitions={"owned": [owned(*each) for each in definitions]})
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]
    strategy = made["spec"]["install"]["spec"]
    strategy["clusterPermissions"] = [{"serviceAccountName": "kiali-operator", "rules": rules}]
    strategy["deployments"][0]["spec"]["template"]["spec"]["serviceAccountName"] = "kiali-operator"
    return [made, *(crd(*each) for each in definitions)]


def webhooks() -> list[Manifest]:
    """An operator with a webhook of each type."""
    name, kind, plural = "webhooktests.webhook.operators.coreos.io", "WebhookTest", "webhooktests"
    made = csv(
        "webhook-operator", "0.0.5", modes=("AllNamespaces",),
        customresourcedefinitions={"owned": [owned(name, kind, version) for version in ("v1", "v2")]},
        webhookdefinitions=[
            _webhook("ValidatingAdmissionWebhook", "vwebhooktest-v1.kb.io", "/validate", plural),
            _webhook("MutatingAdmissionWebhook", "mwebhooktest-v1.kb.io", "/mutate", plural),
            _webhook("ConversionWebhook", "cwebhooktest-v1.kb.io", "/convert", plural, conversionCRDs=[name]),
        ],
    )  # fmt: skip
    template = made["spec"]["install"]["spec"]["deployments"][0]["spec"]["template"]
    template["spec"]["containers"][0] |= {"image": "webhook-operator", "ports": [{"containerPort": 9443}]}
    definition = crd(name, kind, "v1", "v2")
    definition["spec"]["names"]["plural"] = plural
    return [made, definition]


def _webhook(kind: str, name: str, path: str, plural: str, **more: Any) -> Manifest:
    rule = {
        "apiGroups": ["webhook.operators.coreos.io"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
        "resources": [plural],
    }  # fmt: skip
    return {
        "type": kind, "generateName": name, "deploymentName": "webhook-operator", "containerPort": 443,
        "targetPort": 9443, "sideEffects": "None", "admissionReviewVersions": ["v1", "v1beta1"],
        "webhookPath": path, **({} if more else {"rules": [rule], "failurePolicy": "Fail"}), **more,
    }  # fmt: skip
