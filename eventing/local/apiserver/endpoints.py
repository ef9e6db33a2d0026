"""From a Service to the address of a Pod of its, and to the network of Pods, which the simulated node provides."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TypeAlias

from eventing.local.apiserver.store import Stored
from eventing.local.apiserver.world import World
from shared.api.manifest import ReadOnly

TABLE, SERVICES = "/endpoints", "/services"
Place: TypeAlias = tuple[str, int]
"""IP address and port of a Pod."""


class Unroutable(Exception):
    """A Service leads nowhere; the message says why, as a real API server."""


def place_of(namespace: str, name: str, port: int, world: World) -> Place:
    """Where to connect to for a port of a Service: any of its ready addresses. Unroutable."""
    service = world.store.get((SERVICES, namespace, name))
    if service is None:
        raise Unroutable(f'service "{name}" not found')
    if (kind := service.manifest["spec"].get("type")) == "ExternalName":
        raise Unroutable(f'unsupported service type "{kind}"')
    desired = port_of(service, port)
    if desired is None:
        raise Unroutable(f'no service port {port} found for service "{name}"')
    if found := [*places(world.store.get((TABLE, namespace, name)), str(desired.get("name") or ""))]:
        return random.choice(found)  # noqa: S311 - of equals
    raise Unroutable(f'no endpoints available for service "{name}"')


def port_of(service: Stored, port: int) -> ReadOnly | None:
    """The port of a Service that has this number."""
    ports = service.manifest["spec"].get("ports") or ()
    return next((one for one in ports if one.get("port") == port), None)


def places(endpoints: Stored | None, port_name: str) -> Iterator[Place]:
    """The ready addresses for the port of that name."""
    for subset in (endpoints.manifest.get("subsets") or ()) if endpoints else ():
        for port in subset.get("ports") or ():
            if str(port.get("name") or "") == port_name:
                yield from ((str(one["ip"]), int(port["port"])) for one in subset.get("addresses") or ())
