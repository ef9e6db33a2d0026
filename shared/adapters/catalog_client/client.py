"""A catalog from a server of the registry API: the `address` of a CatalogSource."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError, Message

from shared.adapters.catalog_client.dialing import nameless, way_to
from shared.adapters.catalog_client.methods import REGISTRY, answer_of, caller
from shared.adapters.catalog_client.registry_pb2 import (
    Bundle,
    GetPackageRequest,
    ListBundlesRequest,
    ListPackageRequest,
)
from shared.adapters.oci import pace
from shared.adapters.oci.addresses import OPEN, AddressRules
from shared.adapters.oci.errors import OciError
from shared.api.manifest import Manifest
from shared.domain.serving.from_registry_api import BadResponse, documents, lines_of

_SECONDS: Final = 60.0
_MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""Of one answer. OLM's own client takes no larger ones, as gRPC in Go does not by itself: no catalog has them."""
_PART_BYTES: Final = 256
"""What a part of an answer, such as a property, counts beside its text: about as much as it takes when it was read."""
_WORDS: Final = 300
"""Characters of what a server says of an error."""
_CATALOG_BYTES: Final = 1024 * 1024 * 1024
Read: TypeAlias = Callable[[bytes], Message]


def catalog_at(address: str, *, limit: int = _CATALOG_BYTES, rules: AddressRules = OPEN) -> bytes:
    """Everything that a server has, as the lines of a file of a catalog. OciError when it cannot be had.

    All answers together may have `limit` bytes, and so may what they take when they were read: a stream need not end.
    """
    try:
        with _connected(address, limit, rules) as server:
            names = sorted(one.name for one in server.ask("ListPackages", ListPackageRequest()))
            packages = [MessageToDict(server.ask("GetPackage", GetPackageRequest(name=name))) for name in names]
            return lines_of(_documents(packages, _by_package(server.ask("ListBundles", ListBundlesRequest()))))
    except grpc.RpcError as error:
        if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED and (running := pace.present()) is not None:
            running.remember(f"{address} does not answer in time")
        raise _unreachable(address, error) from error
    except (BadResponse, DecodeError) as error:
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
        self._take(len(content))
        if self._running is not None:
            self._running.took(len(content), 0)
        message = read(content)
        self._take(_PART_BYTES * sum(len(value) for field, value in message.ListFields() if field.is_repeated))
        return message

    def _take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            what = f"{self._address}: the server answers with more than {self._limit} bytes, or with too many parts"
            raise OciError("TooLarge", f"{what}; ask who runs it")


@contextmanager
def _connected(address: str, limit: int, rules: AddressRules) -> Iterator[_BoundedServer]:
    if (running := pace.present()) is not None:
        running.ask(address, address)
    with way_to(address, rules, os.environ).channel(("grpc.max_receive_message_length", _MESSAGE_BYTES)) as channel:
        yield _BoundedServer(channel, address, limit)


def _by_package(bundles: Iterable[Bundle]) -> Mapping[str, Sequence[bytes]]:
    """The messages of each package, kept as bytes, for what is read from them takes many times as much.

    They are sorted: servers answer in any order, and the same content has to be the same file.
    """
    found: dict[str, list[tuple[str, str, bytes]]] = {}
    for one in bundles:
        found.setdefault(one.packageName, []).append((one.channelName, one.csvName, one.SerializeToString()))
    return {package: [content for *_, content in sorted(own)] for package, own in found.items()}


def _documents(packages: Iterable[Manifest], bundles: Mapping[str, Sequence[bytes]]) -> Iterator[Manifest]:
    """The documents of all packages; only one package is read at a time."""
    for package in packages:
        if (running := pace.present()) is not None:
            running.check()
        own = bundles.get(package.get("name", ""), ())
        yield from documents([package], (MessageToDict(Bundle.FromString(content)) for content in own))


def _foreign(text: str) -> str:
    """What a server says, on one line and not endlessly."""
    return "".join(one if one.isprintable() else " " for one in text[:_WORDS])


def _unreachable(address: str, error: grpc.RpcError) -> OciError:
    code, details = error.code(), _foreign(error.details() or "")
    if code == grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in details:
        return OciError("TooLarge", f"{address}: {details}; OLM does not take such an answer, either: ask who runs it")
    if code == grpc.StatusCode.UNAVAILABLE and "DNS" in details:
        return nameless(address)
    return OciError("Unreachable", f"{address}: no answer over gRPC: {code.name}: {details}; check that a catalog is "
                    "served there, e.g. with `olmf catalog serve`; `grpcs://` before an address is TLS")  # fmt: skip
