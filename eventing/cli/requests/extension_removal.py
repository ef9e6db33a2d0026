"""Takes a ClusterExtension away, and looks at every object of it until it is gone; says what stays, and why."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from eventing.cli.commands import quoted
from eventing.cli.requests.removal import delete
from eventing.cli.requests.request import PackageError
from eventing.cli.requests.subscribing import POLL_SECONDS
from shared import kinds, names
from shared.adapters.kube.errors import ApiError
from shared.api.manifest import ReadOnly, uid_of
from shared.api.views import ClusterExtension, ClusterObjectSet, CustomResourceDefinition, Object
from shared.domain.command import olmf
from shared.domain.extension.phases.actions import controller_of
from shared.domain.extension.phases.packing import Unreadable
from shared.domain.extension.phases.sources import references, resolved
from shared.domain.extension.revisions import Revisions
from shared.kinds import Kind, Ref
from shared.reading.extension import revisions_of
from shared.reading.present_objects import read_phase
from shared.reading.revision import secrets_of

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

_OURS: Final = (names.V1_TEARDOWN, *names.V1_EXTENSION_FINALIZERS, "foregroundDeletion", "orphan")
_NAMED: Final = 10
"""How many objects are named that are left."""


@dataclass(frozen=True, slots=True)
class _Owned:
    """What an extension consists of."""

    objects: tuple[tuple[Ref, ReadOnly], ...]
    """What its revisions control: to be deleted with them."""
    others: tuple[Ref, ...] = ()
    """What they hold, and somebody else controls: it stays."""
    unread: str = ""
    """Why the content of a revision is not known."""


def remove_extension(
    cluster: KubeClient, name: str, *, timeout: timedelta, with_objects: bool = False
) -> Iterator[str]:
    """Delete an extension, and wait until nothing of it is left; without any time it does not wait.

    PackageError when there is none, when its definitions have objects that would be lost or nobody can tell whether
    they have, or when something stays.
    """
    ref = kinds.CLUSTER_EXTENSION.ref(name)
    extension = ClusterExtension(cluster.get(ref) or {})
    revisions = revisions_of(extension, cluster) if extension.name else _orphans(cluster, name)
    if not extension.name and not revisions.all:
        raise PackageError(f"there is no ClusterExtension {name!r}; {quoted(olmf('extension', 'ls'))} lists them")
    owned = _owned(cluster, revisions)
    stored = list(_stored(cluster, owned))
    if extension.name and not extension.is_deleted and not with_objects:
        _check_harmless(owned, stored)
    if extension.name:
        delete(cluster, ref, extension.uid)
        yield f"deleted ClusterExtension {name}"
    if owned.unread:
        yield f"cannot tell which objects its revisions have: {owned.unread}"
    yield from (f"lost with their definitions: {one}" for one in stored)
    if not timeout:
        return
    parts = [(ref, extension.raw), *((_ref(one), one.raw) for one in revisions.all), *_secrets(cluster, revisions)]
    yield from _wait(cluster, [*((each, uid_of(one)) for each, one in (*parts, *owned.objects))], timeout)
    yield f"gone: {_counted(revisions.all, 'revision')}, {_counted(owned.objects, 'object')}"
    yield from (f"stays, because somebody else controls it: {_shown(one)}" for one in owned.others)
    if extension.install_namespace:
        yield f"stays, because a bundle never brings it: Namespace {extension.install_namespace}"


def _check_harmless(owned: _Owned, stored: Sequence[str]) -> None:
    """PackageError when objects go with their definitions, or when nobody can tell."""
    if stored:
        why = "these objects go with their definitions, and with them what their operator made"
        raise PackageError(f"{'; '.join(stored)}: {why}; delete them first, or say --delete-objects")
    if owned.unread:
        what = f"cannot tell which objects its revisions have, nor what is lost with their definitions: {owned.unread}"
        raise PackageError(f"{what}; ask as somebody who may read them, or say --delete-objects")


def _wait(cluster: KubeClient, parts: Sequence[tuple[Ref, str]], timeout: timedelta) -> Iterator[str]:
    """Wait until the objects of these uids are gone. PackageError names what is left, and what holds it."""
    deadline, left = time.monotonic() + timeout.total_seconds(), list(parts)
    last_message = ""
    while left := _left(cluster, left):
        if time.monotonic() > deadline:
            raise PackageError(_remainder(cluster, left, timeout))
        if (blocking := _blocked_by_finalizers(cluster, left)) and blocking != last_message:
            yield blocking
            last_message = blocking
        time.sleep(POLL_SECONDS)


def _left(cluster: KubeClient, parts: Sequence[tuple[Ref, str]]) -> list[tuple[Ref, str]]:
    found = cluster.get_all([ref for ref, _ in parts])
    return [one for one, there in zip(parts, found, strict=True) if there is not None and uid_of(there) == one[1]]


def _blocked_by_finalizers(cluster: KubeClient, left: Sequence[tuple[Ref, str]]) -> str:
    """Which objects wait for finalizers of others; empty when none does."""
    objects = map(Object, filter(None, cluster.get_all([ref for ref, _ in left])))
    blocking = [(one, foreign) for one in objects if one.is_deleted and (foreign := _foreign(one))]
    shown = [f"{_shown(Ref.of(one.raw))} (finalizers: {', '.join(foreign)})" for one, foreign in blocking[:_NAMED]]
    return f"others hold back {', '.join(shown)}" if shown else ""


def _foreign(found: Object) -> list[str]:
    """The finalizers of an object that neither we nor the garbage collector take off."""
    return [one for one in found.finalizers if one not in _OURS]


def _remainder(cluster: KubeClient, left: Sequence[tuple[Ref, str]], timeout: timedelta) -> str:
    shown = ", ".join(_shown(ref) for ref, _ in left[:_NAMED])
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    blocking = _blocked_by_finalizers(cluster, left)
    revision = next((ref.name for ref, _ in left if ref.kind == kinds.CLUSTER_OBJECT_SET.kind), "")
    hint = f"; {quoted(olmf('why', f'ClusterObjectSet/{revision}'))} shows more" if revision else ""
    return (
        f"still there after {timeout.total_seconds():.0f} s: {shown}{more}{f'; {blocking}' if blocking else ''}{hint}"
    )


def _owned(cluster: KubeClient, revisions: Revisions) -> _Owned:
    """The objects of all revisions that are there."""
    uids = {one.uid for one in revisions.all}
    objects: dict[Ref, ReadOnly] = {}
    others: dict[Ref, None] = {}
    unread = ""
    for revision in revisions.all:
        try:
            phases = resolved(revision.raw, secrets_of(revision, cluster))
            found = [pair for phase in phases for pair in read_phase(phase, cluster, cluster)]
        except (Unreadable, ApiError) as error:
            unread = str(error)
            continue
        for ref, there in found:
            if there is not None and controller_of(there) in uids:
                objects[ref] = there
            elif there is not None:
                others[ref] = None
    return _Owned(tuple(objects.items()), tuple(one for one in others if one not in objects), unread)


def _stored(cluster: KubeClient, owned: _Owned) -> Iterator[str]:
    """The definitions that go, and of how many objects."""
    for ref, manifest in owned.objects:
        definition = CustomResourceDefinition(manifest)
        if ref.kind == kinds.CUSTOM_RESOURCE_DEFINITION.kind and definition.served:
            version, plural = f"{definition.group}/{definition.served[0]}", definition.name.partition(".")[0]
            kind = Kind(version, definition.resource_kind, plural, manifest["spec"].get("scope") == "Namespaced")
            if found := len(cluster.list(kind)):
                yield f"{found} {definition.resource_kind} of {definition.name}"


def _secrets(cluster: KubeClient, revisions: Revisions) -> Iterator[tuple[Ref, ReadOnly]]:
    """The Secrets with the content of revisions, as far as they may be read."""
    places = dict.fromkeys(place for one in revisions.all for place in references(one.raw))
    refs = [ref for namespace, name in places if (ref := kinds.SECRET.ref_or_none(name, namespace))]
    try:
        found = cluster.get_all(refs)
    except ApiError:
        return
    yield from ((ref, one) for ref, one in zip(refs, found, strict=True) if one is not None)


def _orphans(cluster: KubeClient, name: str) -> Revisions:
    """The revisions of an extension that is gone: an uninstall that was not waited for."""
    mine = [one for one in ClusterObjectSet.each(cluster.list(kinds.CLUSTER_OBJECT_SET)) if one.owner == name]
    return Revisions(tuple(one for one in mine if one.is_deleted))


def _ref(revision: ClusterObjectSet) -> Ref:
    return kinds.CLUSTER_OBJECT_SET.ref(revision.name)


def _shown(ref: Ref) -> str:
    return f"{ref.kind} {f'{ref.namespace}/' if ref.namespace else ''}{ref.name}"


def _counted(found: Sized, noun: str) -> str:
    return f"{len(found)} {noun}{'' if len(found) == 1 else 's'}"
