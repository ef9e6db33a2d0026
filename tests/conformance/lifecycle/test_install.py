"""From a Subscription to an operator that works, and back."""

from __future__ import annotations

from typing import Any

import grpc

from shared import names
from shared.adapters.catalog_client.methods import REGISTRY, caller
from shared.adapters.catalog_client.registry_pb2 import ListPackageRequest, PackageName
from shared.api.manifest import labels_of, name_of, uid_of
from shared.api.views import CatalogSource
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_ROLE,
    CLUSTER_SERVICE_VERSION,
    CONFIG_MAP,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    INSTALL_PLAN,
    JOB,
    OPERATOR_CONDITION,
    OPERATOR_GROUP,
    SERVICE,
    SUBSCRIPTION,
)
from tests.kit.installation import Installation, a_namespace, a_subscription, an_operator_group, condition
from tests.kit.waiting import PATIENCE_SECONDS, wait_for


def subscribe(installation: Installation, namespace: str, package: str, **spec: Any) -> None:
    """A Subscription, and a group for this namespace only (for all, where the operator knows no other mode)."""
    targets = () if package == "ledger" else (namespace,)
    installation.apply(an_operator_group(namespace, targets=targets), a_subscription(package, namespace, **spec))


def test_catalog_md_2_4_1_an_image_catalog_becomes_ready_without_a_pod_and_answers_where_its_status_reports(
    installation: Installation,
) -> None:
    """Its Service leads to the program that answers for all catalogs; the authority says which one is asked."""
    ref = CATALOG_SOURCE.ref("local", "olm")
    ready = installation.until(ref, lambda each: _state(each) == "READY", "READY")
    assert "@sha256:" in CatalogSource(ready).content
    about = ready["status"]["registryService"]
    assert (about["protocol"], about["serviceName"], about["serviceNamespace"]) == ("grpc", "local", "olm")
    address = ready["status"]["connectionState"]["address"]
    assert address == f"local.olm.svc:{about['port']}"
    service = installation.cluster.get(SERVICE.ref("local", "olm")) or {}
    options = [("grpc.default_authority", address)]
    with grpc.insecure_channel(f"{service['spec']['externalName']}:{about['port']}", options=options) as channel:
        wait_for(lambda: "tide" in _packages(channel), "the catalog is served")
    installation.cluster.delete(SERVICE.ref("local", "olm"))
    wait_for(lambda: installation.cluster.get(SERVICE.ref("local", "olm")), "it is made again")


def test_catalog_md_2_4_1_the_service_that_olm_made_for_a_pod_leads_to_us(
    installation: Installation, namespace: str
) -> None:
    source = CATALOG_SOURCE.ref("tea", namespace)
    place = {"name": "tea", "namespace": namespace}
    spec = {"sourceType": "grpc", "address": "127.0.0.1:9"}  # no Service is made of it
    made = installation.cluster.create(
        {"apiVersion": source.api_version, "kind": source.kind, "metadata": place, "spec": spec}
    )
    owner = {"apiVersion": source.api_version, "kind": source.kind, "name": "tea", "uid": made["metadata"]["uid"]}
    ports = [{"name": "grpc", "port": 50051, "targetPort": 50051}]
    installation.until(source, lambda each: each["status"]["reason"] == "RegistryServerError", "an answer")
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {**place, "ownerReferences": [owner]}}
    installation.cluster.create({**service, "spec": {"selector": {"olm.catalogSource": "tea"}, "ports": ports}})
    image = (installation.cluster.get(CATALOG_SOURCE.ref("local", "olm")) or {})["spec"]["image"]
    installation.cluster.merge(source, {"spec": {"address": None, "image": image}})
    ready = installation.until(
        source,
        lambda each: _state(each) == "READY" and each["status"]["registryService"]["serviceName"],
        "READY, with its Service",
    )
    found = installation.until(SERVICE.ref("tea", namespace), lambda each: each["spec"]["type"] == "ExternalName")
    assert (found["spec"].get("selector"), found["spec"].get("clusterIP")) == (None, None)
    about = ready["status"]["registryService"]
    assert (about["serviceName"], about["serviceNamespace"]) == ("tea", namespace)


def _packages(channel: grpc.Channel) -> list[str]:
    """None of a catalog that is not known yet."""
    answers = caller(channel, REGISTRY.methods_by_name["ListPackages"])(ListPackageRequest(), timeout=PATIENCE_SECONDS)
    try:
        return [PackageName.FromString(each).name for each in answers]
    except grpc.RpcError as error:
        if error.code() not in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.UNAVAILABLE):
            raise
        return []


def _state(source: dict[str, object]) -> object:
    status = source.get("status")
    return (status or {}).get("connectionState", {}).get("lastObservedState") if isinstance(status, dict) else None


def test_an_automatic_install(installation: Installation, namespace: str) -> None:
    subscribe(installation, namespace, "tide", channel="stable")
    csv = installation.until_phase("tide.v1.0.0", namespace)
    sub = installation.until(
        SUBSCRIPTION.ref("tide", namespace), lambda each: each["status"].get("state") == "AtLatestKnown"
    )
    assert sub["status"]["installedCSV"] == sub["status"]["currentCSV"] == "tide.v1.0.0"
    plan = installation.until(
        INSTALL_PLAN.ref(sub["status"]["installPlanRef"]["name"], namespace),
        lambda each: each["status"]["phase"] == "Complete",
        "complete",
    )
    assert {step["status"] for step in plan["status"]["plan"]} <= {"Created", "Present"}
    assert plan["spec"]["clusterServiceVersionNames"] == ["tide.v1.0.0"]
    deployment = installation.cluster.get(DEPLOYMENT.ref("tide-controller", namespace))
    assert deployment is not None
    assert deployment["metadata"]["ownerReferences"][0]["uid"] == csv["metadata"]["uid"]
    assert deployment["metadata"]["labels"]["olm.owner"] == "tide.v1.0.0"
    assert deployment["spec"]["revisionHistoryLimit"] == 1
    environment = deployment["spec"]["template"]["spec"]["containers"][0]["env"]
    assert {"name": "OPERATOR_CONDITION_NAME", "value": "tide.v1.0.0"} in environment
    installation.until(OPERATOR_CONDITION.ref("tide.v1.0.0", namespace), lambda each: each["spec"]["deployments"])


def test_unpack_objects_are_named_by_the_hash_of_the_bundle(installation: Installation, namespace: str) -> None:
    subscribe(installation, namespace, "ledger")
    installation.until_phase("ledger.v2.1.0", namespace)
    maps = installation.cluster.list(CONFIG_MAP, "olm", labels={"olm.managed": "true"})
    ledger = [each for each in maps if "bundles/ledger" in str(each["metadata"].get("annotations"))]
    assert [len(each["metadata"]["name"]) for each in ledger] == [63]
    name = ledger[0]["metadata"]["name"]
    job = next(each for each in installation.cluster.list(JOB, "olm") if each["metadata"]["name"] == name)
    assert job["metadata"]["labels"]["operatorframework.io/bundle-unpack-ref"] == name
    assert job["spec"]["backoffLimit"] == 3


def test_an_operator_with_a_definition_and_a_service(installation: Installation, namespace: str) -> None:
    subscribe(installation, namespace, "beacon", channel="stable")
    installation.until_phase("beacon.v1.0.0", namespace)
    definition = installation.cluster.get(CUSTOM_RESOURCE_DEFINITION.ref("beacons.samples.olmf.io"))
    assert definition is not None
    installation.until(SERVICE.ref("beacon-metrics", namespace), bool)
    group = OPERATOR_GROUP.ref(f"{namespace}-group", namespace)
    installation.until(
        group, lambda each: "Beacon.v1.samples.olmf.io" in str(each["metadata"].get("annotations")), "olm.providedAPIs"
    )
    for suffix in ("admin", "edit", "view", "crdview"):
        installation.until(CLUSTER_ROLE.ref(f"beacons.samples.olmf.io-v1-{suffix}"), bool)


def test_a_manual_plan_waits_for_its_approval(installation: Installation, namespace: str) -> None:
    subscribe(installation, namespace, "tide", installPlanApproval="Manual")
    pending = installation.until_condition("tide", namespace, "InstallPlanPending")
    assert pending["reason"] == "RequiresApproval"
    sub = installation.until(SUBSCRIPTION.ref("tide", namespace), lambda each: each["status"].get("installPlanRef"))
    plan = sub["status"]["installPlanRef"]["name"]
    assert installation.cluster.get(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", namespace)) is None
    installation.cluster.merge(INSTALL_PLAN.ref(plan, namespace), {"spec": {"approved": True}})
    installation.until_phase("tide.v1.0.0", namespace)


def test_an_upgrade_follows_the_channel_to_its_head(installation: Installation, namespace: str) -> None:
    subscribe(installation, namespace, "tide", startingCSV="tide.v0.1.0")
    installation.until_phase("tide.v1.0.0", namespace)
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref("tide.v0.1.0", namespace))
    deployment = installation.cluster.get(DEPLOYMENT.ref("tide-controller", namespace))
    assert deployment is not None
    assert deployment["metadata"]["labels"]["olm.owner"] == "tide.v1.0.0"
    present = installation.cluster.list(CLUSTER_SERVICE_VERSION, namespace)
    assert [name_of(csv) for csv in present if names.COPIED_FROM not in labels_of(csv)] == ["tide.v1.0.0"]


def test_an_uninstall_removes_what_olm_removes(installation: Installation, namespace: str) -> None:
    subscribe(installation, namespace, "ledger")
    csv = installation.until_phase("ledger.v2.1.0", namespace)
    owned = {"olm.owner": "ledger.v2.1.0", "olm.owner.namespace": namespace}
    roles = installation.cluster.list(CLUSTER_ROLE, labels=owned)
    assert roles
    installation.cluster.delete(SUBSCRIPTION.ref("ledger", namespace))
    installation.cluster.delete(CLUSTER_SERVICE_VERSION.ref("ledger.v2.1.0", namespace), uid=csv["metadata"]["uid"])
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref("ledger.v2.1.0", namespace))
    installation.until_gone(DEPLOYMENT.ref("ledger-controller", namespace))
    for role in roles:
        installation.until_gone(CLUSTER_ROLE.ref(role["metadata"]["name"]))


def test_a_deleted_csv_is_not_reinstalled_and_the_subscription_reports_it(
    installation: Installation, namespace: str
) -> None:
    subscribe(installation, namespace, "tide")
    installation.until_phase("tide.v1.0.0", namespace)
    installation.until(SUBSCRIPTION.ref("tide", namespace), lambda each: each["status"].get("state") == "AtLatestKnown")
    installation.cluster.delete(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", namespace))
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", namespace))
    installation.until(
        SUBSCRIPTION.ref("tide", namespace),
        lambda each: "tide.v1.0.0" in str(each["status"].get("conditions")),
        "a condition that names the missing CSV",
    )
    assert installation.cluster.get(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", namespace)) is None


def test_a_subscription_to_nothing_reports_what_is_missing(installation: Installation, namespace: str) -> None:
    subscribe(installation, namespace, "nothing-of-that-name")
    installation.until(
        SUBSCRIPTION.ref("nothing-of-that-name", namespace),
        lambda each: any(
            one["type"] == "ResolutionFailed" and "nothing-of-that-name" in one["message"]
            for one in each.get("status", {}).get("conditions", ())
        ),
        "a condition that names what is missing",
    )


def test_a_good_subscription_beside_a_broken_one_is_installed(installation: Installation, namespace: str) -> None:
    subscribe(installation, namespace, "nothing-of-that-name")
    installation.until_condition("nothing-of-that-name", namespace, "ResolutionFailed")
    installation.apply(a_subscription("tide", namespace))
    installation.until_phase("tide.v1.0.0", namespace)


def test_two_operator_groups_stop_the_namespace_with_a_sentence(installation: Installation, namespace: str) -> None:
    installation.apply(an_operator_group(namespace), an_operator_group(namespace, name="second"))
    installation.apply(a_subscription("tide", namespace))
    failed = installation.until_condition("tide", namespace, "ResolutionFailed")
    assert "OperatorGroup" in failed["message"] or "operatorGroups" in failed["message"]
    group = installation.until(
        OPERATOR_GROUP.ref("second", namespace), lambda each: condition(each, "MultipleOperatorGroup")
    )
    assert condition(group, "MultipleOperatorGroup")["reason"] == "MultipleOperatorGroupsFound"


def test_an_unsupported_install_mode_is_named(installation: Installation, namespace: str) -> None:
    installation.apply(an_operator_group(namespace, targets=(namespace,)), a_subscription("ledger", namespace))
    csv = installation.until_phase("ledger.v2.1.0", namespace, "Failed")
    assert csv["status"]["reason"] == "UnsupportedOperatorGroup"
    assert "OwnNamespace InstallModeType not supported" in csv["status"]["message"]


def test_a_global_operator_is_copied_to_other_namespaces(installation: Installation, namespace: str) -> None:
    installation.apply(a_namespace(f"{namespace}-b"))
    installation.apply(an_operator_group(namespace), a_subscription("tide", namespace))
    copy = installation.until_phase("tide.v1.0.0", f"{namespace}-b")
    assert copy["status"]["reason"] == "Copied"
    assert copy["metadata"]["labels"]["olm.copiedFrom"] == namespace
    installation.cluster.delete(SUBSCRIPTION.ref("tide", namespace))
    installation.cluster.delete(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", namespace))
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", f"{namespace}-b"))


def test_a_global_operator_leaves_a_version_of_its_name_alone(installation: Installation, namespace: str) -> None:
    """csv.md 10.2: where somebody installed the same version, there is no copy, until theirs is gone."""
    installation.apply(a_namespace(f"{namespace}-b"))
    subscribe(installation, namespace, "tide")
    theirs = installation.until_phase("tide.v1.0.0", namespace)
    installation.apply(an_operator_group(f"{namespace}-b"), a_subscription("tide", f"{namespace}-b"))
    installation.until_phase("tide.v1.0.0", f"{namespace}-b")
    installation.until_phase("tide.v1.0.0", "default")
    ref = CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", namespace)
    now = installation.until_phase("tide.v1.0.0", namespace)
    assert (uid_of(now), now["status"]["reason"]) == (uid_of(theirs), "InstallSucceeded")
    installation.cluster.delete(SUBSCRIPTION.ref("tide", namespace))
    installation.cluster.delete(ref)
    installation.until(ref, lambda each: each["status"].get("reason") == "Copied", "a copy in its place")
    installation.cluster.delete(SUBSCRIPTION.ref("tide", f"{namespace}-b"))
    installation.cluster.delete(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", f"{namespace}-b"))
    installation.until_gone(ref)


def test_a_deleted_deployment_comes_back(installation: Installation, namespace: str) -> None:
    subscribe(installation, namespace, "tide")
    installation.until_phase("tide.v1.0.0", namespace)
    ref = DEPLOYMENT.ref("tide-controller", namespace)
    before = installation.cluster.get(ref)
    assert before is not None
    installation.cluster.delete(ref)
    installation.until(ref, lambda each: each["metadata"]["uid"] != before["metadata"]["uid"], "a new Deployment")
    installation.until_phase("tide.v1.0.0", namespace)


def test_subscription_config_reaches_the_deployment_in_one_rollout(installation: Installation, namespace: str) -> None:
    subscribe(installation, namespace, "tide", config={"env": [{"name": "COLOUR", "value": "blue"}]})
    installation.until_phase("tide.v1.0.0", namespace)
    deployment = installation.until(
        DEPLOYMENT.ref("tide-controller", namespace), lambda each: "COLOUR" in str(each["spec"]), "the variable"
    )
    assert deployment["metadata"]["generation"] == 1
