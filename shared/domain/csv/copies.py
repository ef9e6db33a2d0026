"""Copies of a ClusterServiceVersion: their content, and the namespaces that get one (csv.md §10)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from shared import names
from shared.api.manifest import (
    Manifest,
    ReadOnly,
    annotations_of,
    instant,
    is_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    resource_version_of,
    uid_of,
)
from shared.domain.objects.csv import is_copied, is_uncopiable, phase_of, reason_of
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.install_modes import ALL_NAMESPACES, targets_of
from shared.domain.operator_groups.provided_apis import CONFLICT_REASON

LASTING = timedelta(seconds=10)
"""How long a phase must have lasted before it is written to copies; `Succeeded` is written at once."""
_NOT_COPIED = frozenset((names.TARGET_NAMESPACES, names.LAST_APPLIED))
_MEMBERSHIP = (names.OPERATOR_GROUP, names.OPERATOR_NAMESPACE)
_MOMENTS = frozenset(("lastUpdateTime", "lastTransitionTime", "conditions"))


def copy_of(original: ReadOnly, namespace: str) -> Manifest:
    """The copy in a namespace, without its status."""
    labels = {key: value for key, value in labels_of(original).items() if not key.startswith(names.COMPONENT_PREFIX)}
    annotations = {key: value for key, value in annotations_of(original).items() if key not in _NOT_COPIED}
    return {
        "apiVersion": original["apiVersion"],
        "kind": original["kind"],
        "metadata": {
            "name": name_of(original),
            "namespace": namespace,
            "labels": {**labels, names.COPIED_FROM: namespace_of(original)},
            "annotations": annotations,
        },
        "spec": original.get("spec") or {},
    }


def status_of_copy(original: ReadOnly) -> Manifest:
    """The status of a copy: that of the original, with its own reason and message."""
    message = f"The operator is running in {namespace_of(original)} but is managing this namespace"
    return {**(original.get("status") or {}), "reason": "Copied", "message": message}


@dataclass(frozen=True, slots=True)
class Look:
    """Digests of the content of a copy that is compared."""

    content: str
    """Digest of labels, spec, and the annotations that name the group."""
    state: str
    """Digest of the status, without times and history."""


@dataclass(frozen=True, slots=True)
class Copy:
    """The summary of a copied ClusterServiceVersion."""

    namespace: str
    name: str
    home: str
    """The namespace of the operator, from the annotation `olm.operatorNamespace`; empty without it."""
    uid: str
    version: str
    """`metadata.resourceVersion`."""
    look: Look
    is_deleted: bool = False
    """It is being deleted; a finalizer may keep it for long."""

    @classmethod
    def of(cls, manifest: ReadOnly) -> Copy:
        """The summary of a stored copy."""
        look = _look(manifest, manifest.get("status") or {})
        home = annotations_of(manifest).get(names.OPERATOR_NAMESPACE, "")
        is_going, version = is_deleted(manifest), resource_version_of(manifest)
        return cls(namespace_of(manifest), name_of(manifest), home, uid_of(manifest), version, look, is_going)


def is_hidden(copy: ReadOnly) -> bool:
    """Whether somebody changed the label of a copy that we made, so that no list of the copies contains it."""
    home = annotations_of(copy).get(names.OPERATOR_NAMESPACE)
    is_ours = reason_of(copy) == "Copied" and home not in (None, "", namespace_of(copy))
    return is_ours and labels_of(copy).get(names.COPIED_FROM) != home


def wanted_look(original: ReadOnly) -> Look:
    """The digests that every copy of the original must have.

    Annotations that are not about the group, times and history are updated with the next relevant change: they have no
    effect on a copy, and a small change of the original must not cost a write in every namespace.
    """
    return _look(copy_of(original, ""), status_of_copy(original))


def _look(manifest: ReadOnly, status: ReadOnly) -> Look:
    annotations = annotations_of(manifest)
    membership = [annotations.get(key) for key in _MEMBERSHIP]
    lasting = {key: value for key, value in status.items() if key not in _MOMENTS}
    return Look(_digest([labels_of(manifest), membership, manifest.get("spec") or {}]), _digest(lasting))


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]


def replacement(original: ReadOnly, copy: Copy) -> Manifest:
    """The manifest that replaces the stored copy, with the resourceVersion that was read."""
    wanted = copy_of(original, copy.namespace)
    wanted["metadata"] |= {"uid": copy.uid, "resourceVersion": copy.version}
    return wanted


def lasts_from(original: ReadOnly) -> datetime | None:
    """The time from which the phase is written to copies; None: now."""
    began = instant((original.get("status") or {}).get("lastTransitionTime"))
    return began + LASTING if began and phase_of(original) != "Succeeded" else None


def is_member(original: ReadOnly, group: Group) -> bool:
    """Whether the annotations of the original match the group."""
    return group.targets is not None and group.membership().items() <= annotations_of(original).items()


def reaches_out(group: Group) -> bool:
    """Whether the group selects namespaces besides its own."""
    return group.targets not in (None, (), (group.namespace,))


@dataclass(frozen=True, slots=True)
class Places:
    """The namespaces for copies of one version."""

    wanted: frozenset[str]
    """Namespaces that must have a current copy."""
    allowed: frozenset[str]
    """Namespaces whose copy, if it exists, stays."""


def places(original: ReadOnly, group: Group, namespaces: Iterable[ReadOnly], *, only: Sequence[str] | None) -> Places:
    """The namespaces for copies; `only` limits those of an operator in all namespaces (copying is disabled)."""
    alive = {name_of(item) for item in namespaces if (item.get("status") or {}).get("phase") != "Terminating"}
    targets = alive if group.is_global else alive & set(group.targets or ())
    if group.is_global and only is not None:
        targets &= set(only)
    targets -= {group.namespace}
    if reason_of(original) == CONFLICT_REASON:
        return Places(frozenset(), frozenset())
    if is_uncopiable(original):
        return Places(frozenset(), frozenset(targets))
    return Places(frozenset(targets), frozenset(targets))


def dangling(copy: Copy, parent: ReadOnly | None) -> str | None:
    """Why a copy must be deleted, or None."""
    if not copy.home:
        return "it does not say where its operator runs"
    if parent is None or is_copied(parent):
        return "its original does not exist"
    if reason_of(parent) == CONFLICT_REASON and phase_of(parent) == "Failed":
        return "its original failed because another operator provides the same APIs"
    targets = targets_of(annotations_of(parent).get(names.TARGET_NAMESPACES, ""))
    if metadata(parent).get("annotations") and not {copy.namespace, ALL_NAMESPACES} & set(targets):
        return "its original no longer watches this namespace"
    if copy.namespace == namespace_of(parent):
        return "its original lives in the same namespace"
    return None
