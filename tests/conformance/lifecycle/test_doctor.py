"""`olmf doctor` names what will hurt, with its fix, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shared.api.manifest import Manifest
from shared.kinds import API_SERVICE, DEPLOYMENT, VALIDATING_WEBHOOKS, Ref
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
