"""Server reflection, both versions: how `grpcurl` and the like learn what a server offers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

import grpc

from shared.adapters.catalog_api.descriptors import FILES, file_of
from shared.adapters.catalog_client.wire import Field, Message, decode, encode

_SERVICES: Final = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")
_NOT_FOUND: Final = 5
_UNIMPLEMENTED: Final = 12

_REQUEST: Final = Message(
    "",
    (
        Field(1, "host"),
        Field(3, "file_by_filename"),
        Field(4, "file_containing_symbol"),
        Field(5, "file_containing_extension", "bytes"),
        Field(6, "all_extension_numbers_of_type"),
        Field(7, "list_services"),
    ),
)
_FILE: Final = Message("", (Field(1, "file_descriptor_proto", "bytes", is_repeated=True),))
_SERVICE: Final = Message("", (Field(1, "name"),))
_LIST: Final = Message("", (Field(1, "service", _SERVICE, is_repeated=True),))
_ERROR: Final = Message("", (Field(1, "error_code", "int"), Field(2, "error_message")))
_RESPONSE: Final = Message(
    "",
    (
        Field(1, "valid_host"),
        Field(2, "original_request", _REQUEST),
        Field(4, "file_descriptor_response", _FILE),
        Field(6, "list_services_response", _LIST),
        Field(7, "error_response", _ERROR),
    ),
)


def handlers(services: Iterable[str]) -> Iterator[grpc.GenericRpcHandler]:
    """The handlers of both versions; they list `services`, but not themselves, as other servers do."""
    names = sorted(services)

    def answer(requests: Iterator[dict[str, Any]], _: grpc.ServicerContext) -> Iterator[dict[str, Any]]:
        for request in requests:
            yield {"valid_host": request.get("host", ""), "original_request": request} | _answer(request, names)

    handler = grpc.stream_stream_rpc_method_handler(answer, partial(decode, _REQUEST), partial(encode, _RESPONSE))
    for service in _SERVICES:
        yield grpc.method_handlers_generic_handler(service, {"ServerReflectionInfo": handler})


def _answer(request: dict[str, Any], services: list[str]) -> dict[str, Any]:
    if "list_services" in request:
        return {"list_services_response": {"service": [{"name": name} for name in services]}}
    if "file_by_filename" in request:
        return _file(FILES.get(request["file_by_filename"]), request["file_by_filename"])
    if "file_containing_symbol" in request:
        return _file(file_of(request["file_containing_symbol"]), request["file_containing_symbol"])
    return {"error_response": {"error_code": _UNIMPLEMENTED, "error_message": "there are no extensions here"}}


def _file(found: bytes | None, name: str) -> dict[str, Any]:
    if found is None:
        return {"error_response": {"error_code": _NOT_FOUND, "error_message": f"{name} is not known here"}}
    return {"file_descriptor_response": {"file_descriptor_proto": [found]}}
