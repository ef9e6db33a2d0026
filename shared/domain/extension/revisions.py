"""Which bundle an extension has installed, and which it is rolling out, by its revisions (v1.md §12.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shared import kinds, names
from shared.api.manifest import ReadOnly
from shared.api.views import ClusterExtension, ClusterObjectSet
from shared.domain.extension.model import Installed


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions of one extension, the oldest first."""

    all: tuple[ClusterObjectSet, ...] = ()

    @classmethod
    def of(cls, found: Iterable[ReadOnly], extension: ClusterExtension) -> Revisions:
        """Those of the extension, and those that an extension of its name left behind when it was deleted without them.

        One whose extension is another one is on its way out.
        """
        mine = (one for one in ClusterObjectSet.each(found) if _is_of(one, extension))
        return cls(tuple(sorted(mine, key=lambda one: one.number)))

    @property
    def active(self) -> tuple[ClusterObjectSet, ...]:
        """Those whose objects are wanted."""
        return tuple(one for one in self.all if not one.is_archived and not one.is_deleted)

    @property
    def installed(self) -> ClusterObjectSet | None:
        """The newest that was rolled out."""
        return next((one for one in reversed(self.active) if one.has_succeeded), None)

    @property
    def rolling(self) -> tuple[ClusterObjectSet, ...]:
        """Those that are being rolled out."""
        return tuple(one for one in self.active if not one.has_succeeded)

    @property
    def is_taking_over(self) -> bool:
        """Whether one that was made of a Helm release has not looked at its objects: another one would collide."""
        return any(one.is_migrated and not one.has_condition("Progressing") for one in self.active)

    @property
    def newest(self) -> ClusterObjectSet | None:
        """The one with the highest number, whatever its state."""
        return self.all[-1] if self.all else None


def _is_of(revision: ClusterObjectSet, extension: ClusterExtension) -> bool:
    owners = {one.uid for one in revision.owners if one.kind == kinds.CLUSTER_EXTENSION.kind}
    return revision.owner == extension.name and (not owners or extension.uid in owners)


def bundle_of(revision: ClusterObjectSet) -> Installed:
    """The bundle of a revision, as it was recorded."""
    annotations = revision.annotations
    return Installed(
        annotations.get(names.V1_BUNDLE_NAME, ""),
        annotations.get(names.V1_BUNDLE_VERSION, ""),
        annotations.get(names.V1_BUNDLE_RELEASE),
    )
