"""The registry API as a gRPC server, with health and reflection: what `opm serve` offers, from a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Final, NoReturn, TypeAlias

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc

from shared.adapters.catalog_api.answers import Answers
from shared.adapters.catalog_api.errors import (
    BadRequestError,
    NoCatalogError,
    NotHereError,
    PortTakenError,
    ResponseError,
)
from shared.adapters.catalog_client import methods, registry_pb2
from shared.adapters.catalog_client.methods import EXPERIMENTAL, REGISTRY, Handler
from shared.adapters.content.snapshot import BrokenSnapshot
from shared.api.manifest import Manifest

_THREADS: Final = 16
NOT_SHARED: Final = ("grpc.so_reuseport", 0)
"""The option of a server whose port no other program may listen on."""
_ACKNOWLEDGED: Final = ("x-acknowledge-experimental", "true")
_GRACE_SECONDS: Final = 30.0
_SERVICES: Final = (
    *(service.full_name for service in registry_pb2.DESCRIPTOR.services_by_name.values()),
    *(service.full_name for service in health_pb2.DESCRIPTOR.services_by_name.values()),
)
"""What reflection lists: not itself, as other servers do."""
_HEALTH: Final = health_pb2.DESCRIPTOR.services_by_name["Health"]
_REFLECTION: Final = "grpc.reflection.v1.ServerReflection"
"""The version that clients ask first; the library has the one before, of which the messages are the same."""

Find: TypeAlias = Callable[[grpc.ServicerContext], Answers]
"""The catalog that a call asks. NoCatalogError, NotHereError."""
Call: TypeAlias = Callable[[Answers, Manifest], Any]
"""Answers a question, which has the form of JSON."""
Forget: TypeAlias = Callable[[grpc.ServicerContext, Answers], object]
"""Told of a call whose answers lean on content that is gone."""
_WithAnswers: TypeAlias = Callable[[grpc.ServicerContext], AbstractContextManager[Answers]]
_CALLS: Final[Mapping[str, Call]] = {
    "ListPackages": Answers.list_packages,
    "GetPackage": Answers.get_package,
    "GetBundle": Answers.get_bundle,
    "GetBundleForChannel": Answers.get_bundle_for_channel,
    "GetChannelEntriesThatReplace": Answers.entries_that_replace,
    "GetBundleThatReplaces": Answers.get_bundle_that_replaces,
    "GetChannelEntriesThatProvide": Answers.entries_that_provide,
    "GetLatestChannelEntriesThatProvide": Answers.latest_that_provide,
    "GetDefaultBundleThatProvides": Answers.default_that_provides,
    "ListBundles": Answers.list_bundles,
}
_CODES: Final[Mapping[type[Exception], grpc.StatusCode]] = {
    ResponseError: grpc.StatusCode.UNKNOWN,
    BadRequestError: grpc.StatusCode.INVALID_ARGUMENT,
    NoCatalogError: grpc.StatusCode.NOT_FOUND,
    NotHereError: grpc.StatusCode.UNAVAILABLE,
    BrokenSnapshot: grpc.StatusCode.UNAVAILABLE,
    FileNotFoundError: grpc.StatusCode.UNAVAILABLE,
}
"""How a call ends that has no answer; what is no more on the disk is read again for the next one."""
_FAILURES: Final = tuple(_CODES)
_GONE: Final = (BrokenSnapshot, FileNotFoundError)


class _CallLog(grpc.ServerInterceptor):  # type: ignore[misc]  # why: grpc brings no types
    """Tells of every call before it is answered."""

    def __init__(self, log: Callable[[str], object]) -> None:
        self._log = log

    def intercept_service(
        self, proceed: Callable[[grpc.HandlerCallDetails], Any], details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler:
        """Called by the server."""
        metadata = " ".join(f"{key}={value!r}" for key, value in details.invocation_metadata)
        self._log(f"{details.method} {metadata}".rstrip())
        return proceed(details)


def server_of(answers: Answers, address: str, log: Callable[[str], object] | None = None) -> tuple[grpc.Server, int]:
    """A server that is not started yet, and its port; `log` hears of every call. PortTakenError."""
    interceptors = [_CallLog(log)] if log else []
    server = grpc.server(ThreadPoolExecutor(_THREADS), interceptors=interceptors, options=[NOT_SHARED])
    return server, bind(server, address, lambda _: answers, lambda _: None, forget=lambda *_: None)


def bind(
    server: grpc.Server, address: str, find: Find, check: Callable[[grpc.ServicerContext], object], *, forget: Forget
) -> int:
    """Add the services to a server, and the port that this returns. PortTakenError.

    `find` has the catalog of a call; `check` raises what `find` would, and reads nothing for it; `forget` hears of
    answers that lean on content which is gone, so that the next call finds others.
    """
    # why not as the libraries add theirs: of a method that is registered by its name, gRPC does not tell the authority
    with_answers = partial(_asked, find, forget)
    services = (
        (REGISTRY, _registry(with_answers)), (EXPERIMENTAL, _experimental(with_answers)), (_HEALTH, _health(check)),
    )  # fmt: skip
    server.add_generic_rpc_handlers(tuple(methods.served(one, handlers) for one, handlers in services))
    _reflect(server)
    try:
        return int(server.add_insecure_port(address))
    except RuntimeError as error:
        raise PortTakenError(f"{address} cannot be listened on: is another program there?") from error


@contextmanager
def running(
    answers: Answers, address: str = "127.0.0.1:0", log: Callable[[str], object] | None = None
) -> Iterator[int]:
    """The port of a server that answers until the end of the block, which lets running calls end."""
    server, port = server_of(answers, address, log)
    server.start()
    try:
        yield port
    finally:
        server.stop(_GRACE_SECONDS).wait()


@contextmanager
def _asked(find: Find, forget: Forget, context: grpc.ServicerContext) -> Iterator[Answers]:
    """The answers of a call, which ends as the errors of the block say."""
    try:
        answers = find(context)
        try:
            yield answers
        except _GONE:
            forget(context, answers)
            raise
    except _FAILURES as error:
        _abort(context, error)


def _registry(with_answers: _WithAnswers) -> Mapping[str, Handler]:
    return {one.name: _handler(one, with_answers, _CALLS[one.name]) for one in REGISTRY.methods}


def _handler(method: MethodDescriptor, with_answers: _WithAnswers, call: Call) -> Handler:
    kind = methods.answer_of(method)
    if method.server_streaming:
        return _stream(with_answers, lambda answers, asked: (kind(**one) for one in call(answers, asked)))
    return _single(with_answers, lambda answers, asked: kind(**call(answers, asked)))


def _single(with_answers: _WithAnswers, answer: Call) -> Handler:
    def handle(asked: Message, context: grpc.ServicerContext) -> Message:
        with with_answers(context) as answers:
            found: Message = answer(answers, MessageToDict(asked))
        return found

    return handle


def _stream(with_answers: _WithAnswers, answer: Call) -> Handler:
    def handle(asked: Message, context: grpc.ServicerContext) -> Iterator[Message]:
        with with_answers(context) as answers:
            yield from answer(answers, MessageToDict(asked))

    return handle


def _abort(context: grpc.ServicerContext, error: Exception) -> NoReturn:
    code = next(code for kind, code in _CODES.items() if isinstance(error, kind))
    context.abort(code, str(error))
    raise AssertionError from error  # why: `abort` has raised


def _experimental(with_answers: _WithAnswers) -> Mapping[str, Handler]:
    answer = _stream(with_answers, lambda answers, asked: map(struct_of, answers.custom_schemas(asked)))

    def call(asked: Message, context: grpc.ServicerContext) -> Iterator[Message]:
        acknowledged = [value for key, value in context.invocation_metadata() if key == _ACKNOWLEDGED[0]]
        if acknowledged[:1] != [_ACKNOWLEDGED[1]]:
            return iter(())  # silently: clients must acknowledge that this is an experiment
        found: Iterator[Message] = answer(asked, context)
        return found

    return {"ExperimentalListPackageCustomSchemas": call}


def struct_of(document: Manifest) -> Message:
    """A document as a message."""
    found = Struct()
    found.update(document)
    return found


def _health(check: Callable[[grpc.ServicerContext], object]) -> Mapping[str, Handler]:
    """Serving, whatever service is asked for, where there is a catalog."""
    states = health_pb2.HealthCheckResponse

    def report(_: Message, context: grpc.ServicerContext) -> Message:
        try:
            check(context)
        except NotHereError:
            return states(status=states.NOT_SERVING)
        except NoCatalogError as error:
            _abort(context, error)
        return states(status=states.SERVING)

    def refuse(_: Message, context: grpc.ServicerContext) -> None:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "only Check is implemented")

    return {"Check": report, "List": refuse, "Watch": refuse}


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
