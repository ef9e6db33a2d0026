"""Copies of a ClusterServiceVersion: what they look like, and where they belong (csv.md §10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared import names
from shared.api.manifest import (
    Manifest,
    ReadOnly,
    annotations_of,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    version_of,
)
from shared.domain.groups.group import Group
from shared.domain.groups.install_modes import ALL_NAMESPACES, targets_of
from shared.domain.groups.provided_apis import CONFLICT_REASON
from shared.domain.lifecycle.phases import instant, is_copied, is_uncopiable, phase_of, reason_of

LASTING = timedelta(seconds=10)
"""How long a phase must have lasted before copies show it; `Succeeded` shows at once."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_NOT_COPIED = frozenset((names.TARGET_NAMESPACES, LAST_APPLIED))
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
    """The status of a copy: the original's, with a reason and a message of its own."""
    message = f"The operator is running in {namespace_of(original)} but is managing this namespace"
    return {**(original.get("status") or {}), "reason": "Copied", "message": message}


def replacement(original: ReadOnly, copy: ReadOnly) -> Manifest | None:
    """What the copy must be replaced with; None when it is current.

    Annotations that say nothing about the group follow with the next real change: they mean nothing on a copy, and one
    touch of the original must not cost a write in every namespace.
    """
    wanted = copy_of(original, namespace_of(copy))
    same = (
        copy.get("spec") == wanted["spec"]
        and labels_of(copy) == wanted["metadata"]["labels"]
        and all(annotations_of(copy).get(key) == annotations_of(wanted).get(key) for key in _MEMBERSHIP)
    )
    if same:
        return None
    wanted["metadata"]["resourceVersion"] = version_of(copy)
    return {**wanted, "status": copy.get("status") or {}}


def is_status_current(original: ReadOnly, copy: ReadOnly) -> bool:
    """Whether the copy shows where the original stands; its history and times follow with the next real change."""
    return _lasting(copy.get("status") or {}) == _lasting(status_of_copy(original))


def _lasting(status: ReadOnly) -> Mapping[str, object]:
    return {key: value for key, value in status.items() if key not in _MOMENTS}


def is_current(original: ReadOnly, copy: ReadOnly) -> bool:
    """Whether nothing has to be written to the copy."""
    return replacement(original, copy) is None and is_status_current(original, copy)


def lasts_from(original: ReadOnly) -> datetime | None:
    """When the phase is worth showing in copies; None: now."""
    began = instant((original.get("status") or {}).get("lastTransitionTime"))
    return began + LASTING if began and phase_of(original) != "Succeeded" else None


def is_member(original: ReadOnly, group: Group) -> bool:
    """Whether the annotations say what the group says."""
    return group.targets is not None and group.membership().items() <= annotations_of(original).items()


def reaches_out(group: Group) -> bool:
    """Whether the group selects more than its own namespace."""
    return group.targets not in (None, (), (group.namespace,))


@dataclass(frozen=True, slots=True)
class Places:
    """Where copies of one version belong."""

    wanted: frozenset[str]
    """Namespaces that must have a current copy."""
    allowed: frozenset[str]
    """Namespaces whose copy, when there is one, stays."""


def places(original: ReadOnly, group: Group, namespaces: Iterable[ReadOnly], *, only: Sequence[str] | None) -> Places:
    """Where copies belong; `only` limits an operator that watches all namespaces to these (copying is disabled)."""
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


def dangling(copy: ReadOnly, parent: ReadOnly | None) -> str | None:
    """Why a copy has lost its place, or None."""
    if not annotations_of(copy).get(names.OPERATOR_NAMESPACE):
        return "it does not say where its operator runs"
    if parent is None or is_copied(parent):
        return "its original does not exist"
    if reason_of(parent) == CONFLICT_REASON and phase_of(parent) == "Failed":
        return "its original failed because another operator provides the same APIs"
    targets = targets_of(annotations_of(parent).get(names.TARGET_NAMESPACES, ""))
    if metadata(parent).get("annotations") and not {namespace_of(copy), ALL_NAMESPACES} & set(targets):
        return "its original no longer watches this namespace"
    if namespace_of(copy) == namespace_of(parent):
        return "its original lives in the same namespace"
    return None
