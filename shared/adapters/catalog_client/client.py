"""A catalog from a server of the registry API: the `address` of a CatalogSource."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from ipaddress import IPv4Address
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import grpc
import orjson
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError, Message

from shared.adapters.catalog_client.methods import REGISTRY, answer_of, caller
from shared.adapters.catalog_client.registry_pb2 import GetPackageRequest, ListBundlesRequest, ListPackageRequest
from shared.adapters.oci import pace
from shared.adapters.oci.addresses import OPEN, SETTING, AddressRules
from shared.adapters.oci.dialing import resolved
from shared.adapters.oci.errors import OciError
from shared.api.manifest import Manifest
from shared.domain.serving.from_registry_api import BadAnswer, documents

_SECONDS: Final = 60.0
_RESOLVE_SECONDS: Final = 10.0
_PORT: Final = 443
_MESSAGE_BYTES: Final = 64 * 1024 * 1024

_CATALOG_BYTES: Final = 1024 * 1024 * 1024
Read: TypeAlias = Callable[[bytes], Message]


def catalog_at(address: str, *, limit: int = _CATALOG_BYTES, rules: AddressRules = OPEN) -> bytes:
    """Everything that a server has, as the lines of a file of a catalog. OciError when it cannot be had.

    All answers together may have `limit` bytes: a stream need not end.
    """
    try:
        with _connected(address, limit, rules) as server:
            names = sorted(one.name for one in server.ask("ListPackages", ListPackageRequest()))
            packages = [MessageToDict(server.ask("GetPackage", GetPackageRequest(name=name))) for name in names]
            bundles = map(MessageToDict, server.ask("ListBundles", ListBundlesRequest()))
            found = documents(packages, _in_order(bundles))
            return b"".join(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE) for one in found)
    except grpc.RpcError as error:
        if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED and (running := pace.present()) is not None:
            running.remember(f"{address} does not answer in time")
        raise _unreachable(address, error) from error
    except (BadAnswer, DecodeError) as error:
        what = f"{address}: the server answered with what cannot be read: {error}"
        raise OciError("Malformed", f"{what}; ask who runs it") from error


class _BoundedServer:
    """A server's methods. Answers are counted and read here: inside of gRPC an error would be logged."""

    def __init__(self, channel: grpc.Channel, address: str, limit: int) -> None:
        self._channel, self._address = channel, address
        self._limit = self._left = limit
        self._running = pace.present()

    def ask(self, name: str, asked: Message) -> Any:
        """The answer of a method; of one with a stream of answers an iterator."""
        method = REGISTRY.methods_by_name[name]
        read = partial(self._read, answer_of(method).FromString)
        found = caller(self._channel, method)(asked, timeout=self._seconds())
        return map(read, found) if method.server_streaming else read(found)

    def _seconds(self) -> float:
        return min(_SECONDS, self._running.rest()) if self._running is not None else _SECONDS

    def _read(self, read: Read, content: bytes) -> Message:
        self._left -= len(content)
        if self._running is not None:
            self._running.took(len(content), 0)
        if self._left < 0:
            what = f"{self._address}: the server answers with more than {self._limit} bytes"
            raise OciError("TooLarge", f"{what}; ask who runs it")
        return read(content)


@contextmanager
def _connected(address: str, limit: int, rules: AddressRules) -> Iterator[_BoundedServer]:
    if (running := pace.present()) is not None:
        running.ask(address, address)
    options: list[tuple[str, int | str]] = [("grpc.max_receive_message_length", _MESSAGE_BYTES)]
    target = address
    if not rules.is_open:
        target = _judged(address, rules)
        # a proxy would look up the name again, and find another address
        options += [("grpc.enable_http_proxy", 0), ("grpc.default_authority", address)]
    with grpc.insecure_channel(target, options=options) as channel:
        yield _BoundedServer(channel, address, limit)


def _judged(address: str, rules: AddressRules) -> str:
    """Where gRPC has to connect to: an address behind the name that may be asked. OciError without one."""
    try:
        parts = urlsplit(f"//{address}")
        host, port = parts.hostname or "", parts.port or _PORT
        found = resolved(host, port, _RESOLVE_SECONDS)
    except ValueError as error:
        what = f"{address.rpartition('@')[2]!r} is no address of a server: wanted host:port"
        raise OciError("Malformed", f"{what}; correct spec.address of the CatalogSource") from error
    except OSError as error:
        raise _nameless(address) from error
    reasons = [(ip, rules.why_not(host, port, ip, is_server=True)) for _, ip in found]
    if (good := next((ip for ip, why in reasons if not why), None)) is None:
        (ip, why), todo = reasons[0], f"who runs this cluster can allow it with {SETTING}"
        raise OciError("Blocked", f"{address} is at {ip}, which {why}: pulls do not go there; {todo}")
    return f"ipv4:{good}:{port}" if isinstance(good, IPv4Address) else f"ipv6:[{good}]:{port}"


def _nameless(address: str) -> OciError:
    return OciError("DNS", f"{address}: its name cannot be resolved: check spec.address of the CatalogSource")


def _in_order(bundles: Iterator[Manifest]) -> Sequence[Manifest]:
    """Servers answer in any order; the same content has to be the same file."""
    return sorted(
        bundles, key=lambda one: (one.get("packageName", ""), one.get("channelName", ""), one.get("csvName", ""))
    )


def _unreachable(address: str, error: grpc.RpcError) -> OciError:
    code, details = error.code(), error.details()
    if code == grpc.StatusCode.UNAVAILABLE and "DNS" in (details or ""):
        return _nameless(address)
    return OciError("Unreachable", f"{address}: no answer over gRPC: {code.name}: {details}; check that a catalog is "
                    "served there in plain text, e.g. with `olmf catalog serve`")  # fmt: skip
