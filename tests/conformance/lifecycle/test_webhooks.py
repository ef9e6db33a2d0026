"""Operators with webhooks and aggregated APIs: installed, called, taken over from OLM, and gone without a trace."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eventing.local.objects import apply_definitions
from shared.adapters.keys import x509
from shared.adapters.keys.stored import public_part
from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest, labels_of, uid_of
from shared.domain.endpoints.naming import hosts
from shared.kinds import (
    API_SERVICE,
    CLUSTER_ROLE_BINDING,
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    MUTATING_WEBHOOKS,
    ROLE_BINDING,
    SECRET,
    SERVICE,
    VALIDATING_WEBHOOKS,
    Ref,
)
from tests.conformance.lifecycle.conftest import TARGETS
from tests.conformance.lifecycle.lamps import almost_over
from tests.conformance.targets import running, running_cluster
from tests.kit.installation import (
    SAMPLES,
    Installation,
    a_namespace,
    a_subscription,
    an_operator_group,
    installed,
    olmf,
)
from tests.kit.waiting import wait_for

LAND = "lampland"
LAMPS = CUSTOM_RESOURCE_DEFINITION.ref("lamps.samples.olmf.io")
MEASURES = API_SERVICE.ref("v1.measures.samples.olmf.io")


@pytest.fixture(scope="module")
def lampland(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A sandbox with the sample operator that serves."""
    folder = SAMPLES.parent / "webhooks"
    with installed(tmp_path_factory.mktemp("lamps"), "--bundles", str(folder)) as host:
        host.apply(a_namespace(LAND), an_operator_group(LAND), a_subscription("lamps", LAND))
        host.until_phase("lamps.v1.1.0", LAND)
        yield host


def a_lamp(name: str, version: str = "v1", **spec: Any) -> Manifest:
    meta = {"name": name, "namespace": LAND}
    return {"apiVersion": f"samples.olmf.io/{version}", "kind": "Lamp", "metadata": meta, "spec": spec}


def lamp(host: Installation, name: str, version: str) -> Any:
    path = f"/apis/samples.olmf.io/{version}/namespaces/{LAND}/lamps/{name}"
    return host.cluster.request("GET", path)["spec"]


def test_objects_are_checked_completed_and_converted(lampland: Installation) -> None:
    assert lampland.cluster.create(a_lamp("a", lumens=3))["spec"] == {"lumens": 3, "color": "white"}
    with pytest.raises(ApiError, match=r"vlamps.samples.olmf.io.* denied the request: 3000 lumens blind"):
        lampland.cluster.create(a_lamp("b", lumens=3000))
    assert lamp(lampland, "a", "v1alpha1") == {"brightness": 3, "color": "white"}


def test_an_aggregated_api_is_served(lampland: Installation) -> None:
    found = lampland.cluster.request("GET", "/apis/measures.samples.olmf.io/v1/measures")["items"]
    assert "lux" in [one["metadata"]["name"] for one in found]


def test_what_leads_to_an_operator_goes_with_it(lampland: Installation) -> None:
    """The last test of its installation."""
    lampland.cluster.create(a_lamp("kept", lumens=3))
    lampland.until_it_rests()
    lampland.olmf("uninstall", "lamps", "-n", LAND)
    lampland.until_gone(CLUSTER_SERVICE_VERSION.ref("lamps.v1.1.0", LAND))
    lampland.until_gone(MEASURES)
    lampland.until_gone(SECRET.ref("lamps-controller-service-cert", LAND))
    lampland.until(LAMPS, lambda found: found["spec"]["conversion"] == {"strategy": "None"})
    assert [*lampland.cluster.list(VALIDATING_WEBHOOKS), *lampland.cluster.list(MUTATING_WEBHOOKS)] == []
    ours = ("lamps-controller-service-system:auth-delegator", "lamps-controller-service-auth-reader")
    left = [*lampland.cluster.list(CLUSTER_ROLE_BINDING), *lampland.cluster.list(ROLE_BINDING, "kube-system")]
    assert [one for one in left if one["metadata"]["name"] in ours] == []
    assert lamp(lampland, "kept", "v1") == {"lumens": 3, "color": "white"}


PLACE = "hooks"
CSV = CLUSTER_SERVICE_VERSION.ref("guard.v1", PLACE)
GUARD = DEPLOYMENT.ref("guard", PLACE)
CERTIFICATE = SECRET.ref("guard-service-cert", PLACE)
HOOK = VALIDATING_WEBHOOKS.ref("guard.example.com-x7k2p")
WEBHOOK: dict[str, Any] = {
    "generateName": "guard.example.com", "type": "ValidatingAdmissionWebhook", "sideEffects": "None",
    "admissionReviewVersions": ["v1"], "deploymentName": "guard", "webhookPath": "/validate", "containerPort": 443,
    "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["x"]}],
}  # fmt: skip
CERTIFICATES = [
    {"name": name, "secret": {"secretName": "guard-service-cert", "items": [
        {"key": "tls.crt", "path": f"{stem}.crt"}, {"key": "tls.key", "path": f"{stem}.key"},
    ]}}
    for name, stem in (("apiservice-cert", "apiserver"), ("webhook-cert", "tls"))
]  # fmt: skip
MOUNTS = [
    {"name": "apiservice-cert", "mountPath": "/apiserver.local.config/certificates"},
    {"name": "webhook-cert", "mountPath": "/tmp/k8s-webhook-server/serving-certs"},
]


def an_object(ref: Ref, **fields: Any) -> Manifest:
    place = {"namespace": ref.namespace} if ref.namespace else {}
    meta = {"name": ref.name, **place, **fields.pop("metadata", {})}
    return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": meta, **fields}


def a_deployment_spec(annotations: dict[str, str] | None = None, **pod: Any) -> Manifest:
    labels = {"app": "guard"}
    container = {"name": "c", "image": "guard", **pod.pop("container", {})}
    meta = {"labels": labels, **({"annotations": annotations} if annotations else {})}
    template = {"metadata": meta, "spec": {"containers": [container], **pod}}
    return {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}


GROUP = {"olm.operatorGroup": f"{PLACE}-group", "olm.operatorNamespace": PLACE, "olm.targetNamespaces": PLACE}


def a_version() -> Manifest:
    """Of one Deployment, with a webhook."""
    strategy = {"deployments": [{"name": "guard", "spec": a_deployment_spec()}]}
    spec = {
        "displayName": "guard", "version": "1.0.0", "webhookdefinitions": [WEBHOOK],
        "installModes": [{"type": "OwnNamespace", "supported": True}],
        "install": {"strategy": "deployment", "spec": strategy},
    }  # fmt: skip
    return an_object(
        CSV, metadata={"annotations": GROUP, "finalizers": ["operators.coreos.com/csv-cleanup"]}, spec=spec
    )


@dataclass(frozen=True)
class LeftByOlm:
    """A cluster where OLM installed an operator with a webhook, and was then scaled to zero."""

    kubeconfig: Path
    cluster: KubeClient


@pytest.fixture(params=TARGETS)
def left(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LeftByOlm]:
    with running_cluster(request.param, tmp_path) as kubeconfig:
        cluster = KubeClient.from_kubeconfig(str(kubeconfig))
        apply_definitions(cluster)
        leave(cluster)
        yield LeftByOlm(kubeconfig, cluster)
        cluster.close()


def leave(cluster: KubeClient) -> None:
    """Write what OLM leaves."""
    asleep = an_object(DEPLOYMENT.ref("olm-operator", "olm"), spec={**a_deployment_spec(), "replicas": 0})
    for manifest in (a_namespace("olm"), asleep, a_namespace(PLACE), an_operator_group(PLACE, targets=(PLACE,))):
        cluster.apply(manifest, field_manager="olm")
    csv = cluster.apply(a_version(), field_manager="olm")
    entry = {"phase": "Succeeded", "reason": "InstallSucceeded", "message": "install strategy completed with no errors"}
    cluster.merge(CSV, {"status": {**entry, "conditions": [entry]}}, subresource="status")
    for manifest in made_by_olm(csv):
        cluster.apply(manifest, field_manager="olm")


def made_by_olm(csv: Manifest) -> tuple[Manifest, ...]:
    """What OLM makes for a version with a webhook, but for rights, which come again."""
    owner = {"apiVersion": CSV.api_version, "kind": CSV.kind, "name": CSV.name, "uid": uid_of(csv)}
    labels = {
        "olm.owner": CSV.name, "olm.owner.namespace": PLACE, "olm.owner.kind": CSV.kind, "olm.managed": "true",
    }  # fmt: skip
    owned: Manifest = {"ownerReferences": [{**owner, "controller": False, "blockOwnerDeletion": False}]}
    pair, private = x509.issue(hosts("guard", PLACE), datetime.now(UTC).replace(microsecond=0))
    secret = {"tls.crt": pair.certificate, "tls.key": private.decode(), "olmCAKey": pair.authority}
    service = {"ports": [{"name": "443", "port": 443, "targetPort": 443}], "selector": {"app": "guard"}}
    client = {
        "service": {"name": "guard-service", "namespace": PLACE, "path": "/validate", "port": 443},
        "caBundle": base64.b64encode(pair.authority.encode()).decode(),
    }
    hook = {key: WEBHOOK[key] for key in ("sideEffects", "admissionReviewVersions", "rules")}
    hooks = {
        **labels, "olm.webhook-description-generate-name": "guard.example.com",
        "olm.webhook-description-hash": "made-by-olm",
    }  # fmt: skip
    pod: dict[str, Any] = {"volumes": CERTIFICATES, "container": {"volumeMounts": MOUNTS, "env": [
        {"name": "OPERATOR_CONDITION_NAME", "value": CSV.name},
    ]}, "serviceAccountName": "default"}  # fmt: skip
    spec = a_deployment_spec({**GROUP, "olmcahash": pair.digest}, **pod)
    hashed = {**owned, "labels": {**labels, "olm.deployment-spec-hash": "made-by-olm"}}
    managed = {**owned, "labels": {"olm.managed": "true"}}
    return (
        an_object(
            CERTIFICATE, metadata={**managed, "annotations": {"olmcahash": pair.digest}}, stringData=secret,
            type="kubernetes.io/tls",
        ),
        an_object(SERVICE.ref("guard-service", PLACE), metadata=managed, spec=service),
        an_object(HOOK, metadata={"labels": hooks}, webhooks=[
            {"name": "guard.example.com", "clientConfig": client, **hook},
        ]),
        an_object(GUARD, metadata=hashed, spec={**spec, "revisionHistoryLimit": 1}),
    )  # fmt: skip


def test_what_olm_installed_with_webhooks_is_adopted_without_a_restart(left: LeftByOlm, tmp_path: Path) -> None:
    """Its CA, Secret and configuration stay; rules and namespaces are narrowed to those of its group."""
    state = tmp_path / "olmf"
    secret, deployment = left.cluster.get(CERTIFICATE), left.cluster.get(GUARD)
    assert secret
    assert deployment
    words = ("--kubeconfig", str(left.kubeconfig))
    refused = olmf("up", "--detach", "--state", str(state), *words, check=False)
    assert (refused.returncode, "give --take-over" in refused.stderr) == (1, True)
    with installed(state, *words, "--take-over") as host:
        host.until(GUARD, lambda found: labels_of(found)["olm.deployment-spec-hash"] != "made-by-olm")
        host.until(CSV, lambda found: found["status"].get("certsRotateAt"))
        host.until_phase(CSV.name, PLACE)
        host.until_it_rests()
        assert (left.cluster.get(CERTIFICATE) or {})["data"] == secret["data"]
        assert (left.cluster.get(GUARD) or {})["spec"]["template"] == deployment["spec"]["template"]
        (hook,) = left.cluster.list(VALIDATING_WEBHOOKS)
        assert hook["metadata"]["name"] == HOOK.name
        assert hook["webhooks"][0]["rules"][0]["scope"] == "Namespaced"
        (selected,) = hook["webhooks"][0]["namespaceSelector"]["matchLabels"]
        assert selected.startswith("olm.operatorgroup.uid/")


def answers(host: Installation) -> bool:
    """Whether the webhooks are called, and answer."""
    if len([*host.cluster.list(VALIDATING_WEBHOOKS), *host.cluster.list(MUTATING_WEBHOOKS)]) < 2:
        return False
    try:
        host.apply(a_lamp("first", lumens=1))
    except ApiError:
        return False
    return True


@pytest.mark.parametrize("target", TARGETS)
def test_no_call_fails_while_certificates_are_rotated(target: str, tmp_path: Path) -> None:
    """A certificate that ends soon is there before the installation, which rotates it in its last phase."""
    with running(target, tmp_path, "--bundles", str(SAMPLES.parent / "webhooks")) as host:
        host.apply(a_namespace(LAND))
        old = almost_over(host, LAND)
        host.apply(an_operator_group(LAND), a_subscription("lamps", LAND))
        csv = CLUSTER_SERVICE_VERSION.ref("lamps.v1.1.0", LAND)
        wait_for(lambda: answers(host), "the webhooks to answer")
        failed, calls = list[str](), 0
        while ((host.cluster.get(csv) or {}).get("status") or {}).get("phase") != "Succeeded":
            calls += 1
            try:
                host.cluster.create(a_lamp(f"lamp-{calls}", lumens=1))
            except ApiError as error:
                failed.append(str(error))
        now = public_part(host.cluster.get(SECRET.ref("lamps-controller-service-cert", LAND)) or {}).content
        assert (now.is_rotating, now.pair.authority == old) == (False, False)
        assert calls > 10
        assert failed == []
