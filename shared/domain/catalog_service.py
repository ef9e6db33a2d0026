"""The Service by which clients of the registry API reach a CatalogSource (catalog.md §2.4.1).

One program answers for all catalogs: the Service is another name for its host, and the name that a client dials, the
`:authority` of its calls, says which catalog it asks (README of `eventing/catalogs`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, labels_of
from shared.api.views import CatalogSource, Object
from shared.domain.objects.ownership import reference_to
from shared.domain.server_address import ServerAddress
from shared.kinds import CATALOG_SOURCE, SERVICE

_NAME: Final = re.compile("[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
_SEARCHED: Final = re.compile(r"svc\.(\S+)")
_DOMAIN: Final = "cluster.local"


def service_name(source: CatalogSource) -> str:
    """The name of its Service, with OLM's dashes for dots; empty where no Service can be called so."""
    name = source.name.replace(".", "-")
    return name if _NAME.fullmatch(name) else ""


def is_its_own(source: CatalogSource, present: Object) -> bool:
    """Whether a Service is that of the catalog and of no other, made by us or by OLM: any other one is left alone."""
    return [one.uid for one in present.owners if one.kind == CATALOG_SOURCE.kind] == [source.uid]


def service_of(source: CatalogSource, server: ServerAddress) -> Manifest:
    """The Service; `server` is where the program answers for all catalogs."""
    port = {"name": "grpc", "port": server.port, "protocol": "TCP", "targetPort": server.port}
    return {
        "apiVersion": SERVICE.api_version,
        "kind": SERVICE.kind,
        "metadata": {
            "name": service_name(source),
            "namespace": source.namespace,
            "labels": {names.MANAGED: "true"},
            "ownerReferences": [reference_to(CATALOG_SOURCE, source.name, source.uid)],
        },
        "spec": {"type": "ExternalName", "externalName": server.host, "ports": [port]},
    }


def differs(present: Object, desired: Manifest) -> bool:
    """Whether a Service leads elsewhere, or its changes are not seen."""
    have, want = (
        (
            fields.text(spec, "externalName"), fields.text(spec, "type"), bool(fields.part(spec, "selector")),
            [fields.value(one, "port") for one in fields.parts(spec, "ports")],
        )
        for spec in (present.spec, desired["spec"])
    )  # fmt: skip
    return have != want or not labels_of(desired).items() <= present.labels.items()


def registry_of(service: Manifest) -> Mapping[str, str]:
    """What a status says of the Service, but for its time: `registryService`."""
    port = service["spec"]["ports"][0]["port"]
    about = service["metadata"]
    return {
        "protocol": "grpc", "serviceName": about["name"], "serviceNamespace": about["namespace"], "port": str(port),
    }  # fmt: skip


def qualified(address: str, resolv_conf: str) -> str:
    """The address whose host, `<name>.<namespace>.svc`, ends with the domain of the cluster.

    A Service can be another name only for one that is complete. `resolv_conf` is that of a Pod; where it does not say,
    the domain is the usual one.
    """
    host, _, port = address.rpartition(":")
    if not host.endswith(".svc"):
        return address
    searched = (word for line in resolv_conf.splitlines() if line.startswith("search") for word in line.split()[1:])
    found = next(filter(None, map(_SEARCHED.fullmatch, searched)), None)
    return f"{host}.{found[1].rstrip('.') if found else _DOMAIN}:{port}"
