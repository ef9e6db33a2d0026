"""What our sample operator serves: three webhooks about its kind, and an aggregated API with one resource."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import orjson
from aiohttp import web

from eventing.packages.requester import FrontProxy, common_names
from shared.api.manifest import Manifest, ReadOnly

GROUP = "measures.samples.olmf.io"
"""The group of the aggregated API."""
VERSION = "v1"
MOST_LUMENS = 1000
COLOR = "white"
_RESOURCE: Manifest = {
    "name": "measures", "singularName": "measure", "namespaced": False, "kind": "Measure", "verbs": ["get", "list"],
}  # fmt: skip
UNITS = {"candela": "luminous intensity", "lumen": "luminous flux", "lux": "illuminance"}


def validate(request: ReadOnly) -> Manifest:
    """Refuse what is too bright."""
    lumens = _spec(request).get("lumens", 0)
    if lumens <= MOST_LUMENS:
        return {"allowed": True}
    return {"allowed": False, "status": {"code": 403, "message": f"{lumens} lumens blind: at most {MOST_LUMENS}"}}


def mutate(request: ReadOnly) -> Manifest:
    """Give a color to what has none."""
    spec = _spec(request)
    if "color" in spec:
        return {"allowed": True}
    patch = [{"op": "add", "path": "/spec", "value": {**spec, "color": COLOR}}]
    return {"allowed": True, "patchType": "JSONPatch", "patch": base64.b64encode(orjson.dumps(patch)).decode()}


def convert(request: ReadOnly) -> Manifest:
    """Version v1alpha1 says `brightness` for `lumens`."""
    desired = str(request["desiredAPIVersion"])
    return {
        "result": {"status": "Success"},
        "convertedObjects": [_converted(one, desired) for one in request.get("objects") or ()],
    }


def _converted(manifest: ReadOnly, desired: str) -> Manifest:
    old, new = ("lumens", "brightness") if desired.endswith("v1alpha1") else ("brightness", "lumens")
    spec = dict(manifest.get("spec") or {})
    if old in spec:
        spec[new] = spec.pop(old)
    return {**manifest, "apiVersion": desired, "spec": spec}


def _spec(request: ReadOnly) -> Manifest:
    found: Manifest = (request.get("object") or {}).get("spec") or {}
    return found


REVIEWS: dict[str, Callable[[ReadOnly], Manifest]] = {"/validate": validate, "/mutate": mutate, "/convert": convert}


async def handle(front_proxy: FrontProxy, request: web.BaseRequest) -> web.Response:
    """Any request; what an API server that can prove itself reads for a user names that user."""
    if request.method == "POST" and request.path in REVIEWS:
        review = orjson.loads(await request.read())
        response = {"uid": review["request"]["uid"], **REVIEWS[request.path](review["request"])}
        return _json({"kind": review["kind"], "apiVersion": review["apiVersion"], "response": response})
    shown = request.transport.get_extra_info("peercert") if request.transport else None
    user = front_proxy.user(common_names(shown), [*request.headers.items()])
    found = _read(request.path.strip("/").split("/"), user.name if user else "") if request.method == "GET" else None
    return _json(_absent(), 404) if found is None else _json(found)


def _read(path: list[str], user: str) -> Manifest | None:
    """The document at a path of the aggregated API, for a user; None for any other path."""
    match path:
        case ["apis", group, version] if (group, version) == (GROUP, VERSION):
            return {
                "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{GROUP}/{VERSION}",
                "resources": [_RESOURCE],
            }  # fmt: skip
        case ["apis", group, version, "measures"] if (group, version) == (GROUP, VERSION):
            items = [_measure(name, user) for name in UNITS]
            return {"kind": "MeasureList", "apiVersion": f"{GROUP}/{VERSION}", "metadata": {}, "items": items}
        case ["apis", group, version, "measures", name] if (group, version) == (GROUP, VERSION) and name in UNITS:
            return _measure(name, user)
    return None


def _measure(name: str, user: str) -> Manifest:
    return {
        "kind": "Measure", "apiVersion": f"{GROUP}/{VERSION}", "metadata": {"name": name}, "quantity": UNITS[name],
        "readBy": user,
    }  # fmt: skip


def _absent() -> Manifest:
    return {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "NotFound", "code": 404,
        "message": "the server could not find the requested resource",
    }  # fmt: skip


def _json(body: Any, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")
