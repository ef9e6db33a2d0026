"""How a server of the registry API is reached: at an address that may be asked, or through the proxy for gRPC."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Final, TypeAlias

import grpc
import grpc.aio

from shared.adapters.catalog_client.proxies import proxy_for
from shared.adapters.oci.addresses import SETTING, AddressRules, Ip
from shared.adapters.oci.dialing import resolved
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.trust import Trust
from shared.domain.server_address import ServerAddress

Option: TypeAlias = tuple[str, int | str]
_RESOLVE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Way:
    """Where gRPC connects to, and how."""

    target: str
    options: tuple[Option, ...]
    authorities: bytes | None = None
    """PEM of the authorities that are trusted; None: no TLS."""

    def channel(self, *options: Option) -> grpc.Channel:
        """A channel, with more options."""
        if self.authorities is None:
            return grpc.insecure_channel(self.target, options=[*self.options, *options])
        return grpc.secure_channel(self.target, self._credentials(), options=[*self.options, *options])

    def aio_channel(self, *options: Option) -> grpc.aio.Channel:
        """The same for asyncio."""
        if self.authorities is None:
            return grpc.aio.insecure_channel(self.target, options=[*self.options, *options])
        return grpc.aio.secure_channel(self.target, self._credentials(), options=[*self.options, *options])

    def _credentials(self) -> grpc.ChannelCredentials:
        return grpc.ssl_channel_credentials(self.authorities or None)


def way_to(address: str, rules: AddressRules, environ: Mapping[str, str]) -> Way:
    """The way to `spec.address`. OciError when it is none, has no name in DNS, or may not be asked."""
    try:
        server = ServerAddress.parse(address)
    except ValueError as error:
        raise OciError("Malformed", f"{error}; correct spec.address of the CatalogSource") from error
    authorities = _authorities(server, environ) if server.is_secure else None
    place = f"[{server.host}]:{server.port}" if ":" in server.host else f"{server.host}:{server.port}"
    # gRPC would also heed HTTP_PROXY and HTTPS_PROXY
    options: tuple[Option, ...] = (("grpc.enable_http_proxy", 0),)
    if proxy := proxy_for(server.host, server.port, environ):
        if why := rules.why_not_by_name(server.host, server.port, is_server=True):
            raise _blocked(address, why)
        options = (("grpc.enable_http_proxy", 1), ("grpc.http_proxy", proxy))
        return Way(f"dns:///{place}", options, authorities)
    if rules.is_open:
        return Way(f"dns:///{place}", options, authorities)
    found = _judged(address, server, rules)
    target = f"ipv4:{found}:{server.port}" if isinstance(found, IPv4Address) else f"ipv6:[{found}]:{server.port}"
    options += (("grpc.default_authority", place), ("grpc.ssl_target_name_override", server.host))
    return Way(target, options, authorities)


def nameless(address: str) -> OciError:
    """What is told of a name that DNS does not know."""
    return OciError("DNS", f"{address}: its name cannot be resolved: check spec.address of the CatalogSource")


def _judged(address: str, server: ServerAddress, rules: AddressRules) -> Ip:
    """An address behind the name that may be asked: it is the one that is connected to, whatever DNS says next."""
    try:
        found = resolved(server.host, server.port, _RESOLVE_SECONDS)
    except OSError as error:
        raise nameless(address) from error
    reasons = [(ip, rules.why_not(server.host, server.port, ip, is_server=True)) for _, ip in found]
    if (good := next((ip for ip, why in reasons if not why), None)) is not None:
        return good
    ip, why = reasons[0]
    raise _blocked(address, f"is at {ip}, which {why}")


def _blocked(address: str, why: str) -> OciError:
    todo = f"who runs this cluster can allow it with {SETTING}"
    return OciError("Blocked", f"{address} {why}: pulls do not go there; {todo}")


def _authorities(server: ServerAddress, environ: Mapping[str, str]) -> bytes:
    """The authorities for a host as PEM; empty: those that gRPC brings."""
    context = Trust.of(environ).context(f"{server.host}:{server.port}")
    return "".join(map(ssl.DER_cert_to_PEM_cert, context.get_ca_certs(binary_form=True))).encode()
