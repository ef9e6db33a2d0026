"""Plans that people write, plans and versions that fail, and catalogs that follow the API server, on both targets."""

from __future__ import annotations

import json
from functools import partial

from shared.api.manifest import Manifest
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    EVENT,
    INSTALL_PLAN,
    OPERATOR_GROUP,
    SECRET,
    SERVICE_ACCOUNT,
    SUBSCRIPTION,
    Kind,
    Ref,
)
from tests.kit.installation import Installation, a_subscription, an_operator_group, condition
from tests.kit.plans import recorded
from tests.kit.waiting import wait_for


def a_step(kind: Kind, name: str, **fields: object) -> Manifest:
    manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, **fields}
    resource = {
        "sourceName": "local", "sourceNamespace": "olm", "group": kind.group, "version": kind.version,
        "kind": kind.kind, "name": name, "manifest": json.dumps(manifest),
    }  # fmt: skip
    return {"resolving": "tide.v1.0.0", "status": "Unknown", "resource": resource}


def test_a_plan_made_by_hand_copies_a_pull_secret_and_reports_warnings(
    installation: Installation, namespace: str
) -> None:
    """catalog.md 4.5, 4.5.4 and 8.10.119; by an administrator, who may write the object and its status."""
    pull: Manifest = {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a-pull-secret", "namespace": "olm"},
        "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "e30="},
    }  # fmt: skip
    plan = INSTALL_PLAN.ref("by-hand", namespace)
    spec = {"clusterServiceVersionNames": [], "approval": "Manual", "approved": True, "generation": 1}
    installation.apply(
        an_operator_group(namespace),
        pull,
        {"apiVersion": plan.api_version, "kind": plan.kind, "metadata": {"name": plan.name, "namespace": namespace},
         "spec": spec},
    )  # fmt: skip
    steps = [a_step(SECRET, "a-pull-secret"), a_step(SERVICE_ACCOUNT, "careless", nonsense=True)]
    made = recorded(
        {"metadata": {}, "spec": spec, "status": {"phase": "Installing", "catalogSources": [], "plan": steps}}
    )
    installation.cluster.merge(plan, {"metadata": made["metadata"]})
    installation.cluster.merge(plan, {"status": made["status"]}, subresource="status")
    installation.until(plan, lambda each: each["status"]["phase"] == "Complete", "complete")
    copy = installation.cluster.get(SECRET.ref("a-pull-secret", namespace))
    assert copy is not None
    assert (copy["type"], copy["data"]) == (pull["type"], pull["data"])
    [event] = wait_for(
        lambda: [one for one in installation.cluster.list(EVENT, namespace) if one["reason"] == "AppliedWithWarnings"]
    )
    assert event["involvedObject"]["fieldPath"] == "status.plan[1]"
    assert event["message"].startswith(
        '1 warning(s) generated during installation of operator "tide.v1.0.0" (ServiceAccount "careless"): '
    )
    assert "nonsense" in event["message"]


def a_forged_plan(name: str, subscription: Manifest) -> Manifest:
    """What somebody may create who may create InstallPlans, and nothing else."""
    owner = {"apiVersion": SUBSCRIPTION.api_version, "kind": SUBSCRIPTION.kind, "name": "beacon"}
    return {
        "apiVersion": INSTALL_PLAN.api_version, "kind": INSTALL_PLAN.kind,
        "metadata": {"name": name, "namespace": subscription["metadata"]["namespace"],
                     "ownerReferences": [{**owner, "uid": subscription["metadata"]["uid"]}]},
        "spec": {"clusterServiceVersionNames": ["beacon.v1.0.0"], "approval": "Manual", "approved": True,
                 "generation": 1},
    }  # fmt: skip


def the_plan(installation: Installation, namespace: str, *, other: str = "") -> Manifest:
    """The plan of the Subscription beacon that waits for approval, and is not that one."""
    ref = SUBSCRIPTION.ref("beacon", namespace)
    found = installation.until(ref, lambda each: each["status"]["installPlanRef"]["name"] != other, "a plan")
    plan = INSTALL_PLAN.ref(found["status"]["installPlanRef"]["name"], namespace)
    return installation.until(plan, lambda each: each["status"]["phase"] == "RequiresApproval", "RequiresApproval")


def test_nobody_but_an_approver_gets_a_plan_executed(installation: Installation, namespace: str) -> None:
    """A plan that came before ours, one that was edited while it waited, steps that were exchanged; then approval."""
    local = installation.cluster.get(CATALOG_SOURCE.ref("local", "olm"))
    assert local is not None
    desired = a_subscription(
        "beacon", namespace, source="later", installPlanApproval="Manual", sourceNamespace=namespace
    )
    installation.apply(an_operator_group(namespace, targets=(namespace,)), desired)
    ref = SUBSCRIPTION.ref("beacon", namespace)
    forged = a_forged_plan("forged", installation.until(ref, lambda each: each["metadata"]["uid"]))
    installation.cluster.create(forged)
    spec = {"sourceType": "grpc", "image": local["spec"]["image"]}
    installation.apply({"apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind,
                        "metadata": {"name": "later", "namespace": namespace}, "spec": spec})  # fmt: skip
    first = the_plan(installation, namespace)
    assert (first["metadata"]["name"] != "forged", first["spec"]["approved"]) == (True, False)
    plan = INSTALL_PLAN.ref(first["metadata"]["name"], namespace)
    installation.cluster.merge(plan, {"spec": {"approved": True, "clusterServiceVersionNames": ["other.v1"]}})
    _is_refused(installation, plan)
    second = the_plan(installation, namespace, other=plan.name)
    plan = INSTALL_PLAN.ref(second["metadata"]["name"], namespace)
    steps = [{**step, "resource": {**step["resource"], "name": "crown"}} for step in second["status"]["plan"]]
    installation.cluster.merge(plan, {"status": {"plan": steps}}, subresource="status")
    _is_refused(installation, plan)
    assert "was changed" in installation.olmf("approve", plan.name, "-n", namespace, check=False).stderr
    third = the_plan(installation, namespace, other=plan.name)
    assert installation.cluster.list(CLUSTER_SERVICE_VERSION, namespace) == ()
    installation.olmf("approve", "beacon", "-n", namespace)
    installation.until_phase("beacon.v1.0.0", namespace)
    plan = INSTALL_PLAN.ref(third["metadata"]["name"], namespace)
    done = installation.until(plan, lambda each: each["status"]["phase"] == "Complete", "Complete")
    assert "was set by olmf-approve (Update)" in condition(done, "Approved")["message"]
    left = installation.cluster.get(INSTALL_PLAN.ref("forged", namespace))
    assert left is not None
    assert not (left.get("status") or {}).get("plan"), "after a minute it is told that it does not count"


def _is_refused(installation: Installation, plan: Ref) -> None:
    installation.until(plan, lambda each: condition(each, "Installed")["reason"] == "ContentChanged", "ContentChanged")
    wait_for(lambda: ("PlanRefused", plan.name) in {
        (one["reason"], one["involvedObject"]["name"]) for one in installation.cluster.list(EVENT, plan.namespace)
    })  # fmt: skip


def test_a_failed_plan_is_an_upgrade_that_failed_where_the_group_fails_forward(
    installation: Installation, namespace: str
) -> None:
    """catalog.md 3.7 C.2 and 3.10."""
    tide, group = SUBSCRIPTION.ref("tide", namespace), an_operator_group(namespace)
    desired = a_subscription("tide", namespace, startingCSV="tide.v0.1.0", installPlanApproval="Manual")
    installation.apply(group, desired)
    found = installation.until(tide, lambda each: (each.get("status") or {}).get("installPlanRef"), "a plan")
    plan = INSTALL_PLAN.ref(found["status"]["installPlanRef"]["name"], namespace)
    # Only a plan that was looked at once stays as it is: the first look would write its own phase over ours.
    installation.until(plan, lambda each: (each.get("status") or {}).get("phase") == "RequiresApproval", "looked at")
    installation.cluster.merge(plan, {"status": {"phase": "Failed"}}, subresource="status")
    installation.until(tide, lambda each: condition(each, "InstallPlanFailed"), "InstallPlanFailed")
    for strategy, state in (("TechPreviewUnsafeFailForward", "UpgradeFailed"), ("Default", "UpgradePending")):
        ref = OPERATOR_GROUP.ref(group["metadata"]["name"], namespace)
        installation.cluster.merge(ref, {"spec": {"upgradeStrategy": strategy}})
        reported = installation.until(tide, partial(_is_at, state), state)
        assert reported["status"]["currentCSV"] == "tide.v0.1.0"


def _is_at(state: str, subscription: Manifest) -> bool:
    return bool(subscription["status"]["state"] == state)


def a_version(name: str, namespace: str, strategy: str, **spec: object) -> Manifest:
    """A ClusterServiceVersion without requirements and Deployments."""
    install = {"strategy": strategy, "spec": {"deployments": []}}
    modes = [{"type": "OwnNamespace", "supported": True}]
    return {
        "apiVersion": CLUSTER_SERVICE_VERSION.api_version,
        "kind": CLUSTER_SERVICE_VERSION.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"displayName": name, "version": "1.0.0", "installModes": modes, "install": install, **spec},
    }


def test_a_failed_version_is_replaced_once_the_group_fails_forward(installation: Installation, namespace: str) -> None:
    """csv.md 4.2-9 and 4.6-1; an unknown strategy is not tried again, so only the change of the group can help."""
    group = an_operator_group(namespace, targets=(namespace,))
    installation.apply(group, a_version("a.v1", namespace, "unknown"))
    installation.until_phase("a.v1", namespace, "Failed")
    installation.apply(a_version("a.v2", namespace, "deployment", replaces="a.v1"))
    newer = CLUSTER_SERVICE_VERSION.ref("a.v2", namespace)
    installation.until(newer, lambda each: each["status"]["reason"] == "InstallWaiting", "InstallWaiting")
    [row] = json.loads(installation.olmf("list", "-n", namespace, "-o", "json").stdout)[1:]
    assert "a.v1 is Failed (install strategy invalid: unrecognized install strategy)" in row["message"]
    assert [one["do"].split(" --")[0] for one in row["fixes"]][-1:] == [f"kubectl -n {namespace} delete csv a.v1"]
    ref = OPERATOR_GROUP.ref(group["metadata"]["name"], namespace)
    installation.cluster.merge(ref, {"spec": {"upgradeStrategy": "TechPreviewUnsafeFailForward"}})
    installation.until_phase("a.v2", namespace)
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref("a.v1", namespace))


def test_a_catalog_image_follows_the_version_of_the_api_server(installation: Installation, namespace: str) -> None:
    """catalog.md 2.10 and 8.4.46."""
    local = installation.cluster.get(CATALOG_SOURCE.ref("local", "olm"))
    assert local is not None
    image = local["spec"]["image"]
    repository = image.rpartition(":")[0]
    ref = CATALOG_SOURCE.ref("following", namespace)
    template = {"olm.catalogImageTemplate": f"{repository}:v{{kube_major_version}}.{{kube_minor_version}}"}
    installation.apply({
        "apiVersion": ref.api_version, "kind": ref.kind, "spec": {"sourceType": "grpc", "image": image},
        "metadata": {"name": ref.name, "namespace": namespace, "annotations": template},
    })  # fmt: skip
    image = f"{repository}:v1.35"
    source = installation.until(ref, lambda each: condition(each, "ResolvedImage").get("message") == image, image)
    assert source["spec"]["image"] == image
    assert condition(source, "TemplatesHaveResolved")["status"] == "True"
