"""A kind of the tests that the sample operator admits and converts, through its Service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.conformance.api.objects import DEFINITIONS
from tests.conformance.api.webhooks import CONFIGURATIONS
from tests.conformance.http import Answer
from tests.kit.served_pods import Sample
from tests.kit.waiting import wait_for

Json = Any


def a_version(name: str, field: str, *, storage: bool) -> Json:
    spec = {"type": "object", "properties": {field: {"type": "integer"}, "color": {"type": "string"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {"name": name, "served": True, "storage": storage, "schema": schema}


class Lamps:
    """A kind of the test's own that the sample operator knows, in a namespace."""

    def __init__(self, sample: Sample, word: str) -> None:
        self.sample, self.group = sample, f"{word}.example.com"
        conversion = {"conversionReviewVersions": ["v1"], "clientConfig": sample.client("/convert")}
        spec = {
            "group": self.group, "scope": "Namespaced", "names": {"plural": "lamps", "kind": "Lamp"},
            "versions": [a_version("v1", "lumens", storage=True), a_version("v1alpha1", "brightness", storage=False)],
            "conversion": {"strategy": "Webhook", "webhook": conversion},
        }  # fmt: skip
        made = sample.http.post(DEFINITIONS, {"metadata": {"name": f"lamps.{self.group}"}, "spec": spec})
        assert made.status == 201, made.body
        wait_for(lambda: sample.http.get(self.path("v1alpha1")).status == 200)

    def path(self, version: str = "v1", name: str = "") -> str:
        return f"/apis/{self.group}/{version}/namespaces/{self.sample.namespace}/lamps" + (f"/{name}" if name else "")

    def create(self, name: str, version: str = "v1", *, is_dry_run: bool = False, **spec: Json) -> Answer:
        body = {"apiVersion": f"{self.group}/{version}", "kind": "Lamp", "metadata": {"name": name}, "spec": spec}
        return self.sample.http.post(self.path(version) + ("?dryRun=All" if is_dry_run else ""), body)

    @contextmanager
    def configured(self, kind: str, path: str) -> Iterator[None]:
        """A webhook about lamps in this namespace, for as long as the block runs."""
        rule = {
            "apiGroups": [self.group], "apiVersions": ["v1"], "resources": ["lamps"],
            "operations": ["CREATE", "UPDATE"],
        }  # fmt: skip
        webhook = {
            "name": f"a.{self.group}", "clientConfig": self.sample.client(path), "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "rules": [rule],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.sample.namespace}},
        }  # fmt: skip
        http, configurations = self.sample.http, CONFIGURATIONS.format(kind)
        made = http.post(configurations, {"metadata": {"name": self.group}, "webhooks": [webhook]})
        assert made.status == 201, made.body
        try:
            yield
        finally:
            http.delete(f"{configurations}/{self.group}")
