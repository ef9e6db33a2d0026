"""Sends spans by OTLP over HTTP; the only module that imports OpenTelemetry."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from typing import Final

import structlog
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.environment_variables import OTEL_BSP_SCHEDULE_DELAY
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from eventing.tracing.spans import Span, SpanId
from eventing.tracing.spans import SpanKind as Kind

END_SECONDS: Final = 2.0
"""How long a worker that ends waits until its last spans are sent."""
DELAY_MS: Final = 1000.0
"""How long spans wait for others to be sent together, unless OTEL_BSP_SCHEDULE_DELAY says it."""
STACK_BYTES: Final = 1024 * 1024
"""Of the thread that sends; it counts towards the memory of a worker."""
_KINDS: Final[Mapping[Kind, SpanKind]] = {
    "producer": SpanKind.PRODUCER,
    "consumer": SpanKind.CONSUMER,
    "client": SpanKind.CLIENT,
}
_UNNAMED: Final = "unknown_service"
log = structlog.get_logger()


class _Ids(IdGenerator):
    """The ids of the span that a thread is about to make; they are derived from those of events and runs."""

    def __init__(self) -> None:
        self._next = threading.local()

    def choose(self, span: SpanId) -> None:
        self._next.id = span

    def generate_span_id(self) -> int:
        return int(self._next.id.span, 16)

    def generate_trace_id(self) -> int:
        return int(self._next.id.trace, 16)


class OpenTelemetry:
    """Implements `Sender`; the standard variables (`OTEL_…`) say where spans go, how, and which ones."""

    def __init__(self, exporter: SpanExporter | None = None) -> None:
        """Without an `exporter` spans go to OTEL_EXPORTER_OTLP_ENDPOINT."""
        _log_once_a_minute()
        self._ids = _Ids()
        resource = Resource.create()
        if str(resource.attributes[SERVICE_NAME]).startswith(_UNNAMED):
            resource = resource.merge(Resource({SERVICE_NAME: "olmf-worker"}))
        self._provider = TracerProvider(resource=resource, id_generator=self._ids, shutdown_on_exit=False)
        delay = None if OTEL_BSP_SCHEDULE_DELAY in os.environ else DELAY_MS
        stack = threading.stack_size(STACK_BYTES)
        self._exporter = exporter or OTLPSpanExporter()
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter, schedule_delay_millis=delay))
        threading.stack_size(stack)
        self._tracer = self._provider.get_tracer("olm-functions", version("olm-functions"))

    def is_sampled(self, traceparent: str) -> bool:
        """Implements `Sender`: the sender of an event may refuse, and the sampler decides by the id of the trace."""
        _, trace, _, flags = traceparent.split("-")
        if not int(flags, 16) & TraceFlags.SAMPLED:
            return False
        decision = self._provider.sampler.should_sample(None, int(trace, 16), "").decision
        return bool(decision == Decision.RECORD_AND_SAMPLE)

    def send(self, spans: Iterable[Span]) -> None:
        """Implements `Sender`."""
        for span in spans:
            self._ids.choose(span.id)
            made = self._tracer.start_span(
                span.name,
                context=_context(span.parent),
                kind=_KINDS[span.kind],
                attributes=span.attributes,
                start_time=span.began,
            )
            if span.has_failed:
                made.set_status(Status(StatusCode.ERROR))
            made.end(span.ended)

    def end(self, seconds: float = END_SECONDS) -> None:
        """Send what waits, for at most so long; what is not sent then is not tried again."""
        ending = threading.Thread(target=self._provider.shutdown, daemon=True)
        ending.start()
        ending.join(seconds)
        if ending.is_alive():
            self._exporter.shutdown()


def _context(parent: SpanId | None) -> Context:
    if parent is None:
        return Context()
    flags = TraceFlags(TraceFlags.SAMPLED)
    context = SpanContext(int(parent.trace, 16), int(parent.span, 16), is_remote=True, trace_flags=flags)
    return set_span_in_context(NonRecordingSpan(context), Context())


class OnceAMinute(logging.Handler):
    """Turns what OpenTelemetry logs into a line of ours, at most one a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(logging.WARNING)
        self._clock = clock
        self._next = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Implements `logging.Handler`."""
        if self._clock() >= self._next:
            self._next = self._clock() + 60
            log.warning("traces_not_sent", error=record.getMessage())


def _log_once_a_minute() -> None:
    logger = logging.getLogger("opentelemetry")
    logger.propagate = False
    logger.handlers = [OnceAMinute()]
