"""Operators with webhooks, which we do not serve: what OLM left is not written over, and the version says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from eventing.local.objects import apply_definitions
from shared.adapters.kube import KubeClient
from shared.api.manifest import Manifest, labels_of, resource_version_of, uid_of
from shared.kinds import CLUSTER_SERVICE_VERSION, DEPLOYMENT, SECRET, SERVICE, Kind, Ref
from tests.conformance.lifecycle.conftest import TARGETS
from tests.conformance.targets import running_cluster
from tests.kit.installation import (
    Installation,
    a_namespace,
    a_subscription,
    an_operator_group,
    installed,
    olmf,
)

HOOKS = Kind(
    "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    is_namespaced=False,
)
PLACE = "hooks"
CSV = CLUSTER_SERVICE_VERSION.ref("guard.v1", PLACE)
GUARD = DEPLOYMENT.ref("guard", PLACE)
TOLD = "webhooks are not supported yet: guard.example.com"
WEBHOOK: dict[str, Any] = {
    "generateName": "guard.example.com", "type": "ValidatingAdmissionWebhook", "sideEffects": "None",
    "admissionReviewVersions": ["v1"], "deploymentName": "guard", "webhookPath": "/validate",
    "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["x"]}],
}  # fmt: skip
CERTIFICATES = [
    {"name": name, "secret": {"secretName": "guard-service-cert", "items": [
        {"key": "tls.crt", "path": f"{stem}.crt"}, {"key": "tls.key", "path": f"{stem}.key"},
    ]}}
    for name, stem in (("apiservice-cert", "apiserver"), ("webhook-cert", "tls"))
]  # fmt: skip
MOUNTS = [{"name": one["name"], "mountPath": f"/certificates/{one['name']}"} for one in CERTIFICATES]


def an_object(ref: Ref, **fields: Any) -> Manifest:
    place = {"namespace": ref.namespace} if ref.namespace else {}
    meta = {"name": ref.name, **place, **fields.pop("metadata", {})}
    return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": meta, **fields}


def a_deployment_spec(**pod: Any) -> Manifest:
    labels = {"app": "guard"}
    container = {"name": "c", "image": "guard", **pod.pop("container", {})}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **pod}}
    return {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}


def a_version() -> Manifest:
    """Of one Deployment, with a webhook."""
    group = {"olm.operatorGroup": f"{PLACE}-group", "olm.operatorNamespace": PLACE, "olm.targetNamespaces": PLACE}
    strategy = {"deployments": [{"name": "guard", "spec": a_deployment_spec()}]}
    spec = {
        "displayName": "guard", "version": "1.0.0", "webhookdefinitions": [WEBHOOK],
        "installModes": [{"type": "OwnNamespace", "supported": True}],
        "install": {"strategy": "deployment", "spec": strategy},
    }  # fmt: skip
    return an_object(CSV, metadata={"annotations": group}, spec=spec)


@dataclass(frozen=True)
class LeftByOlm:
    """A cluster where OLM installed an operator with a webhook, and was then scaled to zero."""

    kubeconfig: Path
    cluster: KubeClient
    objects: tuple[Ref, ...]
    """What OLM made for the version."""


@pytest.fixture(params=TARGETS)
def left(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LeftByOlm]:
    with running_cluster(request.param, tmp_path) as kubeconfig:
        cluster = KubeClient.from_kubeconfig(str(kubeconfig))
        apply_definitions(cluster)
        objects = left_by_olm(cluster)
        yield LeftByOlm(kubeconfig, cluster, objects)
        cluster.close()


def left_by_olm(cluster: KubeClient) -> tuple[Ref, ...]:
    """Write what OLM leaves; its objects of the version."""
    asleep = an_object(DEPLOYMENT.ref("olm-operator", "olm"), spec={**a_deployment_spec(), "replicas": 0})
    for manifest in (a_namespace("olm"), asleep, a_namespace(PLACE), an_operator_group(PLACE, targets=(PLACE,))):
        cluster.apply(manifest, field_manager="olm")
    csv = cluster.apply(a_version(), field_manager="olm")
    entry = {"phase": "Succeeded", "reason": "InstallSucceeded", "message": "install strategy completed with no errors"}
    cluster.merge(CSV, {"status": {**entry, "conditions": [entry]}}, subresource="status")
    owner = {"apiVersion": CSV.api_version, "kind": CSV.kind, "name": CSV.name, "uid": uid_of(csv)}
    labels = {
        "olm.owner": CSV.name, "olm.owner.namespace": PLACE, "olm.owner.kind": CSV.kind, "olm.managed": "true",
    }  # fmt: skip
    theirs: Manifest = {
        "labels": labels,
        "ownerReferences": [{**owner, "controller": False, "blockOwnerDeletion": False}],
    }
    hashed = {**theirs, "labels": {**labels, "olm.deployment-spec-hash": "made-by-olm"}}
    client = {"service": {"name": "guard-service", "namespace": PLACE, "path": "/validate"}, "caBundle": "Cg=="}
    secret, mounts = {"tls.crt": "certificate", "tls.key": "key"}, {"volumeMounts": MOUNTS}
    hook = {key: WEBHOOK[key] for key in ("sideEffects", "admissionReviewVersions", "rules")}
    made = (
        an_object(SECRET.ref("guard-service-cert", PLACE), metadata=theirs, stringData=secret),
        an_object(SERVICE.ref("guard-service", PLACE), metadata=theirs, spec={"ports": [{"port": 443}]}),
        an_object(
            HOOKS.ref("guard.example.com-x7k2p"), metadata={"labels": labels},
            webhooks=[{"name": "guard.example.com", "clientConfig": client, **hook}],
        ),
        an_object(GUARD, metadata=hashed, spec=a_deployment_spec(volumes=CERTIFICATES, container=mounts)),
    )  # fmt: skip
    return tuple(Ref.of(cluster.apply(manifest, field_manager="olm")) for manifest in made)


def lasting(cluster: KubeClient, ref: Ref) -> object:
    """What of an object nobody but its owner writes: its version, or of a Deployment all but its status."""
    found = cluster.get(ref)
    assert found, f"{ref} is gone"
    if ref.kind != DEPLOYMENT.kind:
        return resource_version_of(found)
    meta = found["metadata"]
    return uid_of(found), meta["generation"], labels_of(found), meta["ownerReferences"], found["spec"]


def says_what_is_not_supported(host: Installation, ref: Ref) -> None:
    """In its status, and to who asks why."""
    csv = host.until(ref, lambda each: each["status"]["message"] == TOLD, TOLD)
    assert (csv["status"]["phase"], csv["status"]["reason"]) == ("Pending", "RequirementsNotMet")
    host.until_it_rests()
    assert TOLD in host.olmf("why", f"ClusterServiceVersion/{ref.name}", "-n", ref.namespace, check=False).stdout


def test_what_olm_installed_with_webhooks_stays_as_it_is(left: LeftByOlm, tmp_path: Path) -> None:
    state, before = tmp_path / "olmf", {ref: lasting(left.cluster, ref) for ref in left.objects}
    words = ("--kubeconfig", str(left.kubeconfig))
    refused = olmf("up", "--detach", "--state", str(state), *words, check=False)
    assert (refused.returncode, "say --take-over" in refused.stderr) == (1, True)
    with installed(state, *words, "--take-over") as host:
        says_what_is_not_supported(host, CSV)
        assert {ref: lasting(left.cluster, ref) for ref in left.objects} == before
        volumes = (left.cluster.get(GUARD) or {})["spec"]["template"]["spec"]["volumes"]
        assert [volume["secret"]["secretName"] for volume in volumes] == ["guard-service-cert"] * 2


@pytest.mark.parametrize("installation", TARGETS, indirect=True)
def test_a_version_that_gains_webhooks_says_so(installation: Installation, namespace: str) -> None:
    """And what runs goes on."""
    wanted = a_subscription("tide", namespace, channel="stable")
    installation.apply(an_operator_group(namespace, targets=(namespace,)), wanted)
    installation.until_phase("tide.v1.0.0", namespace)
    csv, deployment = (
        CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", namespace),
        DEPLOYMENT.ref("tide-controller", namespace),
    )
    installation.until_it_rests()
    before = lasting(installation.cluster, deployment)
    hook = {**WEBHOOK, "deploymentName": "tide-controller"}
    installation.cluster.merge(csv, {"spec": {"webhookdefinitions": [hook]}})
    says_what_is_not_supported(installation, csv)
    assert lasting(installation.cluster, deployment) == before
