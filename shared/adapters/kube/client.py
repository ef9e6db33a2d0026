"""The verbs of the Kubernetes API on raw JSON objects."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from shared.adapters.kube.at_once import AtOnce
from shared.adapters.kube.connection import Connection, connect
from shared.adapters.kube.discovery import KindIndex
from shared.adapters.kube.errors import ApiError
from shared.adapters.kube.freshness import Freshness
from shared.adapters.kube.joint import JointPatches
from shared.adapters.kube.listing import can_be_set, items, label_selector
from shared.adapters.kube.own_name import own_name
from shared.adapters.kube.paths import path_of
from shared.adapters.kube.transport import Transport
from shared.api.manifest import Manifest, name_of, namespace_of, resource_version_of
from shared.kinds import CUSTOM_RESOURCE_DEFINITION, Kind, Ref
from shared.names import FIELD_MANAGER

if TYPE_CHECKING:  # why: whoever only reads a cluster needs no port
    from shared.ports import Listing

PAGE = 500
"""Objects per page of a list."""
VERSION_SECONDS = 300.0
"""How long the version of the server is cached."""

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

Propagation = Literal["Background", "Foreground", "Orphan"]
Query: TypeAlias = Mapping[str, str] | None


class KubeClient:
    """One API server; safe to share among threads. Implements `Cluster` and `Discovery`."""

    def __init__(self, server: Connection | Transport, *, page: int = PAGE) -> None:
        self._page = page
        self._transport = Transport(server) if isinstance(server, Connection) else server
        self._kinds = KindIndex(lambda path: self.request("GET", path))
        self._version = (float("-inf"), "")
        self._freshness = Freshness()
        self._at_once = AtOnce(is_needed=self._transport.is_remote)
        self._joint = JointPatches()
        self._acting_as = ""

    def acting_as(self, account: Ref) -> Self:
        """The same client with the rights of a ServiceAccount; both see what either wrote."""
        acting = copy.copy(self)
        acting._acting_as = f"system:serviceaccount:{account.namespace}:{account.name}"  # noqa: SLF001  # why: a copy of itself
        return acting

    @classmethod
    def from_kubeconfig(cls, path: str = "", *, agent: str = "olmf") -> KubeClient:
        """A client for the cluster of a kubeconfig file; empty: for the cluster of this pod."""
        return cls(replace(connect(path), agent=agent))

    @property
    def server(self) -> str:
        """The address of the API server, for messages."""
        return self._transport.connection.origin

    @property
    def connection(self) -> Connection:
        """The API server, with the credentials for it."""
        return self._transport.connection

    @property
    def requests_made(self) -> int:
        """The number of requests sent so far."""
        return self._transport.requests_made

    # reads

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None when it does not exist (or its kind is not served)."""
        kind = self.find(ref.api_version, ref.kind)
        if kind is None:
            return None
        try:
            return self._freshness.noted(object_about(ref, self.request("GET", path_of(kind, ref.namespace, ref.name))))
        except ApiError as error:
            if error.is_not_found:
                return None
            raise

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        """All objects of a kind, sorted by name; none when the kind is not served.

        The list comes from the watch cache of the API server, and is never older than what this client last saw of the
        kind. A list of the newest state would wait until that cache has heard from etcd: 85 ms on a quiet cluster.
        Only one that has a bound comes from etcd, because the cache answers whole lists whatever limit is asked for.
        """
        query = {"limit": str(min(self._page, most or self._page))}
        if labels:
            if not can_be_set(labels):
                return ()
            query["labelSelector"] = label_selector(labels)
        path = path_of(kind, namespace)
        try:
            found = self._items(kind, path, query, {} if most else self._freshness.query(kind), most=most)
        except ApiError as error:
            if error.is_expired or error.status == 504:
                # why: the history was compacted between two pages, or the server does not know what was seen
                found = self._items(kind, path, query, {}, most=most)
            elif error.is_not_found:
                return ()
            else:
                raise
        filled = ({"apiVersion": kind.api_version, "kind": kind.kind, **item} for item in found)
        return tuple(sorted(filled, key=lambda manifest: (namespace_of(manifest), name_of(manifest))))

    def pages(
        self, kind: Kind, path: str, query: Mapping[str, str], *, first: Query = None, accept: str = JSON
    ) -> Iterator[Manifest]:
        """Every item of a collection. ApiError without a status when a page is of an older state than what was seen."""
        seen = self._freshness.seen(kind)  # why now: what others see meanwhile makes no list too old

        def ask(asked: Mapping[str, str]) -> Manifest:
            page = list_of(kind, self.request("GET", path, query=asked, accept=accept))
            self.check_age(kind, page, seen)
            return page

        return items(ask, query, first=first or {})

    def check_age(self, kind: Kind, page: Manifest, seen: str) -> None:
        """Refuse a list that is older than what was seen: asked again, the server does better, or was restored."""
        if self._freshness.is_older(kind, resource_version_of(page), seen):
            raise unexpected(f"a list of {kind.plural} that is older than what was seen before")

    def _items(
        self, kind: Kind, path: str, query: Mapping[str, str], first: Mapping[str, str], *, most: int
    ) -> tuple[Manifest, ...]:
        return tuple(islice(self.pages(kind, path, query, first=first), most or None))

    def get_all(self, refs: Sequence[Ref]) -> tuple[Manifest | None, ...]:
        """What `get` answers for each, asked for at once."""
        return self._at_once.ask([partial(self.get, ref) for ref in refs])

    def list_all(self, listings: Sequence[Listing]) -> tuple[tuple[Manifest, ...], ...]:
        """What `list` answers for each, asked for at once."""
        return self._at_once.ask([partial(self.list, one.kind, one.namespace, labels=one.labels) for one in listings])

    def find(self, api_version: str, kind: str) -> Kind | None:
        """The served kind, or None."""
        return self._kinds.find(api_version, kind)

    def version(self) -> str:
        """`gitVersion` of the server."""
        read_at, version = self._version
        if time.monotonic() - read_at > VERSION_SECONDS:
            version = str(self.request("GET", "/version")["gitVersion"])
            self._version = (time.monotonic(), version)
        return version

    # writes: each returns the stored object

    def create(self, manifest: Manifest, *, field_manager: str = "") -> Manifest:
        """POST; without `field_manager` the server names the program that sent it."""
        query = {"fieldManager": field_manager} if field_manager else {}
        return self._write("POST", Ref.of(manifest), manifest, query=query)

    def try_out(self, manifest: Manifest, *, field_manager: str = "") -> None:
        """POST, or PUT (apply, by a `field_manager`) of an object with a resourceVersion, as a dry run.

        All is checked, and nothing is stored.
        """
        ref, is_there = Ref.of(manifest), bool(resource_version_of(manifest))
        method = "POST" if not is_there else "PATCH" if field_manager else "PUT"
        path = path_of(self._kind(ref.api_version, ref.kind), ref.namespace, ref.name if is_there else "")
        query = {"dryRun": "All"} | ({"fieldManager": field_manager} if field_manager else {})
        if method == "PATCH":
            self.request(method, path, manifest, query=query | {"force": "true"}, content_type=APPLY_PATCH)
        else:
            self.request(method, path, manifest, query=query)

    def apply(self, manifest: Manifest, *, field_manager: str = FIELD_MANAGER, force: bool = True) -> Manifest:
        """Server-side apply."""
        query = {"fieldManager": field_manager, "force": "true" if force else "false"}
        return self._write("PATCH", Ref.of(manifest), manifest, query=query, content_type=APPLY_PATCH)

    def replace(self, manifest: Manifest) -> Manifest:
        """PUT."""
        return self._write("PUT", Ref.of(manifest), manifest)

    def replace_status(self, manifest: Manifest) -> Manifest:
        """PUT of the status subresource."""
        return self._write("PUT", Ref.of(manifest), manifest, subresource="status")

    def merge(self, ref: Ref, patch: Manifest, *, subresource: str = "", field_manager: str = "") -> Manifest:
        """JSON merge patch; without `field_manager` the server names the program that sent it.

        With our own rights and without a lock it may be sent together with those of other threads.
        """
        query = {"fieldManager": field_manager} if field_manager else {}
        send = partial(self._write, "PATCH", query=query, subresource=subresource, content_type=MERGE_PATCH)
        if query or subresource or self._acting_as or resource_version_of(patch):
            return send(ref, patch)
        return self._joint.merge(ref, patch, send)

    def delete(
        self, ref: Ref, *, uid: str = "", resource_version: str = "", propagation: Propagation = "Background"
    ) -> None:
        """DELETE; with `uid` or `resource_version`, only the object that has it: ApiError 409; 404 when absent."""
        options: Manifest = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        preconditions = {"uid": uid, "resourceVersion": resource_version}
        if any(preconditions.values()):
            options["preconditions"] = {key: value for key, value in preconditions.items() if value}
        self.request("DELETE", path_of(self._kind(ref.api_version, ref.kind), ref.namespace, ref.name), options)

    def warnings(self) -> tuple[str, ...]:
        """The warnings in the answer of the server to the last write of this thread."""
        return self._transport.warnings

    def request(
        self,
        method: str,
        path: str,
        body: Manifest | None = None,
        *,
        query: Query = None,
        content_type: str = JSON,
        accept: str = JSON,
    ) -> Manifest:
        """Any request to the API server."""
        return self._transport.request(
            method, path, body, query=query, content_type=content_type, accept=accept, acting_as=self._acting_as
        )

    def user_name(self) -> str:
        """As whom the server knows this client; empty where it does not tell."""
        return own_name(self.request)

    def close(self) -> None:
        """Close the idle connections, and end the threads that ask for several things at once."""
        self._at_once.close()
        self._transport.close()

    def _write(
        self,
        method: str,
        ref: Ref,
        body: Manifest,
        *,
        subresource: str = "",
        query: Query = None,
        content_type: str = JSON,
    ) -> Manifest:
        """Send a write; returns the stored object."""
        kind = self._kind(ref.api_version, ref.kind)
        path = path_of(kind, ref.namespace, "" if method == "POST" else ref.name, subresource)
        answer = self.request(method, path, body, query=query, content_type=content_type)
        if answer.get("kind") == CUSTOM_RESOURCE_DEFINITION.kind:
            self._kinds.forget()
        return self._freshness.noted(answer)

    def _kind(self, api_version: str, kind: str) -> Kind:
        found = self.find(api_version, kind)
        if found is None:
            raise ApiError(404, "NotFound", f"the server does not serve the kind {kind} of {api_version}")
        return found


def object_about(ref: Ref, answer: Manifest) -> Manifest:
    """The answer, if it is the object that was asked for. ApiError without a status when it is not."""
    answered = Ref.read(answer)
    if answered != ref:
        raise unexpected(f"{answered or answer.get('kind')} where {ref} was asked for")
    return answer


def list_of(kind: Kind, answer: Manifest) -> Manifest:
    """The answer, if it is a list of the kind. ApiError without a status when it is not.

    A definition may call its lists by any name: then the API version and the items tell.
    """
    items = answer.get("items")
    is_named = answer.get("kind") in (f"{kind.kind}List", "List", "PartialObjectMetadataList")
    is_list = isinstance(items, list) and answer.get("apiVersion") == kind.api_version
    if not is_list and not (is_named and isinstance(items or [], list)):
        raise unexpected(f"{answer.get('kind')} where a list of {kind.plural} was asked for")
    return answer


def unexpected(what: str) -> ApiError:
    """The error for an answer that cannot be believed: asked again, a server or proxy may do better."""
    return ApiError(0, "Unreachable", f"the API server answered with {what}")
