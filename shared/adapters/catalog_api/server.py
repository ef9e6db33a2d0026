"""The registry API as a gRPC server, with health and reflection: what `opm serve` offers, from a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import grpc

from shared.adapters.catalog_api import reflection
from shared.adapters.catalog_api.answers import Answers
from shared.adapters.catalog_api.errors import AnswerError, BadQuestionError, PortTakenError
from shared.adapters.catalog_client.messages import EXPERIMENTAL, HEALTH, REGISTRY, SERVICES, SERVING, Method
from shared.adapters.catalog_client.wire import decode, encode
from shared.api.manifest import Manifest

_THREADS: Final = 16
_ACKNOWLEDGED: Final = ("x-acknowledge-experimental", "true")
_GRACE_SECONDS: Final = 30.0

Call = Callable[[Manifest], Any]


def _calls(answers: Answers) -> Mapping[str, Call]:
    return {
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


class _Told(grpc.ServerInterceptor):  # type: ignore[misc]  # why: grpc brings no types
    """Tells of every call before it is answered."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell

    def intercept_service(
        self, proceed: Callable[[grpc.HandlerCallDetails], Any], details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler:
        """Called by the server."""
        said = " ".join(f"{key}={value!r}" for key, value in details.invocation_metadata)
        self._tell(f"{details.method} {said}".rstrip())
        return proceed(details)


def server_of(answers: Answers, address: str, tell: Callable[[str], object] | None = None) -> tuple[grpc.Server, int]:
    """A server that is not started yet, and its port; `tell` hears of every call. PortTakenError."""
    interceptors = [_Told(tell)] if tell else []
    options = [("grpc.so_reuseport", 0)]
    server = grpc.server(ThreadPoolExecutor(_THREADS), interceptors=interceptors, options=options)
    calls = _calls(answers)
    registry = {method.name: _handler(method, calls[method.name]) for method in SERVICES[REGISTRY]}
    (custom,) = SERVICES[EXPERIMENTAL]
    health = SERVICES[HEALTH][0]
    server.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler(REGISTRY, registry),
            grpc.method_handlers_generic_handler(EXPERIMENTAL, {custom.name: _experimental(custom, answers)}),
            grpc.method_handlers_generic_handler(
                HEALTH, {health.name: _handler(health, lambda _: {"status": SERVING})}
            ),
            *reflection.handlers(SERVICES),
        )
    )
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


def _handler(method: Method, call: Call) -> grpc.RpcMethodHandler:
    read, write = partial(decode, method.request), partial(encode, method.response)
    if method.is_stream:
        return grpc.unary_stream_rpc_method_handler(partial(_stream, call), read, write)
    return grpc.unary_unary_rpc_method_handler(partial(_single, call), read, write)


def _single(call: Call, asked: Manifest, context: grpc.ServicerContext) -> Manifest:
    try:
        found: Manifest = call(asked)
    except AnswerError as error:
        context.abort(grpc.StatusCode.UNKNOWN, str(error))
    return found


def _stream(call: Call, asked: Manifest, context: grpc.ServicerContext) -> Iterator[Any]:
    try:
        yield from call(asked)
    except AnswerError as error:
        context.abort(grpc.StatusCode.UNKNOWN, str(error))
    except BadQuestionError as error:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))


def _experimental(method: Method, answers: Answers) -> grpc.RpcMethodHandler:
    def call(asked: Manifest, context: grpc.ServicerContext) -> Iterable[bytes]:
        stated = [value for key, value in context.invocation_metadata() if key == _ACKNOWLEDGED[0]]
        if stated[:1] != [_ACKNOWLEDGED[1]]:
            return iter(())  # silently: clients must acknowledge that this is an experiment
        return _stream(answers.custom_schemas, asked, context)

    # the messages come as bytes, made where the documents are read
    return grpc.unary_stream_rpc_method_handler(call, partial(decode, method.request), bytes)
