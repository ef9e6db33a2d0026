"""Bounds what one client takes of a gRPC server that serves many: calls at a time, and the length of a stream."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import grpc

_MAKE: Final[Mapping[tuple[bool, bool], tuple[str, Callable[..., grpc.RpcMethodHandler]]]] = {
    (False, False): ("unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("stream_stream", grpc.stream_stream_rpc_method_handler),
}


class CallLimits(grpc.ServerInterceptor):  # type: ignore[misc]  # why: grpc brings no types
    """Of one address at most `of_one` calls at a time; a stream is ended after `seconds`, whoever does not read it.

    Questions have to be there within `asking_seconds`; a stream of them ends then.
    """

    def __init__(self, *, of_one: int, seconds: float, asking_seconds: float) -> None:
        self._of_one, self._seconds, self._asking_seconds = of_one, seconds, asking_seconds
        self._calls: Counter[str] = Counter()
        self._lock = threading.Lock()

    def intercept_service(
        self, proceed: Callable[[grpc.HandlerCallDetails], Any], details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler | None:
        """Called by the server."""
        handler = proceed(details)
        if handler is None:
            return None
        name, _ = _MAKE[handler.request_streaming, handler.response_streaming]
        # why: the library would wait for a single question before anything here is called, as long as the client likes
        _, make = _MAKE[True, handler.response_streaming]
        serve = getattr(handler, name)

        def bounded(requests: Iterator[Any], context: grpc.ServicerContext) -> Any:
            clock = self._enter(context)
            if handler.request_streaming:
                return serve(requests, context)
            for asked in requests:
                clock.set(self._seconds if handler.response_streaming else None)
                return serve(asked, context)
            return context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no question was asked")

        return make(bounded, handler.request_deserializer, handler.response_serializer)

    def _enter(self, context: grpc.ServicerContext) -> _Clock:
        peer = context.peer().rpartition(":")[0]
        with self._lock:
            is_allowed = self._calls[peer] < self._of_one
            self._calls[peer] += is_allowed
        if not is_allowed:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{self._of_one} calls of {peer} are under way already")
        clock = _Clock(context)
        clock.set(self._asking_seconds)

        def leave() -> None:
            clock.set(None, is_last=True)
            with self._lock:
                self._calls[peer] -= 1
                if not self._calls[peer]:
                    del self._calls[peer]

        if not context.add_callback(leave):  # it has ended meanwhile
            leave()
        return clock


class _Clock:
    """Ends a call at its time."""

    def __init__(self, context: grpc.ServicerContext) -> None:
        self._context = context
        self._timer: threading.Timer | None = None
        self._is_over = False
        self._lock = threading.Lock()

    def set(self, seconds: float | None, *, is_last: bool = False) -> None:
        """In so many seconds from now; None: never."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer, self._is_over = None, self._is_over or is_last
            if seconds is not None and not self._is_over:
                self._timer = threading.Timer(seconds, self._context.cancel)
                self._timer.daemon = True
                self._timer.start()
