"""The catalog that the demonstrations of operator-controller use, with the packages that they name, made anew."""

from __future__ import annotations

from typing import Any

from tests.conformance.peers import contents
from tests.conformance.peers.contents import Manifest
from tests.conformance.peers.images import Bundle, Catalog, fixed

HOST = "quay.io/operatorhubio"
CATALOG, IMAGE = "operatorhubio", f"{HOST}/catalog:latest"
MARIADB = "mariadb-operator-helm-controller-manager"
NARROW = ("OwnNamespace", "SingleNamespace")


def _strategy(name: str, image: str, **permissions: Any) -> dict[str, Any]:
    labels = {"app": name}
    pod = {"serviceAccountName": name, "containers": [{"name": "manager", "image": image}]}
    desired = {
        "replicas": 1, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}
    }  # fmt: skip
    spec = {"deployments": [{"name": name, "spec": desired}], **permissions}
    return {"strategy": "deployment", "spec": spec}


def _mariadb() -> Manifest:
    rules = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]}]
    install = _strategy(MARIADB, "mariadb-operator", permissions=[{"serviceAccountName": MARIADB, "rules": rules}])
    return contents.csv("mariadb-operator", "25.8.4", modes=NARROW, install=install)


def _telegraf() -> Manifest:
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    webhook = {
        "type": "MutatingAdmissionWebhook", "generateName": "telegraf.influxdata.com", "webhookPath": "/mutate-pod",
        "deploymentName": "telegraf-operator", "containerPort": 9443, "targetPort": 9443, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore", "rules": [pods],
    }  # fmt: skip
    rules = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]}]
    account = {"serviceAccountName": "telegraf-operator", "rules": rules}
    install = _strategy("telegraf-operator", "telegraf-operator", clusterPermissions=[account])
    ports = [{"containerPort": 9443}]
    install["spec"]["deployments"][0]["spec"]["template"]["spec"]["containers"][0]["ports"] = ports
    return contents.csv(
        "telegraf-operator", "1.3.11", modes=("AllNamespaces",), install=install, webhookdefinitions=[webhook]
    )


def _bundle(package: str, version: str, csv: Manifest) -> Bundle:
    return Bundle(f"{HOST}/{package}:v{version}", package, fixed(csv), "stable")


BUNDLES = (
    _bundle("mariadb-operator", "25.8.4", _mariadb()),
    _bundle("telegraf-operator", "1.3.11", _telegraf()),
    _bundle("wavefront", "0.1.0", contents.csv("wavefront", "0.1.0")),
)
CATALOGS = (
    Catalog(
        IMAGE, BUNDLES,
        {
            f"{each.package}/stable": [{"name": f"{each.package}.v{each.image.rpartition(':v')[2]}"}]
            for each in BUNDLES
        },
    ),
)  # fmt: skip


def cluster_catalog() -> Manifest:
    """The catalog, as the suite expects it in every cluster."""
    source = {"type": "Image", "image": {"ref": IMAGE}}
    return {
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog", "metadata": {"name": CATALOG},
        "spec": {"source": source},
    }  # fmt: skip
