"""`olmf doctor` names what will hurt, with its fix, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shared.api.manifest import Manifest
from shared.kinds import API_SERVICE, CATALOG_SOURCE, CLUSTER_ROLE_BINDING, DEPLOYMENT, VALIDATING_WEBHOOKS, Ref
from tests.kit.installation import Installation

GROUP = "doctor.samples.olmf.io"
Json = Any


def examine(installation: Installation, namespace: str) -> tuple[int, dict[str, Json]]:
    """The exit code, and the findings about the objects of this test by kind."""
    done = installation.olmf("doctor", "-o", "json", check=False)
    answer = json.loads(done.stdout)
    assert answer["unknown"] == []
    found = {one["ref"].split("/")[-3]: one for one in answer["findings"] if GROUP in str(one) or namespace in str(one)}
    return done.returncode, found


@contextmanager
def applied(installation: Installation, *manifests: Manifest) -> Iterator[None]:
    """Objects that go again."""
    installation.apply(*manifests)
    try:
        yield
    finally:
        for one in manifests:
            installation.cluster.delete(Ref.of(one))


def broken(namespace: str) -> tuple[Manifest, ...]:
    """An aggregated API and a webhook that nobody serves, about an API group of this test alone; and another OLM."""
    service = {"name": "absent", "namespace": namespace}
    client = {"service": service}
    rules = [{"apiGroups": [GROUP], "apiVersions": ["*"], "resources": ["*"], "operations": ["CREATE"]}]
    hook = {"name": f"a.{GROUP}", "clientConfig": client, "rules": rules, "failurePolicy": "Fail",
            "sideEffects": "None", "admissionReviewVersions": ["v1"]}  # fmt: skip
    labels = {"app": "olm-operator"}
    containers = [{"name": "a", "image": "example.com/olm:v1"}]
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
    return (
        {
            "apiVersion": API_SERVICE.api_version, "kind": API_SERVICE.kind, "metadata": {"name": f"v1.{GROUP}"},
            "spec": {"group": GROUP, "version": "v1", "service": service, "groupPriorityMinimum": 100,
                     "versionPriority": 100, "insecureSkipTLSVerify": True},
        },
        {
            "apiVersion": VALIDATING_WEBHOOKS.api_version, "kind": VALIDATING_WEBHOOKS.kind,
            "metadata": {"name": GROUP}, "webhooks": [hook],
        },
        {
            "apiVersion": DEPLOYMENT.api_version, "kind": DEPLOYMENT.kind,
            "metadata": {"name": "olm-operator", "namespace": namespace},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        },
        {
            "apiVersion": CLUSTER_ROLE_BINDING.api_version, "kind": CLUSTER_ROLE_BINDING.kind,
            "metadata": {"name": f"olm-operator-binding-{namespace}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "system:controller:operator-lifecycle-manager"},
            "subjects": [{"kind": "ServiceAccount", "name": "olm-operator-serviceaccount", "namespace": namespace}],
        },
    )  # fmt: skip


def test_the_doctor(installation: Installation, namespace: str) -> None:
    assert examine(installation, namespace)[1] == {}
    with applied(installation, *broken(namespace)):
        api = Ref.of(broken(namespace)[0])
        installation.until(api, lambda one: bool(one.get("status", {}).get("conditions")), "a condition")
        code, found = examine(installation, namespace)
        assert code == 1
        assert sorted(found) == ["APIService", "Deployment", "ValidatingWebhookConfiguration"]
        assert "is not available" in found["APIService"]["state"]
        assert found["Deployment"]["state"] == "classic OLM runs"
        assert found["ValidatingWebhookConfiguration"]["state"].startswith(f"calls Service {namespace}/absent")
        assert found["Deployment"]["fix"]["do"].startswith("kubectl")
        lines = installation.olmf("doctor", check=False).stdout
        assert f"APIService v1.{GROUP} is not available" in lines
    assert examine(installation, namespace)[1] == {}


def test_what_olm_left_is_listed_and_removed_only_as_it_was_listed(installation: Installation, namespace: str) -> None:
    """Issue 15 §1.6: found by owner and name, removed on request; not while OLM would make it again."""
    place = {"namespace": namespace}
    source = {"apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind}
    spec = {"sourceType": "grpc", "address": "127.0.0.1:9"}
    made = installation.cluster.create({**source, "metadata": {"name": "old", **place}, "spec": spec})
    owned = {**place, "ownerReferences": [{**source, "name": "old", "uid": made["metadata"]["uid"]}]}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "old", **owned}}
    other = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "mine", **owned}}
    installation.apply(account, other, *broken(namespace)[2:])
    assert removed(installation, namespace, "--apply")[0] == 1, "OLM runs"
    operator = Ref.of(broken(namespace)[2])
    installation.cluster.merge(operator, {"spec": {"replicas": 0}})
    want = {f"ServiceAccount {namespace}/old", f"Deployment {namespace}/olm-operator"}
    want.add(f"ClusterRoleBinding olm-operator-binding-{namespace}")
    assert removed(installation, namespace) == (0, dict.fromkeys(want, "removed by --apply"))
    assert removed(installation, namespace, "--apply") == (0, dict.fromkeys(want, "removed"))
    assert installation.cluster.get(Ref.of(account)) is None
    assert installation.cluster.get(Ref.of(other)) is not None
    assert removed(installation, namespace) == (0, {})


def removed(installation: Installation, namespace: str, *words: str) -> tuple[int, dict[str, str]]:
    """The exit code, and what becomes of each object of the namespace."""
    done = installation.olmf("leftovers", "-o", "json", *words, check=False)
    rows = json.loads(done.stdout or "[]")
    found = {f"{one['kind']} {one['object']}": one["becomes"] for one in rows if namespace in one["object"]}
    return done.returncode, found
