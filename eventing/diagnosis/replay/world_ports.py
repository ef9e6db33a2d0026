"""The ports that a small world answers itself, by listing all its objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from eventing.effects import Api
from shared import names
from shared.adapters.keys import StoredKeys
from shared.adapters.kube.accounts import KubeAccounts
from shared.api.manifest import Manifest, labels_of, name_of, namespace_of, resource_version_of
from shared.api.views import Csv
from shared.domain.csv.copies import Copy
from shared.domain.progress import Progress
from shared.domain.unpack.causes import Warned
from shared.kinds import CLUSTER_SERVICE_VERSION, Kind, Ref
from shared.ports import (
    Accounts,
    Cluster,
    Content,
    Copies,
    Discovery,
    Inventory,
    Journal,
    Keys,
    ReadSets,
    Runs,
    Warnings,
)


class World(Api, Cluster, Protocol):
    """The API of a server that nothing else uses, e.g. a fresh sandbox (`KubeClient` on it)."""

    def version(self) -> str:
        """`gitVersion`."""
        ...

    def merge(self, ref: Ref, patch: Manifest, *, subresource: str = "", field_manager: str = "") -> Manifest:
        """JSON merge patch, by that field manager."""
        ...

    def request(self, method: str, path: str, body: Manifest | None = None) -> Manifest:
        """Any request to the API server."""
        ...


def ports_of(world: World) -> dict[type, Any]:
    """The ports that a world can answer."""
    return {
        Cluster: world,
        Accounts: KubeAccounts(world),
        Discovery: world,
        Copies: ListedCopies(world),
        Keys: StoredKeys(world),
        Inventory: ListedInventory(world),
        Warnings: NothingWarned(),
        Journal: NothingUnseen(),
        Content: NothingKept(),
        Runs: NothingRuns(),
        ReadSets: NothingRead(),
    }


@dataclass(frozen=True, slots=True)
class ListedCopies:
    """Implements `Copies`."""

    cluster: Cluster

    def made_from(self, namespace: str, name: str = "") -> tuple[Copy, ...]:
        """The copies of the originals in a namespace; with `name`, only the copies of that one."""
        found = self.cluster.list(CLUSTER_SERVICE_VERSION, labels={names.COPIED_FROM: namespace})
        return tuple(Copy.of(Csv(manifest)) for manifest in found if name in ("", name_of(manifest)))

    def others(self, namespace: str, name: str) -> frozenset[str]:
        """Namespaces with a version of that name that is no copy of the one in `namespace`."""
        named = (manifest for manifest in self.cluster.list(CLUSTER_SERVICE_VERSION) if name_of(manifest) == name)
        strange = (manifest for manifest in named if labels_of(manifest).get(names.COPIED_FROM) != namespace)
        return frozenset(map(namespace_of, strange)) - {namespace}


@dataclass(frozen=True, slots=True)
class ListedInventory:
    """Implements `Inventory`."""

    cluster: Cluster

    def versions(self, kind: Kind, *, labels: Mapping[str, str] | None = None) -> tuple[tuple[Ref, str], ...]:
        """Every object of a kind with its resourceVersion."""
        return tuple(
            (Ref.of(manifest), resource_version_of(manifest)) for manifest in self.cluster.list(kind, labels=labels)
        )


class NothingUnseen:
    """Implements `Journal`: every event was seen."""

    def unseen(self, _: Sequence[tuple[Ref, str]]) -> tuple[Ref, ...]:
        """No refs."""
        return ()


class NothingWarned:
    """Implements `Warnings`: Events do not happen again in a world of recorded objects."""

    def about(self, _: Ref, __: str) -> tuple[Warned, ...]:
        """No warnings."""
        return ()


class NothingRuns:
    """Implements `Runs`: no run says how far it is."""

    def progress(self, _: Ref) -> Progress | None:
        """None."""
        return None


class NothingRead:
    """Implements `ReadSets`: nothing is known of what decisions read."""

    def of(self, refs: Sequence[Ref]) -> tuple[Manifest, ...]:
        """Nothing of each."""
        return tuple({} for _ in refs)

    def keep_only(self, _: Sequence[Ref]) -> int:
        """0: there is nothing to forget."""
        return 0


class NothingKept:
    """Implements `Content`: there is no stored content."""

    def keep_only(self, _: Sequence[str]) -> int:
        """0 bytes."""
        return 0
