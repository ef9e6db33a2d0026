"""Computes the hints of an event, so that routes need not read the object."""

from __future__ import annotations

from collections.abc import Iterator

from eventing.events import event
from eventing.events.event import Owner
from shared import kinds, names
from shared.api.manifest import ReadOnly, annotations_of, labels_of, metadata, namespace_of
from shared.api.views import CatalogSource, Csv, Job
from shared.domain.catalog_source import PULLING
from shared.domain.openshift import MAXIMUM
from shared.domain.subscription.operators import names_of

Hints = dict[str, str]
_CSV = kinds.CLUSTER_SERVICE_VERSION.kind


def hints(manifest: ReadOnly) -> Hints:
    """The hints of a whole object, or of its metadata alone (then without hints about its status)."""
    identity = (manifest.get("apiVersion"), manifest.get("kind"))
    found: Hints = {}
    if "spec" in manifest or "status" in manifest:
        found[event.PHASE] = str((manifest.get("status") or {}).get("phase") or "")
    found[event.OWNERS] = Owner.joined(_owners(manifest, namespace_of(manifest)))
    if operators := names_of(labels_of(manifest)):
        found[event.COMPONENTS] = ",".join(operators)
    if identity == _identity(kinds.CLUSTER_SERVICE_VERSION):
        found[event.COPIED] = _bool_text(Csv(manifest).is_copy)
        found[event.LIMITED] = _bool_text(MAXIMUM in str(annotations_of(manifest).get(names.PROPERTIES)))
    if identity == _identity(kinds.CATALOG_SOURCE) and event.PHASE in found:
        found[event.PHASE] = PULLING if CatalogSource(manifest).condition(PULLING).is_true else ""
    if identity == _identity(kinds.API_SERVICE):
        found[event.AUTOMATIC] = _bool_text(names.AUTOMANAGED in labels_of(manifest))
    if identity == _identity(kinds.JOB):
        found[event.UNPACK] = _bool_text(names.UNPACK_REF in labels_of(manifest))
        if event.PHASE in found:
            found[event.PHASE] = event.OVER if Job(manifest).is_over else ""
    if identity == _identity(kinds.CONFIG_MAP):
        found[event.UNPACK] = _bool_text(names.SOURCE_IMAGE in annotations_of(manifest))
    return found


def _owners(manifest: ReadOnly, namespace: str) -> Iterator[Owner]:
    """The owner that OLM's labels name, then the owner references; none for a text that is no name."""
    labels = labels_of(manifest)
    kind, place = labels.get(names.OWNER_KIND, _CSV), labels.get(names.OWNER_NAMESPACE, namespace)
    if owner := Owner.or_none(kind, labels.get(names.OWNER), "" if place == namespace else place):
        yield owner
    for reference in metadata(manifest).get("ownerReferences") or ():
        if owner := Owner.or_none(reference.get("kind"), reference.get("name")):
            yield owner


def _identity(kind: kinds.Kind) -> tuple[str, str]:
    return (kind.api_version, kind.kind)


def _bool_text(answer: bool) -> str:
    return "true" if answer else "false"
