"""The objects of a revision as the cluster has them: few of a kind one by one, many of a kind as one list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from shared import names
from shared.api.manifest import Manifest, ReadOnly, metadata
from shared.api.views import ClusterObjectSet, Object
from shared.domain.extension.phases.order import Phase
from shared.domain.extension.scopes import scope_of
from shared.kinds import Kind
from shared.ports import Cluster, Discovery
from shared.reading.objects import read_all
from shared.step import Ref

MANY: Final = 8
"""Of one kind in one namespace: as many objects of a revision are read as one list."""
BOUND: Final = 2
"""A list in a namespace with as many times the objects of the revision is not read further, and not used."""


@dataclass(slots=True)
class Present:
    """What is read of the objects of one revision in one run, each list once.

    A list has those that bear the label of the revision. An object that somebody took it from is not there, unless
    `is_certain`: then each one that a list lacks is asked for by its name. Of a revision that `is_new` the objects
    behind a phase whose first one is absent are absent, too: they are written in order. If not, a write meets them.
    """

    revision: ClusterObjectSet
    phases: Sequence[Phase]
    cluster: Cluster
    discovery: Discovery
    is_certain: bool = False
    is_new: bool = False
    is_behind: bool = False
    """Whether what is asked for now is behind the first object that is absent."""
    _counts: Counter[tuple[str, str, str]] | None = None
    _lists: dict[tuple[str, str, str], Mapping[Ref, Manifest] | None] = field(default_factory=dict)

    @property
    def has_lists(self) -> bool:
        """Whether any of it is read as a list."""
        return any(count >= MANY for count in self._counted().values())

    def of(self, refs: Iterable[Ref]) -> dict[Ref, Manifest | None]:
        """Each of these, or None when there is none."""
        listed = tuple(refs)
        first = self._asked(listed[:1]) if self.is_new and not self.is_behind else {}
        self.is_behind |= None in first.values()
        return dict.fromkeys(listed) if self.is_behind else first | self._asked(listed[len(first) :])

    def _asked(self, refs: Iterable[Ref]) -> dict[Ref, Manifest | None]:
        listed: dict[Ref, Manifest | None] = {}
        asked = []
        for ref in refs:
            found = self._list(ref)
            if found is None or (self.is_certain and ref not in found):
                asked.append(ref)
            else:
                listed[ref] = found.get(ref)
        return listed | read_all(self.cluster, asked)

    def with_real_namespace(self, manifest: ReadOnly) -> tuple[Manifest, bool]:
        """An object with the namespace that it really has, and whether its kind has one."""
        return with_real_namespace(manifest, self.discovery)

    def _list(self, ref: Ref) -> Mapping[Ref, Manifest] | None:
        """What there is of its kind in its namespace; None where the revision has but a few, or others far more."""
        scope = _scope(ref)
        if self._counted()[scope] < MANY or (kind := self._kind(ref)) is None:
            return None
        if scope not in self._lists:
            owner = self.revision.owner
            labels = {names.V1_OWNER_NAME: owner} if owner else {names.V1_MANAGED_BY: names.V1_MANAGER}
            # why: who may write to the namespace gives this label to as many objects as he likes
            most = BOUND * self._counted()[scope] if ref.namespace else 0
            found = self.cluster.list(kind, ref.namespace, labels=labels, most=most)
            self._lists[scope] = None if 0 < most <= len(found) else {Ref.of(one): one for one in found}
        return self._lists[scope]

    def _kind(self, ref: Ref) -> Kind | None:
        return self.discovery.find(ref.api_version, ref.kind)

    def _counted(self) -> Counter[tuple[str, str, str]]:
        if self._counts is None:
            self._counts = Counter(map(_scope, self._refs()))
        return self._counts

    def _refs(self) -> Iterator[Ref]:
        refs = (Ref.read(self.with_real_namespace(one)[0]) for phase in self.phases for one in phase.objects)
        return filter(None, refs)


def read_phase(phase: Phase, cluster: Cluster, discovery: Discovery) -> Iterator[tuple[Ref, ReadOnly | None]]:
    """The objects of a phase as the cluster has them, each by its name; those that nobody can have are left out."""
    refs = (Ref.read(with_real_namespace(one, discovery)[0]) for one in phase.objects)
    yield from read_all(cluster, filter(None, refs)).items()


def with_real_namespace(manifest: ReadOnly, discovery: Discovery) -> tuple[Manifest, bool]:
    """An object with the namespace that it really has, and whether its kind has one."""
    view = Object(manifest)
    kind = discovery.find(view.api_version, view.kind)
    is_namespaced = kind.is_namespaced if kind else bool(scope_of(manifest))
    if is_namespaced:
        return dict(manifest), True
    meta = {key: value for key, value in metadata(manifest).items() if key != "namespace"}
    return {**manifest, "metadata": meta}, False


def _scope(ref: Ref) -> tuple[str, str, str]:
    return ref.api_version, ref.kind, ref.namespace
