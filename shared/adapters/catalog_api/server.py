"""The registry API as a gRPC server, with health and reflection: what `opm serve` offers, from a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc

from shared.adapters.catalog_api.answers import Answers
from shared.adapters.catalog_api.errors import AnswerError, BadQuestionError, PortTakenError
from shared.adapters.catalog_client import methods, registry_pb2
from shared.adapters.catalog_client.methods import EXPERIMENTAL, REGISTRY, Handler
from shared.api.manifest import Manifest

_THREADS: Final = 16
_ACKNOWLEDGED: Final = ("x-acknowledge-experimental", "true")
_GRACE_SECONDS: Final = 30.0
_SERVICES: Final = (
    *(service.full_name for service in registry_pb2.DESCRIPTOR.services_by_name.values()),
    *(service.full_name for service in health_pb2.DESCRIPTOR.services_by_name.values()),
)
"""What reflection lists: not itself, as other servers do."""
_REFLECTION: Final = "grpc.reflection.v1.ServerReflection"
"""The version that clients ask first; the library has the one before, of which the messages are the same."""

Call: TypeAlias = Callable[[Manifest], Any]
Make: TypeAlias = Callable[[Manifest], Message]


class _CallLog(grpc.ServerInterceptor):  # type: ignore[misc]  # why: grpc brings no types
    """Tells of every call before it is answered."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell

    def intercept_service(
        self, proceed: Callable[[grpc.HandlerCallDetails], Any], details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler:
        """Called by the server."""
        metadata = " ".join(f"{key}={value!r}" for key, value in details.invocation_metadata)
        self._tell(f"{details.method} {metadata}".rstrip())
        return proceed(details)


def server_of(answers: Answers, address: str, tell: Callable[[str], object] | None = None) -> tuple[grpc.Server, int]:
    """A server that is not started yet, and its port; `tell` hears of every call. PortTakenError."""
    interceptors = [_CallLog(tell)] if tell else []
    options = [("grpc.so_reuseport", 0)]
    server = grpc.server(ThreadPoolExecutor(_THREADS), interceptors=interceptors, options=options)
    services = (methods.served(REGISTRY, _registry(answers)), methods.served(EXPERIMENTAL, _experimental(answers)))
    server.add_generic_rpc_handlers(services)
    health_pb2_grpc.add_HealthServicer_to_server(SimpleNamespace(**_health()), server)
    _reflect(server)
    try:
        return server, server.add_insecure_port(address)
    except RuntimeError as error:
        raise PortTakenError(f"{address} cannot be listened on: is another program there?") from error


@contextmanager
def running(
    answers: Answers, address: str = "127.0.0.1:0", tell: Callable[[str], object] | None = None
) -> Iterator[int]:
    """The port of a server that answers until the end of the block, which lets running calls end."""
    server, port = server_of(answers, address, tell)
    server.start()
    try:
        yield port
    finally:
        server.stop(_GRACE_SECONDS).wait()


def _registry(answers: Answers) -> Mapping[str, Handler]:
    calls: Mapping[str, Call] = {
        "ListPackages": answers.list_packages,
        "GetPackage": answers.get_package,
        "GetBundle": answers.get_bundle,
        "GetBundleForChannel": answers.get_bundle_for_channel,
        "GetChannelEntriesThatReplace": answers.entries_that_replace,
        "GetBundleThatReplaces": answers.get_bundle_that_replaces,
        "GetChannelEntriesThatProvide": answers.entries_that_provide,
        "GetLatestChannelEntriesThatProvide": answers.latest_that_provide,
        "GetDefaultBundleThatProvides": answers.default_that_provides,
        "ListBundles": answers.list_bundles,
    }
    return {one.name: _handler(one, calls[one.name]) for one in REGISTRY.methods}


def _handler(method: MethodDescriptor, call: Call) -> Handler:
    kind = methods.answer_of(method)
    return partial(_stream if method.server_streaming else _single, call, lambda found: kind(**found))


def _single(call: Call, make: Make, asked: Message, context: grpc.ServicerContext) -> Message:
    try:
        found = call(MessageToDict(asked))
    except AnswerError as error:
        context.abort(grpc.StatusCode.UNKNOWN, str(error))
    return make(found)


def _stream(call: Call, make: Make, asked: Message, context: grpc.ServicerContext) -> Iterator[Message]:
    try:
        yield from map(make, call(MessageToDict(asked)))
    except AnswerError as error:
        context.abort(grpc.StatusCode.UNKNOWN, str(error))
    except BadQuestionError as error:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))


def _experimental(answers: Answers) -> Mapping[str, Handler]:
    def call(asked: Message, context: grpc.ServicerContext) -> Iterator[Message]:
        stated = [value for key, value in context.invocation_metadata() if key == _ACKNOWLEDGED[0]]
        if stated[:1] != [_ACKNOWLEDGED[1]]:
            return iter(())  # silently: clients must acknowledge that this is an experiment
        return _stream(answers.custom_schemas, struct_of, asked, context)

    return {"ExperimentalListPackageCustomSchemas": call}


def struct_of(document: Manifest) -> Message:
    """A document as a message."""
    found = Struct()
    found.update(document)
    return found


def _health() -> Mapping[str, Handler]:
    """Serving, whatever service is asked for: the port is open when there is a catalog."""
    serving = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)

    def refuse(_: Message, context: grpc.ServicerContext) -> None:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "only Check is implemented")

    return {"Check": lambda *_: serving, "List": refuse, "Watch": refuse}


def _reflect(server: grpc.Server) -> None:
    """Both versions of reflection, by one servicer."""
    servicer = reflection.ReflectionServicer(_SERVICES)
    reflection_pb2_grpc.add_ServerReflectionServicer_to_server(servicer, server)
    handler = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        reflection_pb2.ServerReflectionRequest.FromString,
        reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(_REFLECTION, {"ServerReflectionInfo": handler}),)
    )
