"""What to do with one object of a revision, given what the cluster has under its name (v1.md §21.7)."""

from __future__ import annotations

import enum
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from shared import names
from shared.api.manifest import ReadOnly, annotations_of
from shared.api.views import Object

Protection: TypeAlias = Literal["Prevent", "IfNoController", "None"]


class Action(enum.StrEnum):
    """What is done, or was found."""

    CREATE = "Created"
    IDLE = "Idle"
    UPDATE = "Updated"
    RECOVER = "Recovered"
    """Others changed fields of ours: force them back."""
    ADOPT = "Adopted"
    """Take over, and become the controller."""
    PROGRESSED = "Progressed"
    """A newer revision has it: leave it alone."""
    COLLISION = "Collision"


@dataclass(frozen=True, slots=True)
class Drift:
    """How the object in the cluster differs from what is desired."""

    is_modified: bool = False
    """A field of ours has another value or is gone, and nobody else claims it."""
    is_contested: bool = False
    """Another field manager holds a field of ours."""


@dataclass(frozen=True, slots=True)
class Revision:
    """The ClusterObjectSet that wants the object, and the other active ones of the same extension."""

    uid: str
    number: int
    siblings: Collection[str] = ()
    """Their uids."""


def object_action(
    actual: ReadOnly | None, revision: Revision, protection: Protection = "Prevent", drift: Drift = Drift()
) -> Action:
    """What to do about an object; `actual` is None when the cluster has none."""
    if actual is None:
        return Action.CREATE
    controller = controller_of(actual)
    if controller == revision.uid:
        if drift.is_contested:
            return Action.RECOVER
        return Action.UPDATE if drift.is_modified else Action.IDLE
    if controller in revision.siblings:
        written = revision_of(actual)
        if written == revision.number:
            return Action.COLLISION
        return Action.PROGRESSED if written > revision.number else Action.ADOPT
    if controller:
        return Action.ADOPT if protection == "None" else Action.COLLISION
    # One that we have managed was just orphaned; whoever adopts it now loses it to the garbage collector.
    is_orphan = names.V1_REVISION in annotations_of(actual)
    return Action.COLLISION if is_orphan or protection == "Prevent" else Action.ADOPT


class Teardown(enum.StrEnum):
    """What archiving a revision does to one of its objects."""

    GONE = "Gone"
    RELEASE = "Release"
    """Not ours: only take our owner reference off it."""
    DELETE = "Delete"
    """With uid and resourceVersion as preconditions; it is done when the object is really gone."""
    UNMARK = "Unmark"
    """Its dependents shall be orphaned: only take our label and annotation off it."""


def teardown_action(actual: ReadOnly | None, owner: ReadOnly) -> Teardown:
    """What to do with an object of a revision that is archived.

    Who controls it decides, not the number of the revision that wrote it: numbers are only unique per extension.
    """
    if _ORPHAN in Object(owner).finalizers:
        return Teardown.UNMARK
    if actual is None:
        return Teardown.GONE
    is_ours = controller_of(actual) == Object(owner).uid
    return Teardown.DELETE if is_ours else Teardown.RELEASE


_ORPHAN: Final = "orphan"
"""The finalizer by which Kubernetes keeps the dependents of an object that is deleted."""


def controller_of(manifest: ReadOnly) -> str:
    """The uid of the owner that controls an object; empty when none does."""
    return next((one.uid for one in Object(manifest).owners if one.is_controller), "")


def revision_of(manifest: ReadOnly) -> int:
    """The number of the revision that wrote an object; 0 when none did. ValueError when it is no number."""
    return int(annotations_of(manifest).get(names.V1_REVISION) or 0)


def protection_of(*levels: str | None) -> str:
    """What counts for an object, of what is stated for it, its phase and its revision, in this order."""
    return next(filter(None, levels), "Prevent")
