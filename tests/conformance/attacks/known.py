"""Attacks that worked once, or may be thought to work: what a tenant writes, one function for each."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.conformance.attacks.shapes import MODES, OLM, OWNED_API, WORKLOAD
from tests.conformance.http import Answer, Api

Json = Any
PLURALS = {
    "ClusterServiceVersion": "clusterserviceversions", "Subscription": "subscriptions", "InstallPlan": "installplans",
    "CatalogSource": "catalogsources", "OperatorGroup": "operatorgroups", "OperatorCondition": "operatorconditions",
    "Deployment": "deployments", "Job": "jobs", "ServiceAccount": "serviceaccounts", "ConfigMap": "configmaps",
    "Secret": "secrets", "Service": "services", "Role": "roles", "RoleBinding": "rolebindings",
}  # fmt: skip
NOBODY = "11111111-1111-1111-1111-111111111111"
PILLS = 60


def path(manifest: Json) -> str:
    """Where the kind of an object is written."""
    version, namespace = manifest["apiVersion"], manifest["metadata"]["namespace"]
    group = "/api/v1" if version == "v1" else f"/apis/{version}"
    return f"{group}/namespaces/{namespace}/{PLURALS[manifest['kind']]}"


@dataclass(frozen=True, slots=True)
class Tenant:
    """Who attacks, and where."""

    api: Api
    """As the tenant: edit, and every verb on our kinds, in its namespace."""
    landlord: Api
    """As an admin of that namespace."""
    namespace: str
    registry: str
    theirs: tuple[str, ...]

    def write(self, version: str, kind: str, name: str, *, by: Api | None = None, **fields: Json) -> Answer:
        """Create an object in the namespace."""
        meta = {"name": name, "namespace": self.namespace, **fields.pop("metadata", {})}
        body = {"apiVersion": version, "kind": kind, "metadata": meta, **fields}
        return (by or self.api).post(path(body), body)

    def csv(self, name: str, *, by: Api | None = None, metadata: Json = None, **spec: Json) -> Answer:
        """Create a ClusterServiceVersion that installs."""
        install = {
            "strategy": "deployment",
            "spec": {"deployments": [{"name": name.replace(".", "-"), "spec": WORKLOAD}]},
        }
        whole = {"displayName": "x", "version": "1.0.0", "installModes": MODES, "install": install, **spec}
        return self.write(f"{OLM}/v1alpha1", "ClusterServiceVersion", name, by=by, metadata=metadata or {}, spec=whole)


def own_group(tenant: Tenant) -> None:
    """An OperatorGroup for all namespaces, so that whatever is written is worked on."""
    tenant.write(f"{OLM}/v1", "OperatorGroup", "everywhere", spec={})


def claims_a_built_in_api(tenant: Tenant) -> None:
    """A CSV that is edited to own the API of Secrets, and that of roles, once it has Succeeded."""
    for index, (plural, group) in enumerate((("secrets", ""), ("roles", "rbac.authorization.k8s.io"))):
        tenant.csv(f"claims.v{index}")
        owned = [{**OWNED_API[0], "name": plural, "group": group, "displayName": "x", "description": "y"}]
        patch = {"spec": {"apiservicedefinitions": {"owned": owned}}}
        place = f"/apis/{OLM}/v1alpha1/namespaces/{tenant.namespace}/clusterserviceversions/claims.v{index}"
        tenant.api.patch(place, patch)


def lists_owners_in_free_text(tenant: Tenant) -> None:
    """Owner references whose names are a list, a path, or nothing that a name may be."""
    for index, name in enumerate(("x,y", "/", "..", "a\nb", "a/b/c", "%2f")):
        owner = {"apiVersion": "nosuch.example/v1", "kind": "ClusterServiceVersion", "name": name, "uid": NOBODY}
        for label in ({"olm.managed": "true"}, {}):
            meta = {"labels": label, "ownerReferences": [owner]}
            suffix = f"owned-{index}-{len(label)}"
            tenant.write("apps/v1", "Deployment", suffix, metadata=meta, spec=copy.deepcopy(WORKLOAD))
            tenant.write("v1", "ServiceAccount", suffix, metadata=meta)
            spec = {"name": "none", "source": "none", "sourceNamespace": tenant.namespace}
            tenant.write(f"{OLM}/v1alpha1", "Subscription", suffix, metadata=meta, spec=spec)


def pretends_to_be_copies(tenant: Tenant) -> None:
    """CSVs whose annotations name a namespace and a group that cannot be, each with a ServiceAccount that goes."""
    for index in range(PILLS):
        annotations = {"olm.operatorNamespace": "x/y", "olm.operatorGroup": "a/b"}
        made = tenant.csv(f"pill.v{index}", metadata={"annotations": annotations})
        if made.status == 201:
            owner = {
                "apiVersion": f"{OLM}/v1alpha1", "kind": "ClusterServiceVersion", "name": f"pill.v{index}",
                "uid": made.body["metadata"]["uid"],
            }  # fmt: skip
            meta = {"labels": {"olm.managed": "true"}, "ownerReferences": [owner]}
            tenant.write("v1", "ServiceAccount", f"pill-{index}", metadata=meta)
            tenant.api.delete(f"/api/v1/namespaces/{tenant.namespace}/serviceaccounts/pill-{index}")


def leaves_the_path(tenant: Tenant) -> None:
    """Annotations, Secrets and definitions named `.` and `..`."""
    for index, (place, group) in enumerate(((".", "."), ("..", "x"), ("default", "."), ("default", ".."))):
        annotations = {"olm.operatorNamespace": place, "olm.operatorGroup": group, "olm.targetNamespaces": ".."}
        tenant.csv(f"dot.v{index}", metadata={"annotations": annotations})
    for index, name in enumerate((".", "..", "x,y", "=x", "a/b")):
        owned = {"owned": [{"name": name, "version": "v1", "kind": "X"}]}
        tenant.csv(f"dots.v{index}", customresourcedefinitions=owned, replaces=name)
        tenant.write(
            f"{OLM}/v1alpha1", "CatalogSource", f"dots-{index}",
            spec={"sourceType": "grpc", "image": f"{tenant.registry}/realm/x:latest", "secrets": [name]},
        )  # fmt: skip


def lifts_a_role_with_a_well_known_name(tenant: Tenant) -> None:
    """A Role `cluster-admin` and its binding, labelled as if a CSV in a namespace for all had made them."""
    tenant.csv("lift.v1", installModes=MODES)
    labels = {
        "olm.owner": "lift.v1", "olm.owner.namespace": tenant.namespace, "olm.owner.kind": "ClusterServiceVersion",
        "olm.managed": "true",
    }  # fmt: skip
    rbac, rules = "rbac.authorization.k8s.io", [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]
    for name in ("cluster-admin", "admin", "system:node"):
        tenant.write(f"{rbac}/v1", "Role", name, by=tenant.landlord, metadata={"labels": labels}, rules=rules)
        subject = {"kind": "User", "name": "mallory", "apiGroup": rbac}
        reference = {"apiGroup": rbac, "kind": "Role", "name": name}
        tenant.write(
            f"{rbac}/v1", "RoleBinding", f"lifts-{name}", by=tenant.landlord, metadata={"labels": labels},
            roleRef=reference, subjects=[subject],
        )  # fmt: skip


def sends_requests_inside(tenant: Tenant) -> None:
    """Catalogs of a registry that redirects to an inner address, or gives it as the realm of its tokens."""
    for name in ("redirect", "realm"):
        spec = {"sourceType": "grpc", "image": f"{tenant.registry}/{name}/x:latest"}
        tenant.write(f"{OLM}/v1alpha1", "CatalogSource", name, spec=spec)


def pulls_for_ever(tenant: Tenant) -> None:
    """Six catalogs of a registry that sends a byte every two seconds."""
    for index in range(6):
        spec = {"sourceType": "grpc", "image": f"{tenant.registry}/slow{index}/x:latest"}
        tenant.write(f"{OLM}/v1alpha1", "CatalogSource", f"slow-{index}", spec=spec)


def approves_with_a_plan_of_its_own(tenant: Tenant) -> None:
    """An approved InstallPlan that names a Subscription of the tenant, and one that names another's."""
    for index, uid in enumerate((NOBODY, *tenant.theirs)):
        owner = {"apiVersion": f"{OLM}/v1alpha1", "kind": "Subscription", "name": "beacon", "uid": uid}
        plan = {
            "approval": "Manual",
            "approved": True,
            "generation": 1,
            "clusterServiceVersionNames": ["beacon.v1.0.0"],
        }
        meta = {"ownerReferences": [owner]}
        tenant.write(f"{OLM}/v1alpha1", "InstallPlan", f"forged-{index}", metadata=meta, spec=plan)


Attack = Callable[[Tenant], None]
ATTACKS: tuple[Attack, ...] = (
    own_group, claims_a_built_in_api, lists_owners_in_free_text, pretends_to_be_copies, leaves_the_path,
    lifts_a_role_with_a_well_known_name, sends_requests_inside, pulls_for_ever, approves_with_a_plan_of_its_own,
)  # fmt: skip
