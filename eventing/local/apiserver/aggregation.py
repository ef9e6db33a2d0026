"""APIServices that name a Service: whether they are available, and which kinds they add to those of the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from eventing.local.apiserver import endpoints
from eventing.local.apiserver.api_services import TABLE
from eventing.local.apiserver.outbound import Address
from eventing.local.apiserver.resources import Resource
from eventing.local.apiserver.store import Stored
from eventing.local.apiserver.world import World
from shared.api.manifest import ReadOnly

State: TypeAlias = tuple[str, str, str]
"""Status, reason and message of the condition `Available`."""
PASSED: State = ("True", "Passed", "all checks passed")
_ANYTHING: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def remote(group: str, version: str, world: World) -> Stored | None:
    """The APIService of a group version that another server serves; None when the sandbox itself does, or nobody."""
    stored = world.store.get((TABLE, "", f"{version}.{group}"))
    return stored if stored and stored.manifest["spec"].get("service") else None


def address_of(api_service: ReadOnly) -> Address:
    """Where the server of an APIService is."""
    spec = api_service["spec"]
    service = spec["service"]
    namespace, name, port = service["namespace"], service["name"], int(service.get("port") or 443)
    url = f"https://{name}.{namespace}.svc:{port}"
    return Address(url, str(spec.get("caBundle") or ""), (namespace, name, port))


def is_available(api_service: ReadOnly) -> bool:
    """Whether the last check passed."""
    conditions = (api_service.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == "Available" and one.get("status") == "True" for one in conditions)


def obstacle_of(api_service: ReadOnly, world: World) -> State | None:
    """What keeps its server from being asked; None when it can be."""
    namespace, name, port = address_of(api_service).service or ("", "", 0)
    service = world.store.get((endpoints.SERVICES, namespace, name))
    place = f'service/{name} in "{namespace}"'
    if service is None:
        return "False", "ServiceNotFound", f"{place} is not present"
    desired = endpoints.port_of(service, port)
    if desired is None:
        return "False", "ServicePortError", f"{place} is not listening on port {port}"
    found, port_name = world.store.get((endpoints.TABLE, namespace, name)), str(desired.get("name") or "")
    if found is None:
        return "False", "EndpointsNotFound", f"cannot find endpointslices for {place}"
    if not [*endpoints.places(found, port_name)]:
        why = f'endpointslices for {place} have no addresses with port name "{port_name}"'
        return "False", "MissingEndpoints", why
    return None


def report(stored: Stored, state: State, world: World) -> None:
    """Write the condition `Available`, unless it is there."""
    status, reason, message = state
    conditions = (stored.manifest.get("status") or {}).get("conditions") or ()
    before: ReadOnly = next((one for one in conditions if one.get("type") == "Available"), {})
    if (before.get("status"), before.get("reason"), before.get("message")) == state:
        return
    since = before.get("lastTransitionTime") if before.get("status") == status else world.now()
    available = {
        "type": "Available", "status": status, "reason": reason, "message": message, "lastTransitionTime": since,
    }  # fmt: skip
    others = [one for one in conditions if one.get("type") != "Available"]
    world.store.put(stored.key, {**stored.copy(), "status": {"conditions": [*others, available]}})


def serve_kinds(stored: Stored, document: Any, world: World) -> None:
    """Add the kinds of a discovery document (`APIResourceList`) to those of the sandbox."""
    spec = stored.manifest["spec"]
    entries = document.get("resources") if isinstance(document, dict) else None
    found = [one for one in entries or () if isinstance(one, dict) and "/" not in str(one.get("name", "/"))]
    world.registry.define(_owner(stored.key[2]), [_resource(spec, entry, stored.key[2]) for entry in found])


def forget_kinds(name: str, world: World) -> None:
    """Serve the kinds of an APIService no longer."""
    world.registry.define(_owner(name), ())


def _owner(name: str) -> str:
    return f"{TABLE}/{name}"


def _resource(spec: ReadOnly, entry: Mapping[str, Any], name: str) -> Resource:
    plural, kind = str(entry["name"]), str(entry.get("kind", ""))
    return Resource(
        spec["group"], spec["version"], plural, kind, str(entry.get("singularName") or kind.lower()),
        bool(entry.get("namespaced")), tuple(map(str, entry.get("verbs") or ())), _ANYTHING,
        short=tuple(entry.get("shortNames") or ()), categories=tuple(entry.get("categories") or ()),
        is_custom=True, list_kind=f"{kind}List", served_by=name,
    )  # fmt: skip
