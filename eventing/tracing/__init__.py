"""OpenTelemetry traces (OTLP), from the event that begins something to the last write; off unless an address is set.

`noted_events` remembers an event until its first run, `requests` notes the requests of a run, `traced_runs` puts both
around the runner, `spans` makes spans of them, and `open_telemetry`, which alone imports the SDK, sends them.

Context: an event, its runs and their writes share a trace context anyway (`events/trace`), whose ids are derived from
the ids of events and runs. Decision: a span is made of a run that has ended, in the worker that ran it, and the
standard variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, …) say where it goes; a thread with a bounded queue sends it.
Consequences: nothing is imported, wrapped or asked when traces are off; a run that is killed leaves no span; the
program that received an event sends nothing, but notes it in Redis, and the first run that it causes sends the span of
the event. What others do to an object that a run created (a kubelet, a controller) continues the trace of that run for
five minutes. Turned down: spans that are made of the journal, which knows no time of a single request; spans around
every function, which cost more than the runs; texts in spans, because the messages of API servers may quote a Secret: a
span has ids, codes and numbers, and `olmf why` has the sentences.
"""
