"""Where one ClusterExtension stands, what it waits for and which rule removed which bundle, as text and as a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from eventing.diagnosis.revision_objects import ObjectState, object_states
from eventing.diagnosis.status.extension import Link, chain, decide_extension, reasons
from eventing.diagnosis.status.extension_reader import read
from shared.adapters.kube.errors import ApiError
from shared.api.views import ClusterExtension, ClusterObjectSet
from shared.kinds import CLUSTER_EXTENSION, CLUSTER_OBJECT_SET, Ref

if TYPE_CHECKING:
    from eventing.diagnosis.status.package_status import PackageStatus
    from eventing.diagnosis.status.reader import Sources
    from shared.ports import Cluster, Discovery
    from shared.reading.extension import Sources as Content


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known about one extension."""

    status: PackageStatus
    chain: tuple[Link, ...] = ()
    objects: tuple[ObjectState, ...] = ()
    """Those of the revisions that it waits for which are not ready."""
    reasons: tuple[str, ...] = ()

    def paragraphs(self) -> Iterator[str]:
        """What it waits for, and how its bundle is chosen, for people."""
        if self.chain:
            yield "\n".join(["waits for", *(line for link in self.chain for line in _link(link, self.objects))])
        if self.reasons:
            yield "\n".join(["bundle", *(f"  {line}" for one in self.reasons for line in one.splitlines())])

    def json(self) -> Mapping[str, Any]:
        """The same as JSON."""
        return {
            "chain": [{"object": str(one.ref), "message": one.message} for one in self.chain],
            "objects": list(map(object_value, self.objects)),
            "reasons": list(self.reasons),
        }


def extension_behind(ref: Ref, cluster: Cluster) -> ClusterExtension | None:
    """The extension that a ref is about: itself, or that of a revision; None of anything else, or when it is gone."""
    if (ref.api_version, ref.kind) == (CLUSTER_EXTENSION.api_version, CLUSTER_EXTENSION.kind):
        return ClusterExtension.of(cluster.get(ref))
    if (ref.api_version, ref.kind) != (CLUSTER_OBJECT_SET.api_version, CLUSTER_OBJECT_SET.kind):
        return None
    revision = ClusterObjectSet.of(cluster.get(ref))
    return ClusterExtension.of(CLUSTER_EXTENSION.look_up(cluster.get, revision.owner)) if revision else None


def answer_about(
    extension: ClusterExtension, sources: Sources, content: Content, discovery: Discovery | None
) -> Answer:
    """Where it stands, with everything that helps; a capture has no discovery, and none of the content of revisions."""
    found = read(sources, extension, content)
    links = tuple(chain(found))
    waited_for = {one.ref for one in links}
    revisions = [one for one in found.revisions.all if CLUSTER_OBJECT_SET.ref(one.name) in waited_for]
    states = (one for each in revisions for one in (states_of(each, sources.cluster, discovery) if discovery else ()))
    objects = (one for one in states if not one.is_ready)
    return Answer(decide_extension(found), links, tuple(objects), reasons(found))


def states_of(revision: ClusterObjectSet, cluster: Cluster, discovery: Discovery) -> Sequence[ObjectState]:
    """The objects of a revision; where they may not be read, one entry that says so."""
    try:
        return object_states(revision, cluster, discovery, datetime.now(UTC))
    except ApiError as error:
        return (ObjectState(revision.name, CLUSTER_OBJECT_SET.ref(revision.name), "unknown", str(error)),)


def object_value(one: ObjectState) -> dict[str, object]:
    """An object of a revision as a row."""
    return {"revision": one.revision, "object": shown(one.ref), "state": one.state, "message": one.message}


def shown(ref: Ref) -> str:
    """An object as people name it."""
    return f"{ref.kind} {f'{ref.namespace}/' if ref.namespace else ''}{ref.name}"


def _link(link: Link, objects: Sequence[ObjectState]) -> Iterator[str]:
    first, *more = link.message.splitlines() or [""]
    yield f"  {shown(link.ref)}: {first}"
    yield from (f"    {line}" for line in more)
    for one in objects:
        if CLUSTER_OBJECT_SET.ref(one.revision) == link.ref:
            yield f"    {shown(one.ref)}: {one.state}{f': {one.message}' if one.message else ''}"
