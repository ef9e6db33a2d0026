"""Which addresses a pull may reach: a name in a CatalogSource must not lead into the cluster or this machine."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

Ip: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

SETTING: Final = "OLMF_ALLOWED_REGISTRY_ADDRESSES"
_NEVER: Final[tuple[tuple[Network, str], ...]] = tuple(
    (ip_network(network), why)
    for network, why in (
        ("0.0.0.0/8", "means this machine"),
        ("::/128", "means this machine"),
        ("127.0.0.0/8", "is this machine"),
        ("::1/128", "is this machine"),
        ("169.254.0.0/16", "is link-local"),
        ("fe80::/10", "is link-local"),
        ("fec0::/10", "is site-local"),
        ("224.0.0.0/4", "is multicast"),
        ("ff00::/8", "is multicast"),
        ("240.0.0.0/4", "is reserved"),
        ("100.100.100.200/32", "is the metadata service of a cloud"),
        ("168.63.129.16/32", "is the metadata service of a cloud"),
        ("192.0.0.192/32", "is the metadata service of a cloud"),
        ("fd00:ec2::/32", "is the metadata service of a cloud"),
    )
)
_TRANSLATED: Final = tuple(map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))
"""IPv6 networks whose last 32 bits are an IPv4 address that a gateway connects to."""
_LOW: Final = 0xFFFFFFFF
_PORT: Final = re.compile(r"^(?:\[([^\]]+)\]|([^:]+)):([0-9]{1,5})$")
_NUMBERS: Final = re.compile(r"^[0-9a-fx.]+$")
_NAME: Final = re.compile(r"^(?:\*\.)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
_INNER: Final = (".svc", ".cluster.local", ".internal")
"""Ends of names that are never those of a registry outside."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One allowed place: a network, or a name; port 0 means any."""

    network: Network | None
    name: str
    port: int = 0

    @classmethod
    def parse(cls, text: str) -> Entry:
        """`10.1.2.3`, `10.0.0.0/8`, `[fd00::1]:5000`, `registry.example`, `*.example:5000`. ValueError otherwise."""
        found = _PORT.match(text)
        location, port = ((found[1] or found[2]), int(found[3])) if found else (text.strip("[]"), 0)
        try:
            return cls(ip_network(location, strict=False), "", port)
        except ValueError:
            if not _NAME.match(location.lower()) or "/" in location:
                desired = "wanted addresses, networks, hosts or *.domain, each with or without :port"
                raise ValueError(f"{text!r} is no address of a registry: {desired}") from None
            return cls(None, location.lower(), port)

    def names(self, host: str, port: int) -> bool:
        """Whether it is about a host by its name."""
        if not self.name or self.port not in (0, port):
            return False
        return host == self.name or (self.name.startswith("*.") and host.endswith(self.name[1:]))

    def holds(self, address: Ip, port: int) -> bool:
        """Whether it is about an address."""
        return self.network is not None and self.port in (0, port) and address in self.network


@dataclass(frozen=True, slots=True)
class AddressRules:
    """What the administrator allows and what the cluster needs for itself; `OPEN` for somebody's own machine."""

    allowed: tuple[Entry, ...] = ()
    cluster: tuple[Network, ...] = ()
    """The networks of the Services and Pods."""
    own: frozenset[tuple[str, int]] = frozenset()
    """Address and port of the API server and of Redis: no network that is allowed includes them."""
    is_open: bool = False

    def is_named(self, host: str, port: int) -> bool:
        """Whether the administrator allows a host by its name."""
        return any(entry.names(_plain(host), port) for entry in self.allowed)

    def why_not(self, host: str, port: int, address: Ip, *, is_server: bool = False) -> str:
        """Why a host at an address is not asked; empty when it may be.

        A server of the registry API (`is_server`) is a Service as a rule: for it, the cluster is no reason.
        """
        if self.is_open:
            return ""
        real = unwrapped(address)
        allowing = [one for one in self.allowed if one.names(_plain(host), port) or one.holds(real, port)]
        if (str(real), port) in self.own and not any(entry.port for entry in allowing):
            return "is the API server or Redis"
        if allowing:
            return ""
        if why := next((why for network, why in _NEVER if real in network), ""):
            return why
        is_inside = not is_server and any(real in network for network in self.cluster)
        return "belongs to this cluster" if is_inside else ""

    def why_not_by_name(self, host: str, port: int, *, is_server: bool = False) -> str:
        """The same where a proxy looks up the name: only what the name itself says can be judged."""
        if self.is_open or self.is_named(host, port):
            return ""
        plain = _plain(host)
        if (literal := as_address(plain) or _as_old_address(plain)) is not None:
            return self.why_not(host, port, literal, is_server=is_server)
        if plain == "localhost" or plain.endswith(".localhost"):
            return "is a name of this machine or cluster"
        if not is_server and (plain.endswith(_INNER) or "." not in plain):
            return "is a name of this machine or cluster"
        return ""

    @classmethod
    def parse(
        cls, allowed: Iterable[str], cluster: Iterable[str] = (), own: Iterable[tuple[str, int]] = ()
    ) -> AddressRules:
        """Rules from settings. ValueError says what is wrong."""
        return cls(tuple(map(Entry.parse, allowed)), tuple(map(_network, cluster)), frozenset(own))


OPEN: Final = AddressRules(is_open=True)


def guessed_networks(environ: Mapping[str, str], own_address: str) -> Iterator[str]:
    """Networks of the cluster, seen from inside of a pod; none elsewhere.

    Services: what surrounds the Service of the API server. Pods: those on this Node, without the first address of
    their network, which is the Node itself. Larger networks would hold the registries of many companies.
    """
    service = as_address(environ.get("KUBERNETES_SERVICE_HOST", ""))
    if service is None:
        return
    yield str(ip_network(f"{service}/{16 if service.version == 4 else 112}", strict=False))  # why: IP
    if (pod := as_address(own_address)) is not None and not pod.is_loopback:
        around = ip_network(f"{pod}/{24 if pod.version == 4 else 64}", strict=False)  # why: IP
        yield from map(str, _without_first(around))


def _without_first(network: Network) -> Iterator[Network]:
    first = network[1]
    if isinstance(network, IPv4Network) and isinstance(first, IPv4Address):
        yield from network.address_exclude(IPv4Network(first))
    elif isinstance(network, IPv6Network) and isinstance(first, IPv6Address):
        yield from network.address_exclude(IPv6Network(first))


def is_private(address: Ip) -> bool:
    """Whether an address belongs to a network of somebody's own."""
    return not unwrapped(address).is_global


def as_address(text: str) -> Ip | None:
    """The address that a text is; None for a name."""
    try:
        return ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None


def _as_old_address(text: str) -> Ip | None:
    """The address that a text is to whoever reads numbers as C does: `127.1`, `0x7f.1`, `2130706433`."""
    try:
        return IPv4Address(socket.inet_aton(text)) if _NUMBERS.match(text) else None
    except OSError:
        return None


def unwrapped(address: Ip) -> Ip:
    """The IPv4 address inside of an IPv6 one, where that is what is reached."""
    if isinstance(address, IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour
    is_translated = any(address in network for network in _TRANSLATED) and int(address) > 1
    return inner or (IPv4Address(int(address) & _LOW) if is_translated else address)


def _plain(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()


def _network(text: str) -> Network:
    try:
        return ip_network(text, strict=False)
    except ValueError as error:
        raise ValueError(f"{text!r} is no network: wanted addresses like 10.96.0.0/12") from error
