"""Attacks that worked once, or may be thought to work: what a tenant writes, one function for each.

Each waits until what it needs is so, and until somebody has looked at what it wrote: else it would be no attack.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from shared.kinds import OPTIONAL
from tests.conformance.attacks.fields import KINDS_OF_OTHERS
from tests.conformance.attacks.shapes import OLM, OWNED_API, WORKLOAD
from tests.conformance.attacks.tenant import NOBODY, PLURALS, Tenant
from tests.conformance.http import Answer

Json = Any
RBAC = "rbac.authorization.k8s.io"
PILLS = 60
FORGED = "beacon.v1.0.0"
GROWING = "properties.map(x,'aaaaaaaa')" + ".map(x,x+x+x+x+x+x+x+x)" * 8 + ".exists(x,size(x)>9)"
"""A rule of 250 bytes that asks for gigabytes."""


def own_group(tenant: Tenant) -> None:
    """An OperatorGroup for all namespaces, so that whatever is written is worked on."""
    tenant.made(f"{OLM}/v1", "OperatorGroup", "everywhere", spec={})
    tenant.until("OperatorGroup", "everywhere", lambda group: group["status"]["namespaces"] == [""])


def claims_a_built_in_api(tenant: Tenant) -> None:
    """A CSV that is edited to own the API of Secrets, and that of roles, once it has Succeeded."""
    for index, (plural, group) in enumerate((("secrets", ""), ("roles", RBAC))):
        name = f"claims.v{index}"
        tenant.working_csv(name)
        owned = [{**OWNED_API[0], "name": plural, "group": group, "displayName": "x", "description": "y"}]
        tenant.edit("ClusterServiceVersion", name, {"spec": {"apiservicedefinitions": {"owned": owned}}})


def claims_the_api_of_another_operator(tenant: Tenant) -> None:
    """A CSV that owns the definition that the neighbour's operator brought, and one that is built in by its name."""
    api = next(name for name in tenant.theirs if name.startswith("beacons."))
    for index, name in enumerate((api, f"roles.{RBAC}")):
        owned = {"owned": [{"name": name, "version": "v1", "kind": "X"}]}
        tenant.csv(f"claims-crd.v{index}", customresourcedefinitions=owned)


def lists_owners_in_free_text(tenant: Tenant) -> None:
    """Owner references whose names are a list, a path, or nothing that a name may be."""
    for index, name in enumerate(("x,y", "/", "..", "a\nb", "a/b/c", "%2f")):
        owner = {"apiVersion": "nosuch.example/v1", "kind": "ClusterServiceVersion", "name": name, "uid": NOBODY}
        for label in ({"olm.managed": "true"}, {}):
            meta = {"labels": label, "ownerReferences": [owner]}
            suffix = f"owned-{index}-{len(label)}"
            tenant.made("apps/v1", "Deployment", suffix, metadata=meta, spec=copy.deepcopy(WORKLOAD))
            tenant.made("v1", "ServiceAccount", suffix, metadata=meta)
            spec = {"name": "none", "source": "none", "sourceNamespace": tenant.namespace}
            tenant.made(f"{OLM}/v1alpha1", "Subscription", suffix, metadata=meta, spec=spec)


def pretends_to_be_copies(tenant: Tenant) -> None:
    """CSVs whose annotations name a namespace and a group that cannot be, each with a ServiceAccount that goes."""
    for index in range(PILLS):
        annotations = {"olm.operatorNamespace": "x/y", "olm.operatorGroup": "a/b"}
        made = tenant.csv(f"pill.v{index}", metadata={"annotations": annotations})
        loses_an_account(tenant, made, f"pill-{index}")


def loses_an_account(tenant: Tenant, csv: Json, name: str) -> None:
    """A ServiceAccount of a CSV comes and goes, so that the rights beside the CSV are looked at."""
    owner = {
        "apiVersion": csv["apiVersion"], "kind": csv["kind"], "name": csv["metadata"]["name"],
        "uid": csv["metadata"]["uid"],
    }  # fmt: skip
    meta = {"labels": {"olm.managed": "true"}, "ownerReferences": [owner]}
    tenant.made("v1", "ServiceAccount", name, metadata=meta)
    assert tenant.api.delete(tenant.place("ServiceAccount", name)).status == 200


def leaves_the_path(tenant: Tenant) -> None:
    """Annotations, Secrets and definitions named `.` and `..`."""
    for index, (place, group) in enumerate(((".", "."), ("..", "x"), ("default", "."), ("default", ".."))):
        annotations = {"olm.operatorNamespace": place, "olm.operatorGroup": group, "olm.targetNamespaces": ".."}
        made = tenant.csv(f"dot.v{index}", metadata={"annotations": annotations})
        loses_an_account(tenant, made, f"dot-{index}")
    for index, name in enumerate((".", "..", "x,y", "=x", "a/b")):
        owned = {"owned": [{"name": name, "version": "v1", "kind": "X"}]}
        tenant.csv(f"dots.v{index}", customresourcedefinitions=owned, replaces=name)
        tenant.made(
            f"{OLM}/v1alpha1", "CatalogSource", f"dots-{index}",
            spec={"sourceType": "grpc", "image": f"{tenant.registry.address}/realm/x:latest", "secrets": [name]},
        )  # fmt: skip


def lifts_a_role_with_a_well_known_name(tenant: Tenant) -> None:
    """A Role `cluster-admin` and its binding, labelled as if a CSV in a namespace for all had made them."""
    everybody = [{"serviceAccountName": "default", "rules": []}]
    tenant.working_csv("lift.v1", strategy={"permissions": everybody})
    labels = {
        "olm.owner": "lift.v1", "olm.owner.namespace": tenant.namespace, "olm.owner.kind": "ClusterServiceVersion",
        "olm.managed": "true",
    }  # fmt: skip
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]
    for name in ("cluster-admin", "admin", "system:node"):
        tenant.made(f"{RBAC}/v1", "Role", name, by=tenant.landlord, metadata={"labels": labels}, rules=rules)
        subjects = [
            {"kind": "User", "name": "mallory", "apiGroup": RBAC},
            {"kind": "ServiceAccount", "name": "default", "namespace": tenant.namespace},
        ]
        tenant.made(
            f"{RBAC}/v1", "RoleBinding", f"lifts-{name}", by=tenant.landlord, metadata={"labels": labels},
            roleRef={"apiGroup": RBAC, "kind": "Role", "name": name}, subjects=subjects,
        )  # fmt: skip
    tenant.edit("ClusterServiceVersion", "lift.v1", {"metadata": {"labels": {"look": "again"}}})


def sends_requests_inside(tenant: Tenant) -> None:
    """Catalogs of a registry that redirects to an inner address, or gives it as the realm of its tokens."""
    for name in ("redirect", "realm"):
        spec = {"sourceType": "grpc", "image": f"{tenant.registry.address}/{name}/x:latest"}
        tenant.made(f"{OLM}/v1alpha1", "CatalogSource", name, spec=spec)
        tenant.until("CatalogSource", name, lambda source: state_of(source) == "TRANSIENT_FAILURE")


def reads_a_catalog_of_others(tenant: Tenant) -> None:
    """The digest of a catalog that is in the store, at a registry that never had it; and by the name of its source."""
    if tenant.digest:
        spec = {"sourceType": "grpc", "image": f"127.0.0.1:9/nobody/nothing@{tenant.digest}"}
        tenant.made(f"{OLM}/v1alpha1", "CatalogSource", "stolen", spec=spec)
        tenant.until("CatalogSource", "stolen", state_of)
    spec = {"name": "private", "source": "private", "sourceNamespace": "neighbour"}
    tenant.made(f"{OLM}/v1alpha1", "Subscription", "across", spec=spec)


def asks_for_memory(tenant: Tenant) -> None:
    """A bundle with a rule in CEL whose texts grow eightfold at each step."""
    rule = {"type": "olm.constraint", "value": {"failureMessage": "x", "cel": {"rule": GROWING}}}
    properties = {"olm.properties": json.dumps([rule])}
    install = {"strategy": "deployment", "spec": {"deployments": []}}
    version = {
        "apiVersion": f"{OLM}/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": "grows.v1", "annotations": properties},
        "spec": {"displayName": "x", "version": "1.0.0", "install": install},
    }  # fmt: skip
    lists = {
        "packages": [{"packageName": "grows", "channels": [{"name": "alpha", "currentCSV": "grows.v1"}]}],
        "clusterServiceVersions": [version], "customResourceDefinitions": [],
    }  # fmt: skip
    tenant.made("v1", "ConfigMap", "grows", data={key: json.dumps(each) for key, each in lists.items()})
    tenant.made(f"{OLM}/v1alpha1", "CatalogSource", "grows", spec={"sourceType": "internal", "configMap": "grows"})
    tenant.until("CatalogSource", "grows", lambda source: state_of(source) == "READY")
    spec = {"name": "grows", "channel": "alpha", "source": "grows", "sourceNamespace": tenant.namespace}
    tenant.made(f"{OLM}/v1alpha1", "Subscription", "grows", spec=spec)


def pulls_for_ever(tenant: Tenant) -> None:
    """Six catalogs of a registry that sends a byte every two seconds."""
    for index in range(6):
        spec = {"sourceType": "grpc", "image": f"{tenant.registry.address}/slow{index}/x:latest"}
        tenant.made(f"{OLM}/v1alpha1", "CatalogSource", f"slow-{index}", spec=spec)


def approves_with_a_plan_of_its_own(tenant: Tenant) -> None:
    """Approved InstallPlans for a Subscription that waits for approval, made before ours; and for those of others."""
    spec = {"name": "beacon", "channel": "stable", "source": "later", "sourceNamespace": tenant.namespace}
    manual = {**spec, "installPlanApproval": "Manual"}
    waiting = tenant.made(f"{OLM}/v1alpha1", "Subscription", "beacon", spec=manual)
    for index, uid in enumerate((waiting["metadata"]["uid"], NOBODY, *tenant.theirs)):
        owner = {"apiVersion": f"{OLM}/v1alpha1", "kind": "Subscription", "name": "beacon", "uid": uid}
        plan = {
            "approval": "Manual",
            "approved": True,
            "generation": 1,
            "clusterServiceVersionNames": [FORGED],
        }
        meta = {"ownerReferences": [owner]}
        tenant.write(f"{OLM}/v1alpha1", "InstallPlan", f"forged-{index}", metadata=meta, spec=plan)
    image = {"sourceType": "grpc", "image": tenant.catalog}
    tenant.made(f"{OLM}/v1alpha1", "CatalogSource", "later", spec=image)
    tenant.until("Subscription", "beacon", lambda found: found["status"]["installPlanRef"]["name"])


def writes_what_is_not_his(tenant: Tenant) -> None:
    """Every kind that we watch and that is in no namespace, and the status of those that are: all are refused."""
    refused: list[Answer] = []
    for kind in KINDS_OF_OTHERS:
        group = f"/apis/{kind.api_version}" if kind.group else "/api/v1"
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "x,y"}}
        answer = tenant.api.post(f"{group}/{kind.plural}", body)
        if not (kind in OPTIONAL and answer.status == 404):  # this cluster does not serve it
            refused.append(answer)
    patch = {"status": {"conditions": [], "phase": "Complete", "plan": []}}
    kinds = ("ClusterServiceVersion", "Subscription", "InstallPlan", "CatalogSource", "OperatorGroup")
    refused += [tenant.api.patch(f"{tenant.place(name, 'x')}/status", patch) for name in kinds]
    assert PLURALS.keys().isdisjoint(kind.kind for kind in KINDS_OF_OTHERS)
    assert {answer.status for answer in refused} == {403}, [answer.body for answer in refused]
    tenant.answers[403] += len(refused)


def state_of(source: Json) -> str:
    """What a CatalogSource says of its registry."""
    return str(source["status"]["connectionState"]["lastObservedState"])


Attack = Callable[[Tenant], None]
ATTACKS: tuple[Attack, ...] = (
    own_group, claims_a_built_in_api, claims_the_api_of_another_operator, lists_owners_in_free_text,
    lifts_a_role_with_a_well_known_name, sends_requests_inside, reads_a_catalog_of_others,
    approves_with_a_plan_of_its_own, asks_for_memory, pulls_for_ever, pretends_to_be_copies, leaves_the_path,
    writes_what_is_not_his,
)  # fmt: skip
