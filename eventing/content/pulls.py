"""How the programs of a cluster pull images: within which time and size, and where not to."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from shared.adapters.content.pulling import Puller, Secrets
from shared.adapters.oci.addresses import AddressRules, as_address, guessed_networks
from shared.adapters.oci.blobs import Blobs
from shared.adapters.oci.dialing import resolved
from shared.adapters.oci.mirrors import Locations
from shared.adapters.oci.pace import Allowance
from shared.adapters.oci.transport import Transport
from shared.adapters.oci.trust import Trust
from shared.config import SettingError, Settings

if TYPE_CHECKING:
    from shared.adapters.catalog_client.dialing import Way

_PORTS: Final = {"https": 443, "http": 80, "redis": 6379, "rediss": 6379}
_RESOLVE_SECONDS: Final = 2.0
_HURRIED: Final = 2 / 3
"""The part of a run that a pull may take in the steps that do more than to pull."""


def puller(
    values: Settings, secrets: Secrets, mirrors: Locations, blobs: Callable[[], Blobs], *, api: str,
    environ: Mapping[str, str],
) -> Puller:  # fmt: skip
    """What opens registries for the steps; `api` is the URL of the API server. SettingError."""
    transport = Transport(trust=Trust.of(environ), rules=address_rules(values, api, environ))
    hurried = min(values.run_seconds * _HURRIED, values.pull_seconds)
    return Puller(
        secrets, transport, mirrors, allowance=_allowance(values, values.pull_seconds),
        hurried=_allowance(values, hurried), blobs=blobs,
    )  # fmt: skip


def dialer(values: Settings, *, api: str, environ: Mapping[str, str]) -> Callable[[str], Way]:
    """What leads to the servers of catalogs that have an address, by the same rules. SettingError."""
    rules = address_rules(values, api, environ)

    def dial(address: str) -> Way:
        from shared.adapters.catalog_client.dialing import way_to  # why: most clusters need no gRPC

        return way_to(address, rules, environ)

    return dial


def address_rules(values: Settings, api: str, environ: Mapping[str, str]) -> AddressRules:
    """Where pulls may go: not to this machine, nor to what the cluster keeps for itself. SettingError."""
    cluster = values.cluster_addresses or tuple(guessed_networks(environ, _own_address(api)))
    try:
        return AddressRules.parse(values.allowed_registry_addresses, cluster, _own((api, values.redis_url)))
    except ValueError as error:
        raise SettingError(f"OLMF_ALLOWED_REGISTRY_ADDRESSES or OLMF_CLUSTER_ADDRESSES: {error}") from error


def _allowance(values: Settings, seconds: float) -> Allowance:
    return Allowance(seconds, values.pull_slow_seconds, values.pull_bytes_per_second, values.pull_bytes)


def _own(urls: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Address and port of each of our servers; one whose name is not known now is in the cluster's networks anyway."""
    for url in urls:
        host, port = _host_and_port(url)
        with suppress(OSError):
            for _, address in resolved(host, port, _RESOLVE_SECONDS) if host else ():
                yield str(address), port


def _host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)


def _own_address(api: str) -> str:
    """Our address as the API server sees it; nothing is sent to find out."""
    host, port = _host_and_port(api)
    literal = as_address(host)
    if literal is None:
        return ""
    family = socket.AF_INET if literal.version == 4 else socket.AF_INET6
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((str(literal), port or 1))
        return str(probe.getsockname()[0])
    return ""
