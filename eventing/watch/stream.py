"""List and watch over HTTP, as asynchronous streams of raw objects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson

from shared import names
from shared.adapters.kube import ApiError, Connection, path_of
from shared.adapters.kube.discovery import kinds_in
from shared.adapters.kube.paths import root_of
from shared.api.manifest import Manifest, resource_version_of
from shared.kinds import Kind, Watch

PAGE = 100
SILENCE_SECONDS = 90.0
"""A watch without data for so long counts as dead (servers send a bookmark every minute)."""
ANSWER_SECONDS = 30.0

UNREADABLE = "UNREADABLE"
"""The type of a line that is no JSON, or JSON that is nested too deeply; its object says why."""

_FULL = "application/json"
_PLAIN = Watch()
_PARTIAL = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1,application/json"


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a watch."""

    type: str
    """`ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK`, or `UNREADABLE`."""
    object: Manifest


class Stream:
    """The list and watch requests for one kind to one API server."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        connection: Connection,
        kind: Kind,
        watch: Watch = _PLAIN,
        *,
        selector: str = "",
        namespace: str = "",
        name: str = "",
    ) -> None:
        """With a label selector those alone that it selects; with a namespace those in it, or the one of that name."""
        self.kind = kind
        self._namespace = namespace
        self._session = session
        self._connection = connection
        self._accept = _FULL if watch.is_whole else _PARTIAL
        selector = selector or (f"{names.MANAGED}=true" if watch.is_ours_alone else "")
        self._which = {"labelSelector": selector} if selector else {}
        if name:
            self._which["fieldSelector"] = f"metadata.name={name}"

    async def version(self) -> str:
        """The resourceVersion of the collection now, as the store has it."""
        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS, sock_connect=5)
        async with self._get({"limit": "1"}, "List", timeout) as response:
            page = await self._document(response)
        return (page.get("metadata") or {}).get("resourceVersion") or ""

    async def version_of(self, namespace: str, name: str) -> str:
        """The resourceVersion of one object now; empty when it is absent."""
        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS, sock_connect=5)
        url = self._connection.server + path_of(self.kind, namespace, name)
        options = request_options(self._connection, self._accept.format(""))
        async with self._session.get(url, timeout=timeout, **options) as response:
            if response.status == 404:
                return ""
            return resource_version_of(await self._document(response))

    async def is_served(self) -> bool:
        """Whether discovery names the kind. ApiError where it does not say: a list that is not found proves nothing."""
        api_version = self.kind.api_version
        try:
            listed = await self._found(root_of(api_version))
        except ApiError as error:
            if not error.is_not_found or not self.kind.group:
                raise
            return api_version in _versions_in(await self._found("/apis"))
        if listed.get("kind") != "APIResourceList" or not isinstance(listed.get("resources"), list):
            raise _silent(f"kinds of {api_version}")
        return self.kind.kind in kinds_in(api_version, listed)

    async def _found(self, path: str) -> Manifest:
        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS, sock_connect=5)
        options = request_options(self._connection)
        async with self._session.get(self._connection.server + path, timeout=timeout, **options) as response:
            return await self._document(response)

    async def pages(self) -> AsyncIterator[tuple[list[Manifest], str]]:
        """The objects of the kind, page by page, each with the resourceVersion of the whole list."""
        following = ""
        while True:
            query = {"limit": str(PAGE)} | ({"continue": following} if following else {})
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=ANSWER_SECONDS)
            async with self._get(query, "List", timeout) as response:
                page = await self._document(response)
            if not (version := resource_version_of(page)):
                raise ApiError(0, "Unreachable", f"no list of {self.kind.definition}: it has no resourceVersion")
            yield page.get("items") or [], version
            following = page["metadata"].get("continue") or ""
            if not following:
                return

    async def changes(self, since: str, seconds: int) -> AsyncIterator[list[Change]]:
        """The changes after the resourceVersion `since`, for at most `seconds`, in batches as they arrive.

        An empty batch comes first, when the server has accepted the watch. ApiError 410 when `since` is too old.
        """
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": since,
            "timeoutSeconds": str(seconds),
        }
        timeout = aiohttp.ClientTimeout(
            total=seconds + ANSWER_SECONDS, sock_connect=5, sock_read=min(SILENCE_SECONDS, seconds + 5)
        )
        async with self._get(query, "", timeout) as response:
            if response.status != 200:
                await self._body(response)
            yield []
            rest = bytearray()
            async for chunk in response.content.iter_any():
                rest += chunk
                end = rest.rfind(b"\n") + 1
                if end:
                    lines = bytes(rest[:end]).splitlines()
                    del rest[:end]
                    yield [_change(line) for line in lines if line]

    def _get(self, query: Mapping[str, str], suffix: str, timeout: aiohttp.ClientTimeout) -> Any:
        options = request_options(self._connection, self._accept.format(suffix))
        url = self._connection.server + path_of(self.kind, self._namespace)
        return self._session.get(url, params={**self._which, **query}, timeout=timeout, **options)

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        body = await response.read()
        if response.status != 200:
            raise ApiError.of_response(response.status, body, response.headers.get("Retry-After", ""))
        return body

    async def _document(self, response: aiohttp.ClientResponse) -> Manifest:
        found = orjson.loads(await self._body(response))
        if not isinstance(found, dict):
            raise ApiError(0, "Unreachable", f"the API server answers {response.url.path} with no JSON object")
        return found


def request_options(connection: Connection, accept: str = _FULL) -> dict[str, Any]:
    """How to ask this API server: headers with credentials, TLS, proxy."""
    headers = {"Accept": accept, "User-Agent": "olmf-watch"}
    if authorization := connection.authorization():
        headers["Authorization"] = authorization
    return {
        "headers": headers, "ssl": connection.tls or True, "server_hostname": connection.server_name or None,
        "proxy": connection.proxy or None,
    }  # fmt: skip


def _versions_in(listed: Manifest) -> frozenset[str]:
    """The apiVersions of an APIGroupList. ApiError unless all can be read: what is left out looks unserved."""
    groups = listed.get("groups")
    versions = [_part(group, "versions") for group in groups] if isinstance(groups, list) else [None]
    served = [_part(one, "groupVersion") for found in versions if isinstance(found, list) for one in found]
    if all(isinstance(found, list) for found in versions) and all(isinstance(name, str) for name in served):
        return frozenset(map(str, served))
    raise _silent("groups")


def _part(found: object, name: str) -> object:
    return found.get(name) if isinstance(found, dict) else None


def _silent(what: str) -> ApiError:
    return ApiError(0, "Unreachable", f"the API server does not say which {what} it serves")


def _change(line: bytes) -> Change:
    try:
        content = orjson.loads(line)
        type_, found = content["type"], content["object"]
    except (ValueError, TypeError, LookupError) as error:
        # why: the line would come again with each new watch from there, and nothing behind it would be heard
        return Change(UNREADABLE, {"error": f"{error}: {line[:100]!r}"})
    if type_ == "ERROR":
        raise ApiError(found.get("code") or 500, found.get("reason") or "Unknown", found.get("message") or "")
    return Change(type_, found)
