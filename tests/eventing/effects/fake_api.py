"""An API server in memory, which keeps resourceVersions; implements `Api` and `Cluster`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Literal, Self

from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, resource_version_of, uid_of
from shared.domain.merge_patch import merged
from shared.kinds import Kind, Ref
from shared.ports import Listing
from tests.kit.cluster import FakeCluster


class FakeApi:
    """Objects by ref; every call is noted in `calls` as verb and name."""

    def __init__(self, objects: Iterable[Manifest] = (), *, uids: str = "uid") -> None:
        self.objects: dict[Ref, Manifest] = {}
        self.calls: list[str] = []
        self.refusals: dict[tuple[str, str], ApiError] = {}
        self.warned: dict[str, tuple[str, ...]] = {}
        """What is warned about when an object of that name is written."""
        self._version = 100
        self._uids = uids
        for manifest in objects:
            self._store(manifest)

    def refuse(self, verb: str, name: str, error: ApiError) -> None:
        """The next call of that verb on that name answers with the error."""
        self.refusals[verb, name] = error

    def get(self, ref: Ref) -> Manifest | None:
        self._called("get", ref)
        return self.objects.get(ref)

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        self.calls.append(f"list {kind.kind}")
        return FakeCluster(self.objects.values()).list(kind, namespace, labels=labels, most=most)

    def request(self, method: str, path: str, body: Manifest | None = None) -> Manifest:
        """Any other request; it is noted with what it sends, and answered with nothing."""
        self.calls.append(f"{method} {path} {body}")
        return {}

    def get_all(self, refs: Sequence[Ref]) -> tuple[Manifest | None, ...]:
        return tuple(map(self.get, refs))

    def list_all(self, listings: Sequence[Listing]) -> tuple[tuple[Manifest, ...], ...]:
        return tuple(self.list(one.kind, one.namespace, labels=one.labels) for one in listings)

    def acting_as(self, account: Ref) -> Self:
        self.calls.append(f"as {account.namespace}/{account.name}")
        return self

    def create(self, manifest: Manifest, *, field_manager: str = "") -> Manifest:
        ref = self._called("create", Ref.of(manifest))
        if ref in self.objects:
            raise ApiError(409, "AlreadyExists", f"{ref.name} already exists")
        return self._store(manifest)

    def try_out(self, manifest: Manifest, *, field_manager: str = "") -> None:
        ref = self._called("try_out", Ref.of(manifest))
        if read := resource_version_of(manifest):
            self._check(self._present(ref), read)

    def apply(self, manifest: Manifest, *, field_manager: str, force: bool = True) -> Manifest:
        ref = self._called("apply", Ref.of(manifest))
        return self._store(merged(self.objects.get(ref, {}), manifest))

    def replace(self, manifest: Manifest) -> Manifest:
        ref = self._called("replace", Ref.of(manifest))
        present = self._present(ref)
        self._check(present, resource_version_of(manifest))
        return self._store({**manifest, "metadata": {**manifest["metadata"], "uid": uid_of(present)}})

    def replace_status(self, manifest: Manifest) -> Manifest:
        ref = self._called("replace_status", Ref.of(manifest))
        present = self._present(ref)
        self._check(present, resource_version_of(manifest))
        return self._store({**present, "status": manifest["status"]})

    def merge(self, ref: Ref, patch: Manifest, *, subresource: str = "", field_manager: str = "") -> Manifest:
        self._called(" ".join(filter(None, ("merge", subresource, field_manager and f"by {field_manager}"))), ref)
        present = self._present(ref)
        self._check(present, (patch.get("metadata") or {}).get("resourceVersion", ""))
        return self._store(merged(present, patch))

    def delete(
        self, ref: Ref, *, uid: str = "", resource_version: str = "",
        propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
    ) -> None:  # fmt: skip
        self._called("delete", ref)
        present = self._present(ref)
        if uid and uid != uid_of(present):
            why = f"the UID in the precondition ({uid}) does not match the UID in record ({uid_of(present)})"
            raise ApiError(409, "Conflict", why)
        self._check(present, resource_version)
        del self.objects[ref]

    def warnings(self) -> tuple[str, ...]:
        return self.warned.get(self.calls[-1].rpartition(" ")[2], ())

    def find(self, api_version: str, kind: str) -> Kind | None:
        return FakeCluster().find(api_version, kind)

    def version(self) -> str:
        return "v1.35.4"

    def _called(self, verb: str, ref: Ref) -> Ref:
        self.calls.append(f"{verb} {ref.name}")
        if error := self.refusals.pop((verb, ref.name), None):
            raise error
        return ref

    def _present(self, ref: Ref) -> Manifest:
        if ref not in self.objects:
            raise ApiError(404, "NotFound", f"{ref.name} not found")
        return self.objects[ref]

    def _check(self, present: Manifest, desired: str) -> None:
        if desired and desired != resource_version_of(present):
            raise ApiError(409, "Conflict", f"resourceVersion is {resource_version_of(present)}, not {desired}")

    def _store(self, manifest: Manifest) -> Manifest:
        ref = Ref.of(manifest)
        present = self.objects.get(ref, {})
        meta = {
            **manifest["metadata"],
            "uid": uid_of(manifest) or uid_of(present) or f"{self._uids}-{self._version + 1}",
        }
        stored = deepcopy({**manifest, "metadata": {**meta, "resourceVersion": resource_version_of(present)}})
        if stored == present:
            return present
        self._version += 1
        stored["metadata"]["resourceVersion"] = str(self._version)
        self.objects[ref] = stored
        return stored
