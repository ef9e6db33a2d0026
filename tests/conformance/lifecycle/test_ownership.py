"""What goes with an operator, what stays, and who may use what it provides: with the controllers of each target."""

from __future__ import annotations

import json
from pathlib import Path

from shared.api.manifest import Manifest, name_of, uid_of
from shared.kinds import (
    CLUSTER_ROLE,
    CLUSTER_SERVICE_VERSION,
    CONFIG_MAP,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    SERVICE,
    SUBSCRIPTION,
)
from tests.conformance.http import Api
from tests.kit.installation import Installation, a_subscription, an_operator_group
from tests.kit.waiting import wait_for

BEACON = CUSTOM_RESOURCE_DEFINITION.ref("beacons.samples.olmf.io")
ADMIN = "a-project-admin"


def install(installation: Installation, namespace: str, channel: str = "stable") -> None:
    """The operator `beacon` in its own namespace."""
    installation.apply(an_operator_group(namespace, targets=(namespace,)))
    installation.apply(a_subscription("beacon", namespace, channel=channel))


def may(installation: Installation, verb: str, namespace: str) -> bool:
    """Whether the project's administrator may do this to beacons there."""
    kubeconfig = json.loads((installation.state / "olmf.json").read_text())["kubeconfig"]
    resource = {"group": "samples.olmf.io", "resource": "beacons", "verb": verb, "namespace": namespace}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
    asked = {**review, "spec": {"user": ADMIN, "resourceAttributes": resource}}
    answer = Api.of(Path(kubeconfig)).post("/apis/authorization.k8s.io/v1/subjectaccessreviews", asked)
    assert answer.status == 201, answer.body
    return bool(answer.body["status"]["allowed"])


def test_a_project_admin_may_use_what_an_operator_provides(installation: Installation, namespace: str) -> None:
    """csv.md 18 row 128: by aggregation into `admin`, in the own namespace and nowhere else."""
    rbac = "rbac.authorization.k8s.io"
    installation.apply({
        "apiVersion": f"{rbac}/v1", "kind": "RoleBinding", "metadata": {"name": ADMIN, "namespace": namespace},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "admin"},
        "subjects": [{"apiGroup": rbac, "kind": "User", "name": ADMIN}],
    })  # fmt: skip
    install(installation, namespace)
    installation.until_phase("beacon.v1.0.0", namespace)
    wait_for(lambda: may(installation, "create", namespace), "the right to create beacons")
    assert not may(installation, "create", "default")


def test_objects_of_a_bundle_are_updated_in_place_and_go_with_the_last_version(
    installation: Installation, namespace: str
) -> None:
    """csv.md 18 rows 60 and 153: one Deployment and one Service for both versions, gone with the second."""
    install(installation, namespace)
    installation.until_phase("beacon.v1.0.0", namespace)
    service = installation.cluster.get(SERVICE.ref("beacon-metrics", namespace))
    deployment = installation.cluster.get(DEPLOYMENT.ref("beacon-controller", namespace))
    assert service
    assert deployment
    installation.apply(a_subscription("beacon", namespace, channel="fast"))
    csv = installation.until_phase("beacon.v1.1.0", namespace)
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref("beacon.v1.0.0", namespace))
    for ref, before in (
        (SERVICE.ref("beacon-metrics", namespace), service),
        (DEPLOYMENT.ref("beacon-controller", namespace), deployment),
    ):
        after = installation.until(ref, lambda each: owners(each) == {uid_of(csv)}, "the new version as its only owner")
        assert uid_of(after) == uid_of(before)
    installation.cluster.delete(SUBSCRIPTION.ref("beacon", namespace))
    installation.cluster.delete(CLUSTER_SERVICE_VERSION.ref("beacon.v1.1.0", namespace))
    installation.until_gone(SERVICE.ref("beacon-metrics", namespace))
    installation.until_gone(DEPLOYMENT.ref("beacon-controller", namespace))


def test_what_two_versions_own_goes_with_the_second(installation: Installation, namespace: str) -> None:
    """csv.md 18 row 152: a dependent stays while one of its owners is left."""
    csvs = [a_version(installation, name, namespace) for name in ("first.v1", "second.v1")]
    ref = CONFIG_MAP.ref("shared", namespace)
    references = [
        {
            "apiVersion": CLUSTER_SERVICE_VERSION.api_version,
            "kind": "ClusterServiceVersion",
            "name": name_of(csv),
            "uid": uid_of(csv),
        }
        for csv in csvs
    ]
    meta = {"name": "shared", "namespace": namespace, "ownerReferences": references}
    installation.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
    installation.cluster.delete(CLUSTER_SERVICE_VERSION.ref("first.v1", namespace), propagation="Foreground")
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref("first.v1", namespace))
    installation.until(ref, lambda each: owners(each) == {uid_of(csvs[1])}, "one owner")
    installation.cluster.delete(CLUSTER_SERVICE_VERSION.ref("second.v1", namespace), propagation="Foreground")
    installation.until_gone(ref)


def test_the_roles_of_an_api_go_with_its_definition(installation: Installation, namespace: str) -> None:
    """csv.md 18 row 151."""
    install(installation, namespace)
    installation.until_phase("beacon.v1.0.0", namespace)
    roles = [
        CLUSTER_ROLE.ref(f"beacons.samples.olmf.io-v1-{suffix}") for suffix in ("admin", "edit", "view", "crdview")
    ]
    for role in roles:
        installation.until(role, lambda _: True, "its making")
    installation.cluster.delete(SUBSCRIPTION.ref("beacon", namespace))
    installation.cluster.delete(CLUSTER_SERVICE_VERSION.ref("beacon.v1.0.0", namespace))
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref("beacon.v1.0.0", namespace))
    installation.cluster.delete(BEACON)
    for role in roles:
        installation.until_gone(role)


def owners(manifest: Manifest) -> set[str]:
    """The uids of the owners of an object."""
    return {each["uid"] for each in manifest["metadata"].get("ownerReferences") or ()}


def a_version(installation: Installation, name: str, namespace: str) -> Manifest:
    """A ClusterServiceVersion that installs nothing."""
    kind = CLUSTER_SERVICE_VERSION
    installation.apply({
        "apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name, "namespace": namespace},
        "spec": {"displayName": name, "install": {"strategy": "deployment", "spec": {"deployments": []}}},
    })  # fmt: skip
    found = installation.cluster.get(kind.ref(name, namespace))
    assert found
    return found
