"""The revision that an extension wants, and which of the old ones may go (v1.md §21.2, §21.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared import names
from shared.api.manifest import Manifest, ReadOnly, annotations_of, labels_of, metadata, name_of, uid_of
from shared.api.views import ClusterExtension, ClusterObjectSet
from shared.domain.extension.model import Identity
from shared.domain.extension.phases.demands import recorded
from shared.domain.extension.phases.order import Phase, phase_sort
from shared.domain.extension.phases.packing import Packed
from shared.domain.extension.phases.probes import DEFAULT_PROBES

API_VERSION: Final = "olm.operatorframework.io/v1"
KIND: Final = "ClusterObjectSet"
_OWNER: Final = "ClusterExtension"
_KEPT: Final = 5
"""Revisions beyond the newest ones that are deleted once they are archived."""
_METADATA: Final = ("annotations", "labels", "name", "namespace")


@dataclass(frozen=True, slots=True)
class Content:
    """The bundle that a revision is made of."""

    package: str
    bundle: str
    identity: Identity
    image: str
    objects: tuple[ReadOnly, ...]
    """As they were rendered."""
    annotations: Mapping[str, str]
    """Of the ClusterServiceVersion."""
    has_releases: bool = False
    """The gate BundleReleaseSupport."""


def revision_metadata(content: Content) -> dict[str, str]:
    """The annotations that say which bundle it is; read back as what is installed."""
    recorded = content.identity.recorded(has_releases=content.has_releases)
    annotations = {
        names.V1_BUNDLE_NAME: content.bundle,
        names.V1_PACKAGE_NAME: content.package,
        names.V1_BUNDLE_VERSION: recorded["version"],
        names.V1_BUNDLE_REFERENCE: content.image,
    }
    return annotations | ({names.V1_BUNDLE_RELEASE: recorded["release"]} if "release" in recorded else {})


def phases_of(extension: ReadOnly, content: Content) -> tuple[Phase, ...]:
    """The objects as the revision has them: ours by label and annotation, without what only a cluster knows."""
    return phase_sort(_desired(one, extension, content) for one in content.objects)


def desired(extension: ReadOnly, content: Content, packed: Packed, *, number: int = 1) -> Manifest:
    """The ClusterObjectSet of a revision, whose objects lie in Secrets."""
    phases = phases_of(extension, content)
    metadata = revision_metadata(content)
    if names.V1_PROPERTIES in content.annotations:
        metadata[names.V1_PROPERTIES] = content.annotations[names.V1_PROPERTIES]
    spec: dict[str, Any] = {
        "lifecycleState": "Active",
        "revision": number,
        "collisionProtection": "Prevent",
        "progressionProbes": list(DEFAULT_PROBES),
        "phases": [
            {"name": phase.name, "objects": [{"ref": dict(place)} for place in places]}
            for phase, places in zip(phases, packed.references, strict=True)
        ],
    }
    if deadline := ClusterExtension(extension).deadline:
        spec["progressDeadlineMinutes"] = deadline
    if watched := recorded(phases):
        metadata[names.KINDS_OF_OBJECTS] = watched
    name = name_of(extension)
    meta = {
        "name": revision_name(extension, number),
        "labels": _owner_labels(name),
        "annotations": metadata,
        "finalizers": [names.V1_TEARDOWN],
        "ownerReferences": [_reference(extension)],
    }
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": meta, "spec": spec}


def guarded(secrets: Iterable[Manifest], extension: ReadOnly) -> tuple[Manifest, ...]:
    """The Secrets as they are made: until their revision has them, they go with the extension."""
    owner = {
        key: value for key, value in _reference(extension).items() if key not in ("controller", "blockOwnerDeletion")
    }
    return tuple({**one, "metadata": {**metadata(one), "ownerReferences": [owner]}} for one in secrets)


def revision_name(extension: ReadOnly, number: int) -> str:
    """The name of a revision of an extension."""
    return f"{name_of(extension)}-{number}"


def number_of(revision: ReadOnly) -> int:
    """Which revision of its extension it is."""
    return ClusterObjectSet(revision).number


def next_number(revisions: Iterable[ReadOnly]) -> int:
    """The number of the revision after all of these."""
    return max(map(number_of, revisions), default=0) + 1


def superfluous(revisions: Iterable[ReadOnly]) -> tuple[str, ...]:
    """The names of the archived revisions that are too old to be kept, before another one is made."""
    listed = sorted(revisions, key=number_of)
    old = listed[: max(len(listed) - _KEPT, 0)]
    return tuple(name_of(one) for one in old if not is_active(one))


def is_active(revision: ReadOnly) -> bool:
    """Whether it still maintains its objects."""
    return not ClusterObjectSet(revision).is_archived


def siblings(revision: ReadOnly, others: Iterable[ReadOnly]) -> tuple[ReadOnly, ...]:
    """The other active revisions of the same extension that are not being deleted."""
    owner = labels_of(revision).get(names.V1_OWNER_NAME)
    return tuple(
        other
        for other in others
        if owner is not None
        and labels_of(other).get(names.V1_OWNER_NAME) == owner
        and name_of(other) != name_of(revision)
        and is_active(other)
        and not ClusterObjectSet(other).is_deleted
    )


def previous(revision: ReadOnly, others: Iterable[ReadOnly]) -> tuple[ReadOnly, ...]:
    """The siblings that this revision replaces once it is complete."""
    return tuple(other for other in siblings(revision, others) if number_of(other) < number_of(revision))


def newest_active(revisions: Sequence[ReadOnly]) -> ReadOnly | None:
    """The active revision with the highest number, if there is one."""
    return max((one for one in revisions if is_active(one)), key=number_of, default=None)


def _desired(manifest: ReadOnly, extension: ReadOnly, content: Content) -> Manifest:
    version = revision_metadata(content)[names.V1_BUNDLE_VERSION]
    added = {names.V1_BUNDLE_VERSION: version, names.V1_PACKAGE_NAME: content.package}
    annotations = annotations_of(manifest) | {key: value for key, value in added.items() if value}
    annotations.pop(names.LAST_APPLIED, None)
    known = {key: value for key, value in metadata(manifest).items() if key in _METADATA}
    meta = known | {"labels": labels_of(manifest) | _owner_labels(name_of(extension)), "annotations": annotations}
    return {**{key: value for key, value in manifest.items() if key != "status"}, "metadata": meta}


def _owner_labels(extension: str) -> dict[str, str]:
    return {names.V1_OWNER_KIND: _OWNER, names.V1_OWNER_NAME: extension}


def _reference(extension: ReadOnly) -> Manifest:
    return {
        "apiVersion": API_VERSION,
        "kind": _OWNER,
        "name": name_of(extension),
        "uid": uid_of(extension),
        "controller": True,
        "blockOwnerDeletion": True,
    }
