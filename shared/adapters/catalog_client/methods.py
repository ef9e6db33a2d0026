"""The methods of the registry API as gRPC serves and calls them, from the descriptors of its messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from shared.adapters.catalog_client import registry_pb2

REGISTRY: Final[ServiceDescriptor] = registry_pb2.DESCRIPTOR.services_by_name["Registry"]
EXPERIMENTAL: Final[ServiceDescriptor] = registry_pb2.DESCRIPTOR.services_by_name["ExperimentalRegistry"]

Handler: TypeAlias = Callable[[Message, grpc.ServicerContext], Any]


def answer_of(method: MethodDescriptor) -> type[Message]:
    """The class of the messages that a method answers with."""
    kind: type[Message] = GetMessageClass(method.output_type)
    return kind


def served(service: ServiceDescriptor, handlers: Mapping[str, Handler]) -> grpc.GenericRpcHandler:
    """A service for a server; `handlers` has the one of each method, and a stream's returns an iterator. KeyError."""
    return grpc.method_handlers_generic_handler(
        service.full_name, {one.name: _handler(one, handlers[one.name]) for one in service.methods}
    )


def _handler(method: MethodDescriptor, handler: Handler) -> grpc.RpcMethodHandler:
    make = grpc.unary_stream_rpc_method_handler if method.server_streaming else grpc.unary_unary_rpc_method_handler
    read, write = GetMessageClass(method.input_type).FromString, answer_of(method).SerializeToString
    return make(handler, request_deserializer=read, response_serializer=write)


def caller(channel: grpc.Channel, method: MethodDescriptor) -> Callable[..., Any]:
    """What calls a method with its request, and returns its answer, or an iterator of a stream's, as bytes."""
    make = channel.unary_stream if method.server_streaming else channel.unary_unary
    write = GetMessageClass(method.input_type).SerializeToString
    call: Callable[..., Any] = make(f"/{method.containing_service.full_name}/{method.name}", request_serializer=write)
    return call
