"""Webhook configurations of the tests, and how they wait until the API server heeds them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.conformance.api.objects import a_config_map, core
from tests.conformance.http import Api
from tests.kit.waiting import wait_for
from tests.kit.webhook_server import WebhookServer

Json = Any
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations"
PROBED = {"probe": "yes"}


def a_rule(*operations: str, group: str = "", version: str = "v1", resource: str = "configmaps") -> Json:
    """A rule about one resource."""
    return {
        "apiGroups": [group], "apiVersions": [version], "resources": [resource],
        "operations": list(operations or ("CREATE",)),
    }  # fmt: skip


def a_webhook(name: str, client: Json, namespace: str, **more: Json) -> Json:
    """A webhook about new ConfigMaps of a namespace that have no label `probe`."""
    return {
        "name": f"{name}.example.com", "clientConfig": client, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "rules": [a_rule()],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "objectSelector": {"matchExpressions": [{"key": "probe", "operator": "DoesNotExist"}]}, **more,
    }  # fmt: skip


@dataclass(frozen=True)
class Webhooks:
    """Makes configurations in a namespace of a test."""

    http: Api
    server: WebhookServer
    namespace: str

    def webhook(self, name: str, **more: Json) -> Json:
        """A webhook whose path is its name."""
        return a_webhook(name, self.server.client(f"/{name}"), self.namespace, **more)

    @contextmanager
    def active(self, kind: str, *webhooks: Json) -> Iterator[None]:
        """A configuration (`validating` or `mutating`) with these webhooks, which the API server heeds already."""
        probe = f"/probe-{kind}"
        with self.stored(kind, *webhooks, self._probe(probe)):
            body, path = a_config_map("probe", labels=PROBED), f"{core(self.namespace, 'configmaps')}?dryRun=All"
            before = len(self.server.requests(probe))
            wait_for(lambda: self.http.post(path, body) and len(self.server.requests(probe)) > before)
            yield

    @contextmanager
    def stored(self, kind: str, *webhooks: Json) -> Iterator[Json]:
        """A configuration; yields what was stored."""
        path, name = CONFIGURATIONS.format(kind), f"{self.namespace}-{kind}"
        answer = self.http.post(path, {"metadata": {"name": name}, "webhooks": list(webhooks)})
        assert answer.status == 201, answer.body
        try:
            yield answer.body
        finally:
            self.http.delete(f"{path}/{name}")

    def _probe(self, path: str) -> Json:
        return a_webhook("probe", self.server.client(path), self.namespace, objectSelector={"matchLabels": PROBED})

    def asked(self, path: str) -> list[Json]:
        """What a webhook was asked about the tests' own requests: controllers write in each namespace, too."""
        found = self.server.requests(path)
        return [one for one in found if one["userInfo"]["username"] == "admin"]

    def create(self, name: str = "a", **meta: Json) -> Any:
        """Create a ConfigMap."""
        return self.http.post(core(self.namespace, "configmaps"), a_config_map(name, **meta))
