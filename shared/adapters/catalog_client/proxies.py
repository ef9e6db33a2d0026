"""The proxy to servers of the registry API: `GRPC_PROXY`, except for what `NO_PROXY` names (catalog.md §2.9.1)."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_network

from shared.adapters.oci.addresses import as_address


def proxy_for(host: str, port: int, environ: Mapping[str, str]) -> str:
    """The URL of the proxy; empty when the server is asked directly, as this machine always is."""
    proxy, exempt = _of(environ, "GRPC_PROXY"), _of(environ, "NO_PROXY")
    address = as_address(host)
    is_own = host == "localhost" or (address is not None and address.is_loopback)
    if not proxy or is_own or any(_names(one.strip().lower(), host.lower(), port) for one in exempt.split(",")):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _of(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower(), "")


def _names(entry: str, host: str, port: int) -> bool:
    """Whether one entry of NO_PROXY names a host: `*`, an address, a network, a domain and all below it."""
    if entry == "*":
        return True
    address = as_address(host)
    if "/" in entry:
        try:
            return address is not None and address in ip_network(entry, strict=False)
        except ValueError:
            return False
    if as_address(entry) is None:
        entry, _, desired = entry.partition(":")
        if desired not in ("", str(port)):
            return False
    name = entry.removeprefix("*")
    return bool(entry) and (host == name or host.endswith(name if name.startswith(".") else f".{name}"))
