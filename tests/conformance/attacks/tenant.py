"""Who attacks, and where: what a tenant of one namespace may write, and how it waits for what comes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from shared.kinds import KINDS
from tests.conformance.attacks.fields import KINDS_OF_TENANTS
from tests.conformance.attacks.registry import Hostile
from tests.conformance.attacks.shapes import MODES, OLM, WORKLOAD
from tests.conformance.http import Answer, Api
from tests.kit.waiting import wait_for

Json = Any
PLURALS = {each.kind: each.plural for each in KINDS_OF_TENANTS}
CREATED = 201
NOBODY = "11111111-1111-1111-1111-111111111111"
"""The uid of no object."""


def path(manifest: Json, namespace: str = "") -> str:
    """Where objects of a kind are written; in the namespace that the object names, unless another one is given."""
    version, namespace = manifest["apiVersion"], namespace or manifest["metadata"]["namespace"]
    group = "/api/v1" if version == "v1" else f"/apis/{version}"
    return f"{group}/namespaces/{namespace}/{PLURALS[manifest['kind']]}"


@dataclass(frozen=True, slots=True)
class Tenant:
    """Somebody with rights in one namespace."""

    api: Api
    """As the tenant: edit, and every verb on our kinds, in its namespace."""
    landlord: Api
    """As an admin of that namespace."""
    namespace: str
    registry: Hostile
    theirs: tuple[str, ...]
    """Names and uids of others."""
    digest: str = ""
    """Of a catalog that others pulled; empty: not known."""
    catalog: str = ""
    """The image of a catalog that everybody may pull."""
    answers: Counter[int] = field(default_factory=Counter)
    """The statuses of what was written."""

    def write(self, version: str, kind: str, name: str, *, by: Api | None = None, **fields: Json) -> Answer:
        """Create an object in the namespace."""
        meta = {"name": name, "namespace": self.namespace, **fields.pop("metadata", {})}
        body = {"apiVersion": version, "kind": kind, "metadata": meta, **fields}
        answer = (by or self.api).post(path(body), body)
        self.answers[answer.status] += 1
        return answer

    def made(self, version: str, kind: str, name: str, *, by: Api | None = None, **fields: Json) -> Json:
        """Create an object without which the attack would be none; returns it."""
        answer = self.write(version, kind, name, by=by, **fields)
        assert answer.status == CREATED, answer.body
        return answer.body

    def csv(self, name: str, *, metadata: Json = None, **spec: Json) -> Json:
        """Create a ClusterServiceVersion that installs."""
        install = {
            "strategy": "deployment",
            "spec": {"deployments": [{"name": name.replace(".", "-"), "spec": WORKLOAD}], **spec.pop("strategy", {})},
        }
        whole = {"displayName": "x", "version": "1.0.0", "installModes": MODES, "install": install, **spec}
        return self.made(f"{OLM}/v1alpha1", "ClusterServiceVersion", name, metadata=metadata or {}, spec=whole)

    def working_csv(self, name: str, **spec: Json) -> None:
        """The same, and wait until it has succeeded."""
        self.csv(name, **spec)
        self.until("ClusterServiceVersion", name, lambda csv: csv["status"]["phase"] == "Succeeded")

    def edit(self, kind: str, name: str, patch: Json) -> None:
        """Change an object."""
        assert self.api.patch(self.place(kind, name), patch).status == 200, f"{kind} {name}"

    def place(self, kind: str, name: str) -> str:
        """The path of an object of the namespace."""
        [version] = {each.api_version for each in KINDS if each.kind == kind}
        return f"{path({'apiVersion': version, 'kind': kind}, self.namespace)}/{name}"

    def until(self, kind: str, name: str, holds: Callable[[Json], object]) -> Json:
        """The object, as the tenant reads it, as soon as `holds`."""

        def seen() -> Json:
            answer = self.api.get(self.place(kind, name))
            try:
                return answer.body if answer.status == 200 and holds(answer.body) else None
            except KeyError:  # what it asks about, a status for instance, is not there yet
                return None

        return wait_for(seen, f"what {kind} {name} of {self.namespace} is to come to")
