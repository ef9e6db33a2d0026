"""What is there before an install: the objects of a cluster, of a capture, or of files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.api.manifest import labels_of, name_of
from shared.api.views import CustomResourceDefinition, OperatorGroup
from shared.domain.extension.outlook import identity_of
from shared.domain.extension.scopes import CLUSTER_KINDS, group_kind
from shared.domain.objects.ownership import labels_for
from shared.kinds import (
    API_SERVICE,
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    KINDS,
    OPERATOR_GROUP,
    WEBHOOK_CONFIGURATIONS,
    Kind,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.ports import Cluster

    Manifest = dict[str, Any]

_KNOWN = {(kind.api_version, kind.kind): kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class PresentObjects:
    """The objects of a namespace, and cluster-scoped ones; without `cluster` only `objects` are known."""

    namespace: str
    cluster: Cluster | None = None
    objects: tuple[Manifest, ...] = ()
    is_partial: bool = False
    """Whether there may be more objects than `objects`: a capture has only those of watched kinds."""

    @classmethod
    def of(cls, namespace: str, objects: Iterable[Manifest], *, is_partial: bool) -> PresentObjects:
        """Those of a capture or of files; namespaced objects without a namespace are in this one."""
        return cls(namespace, None, tuple(placed(one, namespace) for one in objects), is_partial)

    def present(self, desired: Sequence[Manifest]) -> Iterator[Manifest]:
        """The present state of the desired objects that exist."""
        ours = set(map(identity_of, desired))
        yield from (one for one in self.objects if identity_of(one) in ours)
        if self.cluster:
            refs = [
                kind.ref(name_of(one), one["metadata"].get("namespace", ""))
                for one in desired
                if (kind := _KNOWN.get((one["apiVersion"], one["kind"])))
            ]
            yield from filter(None, self.cluster.get_all(refs))

    def unknown(self, desired: Sequence[Manifest]) -> Iterator[str]:
        """Messages about desired objects that may exist, because their kind was not read."""
        kinds = set(map(group_kind, self.objects))
        for one in desired:
            if self.cluster and (one["apiVersion"], one["kind"]) not in _KNOWN:
                yield f"{one['kind']} {name_of(one)} may exist already: objects of this kind are not read"
            elif self.is_partial and group_kind(one) not in kinds:
                yield f"{one['kind']} {name_of(one)} may exist already: the capture holds no object of this kind"

    def csvs(self) -> list[Manifest]:
        """The ClusterServiceVersions of the namespace."""
        return self._of(CLUSTER_SERVICE_VERSION)

    def groups(self) -> list[Manifest]:
        """Its OperatorGroups."""
        return self._of(OPERATOR_GROUP)

    def group(self) -> OperatorGroup | None:
        """The only OperatorGroup."""
        groups = self.groups()
        return OperatorGroup(groups[0]) if len(groups) == 1 else None

    def leading_to(self, versions: Iterable[str]) -> Iterator[Manifest]:
        """The configurations of webhooks and APIServices that are labelled for versions of the namespace."""
        desired = [labels_for(name, self.namespace) for name in versions]
        for kind in (API_SERVICE, *WEBHOOK_CONFIGURATIONS) if desired else ():
            found = self.cluster.list(kind) if self.cluster else self.objects
            of_kind = (one for one in found if self.cluster or group_kind(one) == (kind.group, kind.kind))
            yield from (dict(one) for one in of_kind if any(each.items() <= labels_of(one).items() for each in desired))

    def stored(self, changed: Sequence[Manifest]) -> Iterator[Manifest]:
        """The stored objects of definitions that would change; `changed` are their present definitions."""
        yield from self.objects if changed else ()
        for one in changed if self.cluster else ():
            definition = CustomResourceDefinition(one)
            if self.cluster and definition.served:
                version, spec = f"{definition.group}/{definition.served[0]}", one["spec"]
                is_namespaced = spec.get("scope") == "Namespaced"
                kind = Kind(version, definition.resource_kind, str(spec["names"]["plural"]), is_namespaced)
                yield from ({"apiVersion": version, "kind": kind.kind, **each} for each in self.cluster.list(kind))

    def _of(self, kind: Kind) -> list[Manifest]:
        if self.cluster:
            return [dict(one) for one in self.cluster.list(kind, self.namespace)]
        desired = (kind.group, kind.kind), self.namespace
        return [one for one in self.objects if (group_kind(one), one["metadata"].get("namespace")) == desired]


def placed(manifest: Manifest, namespace: str) -> Manifest:
    """The object, in this namespace if it is namespaced and names none."""
    meta = manifest.get("metadata") or {}
    if group_kind(manifest) in CLUSTER_KINDS or meta.get("namespace"):
        return manifest
    return {**manifest, "metadata": {**meta, "namespace": namespace}}


def definitions(objects: Sequence[Manifest]) -> list[Manifest]:
    """The CustomResourceDefinitions among some objects."""
    return [one for one in objects if one.get("kind") == CUSTOM_RESOURCE_DEFINITION.kind]
