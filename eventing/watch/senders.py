"""Follows the Pods through which events reach us on Knative, and says when one of them comes back.

An adapter that starts tells nothing of what exists, and what is sent while the Broker is away is lost. Both are Pods
that become ready again afterwards.

Decision: one watch of Pods for each namespace, a dozen objects. Turned down:
a probe that is sent through the Broker again and again (deliveries while nothing happens, and nothing of the adapter);
asking the status of Broker and source (they stay Ready while a Pod is replaced).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

import aiohttp

from eventing.watch.kind_watch import KindWatch
from eventing.watch.namespaced import ListedKeys
from eventing.watch.stream import Stream
from eventing.watch.watch_health import WatchHealth
from shared.adapters.kube import Connection
from shared.api.manifest import ReadOnly, name_of, namespace_of, uid_of
from shared.kinds import POD, Watch

ADAPTERS = "eventing.knative.dev/sourceName"
"""The label of the Pods of a source; beside them, in our namespace, are our own."""


class Returns:
    """An observer: the names of Pods that were not ready when they were last seen, and are."""

    def __init__(self) -> None:
        self._ready: dict[tuple[str, str], tuple[str, str]] = {}
        self._is_listed = False

    def observe(self, change: str, manifest: ReadOnly) -> Sequence[str]:
        """One line of the watch."""
        key = (namespace_of(manifest), name_of(manifest))
        since = "" if change == "DELETED" else ready_since(manifest)
        state, before = (uid_of(manifest), since), self._ready.pop(key, None)
        if not since:
            return ()
        self._ready[key] = state
        return () if state == before else (name_of(manifest),)

    def page(self, items: Iterable[ReadOnly], listed: ListedKeys) -> Sequence[str]:
        """One page of a list. What the first one shows did not come back: whoever starts audits anyway."""
        found: list[str] = []
        for item in items:
            listed.add((namespace_of(item), name_of(item)))
            found += self.observe("ADDED", item)
        return found if self._is_listed else ()

    def settle(self, listed: ListedKeys) -> Sequence[str]:
        """The end of a list."""
        self._ready = {key: state for key, state in self._ready.items() if key in listed}
        self._is_listed = True
        return ()


def ready_since(pod: ReadOnly) -> str:
    """Since when the Pod is ready; empty when it is not."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return next(
        (str(one.get("lastTransitionTime")) for one in conditions if (one["type"], one["status"]) == ("Ready", "True")),
        "",
    )


async def follow(connection: Connection, ours: str, brokers: str, on_return: Callable[[str], object]) -> None:
    """Watch the adapters in our namespace and the Pods of the Brokers in theirs, until cancelled."""

    async def deliver(names: Sequence[str]) -> None:
        if names:
            on_return(", ".join(names))

    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as tasks:
        for namespace, selector in ((ours, ADAPTERS), (brokers, "")):
            stream = Stream(session, connection, POD, Watch(is_whole=True), selector=selector, namespace=namespace)
            watch = KindWatch(stream, Returns(), deliver, health=WatchHealth(), seconds=300)
            tasks.create_task(watch.run(), name=f"pods of {namespace}")
