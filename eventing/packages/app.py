"""The HTTP side: routes, who may do what, and the forms of the answers (csv.md §13.1, 13.5, 13.6)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import orjson
from aiohttp import web

from eventing.packages import documents
from eventing.packages.access import Access
from eventing.packages.catalog_follower import CatalogFollower
from eventing.packages.package_cache import PackageCache
from eventing.packages.requester import ANONYMOUS, FrontProxy, User, common_names
from eventing.packages.sending import sent
from eventing.packages.shares import Shares, TooMany
from eventing.packages.watching import Watching, follow
from shared.adapters.kube.token_reviews import ReviewUnavailable
from shared.domain.selectors import SelectorError, parsed
from shared.domain.serving.package_list import Listed, chosen, visible

_BASE: Final = f"/apis/{documents.GROUP}/{documents.VERSION}"
_ONE: Final = f"{_BASE}/namespaces/{{namespace}}/{documents.RESOURCE}/{{name}}"
_DISCOVERY: Final = {
    "/apis": documents.API_GROUPS,
    f"/apis/{documents.GROUP}": documents.API_GROUP,
    _BASE: documents.API_RESOURCES,
}
_FIELD: Final = re.compile(r"([\w.]+)(?:==|=)(.*)")
_TABLE: Final = "as=Table"
_CLIENT_SECONDS: Final = 75.0
_PICTURE_ALONE: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
}
"""An SVG may hold scripts: who opens the one of a tenant where a console is served must not run them."""
_LONGEST_TOKEN: Final = 8_192
_LATER: Final = {429: {"Retry-After": "5"}, 503: {"Retry-After": "1"}}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Refusal(Exception):
    """An answer that is a Status."""

    def __init__(self, code: int, reason: str, message: str, name: str = "") -> None:
        super().__init__(message)
        body, headers = documents.failure(code, reason, message, name=name), {"Content-Type": "application/json"}
        self.answer = web.Response(status=code, body=body, headers=headers | _LATER.get(code, {}))


@dataclass(slots=True)
class Packages:
    """What requests are answered from."""

    cache: PackageCache
    access: Access
    follower: CatalogFollower
    global_namespace: str
    front_proxy: FrontProxy = field(default_factory=FrontProxy)
    watches: Shares = field(default_factory=lambda: Shares("watches", each=16, together=256))
    lists: Shares = field(default_factory=lambda: Shares("lists", each=8, together=24))
    """Until they are sent: a client reads as slowly as it likes, and a package that was replaced is kept meanwhile."""
    flaw: str = ""
    """Why the API server would get no answer; empty when it would."""

    @property
    def obstacle(self) -> str:
        """Why it is not ready; empty when it is."""
        return self.flaw or self.access.flaw or ("" if self.follower.filled.is_set() else "catalogs are being read")

    def app(self) -> web.Application:
        """The routes."""
        app = web.Application(middlewares=[_with_failures], handler_args={"keepalive_timeout": _CLIENT_SECONDS})
        for path, document in _DISCOVERY.items():
            app.router.add_get(path, _constant(orjson.dumps(document)))
        app.router.add_get("/livez", _constant(b"ok"))
        app.router.add_get("/readyz", self._ready)
        app.router.add_get(f"{_BASE}/{documents.RESOURCE}", self._list)
        app.router.add_get(f"{_BASE}/namespaces/{{namespace}}/{documents.RESOURCE}", self._list)
        app.router.add_get(_ONE, self._get)
        app.router.add_get(f"{_ONE}/icon", self._icon)
        return app

    async def _ready(self, _: web.Request) -> web.Response:
        return web.Response(text=self.obstacle or "ok", status=503 if self.obstacle else 200)

    async def _list(self, request: web.Request) -> web.StreamResponse:
        namespace = request.match_info.get("namespace", "")
        is_watch = request.query.get("watch", "").lower() in ("1", "true")
        user = await self._allow(request, "watch" if is_watch else "list", namespace)
        fits = _selection(request)
        if is_watch:
            desired = Watching(namespace, self.global_namespace, fits, _is_table(request))
            with self.watches.one(user.tenant):
                return await follow(request, self.cache, desired)
        with self.lists.one(user.tenant):
            return await sent(request, self._listed(request, namespace, fits))

    def _listed(self, request: web.Request, namespace: str, fits: Callable[[Listed], bool]) -> Iterator[bytes]:
        found = [one for one in visible(self.cache.packages(), namespace, self.global_namespace) if fits(one)]
        version = str(self.cache.version)
        if _is_table(request):
            return _as_table(request, found, namespace, version)
        return documents.listing(found, namespace, version)

    async def _get(self, request: web.Request) -> web.Response:
        found, namespace = await self._one(request), request.match_info["namespace"]
        if _is_table(request):
            return _json(b"".join(_as_table(request, [found], namespace, str(self.cache.version))))
        return _json(found.json(namespace))

    async def _icon(self, request: web.Request) -> web.Response:
        icon = (await self._one(request, "icon")).icon
        headers = {"ETag": icon.tag} if icon.tag else {}
        if icon.tag and icon.tag in request.headers.get("If-None-Match", ""):
            return web.Response(status=304, headers=headers)
        headers |= {"Content-Type": icon.media_type, **_PICTURE_ALONE}
        return web.Response(body=icon.content, headers=headers)

    async def _one(self, request: web.Request, subresource: str = "") -> Listed:
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        await self._allow(request, "get", namespace, subresource=subresource, name=name)
        packages = visible(self.cache.packages(), namespace, self.global_namespace)
        found = chosen(packages, namespace, name)
        if found is None:
            raise Refusal(404, "NotFound", f'{documents.RESOURCE}.{documents.GROUP} "{name}" not found', name)
        return found

    async def _allow(
        self, request: web.Request, verb: str, namespace: str, *, subresource: str = "", name: str = ""
    ) -> User:
        """The user, who may do that."""
        try:
            user = await self._user(request)
            why = await self.access.refusal(user, verb, namespace, subresource=subresource, name=name)
        except ReviewUnavailable as error:
            raise Refusal(503, "ServiceUnavailable", f"the API server does not say who may do this: {error}") from error
        if why:
            what = f"{documents.RESOURCE}/{subresource}" if subresource else documents.RESOURCE
            where = f' in the namespace "{namespace}"' if namespace else " at the cluster scope"
            message = f'User "{user.name}" cannot {verb} resource "{what}" in API group "{documents.GROUP}"{where}'
            full = f"{documents.RESOURCE}.{documents.GROUP}" + (f' "{name}"' if name else "")
            raise Refusal(403, "Forbidden", f"{full} is forbidden: {message}", name)
        return user

    async def _user(self, request: web.Request) -> User:
        connection = request.transport.get_extra_info("peercert") if request.transport else None
        if found := self.front_proxy.user(common_names(connection), [*request.headers.items()]):
            return found
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return ANONYMOUS
        if len(token) > _LONGEST_TOKEN:
            raise Refusal(401, "Unauthorized", "Unauthorized")
        owner = await self.access.owner(token.strip())
        if owner is None:
            raise Refusal(401, "Unauthorized", "Unauthorized")
        return owner


def _selection(request: web.Request) -> Callable[[Listed], bool]:
    try:
        by_labels = parsed(request.query.get("labelSelector", ""))
    except SelectorError as error:
        raise Refusal(400, "BadRequest", str(error)) from error
    names = set()
    for part in filter(None, request.query.get("fieldSelector", "").split(",")):
        found = _FIELD.fullmatch(part.strip())
        if found is None or found[1] != "metadata.name":
            field = found[1] if found else part
            raise Refusal(400, "BadRequest", f"field label not supported: {field}")
        names.add(found[2])
    return lambda one: names <= {one.name} and by_labels(one.labels)


def _is_table(request: web.Request) -> bool:
    return _TABLE in request.headers.get("Accept", "").partition(",")[0]


def _as_table(request: web.Request, found: list[Listed], namespace: str, version: str) -> Iterator[bytes]:
    include = request.query.get("includeObject", "Metadata")
    return documents.table(found, namespace, version, now=datetime.now(UTC), include=include)


def _json(body: bytes) -> web.Response:
    answer = web.Response(body=body, content_type="application/json")
    answer.enable_compression()
    return answer


def _constant(body: bytes) -> Handler:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/json" if body[:1] == b"{" else "text/plain")

    return answer


@web.middleware
async def _with_failures(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except Refusal as refusal:
        return refusal.answer
    except TooMany as error:
        return Refusal(429, "TooManyRequests", f"{error}: try again later").answer
