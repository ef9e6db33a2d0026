"""Reads the warnings that Events state about one object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from shared.adapters.kube.client import KubeClient
from shared.adapters.kube.listing import field_selector
from shared.adapters.kube.paths import path_of
from shared.api.manifest import Manifest, ReadOnly, metadata
from shared.domain.unpack.causes import Warned
from shared.kinds import EVENT, Ref

PAGE: Final = 50
"""Number of Events that are read; an object that fails in one way has few, and they are counted up."""
NEWEST: Final = 8


class KubeWarnings:
    """The Events in a cluster. Implements `Warnings`."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client

    def about(self, ref: Ref, uid: str) -> tuple[Warned, ...]:
        """The newest warnings about the object with that uid, the oldest first."""
        selected = {"involvedObject.kind": ref.kind, "involvedObject.name": ref.name, "type": "Warning"}
        if uid:
            selected["involvedObject.uid"] = uid
        query = {"limit": str(PAGE), "fieldSelector": field_selector(selected)}
        page = self._client.request("GET", path_of(EVENT, ref.namespace), query=query)
        return newest(page.get("items") or ())


def newest(events: Sequence[Manifest]) -> tuple[Warned, ...]:
    """The newest ones, reduced to reason and message."""
    ordered = sorted(events, key=_last_seen)[-NEWEST:]
    return tuple(Warned(str(one.get("reason") or ""), str(one.get("message") or "")) for one in ordered)


def _last_seen(event: ReadOnly) -> str:
    series = (event.get("series") or {}).get("lastObservedTime")
    times = (series, event.get("lastTimestamp"), event.get("eventTime"), metadata(event).get("creationTimestamp"))
    return max(str(one or "") for one in times)
