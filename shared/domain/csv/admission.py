"""Checks a ClusterServiceVersion against its OperatorGroup, before every phase (csv.md §3.2).

`check_requirements` checks the groups, in every phase, when an event about them enqueues it (`not_admitted`); the steps
of the other phases check only the version itself (`unsupported_install_mode`), which needs no read.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, instant
from shared.api.views import Csv, OperatorGroup
from shared.domain.csv.phases import Status
from shared.domain.csv.transition import Transition
from shared.domain.objects.csv import UNSUPPORTED_GROUP
from shared.domain.operator_groups import install_modes, members, provided_apis, targets
from shared.domain.operator_groups.group import Group

PROVIDED_API_CONFLICTS = frozenset({provided_apis.CONFLICT_REASON, provided_apis.STATIC_REASON})
"""Reasons of a failure for which the Deployments are deleted."""
_SELECTION_TIME = timedelta(seconds=5)
"""The time that a new group is given to select namespaces."""
_SOON = timedelta(seconds=5)
_NONE = "csv in namespace with no operatorgroups"
_MANY = "csv created in namespace with multiple operatorgroups, can't pick one automatically"
_NO_MATCH = "no targetNamespaces are matched operatorgroups namespace selection"


def not_admitted(csv: Csv, groups: Sequence[OperatorGroup], status: Status) -> Transition | None:
    """The transition in place of the phase's own; None when the phase may proceed. `groups`: of all namespaces."""
    own = [group for group in groups if group.namespace == csv.namespace]
    if not own:
        return _failed(status, "NoOperatorGroup", _NONE)
    if len(own) > 1:
        return _failed(status, "TooManyOperatorGroups", _MANY)
    return (
        _joins(csv, own[0], status)
        or unsupported_install_mode(csv, status)
        or _provided_api_conflict(csv, Group.of(own[0]), [Group.of(group) for group in groups], status)
    )


def is_admitted(csv: Csv, groups: Sequence[OperatorGroup]) -> bool:
    """Whether the version is a member of the only group of its namespace, fits it, and conflicts with no other group.

    This does not rest on its phase. `groups`: those of all namespaces.
    """
    match [group for group in groups if group.namespace == csv.namespace]:
        case [own]:
            group, conflicting = Group.of(own), [Group.of(other) for other in groups]
            is_member = group.targets and not members.annotations_to_change(csv, group)
            agreed = provided_apis.intersection(provided_apis.apis_of(csv), group, conflicting)
            modes = csv.install_modes
            return (
                bool(is_member)
                and isinstance(agreed, provided_apis.Agreed)
                and install_modes.duplicates(modes) is None
                and install_modes.supports(modes, group.namespace, group.targets or ()) is None
            )
    return False


def _failed(status: Status, reason: str, message: str) -> Transition:
    return Transition(status.to("Failed", reason, message), f"failed, {reason}: {message}", waits_for=message)


def _joins(csv: Csv, group: OperatorGroup, status: Status) -> Transition | None:
    """The transition that makes the version a member, or says why the group cannot have members; None for a member."""
    if message := targets.invalid_targets(group):
        return _failed(status, "NoTargetNamespaces", message)
    member = Group.of(group)
    if patch := metadata_patch(csv, member):
        return Transition(status, f"joins the OperatorGroup {member.name}", patch=patch)
    if member.targets:
        return None
    if targets.needs_namespaces(group) and _had_time_to_select(member, status.now):
        return _failed(status, "NoTargetNamespaces", _NO_MATCH)
    waits_for = f"OperatorGroup {member.name} to select its target namespaces"
    return Transition(status, f"waits for {waits_for}", waits_for=waits_for, again_in=_SOON)


def _had_time_to_select(group: Group, now: datetime) -> bool:
    created = instant(group.created)
    return created is None or now - created >= _SELECTION_TIME


def metadata_patch(csv: Csv, group: Group) -> Manifest:
    """The merge patch for what the metadata of a member lacks: the annotations that name its group, the finalizer."""
    changed = members.annotations_to_change(csv, group)
    patch: Manifest = {"annotations": changed} if changed else {}
    if names.CSV_CLEANUP not in csv.finalizers:
        patch["finalizers"] = [*csv.finalizers, names.CSV_CLEANUP]
    return {"metadata": patch} if patch else {}


def joined(csv: Csv, groups: Sequence[OperatorGroup]) -> Manifest:
    """A version before its creation, as a member of the group of its namespace: to join later would be one more write.

    It is returned unchanged unless the namespace has exactly one group.
    """
    match groups:
        case [group]:
            lacking = fields.part(metadata_patch(csv, Group.of(group)), "metadata")
            annotations = {**csv.annotations, **fields.part(lacking, "annotations")}
            return {**csv.raw, "metadata": {**csv.metadata, **lacking, "annotations": annotations}}
    return dict(csv.raw)


def unsupported_install_mode(csv: Csv, status: Status) -> Transition | None:
    """The transition of a member that cannot watch the namespaces in its annotation; None when it can."""
    modes = csv.install_modes
    if message := install_modes.duplicates(modes):
        return _failed(status, "InvalidInstallModes", message)
    if csv.target_namespaces is None:
        # To continue would write Deployments without it.
        waits_for = f"the annotation {names.TARGET_NAMESPACES}"
        return Transition(status, f"waits for {waits_for}", waits_for=waits_for)
    if message := install_modes.supports(modes, csv.namespace, csv.target_namespaces):
        return _failed(status, UNSUPPORTED_GROUP, message)
    return None


def _provided_api_conflict(csv: Csv, own: Group, groups: Sequence[Group], status: Status) -> Transition | None:
    found = provided_apis.intersection(provided_apis.apis_of(csv), own, groups)
    if isinstance(found, provided_apis.Agreed):
        return None
    if isinstance(found, provided_apis.Refused):
        return _failed(status, found.reason, found.message)
    waits_for = f"the provided APIs of OperatorGroup {own.name} to become {found.provided!r}"
    return Transition(status, f"waits for {waits_for}", waits_for=waits_for, again_in=_SOON)
