"""A namespace in memory: Outcomes are performed, and what they change wakes the steps that the routes name."""

from __future__ import annotations

import base64
import gzip
import importlib
import inspect
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from eventing.events.event import Event
from eventing.events.job import Job
from eventing.routes import jobs_for
from shared import kinds, names
from shared.api.manifest import Manifest, metadata, resource_version_of, uid_of
from shared.domain.catalog.model import Bundle, Channel, Entry, Package, Property
from shared.domain.image_source import ImageSource
from shared.domain.merge_patch import merged
from shared.domain.objects.csv import is_copied
from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.shelves import LoadedShelf
from shared.errors import RetryLater
from shared.kinds import Kind, Ref
from shared.ports import (
    Attempt,
    Bundles,
    Catalogs,
    Clock,
    Cluster,
    Discovery,
    Policy,
    Pulled,
    Unavailable,
    Warnings,
    WriteFailure,
)  # fmt: skip
from shared.step import Apply, Create, Delete, Merge, Outcome, Record, Replace, SetStatus, Write
from tests.kit.cluster import FakeCluster

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GROUPS = ("catalog_source", "subscription", "bundle", "install_plan")


@dataclass
class FakeCatalogs:
    """Catalogs by image; the digest of an image is counted up by `publish`."""

    content: dict[str, dict[str, Package]] = field(default_factory=dict)
    digests: dict[str, int] = field(default_factory=dict)
    trouble: Unavailable | None = None
    left_out: tuple[str, ...] = ()

    def publish(self, image: str, *packages: Package) -> None:
        self.digests[image] = self.digests.get(image, 0) + 1
        self.content[self.reference(image)] = {package.name: package for package in packages}

    def reference(self, image: str) -> str:
        return f"{image.rpartition(':')[0]}@sha256:{self.digests[image]:064x}"

    def pull(self, source: ImageSource) -> Pulled | Unavailable:
        if self.trouble or source.image not in self.digests:
            return self.trouble or Unavailable("NotFound", f"{source.image}: no such image")
        reference = self.reference(source.image)
        return Pulled(reference, len(self.content[reference]), self.left_out)

    def package(self, reference: str, name: str, source: ImageSource) -> Package | Unavailable | None:
        return self.trouble or self.content[reference].get(name)

    def packages(self, reference: str, source: ImageSource) -> tuple[str, ...] | Unavailable:
        return self.trouble or tuple(sorted(self.content[reference]))

    def providers(
        self, reference: str, api: tuple[str, str, str], source: ImageSource
    ) -> tuple[str, ...] | Unavailable:
        return self.trouble or tuple(LoadedShelf(self.content[reference]).providers(Gvk(*api)))


@dataclass
class FakeBundles:
    """Bundle images: their objects, by image."""

    images: dict[str, tuple[Manifest, ...]] = field(default_factory=dict)

    def config_map_payload(self, source: ImageSource) -> Manifest | Unavailable:
        if source.image not in self.images:
            return Unavailable("NotFound", f"{source.image}: no such image")
        return a_payload(source.image, *self.images[source.image])


class World(FakeCluster):
    """A cluster that performs writes and rings the catalog side's steps; time moves only by `later`."""

    def __init__(self, *objects: Manifest, policy: Policy | None = None, served: Iterable[Kind] = ()) -> None:
        super().__init__((), kinds=served)
        self.policy, self.time, self.counter, self.server = policy or Policy(), NOW, 0, "v1.35.4"
        self.catalogs, self.bundles = FakeCatalogs(), FakeBundles()
        self.jobs: dict[Job, None] = {}
        self.delayed: dict[Job, datetime] = {}
        self.events: list[Record] = []
        self.emitted: list[str] = []
        self.requests: Counter[str] = Counter()
        self.refused: dict[Ref, WriteFailure] = {}
        self.moved: dict[tuple[Ref, str], str] = {}
        for manifest in objects:
            self.put(manifest)

    # ports
    def now(self) -> datetime:
        return self.time

    def version(self) -> str:
        return self.server

    def get(self, ref: Ref) -> Manifest | None:
        self.requests["read"] += 1
        return deepcopy(super().get(ref))

    def list(self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None) -> tuple[Manifest, ...]:
        self.requests["read"] += 1
        return deepcopy(super().list(kind, namespace, labels=labels))

    # what people and other controllers do
    def put(self, manifest: Manifest) -> None:
        """Create or replace an object, as the API server stores it, and ring."""
        ref = Ref.of(manifest)
        old = self.objects.get(ref)
        self.counter += 1
        meta = {
            **metadata(manifest),
            "uid": uid_of(old or {}) or f"uid-{self.counter}",
            "resourceVersion": str(self.counter),
            "creationTimestamp": metadata(old or {}).get("creationTimestamp") or _stamp(self.time),
        }
        self.objects[ref] = {**deepcopy(manifest), "metadata": meta}
        if ref.kind == "CustomResourceDefinition" and "status" not in manifest:
            status = {"conditions": [{"type": kind, "status": "True"} for kind in ("Established", "NamesAccepted")]}
            self.objects[ref]["status"] = {**status, "storedVersions": ["v1"]}
        self.ring(names.ADDED if old is None else names.UPDATED, ref)

    def remove(self, ref: Ref) -> None:
        """Delete an object, and ring."""
        if ref in self.objects:
            self.ring(names.DELETED, ref)
            del self.objects[ref]

    def finish_jobs(self) -> None:
        """Let every unpack Job that has a bundle complete, and every other one fail."""
        for ref, job in list(self.objects.items()):
            if ref.kind != "Job" or job.get("status"):
                continue
            container = job["spec"]["template"]["spec"]["containers"][0]
            image = container["env"][0]["value"]
            if image in self.bundles.images:
                place = kinds.CONFIG_MAP.ref(metadata(job)["labels"][names.UNPACK_REF], ref.namespace)
                filled = a_payload(image, *self.bundles.images[image])
                meta = {**metadata(self.objects[place]), "annotations": filled["annotations"]}
                self.put({**self.objects[place], "metadata": meta, "binaryData": filled["binaryData"]})
                condition = {"type": "Complete", "status": "True"}
            else:
                condition = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "too slow"}
            condition["lastTransitionTime"] = _stamp(self.time)
            self.put({**job, "status": {"conditions": [condition], "completionTime": _stamp(self.time)}})

    def later(self, **delta: float) -> None:
        """Let time pass; what was due meanwhile runs."""
        self.time += timedelta(**delta)
        for job, due in list(self.delayed.items()):
            if due <= self.time:
                del self.delayed[job]
                self.jobs[job] = None
        self.settle()

    # the machinery
    def ring(self, kind: str, ref: Ref) -> None:
        owners = ",".join(
            f"{one['kind']}/{one['name']}" for one in metadata(self.objects.get(ref, {})).get("ownerReferences") or ()
        )
        copied = "true" if is_copied(self.objects.get(ref, {"metadata": {}})) else "false"
        for job in jobs_for(Event("id", kind, "test", ref, {"copied": copied, "unpack": "true", "owners": owners})):
            if job.group in GROUPS:
                self.jobs[job] = None

    def settle(self, limit: int = 300) -> None:
        """Run what was rung until nothing is left; delays of up to a second pass by themselves."""
        for _ in range(limit):
            if not self.jobs:
                due = [job for job, at in self.delayed.items() if at - self.time <= timedelta(seconds=1)]
                for job in due:
                    del self.delayed[job]
                    self.jobs[job] = None
            if not self.jobs:
                return
            job = next(iter(self.jobs))
            del self.jobs[job]
            self.run(job)
        raise AssertionError(f"never at rest; still rung: {[job.step for job in self.jobs]}")

    def run(self, job: Job, attempt: Attempt | None = None) -> Outcome:
        """Run a step and perform what it decides; a refused write runs it once more, as the runner does."""
        module, function = job.step.replace("/", "."), job.step.partition("/")[2]
        step = getattr(importlib.import_module(f"functions.{module}"), function)
        ports: dict[Any, object] = {
            Cluster: self, Discovery: self, Clock: self, Policy: self.policy, Catalogs: self.catalogs,
            Bundles: self.bundles, Attempt: attempt or Attempt(), Warnings: self,
        }  # fmt: skip
        signature = inspect.signature(step, eval_str=True)
        wanted = {one.name: ports[one.annotation] for one in list(signature.parameters.values())[1:]}
        try:
            outcome: Outcome = step(job.ref, **wanted)
        except RetryLater as later:
            outcome = Outcome(later.writes, again_in=later.after, wait=later.wait)
        failure = self.perform(outcome.writes)
        if failure and attempt is None:
            return self.run(job, Attempt(2, failure))
        for emit in outcome.emits:
            self.emitted.append(emit.type)
            self.ring(emit.type, emit.ref)
        if outcome.again_in is not None:
            self.delayed[job] = self.time + outcome.again_in
        return outcome

    def perform(self, writes: Iterable[Write]) -> WriteFailure | None:
        for index, write in enumerate(writes):
            match write:
                case Record():
                    self.events.append(write)
                    continue
                case Create(manifest) | Apply(manifest) | Replace(manifest):
                    ref = Ref.of(manifest)
                case SetStatus(ref=ref) | Merge(ref=ref) | Delete(ref=ref):
                    pass
            self.requests["write"] += 1
            if isinstance(write, Create) and write.must_be_new and ref in self.objects:
                return WriteFailure("conflict", "it exists already", index, ref)
            if ref in self.refused:
                return WriteFailure(self.refused[ref].kind, self.refused[ref].message, index, ref)
            self._write(write, ref)
        return None

    def _write(self, write: Write, ref: Ref) -> None:
        old = self.objects.get(ref)
        match write:
            case Create(manifest):
                if old is None:
                    self.put(self._owned(manifest))
            case Apply(manifest) | Replace(manifest):
                new = self._owned(manifest)
                status = {"status": old["status"]} if old and "status" in old else {}
                self._put_if_changed({**new, **status}, old)
            case SetStatus(_, status, version):
                assert old is not None, f"{ref} is not there"
                is_fresh = resource_version_of(old) in (version, self.moved.get((ref, version)))
                assert not version or is_fresh, f"{ref}: a lost update"
                self._put_if_changed({**old, "status": status}, old)
            case Merge(_, patch, version):
                assert old is not None, f"{ref} is not there"
                assert not version or version == resource_version_of(old), f"{ref}: a lost update"
                self._put_if_changed(merged(old, patch), old)
                self.moved[ref, version] = resource_version_of(self.objects[ref])
            case Delete():
                self.remove(ref)

    def _put_if_changed(self, new: Manifest, old: Manifest | None) -> None:
        given = {key: value for key, value in metadata(old or {}).items() if key in _SERVER_KEYS}
        if old is None or {**new, "metadata": {**metadata(new), **given}} != old:
            self.put(new)

    def _owned(self, manifest: Manifest) -> Manifest:
        owners = [self._with_uid(one, metadata(manifest)) for one in metadata(manifest).get("ownerReferences") or ()]
        more = {"ownerReferences": owners} if owners else {}
        return {**manifest, "metadata": {**metadata(manifest), **more}}

    def _with_uid(self, owner: Manifest, meta: Mapping[str, Any]) -> Manifest:
        ref = Ref(owner["apiVersion"], owner["kind"], owner["name"], meta.get("namespace", ""))
        return {**owner, "uid": owner.get("uid") or uid_of(self.objects[ref])}


_SERVER_KEYS = ("uid", "resourceVersion", "creationTimestamp")


def _stamp(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


def a_payload(image: str, *objects: Manifest) -> Manifest:
    """What an unpacked bundle looks like in its ConfigMap."""
    packed = {
        f"{index}.json": base64.b64encode(base64.b64encode(gzip.compress(json.dumps(one).encode(), mtime=0))).decode()
        for index, one in enumerate(objects)
    }
    return {"annotations": {"olm.sourceImage": image, "olm.contentEncoding": "gzip+base64"}, "binaryData": packed}


def a_catalog_source(name: str = "local", namespace: str = "olm", **spec: object) -> Manifest:
    wanted = {"sourceType": "grpc", "image": f"registry/{name}:v1", **spec}
    return _object(kinds.CATALOG_SOURCE, name, namespace, spec=wanted)


def a_subscription(name: str = "etcd", namespace: str = "ns", *, package: str = "", **spec: object) -> Manifest:
    wanted = {"name": package or name, "source": "local", "sourceNamespace": "olm", **spec}
    return _object(kinds.SUBSCRIPTION, name, namespace, spec=wanted)


def an_operator_group(namespace: str = "ns", name: str = "group", **spec: object) -> Manifest:
    return _object(kinds.OPERATOR_GROUP, name, namespace, spec=spec, status={"namespaces": [namespace]})


def a_package(name: str, *versions: str, channel: str = "stable", properties: Iterable[Property] = ()) -> Package:
    """A package with one channel in which each version replaces the one before."""
    named = [f"{name}.v{version}" for version in versions]
    entries = [Entry(one, replaces=before) for one, before in zip(named, ["", *named], strict=False)]
    bundles = {
        one: Bundle(one, version, f"registry/{name}:v{version}", (a_package_property(name, version), *properties))
        for one, version in zip(named, versions, strict=True)
    }
    return Package(name, channel, (Channel(channel, tuple(reversed(entries))),), bundles)


def a_package_property(name: str, version: str) -> Property:
    return Property("olm.package", {"packageName": name, "version": version})


def a_bundle(package: str, version: str, *others: Manifest) -> tuple[Manifest, ...]:
    """The objects of a bundle that owns one CRD and has a permission of each scope."""
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    permission = {"serviceAccountName": f"{package}-operator", "rules": [rule]}
    install = {"permissions": [permission], "clusterPermissions": [permission], "deployments": []}
    csv = _object(kinds.CLUSTER_SERVICE_VERSION, f"{package}.v{version}", "placeholder")
    csv["spec"] = {"version": version, "install": {"strategy": "deployment", "spec": install}, "replaces": "nonsense"}
    return (csv, a_crd(f"{package}s.example.com"), *others)


def a_crd(name: str, *versions: str) -> Manifest:
    listed = [{"name": one, "served": True, "storage": one == "v1"} for one in versions or ("v1",)]
    return _object(kinds.CUSTOM_RESOURCE_DEFINITION, name, spec={"versions": listed, "group": name.partition(".")[2]})


def _object(kind: Kind, name: str, namespace: str = "", **fields: Any) -> Manifest:
    place = {"namespace": namespace} if namespace and kind.is_namespaced else {}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name, **place}, **fields}
