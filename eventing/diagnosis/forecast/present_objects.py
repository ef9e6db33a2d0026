"""What exists before an install: the objects of a cluster, of a capture, or of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

from shared import kinds
from shared.api.manifest import Manifest, labels_of, name_of, namespace_of
from shared.api.views import CustomResourceDefinition, OperatorGroup
from shared.domain.extension.outlook import Change, Effect, identity_of
from shared.domain.extension.scopes import CLUSTER_KINDS, group_kind
from shared.kinds import BY_IDENTITY, Kind, Ref
from shared.ports import Cluster, Denied, Discovery

_FORBIDDEN = 403
_Answer = TypeVar("_Answer")


class Server(Cluster, Discovery, Protocol):
    """A cluster that says which kinds it serves."""


@dataclass(frozen=True, slots=True)
class PresentObjects:
    """The objects of a namespace, and cluster-scoped ones; without `cluster` only `objects` are known."""

    namespace: str
    cluster: Server | None = None
    objects: tuple[Manifest, ...] = ()
    is_partial: bool = False
    """Whether there may be more objects than `objects`: a capture has only those of watched kinds."""
    refused: list[str] = field(default_factory=list)
    """Sentences about what may not be read."""
    hidden: set[Kind] = field(default_factory=set)
    """The kinds of which some may not be listed."""
    changed: frozenset[tuple[str, str, str, str]] = frozenset()
    """The identities of what is not any more as the cluster has it: where it is still there, it is in `objects`."""

    @classmethod
    def of(cls, namespace: str, objects: Iterable[Manifest], *, is_partial: bool) -> PresentObjects:
        """Those of a capture or of files; namespaced objects without a namespace are in this one."""
        return cls(namespace, None, tuple(placed(one, namespace) for one in objects), is_partial)

    def after(self, changes: Iterable[Change]) -> PresentObjects:
        """The same, once these changes were made."""
        made = {identity_of(one.manifest): one for one in changes if one.effect is not Effect.KEEP}
        kept = (one for one in self.objects if identity_of(one) not in made)
        new = (dict(one.manifest) for one in made.values() if one.effect is not Effect.REMOVE)
        return replace(self, objects=(*kept, *new), changed=self.changed | made.keys())

    def kind_of(self, manifest: Manifest) -> Kind | None:
        """The kind of an object as it is served; None where it is not, or nobody can tell."""
        api_version, kind = str(manifest.get("apiVersion")), str(manifest.get("kind"))
        if known := BY_IDENTITY.get((api_version, kind)):
            return known
        return self.cluster.find(api_version, kind) if self.cluster else None

    def present(self, desired: Sequence[Manifest]) -> Iterator[Manifest]:
        """The present state of the desired objects that exist."""
        ours = set(map(identity_of, desired))
        yield from (one for one in self.objects if identity_of(one) in ours)
        found = ((self.kind_of(one), one) for one in desired) if self.cluster else ()
        found = ((kind, one) for kind, one in found if identity_of(one) not in self.changed)
        refs = (kind.ref_or_none(name_of(one), namespace_of(one)) for kind, one in found if kind)
        yield from self.read([ref for ref in refs if ref])

    def read(self, refs: Sequence[Ref]) -> Iterator[Manifest]:
        """The objects of the cluster that exist; what may not be read is noted."""
        if self.cluster is None:
            return
        found = _unless_forbidden(partial(self.cluster.get_all, refs))
        if not isinstance(found, Denied):
            yield from filter(None, found)
            return
        for ref in refs:
            one = _unless_forbidden(partial(self.cluster.get, ref))
            if isinstance(one, Denied):
                self.refused.append(f"{ref.kind} {ref.name} may exist already: {one.message}")
            elif one is not None:
                yield one

    def unknown(self, desired: Sequence[Manifest]) -> Iterator[str]:
        """Messages about desired objects that may exist, because their kind is in no capture."""
        read = set(map(group_kind, self.objects))
        for one in desired if self.is_partial else ():
            if group_kind(one) not in read:
                yield f"{one['kind']} {name_of(one)} may exist already: the capture holds no object of this kind"

    def csvs(self) -> list[Manifest]:
        """The ClusterServiceVersions of the namespace."""
        return self.all_of(kinds.CLUSTER_SERVICE_VERSION, self.namespace)

    def group(self) -> OperatorGroup | None:
        """The only OperatorGroup of the namespace."""
        groups = self.all_of(kinds.OPERATOR_GROUP, self.namespace)
        return OperatorGroup(groups[0]) if len(groups) == 1 else None

    def all_of(self, kind: Kind, namespace: str = "", labels: Mapping[str, str] | None = None) -> list[Manifest]:
        """The objects of a kind, of a namespace or of all, that carry all of some labels; none that are hidden."""
        known = [one for one in self.objects if _is_of(one, kind, namespace, labels or {})]
        if self.cluster is None:
            return known
        found = _unless_forbidden(partial(self.cluster.list, kind, namespace, labels=labels))
        if isinstance(found, Denied):
            self.refused.append(found.message)
            self.hidden.add(kind)
            return known
        listed = ({"apiVersion": kind.api_version, "kind": kind.kind, **one} for one in found)
        return [*(one for one in listed if identity_of(one) not in self.changed), *known]

    def stored(self, kind: Kind, *, is_converted: bool) -> list[Manifest]:
        """The stored objects of one version of a definition; without a webhook all versions of an object look alike."""
        if self.cluster is not None:
            return self.all_of(kind)
        same = [one for one in self.objects if group_kind(one) == (kind.group, kind.kind)]
        if is_converted:
            return [one for one in same if one.get("apiVersion") == kind.api_version]
        return [{**one, "apiVersion": kind.api_version} for one in same]


def _unless_forbidden(ask: Callable[[], _Answer]) -> _Answer | Denied:
    """What the cluster answers, or why it may not be asked."""
    from shared.adapters.kube import ApiError

    try:
        return ask()
    except ApiError as error:
        if error.status != _FORBIDDEN:
            raise
        return Denied(error.message)


def stored_in(cluster: Cluster, changed: Iterable[Manifest]) -> Iterator[Manifest]:
    """The stored objects of definitions, in the first version that each serves."""
    for one in map(CustomResourceDefinition, changed):
        for version in one.served[:1]:
            is_namespaced = one.spec.get("scope") == "Namespaced"
            kind = Kind(f"{one.group}/{version}", one.resource_kind, one.resource, is_namespaced)
            yield from ({"apiVersion": kind.api_version, "kind": kind.kind, **each} for each in cluster.list(kind))


def _is_of(one: Manifest, kind: Kind, namespace: str, labels: Mapping[str, str]) -> bool:
    is_there = not namespace or one["metadata"].get("namespace") == namespace
    return is_there and group_kind(one) == (kind.group, kind.kind) and labels.items() <= labels_of(one).items()


def placed(manifest: Manifest, namespace: str) -> Manifest:
    """The object, in this namespace if it is namespaced and names none."""
    meta = manifest.get("metadata") or {}
    if group_kind(manifest) in CLUSTER_KINDS or meta.get("namespace"):
        return manifest
    return {**manifest, "metadata": {**meta, "namespace": namespace}}


def definitions(objects: Sequence[Manifest]) -> list[Manifest]:
    """The CustomResourceDefinitions among some objects."""
    return [one for one in objects if one.get("kind") == kinds.CUSTOM_RESOURCE_DEFINITION.kind]
