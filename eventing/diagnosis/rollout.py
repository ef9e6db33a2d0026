"""What a roll-out of the bundle that an extension would get would create, change and delete in a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from shared.api.manifest import ReadOnly
from shared.api.views import ClusterExtension
from shared.domain.bundle.model import Files
from shared.domain.crd_safety.judgement import Waiver
from shared.domain.extension.decision import Target, request_for
from shared.domain.extension.making import Refusal, rendered
from shared.domain.extension.model import Resolution
from shared.domain.extension.outlook import (
    Change,
    Effect,
    changes,
    identity_of,
    losses,
    misfits,
    obstacles,
    waived,
)
from shared.domain.extension.phases.actions import Action, Revision, controller_of, object_action
from shared.domain.extension.phases.objects import described
from shared.domain.extension.phases.order import Phase
from shared.domain.extension.phases.packing import Unreadable
from shared.domain.extension.phases.sources import resolved
from shared.domain.extension.resolve import resolve
from shared.domain.extension.revisions import Revisions, bundle_of
from shared.domain.extension.trace import sentences
from shared.reading.extension import cert_provider
from shared.reading.present_objects import read_phase
from shared.reading.revision import secrets_of
from shared.refs import InvalidName

if TYPE_CHECKING:
    from shared.ports import Cluster, Discovery
    from shared.reading.extension import ExtensionInputs


_NOT_MADE: Final = "?"
"""The uid of a revision that does not exist, which controls nothing."""


@dataclass(frozen=True, slots=True)
class Place:
    """The cluster, and how the content of a bundle and stored objects are had."""

    cluster: Cluster
    discovery: Discovery
    files_of: Callable[[str], Files]
    stored: Callable[[Sequence[Mapping[str, object]]], Sequence[ReadOnly]]
    """The objects of definitions that would change."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What would happen."""

    reasons: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    blockers: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def outlook(
    extension: ClusterExtension, inputs: ExtensionInputs, place: Place, waivers: Sequence[Waiver] = ()
) -> Outlook:
    """The roll-out of what its catalogs give it now, whether or not another one goes on."""
    kept = inputs.revisions.installed
    request, installed = request_for(extension), bundle_of(kept) if kept else None
    resolution = resolve(request, installed, inputs.catalogs)
    reasons = sentences(resolution, request, installed)
    target = _target(resolution)
    if target is None:
        return Outlook(reasons, blockers=(resolution.error,))
    made = rendered(extension, target, place.files_of(target.bundle.image), partial(cert_provider, place.discovery))
    if isinstance(made, Refusal):
        return Outlook(reasons, blockers=(made.why,))
    try:
        return replace(_judged(_Rollout(extension, inputs.revisions, made.phases), place, waivers), reasons=reasons)
    except InvalidName as error:
        return Outlook(reasons, blockers=(str(error),))


@dataclass(frozen=True, slots=True)
class _Rollout:
    """The objects that an extension is to have, and the revisions that it has."""

    extension: ClusterExtension
    revisions: Revisions
    phases: Sequence[Phase]


def _judged(rollout: _Rollout, place: Place, waivers: Sequence[Waiver]) -> Outlook:
    desired = [dict(one) for phase in rollout.phases for one in phase.objects]
    there = [
        one
        for phase in rollout.phases
        for _, one in read_phase(phase, place.cluster, place.discovery)
        if one is not None
    ]
    ours, unread = _ours(rollout.revisions, place)
    old = tuple({identity_of(one): one for one in (*ours, *there)}.values())
    changed = changes(old, desired)
    touched = {identity_of(one.manifest) for one in changed if one.effect is not Effect.KEEP}
    stored = place.stored([one for one in old if identity_of(one) in touched and _is_definition(one)])
    is_strict = rollout.extension.is_strict
    return Outlook(
        (),
        changed,
        (*_collisions(there, rollout.revisions), *obstacles(old, desired, waivers, is_strict=is_strict)),
        (
            *unread, *misfits(old, desired, stored), *(waived(old, desired, waivers) if is_strict else ()),
            *losses(old, desired, stored, waivers),
        ),
    )  # fmt: skip


def _target(resolution: Resolution) -> Target | None:
    chosen = resolution.bundle
    return Target(resolution, chosen, chosen.identity) if chosen and chosen.identity else None


def _ours(revisions: Revisions, place: Place) -> tuple[list[ReadOnly], list[str]]:
    """What the revisions control now, and which of them cannot be looked into."""
    uids = {one.uid for one in revisions.active}
    found: list[ReadOnly] = []
    unread = []
    for revision in revisions.active:
        try:
            phases = resolved(revision.raw, secrets_of(revision, place.cluster))
        except Unreadable as error:
            unread.append(f"what {revision.name} has installed is not known: {error}")
            continue
        objects = (one for phase in phases for _, one in read_phase(phase, place.cluster, place.discovery))
        found += (one for one in objects if one is not None and controller_of(one) in uids)
    return found, unread


def _collisions(there: Sequence[ReadOnly], revisions: Revisions) -> Iterator[str]:
    """Objects that are there already, and are somebody else's."""
    newest = revisions.newest
    mine = Revision(_NOT_MADE, (newest.number if newest else 0) + 1, {one.uid for one in revisions.active})
    for one in there:
        try:
            is_others = object_action(one, mine) is Action.COLLISION
        except ValueError:  # why: somebody wrote another text where the number of a revision belongs
            is_others = True
        if is_others:
            yield f"{described(one)} is there already, and not of this extension"


def _is_definition(manifest: ReadOnly) -> bool:
    return manifest.get("kind") == "CustomResourceDefinition"
