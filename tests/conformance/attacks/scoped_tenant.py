"""A tenant of a namespace with a limited account: what it writes to get more than that account has."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.attacks.shapes import MODES, OLM, WORKLOAD
from tests.conformance.attacks.tenant import NOBODY, Tenant

Json = Any
RBAC = "rbac.authorization.k8s.io"
EVERYTHING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
KEEPER, CROWN, BEACONS, VICTIM = "keeper", "crown", "beacons.samples.olmf.io", "neighbour"
"""A Role of the landlord, a Secret of the global namespace, the API and the namespace of a neighbour."""


def a_version(name: str, *, strategy: Json = None, **spec: Json) -> Json:
    """A ClusterServiceVersion that runs nothing."""
    deployments = [{"name": name.replace(".", "-"), "spec": WORKLOAD}]
    install = {"strategy": "deployment", "spec": {"deployments": deployments, **(strategy or {})}}
    whole = {"displayName": name, "version": "1.0.0", "installModes": MODES, "install": install, **spec}
    return {"apiVersion": f"{OLM}/v1alpha1", "kind": "ClusterServiceVersion", "metadata": {"name": name}, "spec": whole}


def asks_for_everything(account: str) -> Json:
    """The permissions of an operator that wants all rights of the cluster, for an account."""
    return {"clusterPermissions": [{"serviceAccountName": account, "rules": [EVERYTHING]}]}


def sells(tenant: Tenant, package: str, version: Json, *definitions: Json) -> None:
    """A catalog of one package in the namespace of the tenant, and a Subscription to it."""
    offers(tenant, package, version, *definitions)
    subscribes(tenant, package, package)


def offers(tenant: Tenant, package: str, version: Json, *definitions: Json) -> None:
    """A catalog of one package in the namespace of the tenant, called as the package."""
    channel = {"name": "alpha", "currentCSV": version["metadata"]["name"]}
    lists = {
        "packages": [{"packageName": package, "channels": [channel]}], "clusterServiceVersions": [version],
        "customResourceDefinitions": list(definitions),
    }  # fmt: skip
    data = {key: json.dumps(one) for key, one in lists.items()}
    tenant.made("v1", "ConfigMap", f"{package}-catalog", data=data)
    spec = {"sourceType": "internal", "configMap": f"{package}-catalog"}
    tenant.made(f"{OLM}/v1alpha1", "CatalogSource", package, spec=spec)


def subscribes(tenant: Tenant, package: str, source: str, namespace: str = "") -> None:
    """A Subscription to a package of a catalog."""
    spec = {"name": package, "channel": "alpha", "source": source, "sourceNamespace": namespace or tenant.namespace}
    tenant.made(f"{OLM}/v1alpha1", "Subscription", package, spec=spec)


def installs_what_asks_for_everything(tenant: Tenant) -> None:
    """A bundle whose operator wants all rights of the cluster."""
    sells(tenant, "greedy", a_version("greedy.v1", strategy=asks_for_everything("greedy")))


def takes_the_definition_of_a_neighbour(tenant: Tenant) -> None:
    """A bundle with the neighbour's API: a schema that asks for the values of its objects, and a conversion webhook."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", "maxProperties": 0}}}
    webhook = {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": "reader", "namespace": tenant.namespace, "path": "/"}},
    }
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": BEACONS},
        "spec": {
            "group": "samples.olmf.io", "scope": "Namespaced", "names": {"plural": "beacons", "kind": "Beacon"},
            "conversion": {"strategy": "Webhook", "webhook": webhook},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }  # fmt: skip
    owned = {"owned": [{"name": BEACONS, "version": "v1", "kind": "Beacon"}]}
    sells(tenant, "taker", a_version("taker.v1", customresourcedefinitions=owned), definition)


def claims_it_by_hand(tenant: Tenant) -> None:
    """A version that owns the neighbour's API, with labels of Operators, which its definition would get."""
    owned = {"owned": [{"name": BEACONS, "version": "v1", "kind": "Beacon"}]}
    labels = {f"operators.coreos.com/mallory-{number}": "" for number in range(40)}
    tenant.csv("claims.v1", metadata={"labels": labels}, customresourcedefinitions=owned)


def names_a_version_like_a_role(tenant: Tenant) -> None:
    """Its OperatorCondition has a Role and a binding of that name: the landlord's own."""
    strategy = {"permissions": [{"serviceAccountName": "default", "rules": []}]}
    version = a_version(KEEPER, strategy=strategy)
    place = f"/apis/{OLM}/v1alpha1/namespaces/{tenant.namespace}/clusterserviceversions"
    assert tenant.api.post(place, version).status == 201


def forges_what_we_write(tenant: Tenant) -> None:
    """Versions with our annotations, labels and owners: a member of another group, for all namespaces, a copy."""
    owner = {"apiVersion": f"{OLM}/v1", "kind": "OperatorGroup", "name": f"{VICTIM}-group", "uid": NOBODY}
    for index, (noted, labels) in enumerate((
        ({"olm.operatorNamespace": VICTIM, "olm.operatorGroup": f"{VICTIM}-group", "olm.targetNamespaces": ""}, {}),
        ({"olm.targetNamespaces": ""}, {"olm.managed": "true", "olm.owner": "beacon.v1.0.0"}),
        ({"olm.operatorNamespace": VICTIM}, {"olm.copiedFrom": VICTIM}),
    )):  # fmt: skip
        metadata = {"annotations": noted, "labels": labels, "ownerReferences": [owner]}
        version = a_version(f"forged.v{index}", strategy=asks_for_everything("default"))
        spec = version["spec"]
        tenant.made(f"{OLM}/v1alpha1", "ClusterServiceVersion", f"forged.v{index}", metadata=metadata, spec=spec)


def edits_what_was_installed(tenant: Tenant) -> None:
    """A version that works gets permissions, webhooks for the whole cluster, and an API of the API server."""
    hook = {
        "type": "MutatingAdmissionWebhook", "generateName": "sees.all.x", "deploymentName": "plain-v1",
        "admissionReviewVersions": ["v1"], "sideEffects": "None", "containerPort": 443, "webhookPath": "/",
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["secrets"]}],
    }  # fmt: skip
    api = {
        "name": "crowns", "group": "crown.example.com", "version": "v1", "kind": "Crown", "deploymentName": "plain-v1",
        "displayName": "x", "description": "x",
    }  # fmt: skip
    version = a_version("plain.v1", strategy=asks_for_everything("default"))["spec"]
    patch = {**version, "webhookdefinitions": [hook], "apiservicedefinitions": {"owned": [api]}}
    place = f"/apis/{OLM}/v1alpha1/namespaces/{tenant.namespace}/clusterserviceversions/plain.v1"
    assert tenant.api.patch(place, {"spec": patch}).status == 200


def plans_by_hand(tenant: Tenant) -> None:
    """An approved plan of its own with the record of ours, and the name of what it is to install."""
    for index, noted in enumerate(({}, {"olmf.io/plan-content": "sha256:" + "0" * 64})):
        spec = {
            "approval": "Automatic", "approved": True, "generation": 99, "clusterServiceVersionNames": ["greedy.v1"],
        }  # fmt: skip
        literal = json.dumps({
            "apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": "mallory"}, "rules": [EVERYTHING],
        })  # fmt: skip
        resource = {
            "group": RBAC, "version": "v1", "kind": "ClusterRole", "name": "mallory", "manifest": literal,
            "sourceName": "x", "sourceNamespace": "x",
        }  # fmt: skip
        status = {
            "phase": "Installing", "catalogSources": [],
            "plan": [{"resolving": "greedy.v1", "status": "Unknown", "resource": resource}],
        }  # fmt: skip
        metadata = {"annotations": noted}
        tenant.made(f"{OLM}/v1alpha1", "InstallPlan", f"made-{index}", metadata=metadata, spec=spec, status=status)


def reads_what_is_not_his(tenant: Tenant) -> None:
    """The catalog of a neighbour, and a Secret of the global namespace as a pull secret."""
    subscribes(tenant, "private", "private", VICTIM)
    spec = {
        "sourceType": "grpc",
        "image": f"{tenant.registry.address}/x/x:latest",
        "secrets": [CROWN, f"../olm/{CROWN}"],
    }
    tenant.made(f"{OLM}/v1alpha1", "CatalogSource", "pulls", spec=spec)


def changes_who_acts(tenant: Tenant) -> list[int]:
    """The group and its status, the status of plans, impersonation: what no tenant may write. The answers."""
    group = f"/apis/{OLM}/v1/namespaces/{tenant.namespace}/operatorgroups/{tenant.namespace}-group"
    status = {"status": {"serviceAccountRef": None, "namespaces": [""]}}
    mine = {"apiVersion": f"{OLM}/v1", "kind": "OperatorGroup", "metadata": {"name": "mine"}, "spec": {}}
    return [
        tenant.api.patch(group, {"spec": {"serviceAccountName": None}}).status,
        tenant.api.patch(f"{group}/status", status).status,
        tenant.api.post(group.rpartition("/")[0], mine).status,
    ]
