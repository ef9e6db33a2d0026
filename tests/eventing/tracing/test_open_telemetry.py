"""Spans as OpenTelemetry has them, where they go, and that nothing waits for whoever takes them."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import threading
import time

import pytest
import structlog
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from eventing.tracing.open_telemetry import OnceAMinute, OpenTelemetry
from eventing.tracing.spans import Span, SpanId
from eventing.wiring.worker import sender_of_spans
from shared.config import Settings
from tests.kit.span_receiver import a_span_receiver

ROOT = SpanId("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")
CHILD = SpanId(ROOT.trace, "00f067aa0ba902b7")
SPANS = (
    Span("add Subscription", ROOT, None, "producer", 1_000, 2_000, {"cloudevents.event_id": "uid.7.add"}),
    Span("demo/step", CHILD, ROOT, "consumer", 2_000, 5_000, {"olmf.attempt": 2, "olmf.codes": ("A", "B")}, True),
)
CONTEXT = f"00-{ROOT.trace}-{ROOT.span}-01"


@pytest.fixture(autouse=True)
def _nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")


def test_a_span_keeps_its_ids_times_and_attributes() -> None:
    exporter = InMemorySpanExporter()
    sender = OpenTelemetry(exporter)
    sender.send(SPANS)
    sender.end()
    root, child = exporter.get_finished_spans()
    assert (f"{root.context.trace_id:032x}", f"{root.context.span_id:016x}", root.parent) == (*ROOT, None)
    assert child.parent is not None
    assert (f"{child.context.span_id:016x}", f"{child.parent.span_id:016x}") == (CHILD.span, ROOT.span)
    assert (child.kind, child.start_time, child.end_time) == (SpanKind.CONSUMER, 2_000, 5_000)
    assert child.attributes == {"olmf.attempt": 2, "olmf.codes": ("A", "B")}
    assert (root.status.status_code, child.status.status_code) == (StatusCode.UNSET, StatusCode.ERROR)
    assert root.resource.attributes["service.name"] == "olmf-worker"


def test_spans_go_by_otlp_to_the_address_of_the_standard_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_span_receiver() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "ours")
        sender = OpenTelemetry()
        sender.send(SPANS)
        sender.end()
        assert [(span.name, span.trace, span.id, span.parent) for span in receiver.spans] == [
            ("add Subscription", *ROOT, ""), ("demo/step", *CHILD, ROOT.span),
        ]  # fmt: skip
        assert {span.service for span in receiver.spans} == {"ours"}


def test_a_sender_of_events_and_the_sampler_of_the_standard_variables_may_leave_traces_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert OpenTelemetry(InMemorySpanExporter()).is_sampled(CONTEXT)
    assert not OpenTelemetry(InMemorySpanExporter()).is_sampled(f"{CONTEXT[:-2]}00")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.25")
    sampler = OpenTelemetry(InMemorySpanExporter())
    traces = [f"00-{number * 2**60:032x}-{ROOT.span}-01" for number in range(1, 16)]
    chosen = [trace for trace in traces if sampler.is_sampled(trace)]
    assert [trace for trace in traces if sampler.is_sampled(trace)] == chosen, "every process decides alike"
    assert len(chosen) == 3


@pytest.mark.parametrize("is_silent", [False, True], ids=["nobody listens", "it takes the request and says nothing"])
def test_without_a_collector_nothing_waits_and_memory_is_bounded(
    monkeypatch: pytest.MonkeyPatch, *, is_silent: bool
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "100")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "50")
    before = set(threading.enumerate())
    with socket.create_server(("127.0.0.1", 0)) as listening, structlog.testing.capture_logs() as logs:
        if is_silent:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{listening.getsockname()[1]}")
        sender = OpenTelemetry()
        began = time.monotonic()
        for _ in range(1000):
            sender.send(SPANS)
        took = time.monotonic() - began
        sender.end(0.2)
        ended = time.monotonic() - began - took
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive(), "what was not sent in time is not tried again"
    assert took < 5, "2,000 spans: as long as it takes to make them"
    assert ended < 2
    lines = [line for line in logs if line["event"] == "traces_not_sent"]
    assert len(lines) <= 1, "at most one line a minute"


def test_why_spans_are_lost_is_a_line_of_the_log_and_at_most_one_a_minute() -> None:
    now = [5.0]
    handler = OnceAMinute(clock=lambda: now[0])
    lost = logging.makeLogRecord({"msg": "%d lost", "args": (7,), "levelno": logging.WARNING})
    with structlog.testing.capture_logs() as logs:
        for at in (5.0, 30.0, 64.9, 65.0):
            now[0] = at
            handler.handle(lost)
    assert [(line["event"], line["error"]) for line in logs] == [("traces_not_sent", "7 lost")] * 2


def test_without_the_extra_a_worker_goes_on_and_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "eventing.tracing.open_telemetry", None)
    with structlog.testing.capture_logs() as logs:
        assert sender_of_spans(Settings(traces=True)) is None
    assert [(line["event"], line["fix"]) for line in logs] == [("traces_off", "pip install 'olm-functions[otel]'")]


def test_nothing_is_imported_while_traces_are_off() -> None:
    assert sender_of_spans(Settings()) is None
    program = (
        "import sys, eventing.wiring.worker, eventing.wiring.watcher\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry.exporter', 'opentelemetry.sdk.trace.'))"
        " or name == 'eventing.tracing.open_telemetry'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
