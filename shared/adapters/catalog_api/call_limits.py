"""Bounds what one client takes of a gRPC server that serves many: calls at a time, and the length of a stream."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

import grpc

_MAKE: Final[Mapping[tuple[bool, bool], tuple[str, Callable[..., grpc.RpcMethodHandler]]]] = {
    (False, False): ("unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("stream_stream", grpc.stream_stream_rpc_method_handler),
}


class CallLimits(grpc.ServerInterceptor):  # type: ignore[misc]  # why: grpc brings no types
    """Of one address at most `of_one` calls at a time; a stream is ended after `seconds`, whoever does not read it."""

    def __init__(self, *, of_one: int, seconds: float) -> None:
        self._of_one, self._seconds = of_one, seconds
        self._calls: Counter[str] = Counter()
        self._lock = threading.Lock()

    def intercept_service(
        self, proceed: Callable[[grpc.HandlerCallDetails], Any], details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler | None:
        """Called by the server."""
        handler = proceed(details)
        if handler is None:
            return None
        name, make = _MAKE[handler.request_streaming, handler.response_streaming]
        answer = getattr(handler, name)

        def bounded(asked: Any, context: grpc.ServicerContext) -> Any:
            self._enter(context, is_stream=handler.response_streaming)
            return answer(asked, context)

        return make(bounded, handler.request_deserializer, handler.response_serializer)

    def _enter(self, context: grpc.ServicerContext, *, is_stream: bool) -> None:
        peer = context.peer().rpartition(":")[0]
        with self._lock:
            is_allowed = self._calls[peer] < self._of_one
            self._calls[peer] += is_allowed
        if not is_allowed:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{self._of_one} calls of {peer} are under way already")
        clock = threading.Timer(self._seconds, context.cancel)
        clock.daemon = True
        if is_stream:
            clock.start()

        def leave() -> None:
            clock.cancel()
            with self._lock:
                self._calls[peer] -= 1
                if not self._calls[peer]:
                    del self._calls[peer]

        if not context.add_callback(leave):  # it has ended meanwhile
            leave()
