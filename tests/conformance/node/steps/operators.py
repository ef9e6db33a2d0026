"""An operator's way: catalog, unpacking, install, approval, upgrade, uninstall."""

from __future__ import annotations

from contextlib import suppress

from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, labels_of, name_of, uid_of
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, DEPLOYMENT, INSTALL_PLAN, JOB, POD, SUBSCRIPTION, Ref
from tests.conformance.node.in_pods import OURS, InPods
from tests.kit.installation import a_namespace, a_subscription, an_operator_group
from tests.kit.waiting import wait_for

PLACE, STRICT = "lake", "pond"
CATALOG = "quay.io/samples/catalog:latest"
REFUSED = "`olmf why` says that the pods of the operator, which is not so modest, are refused"
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


def a_catalog(name: str, namespace: str) -> Manifest:
    """A CatalogSource of the sample bundles."""
    meta = {"name": name, "namespace": namespace}
    spec = {"sourceType": "grpc", "image": CATALOG}
    return {"apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind, "metadata": meta, "spec": spec}


def reads_the_catalog(host: InPods, namespace: str = OURS) -> str:
    """A CatalogSource with an image."""
    host.apply(a_catalog("local", namespace))
    ref = CATALOG_SOURCE.ref("local", namespace)
    host.until(ref, lambda each: each["status"]["connectionState"]["lastObservedState"] == "READY", "READY")
    return "READY"


def unpacks(host: InPods) -> str:
    """In a namespace that admits restricted Pods only, with a catalog of its own: the Job of its bundle runs there.

    The operator itself asks for more than that, which `olmf why` says.
    """
    with host.namespaces(STRICT, labels=RESTRICTED):
        reads_the_catalog(host, STRICT)
        host.apply(an_operator_group(STRICT, targets=(STRICT,)))
        host.apply(a_subscription("beacon", STRICT, channel="stable", sourceNamespace=STRICT))
        host.until(CLUSTER_SERVICE_VERSION.ref("beacon.v1.0.0", STRICT), bool)
        jobs = host.cluster.list(JOB, STRICT)
        wait_for(lambda: phases_of_jobs(host) == ["Succeeded"], "one pod that Succeeded")
        words = ("why", "ClusterServiceVersion/beacon.v1.0.0", "-n", STRICT)
        wait_for(lambda: "its pods are refused" in host.olmf(*words).stdout, "that the refusal is told")
        return f"{len(jobs)} Job, its Pod Succeeded in a namespace that enforces `restricted`; {REFUSED}"


def phases_of_jobs(host: InPods) -> list[str]:
    """Of the Pods of Jobs."""
    pods = host.cluster.list(POD, STRICT)
    return [pod["status"]["phase"] for pod in pods if "batch.kubernetes.io/job-name" in labels_of(pod)]


def upgrades(host: InPods) -> str:
    """From the first version of a package along its channel; the container of the last one runs."""
    host.apply(a_namespace(PLACE), an_operator_group(PLACE, targets=(PLACE,)))
    host.apply(a_subscription("tide", PLACE, channel="stable", startingCSV="tide.v0.1.0"))
    host.until_phase("tide.v1.0.0", PLACE)
    [image] = {box["image"] for pod in pods_of(host, "tide") for box in pod["spec"]["containers"]}
    assert image == "registry.invalid/samples/tide:1.0.0", image
    return "tide.v0.1.0 is tide.v1.0.0, Succeeded, and its container runs"


def pods_of(host: InPods, operator: str) -> list[Manifest]:
    """The Pods of an operator that do not end."""
    pods = [pod for pod in host.cluster.list(POD, PLACE) if name_of(pod).startswith(operator)]
    return [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]


def waits_for_approval(host: InPods) -> str:
    """A Subscription with Manual approval installs nothing until somebody approves."""
    host.apply(a_subscription("beacon", PLACE, channel="fast", installPlanApproval="Manual"))
    ref = SUBSCRIPTION.ref("beacon", PLACE)
    host.until(ref, lambda found: found["status"]["state"] == "UpgradePending", "UpgradePending")
    assert host.cluster.get(CLUSTER_SERVICE_VERSION.ref("beacon.v1.1.0", PLACE)) is None
    plans = [each for each in host.cluster.list(INSTALL_PLAN, PLACE) if not each["spec"]["approved"]]
    [plan] = plans
    host.cluster.merge(Ref.of(plan), {"spec": {"approved": True}})
    host.until_phase("beacon.v1.1.0", PLACE)
    return "nothing was installed before, beacon.v1.1.0 Succeeded after it"


def removes_beacon(host: InPods) -> None:
    """Take it away, so that it can be installed again."""
    for ref in (SUBSCRIPTION.ref("beacon", PLACE), CLUSTER_SERVICE_VERSION.ref("beacon.v1.1.0", PLACE)):
        with suppress(ApiError):
            host.cluster.delete(ref)
    host.until_gone(CLUSTER_SERVICE_VERSION.ref("beacon.v1.1.0", PLACE))


def uninstalls(host: InPods) -> str:
    """Take an operator away, then its namespace."""
    deployment = host.cluster.get(DEPLOYMENT.ref("tide-controller", PLACE)) or {}
    assert uid_of(deployment), "there is no Deployment"
    host.cluster.delete(SUBSCRIPTION.ref("tide", PLACE))
    host.cluster.delete(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", PLACE))
    host.until_gone(DEPLOYMENT.ref("tide-controller", PLACE))
    wait_for(lambda: not pods_of(host, "tide"), "the end of its pods")
    with host.namespaces(PLACE):
        pass
    return "Deployment, pods and namespace are gone"
