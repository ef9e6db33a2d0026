"""A namespace in memory: Outcomes are performed, and what they change wakes the steps that the routes name."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Self

from shared import kinds, names
from shared.api.manifest import Manifest, metadata, timestamp
from shared.domain.bundle.payload import whole
from shared.domain.catalog.model import Bundle, Channel, Entry, Package, Property
from shared.domain.image_source import ImageSource
from shared.domain.resolver.catalog_readers import LoadedCatalog
from shared.domain.resolver.facts import Gvk
from shared.kinds import Kind
from shared.ports import (
    Bundles,
    Catalogs,
    Policy,
    Pulled,
    Unavailable,
)  # fmt: skip
from tests.kit.world import World as KitWorld

GROUPS = ("catalog_source", "fanout", "subscription", "bundle", "install_plan")


@dataclass
class FakeCatalogs:
    """Catalogs by image; the digest of an image is counted up by `publish`."""

    content: dict[str, dict[str, Package]] = field(default_factory=dict)
    digests: dict[str, int] = field(default_factory=dict)
    trouble: Unavailable | None = None
    left_out: tuple[str, ...] = ()
    written: dict[str, tuple[Manifest, ...]] = field(default_factory=dict)
    """The documents of packages that make none, by name."""
    _loaded: dict[str, LoadedCatalog] = field(default_factory=dict, repr=False, compare=False)
    """Content that was asked who provides something: as on disk, that is looked up once for a digest."""

    def publish(self, image: str, *packages: Package) -> None:
        self.digests[image] = self.digests.get(image, 0) + 1
        self.content[self.reference(image)] = {
            package.name: replace(package, digest=sha256(repr(package).encode()).hexdigest()) for package in packages
        }

    def reference(self, image: str) -> str:
        return f"{image.rpartition(':')[0]}@sha256:{self.digests[image]:064x}"

    def pull(self, source: ImageSource) -> Pulled | Unavailable:
        if self.trouble or source.image not in self.digests:
            return self.trouble or Unavailable("NotFound", f"{source.image}: no such image")
        reference = self.reference(source.image)
        return Pulled(reference, len(self.content[reference]), self.left_out)

    def package(self, reference: str, name: str, source: ImageSource) -> Package | Unavailable | None:
        if name in self.written:
            return Unavailable("Malformed", f"package {name} of {reference}: it has no default channel")
        return self.trouble or self.content[reference].get(name)

    def package_digests(
        self, reference: str, packages: Sequence[str], source: ImageSource
    ) -> tuple[str, ...] | Unavailable:
        content = self.content[reference]
        return self.trouble or tuple(content[name].digest if name in content else "" for name in packages)

    def documents(self, reference: str, name: str, source: ImageSource) -> tuple[Manifest, ...] | Unavailable:
        return self.trouble or self.written[name]

    def packages(self, reference: str, source: ImageSource) -> tuple[str, ...] | Unavailable:
        return self.trouble or tuple(sorted(self.content[reference]))

    def providers(
        self, reference: str, api: tuple[str, str, str], source: ImageSource
    ) -> tuple[str, ...] | Unavailable:
        if reference not in self._loaded:
            self._loaded[reference] = LoadedCatalog(self.content[reference])
        return self.trouble or tuple(self._loaded[reference].providers(Gvk(*api)))


@dataclass
class FakeBundles:
    """Bundle images: their objects, by image."""

    images: dict[str, tuple[Manifest, ...]] = field(default_factory=dict)

    def files(self, source: ImageSource) -> Manifest | Unavailable:
        if source.image not in self.images:
            return Unavailable("NotFound", f"{source.image}: no such image")
        package = source.image.rpartition("/")[2].partition(":")[0]
        reported = {"annotations": {"operators.operatorframework.io.bundle.package.v1": package}}
        files = {f"manifests/{i}.json": json.dumps(one).encode() for i, one in enumerate(self.images[source.image])}
        found = whole({**files, "metadata/annotations.yaml": json.dumps(reported).encode()}, source.image)
        assert isinstance(found, dict)
        return found

    def config_map_payload(self, source: ImageSource) -> Manifest | Unavailable:
        if source.image not in self.images:
            return Unavailable("NotFound", f"{source.image}: no such image")
        return a_payload(source.image, *self.images[source.image])


class World(KitWorld):
    """A cluster that enqueues the catalog side's steps, with catalogs and bundles in memory."""

    groups: tuple[str, ...] = GROUPS

    def __init__(self, *objects: Manifest, policy: Policy | None = None, served: Iterable[Kind] = ()) -> None:
        self.catalogs, self.bundles = FakeCatalogs(), FakeBundles()
        super().__init__(policy=policy, ports={Catalogs: self.catalogs, Bundles: self.bundles})
        for kind in served:
            if not self.objects.is_served(kind):
                self.put(a_definition_of(kind))
        for manifest in objects:
            self.put(manifest)

    def copy(self) -> Self:
        other = super().copy()
        other.catalogs, other.bundles = other.ports[Catalogs], other.ports[Bundles]
        return other

    def finish_jobs(self) -> None:
        """Let every unpack Job that has a bundle complete, and every other one fail."""
        for ref, job in list(self.objects.items()):
            if ref.kind != "Job" or job.get("status", {}).get("conditions"):
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
            condition["lastTransitionTime"] = timestamp(self.time)
            self.put({**job, "status": {"conditions": [condition], "completionTime": timestamp(self.time)}})


def a_definition_of(kind: Kind) -> Manifest:
    """A definition that serves a kind."""
    group, _, version = kind.api_version.rpartition("/")
    return a_crd(
        f"{kind.plural}.{group}", version, kind=kind.kind, scope="Namespaced" if kind.is_namespaced else "Cluster"
    )


def a_payload(image: str, *objects: Manifest) -> Manifest:
    """What an unpacked bundle looks like in its ConfigMap."""
    packed = {
        f"{index}.json": base64.b64encode(base64.b64encode(gzip.compress(json.dumps(one).encode(), mtime=0))).decode()
        for index, one in enumerate(objects)
    }
    return {"annotations": {"olm.sourceImage": image, "olm.contentEncoding": "gzip+base64"}, "binaryData": packed}


def a_catalog_source(name: str = "local", namespace: str = "olm", **spec: object) -> Manifest:
    desired = {"sourceType": "grpc", "image": f"registry/{name}:v1", **spec}
    return _object(kinds.CATALOG_SOURCE, name, namespace, spec=desired)


def a_subscription(name: str = "etcd", namespace: str = "ns", *, package: str = "", **spec: object) -> Manifest:
    desired = {"name": package or name, "source": "local", "sourceNamespace": "olm", **spec}
    return _object(kinds.SUBSCRIPTION, name, namespace, spec=desired)


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
    csv["spec"] = {
        "displayName": package,
        "version": version,
        "install": {"strategy": "deployment", "spec": install},
        "replaces": "nonsense",
    }
    return (csv, a_crd(f"{package}s.example.com"), *others)


def a_crd(name: str, *versions: str, kind: str = "", scope: str = "Namespaced") -> Manifest:
    plural, _, group = name.partition(".")
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    listed = versions or ("v1",)
    storage = "v1" if "v1" in listed else listed[0]
    served = [{"name": one, "served": True, "storage": one == storage, "schema": schema} for one in listed]
    kind = kind or plural.capitalize()
    called = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    return _object(
        kinds.CUSTOM_RESOURCE_DEFINITION, name,
        spec={"versions": served, "group": group, "names": called, "scope": scope},
    )  # fmt: skip


def _object(kind: Kind, name: str, namespace: str = "", **fields: Any) -> Manifest:
    place = {"namespace": namespace} if namespace and kind.is_namespaced else {}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name, **place}, **fields}
