"""OLM's owner labels and owner references: makes and reads them."""

from __future__ import annotations

from collections.abc import Iterable

from shared import names
from shared.api.manifest import Manifest, ReadOnly, labels_of, metadata, name_of, namespace_of, uid_of
from shared.kinds import CLUSTER_SERVICE_VERSION, Kind

CSV_KIND = CLUSTER_SERVICE_VERSION.kind


def owner_labels(owner: ReadOnly, kind: str = CSV_KIND) -> dict[str, str]:
    """The three labels that name an owner, also across scopes."""
    return labels_for(name_of(owner), namespace_of(owner), kind)


def labels_for(name: str, namespace: str, kind: str = CSV_KIND) -> dict[str, str]:
    """The owner labels of an owner known by name only."""
    return {names.OWNER: name, names.OWNER_NAMESPACE: namespace, names.OWNER_KIND: kind}


def owner_reference(owner: ReadOnly, *, controller: bool = False) -> Manifest:
    """The owner reference to an object as it was read; a ClusterServiceVersion, if it does not say its kind."""
    stated = {key: owner[key] for key in ("apiVersion", "kind") if owner.get(key)}
    return {**reference_to(CLUSTER_SERVICE_VERSION, name_of(owner), uid_of(owner)), **stated, "controller": controller}


def reference_to(kind: Kind, name: str, uid: str = "") -> Manifest:
    """An owner reference for garbage collection that never blocks the deletion of the owner.

    Without uid: effects fill it in when they write the object.
    """
    named = {"apiVersion": kind.api_version, "kind": kind.kind, "name": name, "uid": uid}
    return {**named, "controller": False, "blockOwnerDeletion": False}


def csv_owners(manifest: ReadOnly) -> tuple[Manifest, ...]:
    """The owner references to ClusterServiceVersions, whatever their version."""
    group = CLUSTER_SERVICE_VERSION.group
    return tuple(
        reference
        for reference in metadata(manifest).get("ownerReferences") or ()
        if reference.get("kind") == CSV_KIND and str(reference.get("apiVersion", "")).partition("/")[0] == group
    )


def is_labelled_for(manifest: ReadOnly, owner: ReadOnly) -> bool:
    """Whether the owner labels name this ClusterServiceVersion."""
    return owner_labels(owner).items() <= labels_of(manifest).items()


def is_owned_by(manifest: ReadOnly, owner: ReadOnly) -> bool:
    """Whether an owner reference carries the uid of the owner."""
    return _has_uid(csv_owners(manifest), uid_of(owner))


def belongs_to_another(manifest: ReadOnly, csv: ReadOnly) -> bool:
    """Whether ClusterServiceVersions own the object and this one (by uid) is not among them."""
    owners = csv_owners(manifest)
    return bool(owners) and not _has_uid(owners, uid_of(csv))


def _has_uid(references: Iterable[ReadOnly], uid: str) -> bool:
    return any(reference.get("uid") == uid for reference in references)
