"""A catalog from a server of the registry API: the `address` of a CatalogSource."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import grpc
import orjson

from shared.adapters.oci.errors import OciError
from shared.adapters.registry.messages import REGISTRY, SERVICES
from shared.adapters.registry.wire import BadMessage, Message, decode, encode
from shared.api.manifest import Manifest
from shared.domain.catalog.from_registry_api import BadAnswer, documents

_SECONDS: Final = 60.0
_MESSAGE_BYTES: Final = 64 * 1024 * 1024

_CATALOG_BYTES: Final = 1024 * 1024 * 1024

Ask = Callable[..., Any]


def catalog_at(address: str, *, limit: int = _CATALOG_BYTES) -> bytes:
    """Everything that a server has, as the lines of a file of a catalog. OciError when it cannot be had.

    All answers together may have `limit` bytes: a stream need not end.
    """
    try:
        with _connected(address, limit) as ask:
            names = [one.get("name", "") for one in ask("ListPackages")]
            packages = [ask("GetPackage", name=name) for name in sorted(names)]
            found = documents(packages, _in_order(ask("ListBundles")))
            return b"".join(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE) for one in found)
    except grpc.RpcError as error:
        raise _unreachable(address, error) from error
    except (BadAnswer, BadMessage) as error:
        what = f"{address}: the server answered with what cannot be read: {error}"
        raise OciError("Malformed", f"{what}; ask who runs it") from error


@contextmanager
def _connected(address: str, limit: int) -> Iterator[Ask]:
    methods = {method.name: method for method in SERVICES[REGISTRY]}
    left = limit

    def read(message: Message, content: bytes) -> Any:
        nonlocal left
        left -= len(content)
        if left < 0:
            raise OciError("TooLarge", f"{address}: the server answers with more than {limit} bytes; ask who runs it")
        return decode(message, content)

    def ask(name: str, /, **asked: str) -> Any:
        method = methods[name]
        make = channel.unary_stream if method.is_stream else channel.unary_unary
        call = make(f"/{REGISTRY}/{name}", partial(encode, method.request))
        answer = call(asked, timeout=_SECONDS, wait_for_ready=False)
        # read here: an error inside of gRPC would be logged, and be "internal"
        return map(partial(read, method.response), answer) if method.is_stream else read(method.response, answer)

    options = [("grpc.max_receive_message_length", _MESSAGE_BYTES)]
    with grpc.insecure_channel(address, options=options) as channel:
        yield ask


def _in_order(bundles: Iterator[Manifest]) -> Sequence[Manifest]:
    """Servers answer in any order; the same content has to be the same file."""
    return sorted(
        bundles, key=lambda one: (one.get("packageName", ""), one.get("channelName", ""), one.get("csvName", ""))
    )


def _unreachable(address: str, error: grpc.RpcError) -> OciError:
    code, details = error.code(), error.details()
    if code == grpc.StatusCode.UNAVAILABLE and "DNS" in (details or ""):
        return OciError("DNS", f"{address}: its name cannot be resolved: check spec.address of the CatalogSource")
    return OciError("Unreachable", f"{address}: no answer over gRPC: {code.name}: {details}; check that a catalog is "
                    "served there in plain text, e.g. with `olmf catalog serve`")  # fmt: skip
