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
)
from shared.api.views import Csv, Namespace
from shared.domain.objects.csv import is_uncopiable
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.install_modes import ALL_NAMESPACES
from shared.domain.operator_groups.provided_apis import CONFLICT_REASON

LASTING = timedelta(seconds=10)
"""How long a phase must have lasted before it is written to copies; `Succeeded` is written at once."""
_NOT_COPIED = frozenset((names.TARGET_NAMESPACES, names.LAST_APPLIED))
_MEMBERSHIP = (names.OPERATOR_GROUP, names.OPERATOR_NAMESPACE)
_MOMENTS = frozenset(("lastUpdateTime", "lastTransitionTime", "conditions"))


def copy_of(original: Csv, namespace: str) -> Manifest:
    """The copy in a namespace, without its status."""
    labels = {key: value for key, value in original.labels.items() if not key.startswith(names.COMPONENT_PREFIX)}
    annotations = {key: value for key, value in original.annotations.items() if key not in _NOT_COPIED}
    return {
        "apiVersion": original.api_version,
        "kind": original.kind,
        "metadata": {
            "name": original.name,
            "namespace": namespace,
            "labels": {**labels, names.COPIED_FROM: original.namespace},
            "annotations": annotations,
        },
        "spec": original.spec,
    }


def status_of_copy(original: Csv) -> Manifest:
    """The status of a copy: that of the original, with its own reason and message."""
    message = f"The operator is running in {original.namespace} but is managing this namespace"
    return {**original.status, "reason": "Copied", "message": message}


@dataclass(frozen=True, slots=True)
class CopyDigests:
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
    origin: str
    """The namespace of the operator, from the annotation `olm.operatorNamespace`; empty without it."""
    uid: str
    version: str
    """`metadata.resourceVersion`."""
    digests: CopyDigests
    is_deleted: bool = False
    """It is being deleted; a finalizer may keep it for long."""

    @classmethod
    def of(cls, csv: Csv) -> Copy:
        """The summary of a stored copy."""
        origin, digests = csv.operator_namespace or "", _digests(csv, csv.status)
        return cls(csv.namespace, csv.name, origin, csv.uid, csv.resource_version, digests, csv.is_deleted)


def is_hidden(copy: Csv) -> bool:
    """Whether somebody changed the label of a copy that we made, so that no list of the copies contains it."""
    origin = copy.operator_namespace
    is_ours = copy.reason == "Copied" and origin not in (None, "", copy.namespace)
    return is_ours and copy.labels.get(names.COPIED_FROM) != origin


def digests_of(original: Csv) -> CopyDigests:
    """The digests that every copy of the original must have.

    Annotations that are not about the group, times and history are updated with the next relevant change: they have no
    effect on a copy, and a small change of the original must not cost a write in every namespace.
    """
    return _digests(Csv(copy_of(original, "")), status_of_copy(original))


def _digests(csv: Csv, status: ReadOnly) -> CopyDigests:
    membership = [csv.annotations.get(key) for key in _MEMBERSHIP]
    lasting = {key: value for key, value in status.items() if key not in _MOMENTS}
    return CopyDigests(_digest([csv.labels, membership, csv.spec]), _digest(lasting))


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]


def replacement(original: Csv, copy: Copy) -> Manifest:
    """The manifest that replaces the stored copy, with the resourceVersion that was read."""
    desired = copy_of(original, copy.namespace)
    desired["metadata"] |= {"uid": copy.uid, "resourceVersion": copy.version}
    return desired


def lasts_from(original: Csv, now: datetime) -> datetime | None:
    """The time from which the phase is written to copies; None: now, also when it is yet to begin."""
    if original.since is None or original.since > now or original.is_succeeded:
        return None
    return original.since + LASTING


def is_member(original: Csv, group: Group) -> bool:
    """Whether the annotations of the original match the group."""
    return group.targets is not None and group.membership().items() <= original.annotations.items()


def reaches_out(group: Group) -> bool:
    """Whether the group selects namespaces besides its own."""
    return group.targets not in (None, (), (group.namespace,))


@dataclass(frozen=True, slots=True)
class CopyNamespaces:
    """The namespaces for copies of one version."""

    desired: frozenset[str]
    """Namespaces that must have a current copy."""
    allowed: frozenset[str]
    """Namespaces whose copy, if it exists, stays."""


def copy_namespaces(
    original: Csv, group: Group, namespaces: Iterable[Namespace], *, only: Sequence[str] | None
) -> CopyNamespaces:
    """The namespaces for copies; `only` limits those of an operator in all namespaces (copying is disabled)."""
    alive = {one.name for one in namespaces if not one.is_terminating}
    targets = alive if group.is_global else alive & set(group.targets or ())
    if group.is_global and only is not None:
        targets &= set(only)
    targets -= {group.namespace}
    if original.reason == CONFLICT_REASON:
        return CopyNamespaces(frozenset(), frozenset())
    if is_uncopiable(original):
        return CopyNamespaces(frozenset(), frozenset(targets))
    return CopyNamespaces(frozenset(targets), frozenset(targets))


def dangling(copy: Copy, parent: Csv | None) -> str | None:
    """Why a copy must be deleted, or None."""
    if not copy.origin:
        return "it does not say where its operator runs"
    if parent is None or parent.is_copy:
        return "its original does not exist"
    if parent.reason == CONFLICT_REASON and parent.phase == "Failed":
        return "its original failed because another operator provides the same APIs"
    targets = parent.target_namespaces
    if targets is not None and not {copy.namespace, ALL_NAMESPACES} & set(targets):
        return "its original no longer watches this namespace"
    if copy.namespace == parent.namespace:
        return "its original lives in the same namespace"
    return None
