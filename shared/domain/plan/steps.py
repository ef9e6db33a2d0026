"""The steps that install one unpacked bundle (catalog.md §4.6, resolver.md §10.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shared import kinds, names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.api.views import Csv, Object, PlanStep
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.csv.rbac import objects_for
from shared.domain.objects.ownership import component_labels
from shared.domain.subscription import components, operators
from shared.domain.unpack.references import Reference

_COMPONENTS = frozenset(one.kind for one in (*operators.WHOLE, *operators.BARE))
_CSV = kinds.CLUSTER_SERVICE_VERSION.kind


@dataclass(frozen=True, slots=True, order=True)
class Resource:
    """The identity of the object of a step."""

    group: str
    version: str
    kind: str
    name: str

    @classmethod
    def of(cls, manifest: ReadOnly) -> Resource:
        """The identity of an object as a step states it; a Secret from a bundle has the kind `BundleSecret`."""
        view = Object(manifest)
        group, _, version = view.api_version.rpartition("/")
        kind = "BundleSecret" if view.kind == "Secret" else view.kind
        return cls(group, version, kind, view.name or fields.text(manifest, "metadata", "generateName"))

    @classmethod
    def of_step(cls, step: PlanStep) -> Resource:
        """The identity that a step of a plan states."""
        return cls(step.group, step.version, step.kind, step.name)


def objects(bundle: UnpackedBundle, namespace: str, reference: Reference) -> tuple[Manifest, ...]:
    """All objects of the bundle for the namespace, in order: CSV, its other objects, generated RBAC."""
    csv = installed_csv(Csv(bundle.csv), namespace, reference)
    others = [manifest for manifest in bundle.objects if Object(manifest).kind != _CSV]
    labels = component_labels(Csv(csv))
    return (csv, *(_labelled(one, labels) for one in (*others, *objects_for(Csv(csv), namespace))))


def _labelled(manifest: Manifest, labels: Mapping[str, str]) -> Manifest:
    """An object with the component labels: a later patch of a definition costs the API server as much as it itself."""
    one = Object(manifest)
    if one.kind not in _COMPONENTS:
        return manifest
    return {**manifest, "metadata": {**one.metadata, "labels": {**one.labels, **labels}}}


def installed_csv(csv: Csv, namespace: str, reference: Reference) -> Manifest:
    """The CSV to create: in its namespace, with `replaces` and the properties from the catalog.

    It has the component label of its operator from the start: a later label would be one write for each of its copies.

    Its apiVersion is always OLM's: some published bundles state another (`binding.operators.coreos.com/v1alpha1`).
    """
    labels = {**csv.labels, **components.labels(reference.packages, namespace)}
    annotations = {**csv.annotations, names.PROPERTIES: reference.properties}
    spec = {key: value for key, value in csv.spec.items() if key != "replaces"}
    if reference.replaces:
        spec["replaces"] = reference.replaces
    meta = {**csv.metadata, "namespace": namespace, "labels": labels, "annotations": annotations}
    whole = {**csv.raw, "apiVersion": kinds.CLUSTER_SERVICE_VERSION.api_version, "metadata": meta, "spec": spec}
    found: Manifest = _without_nulls(whole)
    return found


def _without_nulls(value: Any) -> Any:  # why: any JSON value
    """The value without null fields, which occur in published bundles and which the API server refuses."""
    match value:
        case dict():
            return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
        case list():
            return [_without_nulls(inner) for inner in value]
    return value


def steps(bundle: UnpackedBundle, namespace: str, reference: Reference) -> Iterator[Manifest]:
    """The steps of a plan for one bundle: references instead of manifests keep the plan small."""
    for manifest in objects(bundle, namespace, reference):
        resource = Resource.of(manifest)
        yield {
            "resolving": name_of(bundle.csv),
            "status": "Unknown",
            "resource": {
                "sourceName": reference.catalog.name,
                "sourceNamespace": reference.catalog.namespace,
                "group": resource.group,
                "version": resource.version,
                "kind": resource.kind,
                "name": resource.name,
                "manifest": str(reference),
            },
        }
