"""Watches by its name each ConfigMap that a CatalogSource waits for, until it is there (DESIGN §15).

One that is there has the label by which all of them are watched together; one that is absent, or made again by
somebody, has none, and nobody else tells of it. Only metadata is asked for. Such a watch has no part in the health of
the program; on Knative nobody has one, and the step looks by itself.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from eventing.events.event import Event
from eventing.watch.demands import REFUSED_PAUSE_SECONDS, Means
from eventing.watch.keyed_tasks import KeyedTasks
from eventing.watch.kind_watch import KindWatch
from eventing.watch.namespaced import Key, ListedKeys
from eventing.watch.stream import Stream
from eventing.watch.watch_health import WatchHealth
from shared import names
from shared.api.manifest import ReadOnly, name_of, namespace_of
from shared.api.views import CatalogSource
from shared.domain.config_map_source import awaited
from shared.kinds import CATALOG_SOURCE, CONFIG_MAP, Ref

MOST, MOST_OF_NAMESPACE = 64, 8
"""Names that are watched; the catalogs beyond are looked at by their step."""


@dataclass(frozen=True, slots=True)
class _Arrival:
    """An observer that turns whatever is heard of one ConfigMap into an event of the catalog that waits for it."""

    source: Ref

    def observe(self, change: str, _: ReadOnly) -> Sequence[Event]:
        """One line of a watch."""
        return () if change == "DELETED" else (self._event(),)

    def page(self, items: Iterable[ReadOnly], listed: ListedKeys) -> Sequence[Event]:
        """One page of a list."""
        found = {(namespace_of(item), name_of(item)) for item in items}
        listed |= found
        return (self._event(),) if found else ()

    def settle(self, listed: ListedKeys) -> Sequence[Event]:
        """The end of a list: what is absent is told by nobody."""
        del listed
        return ()

    def _event(self) -> Event:
        return Event(f"config-map-{uuid.uuid4()}", names.RESYNC_REQUESTED, "/olmf/watch", self.source)


class AwaitedConfigMaps:
    """The ConfigMaps that CatalogSources wait for, by CatalogSource."""

    def __init__(self, means: Means, deliver: Callable[[Sequence[Event]], Awaitable[None]]) -> None:
        self._means = means
        self._deliver = deliver
        self._tasks = KeyedTasks(self._follow, "watch", most=MOST, most_of_namespace=MOST_OF_NAMESPACE)

    @property
    def watched(self) -> frozenset[Key]:
        """Namespaces and names of what is watched."""
        return frozenset((namespace, name) for (namespace, _), name in self._tasks.targets.items())

    def put(self, manifest: ReadOnly) -> None:
        """Watch what a CatalogSource waits for, or nothing if it has what it needs."""
        source = CatalogSource(manifest)
        self._tasks.put((source.namespace, source.name), awaited(source))

    def drop(self, key: Key) -> None:
        """Watch nothing for that CatalogSource."""
        self._tasks.drop(key)

    def keep(self, listed: ListedKeys) -> None:
        """Only these CatalogSources are left."""
        self._tasks.keep(listed)

    async def _follow(self, key: Key, name: str) -> None:
        means = self._means
        stream = Stream(means.session, means.connection, CONFIG_MAP, namespace=key[0], name=name)
        watch = KindWatch(
            stream, _Arrival(CATALOG_SOURCE.ref(key[1], key[0])), self._deliver,
            health=WatchHealth(), seconds=means.seconds, outage=means.outage, longest=REFUSED_PAUSE_SECONDS,
        )  # fmt: skip
        await watch.run()
