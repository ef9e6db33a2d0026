"""OLM's owner labels and owner references: makes and reads them."""

from __future__ import annotations

from collections.abc import Iterable

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import Csv, Object, OwnerReference
from shared.kinds import CLUSTER_OBJECT_SET, CLUSTER_SERVICE_VERSION, Kind, Ref

CSV_KIND = CLUSTER_SERVICE_VERSION.kind


def owner_labels(owner: Object, kind: str = CSV_KIND) -> dict[str, str]:
    """The three labels that name an owner, also across scopes."""
    return labels_for(owner.name, owner.namespace, kind)


def component_labels(csv: Object) -> dict[str, str]:
    """The labels by which a ClusterServiceVersion is a component of Operators: its objects get them from the start."""
    return {key: value for key, value in csv.labels.items() if key.startswith(names.COMPONENT_PREFIX)}


def labels_for(name: str, namespace: str, kind: str = CSV_KIND) -> dict[str, str]:
    """The owner labels of an owner known by name only."""
    return {names.OWNER: name, names.OWNER_NAMESPACE: namespace, names.OWNER_KIND: kind}


def owner_reference(owner: Object, *, controller: bool = False) -> Manifest:
    """The owner reference to an object as it was read; a ClusterServiceVersion, if it does not say its kind."""
    reference = {"apiVersion": owner.api_version, "kind": owner.kind}
    named = reference_to(CLUSTER_SERVICE_VERSION, owner.name, owner.uid)
    return {**named, **{key: value for key, value in reference.items() if value}, "controller": controller}


def reference_to(kind: Kind | Ref, name: str, uid: str = "") -> Manifest:
    """An owner reference for garbage collection that never blocks the deletion of the owner.

    Without uid: effects fill it in when they write the object.
    """
    named = {"apiVersion": kind.api_version, "kind": kind.kind, "name": name, "uid": uid}
    return {**named, "controller": False, "blockOwnerDeletion": False}


def csv_owners(owned: Object) -> tuple[OwnerReference, ...]:
    """The owner references to ClusterServiceVersions, whatever their version."""
    desired = (CSV_KIND, CLUSTER_SERVICE_VERSION.group)
    return tuple(one for one in owned.owners if (one.kind, one.group) == desired)


def is_labelled_for(owned: Object, owner: Object) -> bool:
    """Whether the owner labels name this ClusterServiceVersion."""
    return owner_labels(owner).items() <= owned.labels.items()


def is_owned_by(owned: Object, owner: Object) -> bool:
    """Whether an owner reference carries the uid of the owner."""
    return _has_uid(csv_owners(owned), owner.uid)


def belongs_to_another(owned: Object, csv: Csv) -> bool:
    """Whether ClusterServiceVersions own the object and this one (by uid) is not among them."""
    owners = csv_owners(owned)
    return bool(owners) and not _has_uid(owners, csv.uid)


def not_taken(present: Object) -> str:
    """Why an object is not written over: a ClusterObjectSet of OLM v1 controls it; empty when none does."""
    revision = (CLUSTER_OBJECT_SET.kind, CLUSTER_OBJECT_SET.group)
    for one in present.owners:
        if one.is_controller and (one.kind, one.group) == revision:
            extension = present.labels.get(names.V1_OWNER_NAME, "")
            of = f" of ClusterExtension {extension}" if extension else ""
            return (
                f"{present.kind} {present.name} is controlled by ClusterObjectSet {one.name}{of}, and not taken from it"
            )
    return ""


def _has_uid(references: Iterable[OwnerReference], uid: str) -> bool:
    return any(reference.uid == uid for reference in references)
