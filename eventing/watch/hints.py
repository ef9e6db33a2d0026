"""Computes the hints of an event, so that routes need not read the object."""

from __future__ import annotations

from eventing import events
from shared import kinds, names
from shared.api.manifest import ReadOnly, labels_of, metadata
from shared.domain.lifecycle.phases import is_copied
from shared.kinds import Ref

Hints = dict[str, str]


def hints(manifest: ReadOnly) -> Hints:
    """The hints of a whole object, or of its metadata alone (then without hints about its status)."""
    ref = Ref.of(manifest)
    found: Hints = {}
    if "spec" in manifest or "status" in manifest:
        found[events.PHASE] = str((manifest.get("status") or {}).get("phase") or "")
    found[events.OWNERS] = ",".join(_owners(manifest, ref.namespace))
    if (ref.api_version, ref.kind) == _identity(kinds.CLUSTER_SERVICE_VERSION):
        found[events.COPIED] = _said(is_copied(manifest))
    if (ref.api_version, ref.kind) == _identity(kinds.JOB):
        found[events.UNPACK] = _said(names.UNPACK_REF in labels_of(manifest))
    return found


def _owners(manifest: ReadOnly, namespace: str) -> tuple[str, ...]:
    """The owner references, then the owner that OLM's labels name."""
    found = [f"{owner['kind']}/{owner['name']}" for owner in metadata(manifest).get("ownerReferences") or ()]
    labels = labels_of(manifest)
    name, kind = labels.get(names.OWNER), labels.get(names.OWNER_KIND, kinds.CLUSTER_SERVICE_VERSION.kind)
    if name:
        place = labels.get(names.OWNER_NAMESPACE, namespace)
        found.append(f"{kind}/{name}" if place == namespace else f"{kind}/{place}/{name}")
    return tuple(dict.fromkeys(found))


def _identity(kind: kinds.Kind) -> tuple[str, str]:
    return (kind.api_version, kind.kind)


def _said(answer: bool) -> str:
    return "true" if answer else "false"
